//! The author's own store, and publishing from it: conversations seen, decisions, accounts, and the ledger of what is on
//! record. One SQLite file in the data folder, readable by its owner alone.

mod access;
pub mod accounts;
mod conversations;
mod error;
mod history;
pub mod ledger;
mod links;
pub mod own;
mod person;
mod pins;
pub mod publish;
mod schema;
mod secrets;
mod tokens;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use onrecord_lexicon::Did;
use onrecord_redact::FingerprintKey;
use rusqlite::{Connection, OptionalExtension};

pub use access::Access;
pub use accounts::Account;
pub use conversations::{ConversationId, SeenConversation};
pub use error::Error;
pub use history::History;
pub use ledger::{Place, Publication};
pub use person::{PersonSources, person};
pub use secrets::{SecretPlace, random_name};

/// The repository of the local shelf: conversations kept on this machine as the records they would be.
pub const SHELF: &str = "did:web:localhost";

/// The shelf's DID.
///
/// # Errors
/// None in practice: the constant is a DID.
pub fn shelf_did() -> Result<Did, Error> {
    Ok(Did::parse(SHELF)?)
}

/// The open store.
#[derive(Debug)]
pub struct Workspace {
    db: Connection,
    folder: PathBuf,
}

/// The turn to change what is on record; see [`Workspace::begin_publishing`].
#[derive(Debug)]
#[must_use]
pub struct Publishing {
    _file: fs::File,
}

impl Workspace {
    /// Opens the store in `folder`, making both where they are missing.
    ///
    /// # Errors
    /// The folder or file cannot be made, read or written; the file is locked for longer than five seconds; it was written by
    /// a newer version.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let at = |source| Error::Folder { path: folder.to_owned(), source };
        make_private(folder).map_err(at)?;
        let path = folder.join("onrecord.db");
        owner_only(&path).map_err(at)?;
        let mut db = Connection::open(&path)?;
        db.busy_timeout(Duration::from_secs(5))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "NORMAL")?;
        db.pragma_update(None, "foreign_keys", true)?;
        // What is deleted is overwritten: a record taken back must not linger in the file.
        db.pragma_update(None, "secure_delete", true)?;
        schema::migrate(&mut db)?;
        Ok(Self { db, folder: folder.to_owned() })
    }

    /// Takes the turn to change what is on record, until the guard is dropped or the process ends: a take-back beside a run
    /// that publishes would leave behind what that run writes after it.
    ///
    /// # Errors
    /// [`Error::Busy`] if another process has it; the folder cannot be written.
    pub fn begin_publishing(&self) -> Result<Publishing, Error> {
        let at = |source| Error::Folder { path: self.folder.clone(), source };
        let path = self.folder.join("publishing.lock");
        let file = try_lock(&path).map_err(at)?.ok_or(Error::Busy)?;
        Ok(Publishing { _file: file })
    }

    /// The key under which this workspace fingerprints values; made on first use.
    ///
    /// # Errors
    /// The store cannot be read or written, or the system has no randomness to give.
    pub fn fingerprint_key(&self) -> Result<FingerprintKey, Error> {
        const NAME: &str = "fingerprint";
        let find = || -> Result<Option<Vec<u8>>, Error> {
            let found = self.db.query_row("SELECT value FROM secret WHERE name = ?1", [NAME], |row| row.get(0));
            Ok(found.optional()?)
        };
        let bytes = if let Some(bytes) = find()? {
            bytes
        } else {
            // Two processes may be first at once: whoever inserts wins, both read.
            let fresh: [u8; 32] = secrets::random()?;
            self.db.execute("INSERT OR IGNORE INTO secret (name, value) VALUES (?1, ?2)", (NAME, fresh.as_slice()))?;
            find()?.unwrap_or_default()
        };
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| Error::Corrupt { what: "the fingerprint key" })?;
        Ok(FingerprintKey::from_bytes(bytes))
    }
}

/// Makes the folder, where it is missing, its owner's alone. One that is there already may be shared on purpose.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Locks the file, making it where it is missing, until what is returned is dropped. `None` if another process has it.
fn try_lock(path: &Path) -> std::io::Result<Option<fs::File>> {
    owner_only(path)?;
    let file = fs::OpenOptions::new().append(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        // A file system without locks: then as before there were any.
        Err(fs::TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => Ok(Some(file)),
        Err(fs::TryLockError::Error(e)) => Err(e),
    }
}

/// Makes the file, where it is missing, and it readable by its owner alone: the database's before SQLite opens it (its WAL
/// takes the same mode).
#[cfg(unix)]
fn owner_only(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn owner_only(file: &Path) -> std::io::Result<()> {
    // The data folder of other systems belongs to the user already.
    fs::OpenOptions::new().append(true).create(true).open(file).map(drop)
}

#[cfg(test)]
mod tests;
