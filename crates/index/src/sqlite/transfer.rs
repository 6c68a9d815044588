//! Everything, page by page.

use rusqlite::Connection;
use serde_json::value::RawValue;

use super::moderation;
use crate::{
    change::{AccountStatus, Restored, SourceCursor, rev_of_number},
    error::Result,
    query::Cursor,
    stored::{address, author, corrupt, corrupt_cursor, rev},
    transfer::{ExportLine, ExportPage, Phase, keys},
};
use onrecord_lexicon::Cid;

pub(super) fn page(db: &Connection, after: Option<&Cursor>, limit: u32) -> Result<ExportPage> {
    let (phase, key) = Phase::of_cursor(after)?;
    let mut lines = Vec::new();
    let mut last = String::new();
    match phase {
        Phase::Decisions => {
            let [at_us, did, place] = keys(key);
            let at_us = if at_us.is_empty() { i64::MIN } else { at_us.parse().map_err(corrupt_cursor)? };
            for decision in moderation::decisions_after(db, (at_us, did, place), limit)? {
                last = format!("{}|{}|{}", decision.at_us, decision.subject.did(), decision.subject.place());
                lines.push(ExportLine::Decision(decision));
            }
        }
        Phase::Labels => {
            for label in moderation::labels_after(db, keys(key), limit)? {
                last = label.key();
                lines.push(ExportLine::Label(label));
            }
        }
        Phase::Accounts | Phase::Floors => {
            let key: i64 = if key.is_empty() { -1 } else { key.parse().map_err(corrupt_cursor)? };
            let mut query = db.prepare_cached(
                "SELECT id, did, handle, profile, pds, status, floor, status_ms FROM account
                 WHERE id > ?1 AND (?3 = 0 OR floor > 0) ORDER BY id LIMIT ?2",
            )?;
            let mut rows = query.query((key, limit, phase == Phase::Floors))?;
            while let Some(row) = rows.next()? {
                last = row.get::<_, i64>(0)?.to_string();
                let (did, handle, profile): (String, Option<String>, Option<String>) =
                    (row.get(1)?, row.get(2)?, row.get(3)?);
                let floor: i64 = row.get(6)?;
                lines.push(ExportLine::Account(Restored {
                    author: author(&did, handle.as_deref(), profile.as_deref())?,
                    pds: row.get(4)?,
                    status: AccountStatus::of_number(row.get(5)?),
                    status_ms: row.get(7)?,
                    // What is not newer is refused from then on: it comes last.
                    floor: if phase == Phase::Floors { rev_of_number(floor) } else { None },
                }));
            }
        }
        Phase::Records => {
            let key: i64 = if key.is_empty() { -1 } else { key.parse().map_err(corrupt_cursor)? };
            let mut query = db.prepare_cached(
                "SELECT r.id, a.did, k.nsid, r.rkey, r.cid, r.rev, r.json FROM record r
                 JOIN account a ON a.id = r.account JOIN collection k ON k.id = r.collection
                 WHERE r.id > ?1 ORDER BY r.id LIMIT ?2",
            )?;
            let mut rows = query.query((key, limit))?;
            while let Some(row) = rows.next()? {
                last = row.get::<_, i64>(0)?.to_string();
                let (did, collection, rkey): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
                let cid: Vec<u8> = row.get(4)?;
                lines.push(ExportLine::Record {
                    at: address(&did, &collection, &rkey)?,
                    cid: Cid::from_bytes(&cid).map_err(corrupt("a CID"))?,
                    rev: rev(row.get(5)?)?,
                    record: RawValue::from_string(row.get(6)?).map_err(corrupt("a record"))?,
                });
            }
        }
        Phase::Gone => {
            // A key holds no "|".
            let (account, place) = key.split_once('|').unwrap_or(("-1", "-1|"));
            let (collection, rkey) = place.split_once('|').unwrap_or(("-1", ""));
            let account: i64 = account.parse().map_err(corrupt_cursor)?;
            let collection: i64 = collection.parse().map_err(corrupt_cursor)?;
            let mut query = db.prepare_cached(
                "SELECT g.account, g.collection, g.rkey, g.rev, a.did, k.nsid FROM gone g
                 JOIN account a ON a.id = g.account JOIN collection k ON k.id = g.collection
                 WHERE (g.account, g.collection, g.rkey) > (?1, ?2, ?3)
                 ORDER BY g.account, g.collection, g.rkey LIMIT ?4",
            )?;
            let mut rows = query.query((account, collection, rkey, limit))?;
            while let Some(row) = rows.next()? {
                let (account, collection, rkey): (i64, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
                last = format!("{account}|{collection}|{rkey}");
                let (did, nsid): (String, String) = (row.get(4)?, row.get(5)?);
                lines.push(ExportLine::Gone { at: address(&did, &nsid, &rkey)?, rev: rev(row.get(3)?)? });
            }
        }
        Phase::Cursors => {
            let mut query =
                db.prepare_cached("SELECT source, cursor FROM cursor WHERE source > ?1 ORDER BY source LIMIT ?2")?;
            let mut rows = query.query((key, limit))?;
            while let Some(row) = rows.next()? {
                last = row.get(0)?;
                lines.push(ExportLine::Cursor(SourceCursor { source: row.get(0)?, cursor: row.get(1)? }));
            }
        }
    }
    Ok(ExportPage::of(phase, lines, limit, &last))
}
