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
                let (status, floor) = (AccountStatus::of_number(row.get(5)?), row.get(6)?);
                let profile = profile.filter(|_| status != AccountStatus::Deleted);
                lines.push(ExportLine::Account(Restored {
                    author: author(&did, handle.as_deref(), profile.as_deref())?,
                    pds: row.get(4)?,
                    status,
                    status_ms: row.get(7)?,
                    // What is not newer is refused from then on: it comes last.
                    floor: if phase == Phase::Floors { rev_of_number(floor) } else { None },
                }));
            }
        }
        Phase::Records => {
            let key: i64 = if key.is_empty() { -1 } else { key.parse().map_err(corrupt_cursor)? };
            // What is still to be removed is gone for whoever reads this later.
            let mut query = db.prepare_cached(
                "SELECT r.id, a.did, k.nsid, r.rkey, r.cid, r.rev, r.json FROM record r
                 JOIN account a ON a.id = r.account JOIN collection k ON k.id = r.collection
                 WHERE r.id > ?1 AND NOT ((a.status = ?3 OR r.rev < a.floor) AND a.id IN (SELECT account FROM unswept))
                 ORDER BY r.id LIMIT ?2",
            )?;
            let mut rows = query.query((key, limit, AccountStatus::Deleted.number()))?;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{change::rev_number, sqlite::schema};
    use onrecord_lexicon::{Tid, data::record_cid};

    #[test]
    fn what_is_still_to_be_removed_is_not_exported() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let json = serde_json::json!({"$type": "click.aligned.chat.session", "createdAt": "2026-01-01T00:00:00Z"});
        let (_, cid) = record_cid(&json).unwrap();
        let rev = |us| rev_number(&Tid::from_micros(us, 0).unwrap());
        db.execute("INSERT INTO collection (id, nsid) VALUES (1, 'click.aligned.chat.session')", []).unwrap();
        // Deleted; compared with a repository up to revision 20; both, and swept.
        let accounts = [
            ("a", AccountStatus::Deleted, 0, true),
            ("b", AccountStatus::Active, 20, true),
            ("c", AccountStatus::Active, 20, false),
        ];
        for (id, (name, status, floor, is_unswept)) in (1..).zip(accounts) {
            let floor = if floor == 0 { 0 } else { rev(floor) };
            db.execute(
                "INSERT INTO account (id, did, status, floor) VALUES (?1, ?2, ?3, ?4)",
                (id, format!("did:web:{name}.example"), status.number(), floor),
            )
            .unwrap();
            if is_unswept {
                db.execute("INSERT INTO unswept (account) VALUES (?1)", [id]).unwrap();
            }
            for us in [10_u64, 20, 30] {
                db.execute(
                    "INSERT INTO record (id, account, collection, rkey, rev, kind, opens, cid, json)
                     VALUES (?1, ?2, 1, ?3, ?4, 0, 0, ?5, ?6)",
                    (id * 100 + us.cast_signed(), id, format!("key{us}"), rev(us), cid.to_bytes(), json.to_string()),
                )
                .unwrap();
            }
        }
        let (mut found, mut after) = (BTreeSet::new(), None);
        loop {
            let exported = page(&db, after.as_ref(), 2).unwrap();
            for line in exported.lines {
                if let ExportLine::Record { at, .. } = line {
                    found.insert(format!("{} {}", at.did, at.rkey));
                }
            }
            after = exported.cursor;
            if after.is_none() {
                break;
            }
        }
        let expected = ["b key20", "b key30", "c key10", "c key20", "c key30"]
            .map(|one| format!("did:web:{}", one.replacen(' ', ".example ", 1)));
        assert_eq!(found, BTreeSet::from(expected));
    }
}
