//! Full-text search, filters and backlinks: one question to the inverted index.

use std::fmt::Write as _;

use tokio_postgres::Row;

use super::{
    moderation::{PROFILE, RECORD_SHOWN},
    read::{address_of, snapshot},
    write::{Transaction, all, one},
};
use crate::{
    error::Result,
    query::{Asked, Cursor, Hit, Page, Phrase, Search, is_withheld, speaker},
    row::{Kind, first_time_key, time_of_key},
    snippet::snippet,
    stored::{self, author, corrupt, corrupt_cursor},
    terms::is_of_few,
};

/// So many of the newest records are gone through first: what is common is found among them.
const NEWEST: usize = 500;
/// Of so many finds at most all are looked at: more are found sooner by going back in time.
const FEW: usize = 4_000;
/// Where a phrase's words are likely to be on more than this, its list is not asked at all: to hold each record against the
/// phrase takes longer than the way back in time is likely to.
const MANY: f64 = 20_000.0;
/// How many finds are looked up at once.
const CHUNK: usize = 64;

/// What a find is shown with, in the order [`hit`] reads it.
fn columns() -> String {
    format!("r.time_key, r.did, a.handle, {PROFILE}, r.collection, r.rkey, r.conversation, c.title, r.json")
}
const JOINS: &str = "JOIN account a ON a.did = r.did
    LEFT JOIN conversation c ON c.did = r.did AND c.place = r.conversation";
fn shown() -> String {
    format!("a.status = 0 AND (r.conversation IS NULL OR c.present) AND {RECORD_SHOWN}")
}
const LATEST: &str = "ORDER BY r.time_key DESC, r.did DESC, r.collection DESC, r.rkey DESC";

/// PostgreSQL's inverted index knows no order: a common word is found soonest by going back in time, a rare one by its list
/// alone. Which of both it is, the planner guesses, and where it guesses wrong it goes through all there is. So a few of the
/// newest records are gone through; then the list is asked, for no more than can be sorted at once; and only if it is longer
/// does the search go back in time further.
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
    let span = Span { from, until, key, did, collection, rkey };
    let most = i64::from(limit) + 1;
    let tx = snapshot(client).await?;
    // Every row is looked up by its key, whatever the planner knows yet.
    tx.batch_execute(
        "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off;
         SET LOCAL enable_mergejoin = off; SET LOCAL enable_sort = off",
    )
    .await?;
    let rows = match Expression::of(&asked) {
        None => span.back_in_time(&tx, None, most).await?,
        Some(expression) => {
            let newest =
                if expression.is_of_few { Vec::new() } else { span.among_newest(&tx, &expression, most).await? };
            if newest.len() > limit as usize {
                newest
            } else if let Some(found) = span.by_list(&tx, &expression, limit as usize).await? {
                found
            } else {
                span.back_in_time(&tx, Some(&expression.exact), most).await?
            }
        }
    };
    let items = rows.iter().map(|row| hit(row, &asked)).collect::<Result<Vec<_>>>()?;
    Ok(Page::of(items, limit, |hit| {
        let at = &hit.address;
        Cursor::new('s', &[&hit.id.to_string(), at.did.as_str(), at.collection.as_str(), at.rkey.as_str()])
    }))
}

/// The records that are asked of: those in a span of time, before a place in it.
struct Span<'a> {
    from: i64,
    until: i64,
    key: i64,
    did: &'a str,
    collection: &'a str,
    rkey: &'a str,
}

/// [`Span`] as statements have it, in `$1` to `$6`.
const SPAN: &str = "r.time_key >= $1 AND r.time_key < $2 AND r.time_key <= $3
    AND (r.time_key, r.did, r.collection, r.rkey) < ($3, $4, $5, $6)";

