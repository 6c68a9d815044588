//! Anthropic's Claude apps, from their export. `docs/formats/claude-ai.md` says more.

use std::{borrow::Cow, io::BufRead};

use super::{
    Error, ParseOptions, Parsed,
    blocks::Blocks,
    nodes::Nodes,
    pick::{Listed, Pick},
    thread::{Said, Thread},
};
use crate::{
    Conversation, Harness, Part,
    input::documents::read_values,
    rows::{Object, Warnings},
};

/// What stands in a message's merged text for a block that it cannot show.
const NOT_SHOWN: &str = "This block is not supported on your current device yet.";

/// Reads the conversation that the options name, else the one that changed last.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    super::export::parse(Harness::ClaudeAi, reader, options)
}

/// Goes through the conversations of a file.
pub(crate) fn conversations(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    pick: &mut Pick<'_>,
    warnings: &mut Warnings,
) -> Result<(u64, bool), Error> {
    let mut recognised = false;
    let mut failed = None;
    let bytes = read_values(reader, warnings, |raw, _| {
        let Some(object) = Object::from_raw(raw).filter(|object| object.has("chat_messages")) else { return };
        recognised = true;
        let id = object.str("uuid").map_or_else(|| options.fallback_id.clone(), Cow::into_owned);
        let title = object.str("name").map(Cow::into_owned).filter(|title| !title.trim().is_empty());
        let listed = Listed::new(id, title, object.time("updated_at").or_else(|| object.time("created_at")));
        if pick.wants(&listed) {
            match read(&object, &listed, options) {
                Ok(conversation) => pick.offer(&listed, conversation),
                Err(error) => failed = Some(error),
            }
        }
    })?;
    failed.map_or(Ok((bytes, recognised)), Err)
}

fn read(object: &Object<'_>, listed: &Listed, options: &ParseOptions) -> Result<Option<Conversation>, Error> {
    let mut thread = Thread::new(object.time("created_at").or(listed.modified).unwrap_or(options.fallback_time));
    let mut nodes = Nodes::default();
    for (index, raw) in object.array("chat_messages").unwrap_or_default().into_iter().enumerate() {
        let Some(message) = Object::from_raw(raw) else { continue };
        let id = message.str("uuid").map_or_else(|| format!("#{index}"), Cow::into_owned);
        nodes.push(id, message.str("parent_message_uuid").map(Cow::into_owned), message);
    }
    let current = object.str("current_leaf_message_uuid");
    let (branch, others) = nodes.branch(current.as_deref(), options.branch.as_deref())?;
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
    Ok(thread.conversation(Harness::ClaudeAi, head, options, &[]))
}

fn say(thread: &mut Thread, id: &str, message: &Object<'_>) {
    let mut blocks = Blocks::default();
    let mut calls = 0_u64;
    for item in message.array("content").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        match item.str("type").as_deref() {
            // Without a name or an id the export says only that there was something.
            Some("tool_use" | "tool_result") if !item.has("name") && !item.has("tool_use_id") => {}
            Some("token_budget" | "flag") => {}
            Some("voice_note") => {
                blocks.parts.push(Part::Text { text: item.str("text").unwrap_or_default().into_owned() });
            }
            kind => {
                let is_call = kind == Some("tool_use");
                blocks.block(&item);
                // Ids are often left out: then results follow their calls.
                if is_call && let Some(Part::ToolCall { id: call, .. }) = blocks.parts.last_mut() {
                    calls += 1;
                    if call.is_empty() {
                        *call = format!("{id}/{calls}");
                    }
                }
                if let Some(result) = blocks.results.last_mut().filter(|result| result.call_id.is_empty()) {
                    result.call_id = format!("{id}/{calls}");
                }
            }
        }
    }
    let has_text = blocks.parts.iter().any(|part| matches!(part, Part::Text { text } if !text.trim().is_empty()));
    if !has_text && let Some(text) = message.str("text") {
        let shown = text.replace(&format!("```\n{NOT_SHOWN}\n```"), "").replace(NOT_SHOWN, "");
        let text = if shown.len() == text.len() { shown } else { shown.trim().to_owned() };
        blocks.parts.push(Part::Text { text });
    }
    for _ in 0..blocks.unknown {
        thread.unknown(None);
    }
    let attached = ["attachments", "files"].iter().flat_map(|key| message.array(key).unwrap_or_default());
    for file in attached.filter_map(Object::from_raw) {
        blocks.parts.extend(attachment(&file));
    }
    let time = message.time("created_at");
    match message.str("sender").as_deref() {
        Some("human" | "user") => thread.say(Said::user(blocks.parts).id(Some(id)).at(time)),
        Some("assistant") => thread.say(Said::agent(None, blocks.parts).id(Some(id)).at(time)),
        _ => thread.unknown(None),
    }
    for result in blocks.results {
        thread.result(result);
    }
}

/// A file that was attached, by its kind and size: what is in it nobody typed.
fn attachment(file: &Object<'_>) -> Option<Part> {
    let name = file.str("file_name")?;
    let content = file.str("extracted_content").unwrap_or_default();
    let stated = file.i64("file_size").and_then(|size| u64::try_from(size).ok());
    let bytes = stated.unwrap_or_else(|| u64::try_from(content.len()).unwrap_or(u64::MAX));
    let extension = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let mime_type = match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "json" => "application/json",
        _ => "text/plain",
    };
    Some(Part::Image { mime_type: mime_type.to_owned(), bytes })
}
