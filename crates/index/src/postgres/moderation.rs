//! What is hidden, and by whom.

use std::collections::HashMap;

use onrecord_lexicon::{Cid, Did};
use tokio_postgres::Row as SqlRow;

use super::{
    read::query,
    write::{Transaction, all, one, run, storable},
};
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

/// The tables: small beside the others, so each stands whole on one server, or on every one of a distributed database.
/// A place is `collection/key`, or nothing for a whole account.
pub(super) const MODERATION: &str = r#"
-- The host's decisions: rows are added and never changed.
CREATE TABLE decision (
    at_us BIGINT NOT NULL,
    did TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    hide BOOLEAN NOT NULL,
    reason TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    PRIMARY KEY (at_us, did, place)
);
CREATE INDEX decision_subject ON decision (did, place, at_us);

CREATE TABLE label (
    did TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    cid BYTEA NOT NULL,
    at_us BIGINT NOT NULL,
    until_ms BIGINT,
    negated BOOLEAN NOT NULL,
    PRIMARY KEY (did, place, source, value, cid)
);
CREATE INDEX label_source ON label (source);

-- What follows from both, and from what authors say of themselves. The source is a labeler, or 'self', or nothing for the host.
CREATE TABLE hidden (
    did TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    cid BYTEA NOT NULL,
    until_ms BIGINT,
    PRIMARY KEY (did, place, source, value, cid)
);
CREATE INDEX hidden_until ON hidden (until_ms) WHERE until_ms IS NOT NULL;

