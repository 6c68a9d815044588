//! Moonshot's Kimi CLI and Kimi Code: rows for what goes over the wire. `docs/formats/kimi.md` says more.

use std::{borrow::Cow, io::BufRead};

use serde_json::Value;

use super::{
    Error, ParseOptions, Parsed,
    blocks::{self, Blocks, ToolResult, arguments, first_str, merge_texts, output_of},
    envelope::without_elements,
    model_name::named,
    openai,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part,
    input::{beside, documents::parse_object, read_objects},
    rows::{Object, Warnings},
};

/// Elements that the program puts into a prompt.
const ADDED: [&str; 3] = ["system", "system-reminder", "notification"];

/// Reads a session.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut wire = Wire {
        thread: Thread::new(options.fallback_time),
        head: Head::default(),
        model: None,
        pending: Vec::new(),
        streamed: String::new(),
        last_prompt: None,
        time: None,
        since: None,
        recognised: false,
    };
    let bytes = read_objects(reader, &mut warnings, |line, object, _| wire.row(line, object))?;
    wire.flush();
    if let Some(state) = beside::sibling(options.path.as_deref(), "state.json") {
        wire.head.title = parse_object(state.as_bytes(), |raw| {
            let state = Object::from_raw(raw)?;
            first_str(&state, &["custom_title", "title"]).map(Cow::into_owned)
        })
        .flatten();
    }
    // The file is called the same in every session's folder.
    let folder = options.path.as_deref().and_then(|path| {
        let folder = path.parent()?;
        let is_agent = folder.parent().and_then(|above| above.file_name()).is_some_and(|name| name == "agents");
        let session = if is_agent { folder.parent()?.parent()? } else { folder };
        Some(session.file_name()?.to_string_lossy().into_owned())
    });
    wire.head.id = wire.head.id.or(folder);
    one(wire.thread, Harness::Kimi, wire.head, options, warnings, (bytes, wire.recognised))
}

struct Wire {
    thread: Thread,
    head: Head,
    model: Option<String>,
    /// What the agent said since the last step began.
    pending: Vec<Part>,
    /// The arguments of the last call, as they come in pieces.
    streamed: String,
    /// The prompt that nothing has followed yet: it may be written twice.
    last_prompt: Option<String>,
    time: Option<jiff::Timestamp>,
    /// When the agent began to say what is pending.
    since: Option<jiff::Timestamp>,
    recognised: bool,
}

impl Wire {
    fn row(&mut self, line: Option<u64>, row: &Object<'_>) {
        let time = row.time("time").or_else(|| row.time("timestamp"));
        if let Some(message) = row.object("message").filter(|message| message.has("type")) {
            self.time = time.or(self.time);
            self.message(line, &message);
        } else if let Some(kind) = row.str("type") {
            self.time = time.or(self.time);
            self.event(line, &kind, row);
        } else if let Some(role) = row.str("role") {
            self.recognised |= role.starts_with('_');
            if !role.starts_with('_') {
                openai::message(&mut self.thread, row, self.model.as_deref());
            }
        } else {
            self.thread.unknown(line);
        }
    }

    /// A row of Kimi Code.
    fn event(&mut self, line: Option<u64>, kind: &str, row: &Object<'_>) {
        match kind {
            "metadata" => self.thread.set_time(row.time("created_at")),
            "config.update" => {
                self.recognised = true;
                self.head.cwd = row.str("cwd").map(Cow::into_owned).or_else(|| self.head.cwd.take());
                self.choose(first_str(row, &["modelAlias", "model"]).as_deref());
            }
            "turn.prompt" | "turn.steer" => {
                self.recognised = true;
                let by_person = row.object("origin").is_none_or(|origin| origin.str("kind").as_deref() == Some("user"));
                if by_person {
                    self.prompt(Blocks::of(row.get("input")));
                }
            }
            "context.append_message" => {
                self.recognised = true;
                let message = row.object("message").unwrap_or_default();
                let origin = message.object("origin").or_else(|| row.object("origin"));
                let by_person = origin.is_none_or(|origin| origin.str("kind").as_deref() == Some("user"));
                if message.str("role").as_deref() == Some("user") && by_person {
                    self.prompt(Blocks::of(message.get("content")));
                }
            }
            "context.append_loop_event" => {
                self.recognised = true;
                self.loop_event(line, &row.object("event").unwrap_or_default());
            }
            "llm.request" => self.choose(row.str("model").as_deref()),
            kind if [
                "context.",
                "usage.",
                "permission.",
                "plan_mode.",
                "tools.",
                "turn.",
                "session.",
                "goal.",
                "full_compaction.",
            ]
            .iter()
            .any(|start| kind.starts_with(start)) => {}
            _ => self.thread.unknown(line),
        }
    }

