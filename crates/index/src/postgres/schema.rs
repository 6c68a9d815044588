//! The tables: each with the repository's DID first in its key, and spread over partitions by it, so that no join leaves a
//! partition and a distributed PostgreSQL can take them as they are.

use std::fmt::Write as _;

use tokio_postgres::Client;

use super::moderation::MODERATION;
use crate::{
    error::Result,
    schema::{LEDGER, checksum, missing},
};

/// Into how many parts each table is cut on one server.
const PARTITIONS: usize = 16;
/// The tables that are.
const PARTITIONED: [&str; 5] = ["account", "conversation", "record", "gone", "name_use"];
/// Taken while the schema is changed.
const LOCK: i64 = 0x6f6e_7265_636f_7264;

/// One entry per version of the schema, never edited once released. Keys compare by bytes, whatever the database's language.
const MIGRATIONS: &[&str] = &[
    r#"
CREATE TABLE account (
    did TEXT COLLATE "C" NOT NULL,
    handle TEXT COLLATE "C",
    pds TEXT,
    status SMALLINT NOT NULL DEFAULT 0,
    status_ms BIGINT NOT NULL DEFAULT 0,
    floor BIGINT NOT NULL DEFAULT 0,
    profile TEXT,
    PRIMARY KEY (did)
) PARTITION BY HASH (did);
CREATE INDEX account_handle ON account (handle) WHERE handle IS NOT NULL;

-- A conversation of which the record is here (present), or turns are, or both. Its place is collection/key.
CREATE TABLE conversation (
    did TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    present BOOLEAN NOT NULL DEFAULT FALSE,
    title TEXT,
    started_ms BIGINT NOT NULL DEFAULT 0,
    published_us BIGINT NOT NULL DEFAULT 0,
    turns BIGINT NOT NULL DEFAULT 0,
    withheld BIGINT NOT NULL DEFAULT 0,
    steps BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (did, place)
) PARTITION BY HASH (did);
CREATE INDEX conversation_recent ON conversation (published_us, did, place) WHERE present;
CREATE INDEX conversation_author ON conversation (did, published_us, place) WHERE present;

-- time_key orders by when it happened: milliseconds since 1970, then 20 bits that tell records apart.
CREATE TABLE record (
    did TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    rkey TEXT COLLATE "C" NOT NULL,
    time_key BIGINT NOT NULL,
    rev BIGINT NOT NULL,
    kind SMALLINT NOT NULL,
    opens BOOLEAN NOT NULL,
    conversation TEXT COLLATE "C",
    cid BYTEA NOT NULL,
    json TEXT NOT NULL,
    terms TSVECTOR,
    PRIMARY KEY (did, collection, rkey)
) PARTITION BY HASH (did);
CREATE INDEX record_turn ON record (did, conversation, rkey) WHERE conversation IS NOT NULL;
CREATE INDEX record_time ON record (time_key);
-- What waits to be merged into the index is gone through by every search: 16 times 256 kB takes a millisecond or two, and
-- 16 times the usual 4 MB takes 150.
CREATE INDEX record_terms ON record USING GIN (terms) WITH (gin_pending_list_limit = 256);

CREATE TABLE gone (
    did TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    rkey TEXT COLLATE "C" NOT NULL,
    rev BIGINT NOT NULL,
    PRIMARY KEY (did, collection, rkey)
) PARTITION BY HASH (did);

CREATE TABLE name_use (
    did TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    kind SMALLINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (did, place, kind, name)
) PARTITION BY HASH (did);

CREATE TABLE cursor (source TEXT NOT NULL PRIMARY KEY, cursor TEXT NOT NULL);
CREATE TABLE lease (name TEXT NOT NULL PRIMARY KEY, epoch BIGINT NOT NULL);
CREATE TABLE rejection (
    reason TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (reason, collection)
);
"#,
    r#"
-- Which batch changed a conversation last, and which changed anything: a number by chance, never one that was there before.
ALTER TABLE conversation ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
CREATE TABLE pulse (id SMALLINT NOT NULL PRIMARY KEY, version BIGINT NOT NULL);
INSERT INTO pulse (id, version) VALUES (1, 0);
"#,
    r#"
-- Up to where a repository was seen whole: a revision, and the root of its tree where that is proven.
ALTER TABLE account ADD COLUMN head_rev BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN head_data BYTEA;

-- Repositories to be fetched, by what asked for them. The state: waiting, done, given up.
CREATE TABLE owed (
    run TEXT COLLATE "C" NOT NULL,
    did TEXT COLLATE "C" NOT NULL,
    state SMALLINT NOT NULL DEFAULT 0,
    asked BIGINT NOT NULL DEFAULT 1,
    tries BIGINT NOT NULL DEFAULT 0,
    due_ms BIGINT NOT NULL DEFAULT 0,
    why TEXT,
    PRIMARY KEY (run, did)
);
CREATE INDEX owed_state ON owed (run, state, did);

-- How far lists of repositories were read; no cursor once they were read to the end.
CREATE TABLE listing (
    run TEXT COLLATE "C" NOT NULL,
    list TEXT COLLATE "C" NOT NULL,
    cursor TEXT,
    PRIMARY KEY (run, list)
);
"#,
    r#"
-- A record stands in its row as it is, up to what a page holds: packing and unpacking cost more than the room is worth. And
-- what waits for the inverted index is merged by whoever writes, in the background (see `merge`), so that no batch has to;
-- the limit is for when nobody does.
DO $$ DECLARE part REGCLASS; BEGIN
    FOR part IN SELECT relid FROM pg_partition_tree('record') WHERE isleaf LOOP
        EXECUTE format('ALTER TABLE %s SET (toast_tuple_target = 8160)', part);
        -- No plan depends on which words are common, and to count them takes longer than to write them.
        EXECUTE format('ALTER TABLE %s ALTER COLUMN terms SET STATISTICS 0, ALTER COLUMN json SET STATISTICS 0', part);
    END LOOP;
    FOR part IN SELECT relid FROM pg_partition_tree('record_terms') WHERE isleaf LOOP
        EXECUTE format('ALTER INDEX %s SET (gin_pending_list_limit = 8192)', part);
    END LOOP;
END $$;
ALTER TABLE record ALTER COLUMN terms SET STATISTICS 0, ALTER COLUMN json SET STATISTICS 0;
"#,
    MODERATION,
];