-- What of it holds now.
CREATE VIEW hidden_now AS SELECT h.did, h.place, h.source, h.value FROM hidden h
    WHERE (h.until_ms IS NULL OR h.until_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    AND (h.cid = '' OR EXISTS (
        SELECT 1 FROM record x WHERE x.did = h.did AND x.collection = split_part(h.place, '/', 1)
        AND x.rkey = split_part(h.place, '/', 2) AND x.cid = h.cid));

INSERT INTO hidden (did, place, source, value, cid)
    SELECT did, '', 'self', '!no-unauthenticated', '' FROM account
    WHERE profile::jsonb -> 'selfLabels' ? '!no-unauthenticated';
"#;

// Each is an alternative whose first half looks once into the table, and which no planner turns into a join: so the plans stay
// what they are without it.
macro_rules! shown {
    ($did:expr, $places:expr) => {
        concat!(
            "(NOT EXISTS (SELECT 1 FROM hidden) OR NOT EXISTS (
                SELECT 1 FROM hidden_now h WHERE h.did = ",
            $did,
            " AND h.place IN (",
            $places,
            ")))"
        )
    };
}
macro_rules! why {
    ($did:expr, $places:expr) => {
        concat!(
            "CASE WHEN EXISTS (SELECT 1 FROM hidden) THEN (
                SELECT h.source || ' ' || h.value FROM hidden_now h WHERE h.did = ",
            $did,
            " AND h.place IN (",
            $places,
            ") ORDER BY h.source <> '', h.value = '!no-unauthenticated', h.source, h.value LIMIT 1) END"
        )
    };
}

/// That the conversation `c` is not hidden.
pub(super) const CONVERSATION_SHOWN: &str = shown!("c.did", "'', c.place");
/// That the record `r` is not, nor the conversation it may belong to.
pub(super) const RECORD_SHOWN: &str = shown!("r.did", "'', r.collection || '/' || r.rkey, r.conversation");
/// That a turn `r` of a shown conversation is not.
pub(super) const TURN_SHOWN: &str = shown!("r.did", "r.collection || '/' || r.rkey");
/// Why the conversation is hidden, if it is, as [`Hidden::of_column`] reads it: of several reasons the host's, then a labeler's.
pub(super) const WHY_CONVERSATION: &str = why!("c.did", "'', c.place");
/// Why the record is.
pub(super) const WHY_RECORD: &str = why!("r.did", "'', r.collection || '/' || r.rkey, r.conversation");
/// Why the turn is, of a conversation that is not.
pub(super) const WHY_TURN: &str = why!("r.did", "r.collection || '/' || r.rkey");
/// The profile of the account `a`; without its name, if that is hidden.
pub(super) const PROFILE: &str = concat!(
    "CASE WHEN ",
    shown!("a.did", "'app.bsky.actor.profile/self'"),
    " THEN a.profile ELSE (a.profile::jsonb - 'displayName')::text END"
);
/// Whether anything is hidden at all.
pub(super) const ANYTHING: &str = "EXISTS (SELECT 1 FROM hidden)";

/// How much of what was hidden for a time is over.
pub(super) const EXPIRED: &str =
    "(SELECT count(*) FROM hidden WHERE until_ms <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint)";
/// What the host and labelers say of the account `a` and of anything of it, as one text.
pub(super) const MODERATED: &str = "CASE WHEN EXISTS (SELECT 1 FROM hidden) OR EXISTS (SELECT 1 FROM label) THEN
        concat((SELECT string_agg(h.place || ' ' || h.source || ' ' || h.value, ',' ORDER BY h.place, h.source, h.value)
            FROM hidden_now h WHERE h.did = a.did), ' ', (SELECT concat(count(*), ' ', sum(l.at_us)) FROM label l
            WHERE l.did = a.did
            AND (l.until_ms IS NULL OR l.until_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint))) END";

/// Turns hidden by themselves, with their place in the record table.
const HIDDEN_TURNS: &str = "hidden_now h JOIN record r ON r.did = h.did
    AND r.collection = split_part(h.place, '/', 1) AND r.rkey = split_part(h.place, '/', 2)";

/// Takes hidden turns out of what is said of conversations.
pub(super) async fn complete(tx: &Transaction<'_>, heads: &mut [ConversationHead]) -> Result<()> {
    let dids: Vec<&str> = heads.iter().map(|head| head.address.did.as_str()).collect();
    let sql = format!(
        "SELECT DISTINCT r.did, r.collection, r.rkey, r.rev, r.json, r.conversation FROM {HIDDEN_TURNS}
         WHERE h.did = ANY ($1) AND r.kind = $2 AND r.conversation IS NOT NULL"
    );
    let mut turns: HashMap<(String, String), Vec<Row>> = HashMap::new();
    for row in all(tx, &sql, &[&dids, &Kind::Turn.number()]).await? {
        turns.entry((row.try_get(0)?, row.try_get(5)?)).or_default().push(turn(&row)?);
    }
    for head in heads {
        let key = (
            head.address.did.to_string(),
            super::write::place(head.address.collection.as_str(), head.address.rkey.as_str()),
        );
        let Some(turns) = turns.get(&key) else { continue };
        let sql = "SELECT name, n FROM name_use WHERE did = $1 AND place = $2 AND kind = $3";
        let models = all(tx, sql, &[&key.0, &key.1, &NameKind::Model.number()]).await?;
        let models = models.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_>>()?;
        without(head, turns, models);
    }
    Ok(())
}

fn turn(row: &SqlRow) -> Result<Row> {
    row_of(&address(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)?, row.try_get(3)?, row.try_get(4)?)
}

/// What of the models or tools stands in hidden turns of shown conversations.
pub(super) async fn names_hidden(client: &deadpool_postgres::Object, of: NameOf) -> Result<HiddenNames> {
    let sql = format!(
        "SELECT DISTINCT r.did, r.collection, r.rkey, r.rev, r.json, r.conversation FROM {HIDDEN_TURNS}
         JOIN account a ON a.did = r.did JOIN conversation c ON c.did = r.did AND c.place = r.conversation
         WHERE r.kind = $1 AND c.present AND a.status = 0 AND {CONVERSATION_SHOWN}"
    );
    let mut turns = Vec::new();
    for row in query(client, &sql, &[&Kind::Turn.number()]).await? {
        let conversation = format!("{} {}", row.try_get::<_, &str>(0)?, row.try_get::<_, &str>(5)?);
        turns.push((conversation, turn(&row)?));
    }
    Ok(HiddenNames::of(&turns, of))
}

/// Takes `hidden` out of `names`.
pub(super) async fn names_shown(
    client: &deadpool_postgres::Object,
    hidden: &HiddenNames,
    names: Vec<Name>,
    of: NameOf,
    limit: u32,
) -> Result<Vec<Name>> {
    let mut uses = HashMap::new();
    for (conversation, name) in hidden.pairs() {
        let (did, place) = conversation.split_once(' ').ok_or(Error::Corrupt { what: "a conversation's place" })?;
        let sql = "SELECT n FROM name_use WHERE did = $1 AND place = $2 AND kind = $3 AND name = $4";
        let rows = query(client, sql, &[&did, &place, &of.kind().number(), &storable(name)]).await?;
        let n: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?;
        uses.insert((conversation.to_owned(), name.to_owned()), n.unwrap_or(0));
    }
    Ok(hidden.take_from(names, &uses, limit))
}

pub(super) async fn hides(client: &deadpool_postgres::Object, subject: &Subject) -> Result<Option<Hidden>> {
    // A turn is hidden with its conversation, which its record names.
    let sql = "SELECT h.source || ' ' || h.value FROM hidden_now h WHERE h.did = $1 AND h.place IN ('', $2, (
            SELECT r.conversation FROM record r WHERE r.did = $1 AND r.collection = split_part($2, '/', 1)
            AND r.rkey = split_part($2, '/', 2)))
        ORDER BY h.source <> '', h.value = '!no-unauthenticated', h.source, h.value LIMIT 1";
    let rows = query(client, sql, &[&subject.did().as_str(), &subject.place()]).await?;
    rows.first().map(|row| Hidden::of_column(row.try_get(0)?)).transpose()
}

