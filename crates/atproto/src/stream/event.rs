//! What a stream tells, whatever server it is from.

use std::{borrow::Cow, fmt};

use jiff::Timestamp;
use onrecord_lexicon::{
    Cid, Did, Handle, Nsid, Rkey, Tid,
    data::{DataError, Value},
};

use crate::{Action, error::quote};

/// What one message of a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Something happened.
    Event {
        /// What.
        event: Event,
        /// Where to go on after it.
        cursor: Option<Cursor>,
        /// The number to acknowledge it by, where the server waits for that.
        acknowledge: Option<u64>,
    },
    /// Nothing that is wanted; but the place moved on.
    Passed {
        /// Where to go on after it.
        cursor: Option<Cursor>,
        /// The number to acknowledge it by, where the server waits for that.
        acknowledge: Option<u64>,
    },
    /// A word of the server about the stream, e.g. that the cursor was too old and something may have been missed.
    Notice {
        /// Its name, e.g. `OutdatedCursor`.
        name: String,
        /// The server's words.
        message: String,
    },
    /// Not what such a server sends.
    Unreadable {
        /// The kind of what is wrong with it.
        flaw: Flaw,
        /// What is wrong with it; no words of the frame's records.
        why: String,
        /// The number to acknowledge it by all the same: it would only come again.
        acknowledge: Option<u64>,
    },
    /// The server ends the stream.
    Ended {
        /// The reason's name, e.g. `ConsumerTooSlow`.
        name: String,
        /// The server's words.
        message: String,
    },
}

/// What can be wrong with a frame: few kinds, to be counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Flaw {
    /// It is not JSON, or not canonical DAG-CBOR of the data model.
    Encoding,
    /// It cannot be unpacked, or unpacks to more than a frame may hold.
    Packing,
    /// It is larger than the protocol allows.
    TooLarge,
    /// Fields are missing, or hold something else than they should.
    Fields,
    /// A DID, a collection, a key, a revision or a CID is malformed.
    Identifier,
    /// A commit of more writes than one may have.
    Operations,
    /// The place in the stream is one that no server can be at.
    Place,
}

impl Flaw {
    /// Its name, e.g. `too-large`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Encoding => "encoding",
            Self::Packing => "packing",
            Self::TooLarge => "too-large",
            Self::Fields => "fields",
            Self::Identifier => "identifier",
            Self::Operations => "operations",
            Self::Place => "place",
        }
    }
}

/// Why a frame is unreadable.
#[derive(Debug)]
pub(super) struct Unfit {
    flaw: Flaw,
    why: Cow<'static, str>,
}

impl Unfit {
    pub(super) fn new(flaw: Flaw, why: impl Into<Cow<'static, str>>) -> Self {
        Self { flaw, why: why.into() }
    }

    /// Fields are not what they should be.
    pub(super) fn fields(why: &'static str) -> Self {
        Self::new(Flaw::Fields, why)
    }

    /// The frame, which is acknowledged all the same if it has a number.
    pub(super) fn frame(self, acknowledge: Option<u64>) -> Frame {
        Frame::Unreadable { flaw: self.flaw, why: self.why.into_owned(), acknowledge }
    }
}

/// Reads an identifier of a frame.
pub(super) fn parse<T, E: fmt::Display>(text: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<T, Unfit> {
    parse(text).map_err(|error| Unfit::new(Flaw::Identifier, quote(&error.to_string())))
}

/// Something that happened to a repository or an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Records were written or deleted.
    Commit(Commit),
    /// The chain of commits is broken: what is known of the repository may be wrong, and has to be fetched again.
    Sync {
        /// Whose.
        did: Did,
        /// The revision it is at now.
        rev: Option<Tid>,
    },
    /// A handle, a server or a key may have changed: resolve the account again.
    Identity {
        /// Whose.
        did: Did,
        /// The handle it has now, as the server has heard.
        handle: Option<Handle>,
    },
    /// An account came, went or was closed.
    Account {
        /// Whose.
        did: Did,
        /// How it stands now.
        status: AccountStatus,
        /// When that was, as its own server says, if the stream tells.
        at: Option<Timestamp>,
    },
}