    fn loop_event(&mut self, line: Option<u64>, event: &Object<'_>) {
        match event.str("type").as_deref() {
            Some("step.begin" | "step.end") => self.flush(),
            Some("content.part") => self.part(&event.object("part").unwrap_or_default()),
            Some("tool.call") => {
                let id = first_str(event, &["toolCallId", "uuid"]).unwrap_or_default().into_owned();
                let name = event.str("name").unwrap_or_default().into_owned();
                let input = arguments(event.get("args").or_else(|| event.get("arguments")));
                self.add(Part::ToolCall { id, name, input, output: None, failed: false });
            }
            Some("tool.result") => {
                self.flush();
                let result = event.object("result").unwrap_or_default();
                let (output, images) = output_of(result.get("output").or_else(|| event.get("result")));
                let failed = result.is_true("isError") || result.is_true("is_error");
                let call_id = first_str(event, &["toolCallId", "parentUuid"]).unwrap_or_default().into_owned();
                self.thread.result(ToolResult { call_id, output, failed, images });
            }
            Some("llm.request") => self.choose(event.str("model").as_deref()),
            Some(_) => {}
            None => self.thread.unknown(line),
        }
    }

    /// A row of Kimi CLI: a kind and what it carries.
    fn message(&mut self, line: Option<u64>, message: &Object<'_>) {
        let payload = message.object("payload").unwrap_or_default();
        match message.str("type").as_deref() {
            Some("TurnBegin" | "SteerInput") => {
                self.recognised = true;
                self.prompt(Blocks::of(payload.get("user_input")));
            }
            Some("StepBegin" | "StepInterrupted" | "TurnEnd") => {
                self.recognised = true;
                self.flush();
            }
            Some("ContentPart") => {
                self.recognised = true;
                self.part(&payload);
            }
            Some("ToolCall") => {
                self.recognised = true;
                self.end_streamed();
                if let Some(function) = payload.object("function") {
                    self.streamed = function.str("arguments").unwrap_or_default().into_owned();
                }
                self.add(blocks::call(&payload));
            }
            Some("ToolCallPart") => self.streamed.push_str(&payload.str("arguments_part").unwrap_or_default()),
            Some("ToolResult") => {
                self.recognised = true;
                self.flush();
                let value = payload.object("return_value").or_else(|| payload.object("result")).unwrap_or_default();
                let said = value.get("output").filter(|raw| !matches!(raw.get(), "\"\"" | "[]" | "null"));
                let (output, images) = output_of(said.or_else(|| value.get("message")));
                let call_id = payload.str("tool_call_id").unwrap_or_default().into_owned();
                self.thread.result(ToolResult { call_id, output, failed: value.is_true("is_error"), images });
            }
            Some(
                "StatusUpdate"
                | "CompactionBegin"
                | "CompactionEnd"
                | "SubagentEvent"
                | "ApprovalRequest"
                | "ApprovalResponse"
                | "ApprovalRequestResolved"
                | "ToolCallRequest"
                | "Notification"
                | "HookTriggered"
                | "HookResolved"
                | "QuestionRequest"
                | "QuestionResponse"
                | "MCPLoadingBegin"
                | "MCPLoadingEnd"
                | "metadata",
            ) => {}
            _ => self.thread.unknown(line),
        }
    }

    fn choose(&mut self, model: Option<&str>) {
        self.model = model.and_then(|model| named(None, model, Some("moonshotai"))).or_else(|| self.model.take());
    }

    fn prompt(&mut self, blocks: Blocks) {
        self.flush();
        let mut parts = blocks.parts;
        for part in &mut parts {
            if let Part::Text { text } = part {
                *text = without_elements(text, &ADDED);
            }
        }
        merge_texts(&mut parts);
        let text: String = parts
            .iter()
            .filter_map(|part| if let Part::Text { text } = part { Some(text.trim()) } else { None })
            .collect();
        if text.is_empty() && parts.iter().all(|part| matches!(part, Part::Text { .. })) {
            return;
        }
        if self.last_prompt.as_ref() == Some(&text) {
            return;
        }
        self.last_prompt = Some(text);
        self.thread.say(Said::user(parts).at(self.time));
    }

    fn part(&mut self, part: &Object<'_>) {
        let text = first_str(part, &["text", "think", "thinking"]).unwrap_or_default().into_owned();
        match part.str("type").as_deref() {
            Some("text") => self.add(Part::Text { text }),
            Some("think" | "thinking") => self.add(Part::Reasoning { text }),
            Some("image_url") => self.add(blocks::image(part)),
            _ => self.thread.unknown(None),
        }
    }

    fn add(&mut self, part: Part) {
        if self.pending.is_empty() {
            self.since = self.time;
        }
        self.pending.push(part);
    }

    /// Gives the last call the arguments that have come in pieces.
    fn end_streamed(&mut self) {
        let text = std::mem::take(&mut self.streamed);
        let last = self.pending.iter_mut().rev().find_map(|part| match part {
            Part::ToolCall { input, .. } => Some(input),
            _ => None,
        });
        if let (Some(input), false) = (last, text.trim().is_empty()) {
            *input = serde_json::from_str(&text).unwrap_or(Value::String(text));
        }
    }

    /// Says what the agent said since the last step.
    fn flush(&mut self) {
        self.end_streamed();
        let mut parts = std::mem::take(&mut self.pending);
        if parts.is_empty() {
            return;
        }
        merge_texts(&mut parts);
        self.last_prompt = None;
        self.thread.say(Said::agent(self.model.clone(), parts).at(self.since));
    }
}
