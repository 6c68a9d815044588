//! Answering questions.

use onrecord_lexicon::{Did, Handle};
use tokio_postgres::{IsolationLevel, Row};

use super::{
    moderation::{
        self, ANYTHING, CONVERSATION_SHOWN, PROFILE, RECORD_SHOWN, TURN_SHOWN, WHY_CONVERSATION, WHY_RECORD, WHY_TURN,
    },
    write::{Transaction, all, one, place},
};
use crate::{
    change::{AccountStatus, Address, SourceCursor},
    error::{Error, Result},
    family::MEMBER,
    moderation::{Hidden, HiddenTurn},
    query::{
        Conversation, ConversationHead, Cursor, Kept, Name, NameOf, Page, Recent, Rejected, Shown, Status, Turn,
        opening,
    },
    row::{Kind, NameKind, time_of_key},
    stored::{self, address, author, corrupt, corrupt_cursor},
};

/// What a list of conversations needs of each, in the order [`head`] reads it; models and opening in the same question, each
/// from the conversation's own partition.
fn heads() -> String {
    format!(
        "c.did, a.handle, {PROFILE}, c.place, c.title, c.started_ms, c.published_us, c.turns, c.withheld, c.steps,
    c.failed,
    ARRAY (SELECT u.name FROM name_use u WHERE u.did = c.did AND u.place = c.place AND u.kind = 0
        ORDER BY u.n DESC, u.name LIMIT 50),
    CASE WHEN c.title IS NULL THEN (SELECT r.json FROM record r
        WHERE r.did = c.did AND r.conversation = c.place AND r.opens AND {TURN_SHOWN} ORDER BY r.rkey LIMIT 1) END,
    {ANYTHING}, {WHY_CONVERSATION}
    FROM conversation c JOIN account a ON a.did = c.did"
    )
}

/// All that is read in it is of one state.
pub(super) async fn snapshot(client: &mut deadpool_postgres::Object) -> Result<Transaction<'_>> {
    let tx = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    Ok(tx.start().await?)
}

