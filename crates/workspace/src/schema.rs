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
    r"
-- What was decided one after the other, to go back to. `step` of a conversation is the one it is at; those after it were undone.
CREATE TABLE decided (
    conversation INTEGER NOT NULL REFERENCES conversation,
    step INTEGER NOT NULL,
    what TEXT NOT NULL,
    decisions TEXT NOT NULL,
    PRIMARY KEY (conversation, step)
) STRICT, WITHOUT ROWID;
ALTER TABLE conversation ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
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

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{MIGRATIONS, migrate};

    #[test]
    fn a_file_of_before_there_were_families_keeps_what_it_holds() {
        let mut db = Connection::open_in_memory().unwrap();
        db.pragma_update(None, "foreign_keys", true).unwrap();
        let families = MIGRATIONS.iter().position(|sql| sql.contains("publication_2")).unwrap();
        for sql in &MIGRATIONS[..families] {
            db.execute_batch(sql).unwrap();
        }
        db.pragma_update(None, "user_version", i64::try_from(families).unwrap()).unwrap();
        db.execute_batch(
            "INSERT INTO conversation (id, harness, source_id, seen_at) VALUES (7, 'pi', 's1', '2026');
             INSERT INTO publication VALUES (3, 7, 'did:web:localhost', '3k', NULL, 'click.aligned', 1, '2026');
             INSERT INTO record VALUES (3, 'click.aligned.chat.session', '3k', NULL, 0, 'bafy', 'rev', '{}');
             INSERT INTO record VALUES (3, 'click.aligned.chat.message', '3l', 'turn', 2, NULL, NULL, NULL);
             INSERT INTO pin VALUES (3, 'at://did:web:x.example', 'at://did:web:x.example', NULL);",
        )
        .unwrap();
        migrate(&mut db).unwrap();
        let count = |table: &str| -> i64 {
            db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
        };
        assert_eq!((count("publication"), count("record"), count("pin")), (1, 2, 1));
        let kept: (String, i64, i64, String) = db
            .query_row(
                "SELECT p.family, p.taking_back, r.part, r.turn FROM publication p JOIN record r ON r.publication = p.id
                 WHERE r.rkey = '3l'",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .unwrap();
        assert_eq!(kept, ("click.aligned".to_owned(), 1, 2, "turn".to_owned()));
        // A second family beside the first, and not the same one twice.
        let beside = |family: &str, rkey: &str| {
            db.execute(
                "INSERT INTO publication (conversation, repo, rkey, family, published_at)
                 VALUES (7, 'did:web:localhost', ?2, ?1, '2026')",
                (family, rkey),
            )
        };
        assert!(
            beside("tiles", "3m").is_ok() && beside("tiles", "3n").is_err() && beside("tiles-private", "3k").is_err()
        );
        // What belongs to a publication goes with it.
        db.execute("DELETE FROM publication WHERE id = 3", []).unwrap();
        assert_eq!((count("publication"), count("record"), count("pin")), (1, 0, 0));
    }
}
