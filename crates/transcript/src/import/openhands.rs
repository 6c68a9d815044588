//! OpenHands: an event a file, or all in one. `docs/formats/openhands.md` says more.

use std::{borrow::Cow, collections::HashMap, io::BufRead};

use serde_json::{Map, Value, json};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{Blocks, ToolResult, arguments, first_str, output_of},
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part,
    input::{beside, documents::parse_object, read_objects},
    rows::{Object, Warnings},
};

/// Events that say nothing in the conversation.
const SILENT: [&str; 9] = [
    "SystemPromptEvent",
    "ConversationStateUpdateEvent",
    "CondensationEvent",
    "Condensation",
    "CondensationRequest",
    "CondensationSummaryEvent",
    "StateEvent",
    "TokenEvent",
    "PauseEvent",
];

/// Reads the events of a conversation, or the state beside which they lie in a folder.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut events = Events {
        thread: Thread::new(options.fallback_time),
        head: Head::default(),
        model: None,
        calls: HashMap::new(),
        recognised: false,
    };
    let bytes = read_objects(reader, &mut warnings, |line, object, _| events.object(line, object, options))?;
    one(events.thread, Harness::OpenHands, events.head, options, warnings, (bytes, events.recognised))
}

struct Events {
    thread: Thread,
    head: Head,
    model: Option<String>,
    /// What the calls of events are called, by the event's id.
    calls: HashMap<String, String>,
    recognised: bool,
}

impl Events {
    fn object(&mut self, line: Option<u64>, object: &Object<'_>, options: &ParseOptions) {
        if let Some(items) = ["items", "events", "history"].iter().find_map(|key| object.array(key)) {
            for item in items.into_iter().filter_map(Object::from_raw) {
                self.event(line, &item);
            }
        } else if object.has("agent") && !object.has("kind") {
            self.recognised = true;
            self.state(object);
            let folder = options.path.as_deref().and_then(|path| path.parent());
            self.head.id = self.head.id.take().or_else(|| Some(folder?.file_name()?.to_string_lossy().into_owned()));
            for path in folder.map(|folder| beside::files(&folder.join("events"), ".json")).unwrap_or_default() {
                let text = beside::read(&path).unwrap_or_default();
                let read = parse_object(text.as_bytes(), |raw| {
                    self.event(None, &Object::from_raw(raw).unwrap_or_default());
                });
                if read.is_none() {
                    self.thread.leave_out("malformed-line", None, "events could not be read and were skipped");
                }
            }
        } else {
            self.event(line, object);
        }
    }

    fn state(&mut self, state: &Object<'_>) {
        self.head.id = state.str("id").map(Cow::into_owned);
        let agent = state.object("agent").unwrap_or_default();
        let model = agent.object("llm").and_then(|llm| Some(llm.str("model")?.into_owned()));
        // Spoken to through OpenHands' own proxy, a model keeps its maker.
        let model =
            model.map(|model| ["openhands/", "litellm_proxy/"].iter().fold(model, |m, proxy| m.replace(proxy, "")));
        self.model = model.and_then(|model| named(None, &model, None));
        self.head.cwd = state.object("workspace").and_then(|place| Some(place.str("working_dir")?.into_owned()));
    }

    fn event(&mut self, line: Option<u64>, event: &Object<'_>) {
        let id = event.str("id").map(Cow::into_owned).or_else(|| event.i64("id").map(|id| id.to_string()));
        let Some(id) = id else {
            self.thread.unknown(line);
            return;
        };
        self.thread.set_time(event.time("timestamp"));
        match event.str("kind").as_deref() {
            Some("MessageEvent") => {
                self.recognised = true;
                self.message(event, &id);
            }
            Some("ActionEvent") => {
                self.recognised = true;
                self.action(event, &id);
            }
            Some("ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" | "NonExecutableActionEvent") => {
                self.recognised = true;
                self.observation(event);
            }
            Some(kind) if SILENT.contains(&kind) => {}
            None if event.has("action") => {
                self.recognised = true;
                self.old_action(event, id);
            }
            None if event.has("observation") => {
                self.recognised = true;
                self.old_observation(event);
            }
            _ => self.thread.unknown(line),
        }
    }

    fn message(&mut self, event: &Object<'_>, id: &str) {
        let message = event.object("llm_message").unwrap_or_default();
        let parts = Blocks::of(message.get("content")).parts;
        let by_person = event.str("source").map_or_else(|| message.str("role"), Some).is_some_and(|who| who == "user");
        if by_person {
            self.thread.say(Said::user(parts).id(Some(id)));
        } else if event.str("source").as_deref() != Some("environment") {
            let mut all = reasoning(&message);
            all.extend(parts);
            self.thread.say(Said::agent(self.model.clone(), all).id(Some(id)));
        }
    }

