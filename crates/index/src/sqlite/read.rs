//! Answering questions.

use onrecord_lexicon::{Did, Handle};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::moderation::{
    self, CONVERSATION_SHOWN, LONE_RECORD_SHOWN, PROFILE, TURN_SHOWN, WHY_CONVERSATION, WHY_RECORD, WHY_TURN,
};
use crate::{
    change::{AccountStatus, Address, SourceCursor},
    error::{Error, Result},
    family::MEMBER,
    moderation::HiddenTurn,
    query::{
        Conversation, ConversationHead, Cursor, Kept, Name, NameOf, Page, Recent, Rejected, Shown, Status, Turn,
        opening,
    },
    row::{Kind, NameKind, time_of_key},
    stored::{self, address, author, corrupt, corrupt_cursor},
};

/// What a list of conversations needs of each, in the order [`head`] reads it.
fn heads() -> String {
    format!(
        "c.id, a.did, a.handle, {PROFILE}, k.nsid, c.rkey, c.title, c.started_ms, c.published_us, c.turns, c.withheld,
            c.steps, c.failed, {WHY_CONVERSATION}
         FROM conversation c JOIN account a ON a.id = c.account JOIN collection k ON k.id = c.collection"
    )
}

pub(super) fn cursor(db: &Connection, source: String) -> Result<Option<SourceCursor>> {
    let found =
        db.prepare_cached("SELECT cursor FROM cursor WHERE source = ?1")?.query_row([&source], |row| row.get(0));
    Ok(found.optional()?.map(|cursor| SourceCursor { source, cursor }))
}

pub(super) fn resolve(db: &Connection, handle: &Handle) -> Result<Option<Did>> {
    let found: Option<String> = db
        .prepare_cached("SELECT did FROM account WHERE handle = ?1")?
        .query_row([handle.as_str()], |row| row.get(0))
        .optional()?;
    found.map(|did| Did::parse(&did).map_err(corrupt("a DID"))).transpose()
}

/// A head without what is asked for in a second question.
fn head(row: &Row<'_>) -> Result<(i64, ConversationHead)> {
    let (did, handle, profile): (String, Option<String>, Option<String>) = (row.get(1)?, row.get(2)?, row.get(3)?);
    let (collection, rkey): (String, String) = (row.get(4)?, row.get(5)?);
    let count = |column| row.get::<_, i64>(column).map(|n| u64::try_from(n).unwrap_or_default());
    let head = ConversationHead {
        address: address(&did, &collection, &rkey)?,
        author: author(&did, handle.as_deref(), profile.as_deref())?,
        title: row.get(6)?,
        opening: None,
        started_ms: row.get(7)?,
        published_us: row.get(8)?,
        turns: count(9)?,
        withheld: count(10)?,
        hidden: 0,
        steps: count(11)?,
        failed: count(12)?,
        models: Vec::new(),
    };
    Ok((row.get(0)?, head))
}

/// Adds the models, and the opening where there is no title.
fn complete(db: &Connection, id: i64, head: &mut ConversationHead) -> Result<()> {
    head.models = db
        .prepare_cached(
            "SELECT name FROM name_use WHERE conversation = ?1 AND kind = ?2 ORDER BY n DESC, name LIMIT 50",
        )?
        .query_map((id, NameKind::Model.number()), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if head.title.is_none() {
        let json: Option<String> = db
            .prepare_cached(&format!(
                "SELECT r.json FROM record r JOIN account a ON a.id = r.account
                 WHERE r.conversation = ?1 AND r.opens = 1 AND {TURN_SHOWN} ORDER BY r.rkey LIMIT 1"
            ))?
            .query_row([id], |row| row.get(0))
            .optional()?;
        head.opening = json.as_deref().and_then(opening);
    }
    moderation::complete(db, id, head)
}

pub(super) fn recent(
    db: &Connection,
    of: &Recent,
    after: Option<&Cursor>,
    limit: u32,
) -> Result<Page<ConversationHead>> {
    let (us, id) = match after {
        Some(cursor) => {
            let [us, id] = cursor.parts('r')?;
            (us.parse().map_err(corrupt_cursor)?, id.parse().map_err(corrupt_cursor)?)
        }
        None => (i64::MAX, i64::MAX),
    };
    let (filter, did) = match of {
        Recent::All => ("?4 = ''", ""),
        Recent::By(did) => ("c.account = (SELECT id FROM account WHERE did = ?4)", did.as_str()),
        Recent::MembersOf(did) => (
            "c.account IN (SELECT m.id FROM account m JOIN record r ON r.rkey = m.did
                JOIN account a ON a.id = r.account WHERE a.did = ?4 AND a.status = 0
                AND r.collection = (SELECT id FROM collection WHERE nsid = 'click.aligned.chat.member')
                AND MEMBER_SHOWN)",
            did.as_str(),
        ),
    };
    let filter = filter.replace("MEMBER_SHOWN", LONE_RECORD_SHOWN);
    let sql = format!(
        "SELECT {} WHERE c.present AND a.status = 0 AND {CONVERSATION_SHOWN} AND {filter}
            AND (c.published_us, c.id) < (?1, ?2)
         ORDER BY c.published_us DESC, c.id DESC LIMIT ?3",
        heads()
    );
    let mut items = Vec::new();
    {
        let mut query = db.prepare_cached(&sql)?;
        let mut rows = query.query((us, id, i64::from(limit) + 1, did))?;
        while let Some(row) = rows.next()? {
            items.push(head(row)?);
        }
    }
    for (id, head) in items.iter_mut().take(limit as usize) {
        complete(db, *id, head)?;
    }
    let page =
        Page::of(items, limit, |(id, head)| Cursor::new('r', &[&head.published_us.to_string(), &id.to_string()]));
    Ok(Page { items: page.items.into_iter().map(|(_, head)| head).collect(), cursor: page.cursor })
}

