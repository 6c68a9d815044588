//! Entries of the branch into messages, each tool's result in its call.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use jiff::Timestamp;
use serde_json::json;

use super::person;
use crate::{
    Message, Part, Role,
    import::codex::{
        self,
        json::{Object, array_of, string_of},
    },
    rows,
};

/// What one entry says.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing.
    Silent,
    /// Which model answers from here on.
    Model { provider: Option<String>, model: Option<String> },
    /// A person's or the agent's message, or a command that the person ran.
    Said {
        role: Role,
        time: Option<Timestamp>,
        provider: Option<String>,
        model: Option<String>,
        parts: Vec<Part>,
        broke_off: bool,
    },
    /// What a tool gave back.
    Result { call_id: String, output: Option<String>, failed: bool, images: Vec<Part> },
}

impl Content {
    /// The model that a `model_change` entry or a first-version header names.
    pub(super) fn model_of(object: &rows::Object<'_>) -> Self {
        let provider = object.str("provider").map(Cow::into_owned);
        if let Some(id) = object.str("modelId") {
            return Self::Model { provider, model: Some(id.into_owned()) };
        }
        // omp writes both as one.
        match object.str("model").as_deref().and_then(|model| model.split_once('/')) {
            Some((provider, model)) => {
                Self::Model { provider: Some(provider.to_owned()), model: Some(model.to_owned()) }
            }
            None => Self::Model { provider, model: object.str("model").map(Cow::into_owned) },
        }
    }
}

/// What the `message` of an entry says. `time` is the entry's own.
pub(super) fn content_of(message: &Object<'_>, time: Option<Timestamp>) -> Content {
    let time = time.or_else(|| message.time("timestamp"));
    match message.str("role").as_deref() {
        Some("user") => Content::Said {
            role: Role::User,
            time,
            provider: None,
            model: None,
            parts: prompt_parts(message.get("content")),
            broke_off: false,
        },
        Some("assistant") => Content::Said {
            role: Role::Assistant,
            time,
            provider: message.str("provider").map(Cow::into_owned),
            model: message.str("model").map(Cow::into_owned),
            parts: answer_parts(message.get("content")),
            broke_off: message.str("stopReason").is_some_and(|reason| matches!(reason.as_ref(), "error" | "aborted")),
        },
        Some("toolResult") => {
            let (output, images) = result_of(message.get("content"));
            Content::Result {
                call_id: message.str("toolCallId").unwrap_or_default().into_owned(),
                output,
                failed: message.is_true("isError"),
                images,
            }
        }
        // A command that the person ran with `!`: theirs, and no prompt.
        Some("bashExecution") => {
            let failed = message.i64("exitCode").is_some_and(|code| code != 0) || message.is_true("cancelled");
            Content::Said {
                role: Role::User,
                time,
                provider: None,
                model: None,
                parts: vec![Part::ToolCall {
                    id: String::new(),
                    name: "bash".to_owned(),
                    input: json!({ "command": message.str("command").unwrap_or_default() }),
                    output: message.str("output").map(Cow::into_owned),
                    failed,
                }],
                broke_off: false,
            }
        }
        // `custom`, `hookMessage`, `branchSummary`, `compactionSummary`: context for the model.
        _ => Content::Silent,
    }
}

/// Blocks of a content that is a string or an array; the string alone has none.
fn blocks(content: Option<&str>) -> Vec<Object<'_>> {
    content.and_then(array_of).unwrap_or_default().into_iter().filter_map(Object::of).collect()
}

fn prompt_parts(content: Option<&str>) -> Vec<Part> {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    if let Some(text) = content.and_then(string_of) {
        texts.push(person::words(&text));
    }
    for block in blocks(content) {
        if let Some(text) = block.str("text") {
            texts.push(person::words(&text));
        } else {
            images.extend(image_of(&block));
        }
    }
    texts.retain(|text| !text.is_empty());
    let mut parts: Vec<Part> = texts.into_iter().map(|text| Part::Text { text }).collect();
    parts.extend(images);
    parts
}

fn answer_parts(content: Option<&str>) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(text) = content.and_then(string_of).filter(|text| !text.trim().is_empty()) {
        parts.push(Part::Text { text: text.trim().to_owned() });
    }
    for block in blocks(content) {
        let text_in =
            |key: &str| block.str(key).filter(|text| !text.trim().is_empty()).map(|text| text.trim().to_owned());
        match block.str("type").as_deref() {
            Some("text") => parts.extend(text_in("text").map(|text| Part::Text { text })),
            Some("thinking") => parts.extend(text_in("thinking").map(|text| Part::Reasoning { text })),
            Some("toolCall") => parts.push(Part::ToolCall {
                id: block.str("id").unwrap_or_default().into_owned(),
                name: block.str("name").unwrap_or_default().into_owned(),
                input: block.value("arguments").unwrap_or_else(|| json!({})),
                output: None,
                failed: false,
            }),
            _ => parts.extend(image_of(&block)),
        }
    }
    parts
}

