//! Lists of messages as OpenAI's interfaces take them, and the formats made after them. `docs/formats/openai.md` says more.

use std::{borrow::Cow, io::BufRead};

use serde_json::value::RawValue;

use super::{
    Error, ParseOptions, Parsed,
    blocks::{self, Blocks, ToolResult, first_str, output_of},
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part, Role,
    input::read_objects,
    rows::{Object, Warnings},
};

/// Reads messages of the chat interface: a list, rows, or a request that holds them.
///
/// # Errors
/// As [`super::parse`].
pub fn parse_chat(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut head = Head::default();
    let mut recognised = false;
    let bytes = read_objects(reader, &mut warnings, |line, object, _| {
        if let Some(messages) = object.array("messages") {
            if recognised {
                thread.leave_out("other-conversations", line, "conversations behind the first were left out");
                return;
            }
            recognised = true;
            head.id = object.str("id").map(Cow::into_owned);
            head.title = object.str("title").map(Cow::into_owned);
            let model = model_of(object);
            for inner in messages.into_iter().filter_map(Object::from_raw) {
                message(&mut thread, &inner, model.as_deref());
            }
        } else if object.has("role") {
            recognised = true;
            message(&mut thread, object, None);
        } else {
            thread.unknown(line);
        }
    })?;
    one(thread, Harness::OpenAiChat, head, options, warnings, (bytes, recognised))
}

/// Reads items of the Responses interface: a list, or a response that holds them.
///
/// # Errors
/// As [`super::parse`].
pub fn parse_responses(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut head = Head::default();
    let mut recognised = false;
    let mut model = None;
    let bytes = read_objects(reader, &mut warnings, |_, object, _| {
        if object.has("output") && !object.has("call_id") || object.has("input") && !object.has("type") {
            recognised = true;
            head.id = object.str("id").map(Cow::into_owned);
            model = model_of(object);
            thread.set_time(object.time("created_at"));
            for raw in ["input", "output"].iter().filter_map(|key| object.get(key)) {
                items(&mut thread, raw, model.as_deref());
            }
        } else {
            recognised |= object.has("type") || object.has("role");
            responses_item(&mut thread, object, model.as_deref());
        }
    })?;
    one(thread, Harness::OpenAiResponses, head, options, warnings, (bytes, recognised))
}

/// Reads a trace of the Session Trace Simple Format: a header, then a message a row.
///
/// # Errors
/// As [`super::parse`].
pub fn parse_sts(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut head = Head::default();
    let mut recognised = false;
    let mut model: Option<String> = None;
    let bytes = read_objects(reader, &mut warnings, |line, object, _| match object.str("type").as_deref() {
        Some("session") => {
            recognised = true;
            let text = |key: &str| object.str(key).map(Cow::into_owned);
            head = Head {
                id: text("id"),
                version: None,
                cwd: text("cwd"),
                title: text("name").or_else(|| text("title")),
                parent: None,
            };
            model = model_of(object);
            thread.set_time(object.time("timestamp"));
        }
        Some("message") => match object.object("message") {
            Some(inner) => {
                thread.set_time(object.time("timestamp"));
                message(&mut thread, &inner, model.as_deref());
            }
            None => thread.unknown(line),
        },
        _ => thread.unknown(line),
    })?;
    one(thread, Harness::Sts, head, options, warnings, (bytes, recognised))
}

fn model_of(object: &Object<'_>) -> Option<String> {
    named(object.str("provider").as_deref(), &object.str("model")?, None)
}

