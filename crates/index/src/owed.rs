//! What is remembered beside what readers see: how far each repository was seen, and which are still to be fetched.
//!
//! Notes are written in the transaction of the batch they belong to. So a place in a stream is never passed without it being
//! known what is still owed for it.

use onrecord_lexicon::{Cid, Did, Nsid, Rkey, Tid};
use onrecord_repo::Link;

use crate::{admit::Admitted, change::Fence};

/// Something to be remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Up to which revision a repository was seen whole. No news if a later one is known, or nothing of the account.
    Head {
        /// Whose.
        did: Did,
        /// The revision.
        rev: Tid,
        /// The root of its tree then, where it is proven.
        data: Option<Link>,
    },
    /// Repositories are to be fetched. One that this run had before stays as it is there, unless it is asked for afresh.
    Owed {
        /// For which run.
        run: String,
        /// Whose.
        dids: Vec<Did>,
        /// Also what was fetched or given up before.
        afresh: bool,
    },
    /// A repository was fetched, as often as it was asked for.
    Done {
        /// For which run.
        run: String,
        /// Whose.
        did: Did,
        /// What [`Owed::asked`] said when it began: if it was asked for again since, it stays owed.
        asked: i64,
        /// Whether it is to be known afterwards that this run had it.
        keep: bool,
    },
    /// A repository could not be fetched.
    Failed {
        /// For which run.
        run: String,
        /// Whose.
        did: Did,
        /// Why.
        why: String,
        /// When to try again, in milliseconds since 1970; `None` if it is given up until the run is.
        again_ms: Option<i64>,
    },
    /// How far a list of repositories was read.
    Listed {
        /// For which run.
        run: String,
        /// Which list.
        list: String,
        /// Where to go on; `None` if it was read to its end.
        cursor: Option<String>,
    },
    /// What was given up is owed again.
    Retry {
        /// Of which run.
        run: String,
    },
    /// The run begins anew: nothing of it is known.
    Anew {
        /// Which run.
        run: String,
    },
    /// Nothing that is held of an account is right for being new: what is fetched of it next replaces it, whatever its
    /// revision.
    Distrust {
        /// Whose.
        did: Did,
    },
}

impl Admitted {
    /// The batch, and with it what is to be remembered once it is applied.
    #[must_use]
    pub fn noting(mut self, notes: Vec<Note>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Nothing but notes.
    #[must_use]
    pub fn of_notes(notes: Vec<Note>, fence: Option<Fence>) -> Self {
        Self { notes, fence, ..Self::default() }
    }
}

/// How a repository stands in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwedState {
    /// It is to be fetched.
    Waiting,
    /// It was fetched.
    Done,
    /// It could not be fetched, and is not tried again by itself.
    GivenUp,
}

impl OwedState {
    pub(crate) fn number(self) -> i16 {
        self as i16
    }
}

/// A repository in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owed {
    /// Whose.
    pub did: Did,
    /// How often it was asked for.
    pub asked: i64,
    /// How often it was tried in vain.
    pub tries: i64,
    /// Not to be tried before, in milliseconds since 1970.
    pub due_ms: i64,
    /// Why the last try was in vain.
    pub why: Option<String>,
}

/// How a run stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunState {
    /// The lists that were begun: the name, and where to go on; `None` for what was read to its end.
    pub lists: Vec<(String, Option<String>)>,
    /// Repositories still to be fetched.
    pub waiting: u64,
    /// Those that were.
    pub done: u64,
    /// Those that could not be.
    pub given_up: u64,
}

/// Up to where a repository was seen whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoHead {
    /// The revision, if it was ever.
    pub rev: Option<Tid>,
    /// The root of its tree then, if it is proven.
    pub data: Option<Link>,
}

/// A record that is stored, without what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Which collection.
    pub collection: Nsid,
    /// Which record.
    pub rkey: Rkey,
    /// The version that is stored.
    pub cid: Cid,
}

impl RunState {
    /// Adds `n` repositories of a state, by its number.
    pub(crate) fn count(&mut self, state: i16, n: i64) {
        let of = match state {
            0 => &mut self.waiting,
            1 => &mut self.done,
            _ => &mut self.given_up,
        };
        *of += n.unsigned_abs();
    }
}
