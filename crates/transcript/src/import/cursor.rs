//! Cursor: the IDE's database of keys and values, and the rows of its command line. `docs/formats/cursor.md` says more.

use std::{borrow::Cow, collections::HashMap, io::BufRead};

use serde_json::{Value, json};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{Blocks, arguments, first_str, output_of},
    envelope::{inside, without_elements},
    model_name::named,
    pick::{Listed, Pick},
    thread::{Head, Said, Thread, one},
};
use crate::{
    Conversation, Harness, Part, Role,
    input::{
        database::{self, Database},
        documents::parse_object,
        read_objects,
    },
    rows::{Object, Warnings},
};

/// Elements that Cursor puts around what it adds to a prompt.
const ADDED: [&str; 12] = [
    "attached_files",
    "system_reminder",
    "open_and_recently_viewed_files",
    "user_info",
    "git_status",
    "project_layout",
    "cursor_commands",
    "additional_data",
    "rules",
    "always_applied_workspace_rules",
    "current_file",
    "timestamp",
];

/// The key under which the first versions kept all their chats.
const FIRST_CHATS: &str = "workbench.panel.aichat.view.aichat.chatdata";

/// Reads the transcript of an agent of the command line.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut recognised = false;
    let bytes = read_objects(reader, &mut warnings, |line, object, _| {
        let Some(message) = object.object("message") else {
            thread.unknown(line);
            return;
        };
        let role = object.str("role").or_else(|| message.str("role")).unwrap_or_default();
        let blocks = Blocks::of(message.get("content"));
        for _ in 0..blocks.unknown {
            thread.unknown(line);
        }
        let time = object.time("timestamp").or_else(|| message.time("timestamp"));
        let id = object.str("id").map(Cow::into_owned);
        match role.as_ref() {
            "user" => {
                recognised = true;
                for result in blocks.results {
                    thread.result(result);
                }
                let mut parts = blocks.parts;
                words_only(&mut parts);
                thread.say(Said::user(parts).id(id).at(time));
            }
            "assistant" => {
                recognised = true;
                let model = message.str("model").and_then(|model| named(None, &model, None));
                thread.say(Said::agent(model, blocks.parts).id(id).at(time));
            }
            "tool" => {
                for result in blocks.results {
                    thread.result(result);
                }
            }
            "system" => {}
            _ => thread.unknown(line),
        }
    })?;
    one(thread, Harness::Cursor, Head::default(), options, warnings, (bytes, recognised))
}

/// Leaves of a prompt's texts what the person typed.
fn words_only(parts: &mut [Part]) {
    let has_query = parts.iter().any(|part| matches!(part, Part::Text { text } if text.contains("<user_query>")));
    for part in parts {
        if let Part::Text { text } = part {
            *text = match inside(text, "user_query") {
                Some(query) => query,
                None if has_query => String::new(),
                None => without_elements(text, &ADDED),
            };
        }
    }
}

/// Whether a database is Cursor's.
pub(crate) fn is_database(database: &Database) -> bool {
    database.has("cursorDiskKV", &["key", "value"])
        || (database.has("ItemTable", &["key", "value"]) && first_chats(database).is_ok_and(|chats| chats.is_some()))
}

fn first_chats(database: &Database) -> Result<Option<String>, Error> {
    let sql = "SELECT value FROM ItemTable WHERE key = ?1";
    Ok(database.rows(sql, &[FIRST_CHATS], |row| Some(database::text(row, 0)?.into_owned()))?.pop())
}

/// Reads a database.
pub(crate) fn database(database: &Database, options: &ParseOptions, pick: &mut Pick<'_>) -> Result<(), Error> {
    if database.has("cursorDiskKV", &["key", "value"]) {
        composers(database, options, pick)?;
    }
    if database.has("ItemTable", &["key", "value"])
        && let Some(chats) = first_chats(database)?
    {
        parse_object(chats.as_bytes(), |raw| tabs(&Object::from_raw(raw).unwrap_or_default(), options, pick));
    }
    Ok(())
}

fn composers(database: &Database, options: &ParseOptions, pick: &mut Pick<'_>) -> Result<(), Error> {
    // A range, as the key is the index; only what is needed of a value is kept.
    let sql = "SELECT value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'";
    let mut children: HashMap<String, String> = HashMap::new();
    let mut found = database.rows(sql, &[], |row| {
        parse_object(database::bytes(row, 0)?, |raw| {
            let composer = Object::from_raw(raw)?;
            for id in composer.value("subComposerIds").iter().flat_map(|ids| ids.as_array().into_iter().flatten()) {
                children.extend(id.as_str().map(str::to_owned).zip(composer.str("composerId").map(Cow::into_owned)));
            }
            let updated = composer.time("lastUpdatedAt").or_else(|| composer.time("createdAt"));
            let title = composer.str("name").filter(|name| !name.is_empty()).map(Cow::into_owned);
            Some(Listed::new(composer.str("composerId")?, title, updated))
        })
        .flatten()
    })?;
    found.sort_by(|a, b| (b.modified, &b.id).cmp(&(a.modified, &a.id)));
    for mut listed in found {
        listed.parent = children.get(&listed.id).cloned();
        if !pick.wants(&listed) {
            continue;
        }
        let value = value_of(database, &format!("composerData:{}", listed.id))?.unwrap_or_default();
        let read = parse_object(&value, |raw| {
            let composer = Object::from_raw(raw).unwrap_or_default();
            composer_of(database, &composer, &listed, options)
        });
        let conversation = read.transpose()?.flatten();
        pick.offer(&listed, conversation);
    }
    Ok(())
}

