//! Record keys: the last segment of a record's path in its repository.

use super::Tid;

/// The longest record key, in bytes.
const MAX_LEN: usize = 512;

identifier!(
    /// A record key. Keys order as their bytes do.
    #[derive(PartialOrd, Ord)]
    Rkey, "record key", check
);

impl From<Tid> for Rkey {
    fn from(tid: Tid) -> Self {
        Self::from(&tid)
    }
}

impl From<&Tid> for Rkey {
    fn from(tid: &Tid) -> Self {
        // Every TID is made of characters a key may have.
        Self(tid.as_str().into())
    }
}

/// Whether `s` has the lexicon string format `record-key`.
#[must_use]
pub fn is_valid_record_key(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    if s.is_empty() {
        return Err("it is empty");
    }
    if s.len() > MAX_LEN {
        return Err("it is longer than 512 bytes");
    }
    if s == "." || s == ".." {
        return Err("\".\" and \"..\" are reserved");
    }
    if !s.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'~')) {
        return Err("it holds a character other than letters, digits and \".-_:~\"");
    }
    Ok(())
}
