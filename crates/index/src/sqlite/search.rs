//! Full-text search, filters and backlinks: one question to the inverted index.

use std::fmt::Write as _;

use rusqlite::{Connection, types::Value as Sql};

use super::moderation::{PROFILE, RECORD_SHOWN};
use crate::{
    error::Result,
    query::{Asked, Cursor, Hit, Page, Phrase, Search, is_withheld, speaker},
    row::{Kind, first_time_key, time_of_key},
    snippet::snippet,
    stored::{self, author, corrupt, corrupt_cursor},
};

pub(super) fn search(db: &Connection, search: &Search, after: Option<&Cursor>, limit: u32) -> Result<Page<Hit>> {
    let asked = search.asked()?;
    let mut before = search.before_ms.map_or(i64::MAX, first_time_key);
    if let Some(cursor) = after {
        before = before.min(cursor.parts::<1>('s')?[0].parse().map_err(corrupt_cursor)?);
    }
    let from = search.after_ms.map_or(0, first_time_key);
    let (source, matching) = match expression(&asked) {
        Some(expression) => ("search s CROSS JOIN record r ON r.id = s.rowid", Some(expression)),
        None => ("record r", None),
    };
    let id = if matching.is_some() { "s.rowid" } else { "r.id" };
    let filter = if matching.is_some() { "search MATCH ?1" } else { "?1 IS NULL AND r.kind <> 3" };
    // The inverted index leads, in the order of its ids, and the joins only look each one up.
    let sql = format!(
        "SELECT {id}, a.did, a.handle, {PROFILE}, k.nsid, r.rkey, o.nsid, c.rkey, c.title, r.json
         FROM {source} CROSS JOIN account a ON a.id = r.account CROSS JOIN collection k ON k.id = r.collection
         LEFT JOIN conversation c ON c.id = r.conversation LEFT JOIN collection o ON o.id = c.collection
         WHERE {filter} AND {id} >= ?2 AND {id} < ?3 AND a.status = 0 AND (r.conversation IS NULL OR c.present) AND {RECORD_SHOWN}
         ORDER BY {id} DESC LIMIT ?4"
    );
    debug_assert_eq!(Kind::Profile.number(), 3, "as the statement has it");
    let mut query = db.prepare_cached(&sql)?;
    let matching = matching.map_or(Sql::Null, Sql::Text);
    let mut rows = query.query((matching, from, before, i64::from(limit) + 1))?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        let (did, handle, profile): (String, Option<String>, Option<String>) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let (collection, rkey): (String, String) = (row.get(4)?, row.get(5)?);
        let of: Option<(String, String)> = row.get::<_, Option<String>>(6)?.zip(row.get(7)?);
        let json: String = row.get(9)?;
        let record = serde_json::from_str(&json).map_err(corrupt("a record"))?;
        let withheld = is_withheld(&record);
        let (role, model) = speaker(&record);
        let id = row.get(0)?;
        let address = stored::address(&did, &collection, &rkey)?;
        let snippet = if withheld { None } else { snippet(&address, &record, &asked) };
        items.push(Hit {
            address,
            author: author(&did, handle.as_deref(), profile.as_deref())?,
            conversation: of.map(|(collection, rkey)| stored::address(&did, &collection, &rkey)).transpose()?,
            title: row.get(8)?,
            role,
            model,
            at_ms: time_of_key(id),
            withheld,
            snippet,
            id,
        });
    }
    Ok(Page::of(items, limit, |hit| Cursor::new('s', &[&hit.id.to_string()])))
}

/// The question in FTS5's language. Terms hold nothing that would have to be escaped.
fn expression(asked: &Asked) -> Option<String> {
    let joined = |phrases: &[Phrase], with: &str| {
        let mut text = String::new();
        for phrase in phrases {
            let star = if phrase.is_prefix { " *" } else { "" };
            let with = if text.is_empty() { "" } else { with };
            let _ = write!(text, "{with}\"{}\"{star}", phrase.words.join(" "));
        }
        text
    };
    if asked.all.is_empty() {
        return None;
    }
    let all = joined(&asked.all, " AND ");
    Some(if asked.none.is_empty() { all } else { format!("({all}) NOT ({})", joined(&asked.none, " OR ")) })
}