fn result_of(content: Option<&str>) -> (Option<String>, Vec<Part>) {
    if let Some(text) = content.and_then(string_of) {
        return (Some(text.into_owned()), Vec::new());
    }
    let mut output: Option<String> = None;
    let mut images = Vec::new();
    for block in blocks(content) {
        if let Some(text) = block.str("text") {
            match &mut output {
                Some(output) => {
                    output.push('\n');
                    output.push_str(&text);
                }
                None => output = Some(text.into_owned()),
            }
        } else {
            images.extend(image_of(&block));
        }
    }
    (output, images)
}

fn image_of(block: &Object<'_>) -> Option<Part> {
    let mime_type = block.str("mimeType").unwrap_or(Cow::Borrowed("image/png")).into_owned();
    let bytes = codex::decoded_length(&block.str("data")?);
    Some(Part::Image { mime_type, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) })
}

/// The messages of a branch, built in its order.
#[derive(Debug)]
pub(super) struct Thread {
    time: Timestamp,
    provider: Option<String>,
    model: Option<String>,
    messages: Vec<Message>,
    /// Where the calls of each id are that have no result: message and part.
    open: HashMap<String, VecDeque<(usize, usize)>>,
    /// Messages after which the provider failed or the person stopped it.
    broken: Vec<usize>,
    orphans: u64,
}

impl Thread {
    pub(super) fn new(time: Timestamp) -> Self {
        Self {
            time,
            provider: None,
            model: None,
            messages: Vec::new(),
            open: HashMap::new(),
            broken: Vec::new(),
            orphans: 0,
        }
    }

    pub(super) fn push(&mut self, id: Option<String>, content: Content) {
        match content {
            Content::Silent => {}
            Content::Model { provider, model } => {
                if model.is_some() {
                    self.provider = provider;
                    self.model = model;
                }
            }
            Content::Said { role, time, provider, model, parts, broke_off } => {
                if let Some(time) = time {
                    self.time = time;
                }
                let model = if role == Role::Assistant { self.model_name(provider, model) } else { None };
                let at = self.messages.len();
                for (index, part) in parts.iter().enumerate() {
                    if let (Part::ToolCall { id, .. }, Role::Assistant) = (part, role) {
                        self.open.entry(id.clone()).or_default().push_back((at, index));
                    }
                }
                if broke_off {
                    self.broken.push(at);
                }
                self.messages.push(Message { id, role, created_at: self.time, model, parts });
            }
            Content::Result { call_id, output, failed, images } => self.result(&call_id, output, failed, images),
        }
    }

    fn model_name(&self, provider: Option<String>, model: Option<String>) -> Option<String> {
        // openclaw's copy of a message that it delivered names no model.
        let said = model.filter(|model| model != "delivery-mirror");
        let (provider, model) = match said {
            Some(model) => (provider.or_else(|| self.provider.clone()), model),
            None => (self.provider.clone(), self.model.clone()?),
        };
        Some(match provider {
            Some(provider) if !model.starts_with(&format!("{provider}/")) => format!("{provider}/{model}"),
            _ => model,
        })
    }

    fn result(&mut self, call_id: &str, result: Option<String>, has_failed: bool, images: Vec<Part>) {
        let call = self.open.get_mut(call_id).and_then(VecDeque::pop_front);
        let Some((message, part)) = call else {
            self.orphans += 1;
            return;
        };
        let Some(message) = self.messages.get_mut(message) else { return };
        if let Some(Part::ToolCall { output, failed, .. }) = message.parts.get_mut(part) {
            *output = result;
            *failed = has_failed;
        }
        // At the end, so that the places of the other calls stay what they are.
        message.parts.extend(images);
    }

    /// The messages, and how many results had no call.
    pub(super) fn finish(mut self) -> (Vec<Message>, u64) {
        // What was called in a message that broke off was never run.
        for index in self.broken {
            for part in self.messages.get_mut(index).into_iter().flat_map(|message| &mut message.parts) {
                if let Part::ToolCall { output: None, failed, .. } = part {
                    *failed = true;
                }
            }
        }
        (self.messages, self.orphans)
    }
}