/// Writes to one repository, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Whose repository.
    pub did: Did,
    /// The revision they made.
    pub rev: Tid,
    /// The writes.
    pub operations: Vec<Operation>,
    /// What proves them, from servers that send it.
    pub proof: Option<Proof>,
    /// The record was there before and is sent as part of the repository's history.
    pub is_history: bool,
}

/// What a firehose sends for others to check a commit by.
#[derive(Clone, PartialEq, Eq)]
pub struct Proof {
    /// A CAR file of the commit, the tree's nodes around the writes, and the records.
    pub blocks: Vec<u8>,
    /// CID of the commit.
    pub commit: Cid,
    /// The revision before, as the server says.
    pub since: Option<Tid>,
    /// The root of the tree before.
    pub prev_data: Option<Cid>,
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proof").field("commit", &self.commit).field("bytes", &self.blocks.len()).finish_non_exhaustive()
    }
}

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// What was done.
    pub action: Action,
    /// Which collection.
    pub collection: Nsid,
    /// Which record.
    pub rkey: Rkey,
    /// The record's CID now; none where it was deleted.
    pub cid: Option<Cid>,
    /// The record's CID before, from servers that say.
    pub previous: Option<Cid>,
    /// The record, from servers that send it by itself. A firehose has it among the proof's blocks.
    pub record: Option<Body>,
}

/// A record as a server wrote it down.
#[derive(Clone, PartialEq, Eq)]
pub struct Body(pub(super) String);

impl Body {
    /// The JSON text, as it came.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.0
    }

    /// Whether the record is what `cid` names: its canonical encoding has that hash.
    ///
    /// # Errors
    /// The record is outside the protocol's data model.
    pub fn is(&self, cid: &Cid) -> Result<bool, DataError> {
        let value = Value::parse_json(&self.0)?;
        Ok(onrecord_lexicon::data::cid_of(&value.to_dag_cbor()) == *cid)
    }
}

/// The words of a record stay out of logs.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes)", self.0.len())
    }
}

/// How an account stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountStatus {
    /// Its content may be shown.
    Active,
    /// Its owner switched it off for now.
    Deactivated,
    /// It was deleted.
    Deleted,
    /// A server took it down.
    TakenDown,
    /// A server suspended it for a time.
    Suspended,
    /// It is inactive for another reason: not to be shown.
    Inactive,
}

impl AccountStatus {
    /// As the protocol has it: whether it is active, and the reason if not.
    #[must_use]
    pub fn of(active: bool, status: Option<&str>) -> Self {
        match (active, status) {
            (true, _) => Self::Active,
            (false, Some("deactivated")) => Self::Deactivated,
            (false, Some("deleted")) => Self::Deleted,
            (false, Some("takendown")) => Self::TakenDown,
            (false, Some("suspended")) => Self::Suspended,
            (false, _) => Self::Inactive,
        }
    }
}

/// A place in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cursor {
    /// A number that only this server counts by.
    Sequence(i64),
    /// When the server saw the event, in microseconds since 1970.
    Time(i64),
}

impl Cursor {
    /// Numbers below are sequence numbers, those from here on times: Jetstream's own rule.
    const LEAST_TIME: i64 = 1_000_000_000_000_000;

    /// The place with a sequence number, if it can be one: of a number that later is taken for a time a stream could not
    /// be asked for again.
    pub(super) fn sequence(number: i64) -> Result<Self, Unfit> {
        if (0..Self::LEAST_TIME).contains(&number) {
            Ok(Self::Sequence(number))
        } else {
            Err(Unfit::new(Flaw::Place, "a sequence number that no server is at"))
        }
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> i64 {
        match self {
            Self::Sequence(n) | Self::Time(n) => n,
        }
    }

    /// The cursor with this number.
    #[must_use]
    pub fn from_number(number: i64) -> Self {
        if number < Self::LEAST_TIME { Self::Sequence(number) } else { Self::Time(number) }
    }
}
