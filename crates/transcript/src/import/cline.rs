//! Cline, and Roo Code and Kilo Code, which keep its files. `docs/formats/cline.md` says more.

use std::{
    borrow::Cow,
    io::BufRead,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{Blocks, ToolResult, first_str},
    envelope::{inside, without_elements},
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part,
    input::{beside, documents::parse_object, read_objects},
    rows::{Object, Warnings, time_of_number},
};

/// Elements around what a person typed.
const TYPED: [&str; 5] = ["task", "feedback", "answer", "user_message", "user_input"];

/// Elements that the program puts beside it.
const ADDED: [&str; 8] = [
    "environment_details",
    "mode_notice",
    "explicit_instructions",
    "file_content",
    "folder_content",
    "notice",
    "slash_command",
    "system_reminder",
];

/// Beginnings of texts that the program writes in the person's place.
const BEGINNINGS: [&str; 4] = ["[ERROR]", "[TASK RESUMPTION]", "[NOTE]", "[Response interrupted"];

/// Tools that versions without a provider's own tool calls write as elements in the text.
const TOOLS: [&str; 27] = [
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "ask_followup_question",
    "attempt_completion",
    "plan_mode_respond",
    "new_task",
    "condense",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "switch_mode",
    "fetch_instructions",
    "codebase_search",
    "update_todo_list",
    "new_rule",
    "load_mcp_documentation",
    "web_fetch",
    "report_bug",
    "act_mode_respond",
];

/// Tools by which the agent speaks to the person, and the argument that holds the words.
const SPOKEN: [(&str, &str); 5] = [
    ("attempt_completion", "result"),
    ("plan_mode_respond", "response"),
    ("ask_followup_question", "question"),
    ("act_mode_respond", "response"),
    ("submit_and_exit", "summary"),
];

/// Reads a task of Cline's.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    parse_as(Harness::Cline, reader, options)
}

/// Reads a task in Cline's files, written by `harness`.
pub(crate) fn parse_as(harness: Harness, reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut task = Task::new(options);
    let bytes = read_objects(reader, &mut warnings, |line, object, _| task.object(line, object))?;
    let Task { thread, head, recognised, .. } = task;
    one(thread, harness, head, options, warnings, (bytes, recognised))
}

struct Task {
    thread: Thread,
    head: Head,
    recognised: bool,
    /// Models by when they began to answer.
    models: Vec<(Timestamp, String)>,
    model: Option<String>,
    /// The call in the text before, whose result comes as text.
    called: Option<String>,
    calls: u64,
    path: Option<PathBuf>,
}

impl Task {
    fn new(options: &ParseOptions) -> Self {
        let mut task = Self {
            thread: Thread::new(options.fallback_time),
            head: Head::default(),
            recognised: false,
            models: Vec::new(),
            model: None,
            called: None,
            calls: 0,
            path: options.path.clone(),
        };
        if let Some(path) = options.path.as_deref() {
            task.beside(path);
        }
        task
    }

    /// What the files beside the messages say: the models, the folder, the title.
    fn beside(&mut self, path: &Path) {
        if let Some(text) = beside::sibling(Some(path), "task_metadata.json") {
            parse_object(text.as_bytes(), |raw| {
                let usage =
                    Object::from_raw(raw).and_then(|metadata| metadata.array("model_usage")).unwrap_or_default();
                for usage in usage.into_iter().filter_map(Object::from_raw) {
                    let name = usage.str("model_id").unwrap_or_default();
                    let model =
                        named(usage.str("model_provider_id").filter(|_| !name.contains('/')).as_deref(), &name, None);
                    self.models.extend(usage.time("ts").zip(model));
                }
            });
        }
        let folder = path.parent();
        let id = folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        // A task's folder is named by when it began.
        if let Some(began) = id.as_deref().and_then(|id| id.parse::<f64>().ok()).filter(|ms| *ms > 1e12) {
            self.thread.set_time(time_of_number(began));
            self.head.id.clone_from(&id);
        }
        let history =
            folder.and_then(|folder| beside::read(&folder.parent()?.parent()?.join("state/taskHistory.json")));
        let own = beside::sibling(Some(path), "history_item.json");
        for text in own.into_iter().chain(history) {
            self.history(&text, id.as_deref());
        }
        let stem = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(stem) = stem.strip_suffix(".messages.json")
            && let Some(text) = beside::sibling(Some(path), &format!("{stem}.json"))
        {
            parse_object(text.as_bytes(), |raw| self.session(&Object::from_raw(raw).unwrap_or_default()));
        }
    }

