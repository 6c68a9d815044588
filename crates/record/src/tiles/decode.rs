//! Snapshots to conversations.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use onrecord_lexicon::{Cid, Did, Handle, Rkey};
use onrecord_transcript::{
    Conversation, Grain, Harness, Message, Part, Role, Source, Turn, Warning, assemble, import::pi, steps::summarise,
};
use serde_json::{Map, Value};

use super::{FAILED, Form, Snapshot, WITHHELD, join_model, legacy};
use crate::{Family, Published};

/// Where a message stands in a snapshot: its turn, and its place in that.
pub(super) type Place = (usize, usize);

/// A snapshot as a conversation.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The conversation. The turns that its author held back are in it, empty, each with a warning.
    pub conversation: Conversation,
    /// The ids of the turns held back.
    pub held: HashSet<String>,
    /// The messages that each turn was made of, by its id.
    pub(super) places: HashMap<String, Vec<Place>>,
}

/// One message of a snapshot.
#[derive(Debug)]
pub(super) struct Piece {
    pub place: Place,
    pub message: Message,
    pub held: bool,
    /// Indices of its calls that have no result yet, with what they are called.
    open: Vec<usize>,
}

impl Piece {
    pub fn new(place: Place, role: Role, time: Timestamp, model: Option<String>, parts: Vec<Part>) -> Self {
        let calls = parts.iter().enumerate().filter(|(_, part)| matches!(part, Part::ToolCall { .. }));
        let open = calls.map(|(index, _)| index).collect();
        let id = Some(format!("t{}m{}", place.0, place.1));
        Self { place, message: Message { id, role, created_at: time, model, parts }, held: false, open }
    }
}

/// What could not be understood, counted.
#[derive(Debug, Default)]
pub(super) struct Strange {
    parts: u64,
    roles: u64,
    system: u64,
}

impl Strange {
    fn warnings(&self) -> Vec<Warning> {
        [
            (self.parts, "unknown-part", "parts of messages are of a kind that this version does not know"),
            (self.roles, "unknown-role", "messages are of somebody that this version does not know"),
            (self.system, "system-prompt", "system prompts are not shown"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, code, what)| Warning { line: None, code, message: format!("{count} {what}") })
        .collect()
    }
}

/// Reads a snapshot; `id` is what the conversation is called, e.g. its at-uri.
#[must_use]
pub fn read(snapshot: &Snapshot, id: &str) -> Reading {
    let mut strange = Strange::default();
    let value = &snapshot.value;
    let (name, started, pieces) = match snapshot.form {
        Form::Legacy => legacy::read(value),
        Form::Public | Form::Private => {
            let started = text(value, "createdAt").and_then(|t| t.parse().ok());
            (text(value, "name"), started, pieces(value, started.unwrap_or(Timestamp::UNIX_EPOCH), &mut strange))
        }
    };
    let (turns, held, places) = turns(pieces);
    let mut warnings: Vec<Warning> = turns
        .iter()
        .filter(|turn| held.contains(&turn.id))
        .map(|turn| Warning {
            line: None,
            code: "withheld",
            message: format!("turn {} was held back by the author", turn.index),
        })
        .collect();
    warnings.extend(strange.warnings());
    let first = turns.first().map(|turn| turn.created_at).filter(|time| *time != Timestamp::UNIX_EPOCH);
    let conversation = Conversation {
        source: Source {
            harness: Harness::Atproto,
            id: id.to_owned(),
            path: None,
            version: None,
            cwd: None,
            parent: None,
        },
        title: name.filter(|name| !name.is_empty()).map(str::to_owned),
        title_is_prompt: false,
        created_at: first.or(started).unwrap_or(Timestamp::UNIX_EPOCH),
        turns,
        warnings,
    };
    Reading { conversation, held, places }
}

fn pieces(value: &Value, started: Timestamp, strange: &mut Strange) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut time = started;
    for (t, turn) in list(value, "turns").iter().enumerate() {
        let model = join_model(text(turn, "provider"), text(turn, "model"));
        for (m, message) in list(turn, "messages").iter().enumerate() {
            time = message.get("timestamp").and_then(moment).unwrap_or(time);
            let held = list(message, "content").iter().any(|item| text(item, "type") == Some(WITHHELD));
            let (role, parts) = match text(message, "role") {
                Some("user") => (Role::User, parts(message, Role::User, strange)),
                Some("assistant") => (Role::Assistant, parts(message, Role::Assistant, strange)),
                Some("toolResult") => {
                    result(&mut pieces, message);
                    continue;
                }
                Some("system") => {
                    strange.system += 1;
                    continue;
                }
                _ => {
                    strange.roles += 1;
                    continue;
                }
            };
            let model = model.clone().filter(|_| role == Role::Assistant && !held);
            let parts = if held { vec![Part::Text { text: String::new() }] } else { parts };
            let piece = Piece::new((t, m), role, time, model, parts);
            pieces.push(Piece { held, ..piece });
        }
    }
    pieces
}

