//! opencode: files in folders, a database of two generations, and its own export. `docs/formats/opencode.md` says more.

use std::{
    borrow::Cow,
    collections::HashSet,
    io::BufRead,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde_json::{Value, json, value::RawValue};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{arguments, data_url, first_str, output_of},
    model_name::named,
    pick::{Listed, Pick},
    thread::{Head, Said, Thread, one},
};
use crate::{
    Conversation, Harness, Parent, Part, Role,
    input::{
        beside,
        database::{self, Database},
        documents::{parse_object, read_values},
    },
    rows::{Object, Warnings},
};

/// What opencode writes in front of a command that the person ran with `!`.
const RAN: &str = "The following tool was executed by the user";

/// Reads an export, or the session whose own file this is, with its messages in the folders beside it.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut session = Session::new(options);
    let mut recognised = false;
    let bytes = read_values(reader, &mut warnings, |raw, _| {
        let Some(object) = Object::from_raw(raw) else { return };
        if let Some(messages) = object.array("messages") {
            recognised = true;
            session.info(&object.object("info").unwrap_or_default());
            for message in messages.into_iter().filter_map(Object::from_raw) {
                let info = message.object("info").unwrap_or_default();
                session.message(&info, None, &message.array("parts").unwrap_or_default());
            }
        } else if object.has("id") && (object.has("projectID") || object.has("directory")) {
            recognised = true;
            session.info(&object);
            if let Some(root) = options.path.as_deref().and_then(storage_of) {
                session.read_storage(&root);
            }
        }
    })?;
    one(session.thread, Harness::OpenCode, session.head, options, warnings, (bytes, recognised))
}

/// The folder `storage` above a session's file.
fn storage_of(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.parent()?.parent()?.to_path_buf())
}

/// Whether a database is opencode's.
pub(crate) fn is_database(database: &Database) -> bool {
    database.has("message", &["session_id", "data"]) && database.has("part", &["message_id", "data"])
        || database.has("session_message", &["session_id", "type", "data"])
}

/// Reads a database.
pub(crate) fn database(database: &Database, options: &ParseOptions, pick: &mut Pick<'_>) -> Result<(), Error> {
    let is_new = database.has("session_message", &["session_id", "type", "data"]);
    let is_old = database.has("message", &["session_id", "data"]) && database.has("part", &["message_id", "data"]);
    let mut known = HashSet::new();
    for table in ["session_v2", "session"] {
        for listed in sessions(database, table)? {
            if !known.insert(listed.id.clone()) || !pick.wants(&listed) {
                continue;
            }
            let conversation = read_session(database, table, &listed, options, (is_new, is_old))?;
            pick.offer(&listed, conversation);
        }
    }
    Ok(())
}

fn sessions(database: &Database, table: &str) -> Result<Vec<Listed>, Error> {
    let columns = database.columns(table)?;
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let column = |names: &[&str]| {
        names.iter().find(|name| columns.iter().any(|known| known == *name)).map_or("NULL", |name| *name).to_owned()
    };
    let updated = column(&["time_updated", "time_created"]);
    let sql = format!(
        "SELECT id, {}, {}, {}, {updated} FROM {table} ORDER BY {updated} DESC, id DESC",
        column(&["title"]),
        column(&["directory"]),
        column(&["parent_id"]),
    );
    database.rows(&sql, &[], |row| {
        let text = |at| database::text(row, at).map(Cow::into_owned).filter(|text| !text.is_empty());
        let mut listed = Listed::new(text(0)?, text(1), database::time(row, 4));
        listed.cwd = text(2);
        listed.parent = text(3);
        Some(listed)
    })
}

