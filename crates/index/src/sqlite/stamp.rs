//! Versions.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};

use super::{
    moderation::{EXPIRED, MODERATED},
    open_reader,
};
use crate::{
    error::{Error, Result},
    stamp::{Scope, Stamp},
};

/// How many stamps are remembered.
const REMEMBERED: usize = 10_000;
/// When the next label is over, which changes answers without a commit.
const NEXT_END: &str = "SELECT min(ms) FROM (
        SELECT min(until_ms) AS ms FROM hidden WHERE until_ms > CAST(unixepoch('subsec') * 1000 AS INTEGER)
        UNION ALL SELECT min(until_ms) FROM label WHERE until_ms > CAST(unixepoch('subsec') * 1000 AS INTEGER))";

/// Stamps, remembered as long as nobody changes the file. Whether somebody did is asked of SQLite each time, which looks into
/// memory that all processes share: microseconds, where a question to the tables needs a thread that may wait for the disk.
#[derive(Debug, Clone)]
pub(super) struct Stamps {
    path: PathBuf,
    watch: Arc<Mutex<Option<Watch>>>,
}

#[derive(Debug)]
struct Watch {
    db: Connection,
    /// SQLite's number for what this connection sees; another one after each commit of another connection.
    data_version: i64,
    /// In milliseconds since 1970.
    until_ms: i64,
    known: HashMap<Scope, Stamp>,
}

impl Stamps {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, watch: Arc::default() }
    }

    /// The stamp of `of`, asked for where it is not remembered.
    pub(super) async fn get(&self, of: &Scope) -> Result<Stamp> {
        if let Some(stamp) = self.find(of)? {
            return Ok(stamp);
        }
        let (stamps, of) = (self.clone(), of.clone());
        tokio::task::spawn_blocking(move || stamps.ask(of)).await.map_err(|_| Error::Closed)?
    }

    /// What is remembered and still so; nothing while somebody asks.
    fn find(&self, of: &Scope) -> Result<Option<Stamp>> {
        let Ok(watch) = self.watch.try_lock() else { return Ok(None) };
        let Some(watch) = &*watch else { return Ok(None) };
        let Some(stamp) = watch.known.get(of).filter(|_| now_ms() < watch.until_ms) else { return Ok(None) };
        Ok((data_version(&watch.db)? == watch.data_version).then_some(*stamp))
    }

    fn ask(&self, of: Scope) -> Result<Stamp> {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let Watch { db, data_version: before, until_ms, known } = match &mut *watch {
            Some(watch) => watch,
            none => {
                let db = open_reader(&self.path)?;
                none.insert(Watch { data_version: 0, until_ms: 0, known: HashMap::new(), db })
            }
        };
        // The number and the stamp are of one state of the file.
        let tx = db.unchecked_transaction()?;
        let now = data_version(&tx)?;
        if now != *before || now_ms() >= *until_ms || known.len() >= REMEMBERED {
            known.clear();
            let end: Option<i64> = tx.prepare_cached(NEXT_END)?.query_row([], |row| row.get(0))?;
            (*before, *until_ms) = (now, end.unwrap_or(i64::MAX));
        }
        if let Some(stamp) = known.get(&of) {
            return Ok(*stamp);
        }
        let stamp = stamp(&tx, &of)?;
        known.insert(of, stamp);
        Ok(stamp)
    }
}

fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

fn data_version(db: &Connection) -> Result<i64> {
    Ok(db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}

fn stamp(db: &Connection, of: &Scope) -> Result<Stamp> {
    match of {
        Scope::Everything => {
            // A label that is over changes answers without a batch.
            let sql = format!("SELECT version, {EXPIRED} FROM pulse");
            let state: (i64, i64) = db.prepare_cached(&sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Stamp::of(&state))
        }
        Scope::Conversation(at) => {
            type State = (i64, i64, Option<String>, Option<String>, Option<String>);
            let state: Option<State> = db
                .prepare_cached(&format!(
                    "SELECT c.version, a.status, a.handle, a.profile, {MODERATED}
                     FROM account a JOIN conversation c ON c.account = a.id
                        AND c.collection = (SELECT id FROM collection WHERE nsid = ?2) AND c.rkey = ?3
                     WHERE a.did = ?1"
                ))?
                .query_row((at.did.as_str(), at.collection.as_str(), at.rkey.as_str()), |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })
                .optional()?;
            Ok(Stamp::of(&state))
        }
    }
}
