//! What is on record from this machine: its shelf and its ledger.

use std::{fmt, sync::Arc};

use onrecord_lexicon::{Did, Handle, Rkey};

use super::{Address, Found, SourceError};
use crate::ListEntry;

/// Gives entries of the list, newest first.
pub type ListSource = dyn Fn(&OwnList) -> Result<Vec<OwnEntry>, SourceError> + Send + Sync;

/// Finds the conversation whose session record has this address.
pub type FindSource = dyn Fn(&Address) -> Result<Found, SourceError> + Send + Sync;

/// Says what is known of records: one answer for each.
pub type KnowSource = dyn Fn(&[(Did, Rkey)]) -> Result<Vec<Known>, SourceError> + Send + Sync;

/// Says whose handle this is.
pub type ResolveSource = dyn Fn(&Handle) -> Result<Option<Did>, SourceError> + Send + Sync;

/// Says in which state the sources are: as long as the number stays the same, so do their answers.
pub type VersionSource = dyn Fn() -> Result<i64, SourceError> + Send + Sync;

/// Sources that may block: they are called where blocking is allowed.
#[derive(Clone)]
pub struct Own {
    /// The list.
    pub list: Arc<ListSource>,
    /// One conversation.
    pub find: Arc<FindSource>,
    /// Whether conversations are known, without reading them.
    pub know: Arc<KnowSource>,
    /// Whose handle it is, of those that are on record from here.
    pub resolve: Arc<ResolveSource>,
    /// Whether anything changed.
    pub version: Arc<VersionSource>,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Own")
    }
}

/// Which entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnList {
    /// Of this account alone.
    pub repo: Option<Did>,
    /// Put on record before this, in microseconds since 1970, as their keys tell.
    pub before_us: u64,
    /// At most so many.
    pub limit: usize,
}

/// An entry of the list, and where it stands.
#[derive(Debug, Clone)]
pub struct OwnEntry {
    /// When it was put on record, in microseconds since 1970, as its key tells.
    pub published_us: u64,
    /// The entry.
    pub entry: ListEntry,
}

/// What the ledger knows of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It is on record from here.
    Own,
    /// It was, and its author took it back.
    Gone,
    /// Nothing.
    No,
}

impl Own {
    /// Runs `question` where it may block.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Self) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let own = self.clone();
        tokio::task::spawn_blocking(move || question(&own)).await?
    }
}
