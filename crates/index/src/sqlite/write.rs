//! Writing a batch.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

use onrecord_lexicon::{Cid, Did};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use super::{account, checkpoint::Checkpointer};
use crate::{
    admit::{Act, Admitted, Record},
    change::{Address, rev_number},
    decide::{Conversations, Effects, Known, Stored, decide, segments},
    error::{Error, Result},
    index::{Applied, Rebuilt},
    row::{Row, another_time_key, is_searchable, time_key},
    stamp::new_version,
    stored::{corrupt, row_of, terms},
};

/// Collections whose numbers are remembered.
const MOST_COLLECTIONS: usize = 1_000;

/// The one who writes.
pub(super) struct Writer {
    db: Connection,
    checkpointer: Checkpointer,
    collections: HashMap<Box<str>, i64>,
    /// Whether something was removed that may still stand in the write-ahead log.
    pub(super) has_removed: bool,
    /// Whether an account may have something left that is to be removed.
    pub(super) has_unswept: bool,
}

impl Writer {
    pub(super) fn new(db: Connection, checkpointer: Checkpointer) -> Self {
        // What an earlier process removed may still be there, and what it did not come to.
        Self { db, checkpointer, collections: HashMap::new(), has_removed: true, has_unswept: true }
    }

    pub(super) fn db(&mut self) -> &mut Connection {
        &mut self.db
    }

    /// Sees to it that the write-ahead log does not grow without end.
    pub(super) fn checkpoint(&self) -> Result<()> {
        self.checkpointer.wrote(&self.db)
    }

    /// Moves the write-ahead log into the file and empties it.
    pub(super) fn forget(&mut self) -> Result<()> {
        self.has_removed = !self.checkpointer.empty()?;
        Ok(())
    }

    /// Applies a batch, or nothing of it.
    pub(super) fn apply(&mut self, batch: &Admitted) -> Result<Applied> {
        let applied = self.try_apply(batch);
        if applied.is_err() {
            // A number given out in it was never given out.
            self.collections.clear();
        }
        applied
    }

    fn try_apply(&mut self, batch: &Admitted) -> Result<Applied> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(fence) = &batch.fence {
            let epoch: Option<i64> = tx
                .prepare_cached("SELECT epoch FROM lease WHERE name = ?1")?
                .query_row([&fence.lease], |row| row.get(0))
                .optional()?;
            if epoch != Some(fence.epoch) {
                return Err(Error::Fenced);
            }
        }
        let mut work = Work::new(&tx, &mut self.collections)?;
        work.applied.ignored = batch.ignored;
        let mut rejected = batch.rejected.clone();
        for segment in segments(&batch.acts) {
            let known = work.load(&segment.records)?;
            let effects = decide(&segment.records, &known);
            work.write(&effects, &known)?;
            rejected.append(effects.rejected);
            for act in segment.accounts {
                work.account(act)?;
            }
        }
        for note in &batch.notes {
            work.note(note)?;
        }
        let (mut applied, version) = (work.applied, work.version);
        let (has_removed, has_unswept) = (work.has_removed, work.has_unswept);
        if !batch.acts.is_empty() {
            tx.prepare_cached("UPDATE pulse SET version = ?1")?.execute([version])?;
        }
        for (reason, of, n) in rejected.iter() {
            applied.rejected += n;
            tx.prepare_cached(
                "INSERT INTO rejection (reason, collection, n) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET n = n + excluded.n",
            )?
            .execute((reason.code(), of, n.cast_signed()))?;
        }
        if let Some(at) = &batch.cursor {
            tx.prepare_cached(
                "INSERT INTO cursor (source, cursor) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET cursor = excluded.cursor",
            )?
            .execute((&at.source, &at.cursor))?;
        }
        tx.commit()?;
        self.has_removed |= has_removed;
        self.has_unswept |= has_unswept;
        Ok(applied)
    }

    /// Removes some of what accounts no longer have.
    pub(super) fn sweep(&mut self) -> Result<()> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut work = Work::new(&tx, &mut self.collections)?;
        let swept = work.sweep_on();
        let (version, has_removed) = (work.version, work.has_removed);
        if has_removed {
            tx.prepare_cached("UPDATE pulse SET version = ?1")?.execute([version])?;
        }
        if matches!(swept, Ok(true)) {
            tx.commit()?;
            self.has_removed |= has_removed;
        } else {
            drop(tx);
            // A number given out in it was never given out.
            self.collections.clear();
        }
        self.has_unswept = swept?;
        Ok(())
    }

    /// Makes everything that follows from the records anew, or nothing of it.
    pub(super) fn rebuild(&mut self, tell: &Arc<dyn Fn(u64) + Send + Sync>) -> Result<Rebuilt> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut work = Work::new(&tx, &mut self.collections)?;
        let rebuilt = work.rebuild(tell);
        let (version, has_removed) = (work.version, work.has_removed);
        if rebuilt.is_ok() {
            tx.execute("UPDATE pulse SET version = ?1", [version])?;
            tx.commit()?;
            self.has_removed |= has_removed;
        } else {
            drop(tx);
            // A number given out in it was never given out.
            self.collections.clear();
        }
        rebuilt
    }
}