type Values<'v> = &'v [&'v (dyn tokio_postgres::types::ToSql + Sync)];

pub(super) async fn query(client: &deadpool_postgres::Object, sql: &str, values: Values<'_>) -> Result<Vec<Row>> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, values).await?)
}

pub(super) async fn cursor(client: &deadpool_postgres::Object, source: &str) -> Result<Option<SourceCursor>> {
    let rows = query(client, "SELECT cursor FROM cursor WHERE source = $1", &[&source]).await?;
    let cursor = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(cursor.map(|cursor| SourceCursor { source: source.to_owned(), cursor }))
}

pub(super) async fn resolve(client: &deadpool_postgres::Object, handle: &Handle) -> Result<Option<Did>> {
    let rows = query(client, "SELECT did FROM account WHERE handle = $1", &[&handle.as_str()]).await?;
    let did: Option<String> = rows.first().map(|row| row.try_get(0)).transpose()?;
    did.map(|did| Did::parse(&did).map_err(corrupt("a DID"))).transpose()
}

/// The address of a record or conversation from its repository and place.
pub(super) fn address_of(did: &str, place: &str) -> Result<Address> {
    let (collection, rkey) = place.split_once('/').ok_or(Error::Corrupt { what: "a conversation's place" })?;
    address(did, collection, rkey)
}

fn head(row: &Row) -> Result<ConversationHead> {
    let (did, handle, profile): (&str, Option<&str>, Option<&str>) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let count = |column: usize| row.try_get::<_, i64>(column).map(|n| u64::try_from(n).unwrap_or_default());
    let first: Option<&str> = row.try_get(12)?;
    debug_assert_eq!(NameKind::Model.number(), 0, "as the statement has it");
    Ok(ConversationHead {
        address: address_of(did, row.try_get(3)?)?,
        author: author(did, handle, profile)?,
        title: row.try_get(4)?,
        opening: first.and_then(opening),
        started_ms: row.try_get(5)?,
        published_us: row.try_get(6)?,
        turns: count(7)?,
        withheld: count(8)?,
        hidden: 0,
        steps: count(9)?,
        failed: count(10)?,
        models: row.try_get(11)?,
    })
}

pub(super) async fn recent(
    client: &mut deadpool_postgres::Object,
    of: &Recent,
    after: Option<&Cursor>,
    limit: u32,
) -> Result<Page<ConversationHead>> {
    let (us, did, place) = match after {
        Some(cursor) => {
            let [us, did, place] = cursor.parts('r')?;
            (us.parse::<i64>().map_err(corrupt_cursor)?, did, place)
        }
        None => (i64::MAX, "", ""),
    };
    let (filter, whose) = match of {
        Recent::All => ("$5 = ''", ""),
        Recent::By(did) => ("c.did = $5", did.as_str()),
        // The only question that goes from one repository to others: a list of keys, then a look-up of each.
        Recent::MembersOf(did) => (
            "c.did IN (SELECT r.rkey FROM record r JOIN account m ON m.did = r.did
                WHERE r.did = $5 AND r.collection = 'click.aligned.chat.member' AND m.status = 0 AND MEMBER_SHOWN)",
            did.as_str(),
        ),
    };
    let filter = filter.replace("MEMBER_SHOWN", RECORD_SHOWN);
    let sql = format!(
        "SELECT {} WHERE c.present AND a.status = 0 AND {CONVERSATION_SHOWN} AND {filter} AND c.published_us <= $1
            AND (c.published_us, c.did, c.place) < ($1, $2, $3)
         ORDER BY c.published_us DESC, c.did DESC, c.place DESC LIMIT $4",
        heads()
    );
    let tx = snapshot(client).await?;
    let rows = all(&tx, &sql, &[&us, &did, &place, &(i64::from(limit) + 1), &whose]).await?;
    let items = rows.iter().map(head).collect::<Result<Vec<_>>>()?;
    let is_any_hidden = rows.first().is_some_and(|row| matches!(row.try_get(13), Ok(true)));
    let mut page = Page::of(items, limit, |head| {
        let at = &head.address;
        let place = super::write::place(at.collection.as_str(), at.rkey.as_str());
        Cursor::new('r', &[&head.published_us.to_string(), at.did.as_str(), &place])
    });
    if is_any_hidden {
        moderation::complete(&tx, &mut page.items).await?;
    }
    Ok(page)
}

/// What is known where no record is to be shown.
async fn missing<T>(tx: &Transaction<'_>, at: &Address) -> Result<Kept<T>> {
    let sql = "SELECT a.status = 4 OR (a.status <> 0 AND EXISTS (
            SELECT 1 FROM record r WHERE r.did = a.did AND r.collection = $2 AND r.rkey = $3))
        OR EXISTS (SELECT 1 FROM gone g WHERE g.did = a.did AND g.collection = $2 AND g.rkey = $3)
        FROM account a WHERE a.did = $1";
    let row = one(tx, sql, &[&at.did.as_str(), &at.collection.as_str(), &at.rkey.as_str()]).await?;
    let gone: Option<bool> = row.map(|row| row.try_get(0)).transpose()?;
    Ok(if gone == Some(true) { Kept::Gone } else { Kept::Unknown })
}

pub(super) async fn record(tx: &Transaction<'_>, at: &Address) -> Result<Kept<Turn>> {
    let sql = format!(
        "SELECT r.cid, r.rev, r.json, r.conversation, {WHY_RECORD} FROM record r JOIN account a ON a.did = r.did
        LEFT JOIN conversation c ON c.did = r.did AND c.place = r.conversation
        WHERE r.did = $1 AND r.collection = $2 AND r.rkey = $3 AND a.status = 0 AND (r.conversation IS NULL OR c.present)"
    );
    let values: Values<'_> = &[&at.did.as_str(), &at.collection.as_str(), &at.rkey.as_str()];
    let Some(row) = one(tx, &sql, values).await? else { return missing(tx, at).await };
    if let Some(why) = row.try_get(4)? {
        return Ok(Kept::Hidden(Hidden::of_column(why)?));
    }
    let of: Option<&str> = row.try_get(3)?;
    let of = of.map(|place| address_of(at.did.as_str(), place)).transpose()?;
    Ok(Kept::Here(turn(at.clone(), of, &row, 0)?))
}

