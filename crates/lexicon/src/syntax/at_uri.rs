//! at-uris in the form lexicons use: an account, a collection of it, or a record in that.

use super::{Did, Nsid, Rkey, at_identifier, nsid, rkey};

/// The longest at-uri, in bytes.
const MAX_LEN: usize = 8192;
const SCHEME: &str = "at://";

identifier!(
    /// An at-uri: `at://AUTHORITY[/COLLECTION[/RKEY]]`, without query or fragment.
    #[derive(PartialOrd, Ord)]
    AtUri, "at-uri", check
);

impl AtUri {
    /// The uri of a record.
    #[must_use]
    pub fn of_record(repo: &Did, collection: &Nsid, rkey: &Rkey) -> Self {
        Self(format!("{SCHEME}{repo}/{collection}/{rkey}").into_boxed_str())
    }

    /// The DID or handle of the account.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.segments().next().unwrap_or_default()
    }

    /// The collection's NSID, if the uri goes that far.
    #[must_use]
    pub fn collection(&self) -> Option<&str> {
        self.segments().nth(1)
    }

    /// The record's key, if the uri goes that far.
    #[must_use]
    pub fn rkey(&self) -> Option<&str> {
        self.segments().nth(2)
    }

    fn segments(&self) -> std::str::Split<'_, char> {
        self.0.strip_prefix(SCHEME).unwrap_or_default().split('/')
    }
}

/// Whether `s` has the lexicon string format `at-uri`.
#[must_use]
pub fn is_valid_at_uri(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    let Some(rest) = s.strip_prefix(SCHEME) else {
        return Err("it does not begin with \"at://\"");
    };
    if s.len() > MAX_LEN {
        return Err("it is longer than 8192 bytes");
    }
    let mut segments = rest.split('/');
    let authority = segments.next().unwrap_or_default();
    if at_identifier::check(authority).is_err() {
        return Err("the authority is neither a DID nor a handle");
    }
    let Some(collection) = segments.next() else {
        return Ok(());
    };
    if nsid::check(collection).is_err() {
        return Err("the collection is not an NSID");
    }
    let Some(key) = segments.next() else {
        return Ok(());
    };
    if rkey::check(key).is_err() {
        return Err("the last segment is not a record key");
    }
    if segments.next().is_some() {
        return Err("it has a segment after the record key");
    }
    Ok(())
}