/// One session, of the generation that it was last written in: the other one is a copy that is not kept up.
fn read_session(
    database: &Database,
    table: &str,
    listed: &Listed,
    options: &ParseOptions,
    (is_new, is_old): (bool, bool),
) -> Result<Option<Conversation>, Error> {
    let mut session = Session::new(options);
    session.head = listed.head();
    let columns = database.columns(table)?;
    for (name, read) in [("version", false), ("revert", true)] {
        if !columns.iter().any(|column| column == name) {
            continue;
        }
        let sql = format!("SELECT {name} FROM {table} WHERE id = ?1");
        let value = database.rows(&sql, &[&listed.id], |row| Some(database::text(row, 0)?.into_owned()))?.pop();
        if !read {
            session.head.version = value;
        } else if let Some(value) = value {
            session.reverted_to = parse_object(value.as_bytes(), |raw| {
                Object::from_raw(raw).and_then(|revert| Some(revert.str("messageID")?.into_owned()))
            })
            .flatten();
        }
    }
    let said = |sql: &str| -> Result<bool, Error> {
        Ok(!database.rows(sql, &[&listed.id], |row| database::text(row, 0).map(|_| ()))?.is_empty())
    };
    let in_new = is_new
        && said(
            "SELECT id FROM session_message WHERE session_id = ?1 AND type IN ('user', 'assistant', 'shell') LIMIT 1",
        )?;
    if in_new {
        let order = if database.has("session_message", &["seq"]) { "seq" } else { "time_created, id" };
        let sql = format!("SELECT id, type, data FROM session_message WHERE session_id = ?1 ORDER BY {order}");
        let rows = database.rows(&sql, &[&listed.id], |row| {
            let text = |at| database::text(row, at).map(Cow::into_owned);
            Some((text(0)?, text(1)?, text(2)?))
        })?;
        for (id, kind, data) in rows {
            parse_object(data.as_bytes(), |raw| {
                session.new_message(&id, &kind, &Object::from_raw(raw).unwrap_or_default());
            });
        }
    } else if is_old {
        let order = if database.has("message", &["time_created"]) { "time_created, id" } else { "id" };
        let sql = format!("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY {order}");
        let messages = database.rows(&sql, &[&listed.id], |row| {
            Some((database::text(row, 0)?.into_owned(), database::text(row, 1)?.into_owned()))
        })?;
        for (id, data) in messages {
            let parts = database.rows("SELECT data FROM part WHERE message_id = ?1 ORDER BY id", &[&id], |row| {
                serde_json::from_str::<Box<RawValue>>(&database::text(row, 0)?).ok()
            })?;
            let parts: Vec<&RawValue> = parts.iter().map(AsRef::as_ref).collect();
            parse_object(data.as_bytes(), |raw| {
                session.message(&Object::from_raw(raw).unwrap_or_default(), Some(&id), &parts);
            });
        }
    }
    Ok(session.thread.conversation(Harness::OpenCode, session.head, options, &[]))
}

struct Session {
    head: Head,
    thread: Thread,
    /// The message from which on everything was taken back.
    reverted_to: Option<String>,
    is_reverted: bool,
    /// The model that answers until another is chosen.
    model: Option<String>,
    /// Prompts that only say that the person ran a command.
    ran: HashSet<String>,
}

impl Session {
    fn new(options: &ParseOptions) -> Self {
        Self {
            head: Head::default(),
            thread: Thread::new(options.fallback_time),
            reverted_to: None,
            is_reverted: false,
            model: None,
            ran: HashSet::new(),
        }
    }

    fn info(&mut self, info: &Object<'_>) {
        let text = |key: &str| info.str(key).map(Cow::into_owned);
        let parent = text("parentID").map(|id| Parent { id, call: None });
        self.head =
            Head { id: text("id"), version: text("version"), cwd: text("directory"), title: text("title"), parent };
        self.thread.set_time(info.object("time").and_then(|time| time.time("created")));
        self.reverted_to = info.object("revert").and_then(|revert| Some(revert.str("messageID")?.into_owned()));
    }

    fn read_storage(&mut self, root: &Path) {
        let Some(id) = self.head.id.clone().filter(|id| is_name(id)) else { return };
        let mut messages: Vec<(Option<Timestamp>, String, String)> = Vec::new();
        for path in beside::files(&root.join("message").join(&id), ".json") {
            let Some(text) = beside::read(&path) else { continue };
            let created = parse_object(text.as_bytes(), |raw| {
                let info = Object::from_raw(raw)?;
                info.object("time")?.time("created")
            });
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            messages.push((created.flatten(), name, text));
        }
        messages.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for (_, name, text) in messages {
            let parts: Vec<Box<RawValue>> = beside::files(&root.join("part").join(&name), ".json")
                .iter()
                .filter_map(|path| parse_object(beside::read(path)?.as_bytes(), ToOwned::to_owned))
                .collect();
            let parts: Vec<&RawValue> = parts.iter().map(AsRef::as_ref).collect();
            parse_object(text.as_bytes(), |raw| {
                self.message(&Object::from_raw(raw).unwrap_or_default(), Some(&name), &parts);
            });
        }
    }

    /// Whether a message still stands.
    fn stands(&mut self, id: Option<&str>) -> bool {
        self.is_reverted |= id.is_some() && id == self.reverted_to.as_deref();
        if self.is_reverted {
            self.thread.leave_out("rolled-back", None, "messages were taken back by the person");
        }
        !self.is_reverted
    }

    /// A message of the first generation and its parts.
    fn message(&mut self, info: &Object<'_>, id: Option<&str>, parts: &[&RawValue]) {
        let id = info.str("id").map(Cow::into_owned).or_else(|| id.map(str::to_owned));
        if !self.stands(id.as_deref()) {
            return;
        }
        let time = info.object("time").and_then(|time| time.time("created"));
        let mut found = Vec::new();
        let mut said_ran = false;
        for part in parts.iter().copied().filter_map(Object::from_raw) {
            if part.is_true("synthetic") {
                said_ran |= part.str("text").is_some_and(|text| text.starts_with(RAN));
            }
            self.part(&part, &mut found);
        }
        match info.str("role").as_deref() {
            Some("user") => {
                if said_ran && let Some(id) = &id {
                    self.ran.insert(id.clone());
                }
                self.thread.say(Said::user(found).id(id).at(time));
            }
            Some("assistant") if info.is_true("summary") => {
                self.thread.leave_out("compaction-summary", None, "summaries for the model were left out");
            }
            Some("assistant") => {
                let model = model_of(info);
                let of_person = info.str("parentID").is_some_and(|parent| self.ran.contains(parent.as_ref()));
                let role = if of_person { Role::User } else { Role::Assistant };
                let model = model.filter(|_| role == Role::Assistant);
                self.thread.say(Said { role, id, time, model, parts: found });
            }
            _ => self.thread.unknown(None),
        }
    }

