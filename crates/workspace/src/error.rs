//! What can go wrong in the author's store and in publishing from it.

use std::path::PathBuf;

use onrecord_lexicon::{Cid, SyntaxError};

/// Why the store or publishing refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data folder cannot be used.
    #[error("the data folder {path} cannot be used: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another process holds the database.
    #[error("the database is locked by another process; wait for it to finish, then run this again")]
    Locked,
    /// Another process publishes or takes back from this data folder.
    #[error("another onrecord is publishing or taking back; wait for it to finish, then run this again")]
    Busy,
    /// Another process decided about the conversation since its decisions were read.
    #[error(
        "something else was decided about this conversation at the same moment; nothing was changed: run this again"
    )]
    DecidedMeanwhile,
    /// There is no room left.
    #[error("the disk is full; nothing was lost: make room, then run this again")]
    DiskFull,
    /// The database was written by a newer version.
    #[error("the database is of version {version}, this onrecord knows {known}: use a newer onrecord")]
    NewerFile {
        /// The file's version.
        version: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The database holds what we did not put there.
    #[error("{what} in the database cannot be understood; restore the data folder from a backup")]
    Corrupt {
        /// What cannot be understood.
        what: &'static str,
    },
    /// Any other fault of the database.
    #[error("the database: {0}")]
    Sqlite(rusqlite::Error),
    /// The place where tokens are kept refused.
    #[error("the tokens of {account} cannot be kept or read: {why}")]
    Secrets {
        /// Whose.
        account: String,
        /// What the keyring or the system says.
        why: String,
    },
    /// The system gave no randomness.
    #[error("the system gives no randomness: {0}")]
    Randomness(std::io::Error),
    /// No account, or not that one, is signed in.
    #[error("{}", match handle { Some(handle) => format!("{handle} is not signed in"), None => "no account is signed in".to_owned() })]
    NotSignedIn {
        /// The account asked for; `None` if any would have done.
        handle: Option<String>,
    },
    /// Several accounts are signed in and none was named.
    #[error("several accounts are signed in ({}): say which", .0.join(", "))]
    WhichAccount(Vec<String>),
    /// There is no such source of the person's own secrets.
    #[error("there is no source {0:?}")]
    NoSuchSource(String),
    /// The last gate found what must not be sent.
    #[error("stopped before sending: {0}")]
    Gate(onrecord_redact::GateHit),
    /// What is encrypted in a private record is not what was reviewed.
    #[error("stopped before sending: what is encrypted is not what was reviewed; nothing was sent")]
    NotWhatWasReviewed,
    /// The conversation has no turn on record, or none at all.
    #[error("every turn is held back: a conversation of which nothing is published has no records")]
    NothingToPublish,
    /// The repository's server reports another content than was sent.
    #[error(
        "the server says that {collection}/{rkey} has the CID {theirs}, but what was sent has {ours}: \
         it keeps something else than it was given. Nothing more was sent; look at `onrecord published --check`"
    )]
    LyingServer {
        /// The record's collection.
        collection: String,
        /// The record's key.
        rkey: String,
        /// What we computed.
        ours: Cid,
        /// What the server says.
        theirs: Cid,
    },
    /// The writes did not all go through, after several tries.
    #[error(
        "{written} of {total} writes are done, then the server failed: {source}. Run this again to finish the rest"
    )]
    Interrupted {
        /// Writes known to have taken effect in this run.
        written: usize,
        /// Writes planned in this run.
        total: usize,
        /// The last fault.
        source: Box<onrecord_atproto::Error>,
    },
    /// Records of a conversation that is being taken back keep coming.
    #[error("{left} records came while it was taken back: someone publishes it at this moment. Run this again then")]
    StillGrowing {
        /// How many are there.
        left: usize,
    },
    /// Nothing of that conversation is in the repository.
    #[error("nothing of {what} is on record")]
    NotOnRecord {
        /// The conversation or at-uri.
        what: String,
    },
    /// Findings are undecided, or sealing was refused otherwise.
    #[error(transparent)]
    Redact(#[from] onrecord_redact::Error),
    /// The records could not be made.
    #[error(transparent)]
    Record(#[from] onrecord_record::Error),
    /// A record in the ledger is not one of ours.
    #[error(transparent)]
    Unreadable(#[from] onrecord_record::aligned::Unreadable),
    /// The network or the server.
    #[error(transparent)]
    Atproto(#[from] onrecord_atproto::Error),
    /// An identifier in the ledger is none.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// JSON that could not be written or read.
    #[error("JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull};
        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => Self::Locked,
            Some(DiskFull) => Self::DiskFull,
            _ => Self::Sqlite(error),
        }
    }
}
