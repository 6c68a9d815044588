//! Moving the write-ahead log into the file beside the thread that writes, which else waits for the disk meanwhile.

use std::{path::Path, sync::mpsc, time::Duration};

use rusqlite::Connection;

use crate::error::Result;

/// So many pages in the log are worth moving.
const MANY: i64 = 4_000;
/// At so many, whoever writes moves those that are left, so that the log begins anew: it only does when all of it was moved.
const MOST: i64 = 16_000;

/// How much is in the log, and how much of it was moved, in pages.
struct Log {
    pages: i64,
    moved: i64,
}

/// A thread that moves the log, until this is dropped.
#[derive(Debug)]
pub(super) struct Checkpointer {
    nudge: mpsc::SyncSender<()>,
}

impl Checkpointer {
    pub(super) fn start(path: &Path) -> Result<Self> {
        let db = Connection::open(path)?;
        db.busy_timeout(Duration::from_secs(10))?;
        let (nudge, nudged) = mpsc::sync_channel(1);
        std::thread::Builder::new().name("index-checkpoint".to_owned()).spawn(move || {
            for () in nudged {
                if let Err(error) = checkpoint(&db, "PASSIVE") {
                    tracing::warn!(%error, "the write-ahead log was not moved into the file; trying again");
                }
            }
        })?;
        Ok(Self { nudge })
    }

    /// Says that something was written over `db`.
    pub(super) fn wrote(&self, db: &Connection) -> Result<()> {
        let log = checkpoint(db, "NOOP")?;
        if log.pages >= MOST {
            checkpoint(db, "PASSIVE")?;
        } else if log.pages - log.moved >= MANY {
            // One that is still moving the log is told once more at the next batch.
            let _ = self.nudge.try_send(());
        }
        Ok(())
    }
}

/// Source: <https://sqlite.org/pragma.html#pragma_wal_checkpoint>.
fn checkpoint(db: &Connection, mode: &str) -> Result<Log> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    Ok(db.prepare_cached(&sql)?.query_row([], |row| Ok(Log { pages: row.get(1)?, moved: row.get(2)? }))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_begins_anew_also_when_nobody_rests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let db = Connection::open(&path).unwrap();
        // Small pages, so that there are many.
        for (name, value) in [("page_size", "512"), ("journal_mode", "WAL"), ("wal_autocheckpoint", "0")] {
            db.pragma_update(None, name, value).unwrap();
        }
        db.execute("CREATE TABLE t (a BLOB)", []).unwrap();
        let checkpointer = Checkpointer::start(&path).unwrap();
        // About 400 pages each.
        for _ in 0..200 {
            db.execute("INSERT INTO t VALUES (randomblob(200000))", []).unwrap();
            checkpointer.wrote(&db).unwrap();
        }
        let log = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len() / (512 + 24);
        assert!(log > MANY.unsigned_abs() && log < 2 * MOST.unsigned_abs(), "{log} pages");
    }
}
