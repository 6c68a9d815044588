//! Writing a batch: a handful of statements, each for all rows of its kind.

use std::collections::{BTreeSet, HashMap};

use futures_util::future::try_join_all;
use onrecord_lexicon::{Cid, Did};
use tokio_postgres::{Statement, types::ToSql};

use super::{account, vector::Vector};
use crate::{
    admit::{Act, Admitted, Record},
    change::{AccountStatus, Address, rev_number},
    decide::{Conversations, Effects, Known, KnownAccount, Stored, decide, segments},
    error::{Error, Result},
    index::Applied,
    row::{is_searchable, time_key},
    stamp::new_version,
    stored::{address, corrupt, row_of, terms},
};

/// How many records go to the server at once.
const PUTS: usize = 250;

/// Writes records that are new. Whoever else has the account's part waits, so none of them is there.
const INSERT: &str =
    "INSERT INTO record (did, collection, rkey, time_key, rev, kind, opens, conversation, cid, json, terms)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::smallint[], $7::boolean[],
        $8::text[], $9::bytea[], $10::text[], $11::tsvector[])";

/// Writes records over. Their places in time stay.
const UPDATE: &str = "UPDATE record r SET rev = k.rev, kind = k.kind, opens = k.opens, conversation = k.conversation, cid = k.cid,
        json = k.json, terms = k.terms
     FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::smallint[], $7::boolean[], $8::text[],
        $9::bytea[], $10::text[], $11::tsvector[])
        AS k (did, collection, rkey, time_key, rev, kind, opens, conversation, cid, json, terms)
     WHERE r.did = k.did AND r.collection = k.collection AND r.rkey = k.rkey";

pub(super) type Transaction<'t> = deadpool_postgres::Transaction<'t>;

/// Applies a batch, or nothing of it; says also whether something was removed.
pub(super) async fn apply(client: &mut deadpool_postgres::Object, batch: &Admitted) -> Result<(Applied, bool)> {
    let tx = client.transaction().await?;
    if let Some(fence) = &batch.fence {
        // Held until the end: who takes the lease over waits for this batch.
        let row = one(&tx, "SELECT epoch FROM lease WHERE name = $1 FOR SHARE", &[&fence.lease]).await?;
        if row.map(|row| row.try_get::<_, i64>(0)).transpose()? != Some(fence.epoch) {
            return Err(Error::Fenced);
        }
    }
    // Whatever the planner knows yet: every row is looked up by its key.
    tx.batch_execute(
        "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off",
    )
    .await?;
    lock(&tx, batch).await?;
    let version = new_version()?;
    let mut work = Work { tx: &tx, version, applied: Applied::default(), has_removed: false };
    work.applied.ignored = batch.ignored;
    let mut rejected = batch.rejected.clone();
    for segment in segments(&batch.acts) {
        if !segment.records.is_empty() {
            let known = work.load(&segment.records).await?;
            let effects = decide(&segment.records, &known);
            work.write(&effects).await?;
            rejected.append(effects.rejected);
        }
        for act in segment.accounts {
            work.account(act).await?;
        }
    }
    for note in &batch.notes {
        work.note(note).await?;
    }
    let (mut applied, has_removed) = (work.applied, work.has_removed);
    for (reason, of, n) in rejected.iter() {
        applied.rejected += n;
        run(
            &tx,
            "INSERT INTO rejection (reason, collection, n) VALUES ($1, $2, $3)
             ON CONFLICT (reason, collection) DO UPDATE SET n = rejection.n + excluded.n",
            &[&reason.code(), &of, &n.cast_signed()],
        )
        .await?;
    }
    if let Some(at) = &batch.cursor {
        run(
            &tx,
            "INSERT INTO cursor (source, cursor) VALUES ($1, $2)
             ON CONFLICT (source) DO UPDATE SET cursor = excluded.cursor",
            &[&at.source, &at.cursor],
        )
        .await?;
    }
    if !batch.acts.is_empty() {
        // The last, since all batches wait for each other here.
        run(&tx, "UPDATE pulse SET version = $1", &[&version]).await?;
    }
    tx.commit().await?;
    Ok((applied, has_removed))
}