fn parts(message: &Value, role: Role, strange: &mut Strange) -> Vec<Part> {
    let said = |text: &str| match role {
        Role::User => pi::words(text),
        Role::Assistant => text.to_owned(),
    };
    let mut parts = Vec::new();
    // pi has a prompt's content as text too.
    if let Some(text) = text(message, "content") {
        parts.push(Part::Text { text: said(text) });
    }
    for item in list(message, "content") {
        match text(item, "type") {
            Some("text") => {
                parts.extend(text(item, "text").map(|text| Part::Text { text: said(text) }));
            }
            Some("thinking") => {
                parts.extend(text(item, "thinking").map(|text| Part::Reasoning { text: text.to_owned() }));
            }
            Some("toolCall") => parts.push(Part::ToolCall {
                id: text(item, "id").or_else(|| text(item, "callId")).unwrap_or_default().to_owned(),
                name: text(item, "name").unwrap_or_default().to_owned(),
                input: arguments(item),
                output: None,
                failed: false,
            }),
            Some("image") => {
                parts.push(Part::Image { mime_type: text(item, "mimeType").unwrap_or("image/*").to_owned(), bytes: 0 });
            }
            Some(WITHHELD) => {}
            _ => strange.parts += 1,
        }
    }
    parts
}

/// A call's arguments: an object written as text, as Tiles writes it, or one as it is.
fn arguments(item: &Value) -> Value {
    match item.get("arguments") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(Value::String(json)) => serde_json::from_str(json).unwrap_or_else(|_| Value::from(json.as_str())),
        Some(other) => other.clone(),
    }
}

/// Puts what a tool gave back into the call it answers: the one it names, else the first open one of that tool.
fn result(pieces: &mut [Piece], message: &Value) {
    let Some(piece) = pieces.iter_mut().rev().find(|p| p.message.role == Role::Assistant || !p.open.is_empty()) else {
        return;
    };
    let (id, name) = (text(message, "toolCallId"), text(message, "toolName"));
    let at = |index: &usize, fits: &dyn Fn(&str, &str) -> bool| match piece.message.parts.get(*index) {
        Some(Part::ToolCall { id, name, .. }) => fits(id, name),
        _ => false,
    };
    let has_failed = message.get("isError") == Some(&Value::Bool(true));
    let answered = piece
        .open
        .iter()
        .position(|i| at(i, &|call, _| id.is_some_and(|id| !id.is_empty() && id == call)))
        .or_else(|| piece.open.iter().position(|i| at(i, &|_, tool| name.is_none_or(|name| name == tool))));
    let Some(position) = answered else { return };
    let index = piece.open.remove(position);
    let said: Vec<&str> = list(message, "content").iter().filter_map(|item| text(item, "text")).collect();
    let said = said.join("\n");
    if let Some(Part::ToolCall { output, failed, .. }) = piece.message.parts.get_mut(index) {
        *failed = has_failed;
        *output = Some(said).filter(|said| !(has_failed && said == FAILED));
    }
}

/// Turns of `pieces`; one that was held back stands alone. With them, what was held back, and what each turn is made of.
fn turns(pieces: Vec<Piece>) -> (Vec<Turn>, HashSet<String>, HashMap<String, Vec<Place>>) {
    let mut turns: Vec<Turn> = Vec::new();
    let (mut held, mut places) = (HashSet::new(), HashMap::new());
    let mut run: Vec<Piece> = Vec::new();
    let mut close = |run: &mut Vec<Piece>| {
        let at: Vec<_> = run.iter().map(|piece| (piece.message.id.clone().unwrap_or_default(), piece.place)).collect();
        held.extend(run.iter().filter(|piece| piece.held).filter_map(|piece| piece.message.id.clone()));
        let messages = run.drain(..).map(|piece| piece.message);
        let assembled = assemble(messages, Grain::Turn, |tool, input| summarise(tool, input, None, None));
        let starts: HashSet<&str> = assembled.iter().map(|turn| turn.id.as_str()).collect();
        let mut current = String::new();
        for (id, place) in at {
            if starts.contains(id.as_str()) {
                current.clone_from(&id);
            }
            places.entry(current.clone()).or_insert_with(Vec::new).push(place);
        }
        turns.extend(assembled);
    };
    for piece in pieces {
        let alone = piece.held;
        if alone {
            close(&mut run);
        }
        run.push(piece);
        if alone {
            close(&mut run);
        }
    }
    close(&mut run);
    for (index, turn) in (1..).zip(&mut turns) {
        turn.index = index;
    }
    (turns, held, places)
}

/// What `reading` says, as pages show it: a message for every turn, under keys that are its places.
///
/// # Errors
/// None in practice: the keys are made here.
pub fn published(
    repo: &Did,
    handle: Option<Handle>,
    family: Family,
    rkey: Rkey,
    cid: &Cid,
    reading: &Reading,
) -> Result<Published, crate::Error> {
    let key = |turn: &Turn| Rkey::parse(&format!("turn-{}", turn.index));
    let published = Published::of_reading(repo, handle, (family, rkey, cid), &reading.conversation, key)?;
    Ok(published.with_withheld(|index| {
        reading.conversation.turns.get(index).is_some_and(|turn| reading.held.contains(&turn.id))
    }))
}

/// A time in milliseconds since 1970; one too small for that is taken for seconds, which some programs write.
pub(super) fn moment(value: &Value) -> Option<Timestamp> {
    /// The year 1973 in milliseconds, and a far future in seconds.
    const SMALLEST_MS: i64 = 100_000_000_000;
    #[expect(clippy::cast_possible_truncation, reason = "a float beyond all integers becomes the nearest one")]
    let number = value.as_i64().or_else(|| value.as_f64().map(|n| n as i64))?;
    if number.abs() < SMALLEST_MS {
        return Timestamp::from_second(number).ok();
    }
    Timestamp::from_millisecond(number).ok()
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
