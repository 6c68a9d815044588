//! Everything, page by page.

use onrecord_lexicon::Cid;
use serde_json::value::RawValue;

use super::{moderation, read::query};
use crate::{
    change::{AccountStatus, Restored, SourceCursor, rev_of_number},
    error::{Error, Result},
    query::Cursor,
    stored::{address, author, corrupt, corrupt_cursor, rev},
    transfer::{ExportLine, ExportPage, Phase, keys},
};

pub(super) async fn page(client: &deadpool_postgres::Object, after: Option<&Cursor>, limit: u32) -> Result<ExportPage> {
    let (phase, key) = Phase::of_cursor(after)?;
    let most = i64::from(limit);
    // A DID, a collection and a key hold no "|".
    let places = || {
        let mut parts = key.splitn(3, '|');
        [parts.next(), parts.next(), parts.next()].map(Option::unwrap_or_default)
    };
    let mut lines = Vec::new();
    let mut last = String::new();
    match phase {
        Phase::Decisions => {
            let [at_us, did, place] = keys(key);
            let at_us = if at_us.is_empty() { i64::MIN } else { at_us.parse().map_err(corrupt_cursor)? };
            for decision in moderation::decisions_after(client, (at_us, did, place), limit).await? {
                last = format!("{}|{}|{}", decision.at_us, decision.subject.did(), decision.subject.place());
                lines.push(ExportLine::Decision(decision));
            }
        }
        Phase::Labels => {
            for label in moderation::labels_after(client, keys(key), limit).await? {
                last = label.key();
                lines.push(ExportLine::Label(label));
            }
        }
        Phase::Accounts | Phase::Floors => {
            let sql = "SELECT did, handle, profile, pds, status, floor, status_ms FROM account
                WHERE did > $1 AND (NOT $3 OR floor > 0) ORDER BY did LIMIT $2";
            for row in query(client, sql, &[&key, &most, &(phase == Phase::Floors)]).await? {
                last = row.try_get(0)?;
                lines.push(ExportLine::Account(Restored {
                    author: author(&last, row.try_get(1)?, row.try_get(2)?)?,
                    pds: row.try_get(3)?,
                    status: AccountStatus::of_number(row.try_get(4)?),
                    status_ms: row.try_get(6)?,
                    // What is not newer is refused from then on: it comes last.
                    floor: if phase == Phase::Floors { rev_of_number(row.try_get(5)?) } else { None },
                }));
            }
        }
        Phase::Records => {
            let [did, collection, rkey] = places();
            let sql = "SELECT did, collection, rkey, cid, rev, json FROM record
                WHERE (did, collection, rkey) > ($1, $2, $3) ORDER BY did, collection, rkey LIMIT $4";
            for row in query(client, sql, &[&did, &collection, &rkey, &most]).await? {
                let (did, collection, rkey): (&str, &str, &str) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
                last = format!("{did}|{collection}|{rkey}");
                lines.push(ExportLine::Record {
                    at: address(did, collection, rkey)?,
                    cid: Cid::from_bytes(row.try_get(3)?).map_err(corrupt("a CID"))?,
                    rev: rev(row.try_get(4)?)?,
                    record: RawValue::from_string(row.try_get(5)?).map_err(corrupt("a record"))?,
                });
            }
        }
        Phase::Gone => {
            let [did, collection, rkey] = places();
            let sql = "SELECT did, collection, rkey, rev FROM gone
                WHERE (did, collection, rkey) > ($1, $2, $3) ORDER BY did, collection, rkey LIMIT $4";
            for row in query(client, sql, &[&did, &collection, &rkey, &most]).await? {
                let (did, collection, rkey): (&str, &str, &str) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
                last = format!("{did}|{collection}|{rkey}");
                lines.push(ExportLine::Gone { at: address(did, collection, rkey)?, rev: rev(row.try_get(3)?)? });
            }
        }
        Phase::Cursors => {
            let sql = "SELECT source, cursor FROM cursor WHERE source COLLATE \"C\" > $1
                ORDER BY source COLLATE \"C\" LIMIT $2";
            for row in query(client, sql, &[&key, &most]).await? {
                let source: String = row.try_get(0)?;
                lines.push(ExportLine::Cursor(SourceCursor { source: source.clone(), cursor: row.try_get(1)? }));
                last = source;
            }
        }
    }
    Ok::<_, Error>(ExportPage::of(phase, lines, limit, &last))
}
