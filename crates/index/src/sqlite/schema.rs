//! The tables.

use rusqlite::{Connection, TransactionBehavior};

use super::moderation::MODERATION;
use crate::{
    error::Result,
    schema::{LEDGER, checksum, missing},
};

/// One entry per version of the file, never edited once released.
const MIGRATIONS: &[&str] = &[
    r"
CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    did TEXT NOT NULL UNIQUE,
    handle TEXT,
    pds TEXT,
    status INTEGER NOT NULL DEFAULT 0,
    status_ms INTEGER NOT NULL DEFAULT 0,
    floor INTEGER NOT NULL DEFAULT 0,
    profile TEXT
) STRICT;
CREATE INDEX account_handle ON account (handle) WHERE handle IS NOT NULL;

CREATE TABLE collection (id INTEGER PRIMARY KEY, nsid TEXT NOT NULL UNIQUE) STRICT;

-- A conversation of which the record is here (present), or turns are, or both.
CREATE TABLE conversation (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    collection INTEGER NOT NULL,
    rkey TEXT NOT NULL,
    present INTEGER NOT NULL DEFAULT 0,
    title TEXT,
    started_ms INTEGER NOT NULL DEFAULT 0,
    published_us INTEGER NOT NULL DEFAULT 0,
    turns INTEGER NOT NULL DEFAULT 0,
    withheld INTEGER NOT NULL DEFAULT 0,
    steps INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (account, collection, rkey)
) STRICT;
CREATE INDEX conversation_recent ON conversation (published_us, id) WHERE present;
CREATE INDEX conversation_author ON conversation (account, published_us, id) WHERE present;

-- The id orders by when it happened: milliseconds since 1970, then 20 bits that tell records apart. So the turns of a
-- conversation stand together in the file, and the inverted index answers in the order of time.
CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    collection INTEGER NOT NULL,
    rkey TEXT NOT NULL,
    rev INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    opens INTEGER NOT NULL,
    conversation INTEGER,
    cid BLOB NOT NULL,
    json TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX record_place ON record (account, collection, rkey);
CREATE INDEX record_turn ON record (conversation, rkey, kind, opens) WHERE conversation IS NOT NULL;

CREATE TABLE gone (
    account INTEGER NOT NULL,
    collection INTEGER NOT NULL,
    rkey TEXT NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (account, collection, rkey)
) STRICT, WITHOUT ROWID;

CREATE TABLE name_use (
    conversation INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (conversation, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE cursor (source TEXT PRIMARY KEY, cursor TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE lease (name TEXT PRIMARY KEY, epoch INTEGER NOT NULL, until_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE rejection (
    reason TEXT NOT NULL,
    collection TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (reason, collection)
) STRICT, WITHOUT ROWID;

-- Terms alone, without the text, which stands in the record. They come folded and parted by spaces already. What is deleted
-- is taken out, not marked.
CREATE VIRTUAL TABLE search USING fts5 (terms, content = '', columnsize = 0, tokenize = 'ascii');
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
",
    r"
-- Which batch changed a conversation last, and which changed anything: a number by chance, never one that was there before.
ALTER TABLE conversation ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
CREATE TABLE pulse (id INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT;
INSERT INTO pulse (id, version) VALUES (1, 0);
",
    r"
-- Up to where a repository was seen whole: a revision, and the root of its tree where that is proven.
ALTER TABLE account ADD COLUMN head_rev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN head_data BLOB;

-- Repositories to be fetched, by what asked for them. The state: waiting, done, given up.
CREATE TABLE owed (
    run TEXT NOT NULL,
    did TEXT NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    asked INTEGER NOT NULL DEFAULT 1,
    tries INTEGER NOT NULL DEFAULT 0,
    due_ms INTEGER NOT NULL DEFAULT 0,
    why TEXT,
    PRIMARY KEY (run, did)
) STRICT, WITHOUT ROWID;
CREATE INDEX owed_state ON owed (run, state, did);

-- How far lists of repositories were read; no cursor once they were read to the end.
CREATE TABLE listing (run TEXT NOT NULL, list TEXT NOT NULL, cursor TEXT, PRIMARY KEY (run, list)) STRICT, WITHOUT ROWID;
",
    r"
-- Each batch leaves a segment of the inverted index. Eight are merged into one, not four, so that a term is written again less
-- often; a search reads a few more.
INSERT INTO search (search, rank) VALUES ('automerge', 8);
",
    MODERATION,
    r"
-- Accounts of which something is left that is to be removed: what stands before their floor, of deleted ones everything; and up
-- to which place it was.
CREATE TABLE unswept (account INTEGER PRIMARY KEY, collection INTEGER NOT NULL DEFAULT -1, rkey TEXT NOT NULL DEFAULT '') STRICT;
",
    r"
-- When the next label is over is asked after each commit.
CREATE INDEX label_until ON label (until_ms) WHERE until_ms IS NOT NULL;
",
];

/// Brings the file to the current version, all steps in one transaction.
pub(super) fn migrate(db: &mut Connection) -> Result<()> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute_batch(LEDGER)?;
    let applied: Vec<(i64, String)> = tx
        .prepare("SELECT version, checksum FROM migration ORDER BY version")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (version, sql) in missing(MIGRATIONS, &applied)? {
        tx.execute_batch(sql)?;
        tx.execute("INSERT INTO migration (version, checksum) VALUES (?1, ?2)", (version, checksum(sql)))?;
    }
    tx.commit()?;
    Ok(())
}