pub(super) async fn hidden(
    client: &deadpool_postgres::Object,
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
        WHERE (h.did, h.place, h.source, h.value) > ($1, $2, $3, $4) AND ($6::text IS NULL OR h.did = $6)
        ORDER BY h.did, h.place, h.source, h.value LIMIT $5";
    let rows =
        query(client, sql, &[&did, &place, &source, &value, &(i64::from(limit) + 1), &of.map(Did::as_str)]).await?;
    let items = rows.iter().map(|row| {
        let columns: [&str; 4] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?];
        let [did, place, source, value] = columns;
        let subject = Subject::of_columns(did, place)?;
        let decision = row.try_get::<_, Option<i64>>(4)?.map(|at_us| {
            let (reason, by) = (row.try_get(5)?, row.try_get(6)?);
            Ok::<_, Error>(Decision { at_us, subject: subject.clone(), hide: true, reason, by })
        });
        let hidden = Hidden::of_column(&format!("{source} {value}"))?;
        Ok((HiddenSubject { subject, hidden, decision: decision.transpose()? }, columns))
    });
    let items = items.collect::<Result<Vec<_>>>()?;
    let page = Page::of(items, limit, |(_, columns)| Cursor::new('h', columns));
    Ok(Page { items: page.items.into_iter().map(|(item, _)| item).collect(), cursor: page.cursor })
}

fn decision(row: &SqlRow) -> Result<Decision> {
    Ok(Decision {
        at_us: row.try_get(0)?,
        subject: Subject::of_columns(row.try_get(1)?, row.try_get(2)?)?,
        hide: row.try_get(3)?,
        reason: row.try_get(4)?,
        by: row.try_get(5)?,
    })
}

const DECISION: &str = "SELECT at_us, did, place, hide, reason, decided_by FROM decision";

pub(super) async fn decisions(
    client: &deadpool_postgres::Object,
    after: Option<&Cursor>,
    limit: u32,
) -> Result<Page<Decision>> {
    let (at_us, did, place) = match after {
        Some(cursor) => {
            let [at_us, did, place] = cursor.parts('d')?;
            (at_us.parse::<i64>().map_err(corrupt_cursor)?, did, place)
        }
        None => (i64::MAX, "", ""),
    };
    let sql = format!(
        "{DECISION} WHERE (at_us, did, place) < ($1, $2, $3) ORDER BY at_us DESC, did DESC, place DESC LIMIT $4"
    );
    let rows = query(client, &sql, &[&at_us, &did, &place, &(i64::from(limit) + 1)]).await?;
    let items = rows.iter().map(decision).collect::<Result<Vec<_>>>()?;
    Ok(Page::of(items, limit, |last| {
        Cursor::new('d', &[&last.at_us.to_string(), last.subject.did().as_str(), &last.subject.place()])
    }))
}

/// Decisions after a time and subject, the first one first, for an export.
pub(super) async fn decisions_after(
    client: &deadpool_postgres::Object,
    (at_us, did, place): (i64, &str, &str),
    limit: u32,
) -> Result<Vec<Decision>> {
    let sql = format!("{DECISION} WHERE (at_us, did, place) > ($1, $2, $3) ORDER BY at_us, did, place LIMIT $4");
    query(client, &sql, &[&at_us, &did, &place, &i64::from(limit)]).await?.iter().map(decision).collect()
}

