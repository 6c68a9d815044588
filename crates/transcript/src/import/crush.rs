//! Crush: a database in each project. `docs/formats/crush.md` says more.

use std::borrow::Cow;

use serde_json::json;

use super::{
    Error, ParseOptions,
    blocks::{ToolResult, arguments, data_url},
    model_name::named,
    pick::{Listed, Pick},
    thread::{Said, Thread},
};
use crate::{
    Harness, Part,
    input::{
        database::{self, Database},
        documents::parse_object,
    },
    rows::Object,
};

/// Whether a database is Crush's.
pub(crate) fn is_database(database: &Database) -> bool {
    database.has("sessions", &["id", "parent_session_id", "title"])
        && database.has("messages", &["session_id", "role", "parts", "model"])
}

/// Reads a database.
pub(crate) fn database(database: &Database, options: &ParseOptions, pick: &mut Pick<'_>) -> Result<(), Error> {
    // `<project>/.crush/crush.db`
    let project =
        options.path.as_deref().and_then(|path| path.parent()?.parent()).map(|p| p.to_string_lossy().into_owned());
    let sql = "SELECT id, title, updated_at, parent_session_id FROM sessions ORDER BY updated_at DESC, id DESC";
    let sessions = database.rows(sql, &[], |row| {
        let text = |at| database::text(row, at).map(Cow::into_owned).filter(|text| !text.is_empty());
        let mut listed = Listed::new(text(0)?, text(1), database::time(row, 2));
        listed.parent = text(3);
        listed.cwd.clone_from(&project);
        Some(listed)
    })?;
    let optional = |name: &'static str| if database.has("messages", &[name]) { name } else { "NULL" };
    let (provider, summary) = (optional("provider"), optional("is_summary_message"));
    for listed in sessions {
        if !pick.wants(&listed) {
            continue;
        }
        let mut thread = Thread::new(listed.modified.unwrap_or(options.fallback_time));
        let sql = format!(
            "SELECT id, role, parts, created_at, model, {provider}, {summary} FROM messages \
             WHERE session_id = ?1 ORDER BY created_at, rowid"
        );
        let rows = database.rows(&sql, &[&listed.id], |row| {
            let text = |at| database::text(row, at).map(Cow::into_owned);
            let model = text(4).and_then(|model| named(text(5).as_deref(), &model, None));
            let is_summary = text(6).is_some_and(|flag| flag == "1");
            Some((text(0)?, text(1)?, text(2)?, database::time(row, 3), model, is_summary))
        })?;
        for (id, role, parts, time, model, is_summary) in rows {
            if is_summary {
                thread.leave_out("compaction-summary", None, "summaries for the model were left out");
                continue;
            }
            thread.set_time(time);
            let found = contents(&mut thread, &parts);
            match role.as_str() {
                "user" => thread.say(Said::user(found).id(Some(id))),
                "assistant" => thread.say(Said::agent(model, found).id(Some(id))),
                "tool" | "system" => {}
                _ => thread.unknown(None),
            }
        }
        let head = listed.head();
        let conversation = thread.conversation(Harness::Crush, head, options, &[]);
        pick.offer(&listed, conversation);
    }
    Ok(())
}

/// The parts of a message; results go into their calls.
fn contents(thread: &mut Thread, parts: &str) -> Vec<Part> {
    let mut found = Vec::new();
    // A list, read as the member of an object.
    let read = parse_object(format!("{{\"parts\":{parts}}}").as_bytes(), |raw| {
        let items = Object::from_raw(raw).and_then(|object| object.array("parts")).unwrap_or_default();
        for part in items.into_iter().filter_map(Object::from_raw) {
            let data = part.object("data").unwrap_or_default();
            let text = |key: &str| data.str(key).unwrap_or_default().into_owned();
            match part.str("type").as_deref() {
                Some("text") if data.is_true("hidden") => {}
                Some("text") => found.push(Part::Text { text: text("text") }),
                Some("reasoning") => found.push(Part::Reasoning { text: text("thinking") }),
                Some("tool_call") => found.push(Part::ToolCall {
                    id: text("id"),
                    name: text("name"),
                    input: arguments(data.get("input")),
                    output: None,
                    failed: false,
                }),
                Some("tool_result") => {
                    let output = Some(text("content"));
                    let failed = data.is_true("is_error");
                    thread.result(ToolResult { call_id: text("tool_call_id"), output, failed, images: Vec::new() });
                }
                // A command that the person ran with `!`.
                Some("shell_command") => found.push(Part::ToolCall {
                    id: String::new(),
                    name: "bash".to_owned(),
                    input: json!({ "command": text("command") }),
                    output: Some(text("output")),
                    failed: data.i64("exit_code").is_some_and(|code| code != 0),
                }),
                Some("image_url") => {
                    let (mime_type, bytes) = data_url(&text("url")).unwrap_or_else(|| ("image/png".to_owned(), 0));
                    found.push(Part::Image { mime_type, bytes });
                }
                Some("binary") => {
                    let mime_type = text("MIMEType");
                    let bytes = u64::try_from(super::codex::decoded_length(&text("Data"))).unwrap_or(u64::MAX);
                    // Texts that were attached are no words of the person's.
                    if !mime_type.starts_with("text/") {
                        found.push(Part::Image { mime_type, bytes });
                    }
                }
                Some("finish") => {}
                _ => thread.unknown(None),
            }
        }
    });
    if read.is_none() {
        thread.unknown(None);
    }
    found
}
