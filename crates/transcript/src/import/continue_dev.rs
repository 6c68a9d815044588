//! Continue: a document for each session. `docs/formats/continue.md` says more.

use std::{borrow::Cow, io::BufRead};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{Blocks, ToolResult, call, output_of},
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part,
    input::documents::read_values,
    rows::{Object, Warnings},
};

/// Reads a session.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut head = Head::default();
    let mut recognised = false;
    let bytes = read_values(reader, &mut warnings, |raw, _| {
        let Some(object) = Object::from_raw(raw).filter(|object| object.has("history")) else { return };
        recognised = true;
        let text = |key: &str| object.str(key).map(Cow::into_owned).filter(|text| !text.is_empty());
        head.id = text("sessionId");
        head.title = text("title").filter(|title| !matches!(title.as_str(), "New Session" | "Untitled Session"));
        head.cwd = text("workspaceDirectory").map(|cwd| cwd.strip_prefix("file://").unwrap_or(&cwd).to_owned());
        // A title of a model that has blanks in it is a person's name for it.
        let usual = text("chatModelTitle").filter(|title| !title.contains(char::is_whitespace));
        for item in object.array("history").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
            say(&mut thread, &item, usual.as_deref());
        }
    })?;
    one(thread, Harness::Continue, head, options, warnings, (bytes, recognised))
}

fn say(thread: &mut Thread, item: &Object<'_>, usual: Option<&str>) {
    let message = item.object("message").unwrap_or_default();
    let blocks = Blocks::of(message.get("content"));
    let id = message.str("id").map(Cow::into_owned);
    match message.str("role").as_deref() {
        Some("user") => thread.say(Said::user(blocks.parts).id(id)),
        Some("thinking") => {
            let thoughts = blocks.parts.into_iter().map(|part| match part {
                Part::Text { text } => Part::Reasoning { text },
                part => part,
            });
            thread.say(Said::agent(None, thoughts.collect()).id(id));
        }
        Some("assistant") => {
            let mut parts = Vec::new();
            let reasoning = item.object("reasoning").and_then(|reasoning| Some(reasoning.str("text")?.into_owned()));
            parts.extend(reasoning.map(|text| Part::Reasoning { text }));
            parts.extend(blocks.parts);
            let calls = message.array("toolCalls").unwrap_or_default().into_iter().filter_map(Object::from_raw);
            parts.extend(calls.map(|item| call(&item)));
            let logs = item.array("promptLogs").unwrap_or_default();
            let logged = logs.into_iter().filter_map(Object::from_raw).find_map(|log| {
                let options = log.object("completionOptions");
                options.and_then(|options| Some(options.str("model")?.into_owned()))
            });
            let model = logged.as_deref().or(usual).and_then(|model| named(None, model, None));
            thread.say(Said::agent(model, parts).id(id));
            for state in item.array("toolCallStates").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
                result(thread, &state);
            }
        }
        // The same once more, in the words that the model was given.
        Some("tool") => {
            let call_id = message.str("toolCallId").unwrap_or_default().into_owned();
            if thread.awaits(&call_id) {
                let output = output_of(message.get("content")).0;
                thread.result(ToolResult { call_id, output, failed: false, images: Vec::new() });
            }
        }
        Some("system") => {}
        _ => thread.unknown(None),
    }
}

fn result(thread: &mut Thread, state: &Object<'_>) {
    let status = state.str("status").unwrap_or_default();
    if !matches!(status.as_ref(), "done" | "errored" | "canceled") {
        return;
    }
    let texts: Vec<String> = state
        .array("output")
        .unwrap_or_default()
        .into_iter()
        .filter_map(|item| Some(Object::from_raw(item)?.str("content")?.into_owned()))
        .collect();
    let call_id = state.str("toolCallId").unwrap_or_default().into_owned();
    if thread.awaits(&call_id) {
        let output = (!texts.is_empty()).then(|| texts.join("\n"));
        thread.result(ToolResult { call_id, output, failed: status != "done", images: Vec::new() });
    }
}