fn label(row: &SqlRow) -> Result<Label> {
    let cid: &[u8] = row.try_get(4)?;
    let cid = (!cid.is_empty()).then(|| Cid::from_bytes(cid).map_err(corrupt("a CID"))).transpose()?;
    Ok(Label {
        source: Did::parse(row.try_get(2)?).map_err(corrupt("a labeler"))?,
        subject: Subject::of_columns(row.try_get(0)?, row.try_get(1)?)?,
        value: row.try_get(3)?,
        cid,
        at_us: row.try_get(5)?,
        until_ms: row.try_get(6)?,
        negated: row.try_get(7)?,
    })
}

const LABEL: &str = "SELECT l.did, l.place, l.source, l.value, l.cid, l.at_us, l.until_ms, l.negated FROM label l";

/// Labels after a [`Label::key`], for an export.
pub(super) async fn labels_after(
    client: &deadpool_postgres::Object,
    [did, place, source, cid, value]: [&str; 5],
    limit: u32,
) -> Result<Vec<Label>> {
    let sql = format!(
        "{LABEL} WHERE (l.did, l.place, l.source) >= ($1, $2, $3)
            AND (l.did, l.place, l.source, upper(encode(l.cid, 'hex')) COLLATE \"C\", l.value) > ($1, $2, $3, $4, $5)
         ORDER BY l.did, l.place, l.source, upper(encode(l.cid, 'hex')) COLLATE \"C\", l.value LIMIT $6"
    );
    query(client, &sql, &[&did, &place, &source, &cid, &value, &i64::from(limit)]).await?.iter().map(label).collect()
}

pub(super) async fn labels(client: &deadpool_postgres::Object, subjects: &[Subject]) -> Result<Vec<Label>> {
    let dids: Vec<&str> = subjects.iter().map(|subject| subject.did().as_str()).collect();
    let places: Vec<String> = subjects.iter().map(Subject::place).collect();
    let sql = format!(
        "{LABEL} JOIN unnest($1::text[], $2::text[]) WITH ORDINALITY AS k (did, place, n)
            ON l.did = k.did AND l.place = k.place
         WHERE NOT l.negated AND (l.until_ms IS NULL OR l.until_ms > (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
         AND (l.cid = '' OR l.cid = (SELECT r.cid FROM record r WHERE r.did = k.did
            AND r.collection = split_part(k.place, '/', 1) AND r.rkey = split_part(k.place, '/', 2)))
         ORDER BY k.n, l.source, l.value"
    );
    query(client, &sql, &[&dids, &places]).await?.iter().map(label).collect()
}

/// Keeps decisions and labels, or nothing of them.
pub(super) async fn moderate(client: &mut deadpool_postgres::Object, moderation: &Moderation) -> Result<Moderated> {
    let tx = client.transaction().await?;
    if let Some(fence) = &moderation.fence {
        hold(&tx, fence).await?;
    }
    let mut moderated = Moderated::default();
    for decision in &moderation.decisions {
        let is_new = decide(&tx, decision).await?;
        *(if is_new { &mut moderated.kept } else { &mut moderated.stale }) += 1;
    }
    for label in &moderation.labels {
        let is_known = "SELECT 1 FROM account WHERE did = $1";
        let is_wanted = moderation.is_restored
            || label.is_honoured()
            || one(&tx, is_known, &[&label.subject.did().as_str()]).await?.is_some();
        if !is_wanted {
            moderated.ignored += 1;
        } else if keep(&tx, label).await? {
            moderated.kept += 1;
        } else {
            moderated.stale += 1;
        }
    }
    if let Some(at) = &moderation.cursor {
        let sql = "INSERT INTO cursor (source, cursor) VALUES ($1, $2)
            ON CONFLICT (source) DO UPDATE SET cursor = excluded.cursor";
        run(&tx, sql, &[&at.source, &at.cursor]).await?;
    }
    if moderated.kept > 0 {
        pulse(&tx).await?;
    }
    tx.commit().await?;
    Ok(moderated)
}

async fn hold(tx: &Transaction<'_>, fence: &Fence) -> Result<()> {
    let row = one(tx, "SELECT epoch FROM lease WHERE name = $1 FOR SHARE", &[&fence.lease]).await?;
    let epoch = row.map(|row| row.try_get::<_, i64>(0)).transpose()?;
    if epoch == Some(fence.epoch) { Ok(()) } else { Err(Error::Fenced) }
}

/// Says that answers may be others now.
async fn pulse(tx: &Transaction<'_>) -> Result<()> {
    run(tx, "UPDATE pulse SET version = $1", &[&new_version()?]).await?;
    Ok(())
}

/// Adds a decision to the log, and does what the last one on its subject says.
async fn decide(tx: &Transaction<'_>, decision: &Decision) -> Result<bool> {
    let (did, place) = (decision.subject.did().as_str(), decision.subject.place());
    // Two who decide on the same at once, one after the other.
    run(tx, "SELECT pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))", &[&did, &place]).await?;
    let sql = "INSERT INTO decision (at_us, did, place, hide, reason, decided_by) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT DO NOTHING";
    let (reason, by) = (storable(&decision.reason), storable(&decision.by));
    let is_new = run(tx, sql, &[&decision.at_us, &did, &place, &decision.hide, &reason, &by]).await? > 0;
    let sql = "DELETE FROM hidden WHERE did = $1 AND place = $2 AND source = $3";
    run(tx, sql, &[&did, &place, &HOST]).await?;
    let sql = "INSERT INTO hidden (did, place, source, value, cid) SELECT did, place, $3, '', '' FROM decision
        WHERE did = $1 AND place = $2 AND hide
        AND at_us = (SELECT max(at_us) FROM decision WHERE did = $1 AND place = $2)";
    run(tx, sql, &[&did, &place, &HOST]).await?;
    Ok(is_new)
}

/// Keeps a label, unless a later one on the same is known, and what follows from it.
async fn keep(tx: &Transaction<'_>, label: &Label) -> Result<bool> {
    let (did, source, value) = (label.subject.did().as_str(), label.source.as_str(), storable(&label.value));
    let cid: Vec<u8> = label.cid.as_ref().map(|cid| cid.to_bytes().to_vec()).unwrap_or_default();
    let sql = "INSERT INTO label (did, place, source, value, cid, at_us, until_ms, negated)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (did, place, source, value, cid) DO UPDATE SET at_us = excluded.at_us, until_ms = excluded.until_ms,
            negated = excluded.negated
        WHERE excluded.at_us >= label.at_us";
    let place = label.subject.place();
    let is_new =
        run(tx, sql, &[&did, &place, &source, &value, &cid, &label.at_us, &label.until_ms, &label.negated]).await? > 0;
    if is_new && label.is_honoured() {
        let (hidden, places) = label.hides();
        let sql = "DELETE FROM hidden WHERE did = $1 AND place = $2 AND source = $3 AND value = $4 AND cid = $5";
        run(tx, sql, &[&did, &hidden, &source, &value, &cid]).await?;
        let sql = "INSERT INTO hidden (did, place, source, value, cid, until_ms)
            SELECT did, $2, source, value, cid, until_ms FROM label
            WHERE did = $1 AND place = $6 AND source = $3 AND value = $4 AND cid = $5 AND NOT negated
            ON CONFLICT DO NOTHING";
        for place in &places {
            run(tx, sql, &[&did, &hidden, &source, &value, &cid, place]).await?;
        }
    }
    Ok(is_new)
}

pub(super) async fn forget_labeler(client: &mut deadpool_postgres::Object, did: &Did, stream: &str) -> Result<u64> {
    let tx = client.transaction().await?;
    let forgotten = run(&tx, "DELETE FROM label WHERE source = $1", &[&did.as_str()]).await?;
    run(&tx, "DELETE FROM hidden WHERE source = $1", &[&did.as_str()]).await?;
    run(&tx, "DELETE FROM cursor WHERE source = $1", &[&stream]).await?;
    pulse(&tx).await?;
    tx.commit().await?;
    Ok(forgotten)
}

/// Honours what an account's own labels say now.
pub(super) async fn follow_self_labels(tx: &Transaction<'_>, did: &Did, profile: &Profile) -> Result<()> {
    run(tx, "DELETE FROM hidden WHERE source = 'self' AND did = $1", &[&did.as_str()]).await?;
    if let Some((source, value)) = of_self_labels(&profile.self_labels) {
        let sql = "INSERT INTO hidden (did, place, source, value, cid) VALUES ($1, '', $2, $3, '')";
        run(tx, sql, &[&did.as_str(), &source, &value]).await?;
    }
    Ok(())
}
