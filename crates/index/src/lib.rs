//! The reader's store: what the network publishes, kept for as long as it is public, and found again.
//!
//! [`admit`] is the door and touches no store; [`Index::apply`] writes what came through it, with the place in the stream,
//! in one transaction. [`open`] gives the store: SQLite in a file, or PostgreSQL, with the same rules and the same answers.

mod account;
mod admit;
mod change;
mod check;
mod decide;
mod error;
mod family;
pub mod follow;
mod index;
mod lease;
mod moderation;
mod outline;
mod owed;
mod postgres;
mod query;
mod refusal;
mod row;
mod schema;
mod snippet;
mod sqlite;
mod stamp;
mod stored;
mod terms;
mod transfer;

use std::{path::PathBuf, sync::Arc};

pub use account::{Account, Author, Profile};
pub use admit::{Admitted, Trust, admit};
pub use change::{AccountStatus, Address, Batch, Change, Fence, Put, Restored, SourceCursor};
pub use check::{Checked, check};
pub use error::{Error, Result};
pub use family::{AUTONOMY, MEMBER, PROFILE, SCHEMA};
pub use index::{Answer, Applied, Index, Rebuilt};
pub use lease::Lease;
pub use moderation::{Decision, Hidden, HiddenSubject, HiddenTurn, Label, Moderated, Moderation, Subject, stream_of};
pub use outline::Prompt;
pub use owed::{Holding, Note, Owed, OwedState, RepoHead, RunState};

pub use postgres::PostgresIndex;
pub use query::{
    Conversation, ConversationHead, Cursor, Hit, Kept, Name, NameOf, Page, Recent, RecordJson, Rejected, Search, Shown,
    Status, Turn,
};
pub use refusal::{CommitFlaw, LexiconRule, Reason, RepositoryFlaw};
pub use snippet::{Snippet, SnippetPart};
pub use sqlite::SqliteIndex;
pub use stamp::{Scope, Stamp};
pub use transfer::{ExportLine, ExportPage, export, import};

/// Opens the index at `address`, making it where it is missing: the path of a SQLite file, `sqlite:PATH`, or a PostgreSQL URL.
/// `replica`, for PostgreSQL, is the URL of a server that answers the reads.
///
/// # Errors
/// The address names no database; it cannot be reached; it was written by a newer version.
pub async fn open(address: &str, replica: Option<&str>) -> Result<Arc<dyn Index>> {
    if address.starts_with("postgres://") || address.starts_with("postgresql://") {
        return Ok(Arc::new(PostgresIndex::open(address, replica).await?));
    }
    let path = address.strip_prefix("sqlite:").unwrap_or(address);
    if path.is_empty() || path.contains("://") || replica.is_some() {
        return Err(Error::Address(without_password(replica.unwrap_or(address))));
    }
    Ok(Arc::new(SqliteIndex::open(PathBuf::from(path)).await?))
}

/// An address as it may be shown: whoever meant one with a password gave the password too.
fn without_password(address: &str) -> String {
    let shown = address.split_once('?').map_or(address, |(before, _)| before);
    match (shown.split_once("://"), shown.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        (None, Some((_, host))) => format!("…@{host}"),
        (_, None) => shown.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Invariant 15.
    #[tokio::test]
    async fn an_address_that_is_none_is_refused_without_its_password() {
        for (address, replica) in [
            ("mysql://dana:hush7@host/name", None),
            ("mysql://dana:hu@sh7hush7@host/name", None),
            ("index.db", Some("postgres://dana:hush7@host/name")),
            ("index.db", Some("postgres://host/name?user=dana&password=hush7")),
        ] {
            let said = open(address, replica).await.unwrap_err().to_string();
            assert!(!said.contains("hush7") && said.contains("host/name"), "{said}");
        }
    }
}
