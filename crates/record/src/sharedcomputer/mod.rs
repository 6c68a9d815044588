//! `network.sharedcomputer.chat.message`: one record a turn, which is read and not written. Source: the published lexicons.
//!
//! A message names the one before it. A reply's key is that message's and `.r` and the number of the attempt; attempts are told
//! apart by that number, as `.r10` stands before `.r2` by its letters.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use jiff::Timestamp;
use onrecord_lexicon::Rkey;
use onrecord_transcript::{
    Conversation, Grain, Harness, Message, Part, Role, Source, Warning, assemble, steps::summarise,
};
use serde_json::{Map, Value};

use crate::tiles::{list, text};

/// The collection.
pub const MESSAGE: &str = "network.sharedcomputer.chat.message";
const DEFS: &str = "network.sharedcomputer.chat.defs";

/// A conversation, and what of it cannot be shown.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The branch that goes through the message asked for, and on to its last end.
    pub conversation: Conversation,
    /// The ids of turns that are encrypted: they are in the conversation, empty, each with a warning.
    pub shut: HashSet<String>,
    /// Parts that this version does not know, as they are, with the key of their message.
    pub unknown: Vec<(Rkey, Value)>,
}

/// One message and where it stands.
struct Node<'a> {
    rkey: &'a Rkey,
    value: &'a Value,
    time: Option<Timestamp>,
    /// The key it replies under and the number of the attempt, of a reply.
    attempt: Option<(&'a str, u64)>,
}

impl<'a> Node<'a> {
    fn new(rkey: &'a Rkey, value: &'a Value) -> Self {
        let attempt = rkey.as_str().rsplit_once(".r").and_then(|(base, n)| {
            let digits = !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
            Some((base, n.parse().ok()?)).filter(|_| digits)
        });
        Self { rkey, value, time: text(value, "createdAt").and_then(|t| t.parse().ok()), attempt }
    }

    fn parent(&self) -> Option<&'a str> {
        text(self.value, "parent").or(self.attempt.map(|(base, _)| base))
    }

    /// Which of two siblings is the later one.
    fn later(&self, other: &Self) -> Ordering {
        match (self.attempt, other.attempt) {
            (Some((a, n)), Some((b, m))) if a == b => n.cmp(&m),
            _ => (self.time, self.rkey).cmp(&(other.time, other.rkey)),
        }
    }
}

/// The conversation among `messages` (records of one repository's collection) that `wanted` belongs to; `None` if that is not
/// among them. `id` is what it is called.
#[must_use]
pub fn read(messages: &[(Rkey, Value)], wanted: &Rkey, id: &str) -> Option<Reading> {
    let nodes: HashMap<&str, Node<'_>> =
        messages.iter().map(|(rkey, value)| (rkey.as_str(), Node::new(rkey, value))).collect();
    let mut children: HashMap<&str, Vec<&Node<'_>>> = HashMap::new();
    for node in nodes.values() {
        if let Some(parent) = node.parent().filter(|parent| *parent != node.rkey.as_str()) {
            children.entry(parent).or_default().push(node);
        }
    }
    for siblings in children.values_mut() {
        siblings.sort_by(|a, b| a.later(b));
    }
    let mut seen = HashSet::new();
    // Up to the first, then down to the last end; a message that is its own ancestor ends the way.
    let mut branch = Vec::new();
    let mut next = nodes.get(wanted.as_str());
    while let Some(node) = next.filter(|node| seen.insert(node.rkey)) {
        branch.push(node);
        next = node.parent().and_then(|parent| nodes.get(parent));
    }
    branch.reverse();
    while let Some(last) = branch.last() {
        let latest = children.get(last.rkey.as_str()).and_then(|siblings| siblings.last());
        match latest.and_then(|node| nodes.get(node.rkey.as_str())).filter(|node| seen.insert(node.rkey)) {
            Some(node) => branch.push(node),
            None => break,
        }
    }
    branch.first()?;
    Some(conversation(&branch, &children, id))
}