/// A message of the chat interface.
pub(crate) fn message(thread: &mut Thread, message: &Object<'_>, usual: Option<&str>) {
    let blocks = Blocks::of(message.get("content"));
    for _ in 0..blocks.unknown {
        thread.unknown(None);
    }
    let time = ["timestamp", "created_at", "createdAt", "time"].iter().find_map(|key| message.time(key));
    let id = message.str("id").map(Cow::into_owned);
    if message.is_true("withheld") {
        thread.set_time(time);
        thread.leave_out("withheld", None, "messages were held back by their author");
        return;
    }
    match message.str("role").as_deref() {
        Some("user" | "human") => {
            for result in blocks.results {
                thread.result(result);
            }
            thread.say(Said::user(blocks.parts).id(id).at(time));
        }
        Some("assistant" | "model") => {
            let mut parts = Vec::new();
            let thought =
                ["reasoning_content", "reasoningContent", "reasoning"].iter().find_map(|key| message.str(key));
            parts.extend(thought.map(|text| Part::Reasoning { text: text.into_owned() }));
            parts.extend(blocks.parts);
            parts.extend(message.str("refusal").map(|text| Part::Text { text: text.into_owned() }));
            let calls = ["tool_calls", "toolCalls"].iter().flat_map(|key| message.array(key).unwrap_or_default());
            parts.extend(calls.filter_map(Object::from_raw).map(|call| blocks::call(&call)));
            // The form before tools had ids: the answer names the function.
            if let Some(function) = message.object("function_call") {
                let mut call = blocks::call(&function);
                if let Part::ToolCall { id, name, .. } = &mut call {
                    id.clone_from(name);
                }
                parts.push(call);
            }
            let model = model_of(message).or_else(|| usual.map(str::to_owned));
            thread.say(Said::agent(model, parts).id(id).at(time));
        }
        Some("tool" | "function") => {
            let call_id = first_str(message, &["tool_call_id", "toolCallId", "name"]).unwrap_or_default().into_owned();
            let (output, images) = output_of(message.get("content"));
            let failed = message.is_true("isError") || message.is_true("is_error");
            thread.result(ToolResult { call_id, output, failed, images });
        }
        Some("system" | "developer") => {}
        _ => thread.unknown(None),
    }
}

fn items(thread: &mut Thread, raw: &RawValue, model: Option<&str>) {
    if let Some(text) = crate::rows::string_of(raw) {
        thread.say(Said::user(vec![Part::Text { text: text.into_owned() }]));
    }
    for item in crate::rows::array_of(raw).unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        responses_item(thread, &item, model);
    }
}

fn responses_item(thread: &mut Thread, object: &Object<'_>, model: Option<&str>) {
    let id = object.str("id").map(Cow::into_owned);
    let role = match object.str("role").as_deref() {
        Some("user") => Role::User,
        Some("system" | "developer") => return,
        _ => Role::Assistant,
    };
    let mut blocks = Blocks::default();
    item(object, &mut blocks);
    for _ in 0..blocks.unknown {
        thread.unknown(None);
    }
    let model = model.map(str::to_owned).filter(|_| role == Role::Assistant);
    thread.say(Said { role, id, time: object.time("created_at"), model, parts: blocks.parts });
    for result in blocks.results {
        thread.result(result);
    }
}

/// An item of the Responses interface.
pub(crate) fn item(item: &Object<'_>, blocks: &mut Blocks) {
    let failed = item.str("status").is_some_and(|status| matches!(status.as_ref(), "failed" | "incomplete"));
    let kind = item.str("type").unwrap_or(Cow::Borrowed("message"));
    match kind.as_ref() {
        "message" => {
            let mut inner = Blocks::of(item.get("content"));
            blocks.parts.append(&mut inner.parts);
            blocks.unknown += inner.unknown;
        }
        "reasoning" => {
            for key in ["summary", "content"] {
                let texts = item.array(key).unwrap_or_default().into_iter().filter_map(Object::from_raw);
                let texts: Vec<String> = texts.filter_map(|text| Some(text.str("text")?.into_owned())).collect();
                if !texts.is_empty() {
                    blocks.parts.push(Part::Reasoning { text: texts.join("\n\n") });
                }
            }
        }
        "function_call" | "custom_tool_call" => {
            let mut call = blocks::call(item);
            if let (Part::ToolCall { id, .. }, Some(call_id)) = (&mut call, item.str("call_id")) {
                *id = call_id.into_owned();
            }
            blocks.parts.push(call);
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" | "computer_call_output" => {
            let (output, images) = output_of(item.get("output"));
            let call_id = first_str(item, &["call_id", "id"]).unwrap_or_default().into_owned();
            blocks.results.push(ToolResult { call_id, output, failed, images });
        }
        // The provider's own tools: call and outcome in one.
        kind if kind.ends_with("_call") => {
            let input = ["action", "queries", "code", "arguments", "input"].iter().find_map(|key| item.get(key));
            blocks.parts.push(Part::ToolCall {
                id: first_str(item, &["call_id", "id"]).unwrap_or_default().into_owned(),
                name: item.str("name").unwrap_or(Cow::Borrowed(kind)).into_owned(),
                input: blocks::arguments(input),
                output: output_of(item.get("output").or_else(|| item.get("results"))).0,
                failed,
            });
        }
        "item_reference" | "compaction" | "mcp_list_tools" => {}
        _ => blocks.unknown += 1,
    }
}
