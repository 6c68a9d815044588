//! Moving the write-ahead log into the file beside the thread that writes, which else waits for the disk meanwhile.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;

use crate::error::Result;

/// So many pages in the log are worth moving.
const MANY: i64 = 4_000;
/// At so many, whoever writes moves those that are left, so that the log begins anew: it only does when all of it was moved.
const MOST: i64 = 16_000;

/// How much is in the log, and how much of it was moved, in pages.
struct Log {
    /// Whether somebody else kept it from being moved.
    is_busy: bool,
    pages: i64,
    moved: i64,
}

/// A thread that moves the log. It is over when this was dropped.
#[derive(Debug)]
pub(super) struct Checkpointer {
    /// Locked while the log is moved: SQLite refuses to move it twice at once, and does not wait for the other.
    moving: Arc<Mutex<Connection>>,
    nudge: Option<mpsc::SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    pub(super) fn start(path: &Path) -> Result<Self> {
        let db = Connection::open(path)?;
        db.busy_timeout(Duration::from_secs(10))?;
        let moving = Arc::new(Mutex::new(db));
        let (nudge, nudged) = mpsc::sync_channel(1);
        let of_thread = Arc::clone(&moving);
        let thread = std::thread::Builder::new().name("index-checkpoint".to_owned()).spawn(move || {
            for () in nudged {
                if let Err(error) = checkpoint(&locked(&of_thread), "PASSIVE") {
                    tracing::warn!(%error, "the write-ahead log was not moved into the file; trying again");
                }
            }
        })?;
        Ok(Self { moving, nudge: Some(nudge), thread: Some(thread) })
    }

    /// Says that something was written over `db`.
    pub(super) fn wrote(&self, db: &Connection) -> Result<()> {
        let log = checkpoint(db, "NOOP")?;
        if log.pages >= MOST {
            checkpoint(db, "PASSIVE")?;
        } else if log.pages - log.moved >= MANY
            && let Some(nudge) = &self.nudge
        {
            // One that is still moving the log is told once more at the next batch.
            let _ = nudge.try_send(());
        }
        Ok(())
    }

    /// Moves all of the log and empties it. False if somebody still reads what was there before.
    pub(super) fn empty(&self) -> Result<bool> {
        Ok(!checkpoint(&locked(&self.moving), "TRUNCATE")?.is_busy)
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.nudge = None;
        if let Some(thread) = self.thread.take() {
            // It panicked, and that was told where it did.
            let _ = thread.join();
        }
    }
}

fn locked(moving: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    moving.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Source: <https://sqlite.org/pragma.html#pragma_wal_checkpoint>.
fn checkpoint(db: &Connection, mode: &str) -> Result<Log> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let log = db
        .prepare_cached(&sql)?
        .query_row([], |row| Ok(Log { is_busy: row.get(0)?, pages: row.get(1)?, moved: row.get(2)? }))?;
    Ok(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with small pages, so that there are many, and one who moves its log; each row takes about 400 of them.
    fn file(folder: &Path) -> (Connection, Checkpointer) {
        let path = folder.join("a.db");
        let db = Connection::open(&path).unwrap();
        for (name, value) in [("page_size", "512"), ("journal_mode", "WAL"), ("wal_autocheckpoint", "0")] {
            db.pragma_update(None, name, value).unwrap();
        }
        db.execute("CREATE TABLE t (a BLOB)", []).unwrap();
        (db, Checkpointer::start(&path).unwrap())
    }

    fn write(db: &Connection, checkpointer: &Checkpointer) {
        db.execute("INSERT INTO t VALUES (randomblob(200000))", []).unwrap();
        checkpointer.wrote(db).unwrap();
    }

    #[test]
    fn the_log_begins_anew_also_when_nobody_rests() {
        let folder = tempfile::tempdir().unwrap();
        let (db, checkpointer) = file(folder.path());
        for _ in 0..200 {
            write(&db, &checkpointer);
        }
        let log = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len() / (512 + 24);
        assert!(log > MANY.unsigned_abs() && log < 2 * MOST.unsigned_abs(), "{log} pages");
    }

    #[test]
    fn the_log_is_emptied_also_while_it_is_being_moved() {
        let folder = tempfile::tempdir().unwrap();
        let (db, checkpointer) = file(folder.path());
        for _ in 0..20 {
            for _ in 0..11 {
                write(&db, &checkpointer);
            }
            assert!(checkpointer.empty().unwrap());
            assert_eq!(std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len(), 0);
        }
    }

    #[test]
    fn the_log_is_not_emptied_while_somebody_reads_what_was_there_before() {
        let folder = tempfile::tempdir().unwrap();
        let (db, checkpointer) = file(folder.path());
        let reader = Connection::open(folder.path().join("a.db")).unwrap();
        let reading = reader.unchecked_transaction().unwrap();
        reading.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap();
        write(&db, &checkpointer);
        locked(&checkpointer.moving).busy_timeout(Duration::ZERO).unwrap();
        assert!(!checkpointer.empty().unwrap());
        drop(reading);
        assert!(checkpointer.empty().unwrap());
    }

    #[test]
    fn the_file_stands_alone_when_all_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let (db, checkpointer) = file(folder.path());
        for _ in 0..11 {
            write(&db, &checkpointer);
        }
        drop(db);
        drop(checkpointer);
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["a.db"]);
    }
}