/// Brings the database to the current version, all steps in one transaction. A database whose tables an operator has made
/// already, as a distributed one wants them, is taken as it is.
pub(super) async fn migrate(client: &mut Client) -> Result<()> {
    let tx = client.transaction().await?;
    tx.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    tx.batch_execute(LEDGER).await?;
    let rows = tx.query("SELECT version, checksum FROM migration ORDER BY version", &[]).await?;
    let applied = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<Vec<_>>>()?;
    for (version, sql) in missing(MIGRATIONS, &applied)? {
        tx.batch_execute(sql).await?;
        if version == 1 {
            tx.batch_execute(&partitions()).await?;
        }
        tx.execute("INSERT INTO migration (version, checksum) VALUES ($1, $2)", &[&version, &checksum(sql)]).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Whether nothing is missing in a database that can only be read.
///
/// # Errors
/// It was written by a newer version; it holds no index.
pub(super) async fn is_current(client: &Client) -> Result<bool> {
    let rows = client.query("SELECT version, checksum FROM migration ORDER BY version", &[]).await?;
    let applied = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<Vec<_>>>()?;
    Ok(missing(MIGRATIONS, &applied)?.next().is_none())
}

fn partitions() -> String {
    let mut sql = String::new();
    for table in PARTITIONED {
        for n in 0..PARTITIONS {
            let _ = writeln!(
                sql,
                "CREATE TABLE {table}_{n} PARTITION OF {table} FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {n});"
            );
        }
    }
    sql
}
