//! The page of a conversation that only its link opens. It is opened in the browser: the key is in the address, after the #,
//! and no server sees that.

use askama::Template;
use serde::Serialize;

use super::{frame::Frame, hash, rendered::Rendered};
use crate::{Error, Host};

/// Opens the page; loaded by no other.
pub(crate) const OPEN: &str = include_str!("../../assets/open.js");
/// The cipher that [`OPEN`] uses: `@noble/ciphers`, MIT.
pub(crate) const CIPHER: &str = include_str!("../../assets/vendor/noble-ciphers/noble-ciphers.js");
/// Where [`OPEN`] finds it; named after its version.
pub(crate) const CIPHER_PATH: &str = "/vendor/noble-ciphers-2.4.0.js";

/// Path of [`OPEN`], named after its content.
pub(crate) fn open_path() -> String {
    format!("/open-{:016x}.js", hash(OPEN))
}

/// What is encrypted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SealedPage<'a> {
    /// Where it stands.
    pub(crate) uri: &'a str,
    /// XChaCha20-Poly1305 of a snapshot, in base64; nonce and key are in the link.
    pub(crate) sealed: &'a str,
}

#[derive(Template)]
#[template(path = "sealed.html")]
struct Page<'a> {
    frame: Frame<'a>,
    page: &'a SealedPage<'a>,
    open: String,
}

const MEANING: &str = "This conversation is encrypted: whoever has its link can read it, and nobody else. The key stands in the link \
                       after the #, which no browser sends to a server.";

impl Rendered for SealedPage<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        Ok(Page { frame: Frame::of_site(host), page: self, open: open_path() }.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        self.text()
    }

    fn text(&self) -> Result<String, Error> {
        Ok(format!("{}\n\n{MEANING}\n", self.uri))
    }
}
