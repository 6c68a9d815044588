//! The families of records: which are kept, and what each says.

use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Nsid, Rkey, Tid};
use onrecord_record::{
    MessageRecord, SessionRecord,
    aligned::{MESSAGE, SESSION},
    tiles::{self, LEGACY, SNAPSHOT, Snapshot, is_encrypted},
};
use serde_json::Value;

use crate::{
    account::Profile,
    change::Address,
    row::{Kind, NameKind, Row, Tally},
    terms::{Mark, Terms},
};

/// A collective's list.
pub const MEMBER: &str = "click.aligned.chat.member";
/// Lexicons that are published.
pub const SCHEMA: &str = "com.atproto.lexicon.schema";
/// What an account says of itself.
pub const PROFILE: &str = "app.bsky.actor.profile";
/// How much of an account is automated.
pub const AUTONOMY: &str = "studio.voyager.account.autonomy";

/// A turn of a conversation in which each turn names the one before it.
const SHARED: &str = "network.sharedcomputer.chat.message";

/// Records of agents of which nothing is known but that they are.
const NOTES: [&str; 5] = [
    "chat.atagents.agent.message",
    "at.ellich.agent.message",
    "ai.syui.log.chat",
    "stream.thought.",
    "network.comind.",
];
/// How much of a record of unknown shape is searchable, in bytes.
const MAX_NOTE: usize = 100_000;

/// Most models and tools of one record that are counted.
const MAX_NAMES: usize = 1_000;
/// Longest name of one, in bytes, as long as the lexicon's longest: a longer one is known by its beginning.
const MAX_NAME: usize = 320;
/// Most records and accounts that a record of unknown shape is found by.
const MAX_ABOUT: usize = 1_000;

/// A family of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Session,
    Message,
    Member,
    Schema,
    Profile,
    Autonomy,
    Tiles,
    Shared,
    Note,
}

/// The family of a collection; `None` if its records are not kept.
pub(crate) fn family(collection: &str) -> Option<Family> {
    Some(match collection {
        SESSION => Family::Session,
        MESSAGE => Family::Message,
        MEMBER => Family::Member,
        SCHEMA => Family::Schema,
        PROFILE => Family::Profile,
        AUTONOMY => Family::Autonomy,
        SNAPSHOT | LEGACY => Family::Tiles,
        SHARED => Family::Shared,
        // A name that ends in a dot stands for all below it.
        _ if NOTES.iter().any(|n| collection == *n || (n.ends_with('.') && collection.starts_with(n))) => Family::Note,
        _ => return None,
    })
}

/// Under which name refusals of a collection's records are counted: its own, or for those that are kept for how their names
/// begin that beginning, as there is no end of these.
pub(crate) fn counted_as(collection: &str) -> &str {
    match family(collection) {
        Some(Family::Note) => NOTES.into_iter().find(|note| collection.starts_with(note)).unwrap_or_default(),
        Some(_) => collection,
        None => "",
    }
}

/// Why a valid record is nothing the index can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// A message that names a session of another account, or by a name that may change hands.
    ForeignSession,
    /// A value that the schema allows and our reading of it does not.
    Unreadable,
}

/// What follows from `record`, which is valid, standing at `address` since `rev`.
pub(crate) fn derive(family: Family, address: &Address, rev: &Tid, record: &Value) -> Result<Row, Misfit> {
    let mut row = blank(address, rev);
    match family {
        Family::Session => session(&mut row, address, read(record)?),
        Family::Message => message(&mut row, address, read(record)?)?,
        Family::Member => {
            row.kind = Kind::Member;
            if let Some(subject) = string(record, "subject") {
                row.terms.mark(Mark::About, subject);
            }
        }
        Family::Schema => {
            row.kind = Kind::Schema;
            row.terms.text(address.rkey.as_str());
            note(&mut row, record);
        }
        Family::Profile => {
            row.kind = Kind::Profile;
            row.profile = Some(profile(record));
        }
        Family::Autonomy => {
            row.kind = Kind::Profile;
            let level = string(record, "automationLevel");
            row.profile = Some(Profile { autonomy: level.map(|l| cut(l, 64).to_owned()), ..Profile::default() });
        }
        Family::Tiles => snapshot(&mut row, address, record)?,
        Family::Shared => shared(&mut row, record),
        Family::Note => {
            let created = string(record, "createdAt").and_then(|t| Datetime::parse(t).ok());
            happened(&mut row, created.as_ref());
            note(&mut row, record);
        }
    }
    Ok(row)
}

