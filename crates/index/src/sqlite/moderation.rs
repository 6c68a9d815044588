//! What is hidden, and by whom.

use std::collections::HashMap;

use onrecord_lexicon::{Cid, Did};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use crate::{
    account::Profile,
    change::Fence,
    error::{Error, Result},
    moderation::{
        Decision, HOST, Hidden, HiddenNames, HiddenSubject, Label, Moderated, Moderation, Subject, of_self_labels,
        without,
    },
    query::{ConversationHead, Cursor, Name, NameOf, Page},
    row::{Kind, NameKind, Row},
    stamp::new_version,
    stored::{address, corrupt, corrupt_cursor, row_of},
};

/// The tables. A place is `collection/key`, or nothing for a whole account.
pub(super) const MODERATION: &str = r#"
-- The host's decisions: rows are added and never changed.
CREATE TABLE decision (
    at_us INTEGER NOT NULL,
    did TEXT NOT NULL,
    place TEXT NOT NULL,
    hide INTEGER NOT NULL,
    reason TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    PRIMARY KEY (at_us, did, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX decision_subject ON decision (did, place, at_us);

CREATE TABLE label (
    did TEXT NOT NULL,
    place TEXT NOT NULL,
    source TEXT NOT NULL,
    value TEXT NOT NULL,
    cid BLOB NOT NULL,
    at_us INTEGER NOT NULL,
    until_ms INTEGER,
    negated INTEGER NOT NULL,
    PRIMARY KEY (did, place, source, value, cid)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_source ON label (source);

-- What follows from both, and from what authors say of themselves. The source is a labeler, or 'self', or nothing for the host.
CREATE TABLE hidden (
    did TEXT NOT NULL,
    place TEXT NOT NULL,
    source TEXT NOT NULL,
    value TEXT NOT NULL,
    cid BLOB NOT NULL,
    until_ms INTEGER,
    PRIMARY KEY (did, place, source, value, cid)
) STRICT, WITHOUT ROWID;
CREATE INDEX hidden_until ON hidden (until_ms) WHERE until_ms IS NOT NULL;

-- What of it holds now.
CREATE VIEW hidden_now AS SELECT h.did, h.place, h.source, h.value FROM hidden h
    WHERE (h.until_ms IS NULL OR h.until_ms > CAST(unixepoch('subsec') * 1000 AS INTEGER))
    AND (h.cid = x'' OR EXISTS (
        SELECT 1 FROM record x WHERE x.account = (SELECT id FROM account WHERE did = h.did)
        AND x.collection = (SELECT id FROM collection WHERE nsid = substr(h.place, 1, instr(h.place, '/') - 1))
        AND x.rkey = substr(h.place, instr(h.place, '/') + 1) AND x.cid = h.cid));

INSERT INTO hidden (did, place, source, value, cid)
    SELECT did, '', 'self', '!no-unauthenticated', x'' FROM account
    WHERE EXISTS (SELECT 1 FROM json_each(profile, '$.selfLabels') WHERE value = '!no-unauthenticated');
"#;

/// The places of a conversation `c`: its own, and its account's.
macro_rules! conversation_places {
    () => {
        "('', (SELECT nsid FROM collection WHERE id = c.collection) || '/' || c.rkey)"
    };
}
/// The places of a record `r` that may belong to a conversation `c`.
macro_rules! record_places {
    () => {
        "('', (SELECT nsid FROM collection WHERE id = r.collection) || '/' || r.rkey,
            (SELECT nsid FROM collection WHERE id = c.collection) || '/' || c.rkey)"
    };
}
macro_rules! shown {
    ($places:expr) => {
        concat!(
            "(NOT EXISTS (SELECT 1 FROM hidden) OR NOT EXISTS (
                SELECT 1 FROM hidden_now h WHERE h.did = a.did AND h.place IN ",
            $places,
            "))"
        )
    };
}
macro_rules! why {
    ($places:expr) => {
        concat!(
            "CASE WHEN EXISTS (SELECT 1 FROM hidden) THEN (
                SELECT h.source || ' ' || h.value FROM hidden_now h WHERE h.did = a.did AND h.place IN ",
            $places,
            " ORDER BY h.source <> '', h.value = '!no-unauthenticated', h.source, h.value LIMIT 1) END"
        )
    };
}

/// That the conversation `c` of the account `a` is not hidden.
pub(super) const CONVERSATION_SHOWN: &str = shown!(conversation_places!());
/// That the record `r` of the account `a`, in the conversation `c` or in none, is not.
pub(super) const RECORD_SHOWN: &str = shown!(record_places!());
/// That the record `r` of the account `a`, which belongs to no conversation, is not.
pub(super) const LONE_RECORD_SHOWN: &str =
    shown!("('', (SELECT nsid FROM collection WHERE id = r.collection) || '/' || r.rkey)");
/// That a turn `r` of a shown conversation of the account `a` is not.
pub(super) const TURN_SHOWN: &str = shown!("((SELECT nsid FROM collection WHERE id = r.collection) || '/' || r.rkey)");
/// Why the conversation is hidden, if it is, as [`Hidden::of_column`] reads it: of several reasons the host's, then a labeler's.
pub(super) const WHY_CONVERSATION: &str = why!(conversation_places!());
/// Why the record is.
pub(super) const WHY_RECORD: &str = why!(record_places!());
/// Why the turn is, of a conversation that is not.
pub(super) const WHY_TURN: &str = why!("((SELECT nsid FROM collection WHERE id = r.collection) || '/' || r.rkey)");
/// The profile of the account `a`, unless it is hidden.
pub(super) const PROFILE: &str = concat!(
    "CASE WHEN ",
    shown!("('app.bsky.actor.profile/self')"),
    " THEN a.profile ELSE json_remove(a.profile, '$.displayName') END"
);

/// How much of what was hidden for a time is over.
pub(super) const EXPIRED: &str =
    "(SELECT count(*) FROM hidden WHERE until_ms <= CAST(unixepoch('subsec') * 1000 AS INTEGER))";
/// What the host and labelers say of the account `a` and of anything of it, as one text.
pub(super) const MODERATED: &str = "CASE WHEN EXISTS (SELECT 1 FROM hidden) OR EXISTS (SELECT 1 FROM label) THEN
        ifnull((SELECT group_concat(h.place || ' ' || h.source || ' ' || h.value) FROM hidden_now h WHERE h.did = a.did), '')
        || ' ' || (SELECT count(*) || ' ' || total(l.at_us) FROM label l WHERE l.did = a.did
            AND (l.until_ms IS NULL OR l.until_ms > CAST(unixepoch('subsec') * 1000 AS INTEGER))) END";

/// What a question gives, read row by row.
fn any<T>(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    mut read: impl FnMut(&rusqlite::Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Whether anything is.
fn is_anything(db: &Connection) -> Result<bool> {
    Ok(db.prepare_cached("SELECT EXISTS (SELECT 1 FROM hidden)")?.query_row([], |row| row.get(0))?)
}

/// Takes hidden turns out of what is said of the conversation `id`.
pub(super) fn complete(db: &Connection, id: i64, head: &mut ConversationHead) -> Result<()> {
    if !is_anything(db)? {
        return Ok(());
    }
    let sql = "SELECT DISTINCT r.rkey, k.nsid, r.rev, r.json FROM hidden_now h
        JOIN collection k ON k.nsid = substr(h.place, 1, instr(h.place, '/') - 1)
        JOIN record r ON r.account = (SELECT id FROM account WHERE did = h.did) AND r.collection = k.id
            AND r.rkey = substr(h.place, instr(h.place, '/') + 1)
        WHERE h.did = ?1 AND r.conversation = ?2 AND r.kind = ?3";
    let did = head.address.did.as_str();
    let turns = any(db, sql, (did, id, Kind::Turn.number()), |row| {
        let (rkey, collection, rev, json): (String, String, i64, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        row_of(&address(did, &collection, &rkey)?, rev, &json)
    })?;
    if turns.is_empty() {
        return Ok(());
    }
    let models = any(
        db,
        "SELECT name, n FROM name_use WHERE conversation = ?1 AND kind = ?2",
        (id, NameKind::Model.number()),
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    without(head, &turns, models);
    Ok(())
}

/// What of the models or tools stands in hidden turns of shown conversations.
pub(super) fn names_hidden(db: &Connection, of: NameOf) -> Result<HiddenNames> {
    if !is_anything(db)? {
        return Ok(HiddenNames::default());
    }
    let sql = format!(
        "SELECT DISTINCT a.did, k.nsid, r.rkey, r.rev, r.json, c.id FROM hidden_now h
         JOIN account a ON a.did = h.did JOIN collection k ON k.nsid = substr(h.place, 1, instr(h.place, '/') - 1)
         JOIN record r ON r.account = a.id AND r.collection = k.id AND r.rkey = substr(h.place, instr(h.place, '/') + 1)
         JOIN conversation c ON c.id = r.conversation
         WHERE r.kind = ?1 AND c.present AND a.status = 0 AND {CONVERSATION_SHOWN}"
    );
    let turns = any(db, &sql, [Kind::Turn.number()], |row| {
        let (did, collection, rkey): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let json: String = row.get(4)?;
        let turn: Row = row_of(&address(&did, &collection, &rkey)?, row.get(3)?, &json)?;
        Ok((row.get::<_, i64>(5)?.to_string(), turn))
    })?;
    Ok(HiddenNames::of(&turns, of))
}

/// Takes `hidden` out of `names`.
pub(super) fn names_shown(
    db: &Connection,
    hidden: &HiddenNames,
    names: Vec<Name>,
    of: NameOf,
    limit: u32,
) -> Result<Vec<Name>> {
    let mut uses = HashMap::new();
    for (conversation, name) in hidden.pairs() {
        let n: Option<i64> = db
            .prepare_cached(
                "SELECT n FROM name_use WHERE conversation = CAST(?1 AS INTEGER) AND kind = ?2 AND name = ?3",
            )?
            .query_row((conversation, of.kind().number(), name), |row| row.get(0))
            .optional()?;
        uses.insert((conversation.to_owned(), name.to_owned()), n.unwrap_or(0));
    }
    Ok(hidden.take_from(names, &uses, limit))
}

pub(super) fn hides(db: &Connection, subject: &Subject) -> Result<Option<Hidden>> {
    // A turn is hidden with its conversation, which its record names.
    let sql = "SELECT h.source || ' ' || h.value FROM hidden_now h WHERE h.did = ?1 AND h.place IN ('', ?2, (
            SELECT o.nsid || '/' || c.rkey FROM record r JOIN conversation c ON c.id = r.conversation
            JOIN collection o ON o.id = c.collection
            WHERE r.account = (SELECT id FROM account WHERE did = ?1)
            AND r.collection = (SELECT id FROM collection WHERE nsid = substr(?2, 1, instr(?2, '/') - 1))
            AND r.rkey = substr(?2, instr(?2, '/') + 1)))
        ORDER BY h.source <> '', h.value = '!no-unauthenticated', h.source, h.value LIMIT 1";
    let found = any(db, sql, (subject.did().as_str(), subject.place()), |row| Ok(row.get::<_, String>(0)?))?;
    found.first().map(|column| Hidden::of_column(column)).transpose()
}

pub(super) fn hidden(
    db: &Connection,
    of: Option<&Did>,
    after: Option<&Cursor>,
    limit: u32,
) -> Result<Page<HiddenSubject>> {
    let [did, place, source, value] = match after {
        Some(cursor) => cursor.parts('h')?,
        None => [""; 4],
    };
    let sql = "SELECT DISTINCT h.did, h.place, h.source, h.value, d.at_us, d.reason, d.decided_by FROM hidden_now h
        LEFT JOIN decision d ON h.source = '' AND d.did = h.did AND d.place = h.place
            AND d.at_us = (SELECT max(l.at_us) FROM decision l WHERE l.did = h.did AND l.place = h.place)
        WHERE (h.did, h.place, h.source, h.value) > (?1, ?2, ?3, ?4) AND (?6 IS NULL OR h.did = ?6)
        ORDER BY h.did, h.place, h.source, h.value LIMIT ?5";
    let items = any(db, sql, (did, place, source, value, i64::from(limit) + 1, of.map(Did::as_str)), |row| {
        let columns: [String; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        let [did, place, source, value] = &columns;
        let subject = Subject::of_columns(did, place)?;
        let decision = row.get::<_, Option<i64>>(4)?.map(|at_us| {
            let (reason, by) = (row.get(5)?, row.get(6)?);
            Ok::<_, Error>(Decision { at_us, subject: subject.clone(), hide: true, reason, by })
        });
        let hidden = Hidden::of_column(&format!("{source} {value}"))?;
        Ok((HiddenSubject { subject, hidden, decision: decision.transpose()? }, columns))
    })?;
    let page = Page::of(items, limit, |(_, columns)| Cursor::new('h', &columns.each_ref().map(String::as_str)));
    Ok(Page { items: page.items.into_iter().map(|(item, _)| item).collect(), cursor: page.cursor })
}

fn decision(row: &rusqlite::Row<'_>) -> Result<Decision> {
    let (did, place): (String, String) = (row.get(1)?, row.get(2)?);
    Ok(Decision {
        at_us: row.get(0)?,
        subject: Subject::of_columns(&did, &place)?,
        hide: row.get(3)?,
        reason: row.get(4)?,
        by: row.get(5)?,
    })
}

const DECISION: &str = "SELECT at_us, did, place, hide, reason, decided_by FROM decision";

pub(super) fn decisions(db: &Connection, after: Option<&Cursor>, limit: u32) -> Result<Page<Decision>> {
    let (at_us, did, place) = match after {
        Some(cursor) => {
            let [at_us, did, place] = cursor.parts('d')?;
            (at_us.parse().map_err(corrupt_cursor)?, did, place)
        }
        None => (i64::MAX, "", ""),
    };
    let sql = format!(
        "{DECISION} WHERE (at_us, did, place) < (?1, ?2, ?3) ORDER BY at_us DESC, did DESC, place DESC LIMIT ?4"
    );
    let items = any(db, &sql, (at_us, did, place, i64::from(limit) + 1), decision)?;
    Ok(Page::of(items, limit, |last| {
        Cursor::new('d', &[&last.at_us.to_string(), last.subject.did().as_str(), &last.subject.place()])
    }))
}

/// Decisions after a time and subject, the first one first, for an export.
pub(super) fn decisions_after(db: &Connection, after: (i64, &str, &str), limit: u32) -> Result<Vec<Decision>> {
    let sql = format!("{DECISION} WHERE (at_us, did, place) > (?1, ?2, ?3) ORDER BY at_us, did, place LIMIT ?4");
    any(db, &sql, (after.0, after.1, after.2, limit), decision)
}

fn label(row: &rusqlite::Row<'_>) -> Result<Label> {
    let (did, place, source): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let cid: Vec<u8> = row.get(4)?;
    let cid = (!cid.is_empty()).then(|| Cid::from_bytes(&cid).map_err(corrupt("a CID"))).transpose()?;
    Ok(Label {
        source: Did::parse(&source).map_err(corrupt("a labeler"))?,
        subject: Subject::of_columns(&did, &place)?,
        value: row.get(3)?,
        cid,
        at_us: row.get(5)?,
        until_ms: row.get(6)?,
        negated: row.get(7)?,
    })
}

const LABEL: &str = "SELECT l.did, l.place, l.source, l.value, l.cid, l.at_us, l.until_ms, l.negated FROM label l";

/// Labels after a [`Label::key`], for an export.
pub(super) fn labels_after(db: &Connection, after: [&str; 5], limit: u32) -> Result<Vec<Label>> {
    let sql = format!(
        "{LABEL} WHERE (l.did, l.place, l.source) >= (?1, ?2, ?3)
            AND (l.did, l.place, l.source, hex(l.cid), l.value) > (?1, ?2, ?3, ?4, ?5)
         ORDER BY l.did, l.place, l.source, hex(l.cid), l.value LIMIT ?6"
    );
    let [did, place, source, cid, value] = after;
    any(db, &sql, (did, place, source, cid, value, limit), label)
}

pub(super) fn labels(db: &Connection, subjects: &[Subject]) -> Result<Vec<Label>> {
    let sql = format!(
        "{LABEL} WHERE l.did = ?1 AND l.place = ?2 AND NOT l.negated
         AND (l.until_ms IS NULL OR l.until_ms > CAST(unixepoch('subsec') * 1000 AS INTEGER))
         AND (l.cid = x'' OR l.cid = (SELECT r.cid FROM record r WHERE r.account = (SELECT id FROM account WHERE did = ?1)
            AND r.collection = (SELECT id FROM collection WHERE nsid = substr(?2, 1, instr(?2, '/') - 1))
            AND r.rkey = substr(?2, instr(?2, '/') + 1)))
         ORDER BY l.source, l.value"
    );
    let mut labels = Vec::new();
    for subject in subjects {
        labels.extend(any(db, &sql, (subject.did().as_str(), subject.place()), label)?);
    }
    Ok(labels)
}

/// Keeps decisions and labels, or nothing of them.
pub(super) fn moderate(db: &mut Connection, moderation: &Moderation) -> Result<Moderated> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if let Some(fence) = &moderation.fence {
        hold(&tx, fence)?;
    }
    let mut moderated = Moderated::default();
    for decision in &moderation.decisions {
        let is_new = decide(&tx, decision)?;
        *(if is_new { &mut moderated.kept } else { &mut moderated.stale }) += 1;
    }
    for label in &moderation.labels {
        let is_known = "SELECT EXISTS (SELECT 1 FROM account WHERE did = ?1)";
        let is_wanted = moderation.is_restored
            || label.is_honoured()
            || tx.prepare_cached(is_known)?.query_row([label.subject.did().as_str()], |row| row.get(0))?;
        if !is_wanted {
            moderated.ignored += 1;
        } else if keep(&tx, label)? {
            moderated.kept += 1;
        } else {
            moderated.stale += 1;
        }
    }
    if let Some(at) = &moderation.cursor {
        tx.prepare_cached(
            "INSERT INTO cursor (source, cursor) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET cursor = excluded.cursor",
        )?
        .execute((&at.source, &at.cursor))?;
    }
    if moderated.kept > 0 {
        pulse(&tx)?;
    }
    tx.commit()?;
    Ok(moderated)
}

fn hold(tx: &Transaction<'_>, fence: &Fence) -> Result<()> {
    let sql = "SELECT epoch FROM lease WHERE name = ?1";
    let epoch: Option<i64> = tx.prepare_cached(sql)?.query_row([&fence.lease], |row| row.get(0)).optional()?;
    if epoch == Some(fence.epoch) { Ok(()) } else { Err(Error::Fenced) }
}

/// Says that answers may be others now.
fn pulse(tx: &Transaction<'_>) -> Result<()> {
    tx.execute("UPDATE pulse SET version = ?1", [new_version()?])?;
    Ok(())
}

/// Adds a decision to the log, and does what the last one on its subject says.
fn decide(tx: &Transaction<'_>, decision: &Decision) -> Result<bool> {
    let (did, place) = (decision.subject.did().as_str(), decision.subject.place());
    let is_new = tx
        .prepare_cached(
            "INSERT INTO decision (at_us, did, place, hide, reason, decided_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO NOTHING",
        )?
        .execute((decision.at_us, did, &place, decision.hide, &decision.reason, &decision.by))?
        > 0;
    tx.prepare_cached("DELETE FROM hidden WHERE did = ?1 AND place = ?2 AND source = ?3")?
        .execute((did, &place, HOST))?;
    tx.prepare_cached(
        "INSERT INTO hidden (did, place, source, value, cid) SELECT did, place, ?3, '', x'' FROM decision
         WHERE did = ?1 AND place = ?2 AND hide
         AND at_us = (SELECT max(at_us) FROM decision WHERE did = ?1 AND place = ?2)",
    )?
    .execute((did, &place, HOST))?;
    Ok(is_new)
}

/// Keeps a label, unless a later one on the same is known, and what follows from it.
fn keep(tx: &Transaction<'_>, label: &Label) -> Result<bool> {
    let did = label.subject.did().as_str();
    let cid: &[u8] = &label.cid.as_ref().map(|cid| cid.to_bytes().to_vec()).unwrap_or_default();
    let is_new =
        tx.prepare_cached(
            "INSERT INTO label (did, place, source, value, cid, at_us, until_ms, negated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT DO UPDATE SET at_us = excluded.at_us, until_ms = excluded.until_ms, negated = excluded.negated
             WHERE excluded.at_us >= at_us",
        )?
        .execute((
            did,
            label.subject.place(),
            label.source.as_str(),
            &label.value,
            cid,
            label.at_us,
            label.until_ms,
            label.negated,
        ))? > 0;
    if is_new && label.is_honoured() {
        let (hidden, places) = label.hides();
        let key = (did, &hidden, label.source.as_str(), &label.value, cid);
        tx.prepare_cached("DELETE FROM hidden WHERE (did, place, source, value, cid) = (?1, ?2, ?3, ?4, ?5)")?
            .execute(key)?;
        for place in &places {
            tx.prepare_cached(
                "INSERT INTO hidden (did, place, source, value, cid, until_ms)
                 SELECT did, ?2, source, value, cid, until_ms FROM label
                 WHERE did = ?1 AND place = ?6 AND source = ?3 AND value = ?4 AND cid = ?5 AND NOT negated
                 ON CONFLICT DO NOTHING",
            )?
            .execute((key.0, key.1, key.2, key.3, key.4, place))?;
        }
    }
    Ok(is_new)
}

pub(super) fn forget_labeler(db: &mut Connection, did: &Did, source: &str) -> Result<u64> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let forgotten = tx.execute("DELETE FROM label WHERE source = ?1", [did.as_str()])?;
    tx.execute("DELETE FROM hidden WHERE source = ?1", [did.as_str()])?;
    tx.execute("DELETE FROM cursor WHERE source = ?1", [source])?;
    pulse(&tx)?;
    tx.commit()?;
    Ok(forgotten as u64)
}

/// Honours what an account's own labels say now.
pub(super) fn follow_self_labels(db: &Connection, account: i64, profile: &Profile) -> Result<()> {
    let own = "DELETE FROM hidden WHERE source = 'self' AND did = (SELECT did FROM account WHERE id = ?1)";
    db.prepare_cached(own)?.execute([account])?;
    if let Some((source, value)) = of_self_labels(&profile.self_labels) {
        db.prepare_cached(
            "INSERT INTO hidden (did, place, source, value, cid) SELECT did, '', ?2, ?3, x'' FROM account WHERE id = ?1",
        )?
        .execute((account, source, value))?;
    }
    Ok(())
}

/// What is listed as hidden, counted once for each subject.
pub(super) fn count(db: &Connection) -> Result<u64> {
    let sql = "SELECT count(*) FROM (SELECT DISTINCT did, place FROM hidden_now)";
    Ok(db.query_row(sql, [], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

/// Where a conversation or record stands, for what is asked by address.
pub(super) fn why(row: &rusqlite::Row<'_>, column: usize) -> Result<Option<Hidden>> {
    row.get::<_, Option<String>>(column)?.map(|column| Hidden::of_column(&column)).transpose()
}
