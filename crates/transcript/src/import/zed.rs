//! Zed's agent: threads as JSON, plain or compressed, in a database. `docs/formats/zed.md` says more.

use std::{
    borrow::Cow,
    io::{BufRead, Read},
};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{ToolResult, arguments, first_str, output_of},
    codex::ZSTD_MAGIC,
    model_name::named,
    pick::{Listed, Pick},
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part,
    input::{
        database::{self, Database},
        documents::{MAX_VALUE_BYTES, parse_object, read_values},
    },
    rows::{Object, Warnings, array_of, string_of},
};

/// Reads a thread by itself.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut head = Head::default();
    let mut recognised = false;
    let bytes = read_values(reader, &mut warnings, |raw, _| {
        let Some(object) = Object::from_raw(raw).filter(|object| object.has("messages")) else { return };
        recognised = true;
        read(&mut thread, &mut head, &object);
    })?;
    one(thread, Harness::Zed, head, options, warnings, (bytes, recognised))
}

/// Whether a database is Zed's.
pub(crate) fn is_database(database: &Database) -> bool {
    database.has("threads", &["id", "summary", "data_type", "data"])
}

/// Reads a database.
pub(crate) fn database(database: &Database, options: &ParseOptions, pick: &mut Pick<'_>) -> Result<(), Error> {
    let columns = database.columns("threads")?;
    let column = |name: &'static str| if columns.iter().any(|known| known == name) { name } else { "NULL" };
    let sql = format!(
        "SELECT id, summary, updated_at, {}, {}, {} FROM threads ORDER BY updated_at DESC, id DESC",
        column("parent_id"),
        column("folder_paths"),
        column("created_at"),
    );
    let threads = database.rows(&sql, &[], |row| {
        let text = |at| database::text(row, at).map(Cow::into_owned).filter(|text| !text.is_empty());
        let mut listed = Listed::new(text(0)?, text(1), database::time(row, 2));
        listed.parent = text(3);
        listed.cwd = text(4).and_then(|paths| paths.lines().next().map(str::to_owned));
        Some((listed, database::time(row, 5)))
    })?;
    for (listed, created) in threads {
        if !pick.wants(&listed) {
            continue;
        }
        let sql = "SELECT data_type, data FROM threads WHERE id = ?1";
        let data = database.rows(sql, &[&listed.id], |row| {
            let data = database::bytes(row, 1)?;
            let is_packed = database::text(row, 0)? == "zstd" || data.starts_with(&ZSTD_MAGIC);
            Some(if is_packed { unpacked(data) } else { data.to_vec() })
        })?;
        // Messages have no times of their own.
        let mut thread = Thread::new(created.or(listed.modified).unwrap_or(options.fallback_time));
        let mut head = Head::default();
        for data in data {
            parse_object(&data, |raw| {
                read(&mut thread, &mut head, &Object::from_raw(raw).unwrap_or_default());
            });
        }
        head.id = Some(listed.id.clone());
        head.cwd = listed.cwd.clone();
        head.title = head.title.or_else(|| listed.title.clone());
        let conversation = thread.conversation(Harness::Zed, head, options, &[]);
        pick.offer(&listed, conversation);
    }
    Ok(())
}

/// As much of it as can be unpacked, within bounds.
fn unpacked(data: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    if let Ok(decoder) = zstd::stream::read::Decoder::with_buffer(data) {
        let limit = u64::try_from(MAX_VALUE_BYTES).unwrap_or(u64::MAX);
        // An error at the end is damage; what came before stands.
        let _ = decoder.take(limit).read_to_end(&mut plain);
    }
    plain
}

fn read(thread: &mut Thread, head: &mut Head, object: &Object<'_>) {
    head.title = first_str(object, &["title", "summary"]).map(Cow::into_owned);
    let model = object.object("model").and_then(|model| {
        let name = model.str("model")?;
        named(model.str("provider").as_deref(), &name, None)
    });
    for item in object.array("messages").unwrap_or_default() {
        let Some(message) = Object::from_raw(item) else {
            // "Resume": the person let the agent go on.
            if string_of(item).is_none() {
                thread.unknown(None);
            }
            continue;
        };
        if let Some(user) = message.object("User") {
            let parts = contents(thread, &user);
            thread.say(Said::user(parts).id(user.str("id")));
        } else if let Some(agent) = message.object("Agent") {
            let parts = contents(thread, &agent);
            thread.say(Said::agent(model.clone(), parts));
            for (id, raw) in agent.object("tool_results").unwrap_or_default().members() {
                let result = Object::from_raw(raw).unwrap_or_default();
                thread.result(result_of(&result, id));
            }
        } else if message.has("role") {
            old_message(thread, &message, model.as_deref());
        } else if !message.has("Compaction") {
            thread.unknown(None);
        }
    }
}