/// Lets no other batch look at these accounts before this one is written: two sources tell of the same record at the same
/// moment, and whoever is second must see what the first did. In the same order everywhere, so that none waits in a circle.
async fn lock(tx: &Transaction<'_>, batch: &Admitted) -> Result<()> {
    /// What the locks are for, among others of this database: "repo".
    const CLASS: i32 = 0x7265_706f;
    /// How many parts the accounts are locked by.
    const PARTS: i32 = 64;
    let parts: BTreeSet<i32> = batch.acts.iter().map(|act| part(act.did(), PARTS)).collect();
    let parts: Vec<i32> = parts.into_iter().collect();
    if !parts.is_empty() {
        all(tx, "SELECT pg_advisory_xact_lock($1, part) FROM unnest($2::int[]) AS k (part)", &[&CLASS, &parts]).await?;
    }
    Ok(())
}

/// Which of `parts` an account is in; the same in every process.
fn part(did: &Did, parts: i32) -> i32 {
    let hash = did.as_str().bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    // Signed or not, the rest is the same distance from others.
    (hash.cast_signed() % parts).abs()
}

type Values<'v> = &'v [&'v (dyn ToSql + Sync)];

pub(super) async fn run(tx: &Transaction<'_>, sql: &str, values: Values<'_>) -> Result<u64> {
    let statement = tx.prepare_cached(sql).await?;
    Ok(tx.execute(&statement, values).await?)
}

pub(super) async fn all(tx: &Transaction<'_>, sql: &str, values: Values<'_>) -> Result<Vec<tokio_postgres::Row>> {
    let statement = tx.prepare_cached(sql).await?;
    Ok(tx.query(&statement, values).await?)
}

pub(super) async fn one(tx: &Transaction<'_>, sql: &str, values: Values<'_>) -> Result<Option<tokio_postgres::Row>> {
    let statement = tx.prepare_cached(sql).await?;
    Ok(tx.query_opt(&statement, values).await?)
}

/// Addresses, as three columns.
#[derive(Default)]
struct Places<'a> {
    dids: Vec<&'a str>,
    collections: Vec<&'a str>,
    rkeys: Vec<&'a str>,
}

impl<'a> FromIterator<&'a Address> for Places<'a> {
    fn from_iter<I: IntoIterator<Item = &'a Address>>(addresses: I) -> Self {
        let mut places = Self::default();
        for address in addresses {
            places.dids.push(address.did.as_str());
            places.collections.push(address.collection.as_str());
            places.rkeys.push(address.rkey.as_str());
        }
        places
    }
}

/// The place of a conversation, as its key has it.
pub(super) fn place(collection: &str, rkey: &str) -> String {
    format!("{collection}/{rkey}")
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
    pub(super) version: i64,
    pub(super) applied: Applied,
    pub(super) has_removed: bool,
}

