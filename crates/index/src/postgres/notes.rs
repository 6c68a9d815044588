//! What is remembered beside what readers see.

use onrecord_lexicon::{Cid, Did, Nsid, Rkey};
use onrecord_repo::Link;

use super::{
    read::query,
    write::{Work, run as execute},
};
use crate::{
    change::{rev_number, rev_of_number},
    error::{Error, Result},
    owed::{Holding, Note, Owed, OwedState, RepoHead, RunState},
    stored::corrupt,
};

impl Work<'_> {
    pub(super) async fn note(&mut self, note: &Note) -> Result<()> {
        let tx = self.tx;
        match note {
            Note::Head { did, rev, data } => {
                let sql = "UPDATE account SET head_rev = $2, head_data = $3
                    WHERE did = $1 AND head_rev < $2 AND status <> 4";
                let data = data.as_ref().map(|data| data.as_bytes().to_vec());
                execute(tx, sql, &[&did.as_str(), &rev_number(rev), &data]).await?;
            }
            Note::Owed { run, dids, afresh } => {
                let dids: Vec<&str> = dids.iter().map(Did::as_str).collect();
                let sql = "INSERT INTO owed (run, did) SELECT DISTINCT $1, did FROM unnest($2::text[]) AS k (did)
                    ON CONFLICT (run, did) DO UPDATE SET state = 0, asked = owed.asked + 1, tries = 0, due_ms = 0,
                        why = NULL WHERE $3";
                execute(tx, sql, &[run, &dids, afresh]).await?;
            }
            Note::Done { run, did, asked, keep } => {
                let sql = if *keep {
                    "UPDATE owed SET state = 1, why = NULL WHERE run = $1 AND did = $2 AND asked = $3"
                } else {
                    "DELETE FROM owed WHERE run = $1 AND did = $2 AND asked = $3"
                };
                execute(tx, sql, &[run, &did.as_str(), asked]).await?;
            }
            Note::Failed { run, did, why, again_ms } => {
                let state = if again_ms.is_some() { OwedState::Waiting } else { OwedState::GivenUp };
                let sql = "UPDATE owed SET state = $3, tries = tries + 1, due_ms = $4, why = $5
                    WHERE run = $1 AND did = $2";
                let why = super::write::storable(why);
                execute(tx, sql, &[run, &did.as_str(), &state.number(), &again_ms.unwrap_or(0), &why]).await?;
            }
            Note::Listed { run, list, cursor } => {
                let sql = "INSERT INTO listing (run, list, cursor) VALUES ($1, $2, $3)
                    ON CONFLICT (run, list) DO UPDATE SET cursor = excluded.cursor";
                let cursor = cursor.as_deref().map(super::write::storable);
                execute(tx, sql, &[run, list, &cursor]).await?;
            }
            Note::Retry { run } => {
                let sql = "UPDATE owed SET state = 0, tries = 0, due_ms = 0 WHERE run = $1 AND state = 2";
                execute(tx, sql, &[run]).await?;
            }
            Note::Anew { run } => {
                execute(tx, "DELETE FROM owed WHERE run = $1", &[run]).await?;
                execute(tx, "DELETE FROM listing WHERE run = $1", &[run]).await?;
            }
            Note::Distrust { did } => {
                for sql in [
                    "UPDATE account SET floor = 0, head_rev = 0, head_data = NULL WHERE did = $1",
                    "UPDATE record SET rev = 0 WHERE did = $1",
                    "UPDATE gone SET rev = 0 WHERE did = $1",
                ] {
                    execute(tx, sql, &[&did.as_str()]).await?;
                }
            }
        }
        Ok(())
    }
}

pub(super) async fn head(client: &deadpool_postgres::Object, did: &Did) -> Result<Option<RepoHead>> {
    let sql = "SELECT head_rev, head_data FROM account WHERE did = $1 AND status <> 4";
    let rows = query(client, sql, &[&did.as_str()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (rev, data): (i64, Option<&[u8]>) = (row.try_get(0)?, row.try_get(1)?);
    Ok(Some(RepoHead { rev: if rev == 0 { None } else { rev_of_number(rev) }, data: data.and_then(Link::from_bytes) }))
}

pub(super) async fn owed(
    client: &deadpool_postgres::Object,
    run: &str,
    state: OwedState,
    after: Option<&Did>,
    limit: u32,
) -> Result<Vec<Owed>> {
    let sql = "SELECT did, asked, tries, due_ms, why FROM owed WHERE run = $1 AND state = $2 AND did > $3
        ORDER BY did LIMIT $4";
    let after = after.map_or("", Did::as_str);
    let mut owed = Vec::new();
    for row in query(client, sql, &[&run, &state.number(), &after, &i64::from(limit)]).await? {
        owed.push(Owed {
            did: Did::parse(row.try_get(0)?).map_err(corrupt("a DID"))?,
            asked: row.try_get(1)?,
            tries: row.try_get(2)?,
            due_ms: row.try_get(3)?,
            why: row.try_get(4)?,
        });
    }
    Ok(owed)
}

pub(super) async fn run(client: &deadpool_postgres::Object, run: &str) -> Result<RunState> {
    let mut state = RunState::default();
    for row in query(client, "SELECT list, cursor FROM listing WHERE run = $1 ORDER BY list", &[&run]).await? {
        state.lists.push((row.try_get(0)?, row.try_get(1)?));
    }
    for row in query(client, "SELECT state, count(*) FROM owed WHERE run = $1 GROUP BY state", &[&run]).await? {
        state.count(row.try_get(0)?, row.try_get(1)?);
    }
    Ok(state)
}

pub(super) async fn holdings(
    client: &deadpool_postgres::Object,
    did: &Did,
    after: Option<&(Nsid, Rkey)>,
    limit: u32,
) -> Result<Vec<Holding>> {
    let (collection, rkey) = after.map_or(("", ""), |(collection, rkey)| (collection.as_str(), rkey.as_str()));
    let sql = "SELECT collection, rkey, cid FROM record WHERE did = $1 AND (collection, rkey) > ($2, $3)
        ORDER BY collection, rkey LIMIT $4";
    let mut holdings = Vec::new();
    for row in query(client, sql, &[&did.as_str(), &collection, &rkey, &i64::from(limit)]).await? {
        holdings.push(Holding {
            collection: Nsid::parse(row.try_get(0)?).map_err(corrupt("a collection"))?,
            rkey: Rkey::parse(row.try_get(1)?).map_err(corrupt("a key"))?,
            cid: Cid::from_bytes(row.try_get(2)?).map_err(|_| Error::Corrupt { what: "a CID" })?,
        });
    }
    Ok(holdings)
}
