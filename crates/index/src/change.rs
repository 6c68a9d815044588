//! What happens on the network, as the index is told.

use onrecord_lexicon::{Cid, Did, Handle, Nsid, Rkey, Tid};
use serde::{Deserialize, Serialize};

use crate::account::Author;

/// Where a record stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Address {
    /// Whose repository.
    pub did: Did,
    /// Which collection.
    pub collection: Nsid,
    /// Under which key.
    pub rkey: Rkey,
}

impl Address {
    /// Its at-uri.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("at://{}/{}/{}", self.did, self.collection, self.rkey)
    }
}

/// A record as it was written.
#[derive(Debug, Clone)]
pub struct Put {
    /// Where.
    pub address: Address,
    /// The CID it is said to have.
    pub cid: Cid,
    /// The revision of the repository that wrote it. Of one that was fetched whole: that repository's revision.
    pub rev: Tid,
    /// The record, as JSON.
    pub json: Box<str>,
}

/// Whether an account's records may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountStatus {
    /// They may.
    #[default]
    Active,
    /// Its owner paused it.
    Deactivated,
    /// Its host suspended it, for a time.
    Suspended,
    /// Its host took it down.
    Takendown,
    /// It is gone: everything of it is removed.
    Deleted,
}

impl AccountStatus {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Active, Self::Deactivated, Self::Suspended, Self::Takendown, Self::Deleted];

    pub(crate) fn number(self) -> i16 {
        match self {
            Self::Active => 0,
            Self::Deactivated => 1,
            Self::Suspended => 2,
            Self::Takendown => 3,
            Self::Deleted => 4,
        }
    }

    pub(crate) fn of_number(number: i16) -> Self {
        // What a later version may add is not shown by this one.
        usize::try_from(number).ok().and_then(|n| Self::ALL.get(n)).copied().unwrap_or(Self::Takendown)
    }
}

/// One thing that happened. Changes of one account come in its order; those of different accounts in any.
#[derive(Debug, Clone)]
pub enum Change {
    /// A record was created or replaced.
    Put(Box<Put>),
    /// A record was deleted.
    Delete {
        /// Which.
        address: Address,
        /// The revision that deleted it.
        rev: Tid,
    },
    /// An account's state changed. `Deleted` removes everything of it.
    Account {
        /// Whose.
        did: Did,
        /// To what.
        status: AccountStatus,
        /// When, as the source says it, in milliseconds since 1970: what is not later than what is known is no news.
        at_ms: i64,
    },
    /// An account's handle or host changed. Forgotten again if nothing of the account is known.
    Identity {
        /// Whose.
        did: Did,
        /// The handle that was verified; `None` if it has none that leads back to it.
        handle: Option<Handle>,
        /// Where its repository is, e.g. `https://pds.example`.
        pds: Option<String>,
    },
    /// The repository was read whole at a revision, and each of its records was put at that revision before: whatever of the
    /// account stands at an earlier one is gone.
    Listed {
        /// Whose.
        did: Did,
        /// At which revision.
        rev: Tid,
    },
    /// What another index knew of an account, from its export.
    Restored(Box<Restored>),
    /// A record that another index knew to be gone, from its export.
    RestoredGone {
        /// Which.
        address: Address,
        /// Since which revision.
        rev: Tid,
    },
}

/// An account as an export has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// Its names.
    #[serde(flatten)]
    pub author: Author,
    /// Its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pds: Option<String>,
    /// Its state.
    #[serde(default)]
    pub status: AccountStatus,
    /// Since when, in milliseconds since 1970.
    #[serde(default)]
    pub status_ms: i64,
    /// The revision up to which what is not stored is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Tid>,
}

impl Change {
    /// Whose it is.
    #[must_use]
    pub fn did(&self) -> &Did {
        match self {
            Self::Put(put) => &put.address.did,
            Self::Delete { address, .. } | Self::RestoredGone { address, .. } => &address.did,
            Self::Account { did, .. } | Self::Identity { did, .. } | Self::Listed { did, .. } => did,
            Self::Restored(restored) => &restored.author.did,
        }
    }
}

/// The right to write as the one who follows, as it was when the lease was taken. A store refuses an older one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// Name of the lease.
    pub lease: String,
    /// How often it changed hands.
    pub epoch: i64,
}

/// Changes that are applied together or not at all, with the place in the source that they lead to.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Where they come from and where to go on after them.
    pub cursor: Option<SourceCursor>,
    /// What happened, in the order of the source.
    pub changes: Vec<Change>,
    /// The lease under which they are written, where several processes may follow.
    pub fence: Option<Fence>,
}

/// A place in a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCursor {
    /// The stream, e.g. `jetstream:wss://host`.
    pub source: String,
    /// The place, as the source says it.
    pub cursor: String,
}

/// A revision as a number that orders as it does. Those a repository can have are below 2^63.
pub(crate) fn rev_number(rev: &Tid) -> i64 {
    i64::try_from(rev.micros() << 10 | u64::from(rev.clock_id())).unwrap_or(i64::MAX)
}

/// The revision of that number.
pub(crate) fn rev_of_number(number: i64) -> Option<Tid> {
    let number = u64::try_from(number).ok()?;
    Tid::from_micros(number >> 10, u16::try_from(number & 1023).ok()?)
}