    fn history(&mut self, text: &str, id: Option<&str>) {
        let mut warnings = Warnings::default();
        let mut reader = text.as_bytes();
        let read = crate::input::documents::read_values(&mut reader, &mut warnings, |raw, _| {
            let Some(item) = Object::from_raw(raw).filter(|item| item.str("id").as_deref() == id) else { return };
            let cwd = first_str(&item, &["cwdOnTaskInitialization", "workspace"]).map(Cow::into_owned);
            self.head.cwd = self.head.cwd.take().or(cwd);
            let model = item.str("modelId").and_then(|model| named(None, &model, None));
            self.model = self.model.take().or(model);
        });
        // A damaged list costs what it would have said.
        drop(read);
    }

    /// The file of a session of the command line.
    fn session(&mut self, session: &Object<'_>) {
        let text = |key: &str| session.str(key).map(Cow::into_owned);
        self.head.id = text("session_id").or_else(|| self.head.id.take());
        self.head.cwd = first_str(session, &["cwd", "workspace_root"]).map(Cow::into_owned);
        self.head.title = session.object("metadata").and_then(|metadata| Some(metadata.str("title")?.into_owned()));
        let name = session.str("model").unwrap_or_default();
        self.model = named(session.str("provider").filter(|_| !name.contains('/')).as_deref(), &name, None);
        self.thread
            .set_time(first_str(session, &["created_at", "started_at"]).and_then(|at| crate::rows::parse_time(&at)));
    }

    fn object(&mut self, line: Option<u64>, object: &Object<'_>) {
        if let Some(messages) = object.array("messages") {
            self.recognised = true;
            self.head.id = object.str("sessionId").map(Cow::into_owned).or_else(|| self.head.id.take());
            for message in messages.into_iter().filter_map(Object::from_raw) {
                self.message(line, &message);
            }
        } else if object.has("role") {
            self.message(line, object);
        } else if object.has("session_id") {
            // The session's own file: what was said stands in the one beside it.
            self.recognised = true;
            self.session(object);
            let messages = self.path.as_deref().and_then(|path| beside::read(&path.with_extension("messages.json")));
            parse_object(messages.unwrap_or_default().as_bytes(), |raw| {
                if let Some(object) = Object::from_raw(raw).filter(|object| object.has("messages")) {
                    self.object(None, &object);
                }
            });
        } else {
            self.thread.unknown(line);
        }
    }

    fn message(&mut self, line: Option<u64>, message: &Object<'_>) {
        let time = message.time("ts");
        let id = message.str("id").map(Cow::into_owned);
        let blocks = Blocks::of(message.get("content"));
        for _ in 0..blocks.unknown {
            self.thread.unknown(line);
        }
        match message.str("role").as_deref() {
            Some("user") => {
                self.recognised = true;
                self.person(blocks, id, time);
            }
            Some("assistant") => {
                self.recognised = true;
                self.agent(message, blocks, id, time);
            }
            _ => self.thread.unknown(line),
        }
    }

