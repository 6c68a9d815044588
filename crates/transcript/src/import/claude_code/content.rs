//! Content blocks of a message.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Value, value::RawValue};

use crate::{
    Part,
    rows::{Key, Object, array_of, string_of},
};

/// A message, its content read in one pass: the blocks are a quarter of a file's bytes, and to go
/// from slice to slice would read them four times.
#[derive(Debug, Default)]
pub(super) struct MessageView<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) model: Option<Cow<'a, str>>,
    pub(super) content: Items<'a>,
}

/// A content as it stands: a string, or a list of blocks.
#[derive(Debug, Default)]
pub(super) struct Items<'a>(Vec<Item<'a>>);

#[derive(Debug)]
enum Item<'a> {
    Text(String),
    Block(Object<'a>),
    /// Neither a text nor a block.
    Odd,
}

impl<'a> MessageView<'a> {
    /// `raw` as a message; `None` if it is no object.
    pub(super) fn from_raw(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for MessageView<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = MessageView<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut message = MessageView::default();
                while let Some(key) = map.next_key_seed(Key)? {
                    match key.as_ref() {
                        "id" => message.id = string_of(map.next_value()?),
                        "model" => message.model = string_of(map.next_value()?),
                        "content" => message.content = map.next_value()?,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(message)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// The visits of a value of no use here.
macro_rules! visit_scalars {
    ($value:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Items(vec![Item::Text(text.to_owned())]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::with_capacity(1);
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Items::default())
            }

            visit_scalars!(Items::default());
        }
        deserializer.deserialize_any(Whole)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Item<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl<'de> Visitor<'de> for One {
            type Value = Item<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Item::Text(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Object::deserialize(MapAccessDeserializer::new(map)).map(Item::Block)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Item::Odd)
            }

            visit_scalars!(Item::Odd);
        }
        deserializer.deserialize_any(One)
    }
}

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
    pub(super) fn of(items: Items<'_>, row_error: bool) -> Self {
        let mut content = Self::default();
        for item in items.0 {
            match item {
                Item::Text(text) => content.text(text),
                Item::Block(block) => content.block(&block, row_error),
                Item::Odd => content.unknown += 1,
            }
        }
        content
    }

    /// A content that stands elsewhere than in a message.
    pub(super) fn read(raw: &RawValue) -> Self {
        serde_json::from_str(raw.get()).map(|items| Self::of(items, false)).unwrap_or_default()
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