/// A record whose CID, revision and JSON stand in the columns from `first` on.
fn turn(address: Address, conversation: Option<Address>, row: &Row, first: usize) -> Result<Turn> {
    stored::turn(address, conversation, row.try_get(first)?, row.try_get(first + 1)?, row.try_get(first + 2)?)
}

pub(super) async fn conversation(
    client: &mut deadpool_postgres::Object,
    at: &Address,
    after: Option<&Cursor>,
    limit: u32,
) -> Result<Kept<Conversation>> {
    let after = match after {
        Some(cursor) => cursor.parts::<1>('c')?[0],
        None => "",
    };
    let tx = snapshot(client).await?;
    let key = place(at.collection.as_str(), at.rkey.as_str());
    let sql =
        format!("SELECT {} WHERE c.did = $1 AND a.did = $1 AND c.place = $2 AND a.status = 0 AND c.present", heads());
    let turns = format!(
        "SELECT r.collection, r.rkey, r.cid, r.rev, r.json, r.time_key, {WHY_TURN} FROM record r
         WHERE r.did = $1 AND r.conversation = $2 AND r.kind = $3 AND r.rkey > $4 ORDER BY r.rkey LIMIT $5"
    );
    let did = at.did.as_str();
    let (kind, most) = (Kind::Turn.number(), i64::from(limit) + 1);
    let head_values: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&did, &key];
    let turn_values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] = [&did, &key, &kind, &after, &most];
    // All on the way at once: one wait for the server instead of three.
    let (found, record, rows) =
        tokio::join!(one(&tx, &sql, &head_values), record(&tx, at), all(&tx, &turns, &turn_values));
    let Some(found) = found? else { return missing(&tx, at).await };
    if let Some(why) = found.try_get(14)? {
        return Ok(Kept::Hidden(Hidden::of_column(why)?));
    }
    let Kept::Here(record) = record? else { return Err(Error::Corrupt { what: "a conversation" }) };
    let mut items = Vec::new();
    for row in &rows? {
        let place = address(did, row.try_get(0)?, row.try_get(1)?)?;
        items.push(match row.try_get(6)? {
            Some(why) => {
                let at_ms = time_of_key(row.try_get(5)?);
                Shown::Hidden(HiddenTurn::of(place, at_ms, row.try_get(4)?, why)?)
            }
            None => Shown::Turn(turn(place, Some(at.clone()), row, 2)?),
        });
    }
    let turns = Page::of(items, limit, |turn| Cursor::new('c', &[turn.address().rkey.as_str()]));
    let mut head = head(&found)?;
    if found.try_get(13)? {
        moderation::complete(&tx, std::slice::from_mut(&mut head)).await?;
    }
    Ok(Kept::Here(Conversation { head, record, turns }))
}

fn count(row: &Row, column: usize) -> Result<u64> {
    Ok(row.try_get::<_, i64>(column)?.unsigned_abs())
}

pub(super) async fn names(client: &deadpool_postgres::Object, of: NameOf, limit: u32) -> Result<Vec<Name>> {
    let sql = format!(
        "SELECT u.name, sum(u.n)::bigint, count(*), {ANYTHING} FROM name_use u
         JOIN conversation c ON c.did = u.did AND c.place = u.place JOIN account a ON a.did = u.did
         WHERE u.kind = $1 AND c.present AND a.status = 0 AND {CONVERSATION_SHOWN}
         GROUP BY u.name ORDER BY 2 DESC, 1 LIMIT $2"
    );
    let list = async |limit: i64| {
        let rows = query(client, &sql, &[&of.kind().number(), &limit]).await?;
        let is_any_hidden = rows.first().is_some_and(|row| matches!(row.try_get(3), Ok(true)));
        let names = rows
            .iter()
            .map(|row| Ok(Name { name: row.try_get(0)?, count: count(row, 1)?, conversations: count(row, 2)? }))
            .collect::<Result<Vec<_>>>()?;
        Ok::<_, Error>((names, is_any_hidden))
    };
    let (names, is_any_hidden) = list(i64::from(limit)).await?;
    if !is_any_hidden {
        return Ok(names);
    }
    let hidden = moderation::names_hidden(client, of).await?;
    let more = i64::try_from(hidden.len()).unwrap_or(i64::MAX);
    let (names, _) = list(i64::from(limit).saturating_add(more)).await?;
    moderation::names_shown(client, &hidden, names, of, limit).await
}