impl Work<'_> {
    async fn load(&self, acts: &[&Act]) -> Result<Known> {
        let mut known = Known::default();
        let dids: BTreeSet<&str> = acts.iter().map(|act| act.did().as_str()).collect();
        let dids: Vec<&str> = dids.into_iter().collect();
        let rows =
            all(self.tx, "SELECT did, status, status_ms, floor, profile FROM account WHERE did = ANY ($1)", &[&dids])
                .await?;
        for row in rows {
            let did = Did::parse(row.try_get(0)?).map_err(corrupt("a DID"))?;
            known.accounts.insert(did, account::of_row(&row, 1)?);
        }
        let addresses = || acts.iter().filter_map(|act| act.address()).filter(|a| known.accounts.contains_key(&a.did));
        let newest = self.newest(addresses()).await?;
        let is_old = |address: &Address, of: fn(&Newest) -> Option<&str>| {
            let newest = newest.get(&(address.did.as_str(), address.collection.as_str())).and_then(of);
            newest.is_some_and(|newest| address.rkey.as_str() <= newest)
        };
        let stored: Places<'_> = addresses().filter(|a| is_old(a, |newest| newest.stored.as_deref())).collect();
        let gone: Places<'_> = addresses().filter(|a| is_old(a, |newest| newest.gone.as_deref())).collect();
        if !stored.dids.is_empty() {
            let rows = all(
                self.tx,
                "SELECT k.did, k.collection, k.rkey, r.time_key, r.rev, r.json, r.cid
                 FROM unnest($1::text[], $2::text[], $3::text[]) AS k (did, collection, rkey)
                 JOIN record r ON r.did = k.did AND r.collection = k.collection AND r.rkey = k.rkey",
                &[&stored.dids, &stored.collections, &stored.rkeys],
            )
            .await?;
            for row in rows {
                let address = address(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)?;
                let rev = row.try_get(4)?;
                let cid = Cid::from_bytes(row.try_get(6)?).map_err(corrupt("a CID"))?;
                let stored = Stored { id: row.try_get(3)?, rev, cid, row: row_of(&address, rev, row.try_get(5)?)? };
                known.records.insert(address, stored);
            }
        }
        if !gone.dids.is_empty() {
            let rows = all(
                self.tx,
                "SELECT k.did, k.collection, k.rkey, g.rev
                 FROM unnest($1::text[], $2::text[], $3::text[]) AS k (did, collection, rkey)
                 JOIN gone g ON g.did = k.did AND g.collection = k.collection AND g.rkey = k.rkey",
                &[&gone.dids, &gone.collections, &gone.rkeys],
            )
            .await?;
            for row in rows {
                known.gone.insert(address(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)?, row.try_get(3)?);
            }
        }
        Ok(known)
    }

    /// The newest keys that are known of the collections at hand. Most of what comes is newer, and need not be looked up.
    async fn newest<'a>(
        &self,
        addresses: impl Iterator<Item = &'a Address>,
    ) -> Result<HashMap<(&'a str, &'a str), Newest>> {
        let of: BTreeSet<(&str, &str)> = addresses.map(|a| (a.did.as_str(), a.collection.as_str())).collect();
        let (dids, collections): (Vec<&str>, Vec<&str>) = of.iter().copied().unzip();
        if dids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = all(
            self.tx,
            "SELECT (SELECT max(r.rkey) FROM record r WHERE r.did = k.did AND r.collection = k.collection),
                (SELECT max(g.rkey) FROM gone g WHERE g.did = k.did AND g.collection = k.collection)
             FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k (did, collection, n) ORDER BY k.n",
            &[&dids, &collections],
        )
        .await?;
        of.into_iter()
            .zip(rows)
            .map(|(of, row)| Ok((of, Newest { stored: row.try_get(0)?, gone: row.try_get(1)? })))
            .collect()
    }

    async fn write(&mut self, effects: &Effects<'_>) -> Result<()> {
        self.applied.stale += effects.stale;
        self.applied.ignored += effects.ignored;
        self.applied.stored += (effects.puts.len() + effects.renewed.len()) as u64;
        self.applied.removed += effects.removes.len() as u64;
        self.has_removed |= !effects.removes.is_empty() || effects.puts.iter().any(|(_, stored)| stored.is_some());
        if !effects.new_accounts.is_empty() {
            let dids: Vec<&str> = effects.new_accounts.iter().map(|did| did.as_str()).collect();
            run(self.tx, "INSERT INTO account (did) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING", &[&dids])
                .await?;
        }
        self.remove(effects.removes.iter().map(|(address, _)| *address)).await?;
        self.conversations(&effects.conversations).await?;
        self.put(effects).await?;
        self.renew(&effects.renewed).await?;
        if !effects.back.is_empty() {
            let places: Places<'_> = effects.back.iter().copied().collect();
            run(
                self.tx,
                "DELETE FROM gone g USING unnest($1::text[], $2::text[], $3::text[]) AS k (did, collection, rkey)
                 WHERE g.did = k.did AND g.collection = k.collection AND g.rkey = k.rkey",
                &[&places.dids, &places.collections, &places.rkeys],
            )
            .await?;
        }
        self.gone(&effects.gone).await?;
        for (did, profile) in &effects.profiles {
            account::set_profile(self.tx, did, profile).await?;
        }
        Ok(())
    }

    /// Notes the revisions at which records stand that are the same as before.
    async fn renew(&self, renewed: &[&Record]) -> Result<()> {
        if renewed.is_empty() {
            return Ok(());
        }
        let places: Places<'_> = renewed.iter().map(|record| &record.address).collect();
        let revs: Vec<i64> = renewed.iter().map(|record| rev_number(&record.rev)).collect();
        run(
            self.tx,
            "UPDATE record r SET rev = k.rev
             FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS k (did, collection, rkey, rev)
             WHERE r.did = k.did AND r.collection = k.collection AND r.rkey = k.rkey",
            &[&places.dids, &places.collections, &places.rkeys, &revs],
        )
        .await?;
        Ok(())
    }

    /// Deletes records.
    pub(super) async fn remove(&self, addresses: impl Iterator<Item = &Address>) -> Result<()> {
        let places: Places<'_> = addresses.collect();
        if !places.dids.is_empty() {
            run(
                self.tx,
                "DELETE FROM record r USING unnest($1::text[], $2::text[], $3::text[]) AS k (did, collection, rkey)
                 WHERE r.did = k.did AND r.collection = k.collection AND r.rkey = k.rkey",
                &[&places.dids, &places.collections, &places.rkeys],
            )
            .await?;
        }
        Ok(())
    }

    /// Notes records that are gone, and since when.
    pub(super) async fn gone(&self, gone: &[(&Address, i64)]) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let places: Places<'_> = gone.iter().map(|(address, _)| *address).collect();
        let revs: Vec<i64> = gone.iter().map(|(_, rev)| *rev).collect();
        run(
            self.tx,
            "INSERT INTO gone (did, collection, rkey, rev)
             SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
             ON CONFLICT (did, collection, rkey) DO UPDATE SET rev = excluded.rev",
            &[&places.dids, &places.collections, &places.rkeys, &revs],
        )
        .await?;
        Ok(())
    }

    /// Writes how conversations change.
    pub(super) async fn conversations(&self, changes: &Conversations) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let dids: Vec<&str> = changes.keys().map(|(did, ..)| did.as_str()).collect();
        let places: Vec<String> = changes.keys().map(|(_, c, rkey)| place(c.as_str(), rkey.as_str())).collect();
        let tally = |of: fn(&crate::row::Tally) -> i64| changes.values().map(|c| of(&c.tally)).collect::<Vec<i64>>();
        run(
            self.tx,
            "INSERT INTO conversation (did, place, turns, withheld, steps, failed, version)
             SELECT *, $7::bigint FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
             ON CONFLICT (did, place) DO UPDATE SET turns = conversation.turns + excluded.turns,
                withheld = conversation.withheld + excluded.withheld, steps = conversation.steps + excluded.steps,
                failed = conversation.failed + excluded.failed, version = excluded.version",
            &[
                &dids,
                &places,
                &tally(|t| t.turns),
                &tally(|t| t.withheld),
                &tally(|t| t.steps),
                &tally(|t| t.failed),
                &self.version,
            ],
        )
        .await?;
        self.heads(changes, &places).await?;
        self.names(changes, &places).await?;
        let smaller =
            || changes.iter().zip(&places).filter(|((_, c), _)| c.tally.turns < 0 || matches!(c.head, Some(None)));
        let dids: Vec<&str> = smaller().map(|(((did, ..), _), _)| did.as_str()).collect();
        let places: Vec<&str> = smaller().map(|(_, place)| place.as_str()).collect();
        if !dids.is_empty() {
            run(
                self.tx,
                "DELETE FROM conversation c USING unnest($1::text[], $2::text[]) AS k (did, place)
                 WHERE c.did = k.did AND c.place = k.place AND NOT c.present AND c.turns <= 0",
                &[&dids, &places],
            )
            .await?;
        }
        Ok(())
    }

    async fn heads(&self, changes: &Conversations, all_places: &[String]) -> Result<()> {
        let (mut dids, mut places, mut present) = (Vec::new(), Vec::new(), Vec::new());
        let (mut titles, mut started, mut published) = (Vec::new(), Vec::new(), Vec::new());
        for (((did, ..), change), place) in changes.iter().zip(all_places) {
            let Some(head) = &change.head else { continue };
            dids.push(did.as_str());
            places.push(place.as_str());
            present.push(head.is_some());
            titles.push(head.as_ref().and_then(|head| head.title.as_deref()).map(storable));
            started.push(head.as_ref().map_or(0, |head| head.at_ms));
            published.push(head.as_ref().map_or(0, |head| head.published_us));
        }
        if !dids.is_empty() {
            run(
                self.tx,
                "UPDATE conversation c SET present = k.present, title = k.title, started_ms = k.started_ms,
                    published_us = k.published_us
                 FROM unnest($1::text[], $2::text[], $3::boolean[], $4::text[], $5::bigint[], $6::bigint[])
                    AS k (did, place, present, title, started_ms, published_us)
                 WHERE c.did = k.did AND c.place = k.place",
                &[&dids, &places, &present, &titles, &started, &published],
            )
            .await?;
        }
        Ok(())
    }

    async fn names(&self, changes: &Conversations, all_places: &[String]) -> Result<()> {
        let (mut dids, mut places, mut kinds, mut names, mut counts) = (vec![], vec![], vec![], vec![], vec![]);
        for (((did, ..), change), place) in changes.iter().zip(all_places) {
            for ((kind, name), n) in change.names.iter().filter(|(_, n)| **n != 0) {
                dids.push(did.as_str());
                places.push(place.as_str());
                kinds.push(kind.number());
                names.push(storable(name));
                counts.push(*n);
            }
        }
        if dids.is_empty() {
            return Ok(());
        }
        run(
            self.tx,
            "INSERT INTO name_use (did, place, kind, name, n)
             SELECT did, place, kind, name, sum(n)::bigint
             FROM unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::bigint[]) AS k (did, place, kind, name, n)
             GROUP BY did, place, kind, name
             ON CONFLICT (did, place, kind, name) DO UPDATE SET n = name_use.n + excluded.n",
            &[&dids, &places, &kinds, &names, &counts],
        )
        .await?;
        if counts.iter().any(|n| *n < 0) {
            run(
                self.tx,
                "DELETE FROM name_use u USING unnest($1::text[], $2::text[]) AS k (did, place)
                 WHERE u.did = k.did AND u.place = k.place AND u.n <= 0",
                &[&dids, &places],
            )
            .await?;
        }
        Ok(())
    }

    /// Writes records, some at a time: the server works on the first while the next are put together.
    async fn put(&self, effects: &Effects<'_>) -> Result<()> {
        let (mut new, mut replaced): (Vec<_>, Vec<_>) =
            effects.puts.iter().copied().partition(|(_, stored)| stored.is_none());
        for (puts, sql) in [(&mut new, INSERT), (&mut replaced, UPDATE)] {
            if puts.is_empty() {
                continue;
            }
            puts.sort_unstable_by_key(|(record, _)| {
                (&record.address.did, &record.address.collection, &record.address.rkey)
            });
            let statement = &self.tx.prepare_cached(sql).await?;
            try_join_all(puts.chunks(PUTS).map(async |puts| self.put_some(statement, puts).await)).await?;
        }
        Ok(())
    }

    async fn put_some(&self, statement: &Statement, puts: &[(&Record, Option<&Stored>)]) -> Result<()> {
        let places: Places<'_> = puts.iter().map(|(record, _)| &record.address).collect();
        let of = |row: &crate::row::Row| row.conversation.as_ref().map(|(c, rkey)| place(c.as_str(), rkey.as_str()));
        let time_keys: Vec<i64> = puts
            .iter()
            .map(|(record, stored)| stored.map_or_else(|| time_key(record.row.at_ms, &record.address), |s| s.id))
            .collect();
        let revs: Vec<i64> = puts.iter().map(|(record, _)| rev_number(&record.rev)).collect();
        let kinds: Vec<i16> = puts.iter().map(|(record, _)| record.row.kind.number()).collect();
        let opens: Vec<bool> = puts.iter().map(|(record, _)| record.row.opens).collect();
        let conversations: Vec<Option<String>> = puts.iter().map(|(record, _)| of(&record.row)).collect();
        let cids: Vec<Vec<u8>> = puts.iter().map(|(record, _)| record.cid.to_bytes().to_vec()).collect();
        let jsons: Vec<&str> = puts.iter().map(|(record, _)| &*record.json).collect();
        let vectors: Vec<Option<Vector>> = puts
            .iter()
            .map(|(record, _)| is_searchable(&record.row).then(|| Vector::of(&terms(&record.address.did, &record.row))))
            .collect();
        self.tx
            .execute(
                statement,
                &[
                    &places.dids,
                    &places.collections,
                    &places.rkeys,
                    &time_keys,
                    &revs,
                    &kinds,
                    &opens,
                    &conversations,
                    &cids,
                    &jsons,
                    &vectors,
                ],
            )
            .await?;
        Ok(())
    }

    async fn account(&mut self, act: &Act) -> Result<()> {
        match act {
            Act::Account { did, status, at_ms } => self.set_status(did, *status, *at_ms).await,
            Act::Identity { did, handle, pds } => {
                let is_known = account::set_identity(self.tx, did, handle.as_ref(), pds.as_deref()).await?;
                self.applied.ignored += u64::from(!is_known);
                Ok(())
            }
            Act::Listed { did, rev } => self.listed(did, rev_number(rev)).await,
            Act::Restored(restored) => self.restore(restored).await,
            Act::Put(_) | Act::Refused { .. } | Act::Delete { .. } => Ok(()),
        }
    }

    pub(super) async fn find(&self, did: &Did) -> Result<Option<KnownAccount>> {
        let sql = "SELECT status, status_ms, floor, profile FROM account WHERE did = $1";
        one(self.tx, sql, &[&did.as_str()]).await?.map(|row| account::of_row(&row, 0)).transpose()
    }

    /// Whether the account is one whose records are removed.
    pub(super) fn is_deleted(account: &KnownAccount) -> bool {
        account.status == AccountStatus::Deleted
    }
}

/// PostgreSQL's text holds no NUL.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
