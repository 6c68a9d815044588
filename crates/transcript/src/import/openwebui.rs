//! Open WebUI, from its export. `docs/formats/openwebui.md` says more.

use std::{borrow::Cow, io::BufRead};

use serde_json::{Value, json};

use super::{
    Error, ParseOptions, Parsed,
    blocks::Blocks,
    html,
    model_name::named,
    nodes::Nodes,
    openai,
    pick::{Listed, Pick},
    thread::{Said, Thread},
};
use crate::{
    Conversation, Harness, Part,
    input::documents::read_values,
    rows::{Object, Warnings},
};

/// Reads the chat that the options name, else the one that changed last.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    super::export::parse(Harness::OpenWebUi, reader, options)
}

/// Goes through the chats of a file.
pub(crate) fn conversations(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    pick: &mut Pick<'_>,
    warnings: &mut Warnings,
) -> Result<(u64, bool), Error> {
    let mut recognised = false;
    let mut failed = None;
    let bytes = read_values(reader, warnings, |raw, _| {
        let Some(object) = Object::from_raw(raw) else { return };
        let Some(chat) = object.object("chat").or_else(|| object.has("history").then_some(object)) else { return };
        let Some(object) = Object::from_raw(raw) else { return };
        recognised = true;
        let id =
            object.str("id").or_else(|| chat.str("id")).map_or_else(|| options.fallback_id.clone(), Cow::into_owned);
        let title =
            object.str("title").or_else(|| chat.str("title")).map(Cow::into_owned).filter(|title| title != "New Chat");
        let modified = ["updated_at", "created_at"].iter().find_map(|key| object.time(key));
        let listed = Listed::new(id, title, modified.or_else(|| chat.time("timestamp")));
        if pick.wants(&listed) {
            match read(&object, &chat, &listed, options) {
                Ok(conversation) => pick.offer(&listed, conversation),
                Err(error) => failed = Some(error),
            }
        }
    })?;
    failed.map_or(Ok((bytes, recognised)), Err)
}

fn read(
    object: &Object<'_>,
    chat: &Object<'_>,
    listed: &Listed,
    options: &ParseOptions,
) -> Result<Option<Conversation>, Error> {
    let mut thread = Thread::new(object.time("created_at").or(listed.modified).unwrap_or(options.fallback_time));
    let history = chat.object("history").unwrap_or_default();
    let mut nodes = Nodes::default();
    for (id, raw) in history.object("messages").unwrap_or_default().members() {
        let Some(message) = Object::from_raw(raw) else { continue };
        nodes.push(id.to_owned(), message.str("parentId").map(Cow::into_owned), message);
    }
    let (branch, others) = nodes.branch(history.str("currentId").as_deref(), options.branch.as_deref())?;
    for _ in 0..others {
        thread.leave_out(
            "other-branch",
            None,
            "other branches were left out; --branch with the id of a message reads one",
        );
    }
    for (id, message) in branch {
        say(&mut thread, &id, &message);
    }
    let head = listed.head();
    Ok(thread.conversation(Harness::OpenWebUi, head, options, &[]))
}

fn say(thread: &mut Thread, id: &str, message: &Object<'_>) {
    let time = message.time("timestamp");
    match message.str("role").as_deref() {
        Some("user") => {
            let mut parts = Blocks::of(message.get("content")).parts;
            for file in message.array("files").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
                if file.str("type").as_deref() == Some("image") {
                    parts.push(super::blocks::image(&file));
                }
            }
            thread.say(Said::user(parts).id(Some(id)).at(time));
        }
        Some("assistant") => {
            let model = message.str("model").and_then(|model| named(None, &model, None));
            let mut blocks = Blocks::default();
            for item in message.array("output").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
                openai::item(&item, &mut blocks);
            }
            if blocks.parts.is_empty() {
                blocks.parts = pieces(&message.str("content").unwrap_or_default());
            }
            for _ in 0..blocks.unknown {
                thread.unknown(None);
            }
            thread.say(Said::agent(model, blocks.parts).id(Some(id)).at(time));
            for result in blocks.results {
                thread.result(result);
            }
        }
        Some("system") => {}
        _ => thread.unknown(None),
    }
}

/// A text with reasoning and calls in elements `<details>`, as parts.
fn pieces(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<details type=\"") {
        let Some((attributes, inner)) = html::end_of_tag(after) else { break };
        let (content, after) = inner.split_once("</details>").unwrap_or((inner, ""));
        let kind = attributes.split('"').next().unwrap_or_default();
        parts.push(Part::Text { text: before.trim().to_owned() });
        let content = content.split_once("</summary>").map_or(content, |(_, content)| content);
        match kind {
            "reasoning" => {
                let unescaped = html::unescape(content.trim());
                let lines: Vec<&str> =
                    unescaped.lines().map(|line| line.strip_prefix('>').unwrap_or(line).trim_start()).collect();
                parts.push(Part::Reasoning { text: lines.join("\n") });
            }
            "tool_calls" => parts.push(call(attributes, content)),
            // What ran code, and whatever else is folded: the person sees its summary alone.
            _ => {}
        }
        rest = after;
    }
    parts.push(Part::Text { text: rest.trim().to_owned() });
    parts
}

fn call(attributes: &str, content: &str) -> Part {
    let attribute = |name: &str| {
        let (_, after) = attributes.split_once(&format!(" {name}=\""))?;
        Some(html::unescape(after.split('"').next().unwrap_or_default()))
    };
    // What is JSON text of JSON text is taken out of both.
    let parsed = |text: String| -> Value {
        match serde_json::from_str(&text) {
            Ok(Value::String(inner)) => serde_json::from_str(&inner).unwrap_or(Value::String(inner)),
            Ok(value) => value,
            Err(_) => Value::String(text),
        }
    };
    let input = attribute("arguments").map_or_else(|| json!({}), parsed);
    let result = attribute("result").or_else(|| Some(html::unescape(content.trim())).filter(|text| !text.is_empty()));
    let output = result.map(|text| match parsed(text) {
        Value::String(text) => text,
        value => value.to_string(),
    });
    Part::ToolCall {
        id: attribute("id").unwrap_or_default(),
        name: attribute("name").unwrap_or_else(|| "tool".to_owned()),
        input,
        output,
        failed: false,
    }
}
