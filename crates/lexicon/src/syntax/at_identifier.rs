//! A DID or a handle: what names an account where either will do.

use super::{Did, Handle, did, handle};

identifier!(
    /// A DID or a handle.
    #[derive(PartialOrd, Ord)]
    AtIdentifier, "DID or handle", check
);

impl AtIdentifier {
    /// The DID, if it is one.
    #[must_use]
    pub fn as_did(&self) -> Option<Did> {
        Did::parse(&self.0).ok()
    }

    /// The handle, if it is one.
    #[must_use]
    pub fn as_handle(&self) -> Option<Handle> {
        Handle::parse(&self.0).ok()
    }

    /// Whether it is a DID; else it is a handle.
    #[must_use]
    pub fn is_did(&self) -> bool {
        self.0.starts_with("did:")
    }
}

impl From<Did> for AtIdentifier {
    fn from(did: Did) -> Self {
        Self(did.as_str().into())
    }
}

impl From<Handle> for AtIdentifier {
    fn from(handle: Handle) -> Self {
        Self(handle.as_str().into())
    }
}

/// Whether `s` has the lexicon string format `at-identifier`.
#[must_use]
pub fn is_valid_at_identifier(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    // No handle holds a colon, so the prefix decides.
    if s.starts_with("did:") { did::check(s) } else { handle::check(s) }
}