    fn part(&mut self, part: &Object<'_>, found: &mut Vec<Part>) {
        match part.str("type").as_deref() {
            Some("text") if part.is_true("synthetic") || part.is_true("ignored") => {}
            Some("text") => found.push(Part::Text { text: part.str("text").unwrap_or_default().into_owned() }),
            Some("reasoning") => {
                found.push(Part::Reasoning { text: part.str("text").unwrap_or_default().into_owned() });
            }
            Some("tool") => {
                let state = part.object("state").unwrap_or_default();
                let name = part.str("tool").unwrap_or_default();
                let id = first_str(part, &["callID", "id"]).unwrap_or_default();
                found.push(call(&id, &name, &state));
            }
            Some("file") => found.extend(file(part)),
            Some(
                "step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "compaction" | "subtask" | "retry",
            ) => {}
            _ => self.thread.unknown(None),
        }
    }

    /// A message of the second generation.
    fn new_message(&mut self, id: &str, kind: &str, data: &Object<'_>) {
        if !self.stands(Some(id)) {
            return;
        }
        let time = data.object("time").and_then(|time| time.time("created"));
        let id = Some(id.to_owned());
        match kind {
            "user" => {
                let mut parts = vec![Part::Text { text: data.str("text").unwrap_or_default().into_owned() }];
                let files = data.array("files").unwrap_or_default();
                parts.extend(files.into_iter().filter_map(Object::from_raw).filter_map(|item| file(&item)));
                self.thread.say(Said::user(parts).id(id).at(time));
            }
            "assistant" => {
                if let Some(model) = model_of(data) {
                    self.model = Some(model);
                }
                let mut parts = Vec::new();
                for part in data.array("content").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
                    if part.str("type").as_deref() == Some("tool") {
                        let state = part.object("state").unwrap_or_default();
                        let id = part.str("id").unwrap_or_default();
                        parts.push(call(&id, &part.str("name").unwrap_or_default(), &state));
                    } else {
                        self.part(&part, &mut parts);
                    }
                }
                self.thread.say(Said::agent(self.model.clone(), parts).id(id).at(time));
            }
            // A command that the person ran: theirs, and no prompt.
            "shell" => {
                let output = data.get("output").and_then(|raw| output_of(Some(raw)).0);
                let failed = data.i64("exit").is_some_and(|exit| exit != 0);
                let input = json!({ "command": data.str("command").unwrap_or_default() });
                let call = Part::ToolCall { id: String::new(), name: "shell".to_owned(), input, output, failed };
                self.thread.say(Said::user(vec![call]).id(id).at(time));
            }
            "model-switched" => self.model = model_of(data),
            "system" | "synthetic" | "compaction" | "agent-switched" | "location-switched" | "skill" | "idle" => {}
            _ => self.thread.unknown(None),
        }
    }
}

/// A name that leads to no other folder.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn model_of(info: &Object<'_>) -> Option<String> {
    let model = info.object("model");
    let holder = model.as_ref().unwrap_or(info);
    let name = first_str(holder, &["modelID", "id"]).filter(|_| model.is_some() || info.has("modelID"))?;
    named(holder.str("providerID").as_deref(), &name, None)
}

/// A call of either generation, with what came back.
fn call(id: &str, name: &str, state: &Object<'_>) -> Part {
    let status = state.str("status").unwrap_or_default();
    let exit = |object: &Object<'_>| {
        object.object("metadata").or_else(|| object.object("structured")).and_then(|metadata| metadata.i64("exit"))
    };
    let failed = status == "error" || name == "invalid" || exit(state).is_some_and(|exit| exit != 0);
    let output = match state.get("error").filter(|_| status == "error") {
        Some(error) => output_of(Some(error)).0,
        None => output_of(state.get("output").or_else(|| state.get("content"))).0,
    };
    let input = match state.get("input") {
        Some(input) => arguments(Some(input)),
        None => Value::Object(serde_json::Map::new()),
    };
    Part::ToolCall { id: id.to_owned(), name: name.to_owned(), input, output, failed }
}

/// An attached file: images by their size. What is text has been put beside it as a text of its own.
fn file(part: &Object<'_>) -> Option<Part> {
    let mime_type = part.str("mime").filter(|mime| mime.starts_with("image/") || mime.as_ref() == "application/pdf")?;
    let bytes = first_str(part, &["url", "uri"]).and_then(|url| data_url(&url)).map_or(0, |(_, bytes)| bytes);
    Some(Part::Image { mime_type: mime_type.into_owned(), bytes })
}