/// What is known where no record is to be shown.
fn missing<T>(db: &Connection, at: &Address) -> Result<Kept<T>> {
    let gone = db
        .prepare_cached(
            "SELECT a.status <> 0 AND (a.status = 4 OR EXISTS (
                    SELECT 1 FROM record r JOIN collection k ON k.id = r.collection
                    WHERE r.account = a.id AND k.nsid = ?2 AND r.rkey = ?3))
                OR EXISTS (SELECT 1 FROM gone g JOIN collection k ON k.id = g.collection
                    WHERE g.account = a.id AND k.nsid = ?2 AND g.rkey = ?3)
             FROM account a WHERE a.did = ?1",
        )?
        .query_row((at.did.as_str(), at.collection.as_str(), at.rkey.as_str()), |row| row.get(0))
        .optional()?;
    Ok(if gone == Some(true) { Kept::Gone } else { Kept::Unknown })
}

pub(super) fn record(db: &Connection, at: &Address) -> Result<Kept<Turn>> {
    let found = {
        let mut query = db.prepare_cached(&format!(
            "SELECT r.cid, r.rev, r.json, o.nsid, c.rkey, {WHY_RECORD} FROM record r
             JOIN account a ON a.id = r.account JOIN collection k ON k.id = r.collection
             LEFT JOIN conversation c ON c.id = r.conversation LEFT JOIN collection o ON o.id = c.collection
             WHERE a.did = ?1 AND a.status = 0 AND k.nsid = ?2 AND r.rkey = ?3 AND (c.id IS NULL OR c.present)",
        ))?;
        let mut rows = query.query((at.did.as_str(), at.collection.as_str(), at.rkey.as_str()))?;
        match rows.next()? {
            Some(row) => {
                if let Some(hidden) = moderation::why(row, 5)? {
                    return Ok(Kept::Hidden(hidden));
                }
                let of: Option<(String, String)> = row.get::<_, Option<String>>(3)?.zip(row.get(4)?);
                let of = of.map(|(collection, rkey)| address(at.did.as_str(), &collection, &rkey)).transpose()?;
                Some(turn(at.clone(), of, row, 0)?)
            }
            None => None,
        }
    };
    found.map_or_else(|| missing(db, at), |turn| Ok(Kept::Here(turn)))
}

/// A record whose CID, revision and JSON stand in the columns from `first` on.
fn turn(address: Address, conversation: Option<Address>, row: &Row<'_>, first: usize) -> Result<Turn> {
    let cid: Vec<u8> = row.get(first)?;
    stored::turn(address, conversation, &cid, row.get(first + 1)?, row.get(first + 2)?)
}

