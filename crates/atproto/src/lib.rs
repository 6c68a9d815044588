//! The AT Protocol over the network: who someone is, signing in (through the browser or with an app password), reading and writing repositories.
//!
//! The only crate of the house that makes outbound HTTP requests. Every request passes one guard (no private
//! addresses, https only), has a time limit, and reads at most a fixed number of bytes of the answer.
//!
//! ```no_run
//! # async fn example() -> Result<(), onrecord_atproto::Error> {
//! use onrecord_atproto::{Client, Config, Secret};
//!
//! let client = Client::new(Config::default())?;
//! let identity = client.resolve("dana.example.com").await?;
//! let session = client.login(&identity, &Secret::new("app-password"), None).await?;
//! let commit = session.repo().latest_commit().await?;
//! # let _ = commit; Ok(()) }
//! ```

mod config;
mod error;
mod guard;
mod http;
mod identity;
mod lexicon;
pub mod oauth;
mod pin;
mod query;
mod rate;
mod repo;
mod secret;
mod session;
pub mod stream;
mod verify;
mod writes;
mod xrpc;

pub use config::Config;
pub use error::{BoxError, Error, Result};
pub use identity::Identity;
pub use lexicon::{LEXICON_COLLECTION, PublishedLexicon};
pub use pin::Pin;
pub use rate::RateLimit;
pub use repo::{Commit, Page, Record, RecordPages, Repo, RepoDescription, RepoPage, ServerDescription};
pub use secret::Secret;
pub use session::{Kept, RenewalLock, Session, TokenStore, Tokens};
pub use verify::MAX_PROOFS;
pub use writes::{Action, Applied, EncodedWrites, MAX_WRITES, MAX_WRITES_BYTES, Room, Write, Written, fill_batch};
pub use xrpc::Client;
