//! Record families: reviewed conversations to records with keys and CIDs, and records back to conversations.
//!
//! Pure: [`project`] says what a conversation would publish, `onrecord_redact::seal` covers and seals it, [`aligned::encode`]
//! makes the records, and [`plan`] compares them with what a repository holds.

pub mod about;
pub mod aligned;
pub mod convert;
mod family;
pub mod generic;
pub mod keys;
mod original;
pub mod plan;
mod project;
mod reading;
mod reissue;
pub mod sharedcomputer;
mod split;
pub mod tiles;
pub mod verify;

pub use about::{About, TurnAbout};
pub use aligned::{MemberRecord, MessageRecord, Published, PublishedMessage, SessionRecord, StepRecord, StrongRef};
pub use family::{Family, UnknownFamily};
pub use original::{HELD_BACK, Original, RecordAt};
pub use plan::{Action, Existing, Write, plan};
pub use project::{Reasoning, project, project_with};

use onrecord_lexicon::{Cid, Rkey, SyntaxError};
use serde::Serialize;
use serde_json::value::RawValue;

/// A record as it is to stand in a repository.
#[derive(Debug, Clone)]
pub struct EncodedRecord {
    /// The turn it carries, by its stable id; `None` for the conversation's container.
    pub turn: Option<String>,
    /// Which of the turn's records it is, from 0. Only a turn over the limits has more than one.
    pub part: u32,
    /// The collection it belongs in.
    pub collection: &'static str,
    /// Its key.
    pub rkey: Rkey,
    /// CID of its DAG-CBOR.
    pub cid: Cid,
    /// The record itself, `$type` included.
    pub json: Box<RawValue>,
}

/// Something the conversation holds that the records do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// What, in a word or two, e.g. `reasoning`.
    pub what: &'static str,
    /// How many of them.
    pub count: usize,
}

/// Why records could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The turns already on record do not stand in the order of their keys any more.
    #[error(
        "the turns already on record no longer follow each other in this transcript (at turn {turn}); \
         take the conversation back and publish it anew"
    )]
    OrderChanged {
        /// Number of the first turn out of order.
        turn: usize,
    },
    /// More turns stand between two published ones than keys fit there.
    #[error("no room for {needed} more records before turn {turn}; take the conversation back and publish it anew")]
    NoRoom {
        /// Number of the turn that follows the gap.
        turn: usize,
        /// How many records would have to fit.
        needed: usize,
    },
    /// A value that must be an identifier is not one.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// A record is outside the protocol's data model.
    #[error("turn {turn}: the record cannot be encoded: {source}")]
    Data {
        /// Number of the turn; 0 for the session record.
        turn: usize,
        /// What is wrong.
        source: onrecord_lexicon::data::DataError,
    },
    /// A conversation in one record is larger than a record may be.
    #[error(
        "the conversation makes a record of {bytes} bytes, and a server takes {limit}: hold turns back, \
         or publish it as click.aligned, which has a record for every turn"
    )]
    TooLarge {
        /// Size of the record, in bytes of the form that is too large.
        bytes: usize,
        /// How many it may have.
        limit: usize,
    },
    /// A Tiles record is encrypted, and nothing is there to open it with.
    #[error("the record is encrypted: it can be read with its whole link only, what follows the # included")]
    Encrypted,
    /// The key of a link does not open the record.
    #[error(
        "the link does not open the record: it is incomplete, or the conversation was published anew since, \
         which gave it a new link"
    )]
    WrongKey,
    /// A record that should be a Tiles snapshot is none.
    #[error("the record is no Tiles conversation: {why}")]
    NotASnapshot {
        /// What is wrong with it.
        why: &'static str,
    },
    /// Records do not make a conversation.
    #[error("no conversation: {why}")]
    NotAConversation {
        /// What is wrong with them.
        why: String,
    },
    /// A link of a Tiles site leads to no record.
    #[error("the Tiles link leads nowhere: {why}")]
    BadLink {
        /// What is wrong with it.
        why: &'static str,
    },
    /// A record could not be written as JSON.
    #[error("a record cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Losses as they are counted.
#[derive(Default)]
pub(crate) struct Losses(pub(crate) Vec<Loss>);

impl Losses {
    pub(crate) fn add(&mut self, what: &'static str) {
        match self.0.iter_mut().find(|l| l.what == what) {
            Some(loss) => loss.count += 1,
            None => self.0.push(Loss { what, count: 1 }),
        }
    }
}