fn blank(address: &Address, rev: &Tid) -> Row {
    let now_us = i64::try_from(rev.micros()).unwrap_or(i64::MAX);
    let key = Tid::parse(address.rkey.as_str()).ok().and_then(|tid| i64::try_from(tid.micros()).ok());
    Row {
        kind: Kind::Note,
        conversation: None,
        at_ms: now_us / 1000,
        published_us: key.unwrap_or(now_us).min(now_us),
        opens: false,
        title: None,
        tally: Tally::default(),
        names: Vec::new(),
        terms: Terms::default(),
        profile: None,
    }
}

fn read<'v, T: serde::Deserialize<'v>>(record: &'v Value) -> Result<T, Misfit> {
    T::deserialize(record).map_err(|_| Misfit::Unreadable)
}

/// A time that an author claims counts up to that of the revision.
fn happened(row: &mut Row, created: Option<&Datetime>) {
    if let Some(created) = created {
        row.at_ms = created.timestamp().as_millisecond().clamp(0, row.at_ms);
    }
}

fn session(row: &mut Row, address: &Address, record: SessionRecord) {
    row.kind = Kind::Conversation;
    row.conversation = Some((address.collection.clone(), address.rkey.clone()));
    happened(row, Some(&record.created_at));
    for text in [&record.title, &record.description].into_iter().flatten() {
        row.terms.text(text);
    }
    if let Some(discussion) = &record.discussion {
        about(&mut row.terms, discussion);
    }
    row.title = record.title.filter(|title| !title.trim().is_empty());
}

fn message(row: &mut Row, address: &Address, record: MessageRecord) -> Result<(), Misfit> {
    let session = &record.session;
    if session.authority() != address.did.as_str() || session.collection() != Some(SESSION) {
        return Err(Misfit::ForeignSession);
    }
    let rkey = session.rkey().and_then(|rkey| Rkey::parse(rkey).ok()).ok_or(Misfit::ForeignSession)?;
    let collection = Nsid::parse(SESSION).map_err(|_| Misfit::ForeignSession)?;
    row.kind = Kind::Turn;
    row.conversation = Some((collection, rkey));
    happened(row, Some(&record.created_at));
    row.tally.turns = 1;
    if record.withheld {
        // Whatever else it holds is not for readers.
        row.tally.withheld = 1;
        row.terms.mark(Mark::Withheld, "");
        return Ok(());
    }
    row.opens = record.role == "user" && !record.text.trim().is_empty();
    row.terms.text(&record.text);
    if let Some(model) = record.model {
        spoke(row, &model);
    }
    for step in record.steps {
        called(row, &step.tool, step.summary.as_deref(), step.failed);
    }
    if row.tally.failed > 0 {
        row.terms.mark(Mark::Failed, "");
    }
    for target in &record.refs {
        about(&mut row.terms, &target.uri);
    }
    for did in &record.mentions {
        row.terms.mark(Mark::About, did.as_str());
    }
    Ok(())
}

/// A record that is meant, and with it the account it is of.
fn about(terms: &mut Terms, uri: &AtUri) {
    terms.mark(Mark::About, uri.as_str());
    if uri.collection().is_some() && uri.authority().starts_with("did:") {
        terms.mark(Mark::About, uri.authority());
    }
}

/// A model spoke: it is found by its whole name, and without its provider.
fn spoke(row: &mut Row, model: &str) {
    let (is_new, terms) = (counted(&mut row.names, NameKind::Model, model), &mut row.terms);
    if is_new {
        terms.mark(Mark::Model, model);
        if let Some((_, name)) = model.split_once('/') {
            terms.mark(Mark::Model, name);
        }
    }
}

/// A tool was called.
fn called(row: &mut Row, tool: &str, summary: Option<&str>, failed: bool) {
    row.tally.steps += 1;
    row.tally.failed += i64::from(failed);
    row.terms.text(tool);
    if let Some(summary) = summary {
        row.terms.text(summary);
    }
    if counted(&mut row.names, NameKind::Tool, tool) {
        row.terms.mark(Mark::Tool, tool);
    }
}

/// Counts a name, and says whether it is the first time. Of very many in one record the first are counted.
fn counted(names: &mut Vec<(NameKind, String, i64)>, of: NameKind, name: &str) -> bool {
    let name = cut(name, MAX_NAME);
    if let Some((_, _, count)) = names.iter_mut().find(|(kind, known, _)| *kind == of && *known == name) {
        *count += 1;
        return false;
    }
    if names.len() >= MAX_NAMES {
        return false;
    }
    names.push((of, name.to_owned(), 1));
    true
}

