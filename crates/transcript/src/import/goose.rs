//! Goose: a database, in older versions rows. `docs/formats/goose.md` says more.

use std::{borrow::Cow, io::BufRead};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{Blocks, ToolResult, arguments, output_of},
    model_name::named,
    pick::{Listed, Pick},
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part,
    input::{
        database::{self, Database},
        documents::parse_object,
        read_objects,
    },
    rows::{Object, Warnings, array_of, parse_raw},
};

/// Reads a session in rows: a header, then a message a row.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut head = Head::default();
    let mut recognised = false;
    let bytes = read_objects(reader, &mut warnings, |line, object, _| {
        if object.has("working_dir") {
            recognised = true;
            let text = |key: &str| object.str(key).map(Cow::into_owned);
            head = Head {
                id: text("id"),
                title: text("description"),
                cwd: text("working_dir"),
                version: None,
                parent: None,
            };
            thread.set_time(object.time("created_at"));
        } else if object.has("role") && object.has("content") {
            recognised |= object.has("created");
            say(&mut thread, object, object.get("content"), None);
        } else {
            thread.unknown(line);
        }
    })?;
    one(thread, Harness::Goose, head, options, warnings, (bytes, recognised))
}

/// Whether a database is Goose's.
pub(crate) fn is_database(database: &Database) -> bool {
    database.has("sessions", &["id", "working_dir"])
        && database.has("messages", &["session_id", "role", "content_json"])
}

/// Reads a database.
pub(crate) fn database(database: &Database, options: &ParseOptions, pick: &mut Pick<'_>) -> Result<(), Error> {
    let columns = database.columns("sessions")?;
    let column = |name: &'static str| if columns.iter().any(|known| known == name) { name } else { "NULL" };
    let sql = format!(
        "SELECT id, {}, {}, working_dir, {}, {}, {}, {} FROM sessions ORDER BY {} DESC, id DESC",
        column("name"),
        column("description"),
        column("updated_at"),
        column("session_type"),
        column("provider_name"),
        column("model_config_json"),
        column("updated_at"),
    );
    let sessions = database.rows(&sql, &[], |row| {
        let text = |at| database::text(row, at).map(Cow::into_owned).filter(|text| !text.trim().is_empty());
        let mut listed = Listed::new(text(0)?, text(1).or_else(|| text(2)), database::time(row, 4));
        listed.cwd = text(3);
        // Which one started it is not said.
        let is_child = text(5).is_some_and(|kind| matches!(kind.as_str(), "sub_agent" | "subagent" | "hidden"));
        listed.parent = is_child.then(String::new);
        let config = text(7).and_then(|config| {
            parse_object(config.as_bytes(), |raw| Object::from_raw(raw)?.str("model_name").map(Cow::into_owned))
        });
        Some((listed, config.flatten().and_then(|model| named(text(6).as_deref(), &model, None))))
    })?;
    let metadata = if database.has("messages", &["metadata_json"]) { "metadata_json" } else { "NULL" };
    let message_id = if database.has("messages", &["message_id"]) { "message_id" } else { "NULL" };
    for (listed, model) in sessions {
        if !pick.wants(&listed) {
            continue;
        }
        let mut thread = Thread::new(listed.modified.unwrap_or(options.fallback_time));
        let sql = format!(
            "SELECT role, content_json, created_timestamp, {message_id}, {metadata} FROM messages \
             WHERE session_id = ?1 ORDER BY created_timestamp, id"
        );
        let rows = database.rows(&sql, &[&listed.id], |row| {
            let text = |at| database::text(row, at).map(Cow::into_owned);
            Some((text(0)?, text(1)?, database::time(row, 2), text(3), text(4)))
        })?;
        for (role, content, time, id, metadata) in rows {
            // The same shape as a row of older versions has.
            let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
            let row = format!(
                "{{\"role\":{},\"id\":{},\"metadata\":{},\"content\":{content}}}",
                quoted(&role),
                quoted(&id.unwrap_or_default()),
                metadata.filter(|text| !text.is_empty()).unwrap_or_else(|| "null".to_owned())
            );
            thread.set_time(time);
            let read = parse_object(row.as_bytes(), |raw| {
                let object = Object::from_raw(raw).unwrap_or_default();
                say(&mut thread, &object, object.get("content"), model.clone());
            });
            if read.is_none() {
                thread.unknown(None);
            }
        }
        let head = listed.head();
        let conversation = thread.conversation(Harness::Goose, head, options, &[]);
        pick.offer(&listed, conversation);
    }
    Ok(())
}

/// One message: what is not for the person's eyes is left out.
fn say(
    thread: &mut Thread,
    message: &Object<'_>,
    content: Option<&serde_json::value::RawValue>,
    model: Option<String>,
) {
    let hidden = message.object("metadata").is_some_and(|metadata| metadata.bool("userVisible") == Some(false));
    if hidden {
        thread.leave_out("hidden-message", None, "messages for the model alone were left out");
        return;
    }
    let mut parts = Vec::new();
    let mut results = Vec::new();
    for item in content.and_then(array_of).unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        match item.str("type").as_deref() {
            Some("toolRequest" | "frontendToolRequest") => parts.push(request(&item)),
            Some("toolResponse") => results.push(response(&item)),
            Some(
                "toolConfirmationRequest"
                | "actionRequired"
                | "summarizationRequested"
                | "contextLengthExceeded"
                | "conversationCompacted"
                | "systemNotification"
                | "redactedThinking",
            ) => {}
            _ => {
                let mut blocks = Blocks::default();
                blocks.block(&item);
                for _ in 0..blocks.unknown {
                    thread.unknown(None);
                }
                parts.append(&mut blocks.parts);
            }
        }
    }
    for result in results {
        thread.result(result);
    }
    let id = message.str("id").map(Cow::into_owned);
    let time = message.time("created");
    match message.str("role").as_deref() {
        Some("user") => thread.say(Said::user(parts).id(id).at(time)),
        Some("assistant") => thread.say(Said::agent(model, parts).id(id).at(time)),
        _ => thread.unknown(None),
    }
}

fn request(item: &Object<'_>) -> Part {
    let call = item.object("toolCall").unwrap_or_default();
    let value = call.object("value").unwrap_or_default();
    Part::ToolCall {
        id: item.str("id").unwrap_or_default().into_owned(),
        name: value.str("name").unwrap_or(Cow::Borrowed("unknown")).into_owned(),
        input: arguments(value.get("arguments")),
        output: None,
        // A call that could not be understood was never run.
        failed: call.str("status").as_deref() == Some("error"),
    }
}

fn response(item: &Object<'_>) -> ToolResult {
    let result = item.object("toolResult").unwrap_or_default();
    let call_id = item.str("id").unwrap_or_default().into_owned();
    if result.str("status").as_deref() == Some("error") {
        let (output, images) = output_of(result.get("error"));
        return ToolResult { call_id, output, failed: true, images };
    }
    let value = result.get("value");
    let object = value.and_then(Object::from_raw);
    let failed = object.as_ref().is_some_and(|value| value.is_true("isError"));
    let (output, images) = match &object {
        Some(value) if value.has("content") => output_of(value.get("content")),
        _ => output_of(value),
    };
    let is_null = value.and_then(parse_raw::<serde_json::Value>).is_none_or(|value| value.is_null());
    ToolResult { call_id, output: output.filter(|_| !is_null), failed, images }
}
