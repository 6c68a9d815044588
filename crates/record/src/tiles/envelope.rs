//! What is encrypted in a private record, and the secret that opens it.
//!
//! XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): a key of 32 bytes, a nonce of 24, no associated data. The record holds the
//! ciphertext with its tag and nothing else; key and nonce are in the link.

use std::fmt;

use chacha20poly1305::{KeyInit, XChaCha20Poly1305, aead::Aead};
use onrecord_lexicon::data::base64;
use zeroize::Zeroizing;

use super::link;
use crate::Error;

/// What opens a private record: key and nonce. Never shown by `Debug`, wiped after use.
///
/// A nonce is for one content alone: under the same two, two contents would give each other away.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkSecret {
    key: Zeroizing<[u8; 32]>,
    nonce: [u8; 24],
}

impl LinkSecret {
    /// A secret of these bytes, which must be random.
    #[must_use]
    pub fn new(key: [u8; 32], nonce: [u8; 24]) -> Self {
        Self { key: Zeroizing::new(key), nonce }
    }

    /// The same key with another nonce, for another content.
    #[must_use]
    pub fn with_nonce(&self, nonce: [u8; 24]) -> Self {
        Self { key: self.key.clone(), nonce }
    }

    /// The end of a link after its `#`: nonce and key in padded base64, a point between them.
    #[must_use]
    pub fn fragment(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(80));
        text.push_str(&Zeroizing::new(link::encode(&self.nonce)));
        text.push('.');
        text.push_str(&Zeroizing::new(link::encode(self.key.as_slice())));
        text
    }

    /// The secret of a link's end, in either form of base64, with or without padding; `None` if it is none.
    #[must_use]
    pub fn parse(fragment: &str) -> Option<Self> {
        let (nonce, key) = fragment.split_once('.')?;
        let nonce = Zeroizing::new(link::decode(nonce)?);
        let key = Zeroizing::new(link::decode(key)?);
        Some(Self::new(key.as_slice().try_into().ok()?, nonce.as_slice().try_into().ok()?))
    }

    /// `clear`, encrypted, in padded base64.
    ///
    /// # Errors
    /// It is longer than the cipher allows, which is 256 GB.
    pub fn seal(&self, clear: &[u8]) -> Result<String, Error> {
        let sealed = self.cipher().encrypt(&self.nonce.into(), clear);
        Ok(link::encode(&sealed.map_err(|_| Error::NotASnapshot { why: "it is too long to be encrypted" })?))
    }

    /// What is encrypted in `sealed`, which is base64.
    ///
    /// # Errors
    /// [`Error::WrongKey`]: it was encrypted under another secret, or was changed since.
    pub fn open(&self, sealed: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
        let bytes = base64::decode(sealed).ok_or(Error::NotASnapshot { why: "its enc_content is no base64" })?;
        self.cipher().decrypt(&self.nonce.into(), bytes.as_slice()).map(Zeroizing::new).map_err(|_| Error::WrongKey)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.key).into())
    }
}

impl fmt::Debug for LinkSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkSecret(…)")
    }
}
