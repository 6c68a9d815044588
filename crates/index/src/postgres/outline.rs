//! Where turns stand in their conversation, and what lies beside a record.

use deadpool_postgres::Object;
use onrecord_lexicon::{Did, Nsid, Rkey};

use super::{
    moderation::{CONVERSATION_SHOWN, RECORD_SHOWN, TURN_SHOWN},
    read::query,
    write::place,
};
use crate::{
    change::Address,
    error::Result,
    outline::{BEGINNING, Line, MAX_WITHHELD, Prompt},
    query::{Cursor, Turn},
    row::Kind,
    stored::{self, address},
};

/// Turns of the conversation at a place, if it may be shown.
fn turns() -> String {
    format!(
        "FROM record r JOIN account a ON a.did = r.did
    JOIN conversation c ON c.did = r.did AND c.place = r.conversation
    WHERE r.did = $1 AND a.did = $1 AND c.did = $1 AND r.conversation = $2 AND c.place = $2 AND r.kind = $3
    AND a.status = 0 AND c.present AND {CONVERSATION_SHOWN}"
    )
}

pub(super) async fn cursor_at(client: &Object, of: &Address, position: u64) -> Result<Option<Cursor>> {
    let Some(skipped) = position.checked_sub(1) else { return Ok(Some(Cursor::new('c', &[""]))) };
    let sql = format!("SELECT r.rkey {} ORDER BY r.rkey LIMIT 1 OFFSET $4", turns());
    let key = place(of.collection.as_str(), of.rkey.as_str());
    let skipped = i64::try_from(skipped).unwrap_or(i64::MAX);
    let rows = query(client, &sql, &[&of.did.as_str(), &key, &Kind::Turn.number(), &skipped]).await?;
    let rkey: Option<String> = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(rkey.map(|rkey| Cursor::new('c', &[&rkey])))
}

pub(super) async fn position(client: &Object, of: &Address, turn: &Rkey) -> Result<Option<u64>> {
    let sql = format!("SELECT count(*), max(r.rkey) {} AND r.rkey <= $4", turns());
    let key = place(of.collection.as_str(), of.rkey.as_str());
    let rows = query(client, &sql, &[&of.did.as_str(), &key, &Kind::Turn.number(), &turn.as_str()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (count, last): (i64, Option<&str>) = (row.try_get(0)?, row.try_get(1)?);
    Ok(count.unsigned_abs().checked_sub(1).filter(|_| last == Some(turn.as_str())))
}

pub(super) async fn prompts(client: &Object, of: &Address, limit: u32) -> Result<Vec<Prompt>> {
    // Of the turns that are no prompts nothing is sent but where they stand.
    let sql = format!(
        "SELECT * FROM (SELECT r.rkey,
            CASE WHEN r.opens AND {TURN_SHOWN} THEN substr(r.json, strpos(r.json, '\"text\":\"') + 8, $4) END AS begins,
            CASE WHEN NOT r.opens AND octet_length(r.json) <= $5 AND {TURN_SHOWN} THEN r.json END AS record,
            row_number() OVER (ORDER BY r.rkey) - 1 AS position {}) t
         WHERE begins IS NOT NULL OR record LIKE '%\"withheld\":true%' ORDER BY rkey LIMIT $6",
        turns()
    );
    let key = place(of.collection.as_str(), of.rkey.as_str());
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&of.did.as_str(), &key, &Kind::Turn.number(), &BEGINNING, &MAX_WITHHELD, &i64::from(limit)];
    let mut prompts = Vec::new();
    for row in query(client, &sql, &values).await? {
        let line = Line { rkey: row.try_get(0)?, text: row.try_get(1)?, record: row.try_get(2)? };
        prompts.extend(line.prompt(row.try_get::<_, i64>(3)?.unsigned_abs()));
    }
    Ok(prompts)
}

pub(super) async fn collection(
    client: &Object,
    did: &Did,
    collection: &Nsid,
    after: Option<&Rkey>,
    limit: u32,
) -> Result<Vec<Turn>> {
    let sql = format!(
        "SELECT r.rkey, r.cid, r.rev, r.json FROM record r JOIN account a ON a.did = r.did
         WHERE r.did = $1 AND a.status = 0 AND r.collection = $2 AND r.rkey > $3 AND {RECORD_SHOWN}
         ORDER BY r.rkey LIMIT $4"
    );
    let after = after.map_or("", |rkey| rkey.as_str());
    let rows = query(client, &sql, &[&did.as_str(), &collection.as_str(), &after, &i64::from(limit)]).await?;
    let record = |row: &tokio_postgres::Row| {
        let at = address(did.as_str(), collection.as_str(), row.try_get(0)?)?;
        stored::turn(at, None, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?)
    };
    rows.iter().map(record).collect()
}
