//! Where turns stand in their conversation, and what lies beside a record.

use onrecord_lexicon::{Did, Nsid, Rkey};
use rusqlite::{Connection, OptionalExtension as _};

use super::moderation::{CONVERSATION_SHOWN, RECORD_SHOWN, TURN_SHOWN};
use crate::{
    change::Address,
    error::Result,
    outline::{BEGINNING, Line, MAX_WITHHELD, Prompt},
    query::{Cursor, Turn},
    row::Kind,
    stored::{self, address},
};

/// The conversation at an address, if it may be shown.
fn id() -> String {
    format!(
        "(SELECT c.id FROM conversation c JOIN account a ON a.id = c.account JOIN collection k ON k.id = c.collection
         WHERE a.did = ?1 AND a.status = 0 AND k.nsid = ?2 AND c.rkey = ?3 AND c.present AND {CONVERSATION_SHOWN})"
    )
}

pub(super) fn cursor_at(db: &Connection, of: &Address, position: u64) -> Result<Option<Cursor>> {
    let Some(skipped) = position.checked_sub(1) else { return Ok(Some(Cursor::new('c', &[""]))) };
    let sql =
        format!("SELECT rkey FROM record WHERE conversation = {} AND kind = ?4 ORDER BY rkey LIMIT 1 OFFSET ?5", id());
    let skipped = i64::try_from(skipped).unwrap_or(i64::MAX);
    let found: Option<String> = db
        .prepare_cached(&sql)?
        .query_row((of.did.as_str(), of.collection.as_str(), of.rkey.as_str(), Kind::Turn.number(), skipped), |row| {
            row.get(0)
        })
        .optional()?;
    Ok(found.map(|rkey| Cursor::new('c', &[&rkey])))
}

pub(super) fn position(db: &Connection, of: &Address, turn: &Rkey) -> Result<Option<u64>> {
    let sql =
        format!("SELECT count(*), max(rkey) FROM record WHERE conversation = {} AND kind = ?4 AND rkey <= ?5", id());
    let (count, last): (i64, Option<String>) = db.prepare_cached(&sql)?.query_row(
        (of.did.as_str(), of.collection.as_str(), of.rkey.as_str(), Kind::Turn.number(), turn.as_str()),
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(count.unsigned_abs().checked_sub(1).filter(|_| last.as_deref() == Some(turn.as_str())))
}

pub(super) fn prompts(db: &Connection, of: &Address, limit: u32) -> Result<Vec<Prompt>> {
    let sql = format!(
        "SELECT r.rkey, CASE WHEN r.opens AND {TURN_SHOWN} THEN substr(r.json, instr(r.json, '\"text\":\"') + 8, ?5) END,
            CASE WHEN NOT r.opens AND octet_length(r.json) <= ?6 AND {TURN_SHOWN} THEN r.json END
         FROM record r JOIN account a ON a.id = r.account WHERE r.conversation = {} AND r.kind = ?4 ORDER BY r.rkey",
        id()
    );
    let mut query = db.prepare_cached(&sql)?;
    let mut rows = query.query((
        of.did.as_str(),
        of.collection.as_str(),
        of.rkey.as_str(),
        Kind::Turn.number(),
        BEGINNING,
        MAX_WITHHELD,
    ))?;
    let (mut prompts, mut position) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let (rkey, text, record): (String, Option<String>, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        prompts.extend(Line { rkey: &rkey, text: text.as_deref(), record: record.as_deref() }.prompt(position));
        if prompts.len() >= limit as usize {
            break;
        }
        position += 1;
    }
    Ok(prompts)
}

pub(super) fn collection(
    db: &Connection,
    did: &Did,
    collection: &Nsid,
    after: Option<&Rkey>,
    limit: u32,
) -> Result<Vec<Turn>> {
    let mut query = db.prepare_cached(&format!(
        "SELECT r.rkey, r.cid, r.rev, r.json FROM record r JOIN account a ON a.id = r.account
         JOIN collection k ON k.id = r.collection LEFT JOIN conversation c ON c.id = r.conversation
         WHERE a.did = ?1 AND a.status = 0 AND k.nsid = ?2 AND r.rkey > ?3 AND {RECORD_SHOWN} ORDER BY r.rkey LIMIT ?4"
    ))?;
    let mut rows = query.query((did.as_str(), collection.as_str(), after.map_or("", |rkey| rkey.as_str()), limit))?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let (rkey, cid): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let at = address(did.as_str(), collection.as_str(), &rkey)?;
        records.push(stored::turn(at, None, &cid, row.get(2)?, row.get(3)?)?);
    }
    Ok(records)
}
