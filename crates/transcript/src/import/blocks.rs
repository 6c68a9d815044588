//! Content blocks in the shapes that providers' interfaces have made usual: Anthropic's, OpenAI's, Gemini's.

use std::borrow::Cow;

use serde_json::{Value, json, value::RawValue};

use super::codex::decoded_length;
use crate::{
    Part,
    rows::{Object, array_of, parse_raw, string_of},
};

/// What came back from a tool.
#[derive(Debug, Default)]
pub(crate) struct ToolResult {
    pub(crate) call_id: String,
    pub(crate) output: Option<String>,
    pub(crate) failed: bool,
    pub(crate) images: Vec<Part>,
}

/// What a content holds.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) parts: Vec<Part>,
    pub(crate) results: Vec<ToolResult>,
    /// Blocks of a kind that is not known.
    pub(crate) unknown: u64,
}

impl Blocks {
    /// A content that is a string, a block, or a list of both.
    pub(crate) fn of(content: Option<&RawValue>) -> Self {
        let mut blocks = Self::default();
        if let Some(raw) = content {
            blocks.add(raw);
        }
        blocks
    }

    fn add(&mut self, raw: &RawValue) {
        if let Some(text) = string_of(raw) {
            self.text(&text);
        } else if let Some(items) = array_of(raw) {
            for item in items {
                match (string_of(item), Object::from_raw(item)) {
                    (Some(text), _) => self.text(&text),
                    (None, Some(block)) => self.block(&block),
                    (None, None) => self.unknown += u64::from(item.get() != "null"),
                }
            }
        } else if let Some(block) = Object::from_raw(raw) {
            self.block(&block);
        }
    }

    fn text(&mut self, text: &str) {
        self.parts.push(Part::Text { text: text.to_owned() });
    }

    /// One block, by its `type`.
    pub(crate) fn block(&mut self, block: &Object<'_>) {
        let kind = block.str("type").unwrap_or_default();
        match kind.as_ref() {
            "text" | "input_text" | "output_text" => self.text(&block.str("text").unwrap_or_default()),
            "refusal" => self.text(&block.str("refusal").unwrap_or_default()),
            "thinking" | "think" | "reasoning" | "reasoning_text" => {
                let said = ["thinking", "think", "text", "reasoning", "content"].iter().find_map(|key| block.str(key));
                self.parts.extend(said.map(|text| Part::Reasoning { text: text.into_owned() }));
            }
            // Encrypted, or marks of where a step begins and ends.
            "redacted_thinking" | "redactedThinking" | "step-start" | "step-finish" | "cache_point" => {}
            "image" | "document" | "image_url" | "input_image" | "file" | "input_file" | "input_audio" | "audio"
            | "video" => {
                self.parts.push(image(block));
            }
            // Also the provider's own: server_tool_use, mcp_tool_use.
            kind if kind.ends_with("tool_use") => self.parts.push(call(block)),
            "tool_call" | "toolCall" | "tool-call" => self.parts.push(call(block)),
            kind if kind.ends_with("tool_result") => self.results.push(result(block)),
            "" if block.has("text") => self.text(&block.str("text").unwrap_or_default()),
            _ => self.unknown += 1,
        }
    }
}

/// The first of these members that is a string.
pub(crate) fn first_str<'a>(object: &Object<'a>, keys: &[&str]) -> Option<Cow<'a, str>> {
    keys.iter().find_map(|key| object.str(key))
}

/// A call with its id, name and arguments, whatever they are called there.
pub(crate) fn call(block: &Object<'_>) -> Part {
    // OpenAI's calls have name and arguments one deeper.
    let inner = block.object("function");
    let named = inner.as_ref().unwrap_or(block);
    let input = ["input", "arguments", "args", "parameters", "rawArgs"].iter().find_map(|key| named.get(key));
    Part::ToolCall {
        id: first_str(block, &["id", "call_id", "toolCallId", "tool_call_id", "callID"])
            .unwrap_or_default()
            .into_owned(),
        name: first_str(named, &["name", "toolName", "tool_name", "tool"]).unwrap_or_default().into_owned(),
        input: arguments(input),
        output: None,
        failed: false,
    }
}

/// A call's arguments: what a text holds that is JSON, or what stands there.
pub(crate) fn arguments(raw: Option<&RawValue>) -> Value {
    let Some(raw) = raw else { return json!({}) };
    match string_of(raw) {
        Some(text) if text.trim().is_empty() => json!({}),
        Some(text) => match serde_json::from_str(&text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
            _ => Value::String(text.into_owned()),
        },
        None => parse_raw(raw).filter(|value: &Value| !value.is_null()).unwrap_or_else(|| json!({})),
    }
}

fn result(block: &Object<'_>) -> ToolResult {
    let (output, images) = output_of(block.get("content").or_else(|| block.get("output")));
    let items = block.array("content").unwrap_or_default().into_iter().filter_map(Object::from_raw);
    let failed = block.is_true("is_error")
        || block.is_true("isError")
        || items.into_iter().any(|item| item.bool("success") == Some(false))
        || output.as_deref().is_some_and(|output| output.trim_start().starts_with("<tool_use_error>"));
    ToolResult {
        call_id: first_str(block, &["tool_use_id", "toolUseID", "tool_call_id", "toolCallId", "call_id", "id"])
            .unwrap_or_default()
            .into_owned(),
        output,
        failed,
        images,
    }
}