pub(super) async fn members(client: &deadpool_postgres::Object, did: &Did) -> Result<Vec<Turn>> {
    let sql = format!(
        "SELECT r.rkey, r.cid, r.rev, r.json FROM record r JOIN account a ON a.did = r.did
         WHERE r.did = $1 AND a.status = 0 AND r.collection = $2 AND {RECORD_SHOWN} ORDER BY r.rkey"
    );
    let rows = query(client, &sql, &[&did.as_str(), &MEMBER]).await?;
    rows.iter().map(|row| turn(address(did.as_str(), MEMBER, row.try_get(0)?)?, None, row, 1)).collect()
}

pub(super) async fn rejections(client: &deadpool_postgres::Object) -> Result<Vec<Rejected>> {
    let rows = query(client, "SELECT reason, collection, n FROM rejection ORDER BY reason, collection", &[]).await?;
    rows.iter()
        .map(|row| Ok(Rejected { reason: row.try_get(0)?, collection: row.try_get(1)?, count: count(row, 2)? }))
        .collect()
}

pub(super) async fn status(client: &mut deadpool_postgres::Object) -> Result<Status> {
    let tx = snapshot(client).await?;
    let number = async |sql: &str| match one(&tx, sql, &[]).await? {
        Some(row) => count(&row, 0),
        None => Ok(0),
    };
    let records = all(&tx, "SELECT collection, count(*) FROM record GROUP BY 1 ORDER BY 1", &[]).await?;
    let accounts = all(&tx, "SELECT status, count(*) FROM account GROUP BY 1 ORDER BY 1", &[]).await?;
    let cursors = all(&tx, "SELECT source, cursor FROM cursor ORDER BY source COLLATE \"C\"", &[]).await?;
    // A replica that has replayed all it got is not behind, however long ago that was, as long as it gets something.
    let lag = one(
        &tx,
        "SELECT CASE WHEN NOT pg_is_in_recovery() THEN NULL
            WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
            ELSE (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint END",
        &[],
    )
    .await?;
    let lag: Option<i64> = lag.map(|row| row.try_get(0)).transpose()?.flatten();
    Ok(Status {
        store: "postgres",
        records: records.iter().map(|row| Ok((row.try_get(0)?, count(row, 1)?))).collect::<Result<_>>()?,
        conversations: number(&format!(
            "SELECT count(*) FROM conversation c JOIN account a ON a.did = c.did
             WHERE c.present AND a.status = 0 AND {CONVERSATION_SHOWN}"
        ))
        .await?,
        hidden: number("SELECT count(*) FROM (SELECT DISTINCT did, place FROM hidden_now) h").await?,
        waiting: number("SELECT count(*) FROM conversation WHERE NOT present").await?,
        accounts: accounts
            .iter()
            .map(|row| Ok((AccountStatus::of_number(row.try_get(0)?), count(row, 1)?)))
            .collect::<Result<_>>()?,
        gone: number("SELECT count(*) FROM gone").await?,
        cursors: cursors
            .iter()
            .map(|row| Ok(SourceCursor { source: row.try_get(0)?, cursor: row.try_get(1)? }))
            .collect::<Result<_>>()?,
        replica_lag_ms: lag.map(|ms| u64::try_from(ms).unwrap_or_default()),
    })
}
