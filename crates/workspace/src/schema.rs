//! The tables, and how an older file becomes a current one.

use rusqlite::Connection;

use crate::Error;

/// One entry per version of the file, never edited once released.
pub(crate) const MIGRATIONS: &[&str] = &[
    r"
CREATE TABLE secret (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;

CREATE TABLE conversation (
    id INTEGER PRIMARY KEY,
    harness TEXT NOT NULL,
    source_id TEXT NOT NULL,
    path TEXT,
    decisions TEXT,
    seen_at TEXT NOT NULL,
    UNIQUE (harness, source_id)
) STRICT;

CREATE TABLE account (
    did TEXT PRIMARY KEY,
    handle TEXT NOT NULL,
    pds TEXT NOT NULL,
    points_remaining INTEGER,
    points_reset INTEGER
) STRICT;

-- A conversation on record in a repository. Outlives the transcript it came from.
CREATE TABLE publication (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation,
    repo TEXT NOT NULL,
    rkey TEXT NOT NULL,
    handle TEXT,
    family TEXT NOT NULL,
    taking_back INTEGER NOT NULL DEFAULT 0,
    published_at TEXT NOT NULL,
    UNIQUE (repo, rkey),
    UNIQUE (conversation, repo)
) STRICT;

-- Its records. A row without a CID is a key that was given out and not yet seen in the repository.
CREATE TABLE record (
    publication INTEGER NOT NULL REFERENCES publication ON DELETE CASCADE,
    collection TEXT NOT NULL,
    rkey TEXT NOT NULL,
    turn TEXT,
    part INTEGER NOT NULL,
    cid TEXT,
    rev TEXT,
    json TEXT,
    PRIMARY KEY (publication, collection, rkey)
) STRICT, WITHOUT ROWID;

-- Where a conversation stood that was taken back: the site answers 410 there.
CREATE TABLE gone (
    repo TEXT NOT NULL,
    collection TEXT NOT NULL,
    rkey TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (repo, collection, rkey)
) STRICT, WITHOUT ROWID;
",
    r"
-- The sources of the person's own secrets that are switched off.
CREATE TABLE own_source_off (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
",
    r"
-- What a publication's turns point at, as they name it (an at-uri), and what it was when it was published. An account's row
-- has no CID. Outlives the record that is pointed at.
CREATE TABLE pin (
    publication INTEGER NOT NULL REFERENCES publication ON DELETE CASCADE,
    name TEXT NOT NULL,
    uri TEXT NOT NULL,
    cid TEXT,
    PRIMARY KEY (publication, name)
) STRICT, WITHOUT ROWID;

-- What was looked up lately (`at`: Unix seconds). Without a uri there was nothing, and `why` says so.
CREATE TABLE lookup (name TEXT PRIMARY KEY, uri TEXT, cid TEXT, why TEXT, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
",
    r"
-- A conversation may be on record in several families. All three tables are made anew: dropping the first alone would
-- take the rows of the others with it.
CREATE TABLE publication_2 (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation,
    repo TEXT NOT NULL,
    rkey TEXT NOT NULL,
    handle TEXT,
    family TEXT NOT NULL,
    taking_back INTEGER NOT NULL DEFAULT 0,
    published_at TEXT NOT NULL,
    UNIQUE (repo, rkey),
    UNIQUE (conversation, repo, family)
) STRICT;
INSERT INTO publication_2 SELECT id, conversation, repo, rkey, handle, family, taking_back, published_at FROM publication;

CREATE TABLE record_2 (
    publication INTEGER NOT NULL REFERENCES publication_2 ON DELETE CASCADE,
    collection TEXT NOT NULL,
    rkey TEXT NOT NULL,
    turn TEXT,
    part INTEGER NOT NULL,
    cid TEXT,
    rev TEXT,
    json TEXT,
    PRIMARY KEY (publication, collection, rkey)
) STRICT, WITHOUT ROWID;
INSERT INTO record_2 SELECT publication, collection, rkey, turn, part, cid, rev, json FROM record;

CREATE TABLE pin_2 (
    publication INTEGER NOT NULL REFERENCES publication_2 ON DELETE CASCADE,
    name TEXT NOT NULL,
    uri TEXT NOT NULL,
    cid TEXT,
    PRIMARY KEY (publication, name)
) STRICT, WITHOUT ROWID;
INSERT INTO pin_2 SELECT publication, name, uri, cid FROM pin;

DROP TABLE pin;
DROP TABLE record;
DROP TABLE publication;
ALTER TABLE publication_2 RENAME TO publication;
ALTER TABLE record_2 RENAME TO record;
ALTER TABLE pin_2 RENAME TO pin;
",
    r"
-- What was granted to a session got through the browser; none with an app password. Its tokens and its key are elsewhere.
ALTER TABLE account ADD COLUMN scope TEXT;
",
];

/// Brings the file to the current version, each step in a transaction of its own.
pub(crate) fn migrate(db: &mut Connection) -> Result<(), Error> {
    let current = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    // Whoever only looks need not wait for one who writes.
    if db.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))? == current {
        return Ok(());
    }
    loop {
        let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version > current {
            return Err(Error::NewerFile { version, known: current });
        }
        let Some(sql) = usize::try_from(version).ok().and_then(|v| MIGRATIONS.get(v)) else {
            return Ok(());
        };
        tx.execute_batch(sql)?;
        tx.pragma_update(None, "user_version", version + 1)?;
        tx.commit()?;
    }
}
