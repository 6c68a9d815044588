//! What can go wrong in the index.

/// Why the index refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address names no kind of database we know.
    #[error("{0:?} is no database: give the path of a SQLite file, or postgres://USER@HOST/NAME")]
    Address(String),
    /// The address is of PostgreSQL, and holds what cannot be used.
    #[error("the address of the database: {0}")]
    DatabaseAddress(String),
    /// A file of certificates cannot be used.
    #[error("{path}: {why}")]
    Certificates {
        /// Which.
        path: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The database was written by a newer version.
    #[error("the index is of version {version}, this onrecord knows {known}: use a newer onrecord")]
    NewerSchema {
        /// The database's version.
        version: i64,
        /// The newest version known here.
        known: i64,
    },
    /// A step that was applied to the database is not the one we know by that number.
    #[error(
        "step {version} of the index's schema was another when it was applied: this is the database of a build that \
         was never released; export it there, and import it into a new one"
    )]
    ChangedMigration {
        /// Which step.
        version: i64,
    },
    /// The writer no longer holds the lease: another process took over.
    #[error("another process follows the network now; nothing was written")]
    Fenced,
    /// A cursor that this index did not give out.
    #[error("the page cannot be found: the cursor is none of this index")]
    Cursor,
    /// A query that asks for nothing.
    #[error("nothing to search for: give a word or a filter")]
    EmptyQuery,
    /// The database holds what we did not put there.
    #[error("{what} in the index cannot be understood: rebuild it, or restore it from a backup")]
    Corrupt {
        /// What cannot be understood.
        what: &'static str,
    },
    /// A line of an export is none.
    #[error("line {line} of the export: {why}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Reading or writing an export failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The writer is gone: the process is ending, or the writer failed before.
    #[error("the index is closed")]
    Closed,
    /// SQLite.
    #[error("the index: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL.
    #[error("the index: {}", postgres_message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// No connection to PostgreSQL.
    #[error("the index cannot be reached: {0}")]
    Unreachable(String),
}

impl Error {
    /// Whether it may pass by itself, as when a server is started again or another takes its place: trying again is of use.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Postgres(error) => match error.as_db_error() {
                // Connections, rollbacks for others' sake, too little of something, an operator's or a failing disk's doing,
                // and a server that became a standby.
                Some(db) => {
                    let code = db.code().code();
                    ["08", "40", "53", "55", "57", "58"].iter().any(|class| code.starts_with(class))
                        || ["25006", "25P03"].contains(&code)
                }
                None => {
                    let source = std::error::Error::source(error);
                    error.is_closed() || source.and_then(|source| source.downcast_ref::<std::io::Error>()).is_some()
                }
            },
            Self::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
            ),
            _ => false,
        }
    }
}

/// The server's message, but for the classes (data, constraints, syntax) that quote values: these may be the text of records.
fn postgres_message(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) if ["22", "23", "42"].iter().any(|class| db.code().code().starts_with(class)) => {
            format!("PostgreSQL refused a statement ({})", db.code().code())
        }
        Some(db) => format!("{} ({})", db.message(), db.code().code()),
        None => std::error::Error::source(error).map_or_else(|| error.to_string(), |s| format!("{error}: {s}")),
    }
}

impl From<deadpool_postgres::PoolError> for Error {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => Self::Postgres(error),
            other => Self::Unreachable(other.to_string()),
        }
    }
}

/// A result of the index.
pub type Result<T, E = Error> = std::result::Result<T, E>;