/// The newest keys of an account's collection.
struct Newest {
    /// Of what is stored.
    stored: Option<String>,
    /// Of what is gone.
    gone: Option<String>,
}

/// A batch being written.
pub(super) struct Work<'t> {
    pub(super) tx: &'t Transaction<'t>,
    collections: &'t mut HashMap<Box<str>, i64>,
    version: i64,
    pub(super) applied: Applied,
    pub(super) has_removed: bool,
    pub(super) has_unswept: bool,
}

impl<'t> Work<'t> {
    fn new(tx: &'t Transaction<'t>, collections: &'t mut HashMap<Box<str>, i64>) -> Result<Self> {
        let (version, applied) = (new_version()?, Applied::default());
        Ok(Self { tx, collections, version, applied, has_removed: false, has_unswept: false })
    }

    /// The number of a collection. Those in use are few; whoever makes up many makes them be looked up.
    pub(super) fn collection(&mut self, nsid: &str) -> Result<i64> {
        if let Some(id) = self.collections.get(nsid) {
            return Ok(*id);
        }
        let id = self.tx.query_row(
            "INSERT INTO collection (nsid) VALUES (?1) ON CONFLICT DO UPDATE SET nsid = nsid RETURNING id",
            [nsid],
            |row| row.get(0),
        )?;
        if self.collections.len() >= MOST_COLLECTIONS {
            self.collections.clear();
        }
        self.collections.insert(nsid.into(), id);
        Ok(id)
    }