fn value_of(database: &Database, key: &str) -> Result<Option<Vec<u8>>, Error> {
    Ok(database
        .rows("SELECT value FROM cursorDiskKV WHERE key = ?1", &[key], |row| Some(database::bytes(row, 0)?.to_vec()))?
        .pop())
}

fn composer_of(
    database: &Database,
    composer: &Object<'_>,
    listed: &Listed,
    options: &ParseOptions,
) -> Result<Option<Conversation>, Error> {
    let mut thread = Thread::new(composer.time("createdAt").unwrap_or(options.fallback_time));
    let usual = composer.object("modelConfig").and_then(|config| Some(config.str("modelName")?.into_owned()));
    // Older versions keep the messages themselves here.
    for bubble in composer.array("conversation").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        say(&mut thread, &bubble, usual.as_deref());
    }
    let headers = composer.array("fullConversationHeadersOnly").unwrap_or_default();
    for header in headers.into_iter().filter_map(Object::from_raw) {
        let Some(id) = header.str("bubbleId") else { continue };
        match value_of(database, &format!("bubbleId:{}:{id}", listed.id))? {
            Some(value) => {
                parse_object(&value, |raw| {
                    say(&mut thread, &Object::from_raw(raw).unwrap_or_default(), usual.as_deref());
                });
            }
            None => thread.leave_out("missing-message", None, "messages that are named are not in the database"),
        }
    }
    let head = listed.head();
    Ok(thread.conversation(Harness::Cursor, head, options, &[]))
}

/// One bubble: a prompt, a piece of an answer, or a call.
fn say(thread: &mut Thread, bubble: &Object<'_>, usual: Option<&str>) {
    let id = bubble.str("bubbleId").map(Cow::into_owned);
    let timing = bubble.object("timingInfo");
    let time = bubble.time("createdAt").or_else(|| timing.and_then(|timing| timing.time("clientStartTime")));
    let text = bubble.str("text").unwrap_or_default().into_owned();
    match bubble.i64("type") {
        Some(1) => {
            let mut parts = vec![Part::Text { text }];
            words_only(&mut parts);
            for image in bubble.array("images").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
                parts.push(super::blocks::image(&image));
            }
            thread.say(Said { role: Role::User, id, time, model: None, parts });
        }
        Some(2) => {
            let mut parts = Vec::new();
            let thought = bubble.object("thinking").and_then(|thinking| Some(thinking.str("text")?.into_owned()));
            parts.extend(thought.map(|text| Part::Reasoning { text }));
            parts.push(Part::Text { text });
            parts.extend(bubble.object("toolFormerData").and_then(|data| call(&data)));
            let own = bubble.object("modelInfo").and_then(|info| Some(info.str("modelName")?.into_owned()));
            let model = own.as_deref().or(usual).and_then(|model| named(None, model, None));
            thread.say(Said { role: Role::Assistant, id, time, model, parts });
        }
        _ => thread.unknown(None),
    }
}

fn call(data: &Object<'_>) -> Option<Part> {
    let name = data.str("name").filter(|name| !name.is_empty())?.into_owned();
    let raw = ["rawArgs", "params"].into_iter().filter_map(|key| data.get(key));
    let input = raw.map(|raw| arguments(Some(raw))).find(|input| *input != json!({})).unwrap_or_else(|| json!({}));
    let refused = data.str("userDecision").is_some_and(|decision| decision == "rejected");
    let failed = refused || data.str("status").is_some_and(|status| matches!(status.as_ref(), "error" | "cancelled"));
    let output = output_of(data.get("result").filter(|raw| raw.get() != "\"\"").or_else(|| data.get("error"))).0;
    let exit = output.as_deref().and_then(|output| serde_json::from_str::<Value>(output).ok());
    let exit = exit.and_then(|result| ["exitCode", "exitCodeV2"].iter().find_map(|key| result.get(*key)?.as_i64()));
    let failed = failed || exit.is_some_and(|exit| exit != 0);
    let id = first_str(data, &["toolCallId", "modelCallId"]).unwrap_or_default().into_owned();
    Some(Part::ToolCall { id, name, input, output, failed })
}

/// The tabs of the first versions.
fn tabs(chats: &Object<'_>, options: &ParseOptions, pick: &mut Pick<'_>) {
    for tab in chats.array("tabs").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        let Some(id) = tab.str("tabId") else { continue };
        let listed = Listed::new(id, tab.str("chatTitle").map(Cow::into_owned), tab.time("lastSendTime"));
        if !pick.wants(&listed) {
            continue;
        }
        let mut thread = Thread::new(listed.modified.unwrap_or(options.fallback_time));
        for bubble in tab.array("bubbles").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
            let text = first_str(&bubble, &["rawText", "text"]).unwrap_or_default().into_owned();
            let id = bubble.str("id").map(Cow::into_owned);
            let parts = vec![Part::Text { text }];
            match bubble.str("type").as_deref() {
                Some("user") => thread.say(Said::user(parts).id(id)),
                Some("ai") => {
                    let model = bubble.str("modelType").and_then(|model| named(None, &model, None));
                    thread.say(Said::agent(model, parts).id(id));
                }
                _ => thread.unknown(None),
            }
        }
        let head = listed.head();
        let conversation = thread.conversation(Harness::Cursor, head, options, &[]);
        pick.offer(&listed, conversation);
    }
}
