//! Everything that follows from the records, made anew: account by account, each in a transaction of its own, so that a
//! reader sees an account as it was before or as it is after, and whoever writes meanwhile waits for one account at most.

use std::sync::Arc;

use deadpool_postgres::Object;
use onrecord_lexicon::Did;
use tokio_postgres::{IsolationLevel, error::SqlState};

use super::{
    account,
    read::query,
    vector::Vector,
    write::{Work, all, place, run},
};
use crate::{
    account::Profile,
    admit::{derive_stored, merge_profile},
    change::rev_of_number,
    decide::{Conversations, count},
    error::{Error, Result},
    index::{Applied, Rebuilt},
    row::{is_searchable, time_key},
    stamp::new_version,
    stored::{address as address_of, corrupt, terms},
};

/// How many accounts, and records of one, are looked at at once.
const CHUNK: i64 = 1_000;
/// How often an account is tried that others write to at the same time.
const TRIES: u32 = 20;

pub(super) async fn rebuild(mut client: Object, tell: &Arc<dyn Fn(u64) + Send + Sync>) -> Result<Rebuilt> {
    let version = new_version()?;
    let mut rebuilt = Rebuilt::default();
    let mut after = String::new();
    loop {
        let sql = "SELECT did FROM account WHERE did > $1 ORDER BY did LIMIT $2";
        let rows = query(&client, sql, &[&after, &CHUNK]).await?;
        for row in &rows {
            after = row.try_get(0)?;
            let did = Did::parse(&after).map_err(corrupt("a DID"))?;
            let of_one = patiently(&mut client, &did, version).await?;
            rebuilt.records += of_one.records;
            rebuilt.conversations += of_one.conversations;
            rebuilt.dropped += of_one.dropped;
            tell(rebuilt.records);
        }
        if (rows.len() as u64) < CHUNK.unsigned_abs() {
            // What was made of pages before is old now.
            client.execute("UPDATE pulse SET version = $1", &[&version]).await?;
            return Ok(rebuilt);
        }
    }
}

/// Again, where somebody else wrote to the account meanwhile.
async fn patiently(client: &mut Object, did: &Did, version: i64) -> Result<Rebuilt> {
    let mut tries = 0;
    loop {
        match rebuild_one(client, did, version).await {
            Err(Error::Postgres(error)) if tries < TRIES && is_conflict(&error) => tries += 1,
            outcome => return outcome,
        }
    }
}

fn is_conflict(error: &tokio_postgres::Error) -> bool {
    error
        .code()
        .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
}

async fn rebuild_one(client: &mut Object, did: &Did, version: i64) -> Result<Rebuilt> {
    // Of one state: what is written meanwhile to the same rows makes it begin again.
    let tx = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).start().await?;
    let work = Work { tx: &tx, version, applied: Applied::default(), has_removed: false };
    for sql in [
        "DELETE FROM name_use WHERE did = $1",
        "UPDATE conversation SET present = FALSE, title = NULL, started_ms = 0, published_us = 0, turns = 0,
            withheld = 0, steps = 0, failed = 0 WHERE did = $1",
    ] {
        run(&tx, sql, &[&did.as_str()]).await?;
    }
    let mut rebuilt = Rebuilt::default();
    let mut profile = Profile::default();
    let mut after = (String::new(), String::new());
    loop {
        let rows = all(
            &tx,
            "SELECT collection, rkey, rev, json FROM record WHERE did = $1 AND (collection, rkey) > ($2, $3)
             ORDER BY collection, rkey LIMIT $4",
            &[&did.as_str(), &after.0, &after.1, &CHUNK],
        )
        .await?;
        let mut conversations = Conversations::new();
        let mut derived = Derived::default();
        let mut unreadable = Vec::new();
        for row in &rows {
            after = (row.try_get(0)?, row.try_get(1)?);
            let address = address_of(did.as_str(), &after.0, &after.1)?;
            let Some(row) = rev_of_number(row.try_get(2)?).and_then(|rev| derive_stored(&address, &rev, row.get(3)))
            else {
                unreadable.push(address);
                continue;
            };
            count(&mut conversations, did, &row, 1);
            if let Some(said) = &row.profile {
                merge_profile(&mut profile, address.collection.as_str(), Some(said.clone()));
            }
            let of = row.conversation.as_ref().map(|(collection, rkey)| place(collection.as_str(), rkey.as_str()));
            derived.collections.push(after.0.clone());
            derived.rkeys.push(after.1.clone());
            derived.time_keys.push(time_key(row.at_ms, &address));
            derived.kinds.push(row.kind.number());
            derived.opens.push(row.opens);
            derived.conversations.push(of);
            derived.vectors.push(is_searchable(&row).then(|| Vector::of(&terms(did, &row))));
        }
        rebuilt.records += derived.rkeys.len() as u64;
        rebuilt.dropped += unreadable.len() as u64;
        // Nothing that a reader could be shown.
        work.remove(unreadable.iter()).await?;
        derived.write(&work, did).await?;
        work.conversations(&conversations).await?;
        if (rows.len() as u64) < CHUNK.unsigned_abs() {
            break;
        }
    }
    run(&tx, "DELETE FROM conversation WHERE did = $1 AND NOT present AND turns <= 0", &[&did.as_str()]).await?;
    let present = all(&tx, "SELECT count(*) FROM conversation WHERE did = $1 AND present", &[&did.as_str()]).await?;
    rebuilt.conversations = present.first().map_or(Ok(0), |row| row.try_get::<_, i64>(0))?.unsigned_abs();
    account::set_profile(&tx, did, &profile).await?;
    tx.commit().await?;
    Ok(rebuilt)
}

/// What follows from some records, as columns.
#[derive(Default)]
struct Derived {
    collections: Vec<String>,
    rkeys: Vec<String>,
    time_keys: Vec<i64>,
    kinds: Vec<i16>,
    opens: Vec<bool>,
    conversations: Vec<Option<String>>,
    vectors: Vec<Option<Vector>>,
}

impl Derived {
    async fn write(&self, work: &Work<'_>, did: &Did) -> Result<()> {
        run(
            work.tx,
            "UPDATE record r SET time_key = k.time_key, kind = k.kind, opens = k.opens, conversation = k.conversation,
                terms = k.terms
             FROM unnest($2::text[], $3::text[], $4::bigint[], $5::smallint[], $6::boolean[], $7::text[], $8::tsvector[])
                AS k (collection, rkey, time_key, kind, opens, conversation, terms)
             WHERE r.did = $1 AND r.collection = k.collection AND r.rkey = k.rkey",
            &[
                &did.as_str(),
                &self.collections,
                &self.rkeys,
                &self.time_keys,
                &self.kinds,
                &self.opens,
                &self.conversations,
                &self.vectors,
            ],
        )
        .await?;
        Ok(())
    }
}