/// A whole conversation in one record. An encrypted one is known to be there, and nothing else.
fn snapshot(row: &mut Row, address: &Address, record: &Value) -> Result<(), Misfit> {
    row.terms.mark(Mark::Harness, "tiles");
    if is_encrypted(record) {
        return Ok(());
    }
    let reading = read_snapshot(address, record).ok_or(Misfit::Unreadable)?;
    row.kind = Kind::Conversation;
    row.conversation = Some((address.collection.clone(), address.rkey.clone()));
    row.at_ms = reading.conversation.created_at.as_millisecond().clamp(0, row.at_ms);
    if let Some(title) = reading.conversation.title.filter(|title| !title.trim().is_empty()) {
        row.terms.text(&title);
        row.title = Some(title);
    }
    for turn in reading.conversation.turns {
        row.tally.turns += 1;
        if reading.held.contains(&turn.id) {
            row.tally.withheld += 1;
            continue;
        }
        row.terms.text(&turn.text);
        for step in turn.steps() {
            called(row, &step.tool, Some(&step.summary), step.failed);
        }
        if let Some(model) = turn.model {
            spoke(row, &model);
        }
    }
    for (mark, count) in [(Mark::Withheld, row.tally.withheld), (Mark::Failed, row.tally.failed)] {
        if count > 0 {
            row.terms.mark(mark, "");
        }
    }
    Ok(())
}

/// What a snapshot says; `None` of one that is encrypted or is none.
pub(crate) fn read_snapshot(address: &Address, record: &Value) -> Option<tiles::Reading> {
    let collection = address.collection.as_str();
    if !matches!(collection, SNAPSHOT | LEGACY) {
        return None;
    }
    let snapshot = Snapshot::open(collection, record.clone(), None).ok()?;
    Some(tiles::read(&snapshot, &address.uri()))
}

/// A turn that stands for itself: which it follows says its key alone.
fn shared(row: &mut Row, record: &Value) {
    row.terms.mark(Mark::Harness, "sharedcomputer");
    let created = string(record, "createdAt").and_then(|t| Datetime::parse(t).ok());
    happened(row, created.as_ref());
    if let Some(model) = record.get("model") {
        let model = string(model, "provider").zip(string(model, "id")).map(|(by, id)| format!("{by}/{id}"));
        if let Some(model) = model {
            spoke(row, &model);
        }
    }
    // An encrypted one has no parts.
    let parts = record.get("content").and_then(|content| content.get("parts")).and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        let kind = string(part, "$type").and_then(|kind| kind.rsplit('#').next());
        match (kind, string(part, "text"), string(part, "tool")) {
            (Some("textPart"), Some(text), _) => row.terms.text(text),
            (Some("toolCallPart"), _, Some(tool)) => called(row, tool, None, false),
            _ => {}
        }
    }
}

fn profile(record: &Value) -> Profile {
    let labels = record.get("labels").and_then(|labels| labels.get("values")).and_then(Value::as_array);
    let labels = labels.into_iter().flatten().filter_map(|label| string(label, "val"));
    let mut labels: Vec<_> = labels.take(10).map(|label| cut(label, 128).to_owned()).collect();
    labels.sort();
    labels.dedup();
    Profile {
        display_name: string(record, "displayName")
            .map(|name| cut(name.trim(), 640).to_owned())
            .filter(|n| !n.is_empty()),
        self_labels: labels,
        autonomy: None,
    }
}

/// All text of a record of unknown shape, and all it points at.
fn note(row: &mut Row, record: &Value) {
    let (mut left, mut marks) = (MAX_NOTE, MAX_ABOUT);
    let mut todo = vec![record];
    while let Some(value) = todo.pop() {
        match value {
            Value::String(text) => {
                if let Ok(uri) = AtUri::parse(text) {
                    if marks > 0 {
                        about(&mut row.terms, &uri);
                    }
                    marks = marks.saturating_sub(1);
                } else if Did::parse(text).is_ok() {
                    if marks > 0 {
                        row.terms.mark(Mark::About, text);
                    }
                    marks = marks.saturating_sub(1);
                } else if Datetime::parse(text).is_err() && Cid::parse(text).is_err() {
                    let kept = cut(text, left);
                    left -= kept.len();
                    row.terms.text(kept);
                }
            }
            // A stack turns the order around.
            Value::Array(items) => todo.extend(items.iter().rev()),
            Value::Object(fields) => todo.extend(fields.iter().rev().filter(|(k, _)| *k != "$type").map(|(_, v)| v)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn string<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// The start of `text`, of at most `max` bytes.
fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}
