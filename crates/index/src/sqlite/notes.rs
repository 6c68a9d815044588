//! What is remembered beside what readers see.

use onrecord_lexicon::{Cid, Did, Nsid, Rkey};
use onrecord_repo::Link;
use rusqlite::{Connection, OptionalExtension as _};

use super::write::Work;
use crate::{
    change::{rev_number, rev_of_number},
    error::{Error, Result},
    owed::{Holding, Note, Owed, OwedState, RepoHead, RunState},
    stored::corrupt,
};

impl Work<'_> {
    pub(super) fn note(&mut self, note: &Note) -> Result<()> {
        let tx = self.tx;
        match note {
            Note::Head { did, rev, data } => {
                tx.prepare_cached(
                    "UPDATE account SET head_rev = ?2, head_data = ?3
                     WHERE did = ?1 AND head_rev < ?2 AND status <> 4",
                )?
                .execute((
                    did.as_str(),
                    rev_number(rev),
                    data.as_ref().map(|data| data.as_bytes().to_vec()),
                ))?;
            }
            Note::Owed { run, dids, afresh } => {
                let mut add = tx.prepare_cached(
                    "INSERT INTO owed (run, did) VALUES (?1, ?2)
                     ON CONFLICT DO UPDATE SET state = 0, asked = asked + 1, tries = 0, due_ms = 0, why = NULL WHERE ?3",
                )?;
                for did in dids {
                    add.execute((run, did.as_str(), afresh))?;
                }
            }
            Note::Done { run, did, asked, keep } => {
                let sql = if *keep {
                    "UPDATE owed SET state = 1, why = NULL WHERE run = ?1 AND did = ?2 AND asked = ?3"
                } else {
                    "DELETE FROM owed WHERE run = ?1 AND did = ?2 AND asked = ?3"
                };
                tx.prepare_cached(sql)?.execute((run, did.as_str(), asked))?;
            }
            Note::Failed { run, did, why, again_ms } => {
                let state = if again_ms.is_some() { OwedState::Waiting } else { OwedState::GivenUp };
                tx.prepare_cached(
                    "UPDATE owed SET state = ?3, tries = tries + 1, due_ms = ?4, why = ?5 WHERE run = ?1 AND did = ?2",
                )?
                .execute((run, did.as_str(), state.number(), again_ms.unwrap_or(0), why))?;
            }
            Note::Listed { run, list, cursor } => {
                tx.prepare_cached(
                    "INSERT INTO listing (run, list, cursor) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET cursor = excluded.cursor",
                )?
                .execute((run, list, cursor))?;
            }
            Note::Retry { run } => {
                let sql = "UPDATE owed SET state = 0, tries = 0, due_ms = 0 WHERE run = ?1 AND state = 2";
                tx.prepare_cached(sql)?.execute([run])?;
            }
            Note::Anew { run } => {
                tx.execute("DELETE FROM owed WHERE run = ?1", [run])?;
                tx.execute("DELETE FROM listing WHERE run = ?1", [run])?;
            }
            Note::Distrust { did } => {
                let id: Option<i64> = tx
                    .query_row("SELECT id FROM account WHERE did = ?1", [did.as_str()], |row| row.get(0))
                    .optional()?;
                for sql in [
                    "UPDATE account SET floor = 0, head_rev = 0, head_data = NULL WHERE id = ?1",
                    "UPDATE record SET rev = 0 WHERE account = ?1",
                    "UPDATE gone SET rev = 0 WHERE account = ?1",
                ] {
                    tx.execute(sql, [id])?;
                }
            }
        }
        Ok(())
    }
}

pub(super) fn head(db: &Connection, did: &Did) -> Result<Option<RepoHead>> {
    let found: Option<(i64, Option<Vec<u8>>)> = db
        .prepare_cached("SELECT head_rev, head_data FROM account WHERE did = ?1 AND status <> 4")?
        .query_row([did.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((rev, data)) = found else { return Ok(None) };
    Ok(Some(RepoHead {
        rev: if rev == 0 { None } else { rev_of_number(rev) },
        data: data.and_then(|data| Link::from_bytes(&data)),
    }))
}

pub(super) fn owed(db: &Connection, run: &str, state: OwedState, after: Option<&str>, limit: u32) -> Result<Vec<Owed>> {
    let mut query = db.prepare_cached(
        "SELECT did, asked, tries, due_ms, why FROM owed WHERE run = ?1 AND state = ?2 AND did > ?3
         ORDER BY did LIMIT ?4",
    )?;
    let mut rows = query.query((run, state.number(), after.unwrap_or_default(), limit))?;
    let mut owed = Vec::new();
    while let Some(row) = rows.next()? {
        let did: String = row.get(0)?;
        owed.push(Owed {
            did: Did::parse(&did).map_err(corrupt("a DID"))?,
            asked: row.get(1)?,
            tries: row.get(2)?,
            due_ms: row.get(3)?,
            why: row.get(4)?,
        });
    }
    Ok(owed)
}

pub(super) fn run(db: &Connection, run: &str) -> Result<RunState> {
    let lists = db
        .prepare_cached("SELECT list, cursor FROM listing WHERE run = ?1 ORDER BY list")?
        .query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut state = RunState { lists, ..RunState::default() };
    let mut counts = db.prepare_cached("SELECT state, count(*) FROM owed WHERE run = ?1 GROUP BY state")?;
    let mut rows = counts.query([run])?;
    while let Some(row) = rows.next()? {
        let (of, n): (i16, i64) = (row.get(0)?, row.get(1)?);
        state.count(of, n);
    }
    Ok(state)
}

pub(super) fn holdings(db: &Connection, did: &Did, after: Option<&(Nsid, Rkey)>, limit: u32) -> Result<Vec<Holding>> {
    let (collection, rkey) = after.map_or(("", ""), |(collection, rkey)| (collection.as_str(), rkey.as_str()));
    let mut query = db.prepare_cached(
        "SELECT c.nsid, r.rkey, r.cid FROM record r JOIN account a ON a.id = r.account
         JOIN collection c ON c.id = r.collection
         WHERE a.did = ?1 AND (c.nsid, r.rkey) > (?2, ?3) ORDER BY c.nsid, r.rkey LIMIT ?4",
    )?;
    let mut rows = query.query((did.as_str(), collection, rkey, limit))?;
    let mut holdings = Vec::new();
    while let Some(row) = rows.next()? {
        let (collection, rkey, cid): (String, String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        holdings.push(Holding {
            collection: Nsid::parse(&collection).map_err(corrupt("a collection"))?,
            rkey: Rkey::parse(&rkey).map_err(corrupt("a key"))?,
            cid: Cid::from_bytes(&cid).map_err(|_| Error::Corrupt { what: "a CID" })?,
        });
    }
    Ok(holdings)
}