fn conversation(branch: &[&Node<'_>], children: &HashMap<&str, Vec<&Node<'_>>>, id: &str) -> Reading {
    let (mut shut, mut unknown, mut warnings) = (HashSet::new(), Vec::new(), Vec::new());
    let mut turns = Vec::new();
    let mut time = Timestamp::UNIX_EPOCH;
    for node in branch {
        time = node.time.unwrap_or(time);
        let role = if text(node.value, "role") == Some("user") { Role::User } else { Role::Assistant };
        let model = node.value.get("model").and_then(|model| Some((text(model, "provider")?, text(model, "id")?)));
        let content = node.value.get("content").unwrap_or(&Value::Null);
        let plain = content.get("parts").is_some();
        let parts = if plain { parts(content, node.rkey, &mut unknown) } else { Vec::new() };
        // A turn of nothing but what cannot be shown is a turn all the same.
        let parts = if parts.is_empty() { vec![Part::Text { text: String::new() }] } else { parts };
        let message = Message {
            id: Some(node.rkey.to_string()),
            role,
            created_at: time,
            model: model.filter(|_| role == Role::Assistant).map(|(provider, id)| format!("{provider}/{id}")),
            parts,
        };
        let Some(mut turn) =
            assemble([message], Grain::Turn, |tool, input| summarise(tool, input, None, None)).into_iter().next()
        else {
            continue;
        };
        turn.index = turns.len() + 1;
        let mut warn = |code, what: &str| {
            warnings.push(Warning { line: None, code, message: format!("turn {} {what}", turn.index) });
        };
        if !plain {
            shut.insert(turn.id.clone());
            warn("encrypted", "is encrypted and cannot be read");
        }
        match text(node.value, "status") {
            Some("pending") => warn("unfinished", "was still being written"),
            Some("error") => warn("unfinished", "ended in an error"),
            Some("cancelled") => warn("unfinished", "was broken off"),
            _ => {}
        }
        if let Some((base, _)) = node.attempt {
            let attempts = children.get(base).map_or(1, |all| all.iter().filter(|n| n.attempt.is_some()).count());
            if attempts > 1 {
                warn("other-attempts", &format!("is one of {attempts} attempts; the others are reached by their keys"));
            }
        }
        turns.push(turn);
    }
    if !unknown.is_empty() {
        let message = format!("{} parts of messages are of a kind that this version does not know", unknown.len());
        warnings.push(Warning { line: None, code: "unknown-part", message });
    }
    let conversation = Conversation {
        source: Source {
            harness: Harness::Atproto,
            id: id.to_owned(),
            path: None,
            version: None,
            cwd: None,
            parent: None,
        },
        title: None,
        title_is_prompt: false,
        created_at: turns.first().map_or(Timestamp::UNIX_EPOCH, |turn| turn.created_at),
        turns,
        warnings,
    };
    Reading { conversation, shut, unknown }
}

fn parts(content: &Value, rkey: &Rkey, unknown: &mut Vec<(Rkey, Value)>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for part in list(content, "parts") {
        let kind = text(part, "$type").and_then(|kind| kind.strip_prefix(DEFS)).unwrap_or_default();
        match kind {
            "#textPart" => parts.extend(text(part, "text").map(|text| Part::Text { text: text.to_owned() })),
            "#reasoningPart" => parts.extend(text(part, "text").map(|text| Part::Reasoning { text: text.to_owned() })),
            "#imagePart" => parts.push(image(part.get("image").unwrap_or(&Value::Null))),
            "#sourcePart" => parts.extend(text(part, "url").map(|url| {
                let title = text(part, "title").filter(|title| !title.trim().is_empty());
                Part::Text { text: title.map_or_else(|| url.to_owned(), |title| format!("{title}: {url}")) }
            })),
            "#toolCallPart" => parts.push(Part::ToolCall {
                id: text(part, "callId").unwrap_or_default().to_owned(),
                name: text(part, "tool").unwrap_or_default().to_owned(),
                input: text(part, "input").map_or(Value::Object(Map::new()), |json| {
                    serde_json::from_str(json).unwrap_or_else(|_| Value::from(json))
                }),
                output: None,
                failed: false,
            }),
            "#toolResultPart" if answer(&mut parts, part) => {}
            _ => unknown.push((rkey.clone(), part.clone())),
        }
    }
    parts
}

/// Puts a result into its call; whether there is one.
fn answer(parts: &mut [Part], result: &Value) -> bool {
    let wanted = text(result, "callId").unwrap_or_default();
    for part in parts {
        if let Part::ToolCall { id, output: output @ None, failed, .. } = part
            && id == wanted
        {
            *output = text(result, "output").map(str::to_owned);
            *failed = result.get("isError") == Some(&Value::Bool(true));
            return true;
        }
    }
    false
}

fn image(blob: &Value) -> Part {
    Part::Image {
        mime_type: text(blob, "mimeType").unwrap_or("image/*").to_owned(),
        bytes: blob.get("size").and_then(Value::as_u64).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;
