//! GitHub's Copilot CLI: a row for each event. `docs/formats/copilot-cli.md` says more.

use std::{borrow::Cow, collections::HashMap, io::BufRead};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{Blocks, ToolResult, arguments, first_str, output_of},
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part,
    input::{beside, read_objects},
    rows::{Object, Warnings},
};

/// Beginnings of events that say nothing in the conversation.
const SILENT: [&str; 14] = [
    "session.",
    "assistant.turn_",
    "assistant.intent",
    "assistant.usage",
    "assistant.streaming",
    "system.",
    "hook.",
    "permission.",
    "subagent.",
    "tool.user_requested",
    "tool.execution_partial",
    "tool.execution_progress",
    "skill.",
    "abort",
];

/// Reads the events of a session.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut session = Session {
        head: Head::default(),
        thread: Thread::new(options.fallback_time),
        model: None,
        recognised: false,
        has_prompts: false,
        submitted: Vec::new(),
        agents: HashMap::new(),
    };
    let bytes = read_objects(reader, &mut warnings, |line, object, _| session.event(line, object))?;
    session.head.title = beside::sibling(options.path.as_deref(), "workspace.yaml").as_deref().and_then(summary_of);
    one(session.thread, Harness::CopilotCli, session.head, options, warnings, (bytes, session.recognised))
}

struct Session {
    head: Head,
    thread: Thread,
    model: Option<String>,
    recognised: bool,
    has_prompts: bool,
    /// Prompts that only a hook was told of, and where they belong.
    submitted: Vec<String>,
    /// Calls that are an agent's of its own, by the id of the call that started it.
    agents: HashMap<String, u64>,
}

impl Session {
    fn event(&mut self, line: Option<u64>, object: &Object<'_>) {
        let kind = object.str("type").unwrap_or_default();
        let Some(data) = object.object("data") else {
            self.thread.unknown(line);
            return;
        };
        let time = object.time("timestamp");
        let id = object.str("id").map(Cow::into_owned);
        // What an agent says that another one started is not this conversation.
        if let Some(call) = data.str("parentToolCallId") {
            *self.agents.entry(call.into_owned()).or_default() += 1;
            self.thread.leave_out(
                "subagent-rows",
                line,
                "rows of another agent, which this one started, were left out",
            );
            return;
        }
        match kind.as_ref() {
            "session.start" | "session.resume" => {
                self.recognised = true;
                self.start(&data);
                self.thread.set_time(data.time("startTime").or(time));
            }
            "session.model_change" => self.choose(data.str("newModel").as_deref()),
            "user.message" => {
                self.recognised = true;
                self.prompt(&data, id, time);
            }
            "hook.start" if data.str("hookType").as_deref() == Some("userPromptSubmitted") => {
                self.recognised = true;
                let prompt = data.object("input").and_then(|input| Some(input.str("prompt")?.into_owned()));
                // A later event says the same, in versions that write one.
                if let Some(prompt) = prompt.filter(|_| !self.has_prompts) {
                    self.thread.say(Said::user(vec![Part::Text { text: prompt.clone() }]).id(id).at(time));
                    self.submitted.push(prompt);
                }
            }
            "assistant.message" => {
                self.recognised = true;
                self.answer(&data, id, time);
            }
            "assistant.reasoning" => {
                let text = data.str("content").unwrap_or_default().into_owned();
                self.thread.say(Said::agent(self.model.clone(), vec![Part::Reasoning { text }]).at(time));
            }
            "tool.execution_start" => {
                let call = data.str("toolCallId").unwrap_or_default().into_owned();
                // The message before has announced it, as a rule.
                if !self.thread.awaits(&call) {
                    let name = first_str(&data, &["toolName", "name"]).unwrap_or_default().into_owned();
                    let input = arguments(data.get("arguments"));
                    let part = Part::ToolCall { id: call, name, input, output: None, failed: false };
                    self.thread.say(Said::agent(self.model.clone(), vec![part]).id(id).at(time));
                }
            }
            "tool.execution_complete" => {
                self.choose(data.str("model").as_deref());
                self.result(&data);
            }
            kind if SILENT.iter().any(|start| kind.starts_with(start)) => {}
            _ => self.thread.unknown(line),
        }
    }

    fn start(&mut self, data: &Object<'_>) {
        let text = |key: &str| data.str(key).map(Cow::into_owned);
        self.head.id = self.head.id.take().or_else(|| text("sessionId"));
        self.head.version = text("copilotVersion").or_else(|| self.head.version.take());
        let cwd = data.object("context").and_then(|context| Some(context.str("cwd")?.into_owned()));
        self.head.cwd = self.head.cwd.take().or(cwd);
        self.choose(data.str("selectedModel").as_deref());
    }

    fn choose(&mut self, model: Option<&str>) {
        self.model = model.and_then(|model| named(None, model, None)).or_else(|| self.model.take());
    }

    fn prompt(&mut self, data: &Object<'_>, id: Option<String>, time: Option<jiff::Timestamp>) {
        self.has_prompts = true;
        // Only what a person or a command of theirs said; a skill's or a hook's words have a source of that name.
        if data.str("source").is_some_and(|source| !matches!(source.as_ref(), "user" | "" | "cli" | "acp" | "sdk")) {
            self.thread.leave_out(
                "injected-prompt",
                None,
                "messages that the program wrote in the person's place were left out",
            );
            return;
        }
        let mut parts = Blocks::of(data.get("content")).parts;
        if let [Part::Text { text }] = parts.as_slice()
            && let Some(at) = self.submitted.iter().position(|known| known.trim() == text.trim())
        {
            self.submitted.remove(at);
            return;
        }
        for file in data.array("attachments").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
            if file.str("mimeType").is_some_and(|kind| kind.starts_with("image/")) {
                parts.push(super::blocks::image(&file));
            }
        }
        self.thread.say(Said::user(parts).id(id).at(time));
    }

    fn answer(&mut self, data: &Object<'_>, id: Option<String>, time: Option<jiff::Timestamp>) {
        self.choose(data.str("model").as_deref());
        let mut parts = Vec::new();
        if let Some(text) = data.str("reasoningText") {
            parts.push(Part::Reasoning { text: text.into_owned() });
        }
        parts.extend(Blocks::of(data.get("content")).parts);
        for request in data.array("toolRequests").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
            parts.push(super::blocks::call(&request));
        }
        let id = data.str("messageId").map(Cow::into_owned).or(id);
        self.thread.say(Said::agent(self.model.clone(), parts).id(id).at(time));
    }

    fn result(&mut self, data: &Object<'_>) {
        let failed = data.bool("success") == Some(false) || data.has("error");
        let (output, images) = match data.get("error").filter(|_| data.has("error")) {
            Some(error) => output_of(Some(error)),
            None => output_of(data.get("result")),
        };
        let call_id = data.str("toolCallId").unwrap_or_default().into_owned();
        self.thread.result(ToolResult { call_id, output, failed, images });
    }
}

/// The `summary` of the file that describes a session: one line of YAML, plain or quoted.
fn summary_of(yaml: &str) -> Option<String> {
    let value = yaml.lines().find_map(|line| line.strip_prefix("summary:"))?.trim();
    let plain = match value.chars().next()? {
        '"' => serde_json::from_str(value).ok()?,
        '\'' => value.trim_matches('\'').replace("''", "'"),
        // A block that goes on over lines.
        '|' | '>' => yaml.split_once("summary:")?.1.lines().nth(1)?.trim().to_owned(),
        _ => value.to_owned(),
    };
    (!plain.is_empty()).then_some(plain)
}
