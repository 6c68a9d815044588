//! Gemini CLI: one document, or rows that add to and change it. `docs/formats/gemini-cli.md` says more.

use std::{borrow::Cow, collections::HashMap, io::BufRead};

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::{
    Error, ParseOptions, Parsed,
    blocks::{self, arguments, gemini_result, output_of},
    claude_code::without,
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part, Role,
    input::read_objects,
    rows::{Object, Warnings},
};

/// Where the CLI begins to put in the files that a prompt names.
const FILES: &str = "--- Content from referenced files ---";

/// Kinds of messages that are the CLI's own words.
const NOTICES: [&str; 5] = ["info", "error", "warning", "quit", "about"];

/// Reads a session.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut session = Session::default();
    let bytes = read_objects(reader, &mut warnings, |line, object, _| session.object(line, object))?;
    let mut thread = Thread::new(session.started.unwrap_or(options.fallback_time));
    let recognised = session.recognised;
    let head = Head { id: session.id, title: session.summary, ..Head::default() };
    if session.is_subagent {
        thread.leave_out("subagent-session", None, "the conversation was begun by another agent, not by a person");
    }
    for (unknown, line) in session.unknown {
        for _ in 0..unknown {
            thread.unknown(line);
        }
    }
    for _ in 0..session.rewound {
        thread.leave_out("rolled-back", None, "messages were taken back by the person");
    }
    for message in session.messages.into_iter().flatten() {
        thread.say(Said {
            role: message.role,
            id: message.id,
            time: message.time,
            model: message.model,
            parts: message.parts,
        });
    }
    one(thread, Harness::GeminiCli, head, options, warnings, (bytes, recognised))
}

#[derive(Debug)]
struct Message {
    id: Option<String>,
    role: Role,
    time: Option<Timestamp>,
    model: Option<String>,
    parts: Vec<Part>,
}

#[derive(Default)]
struct Session {
    id: Option<String>,
    summary: Option<String>,
    started: Option<Timestamp>,
    is_subagent: bool,
    recognised: bool,
    /// By their place; `None` where a notice stands, so that a change of it finds it.
    messages: Vec<Option<Message>>,
    places: HashMap<String, usize>,
    unknown: Vec<(u64, Option<u64>)>,
    rewound: u64,
}

impl Session {
    fn object(&mut self, line: Option<u64>, object: &Object<'_>) {
        if let Some(changes) = object.object("$set") {
            self.recognised = true;
            self.head(&changes);
            if let Some(messages) = changes.array("messages") {
                // The whole list anew.
                self.messages.clear();
                self.places.clear();
                self.all(line, messages);
            }
        } else if let Some(id) = object.str("$rewindTo") {
            self.recognised = true;
            self.rewind(&id);
        } else if object.has("messages") && (object.has("sessionId") || object.has("projectHash") || is_ours(object)) {
            self.recognised = true;
            self.head(object);
            self.all(line, object.array("messages").unwrap_or_default());
        } else if object.has("type") && (object.has("id") || object.has("content")) {
            self.recognised |= object.str("type").as_deref() == Some("gemini");
            self.message(line, object);
        } else if object.has("sessionId") && (object.has("startTime") || object.has("projectHash")) {
            self.recognised = true;
            self.head(object);
        } else {
            self.unknown.push((1, line));
        }
    }

    fn head(&mut self, object: &Object<'_>) {
        let text = |key: &str| object.str(key).map(Cow::into_owned).filter(|text| !text.trim().is_empty());
        self.id = text("sessionId").or_else(|| self.id.take());
        self.summary = text("summary").or_else(|| self.summary.take());
        self.started = object.time("startTime").or(self.started);
        self.is_subagent |= object.str("kind").as_deref() == Some("subagent");
    }

    fn all(&mut self, line: Option<u64>, messages: Vec<&RawValue>) {
        for message in messages.into_iter().filter_map(Object::from_raw) {
            self.message(line, &message);
        }
    }

