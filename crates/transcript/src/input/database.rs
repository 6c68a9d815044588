//! Databases of agents: opened to be read, never written, whatever state they are in.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, Row, types::ValueRef};

use crate::import::Error;

/// What every SQLite database begins with.
pub(crate) const MAGIC: [u8; 16] = *b"SQLite format 3\0";

/// How long a database that is being written to is waited for.
const BUSY: Duration = Duration::from_secs(3);

/// A database that is only read.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens the database at `path`, with what is in the write-ahead log beside it.
    ///
    /// SQLite would make files of its own beside a database that keeps a log, and has none at the moment: such a database, which
    /// nobody has open, is read as it lies. So is one beside whose log no shared memory may be made (a folder that cannot be
    /// written, a copy on a read-only disk), without the log.
    ///
    /// # Errors
    /// [`Error::Database`] if it is none, is locked, or cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let at = |error: rusqlite::Error| Error::Database { path: path.to_path_buf(), reason: reason(&error) };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let settled = |opened: rusqlite::Result<Connection>| {
            let connection = opened?;
            settle(&connection)?;
            Ok(connection)
        };
        let as_it_lies = || {
            let uri = format!("file:{}?immutable=1", uri_path(path));
            settled(Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI))
        };
        let connection = if is_at_rest(path) {
            as_it_lies()
        } else {
            match settled(Connection::open_with_flags(path, flags)) {
                Err(error) if needs_log(&error) && fs::metadata(path).is_ok() => as_it_lies(),
                opened => opened,
            }
        };
        let connection = connection.map_err(at)?;
        Ok(Self { connection, path: path.to_path_buf() })
    }

    /// The columns of a table or view; none if there is no such.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<String>, Error> {
        self.rows("SELECT name FROM pragma_table_info(?1)", &[table], |row| Some(text(row, 0)?.into_owned()))
    }

    /// Whether there is a table with all of these columns.
    pub(crate) fn has(&self, table: &str, columns: &[&str]) -> bool {
        let known = self.columns(table).unwrap_or_default();
        !known.is_empty() && columns.iter().all(|column| known.iter().any(|name| name == column))
    }

    /// What `read` makes of each row that `sql` gives for `parameters`; rows of which it makes nothing are left out.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        parameters: &[&str],
        mut read: impl FnMut(&Row<'_>) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let at = |error: rusqlite::Error| Error::Database { path: self.path.clone(), reason: reason(&error) };
        let mut statement = self.connection.prepare_cached(sql).map_err(at)?;
        let mut rows = statement.query(rusqlite::params_from_iter(parameters)).map_err(at)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(at)? {
            found.extend(read(row));
        }
        Ok(found)
    }
}

/// Whether a database that keeps a log has none, so that nobody has it open. The format of the file is in its bytes 18 and 19:
/// 2 is a log (SQLite's description of its format, 1.3).
fn is_at_rest(path: &Path) -> bool {
    let mut header = [0; 20];
    let keeps_log =
        File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok() && header.ends_with(&[2, 2]);
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    keeps_log && !fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// The first statement is what opens the file.
fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

fn needs_log(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure))
}

fn uri_path(path: &Path) -> String {
    let mut out = String::new();
    for character in path.to_string_lossy().replace('\\', "/").chars() {
        match character {
            '%' => out.push_str("%25"),
            '?' => out.push_str("%3f"),
            '#' => out.push_str("%23"),
            other => out.push(other),
        }
    }
    out
}

/// Why a database cannot be read. SQLite's messages may quote a statement, never what a table holds.
fn reason(error: &rusqlite::Error) -> String {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "it is no SQLite database, or is encrypted".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => "it is damaged".to_owned(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program keeps it locked; close that and try again".to_owned()
        }
        _ => error.to_string(),
    }
}

/// A column's text; of a blob if it is UTF-8.
pub(crate) fn text<'r>(row: &'r Row<'_>, column: usize) -> Option<std::borrow::Cow<'r, str>> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes)),
        ValueRef::Integer(number) => Some(number.to_string().into()),
        ValueRef::Real(number) => Some(number.to_string().into()),
        ValueRef::Null => None,
    }
}

/// A column's bytes.
pub(crate) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> Option<&'r [u8]> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

/// A column's time, in any form that [`crate::rows::time_of`] knows, and SQLite's own (`2026-01-02 03:04:05`).
pub(crate) fn time(row: &Row<'_>, column: usize) -> Option<jiff::Timestamp> {
    let text = text(row, column)?;
    if let Ok(number) = text.parse::<f64>() {
        return crate::rows::time_of_number(number);
    }
    crate::rows::parse_time(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(folder: &Path, sql: &str) -> PathBuf {
        let path = folder.join("x.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    }

    #[test]
    fn what_is_in_the_log_is_read_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path =
            made(folder.path(), "pragma journal_mode=wal; create table t (a text); insert into t values ('old');");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("pragma wal_autocheckpoint=0; insert into t values ('new');").unwrap();
        let before = fs::read(&path).unwrap();
        let database = Database::open(&path).unwrap();
        let rows = database.rows("SELECT a FROM t", &[], |row| Some(text(row, 0)?.into_owned())).unwrap();
        assert_eq!(rows, ["old", "new"]);
        assert!(database.has("t", &["a"]) && !database.has("t", &["b"]) && !database.has("u", &[]));
        drop(database);
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn no_file_is_made_beside_a_database_at_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path(), "pragma journal_mode=wal; create table t (a text); insert into t values ('x');");
        assert!(is_at_rest(&path));
        let database = Database::open(&path).unwrap();
        assert_eq!(database.rows("SELECT a FROM t", &[], |row| Some(text(row, 0)?.into_owned())).unwrap(), ["x"]);
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["x.db"]);
    }

    #[test]
    fn what_is_no_database_damaged_or_locked_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no.db");
        fs::write(&path, b"not a database, not at all, though it is long enough to be taken for one by its length")
            .unwrap();
        assert!(Database::open(&path).unwrap_err().to_string().contains("no SQLite database"));
        let path = made(folder.path(), "create table t (a text); insert into t values (hex(randomblob(9000)));");
        let mut bytes = fs::read(&path).unwrap();
        let from = bytes.len() / 3;
        bytes[from..].fill(0x55);
        fs::write(folder.path().join("damaged.db"), bytes).unwrap();
        let damaged = Database::open(&folder.path().join("damaged.db"))
            .and_then(|d| d.rows("SELECT a FROM t", &[], |row| Some(text(row, 0)?.len())));
        assert!(damaged.is_err());
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("pragma locking_mode=exclusive; begin exclusive; insert into t values ('x');").unwrap();
        let locked = Database::open(&path).unwrap_err().to_string();
        assert!(locked.contains("locked"), "{locked}");
        assert!(Database::open(&folder.path().join("missing.db")).is_err());
    }
}