pub(super) fn conversation(
    db: &Connection,
    at: &Address,
    after: Option<&Cursor>,
    limit: u32,
) -> Result<Kept<Conversation>> {
    let after = match after {
        Some(cursor) => cursor.parts::<1>('c')?[0],
        None => "",
    };
    let sql =
        format!("SELECT {} WHERE a.did = ?1 AND a.status = 0 AND k.nsid = ?2 AND c.rkey = ?3 AND c.present", heads());
    let found = {
        let mut query = db.prepare_cached(&sql)?;
        let mut rows = query.query((at.did.as_str(), at.collection.as_str(), at.rkey.as_str()))?;
        match rows.next()? {
            Some(row) => match moderation::why(row, 13)? {
                Some(hidden) => return Ok(Kept::Hidden(hidden)),
                None => Some(head(row)?),
            },
            None => None,
        }
    };
    let Some((id, mut head)) = found else { return missing(db, at) };
    complete(db, id, &mut head)?;
    let Kept::Here(record) = record(db, at)? else { return Err(Error::Corrupt { what: "a conversation" }) };
    let mut items = Vec::new();
    let mut query = db.prepare_cached(&format!(
        "SELECT k.nsid, r.rkey, r.cid, r.rev, r.json, r.id, {WHY_TURN} FROM record r
         JOIN collection k ON k.id = r.collection JOIN account a ON a.id = r.account
         WHERE r.conversation = ?1 AND r.kind = ?2 AND r.rkey > ?3 ORDER BY r.rkey LIMIT ?4"
    ))?;
    let mut rows = query.query((id, Kind::Turn.number(), after, i64::from(limit) + 1))?;
    while let Some(row) = rows.next()? {
        let (collection, rkey): (String, String) = (row.get(0)?, row.get(1)?);
        let place = address(at.did.as_str(), &collection, &rkey)?;
        items.push(match row.get::<_, Option<String>>(6)? {
            Some(why) => {
                let json: String = row.get(4)?;
                Shown::Hidden(HiddenTurn::of(place, time_of_key(row.get(5)?), &json, &why)?)
            }
            None => Shown::Turn(turn(place, Some(at.clone()), row, 2)?),
        });
    }
    let turns = Page::of(items, limit, |turn| Cursor::new('c', &[turn.address().rkey.as_str()]));
    Ok(Kept::Here(Conversation { head, record, turns }))
}

pub(super) fn names(db: &Connection, of: NameOf, limit: u32) -> Result<Vec<Name>> {
    let hidden = moderation::names_hidden(db, of)?;
    let mut query = db.prepare_cached(&format!(
        "SELECT u.name, sum(u.n), count(*) FROM name_use u
         JOIN conversation c ON c.id = u.conversation JOIN account a ON a.id = c.account
         WHERE u.kind = ?1 AND c.present AND a.status = 0 AND {CONVERSATION_SHOWN}
         GROUP BY u.name ORDER BY 2 DESC, u.name LIMIT ?2"
    ))?;
    let most = i64::from(limit).saturating_add(i64::try_from(hidden.len()).unwrap_or(i64::MAX));
    let names = query.query_map((of.kind().number(), most), |row| {
        let (count, conversations): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(Name { name: row.get(0)?, count: count.unsigned_abs(), conversations: conversations.unsigned_abs() })
    })?;
    let names = names.collect::<rusqlite::Result<_>>()?;
    moderation::names_shown(db, &hidden, names, of, limit)
}

pub(super) fn members(db: &Connection, did: &Did) -> Result<Vec<Turn>> {
    let mut query = db.prepare_cached(&format!(
        "SELECT r.rkey, r.cid, r.rev, r.json FROM record r JOIN account a ON a.id = r.account
         JOIN collection k ON k.id = r.collection
         WHERE a.did = ?1 AND a.status = 0 AND k.nsid = ?2 AND {LONE_RECORD_SHOWN} ORDER BY r.rkey"
    ))?;
    let mut rows = query.query((did.as_str(), MEMBER))?;
    let mut members = Vec::new();
    while let Some(row) = rows.next()? {
        let rkey: String = row.get(0)?;
        members.push(turn(address(did.as_str(), MEMBER, &rkey)?, None, row, 1)?);
    }
    Ok(members)
}

pub(super) fn rejections(db: &Connection) -> Result<Vec<Rejected>> {
    let mut query = db.prepare_cached("SELECT reason, collection, n FROM rejection ORDER BY reason, collection")?;
    let rows = query.query_map([], |row| {
        let count: i64 = row.get(2)?;
        Ok(Rejected { reason: row.get(0)?, collection: row.get(1)?, count: count.unsigned_abs() })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn status(db: &Connection) -> Result<Status> {
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs);
    let records = db
        .prepare(
            "SELECT k.nsid, count(*) FROM record r JOIN collection k ON k.id = r.collection GROUP BY 1 ORDER BY 1",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
        .collect::<rusqlite::Result<_>>()?;
    let accounts = db
        .prepare("SELECT status, count(*) FROM account GROUP BY 1 ORDER BY 1")?
        .query_map([], |row| Ok((AccountStatus::of_number(row.get(0)?), row.get::<_, i64>(1)?.unsigned_abs())))?
        .collect::<rusqlite::Result<_>>()?;
    let cursors = db
        .prepare("SELECT source, cursor FROM cursor ORDER BY source")?
        .query_map([], |row| Ok(SourceCursor { source: row.get(0)?, cursor: row.get(1)? }))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Status {
        store: "sqlite",
        records,
        conversations: count(&format!(
            "SELECT count(*) FROM conversation c JOIN account a ON a.id = c.account
             WHERE c.present AND a.status = 0 AND {CONVERSATION_SHOWN}"
        ))?,
        hidden: moderation::count(db)?,
        waiting: count("SELECT count(*) FROM conversation WHERE NOT present")?,
        accounts,
        gone: count("SELECT count(*) FROM gone")?,
        cursors,
        replica_lag_ms: None,
    })
}