    /// A message, new or in the place of the one with its id.
    fn message(&mut self, line: Option<u64>, object: &Object<'_>) {
        let id = object.str("id").map(Cow::into_owned);
        let message = match object.str("type").as_deref() {
            Some("user") => Some((Role::User, None, prompt(object))),
            Some("gemini" | "model") => {
                let model = object.str("model").and_then(|model| named(None, &model, Some("google")));
                Some((Role::Assistant, model, answer(object)))
            }
            Some(kind) if NOTICES.contains(&kind) => None,
            _ => {
                self.unknown.push((1, line));
                None
            }
        };
        let time = object.time("timestamp");
        let message = message.map(|(role, model, parts)| Message { id: id.clone(), role, time, model, parts });
        let known = id.as_ref().and_then(|id| self.places.get(id)).and_then(|place| self.messages.get_mut(*place));
        match known {
            Some(slot) => *slot = message,
            None => {
                if let Some(id) = id {
                    self.places.insert(id, self.messages.len());
                }
                self.messages.push(message);
            }
        }
    }

    /// Takes the message of this id back, and what came after it.
    fn rewind(&mut self, id: &str) {
        let Some(place) = self.places.get(id).copied() else { return };
        for message in self.messages.drain(place..).flatten() {
            self.rewound += u64::from(!message.parts.is_empty());
        }
        self.places.retain(|_, known| *known < place);
    }
}

/// Whether one of the messages is an answer, as only this harness calls it.
fn is_ours(object: &Object<'_>) -> bool {
    let messages = object.array("messages").unwrap_or_default();
    messages.into_iter().filter_map(Object::from_raw).any(|message| message.str("type").as_deref() == Some("gemini"))
}

/// What the person typed: without the files that the CLI put behind it, and the context that it put in front.
fn prompt(object: &Object<'_>) -> Vec<Part> {
    let typed = object.get("displayContent").or_else(|| object.get("content"));
    let mut blocks = blocks::gemini(typed);
    if object.has("displayContent") {
        let images = blocks::gemini(object.get("content")).parts.into_iter();
        blocks.parts.extend(images.filter(|part| matches!(part, Part::Image { .. })));
    }
    for part in &mut blocks.parts {
        if let Part::Text { text } = part {
            if let Some(at) = text.find(FILES) {
                text.truncate(at);
            }
            *text = without(text, "session_context").trim().to_owned();
        }
    }
    blocks.parts
}

/// Thoughts, text, then calls: the order in which they came.
fn answer(object: &Object<'_>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for thought in object.array("thoughts").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        let said: Vec<Cow<'_, str>> = ["subject", "description"].iter().filter_map(|key| thought.str(key)).collect();
        parts.push(Part::Reasoning { text: said.join("\n\n") });
    }
    let mut blocks = blocks::gemini(object.get("content"));
    parts.append(&mut blocks.parts);
    for call in object.array("toolCalls").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        parts.push(tool_call(&call));
    }
    parts
}

fn tool_call(call: &Object<'_>) -> Part {
    let status = call.str("status");
    let mut failed = matches!(status.as_deref(), Some("error" | "cancelled"));
    let mut output: Option<String> = None;
    let results = match call.get("result") {
        Some(raw) => crate::rows::array_of(raw).unwrap_or_else(|| vec![raw]),
        None => Vec::new(),
    };
    for item in results {
        let said = match Object::from_raw(item).and_then(|item| item.object("functionResponse")) {
            Some(response) => {
                let result = gemini_result(&response);
                failed |= result.failed || result.output.as_deref().is_some_and(exit_code_says_so);
                result.output
            }
            None => output_of(Some(item)).0,
        };
        if let Some(said) = said.filter(|said| said != "null") {
            let output = output.get_or_insert_default();
            if !output.is_empty() {
                output.push('\n');
            }
            output.push_str(&said);
        }
    }
    if output.is_none() {
        output = call.str("resultDisplay").map(Cow::into_owned);
    }
    Part::ToolCall {
        id: call.str("id").unwrap_or_default().into_owned(),
        name: call.str("name").unwrap_or_default().into_owned(),
        input: arguments(call.get("args")),
        output,
        failed,
    }
}

/// Whether the shell's report, which has a line for each thing, says that the command failed.
fn exit_code_says_so(output: &str) -> bool {
    let is_report = output.starts_with("Command: ");
    let code = output.lines().rev().find_map(|line| line.strip_prefix("Exit Code: "));
    is_report && code.is_some_and(|code| code.trim().parse::<i64>().is_ok_and(|code| code != 0))
}