/// What a tool gave back, as text, and the images in it: a string, blocks, or anything else as JSON.
pub(crate) fn output_of(raw: Option<&RawValue>) -> (Option<String>, Vec<Part>) {
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return (None, Vec::new()) };
    if let Some(text) = string_of(raw) {
        return (Some(text.into_owned()), Vec::new());
    }
    let Some(items) = array_of(raw) else { return (Some(structured(raw)), Vec::new()) };
    let mut output: Option<String> = None;
    let mut images = Vec::new();
    for item in items {
        let text = match Object::from_raw(item) {
            Some(block) if block.has("text") => block.str("text").unwrap_or_default().into_owned(),
            Some(block)
                if matches!(block.str("type").as_deref(), Some("image" | "document" | "image_url" | "input_image")) =>
            {
                images.push(image(&block));
                continue;
            }
            _ => string_of(item).map_or_else(|| item.get().to_owned(), Cow::into_owned),
        };
        let output = output.get_or_insert_default();
        if !output.is_empty() {
            output.push('\n');
        }
        output.push_str(&text);
    }
    (output, images)
}

/// The text in an object that is an output, else the object as it stands.
fn structured(raw: &RawValue) -> String {
    let text = Object::from_raw(raw).and_then(|object| {
        first_str(&object, &["output", "content", "text", "stdout", "result", "error", "message"]).map(Cow::into_owned)
    });
    text.unwrap_or_else(|| raw.get().to_owned())
}

/// An image or file by its media type and its size, decoded; the bytes are never built.
pub(crate) fn image(block: &Object<'_>) -> Part {
    let source = block.object("source");
    let holder = source.as_ref().unwrap_or(block);
    let url = match block.object("image_url") {
        Some(inner) => inner.str("url").map(Cow::into_owned),
        None => first_str(block, &["image_url", "url", "imageUrl"]).map(Cow::into_owned),
    };
    if let Some((mime_type, length)) = url.as_deref().and_then(data_url) {
        return Part::Image { mime_type, bytes: length };
    }
    let mime_type = first_str(holder, &["media_type", "mimeType", "mime_type", "mime", "mediaType"])
        .filter(|kind| kind.contains('/'))
        .map_or_else(|| "image/png".to_owned(), Cow::into_owned);
    let bytes = holder.get("data").map_or(0, |data| decoded_length(data.get().trim_matches('"')));
    Part::Image { mime_type, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) }
}

/// Media type and decoded size of a `data:` address (RFC 2397).
pub(crate) fn data_url(url: &str) -> Option<(String, u64)> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(',')?;
    let is_base64 = kind.ends_with(";base64");
    let mime_type = kind.split(';').next().filter(|kind| kind.contains('/')).unwrap_or("text/plain");
    let length = if is_base64 { decoded_length(data) } else { data.len() };
    Some((mime_type.to_owned(), u64::try_from(length).unwrap_or(u64::MAX)))
}

/// Parts of a Gemini message: text, thoughts, calls, results, inline data.
pub(crate) fn gemini(content: Option<&RawValue>) -> Blocks {
    let mut blocks = Blocks::default();
    let Some(raw) = content else { return blocks };
    if let Some(text) = string_of(raw) {
        blocks.text(&text);
        return blocks;
    }
    let items = array_of(raw).unwrap_or_else(|| vec![raw]);
    for item in items {
        let Some(part) = Object::from_raw(item) else {
            match string_of(item) {
                Some(text) => blocks.text(&text),
                None => blocks.unknown += 1,
            }
            continue;
        };
        if let Some(call) = part.object("functionCall") {
            blocks.parts.push(self::call(&call));
        } else if let Some(response) = part.object("functionResponse") {
            blocks.results.push(gemini_result(&response));
        } else if let Some(text) = part.str("text") {
            let is_thought = part.is_true("thought");
            let text = text.into_owned();
            blocks.parts.push(if is_thought { Part::Reasoning { text } } else { Part::Text { text } });
        } else if let Some(data) = part.object("inlineData") {
            blocks.parts.push(image(&data));
        } else if let Some(file) = part.object("fileData") {
            let mime_type = file.str("mimeType").unwrap_or_default().into_owned();
            blocks.parts.push(Part::Image { mime_type, bytes: 0 });
        } else {
            blocks.unknown += 1;
        }
    }
    // A prompt that comes in several parts is one text.
    merge_texts(&mut blocks.parts);
    blocks
}

/// What a Gemini tool gave back. `error` instead of `output` says that it failed.
pub(crate) fn gemini_result(response: &Object<'_>) -> ToolResult {
    let inner = response.object("response").unwrap_or_default();
    let error = inner.has("error");
    let output = match inner.get("error").filter(|_| error).or_else(|| inner.get("output")) {
        Some(raw) => output_of(Some(raw)).0,
        None => response.get("response").map(|raw| raw.get().to_owned()),
    };
    ToolResult {
        call_id: response.str("id").unwrap_or_default().into_owned(),
        output,
        failed: error,
        images: Vec::new(),
    }
}

/// Joins texts that follow one another: a stream's pieces.
pub(crate) fn merge_texts(parts: &mut Vec<Part>) {
    let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts.drain(..) {
        match (merged.last_mut(), part) {
            (Some(Part::Text { text }), Part::Text { text: more })
            | (Some(Part::Reasoning { text }), Part::Reasoning { text: more }) => text.push_str(&more),
            (_, part) => merged.push(part),
        }
    }
    *parts = merged;
}
