//! What can be wrong with data, and where.

use crate::syntax::SyntaxError;

/// Data the model cannot hold, with the place of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    /// Where, e.g. `steps[3].summary`; empty for the whole.
    pub path: String,
    /// What.
    pub fault: Fault,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A record is something else.
    #[error("a record must be an object")]
    NotAnObject,
    /// A number with a fraction, or any number that CBOR marks as a float.
    #[error("floats are not allowed")]
    Float,
    /// An integer beyond 53 bits.
    #[error("an integer must be within ±(2^53 - 1)")]
    IntegerRange,
    /// Too many arrays and objects in one another.
    #[error("nested more than {} deep", super::MAX_DEPTH)]
    TooDeep,
    /// More values than are read.
    #[error("made of more values than are allowed here")]
    TooMany,
    /// A `$type` that is not a name.
    #[error("\"$type\" must be text and not empty")]
    Type,
    /// An object of type `blob` that is not a reference to one.
    #[error("a blob needs \"ref\" (a link), \"mimeType\" (text) and \"size\" (an integer, not negative)")]
    Blob,
    /// A key that JSON gives a meaning, in an object that does not have it.
    #[error("\"$bytes\" must be base64 text, and alone in its object")]
    Bytes,
    /// A key that JSON gives a meaning, in an object that does not have it.
    #[error("\"$link\" must be a CID, and alone in its object")]
    Link,
    /// A CID of another kind than links may have.
    #[error(transparent)]
    Cid(#[from] SyntaxError),
    /// A key given twice.
    #[error("the key is given twice")]
    DuplicateKey,
    /// Text that is not JSON, in the parser's words.
    #[error("not JSON: {0}")]
    Json(String),
    /// CBOR that breaks off, or whose lengths say more than there is.
    #[error("the CBOR ends early, at byte {0}")]
    Truncated(usize),
    /// Bytes after the value.
    #[error("something follows the value, from byte {0}")]
    TrailingBytes(usize),
    /// CBOR that is not the canonical encoding, or not of this data model.
    #[error("{what}, at byte {at}")]
    Encoding {
        /// The rule that is broken.
        what: &'static str,
        /// The offset of the item.
        at: usize,
    },
}

impl From<Fault> for DataError {
    fn from(fault: Fault) -> Self {
        Self { path: String::new(), fault }
    }
}

impl DataError {
    /// The same fault, seen from the object that holds it under `key`.
    pub(super) fn under_key(mut self, key: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{key}{joint}{}", self.path);
        self
    }

    /// The same fault, seen from the array that holds it at `index`.
    pub(super) fn at_index(mut self, index: usize) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("[{index}]{joint}{}", self.path);
        self
    }
}

impl std::fmt::Display for DataError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for DataError {}
