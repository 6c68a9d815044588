//! Content blocks of a message.

use serde_json::{Value, value::RawValue};

use crate::{
    Part,
    rows::{Object, array_of, string_of},
};

/// What an agent's message holds.
#[derive(Debug)]
pub(super) enum Block {
    Text(String),
    Reasoning(String),
    Call { id: String, name: String, input: Value },
    Image(Part),
}

/// What came back from a tool.
#[derive(Debug)]
pub(super) struct ToolResult {
    pub(super) call_id: String,
    pub(super) output: String,
    pub(super) images: Vec<Part>,
    pub(super) failed: bool,
    /// Its whole output lies in a file of its own.
    pub(super) persisted: bool,
}

/// The blocks of a message's content, which is a string or a list.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) blocks: Vec<Block>,
    pub(super) results: Vec<ToolResult>,
    /// Blocks of a kind that is not known.
    pub(super) unknown: u64,
}

/// What Claude Code writes where a message has no text.
const NO_CONTENT: &str = "(no content)";

impl Content {
    /// `row_error`: the row's own account of the tool's answer says that it is an error.
    pub(super) fn read(content: &RawValue, row_error: bool) -> Self {
        let mut read = Self::default();
        if let Some(text) = string_of(content) {
            read.text(text.into_owned());
            return read;
        }
        for block in array_of(content).unwrap_or_default() {
            if let Some(text) = string_of(block) {
                read.text(text.into_owned());
            } else if let Some(block) = Object::from_raw(block) {
                read.block(&block, row_error);
            } else {
                read.unknown += 1;
            }
        }
        read
    }

    fn text(&mut self, text: String) {
        if !text.trim().is_empty() && text != NO_CONTENT {
            self.blocks.push(Block::Text(text));
        }
    }

    fn block(&mut self, block: &Object<'_>, row_error: bool) {
        let kind = block.str("type").unwrap_or_default();
        match kind.as_ref() {
            "text" => self.text(block.str("text").unwrap_or_default().into_owned()),
            "thinking" => {
                let text = block.str("thinking").unwrap_or_default();
                if !text.trim().is_empty() {
                    self.blocks.push(Block::Reasoning(text.into_owned()));
                }
            }
            // Its text is encrypted: there is nothing to see.
            "redacted_thinking" => {}
            "image" | "document" => self.blocks.push(Block::Image(image(block))),
            // Also the provider's own: server_tool_use, mcp_tool_use; web_search_tool_result.
            kind if kind.ends_with("tool_use") => self.blocks.push(Block::Call {
                id: block.str("id").unwrap_or_default().into_owned(),
                name: block.str("name").unwrap_or_default().into_owned(),
                input: block.value("input").unwrap_or_default(),
            }),
            kind if kind.ends_with("tool_result") => self.results.push(result(block, row_error)),
            _ => self.unknown += 1,
        }
    }
}

fn result(block: &Object<'_>, row_error: bool) -> ToolResult {
    let mut output = String::new();
    let mut images = Vec::new();
    if let Some(content) = block.get("content") {
        if let Some(text) = string_of(content) {
            output = text.into_owned();
        }
        for item in array_of(content).unwrap_or_default().into_iter().filter_map(Object::from_raw) {
            if let Some(text) = item.str("text") {
                if !output.is_empty() {
                    output.push('\n');
                }
                output.push_str(&text);
            } else if matches!(item.str("type").as_deref(), Some("image" | "document")) {
                images.push(image(&item));
            }
        }
    }
    let failed = block.is_true("is_error") || row_error || output.trim_start().starts_with("<tool_use_error>");
    ToolResult {
        call_id: block.str("tool_use_id").unwrap_or_default().into_owned(),
        persisted: output.contains("<persisted-output>"),
        output,
        images,
        failed,
    }
}

/// An image or document by its media type and its size, decoded; the bytes are never built.
fn image(block: &Object<'_>) -> Part {
    let source = block.object("source").unwrap_or_default();
    let mime_type = source.str("media_type").unwrap_or_default().into_owned();
    let bytes = source.get("data").map_or(0, |data| {
        let data = data.get().trim_matches('"');
        let digits = data.trim_end_matches('=').len();
        u64::try_from(digits).unwrap_or(u64::MAX).saturating_mul(3) / 4
    });
    Part::Image { mime_type, bytes }
}
