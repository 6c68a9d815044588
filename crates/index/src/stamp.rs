//! Whether what was made of the index is still what it would be.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use crate::{
    change::Address,
    error::{Error, Result},
};

/// What an answer was made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A conversation: its record, its turns, and who its author is.
    Conversation(Address),
    /// Anything.
    Everything,
}

/// A state. Equal ones are the same state, within one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp(u64);

impl Stamp {
    pub(crate) fn of(state: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// A number for the conversations that a batch changes. By chance, so that one that was removed and came again, or was written
/// by another process, does not look as it did before.
pub(crate) fn new_version() -> Result<i64> {
    let bytes = getrandom::u64().map_err(|_| Error::Corrupt { what: "the source of chance" })?;
    Ok((bytes >> 1).cast_signed())
}