/// A message of version 0.2 and before: who, pieces, calls, and the results of the calls before.
fn old_message(thread: &mut Thread, message: &Object<'_>, model: Option<&str>) {
    let objects = |key: &str| message.array(key).unwrap_or_default().into_iter().filter_map(Object::from_raw);
    for result in objects("tool_results") {
        let id = result.str("tool_use_id").unwrap_or_default().into_owned();
        thread.result(result_of(&result, &id));
    }
    let mut parts = Vec::new();
    for segment in objects("segments") {
        let text = segment.str("text").unwrap_or_default().into_owned();
        match segment.str("type").as_deref() {
            Some("text") => parts.push(Part::Text { text }),
            Some("thinking") => parts.push(Part::Reasoning { text }),
            Some("redacted_thinking") => {}
            _ => thread.unknown(None),
        }
    }
    parts.extend(objects("tool_uses").map(|call| super::blocks::call(&call)));
    let id = message.i64("id").map(|id| id.to_string());
    match message.str("role").as_deref() {
        Some("user") => thread.say(Said::user(parts).id(id)),
        Some("assistant") => thread.say(Said::agent(model.map(str::to_owned), parts).id(id)),
        Some("system") => {}
        _ => thread.unknown(None),
    }
}

fn contents(thread: &mut Thread, message: &Object<'_>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for item in message.array("content").unwrap_or_default() {
        let Some(content) = Object::from_raw(item) else { continue };
        if let Some(text) = content.str("Text") {
            parts.push(Part::Text { text: text.into_owned() });
        } else if let Some(mention) = content.object("Mention") {
            // What was mentioned is sent along; what the person wrote is its name.
            let name = mention.get("uri").map(|raw| raw.get().trim_matches(['"', '}']).to_owned()).unwrap_or_default();
            let name = name.split(['?', '"']).next().unwrap_or_default().trim_end_matches('/').to_owned();
            let name = name.rsplit('/').next().unwrap_or_default();
            let name = mention.object("uri").and_then(|uri| mentioned(&uri)).unwrap_or_else(|| name.to_owned());
            join_text(&mut parts, &format!("@{name}"));
        } else if let Some(thinking) = content.object("Thinking") {
            parts.push(Part::Reasoning { text: thinking.str("text").unwrap_or_default().into_owned() });
        } else if let Some(call) = content.object("ToolUse") {
            let raw = call.get("input").or_else(|| call.get("raw_input"));
            parts.push(Part::ToolCall {
                id: call.str("id").unwrap_or_default().into_owned(),
                name: call.str("name").unwrap_or_default().into_owned(),
                input: arguments(raw),
                output: None,
                failed: false,
            });
        } else if let Some(image) = content.object("Image") {
            let source = image.str("source").unwrap_or_default();
            let bytes = u64::try_from(super::codex::decoded_length(&source)).unwrap_or(u64::MAX);
            parts.push(Part::Image { mime_type: "image/png".to_owned(), bytes });
        } else if !content.has("RedactedThinking") {
            thread.unknown(None);
        }
    }
    join_texts(parts)
}

/// The name in a mention's address, which is an object of one member.
fn mentioned(uri: &Object<'_>) -> Option<String> {
    let (_, raw) = uri.members().next()?;
    let target = Object::from_raw(raw)?;
    let name = first_str(&target, &["name", "abs_path", "path", "url"])?;
    Some(name.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default().to_owned())
}

fn join_text(parts: &mut Vec<Part>, more: &str) {
    match parts.last_mut() {
        Some(Part::Text { text }) => text.push_str(more),
        _ => parts.push(Part::Text { text: more.to_owned() }),
    }
}

/// A prompt with mentions in it is one text.
fn join_texts(mut parts: Vec<Part>) -> Vec<Part> {
    super::blocks::merge_texts(&mut parts);
    parts
}

fn result_of(result: &Object<'_>, id: &str) -> ToolResult {
    let content = result.get("content");
    // Text is a string, an object of one member, or a list of these.
    let text = |raw| Some(Object::from_raw(raw)?.str("Text")?.into_owned());
    let output = content.and_then(|raw| {
        text(raw).or_else(|| {
            let texts: Vec<String> = array_of(raw)?.into_iter().filter_map(text).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        })
    });
    let output = output.or_else(|| output_of(content.filter(|raw| raw.get() != "[]")).0);
    ToolResult {
        call_id: id.to_owned(),
        output: output.or_else(|| output_of(result.get("output")).0),
        failed: result.is_true("is_error"),
        images: Vec::new(),
    }
}