    fn action(&mut self, event: &Object<'_>, id: &str) {
        let mut parts = reasoning(event);
        parts.extend(Blocks::of(event.get("thought")).parts);
        let call = event.object("tool_call").unwrap_or_default();
        let action = event.object("action").unwrap_or_default();
        let kind = action.str("kind");
        // By this the agent says its last words.
        if kind.as_deref() == Some("FinishAction") {
            parts.extend(action.str("message").map(|text| Part::Text { text: text.into_owned() }));
        }
        let name = event.str("tool_name").or_else(|| call.str("name")).or(kind).unwrap_or(Cow::Borrowed("unknown"));
        let call_id =
            first_str(event, &["tool_call_id"]).or_else(|| call.str("id")).map_or(id.to_owned(), Cow::into_owned);
        self.calls.insert(id.to_owned(), call_id.clone());
        let said = call.get("arguments").or_else(|| call.object("function")?.get("arguments"));
        let input = said.map_or_else(|| without_kind(&action), |raw| arguments(Some(raw)));
        parts.push(Part::ToolCall { id: call_id, name: name.into_owned(), input, output: None, failed: false });
        self.thread.say(Said::agent(self.model.clone(), parts).id(Some(id)));
    }

    fn observation(&mut self, event: &Object<'_>) {
        let named = event.str("tool_call_id").map(Cow::into_owned);
        let call_id = named
            .filter(|id| self.thread.awaits(id))
            .or_else(|| self.calls.get(event.str("action_id")?.as_ref()).cloned())
            .unwrap_or_default();
        let observation = event.object("observation").unwrap_or_default();
        let (output, images, failed) = if let Some(error) = first_str(event, &["error", "rejection_reason"]) {
            (Some(error.into_owned()), Vec::new(), true)
        } else {
            let content = ["content", "output", "message"].iter().find_map(|key| observation.get(key));
            let (output, images) = output_of(content);
            let exit = observation.i64("exit_code").or_else(|| observation.object("metadata")?.i64("exit_code"));
            // -1: still running.
            let failed =
                observation.is_true("is_error") || observation.has("error") || exit.is_some_and(|code| code > 0);
            (output, images, failed)
        };
        self.thread.result(ToolResult { call_id, output, failed, images });
    }

    /// An action of the versions before 1.0.
    fn old_action(&mut self, event: &Object<'_>, id: String) {
        let action = event.str("action").unwrap_or_default();
        let args = event.object("args").unwrap_or_default();
        let by_person = event.str("source").as_deref() == Some("user");
        let text = |key: &str| args.str(key).filter(|text| !text.trim().is_empty()).map(Cow::into_owned);
        match action.as_ref() {
            "message" => {
                let parts = vec![Part::Text { text: text("content").unwrap_or_default() }];
                let said = if by_person { Said::user(parts) } else { Said::agent(self.model.clone(), parts) };
                self.thread.say(said.id(Some(id)));
            }
            "system"
            | "change_agent_state"
            | "recall"
            | "null"
            | "condensation"
            | "condensation_request"
            | "loop_recovery" => {}
            _ => {
                let mut parts = Vec::new();
                if action != "think" {
                    parts.extend(text("thought").map(|text| Part::Text { text }));
                }
                if action == "finish" {
                    parts.extend(text("final_thought").map(|text| Part::Text { text }));
                }
                let mut input = args.members().fold(Map::new(), |mut input, (name, raw)| {
                    input.extend(serde_json::from_str(raw.get()).ok().map(|value: Value| (name.to_owned(), value)));
                    input
                });
                for name in [
                    "thought",
                    "final_thought",
                    "security_risk",
                    "confirmation_state",
                    "blocking",
                    "hidden",
                    "is_static",
                    "is_input",
                    "cwd",
                ] {
                    input.remove(name);
                }
                let named =
                    event.object("tool_call_metadata").and_then(|data| Some(data.str("function_name")?.into_owned()));
                let name = named.unwrap_or_else(|| action.into_owned());
                parts.push(Part::ToolCall {
                    id: id.clone(),
                    name,
                    input: Value::Object(input),
                    output: None,
                    failed: false,
                });
                self.thread.say(Said::agent(self.model.clone(), parts).id(Some(id)));
            }
        }
    }

    fn old_observation(&mut self, event: &Object<'_>) {
        let kind = event.str("observation").unwrap_or_default();
        if matches!(kind.as_ref(), "agent_state_changed" | "null" | "recall" | "condense") {
            return;
        }
        let cause = event.i64("cause").map(|id| id.to_string()).or_else(|| event.str("cause").map(Cow::into_owned));
        let extras = event.object("extras").unwrap_or_default();
        let exit = extras.i64("exit_code").or_else(|| extras.object("metadata")?.i64("exit_code"));
        let failed = kind == "error" || kind == "user_rejected" || exit.is_some_and(|code| code > 0);
        let output = output_of(event.get("content")).0;
        self.thread.result(ToolResult { call_id: cause.unwrap_or_default(), output, failed, images: Vec::new() });
    }
}

fn reasoning(event: &Object<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    parts.extend(event.str("reasoning_content").map(|text| Part::Reasoning { text: text.into_owned() }));
    if parts.is_empty() {
        parts.extend(Blocks::of(event.get("thinking_blocks")).parts);
    }
    parts
}

fn without_kind(action: &Object<'_>) -> Value {
    let members = action.members().filter(|(name, _)| *name != "kind");
    let map: Map<String, Value> =
        members.filter_map(|(name, raw)| Some((name.to_owned(), serde_json::from_str(raw.get()).ok()?))).collect();
    if map.is_empty() { json!({}) } else { Value::Object(map) }
}
