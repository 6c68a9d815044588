//! Full-text search, filters and backlinks: one question to the inverted index.

use std::fmt::Write as _;

use tokio_postgres::Row;

use super::{
    read::{address_of, snapshot},
    write::all,
};
use crate::{
    error::Result,
    query::{Asked, Cursor, Hit, Page, Phrase, Search, is_withheld},
    row::{Kind, first_time_key, time_of_key},
    snippet::snippet,
    stored::{self, author, corrupt, corrupt_cursor},
};

/// Of so many finds at most all are looked at: more are found sooner by going back in time.
const FEW: usize = 4_000;
/// How many finds are looked up at once.
const CHUNK: usize = 64;

/// What a find is shown with, in the order [`hit`] reads it.
const COLUMNS: &str = "r.time_key, r.did, a.handle, a.profile, r.collection, r.rkey, r.conversation, c.title, r.json";
const JOINS: &str = "JOIN account a ON a.did = r.did
    LEFT JOIN conversation c ON c.did = r.did AND c.place = r.conversation";
const SHOWN: &str = "a.status = 0 AND (r.conversation IS NULL OR c.present)";
const LATEST: &str = "ORDER BY r.time_key DESC, r.did DESC, r.collection DESC, r.rkey DESC";

/// PostgreSQL's inverted index knows no order: a common word is found soonest by going back in time, a rare one by its list
/// alone. Which of both it is, the planner guesses, and where it guesses wrong it goes through all there is. So the list is
/// asked first, for no more than can be sorted at once, and only if it is longer does the search go back in time.
pub(super) async fn search(
    client: &mut deadpool_postgres::Object,
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
    let filter = format!(
        "{filter} AND r.time_key >= $2 AND r.time_key < $3 AND r.time_key <= $4
            AND (r.time_key, r.did, r.collection, r.rkey) < ($4, $5, $6, $7)"
    );
    let most = i64::from(limit) + 1;
    let tx = snapshot(client).await?;
    let mut items = Vec::new();
    let few = match &matching {
        Some(matching) => {
            // The list and nothing else: a scan of the table looks cheap, as what it has to unpack is not counted.
            tx.batch_execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off").await?;
            // Nor the index of times, which would be gone through from end to end beside it.
            let filter = filter.replace("r.time_key", "(r.time_key + 0)");
            let sql = format!("SELECT r.time_key, r.did, r.collection, r.rkey FROM record r WHERE {filter} LIMIT $8");
            let cap = i64::try_from(FEW + 1).unwrap_or(i64::MAX);
            let rows = all(&tx, &sql, &[matching, &from, &until, &key, &did, &collection, &rkey, &cap]).await?;
            let found = rows.iter().map(|r| Ok((r.try_get(0)?, r.try_get(1)?, r.try_get(2)?, r.try_get(3)?)));
            let found = found.collect::<Result<Vec<(i64, String, String, String)>>>()?;
            (found.len() <= FEW).then_some(found)
        }
        None => None,
    };
    // From here on every row is looked up by its key.
    tx.batch_execute(
        "SET LOCAL enable_indexscan = on; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off",
    )
    .await?;
    if let Some(mut found) = few {
        found.sort_unstable_by(|a, b| b.cmp(a));
        let sql = format!(
            "SELECT {COLUMNS} FROM unnest($1::text[], $2::text[], $3::text[]) AS k (did, collection, rkey)
             JOIN record r ON r.did = k.did AND r.collection = k.collection AND r.rkey = k.rkey {JOINS}
             WHERE {SHOWN} {LATEST}"
        );
        for chunk in found.chunks(CHUNK.max(limit as usize + 1)) {
            let dids: Vec<&str> = chunk.iter().map(|(_, did, ..)| did.as_str()).collect();
            let collections: Vec<&str> = chunk.iter().map(|(_, _, collection, _)| collection.as_str()).collect();
            let rkeys: Vec<&str> = chunk.iter().map(|(.., rkey)| rkey.as_str()).collect();
            for row in all(&tx, &sql, &[&dids, &collections, &rkeys]).await? {
                items.push(hit(&row, &asked)?);
            }
            if items.len() > limit as usize {
                break;
            }
        }
    } else {
        tx.batch_execute("SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off").await?;
        let sql = format!("SELECT {COLUMNS} FROM record r {JOINS} WHERE {filter} AND {SHOWN} {LATEST} LIMIT $8");
        let rows = all(&tx, &sql, &[&matching, &from, &until, &key, &did, &collection, &rkey, &most]).await?;
        for row in &rows {
            items.push(hit(row, &asked)?);
        }
    }
    Ok(Page::of(items, limit, |hit| {
        let at = &hit.address;
        Cursor::new('s', &[&hit.id.to_string(), at.did.as_str(), at.collection.as_str(), at.rkey.as_str()])
    }))
}

fn hit(row: &Row, asked: &Asked) -> Result<Hit> {
    let (did, handle, profile): (&str, Option<&str>, Option<&str>) =
        (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
    let record = serde_json::from_str(row.try_get(8)?).map_err(corrupt("a record"))?;
    let withheld = is_withheld(&record);
    let id = row.try_get(0)?;
    let of: Option<&str> = row.try_get(6)?;
    let address = stored::address(did, row.try_get(4)?, row.try_get(5)?)?;
    let snippet = if withheld { None } else { snippet(&address, &record, asked) };
    Ok(Hit {
        address,
        author: author(did, handle, profile)?,
        conversation: of.map(|place| address_of(did, place)).transpose()?,
        title: row.try_get(7)?,
        at_ms: time_of_key(id),
        withheld,
        snippet,
        id,
    })
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
