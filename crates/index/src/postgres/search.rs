//! Full-text search, filters and backlinks: one question to the inverted index.

use std::fmt::Write as _;

use super::read::{address_of, query};
use crate::{
    error::Result,
    query::{Asked, Cursor, Hit, Page, Phrase, Search, is_withheld},
    row::{Kind, first_time_key, time_of_key},
    snippet::snippet,
    stored::{self, author, corrupt, corrupt_cursor},
};

pub(super) async fn search(
    client: &deadpool_postgres::Object,
    search: &Search,
    after: Option<&Cursor>,
    limit: u32,
) -> Result<Page<Hit>> {
    let asked = search.asked()?;
    let from = search.after_ms.map_or(0, first_time_key);
    let until = search.before_ms.map_or(i64::MAX, first_time_key);
    let (key, did, collection, rkey) = match after {
        Some(cursor) => {
            let [key, did, collection, rkey] = cursor.parts('s')?;
            (key.parse::<i64>().map_err(corrupt_cursor)?, did, collection, rkey)
        }
        None => (i64::MAX, "", "", ""),
    };
    debug_assert_eq!(Kind::Profile.number(), 3, "as the statement has it");
    let matching = expression(&asked);
    let filter = if matching.is_some() { "r.terms @@ $1::text::tsquery" } else { "$1::text IS NULL AND r.kind <> 3" };
    let sql = format!(
        "SELECT r.time_key, r.did, a.handle, a.profile, r.collection, r.rkey, r.conversation, c.title, r.json
         FROM record r JOIN account a ON a.did = r.did
         LEFT JOIN conversation c ON c.did = r.did AND c.place = r.conversation
         WHERE {filter} AND r.time_key >= $2 AND r.time_key < $3 AND r.time_key <= $4
            AND (r.time_key, r.did, r.collection, r.rkey) < ($4, $5, $6, $7)
            AND a.status = 0 AND (r.conversation IS NULL OR c.present)
         ORDER BY r.time_key DESC, r.did DESC, r.collection DESC, r.rkey DESC LIMIT $8"
    );
    let most = i64::from(limit) + 1;
    let rows = query(client, &sql, &[&matching, &from, &until, &key, &did, &collection, &rkey, &most]).await?;
    let mut items = Vec::new();
    for row in &rows {
        let (did, handle, profile): (&str, Option<&str>, Option<&str>) =
            (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        let record = serde_json::from_str(row.try_get(8)?).map_err(corrupt("a record"))?;
        let withheld = is_withheld(&record);
        let id = row.try_get(0)?;
        let of: Option<&str> = row.try_get(6)?;
        let address = stored::address(did, row.try_get(4)?, row.try_get(5)?)?;
        let snippet = if withheld { None } else { snippet(&address, &record, &asked) };
        items.push(Hit {
            address,
            author: author(did, handle, profile)?,
            conversation: of.map(|place| address_of(did, place)).transpose()?,
            title: row.try_get(7)?,
            at_ms: time_of_key(id),
            withheld,
            snippet,
            id,
        });
    }
    Ok(Page::of(items, limit, |hit| {
        let at = &hit.address;
        Cursor::new('s', &[&hit.id.to_string(), at.did.as_str(), at.collection.as_str(), at.rkey.as_str()])
    }))
}

/// The question in `tsquery`'s language. Terms hold nothing that would have to be escaped.
fn expression(asked: &Asked) -> Option<String> {
    let mut text = String::new();
    let mut add = |phrases: &[Phrase], before: &str| {
        for phrase in phrases {
            let with = if text.is_empty() { "" } else { " & " };
            let _ = write!(text, "{with}{before}(");
            for (n, word) in phrase.words.iter().enumerate() {
                let _ = write!(text, "{}'{word}'", if n == 0 { "" } else { " <-> " });
            }
            text.push_str(if phrase.is_prefix { ":*)" } else { ")" });
        }
    };
    if asked.all.is_empty() {
        return None;
    }
    add(&asked.all, "");
    add(&asked.none, "!");
    Some(text)
}