    fn load(&mut self, acts: &[&Act]) -> Result<Known> {
        let mut known = Known::default();
        let mut unknown: HashSet<&Did> = HashSet::new();
        let mut newest: HashMap<(&str, &str), Newest> = HashMap::new();
        for address in acts.iter().filter_map(|act| act.address()) {
            if unknown.contains(&address.did) {
                continue;
            }
            if !known.accounts.contains_key(&address.did) {
                match account::find(self.tx, &address.did)? {
                    Some(account) => drop(known.accounts.insert(address.did.clone(), account)),
                    None => {
                        unknown.insert(&address.did);
                        continue;
                    }
                }
            }
            let Some(account) = known.accounts.get(&address.did).map(|account| account.id) else { continue };
            let key = (account, self.collection(address.collection.as_str())?, address.rkey.as_str());
            let of = (address.did.as_str(), address.collection.as_str());
            let newest = match newest.entry(of) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(self.newest(key.0, key.1)?),
            };
            // Most of what comes is newer than all there is, and need not be looked up.
            let is_old = |newest: &Option<String>| newest.as_deref().is_some_and(|newest| key.2 <= newest);
            if is_old(&newest.stored)
                && let Some(stored) = self.stored(address, key)?
            {
                known.records.insert(address.clone(), stored);
            } else if is_old(&newest.gone) {
                let rev: Option<i64> = self
                    .tx
                    .prepare_cached("SELECT rev FROM gone WHERE account = ?1 AND collection = ?2 AND rkey = ?3")?
                    .query_row(key, |row| row.get(0))
                    .optional()?;
                known.gone.extend(rev.map(|rev| (address.clone(), rev)));
            }
        }
        Ok(known)
    }

    fn newest(&self, account: i64, collection: i64) -> Result<Newest> {
        let [stored, gone] = ["record", "gone"].map(|table| {
            self.tx
                .prepare_cached(&format!("SELECT max(rkey) FROM {table} WHERE account = ?1 AND collection = ?2"))?
                .query_row((account, collection), |row| row.get(0))
        });
        Ok(Newest { stored: stored?, gone: gone? })
    }

    fn stored(&self, address: &Address, key: (i64, i64, &str)) -> Result<Option<Stored>> {
        let found: Option<(i64, i64, String, Vec<u8>)> = self
            .tx
            .prepare_cached(
                "SELECT id, rev, json, cid FROM record WHERE account = ?1 AND collection = ?2 AND rkey = ?3",
            )?
            .query_row(key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()?;
        let Some((id, rev, json, cid)) = found else { return Ok(None) };
        let cid = Cid::from_bytes(&cid).map_err(corrupt("a CID"))?;
        Ok(Some(Stored { id, rev, cid, row: row_of(address, rev, &json)? }))
    }

    fn write(&mut self, effects: &Effects<'_>, known: &Known) -> Result<()> {
        self.applied.stale += effects.stale;
        self.applied.ignored += effects.ignored;
        let mut accounts: HashMap<&Did, i64> = known.accounts.iter().map(|(did, a)| (did, a.id)).collect();
        for did in &effects.new_accounts {
            let id = self
                .tx
                .prepare_cached("INSERT INTO account (did) VALUES (?1) RETURNING id")?
                .query_row([did.as_str()], |row| row.get(0))?;
            accounts.insert(did, id);
        }
        let account_of = |did: &Did| accounts.get(did).copied().ok_or(Error::Corrupt { what: "an account" });

        let replaced = effects.puts.iter().filter_map(|(record, stored)| Some((&record.address, (*stored)?)));
        let old: Vec<_> = effects.removes.iter().copied().chain(replaced).collect();
        self.take_out(old.iter().map(|(address, stored)| (stored.id, &address.did, &stored.row)).collect())?;
        for (_, stored) in &effects.removes {
            self.tx.prepare_cached("DELETE FROM record WHERE id = ?1")?.execute([stored.id])?;
        }
        self.applied.removed += effects.removes.len() as u64;

        let conversations = self.conversations(&effects.conversations, account_of)?;
        let mut puts: Vec<(i64, &Record, Option<&Stored>)> = effects
            .puts
            .iter()
            .map(|(record, stored)| {
                (stored.map_or_else(|| time_key(record.row.at_ms, &record.address), |s| s.id), *record, *stored)
            })
            .collect();
        puts.sort_unstable_by_key(|(id, ..)| *id);
        let mut ids = Vec::with_capacity(puts.len());
        for (id, record, stored) in &puts {
            let account = account_of(&record.address.did)?;
            let conversation = record.row.conversation.as_ref().and_then(|(collection, rkey)| {
                conversations.get(&(record.address.did.as_str(), collection.as_str(), rkey.as_str()))
            });
            ids.push((self.put(*id, record, *stored, account, conversation.copied())?, *record));
        }
        ids.sort_unstable_by_key(|(id, _)| *id);
        for (id, record) in ids {
            if is_searchable(&record.row) {
                self.tx
                    .prepare_cached("INSERT INTO search (rowid, terms) VALUES (?1, ?2)")?
                    .execute((id, terms(&record.address.did, &record.row)))?;
            }
        }
        for record in &effects.renewed {
            let stored = known.records.get(&record.address).ok_or(Error::Corrupt { what: "a record" })?;
            self.tx
                .prepare_cached("UPDATE record SET rev = ?2 WHERE id = ?1")?
                .execute((stored.id, rev_number(&record.rev)))?;
        }
        self.applied.stored += (effects.puts.len() + effects.renewed.len()) as u64;

        for address in &effects.back {
            let key = (account_of(&address.did)?, self.collection(address.collection.as_str())?, address.rkey.as_str());
            self.tx
                .prepare_cached("DELETE FROM gone WHERE account = ?1 AND collection = ?2 AND rkey = ?3")?
                .execute(key)?;
        }
        for (address, rev) in &effects.gone {
            self.gone(account_of(&address.did)?, address.collection.as_str(), address.rkey.as_str(), *rev)?;
        }
        for (did, profile) in &effects.profiles {
            account::set_profile(self.tx, account_of(did)?, profile)?;
        }
        Ok(())
    }

    pub(super) fn gone(&mut self, account: i64, collection: &str, rkey: &str, rev: i64) -> Result<()> {
        let collection = self.collection(collection)?;
        self.tx
            .prepare_cached(
                "INSERT INTO gone (account, collection, rkey, rev) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET rev = excluded.rev",
            )?
            .execute((account, collection, rkey, rev))?;
        Ok(())
    }

    /// Takes records out of the inverted index: by their own terms, since it does not keep the text.
    pub(super) fn take_out(&mut self, mut rows: Vec<(i64, &Did, &Row)>) -> Result<()> {
        self.has_removed |= !rows.is_empty();
        rows.sort_unstable_by_key(|(id, ..)| *id);
        for (id, did, row) in rows {
            if is_searchable(row) {
                self.tx
                    .prepare_cached("INSERT INTO search (search, rowid, terms) VALUES ('delete', ?1, ?2)")?
                    .execute((id, terms(did, row)))?;
            }
        }
        Ok(())
    }

    /// Writes how conversations change, and gives their ids.
    pub(super) fn conversations<'c>(
        &mut self,
        changes: &'c Conversations,
        account_of: impl Fn(&Did) -> Result<i64>,
    ) -> Result<HashMap<(&'c str, &'c str, &'c str), i64>> {
        let mut ids = HashMap::with_capacity(changes.len());
        for ((did, collection, rkey), change) in changes {
            let key = (account_of(did)?, self.collection(collection.as_str())?, rkey.as_str());
            let tally = change.tally;
            let (id, present, turns): (i64, bool, i64) = self
                .tx
                .prepare_cached(
                    "INSERT INTO conversation (account, collection, rkey, turns, withheld, steps, failed, version)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                     ON CONFLICT (account, collection, rkey) DO UPDATE SET turns = turns + excluded.turns,
                        withheld = withheld + excluded.withheld, steps = steps + excluded.steps,
                        failed = failed + excluded.failed, version = excluded.version
                     RETURNING id, present, turns",
                )?
                .query_row(
                    (key.0, key.1, key.2, tally.turns, tally.withheld, tally.steps, tally.failed, self.version),
                    |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
                )?;
            if let Some(head) = &change.head {
                let title = head.as_ref().and_then(|head| head.title.as_deref());
                let times = head.as_ref().map_or((0, 0), |head| (head.at_ms, head.published_us));
                self.tx
                    .prepare_cached(
                        "UPDATE conversation SET present = ?2, title = ?3, started_ms = ?4, published_us = ?5 WHERE id = ?1",
                    )?
                    .execute((id, head.is_some(), title, times.0, times.1))?;
            }
            for ((kind, name), n) in change.names.iter().filter(|(_, n)| **n != 0) {
                self.tx
                    .prepare_cached(
                        "INSERT INTO name_use (conversation, kind, name, n) VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT DO UPDATE SET n = n + excluded.n",
                    )?
                    .execute((id, kind.number(), name, n))?;
                if *n < 0 {
                    self.tx
                        .prepare_cached(
                            "DELETE FROM name_use WHERE conversation = ?1 AND kind = ?2 AND name = ?3 AND n <= 0",
                        )?
                        .execute((id, kind.number(), name))?;
                }
            }
            let is_present = change.head.as_ref().map_or(present, Option::is_some);
            if !is_present && turns <= 0 {
                self.tx.prepare_cached("DELETE FROM conversation WHERE id = ?1")?.execute([id])?;
            }
            ids.insert((did.as_str(), collection.as_str(), rkey.as_str()), id);
        }
        Ok(ids)
    }

    fn put(
        &mut self,
        mut id: i64,
        record: &Record,
        stored: Option<&Stored>,
        account: i64,
        conversation: Option<i64>,
    ) -> Result<i64> {
        let (row, rev) = (&record.row, rev_number(&record.rev));
        if stored.is_some() {
            self.tx
                .prepare_cached(
                    "UPDATE record SET rev = ?2, kind = ?3, opens = ?4, conversation = ?5, cid = ?6, json = ?7 WHERE id = ?1",
                )?
                .execute((id, rev, row.kind.number(), row.opens, conversation, record.cid.to_bytes(), &*record.json))?;
            return Ok(id);
        }
        let collection = self.collection(record.address.collection.as_str())?;
        let mut tries = 0;
        loop {
            let inserted = self
                .tx
                .prepare_cached(
                    "INSERT INTO record (id, account, collection, rkey, rev, kind, opens, conversation, cid, json)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (id) DO NOTHING",
                )?
                .execute((
                    id,
                    account,
                    collection,
                    record.address.rkey.as_str(),
                    rev,
                    row.kind.number(),
                    row.opens,
                    conversation,
                    record.cid.to_bytes(),
                    &*record.json,
                ))?;
            if inserted > 0 {
                return Ok(id);
            }
            // Another record has it.
            tries += 1;
            id = another_time_key(id, tries);
        }
    }

    fn account(&mut self, act: &Act) -> Result<()> {
        match act {
            Act::Account { did, status, at_ms } => self.set_status(did, *status, *at_ms),
            Act::Identity { did, handle, pds } => account::set_identity(self.tx, did, handle.as_ref(), pds.as_deref())
                .map(|is_known| {
                    self.applied.ignored += u64::from(!is_known);
                }),
            Act::Listed { did, rev } => self.listed(did, rev_number(rev)),
            Act::Restored(restored) => self.restore(restored),
            Act::Put(_) | Act::Refused { .. } | Act::Delete { .. } => Ok(()),
        }
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("has_removed", &self.has_removed).finish_non_exhaustive()
    }
}
