//! Signing in through the browser, for as much as is asked for and no more: a loopback client of the protocol's OAuth
//! profile, with pushed requests, PKCE, and tokens bound to a key (DPoP).
//!
//! [`Client::start_sign_in`] gives an address to open and listens for the browser's return; [`SignIn::finish`] waits for it
//! and gives a [`crate::Session`] that is used like any other.
//!
//! ```no_run
//! # async fn example(open: impl Fn(&str)) -> Result<(), onrecord_atproto::Error> {
//! use std::time::Duration;
//!
//! use onrecord_atproto::{Client, Config, oauth::Scopes};
//!
//! let client = Client::new(Config::default())?;
//! let account = client.resolve("dana.example.com").await?;
//! let scopes = Scopes::for_collections(["click.aligned.chat.session", "click.aligned.chat.message"]);
//! let sign_in = client.start_sign_in(&account, &scopes).await?;
//! open(sign_in.url().as_str());
//! // Waits for the browser; dropped before, the sign-in is over.
//! let session = sign_in.finish(Duration::from_secs(600)).await?;
//! let keep_this = session.tokens();
//! # let _ = keep_this; Ok(()) }
//! ```
//!
//! Source: the protocol's OAuth specification; RFC 6749, 7009, 7636, 8252, 9126, 9207, 9449.

mod bound;
mod dpop;
mod flow;
mod metadata;
mod pkce;
mod redirect;
mod scope;
mod token;

use multibase::Base;
use sha2::{Digest as _, Sha256};

pub(crate) use bound::Proofs;
pub use dpop::DpopKey;
pub use flow::SignIn;
pub use scope::Scopes;

use crate::{Error, Result};

/// What a session by OAuth has besides its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The authorization server, as it names itself.
    pub issuer: String,
    /// The name under which we asked: the server knows the session by it.
    pub client_id: String,
    /// What was granted.
    pub scopes: Scopes,
    /// The key that the tokens are bound to.
    pub key: DpopKey,
}

fn base64url(bytes: &[u8]) -> String {
    Base::Base64Url.encode(bytes)
}

fn sha256(text: &str) -> String {
    base64url(&Sha256::digest(text))
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Setup { why: format!("the system gives no randomness: {error}") })?;
    Ok(bytes)
}