    fn person(&mut self, blocks: Blocks, id: Option<String>, time: Option<Timestamp>) {
        let mut words = Vec::new();
        for mut result in blocks.results {
            if let Some(output) = &mut result.output {
                // What the person answered is in the result of the call that asked.
                words.extend(TYPED.iter().filter_map(|name| inside(output, name)));
                *output = without_elements(output, &ADDED);
            }
            self.thread.result(result);
        }
        let mut parts = Vec::new();
        let mut output: Option<String> = None;
        for part in blocks.parts {
            let Part::Text { text } = part else {
                parts.push(part);
                continue;
            };
            let text = without_elements(&text, &ADDED);
            if text.trim().is_empty() {
                continue;
            }
            let said: Vec<String> = TYPED.iter().filter_map(|name| inside(&text, name)).collect();
            let is_result = text.starts_with('[') && text.contains("] Result:");
            if is_result {
                output = Some(text.split_once("] Result:").map_or("", |(_, rest)| rest).trim().to_owned());
            } else if let Some(output) = output.as_mut().filter(|_| said.is_empty()) {
                output.push_str(if output.is_empty() { "" } else { "\n" });
                output.push_str(&text);
            } else if said.is_empty() && !BEGINNINGS.iter().any(|start| text.trim_start().starts_with(start)) {
                words.push(text);
                continue;
            }
            words.extend(said.into_iter().map(|said| without_elements(&said, &ADDED)));
        }
        if let (Some(output), Some(call_id)) = (output, self.called.take()) {
            let failed = ["The tool execution failed", "The user denied this operation", "<error>", "Error executing"]
                .iter()
                .any(|start| output.trim_start().starts_with(start));
            self.thread.result(ToolResult { call_id, output: Some(output), failed, images: Vec::new() });
        }
        let words: Vec<String> = words.into_iter().filter(|words| !words.trim().is_empty()).collect();
        if !words.is_empty() {
            parts.insert(0, Part::Text { text: words.join("\n\n") });
        }
        self.thread.say(Said::user(parts).id(id).at(time));
    }

    fn agent(&mut self, message: &Object<'_>, blocks: Blocks, id: Option<String>, time: Option<Timestamp>) {
        let own = message.object("modelInfo").and_then(|info| {
            let name = first_str(&info, &["id", "modelId"])?;
            named(first_str(&info, &["providerId", "provider"]).filter(|_| !name.contains('/')).as_deref(), &name, None)
        });
        let noted = || {
            let before = self.models.iter().rfind(|(since, _)| time.is_none_or(|time| *since <= time));
            before.or_else(|| self.models.first()).map(|(_, model)| model.clone())
        };
        let model = own.or_else(noted).or_else(|| self.model.clone());
        let mut parts = Vec::new();
        for part in blocks.parts {
            match part {
                Part::Text { text } => self.pieces(&text, &mut parts),
                Part::ToolCall { ref name, ref input, .. } => {
                    parts.extend(spoken(name, input));
                    parts.push(part);
                }
                part => parts.push(part),
            }
        }
        self.thread.say(Said::agent(model, parts).id(id).at(time));
    }

    /// The words in a text, and the call that is written in it.
    fn pieces(&mut self, text: &str, parts: &mut Vec<Part>) {
        let thought = inside(text, "thinking");
        parts.extend(thought.map(|text| Part::Reasoning { text }));
        let text = without_elements(text, &["thinking"]);
        let found = TOOLS.iter().filter_map(|tool| Some((text.find(&format!("<{tool}>"))?, *tool))).min();
        let Some((at, tool)) = found else {
            parts.push(Part::Text { text });
            return;
        };
        let (before, call) = text.split_at(at);
        parts.push(Part::Text { text: before.trim().to_owned() });
        let input = elements(&inside(call, tool).unwrap_or_default());
        parts.extend(spoken(tool, &input));
        self.calls += 1;
        let id = format!("text-{}", self.calls);
        self.called = Some(id.clone());
        parts.push(Part::ToolCall { id, name: tool.to_owned(), input, output: None, failed: false });
    }
}

/// The words that the agent says by a call.
fn spoken(tool: &str, input: &Value) -> Option<Part> {
    let (_, argument) = SPOKEN.iter().find(|(name, _)| *name == tool)?;
    let text = input.get(*argument)?.as_str()?.trim().to_owned();
    Some(Part::Text { text })
}

/// The arguments that are written as elements.
fn elements(text: &str) -> Value {
    let mut arguments = Map::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('<') {
        let Some((name, inner)) = after.split_once('>') else { break };
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let closing = format!("</{name}>");
        match inner.split_once(closing.as_str()).filter(|_| is_name) {
            Some((value, after)) => {
                arguments.insert(name.to_owned(), Value::String(value.trim_matches('\n').to_owned()));
                rest = after;
            }
            None => rest = after,
        }
    }
    Value::Object(arguments)
}