impl Span<'_> {
    /// The newest finds of all, or all there is where nothing is asked for but the span.
    async fn back_in_time(&self, tx: &Transaction<'_>, exact: Option<&String>, most: i64) -> Result<Vec<Row>> {
        let filter = if exact.is_some() { "r.terms @@ $7::text::tsquery" } else { "$7::text IS NULL AND r.kind <> 3" };
        let (columns, shown) = (columns(), shown());
        let sql =
            format!("SELECT {columns} FROM record r {JOINS} WHERE {SPAN} AND {filter} AND {shown} {LATEST} LIMIT $8");
        all(tx, &sql, &[&self.from, &self.until, &self.key, &self.did, &self.collection, &self.rkey, &exact, &most])
            .await
    }

    /// The finds among the newest records.
    async fn among_newest(&self, tx: &Transaction<'_>, expression: &Expression, most: i64) -> Result<Vec<Row>> {
        let (columns, shown) = (columns(), shown());
        // Not gone through beyond its limit, and no further than to the last find that is asked for.
        let sql = format!(
            "SELECT {columns} FROM (SELECT * FROM record r WHERE {SPAN} {LATEST} LIMIT {NEWEST}) r {JOINS}
             WHERE r.terms @@ $7::text::tsquery AND {shown} {LATEST} LIMIT $8"
        );
        all(
            tx,
            &sql,
            &[&self.from, &self.until, &self.key, &self.did, &self.collection, &self.rkey, &expression.exact, &most],
        )
        .await
    }

    /// The newest finds, by the inverted index; none if too much is on its list.
    async fn by_list(&self, tx: &Transaction<'_>, expression: &Expression, limit: usize) -> Result<Option<Vec<Row>>> {
        if expression.has_phrase {
            // The list knows which words a record has, and not where: of common words it is long however rare their phrase.
            let sql = format!(
                "SELECT count(*)::float8 / {NEWEST} * (SELECT sum(greatest(c.reltuples, 0))::float8
                    FROM pg_partition_tree('record') p JOIN pg_class c ON c.oid = p.relid WHERE p.isleaf)
                 FROM (SELECT r.terms FROM record r WHERE {SPAN} {LATEST} LIMIT {NEWEST}) r
                 WHERE r.terms @@ $7::text::tsquery"
            );
            let row = one(
                tx,
                &sql,
                &[&self.from, &self.until, &self.key, &self.did, &self.collection, &self.rkey, &expression.listed],
            )
            .await?;
            let likely = row.map(|row| row.try_get::<_, Option<f64>>(0)).transpose()?.flatten();
            if likely.is_some_and(|likely| likely > MANY) {
                return Ok(None);
            }
        }
        // The list and nothing else: a scan of the table looks cheap, as what it has to unpack is not counted; nor the index of
        // times, which would be gone through from end to end beside it.
        tx.batch_execute("SET LOCAL enable_bitmapscan = on; SET LOCAL enable_indexscan = off").await?;
        let sql = format!(
            "SELECT r.time_key, r.did, r.collection, r.rkey FROM record r
             WHERE r.terms @@ $7::text::tsquery AND {} LIMIT {}",
            SPAN.replace("r.time_key", "(r.time_key + 0)"),
            FEW + 1
        );
        let rows = all(
            tx,
            &sql,
            &[&self.from, &self.until, &self.key, &self.did, &self.collection, &self.rkey, &expression.exact],
        )
        .await?;
        tx.batch_execute("SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexscan = on").await?;
        if rows.len() > FEW {
            return Ok(None);
        }
        let found = rows.iter().map(|r| Ok((r.try_get(0)?, r.try_get(1)?, r.try_get(2)?, r.try_get(3)?)));
        let mut found = found.collect::<Result<Vec<(i64, String, String, String)>>>()?;
        found.sort_unstable_by(|a, b| b.cmp(a));
        let (columns, shown) = (columns(), shown());
        let sql = format!(
            "SELECT {columns} FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS k (did, collection, rkey, n)
             JOIN record r ON r.did = k.did AND r.collection = k.collection AND r.rkey = k.rkey {JOINS}
             WHERE {shown} ORDER BY k.n"
        );
        let mut finds = Vec::new();
        for chunk in found.chunks(CHUNK.max(limit + 1)) {
            let dids: Vec<&str> = chunk.iter().map(|(_, did, ..)| did.as_str()).collect();
            let collections: Vec<&str> = chunk.iter().map(|(_, _, collection, _)| collection.as_str()).collect();
            let rkeys: Vec<&str> = chunk.iter().map(|(.., rkey)| rkey.as_str()).collect();
            finds.extend(all(tx, &sql, &[&dids, &collections, &rkeys]).await?);
            if finds.len() > limit {
                break;
            }
        }
        Ok(Some(finds))
    }
}

fn hit(row: &Row, asked: &Asked) -> Result<Hit> {
    let (did, handle, profile): (&str, Option<&str>, Option<&str>) =
        (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
    let record = serde_json::from_str(row.try_get(8)?).map_err(corrupt("a record"))?;
    let withheld = is_withheld(&record);
    let (role, model) = speaker(&record);
    let id = row.try_get(0)?;
    let of: Option<&str> = row.try_get(6)?;
    let address = stored::address(did, row.try_get(4)?, row.try_get(5)?)?;
    let snippet = if withheld { None } else { snippet(&address, &record, asked) };
    Ok(Hit {
        address,
        author: author(did, handle, profile)?,
        conversation: of.map(|place| address_of(did, place)).transpose()?,
        title: row.try_get(7)?,
        role,
        model,
        at_ms: time_of_key(id),
        withheld,
        snippet,
        id,
    })
}

/// The question in `tsquery`'s language. Terms hold nothing that would have to be escaped.
struct Expression {
    /// What is asked for.
    exact: String,
    /// What the inverted index knows of it: which words, wherever they stand. Finds all that `exact` does, and perhaps more.
    listed: String,
    /// Whether it may be more.
    has_phrase: bool,
    /// Whether it is about what few records have, so that the list is short.
    is_of_few: bool,
}

impl Expression {
    /// `None` if no words are asked for.
    fn of(asked: &Asked) -> Option<Self> {
        if asked.all.is_empty() {
            return None;
        }
        let (mut exact, mut listed) = (String::new(), String::new());
        for (phrases, not) in [(&asked.all, ""), (&asked.none, "!")] {
            for phrase in phrases {
                write(&mut exact, phrase, not, " <-> ");
                // Words that stand apart do not make the phrase that is not wanted.
                if not.is_empty() || phrase.words.len() == 1 {
                    write(&mut listed, phrase, not, " & ");
                }
            }
        }
        let has_phrase = asked.all.iter().chain(&asked.none).any(|phrase| phrase.words.len() > 1);
        let is_of_few = asked.all.iter().flat_map(|phrase| &phrase.words).any(|word| is_of_few(word));
        Some(Self { exact, listed, has_phrase, is_of_few })
    }
}

fn write(text: &mut String, phrase: &Phrase, not: &str, between: &str) {
    let _ = write!(text, "{}{not}(", if text.is_empty() { "" } else { " & " });
    for (n, word) in phrase.words.iter().enumerate() {
        let _ = write!(text, "{}'{word}'", if n == 0 { "" } else { between });
    }
    text.push_str(if phrase.is_prefix { ":*)" } else { ")" });
}
