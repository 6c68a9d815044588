//! LibreChat, from its export. `docs/formats/librechat.md` says more.

use std::{borrow::Cow, io::BufRead};

use serde_json::value::RawValue;

use super::{
    Error, ParseOptions, Parsed,
    blocks::{arguments, output_of},
    model_name::named,
    nodes::Nodes,
    pick::{Listed, Pick},
    thread::{Said, Thread},
};
use crate::{
    Conversation, Harness, Part,
    input::documents::read_values,
    rows::{Object, Warnings},
};

/// Reads the conversation that the options name, else the last one in the file.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    super::export::parse(Harness::LibreChat, reader, options)
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
        let Some(object) = Object::from_raw(raw).filter(|o| o.has("messages") || o.has("messagesTree")) else { return };
        recognised |= object.has("conversationId");
        let id = object.str("conversationId").map_or_else(|| options.fallback_id.clone(), Cow::into_owned);
        let title = object.str("title").map(Cow::into_owned).filter(|title| title != "New Chat");
        let listed = Listed::new(id, title, object.time("updatedAt").or_else(|| object.time("exportAt")));
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
    let mut thread = Thread::new(object.time("createdAt").unwrap_or(options.fallback_time));
    let usual = object.object("options").and_then(|options| Some(options.str("model")?.into_owned()));
    let endpoint = object.str("endpoint").map(Cow::into_owned);
    let mut nodes = Nodes::default();
    let first = ["messages", "messagesTree"].iter().find_map(|key| object.array(key)).unwrap_or_default();
    // Depth first, so that the last one is the end of the last branch.
    let mut waiting: Vec<(&RawValue, Option<String>)> = first.into_iter().rev().map(|raw| (raw, None)).collect();
    let mut count = 0_u64;
    while let Some((raw, above)) = waiting.pop() {
        let Some(message) = Object::from_raw(raw) else { continue };
        count += 1;
        let id = message.str("messageId").map_or_else(|| format!("#{count}"), Cow::into_owned);
        let children = message.array("children").unwrap_or_default();
        waiting.extend(children.into_iter().rev().map(|child| (child, Some(id.clone()))));
        let parent = message.str("parentMessageId").map(Cow::into_owned).or(above);
        nodes.push(id, parent, message);
    }
    let (branch, others) = nodes.branch(None, options.branch.as_deref())?;
    for _ in 0..others {
        thread.leave_out(
            "other-branch",
            None,
            "other branches were left out; --branch with the id of a message reads one",
        );
    }
    for (id, message) in branch {
        say(&mut thread, &id, &message, usual.as_deref(), endpoint.as_deref());
    }
    let head = listed.head();
    Ok(thread.conversation(Harness::LibreChat, head, options, &[]))
}

fn say(thread: &mut Thread, id: &str, message: &Object<'_>, usual: Option<&str>, endpoint: Option<&str>) {
    let mut parts = Vec::new();
    for item in message.array("content").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        // A text is a string, or an object that holds one.
        let text = |key: &str| {
            let inner = item.object(key).and_then(|inner| Some(inner.str("value")?.into_owned()));
            inner.or_else(|| item.str(key).map(Cow::into_owned)).unwrap_or_default()
        };
        match item.str("type").as_deref() {
            Some("text") => parts.push(Part::Text { text: text("text") }),
            Some("think") => parts.push(Part::Reasoning { text: text("think") }),
            Some("tool_call") => {
                let call = item.object("tool_call").unwrap_or_default();
                let output = output_of(call.get("output").filter(|raw| raw.get() != "\"\"")).0;
                parts.push(Part::ToolCall {
                    id: call.str("id").unwrap_or_default().into_owned(),
                    name: call.str("name").unwrap_or_default().into_owned(),
                    input: arguments(call.get("args")),
                    failed: output.as_deref().is_some_and(|output| output.starts_with("Error processing tool")),
                    output,
                });
            }
            // The program's own words.
            Some("error" | "agent_update" | "summary") => {}
            Some("image_file" | "image_url") => parts.push(super::blocks::image(&item)),
            _ => thread.unknown(None),
        }
    }
    let has_text = parts.iter().any(|part| matches!(part, Part::Text { text } if !text.trim().is_empty()));
    if !has_text && !message.is_true("error") {
        parts.extend(message.str("text").map(|text| Part::Text { text: text.into_owned() }));
    }
    if message.is_true("error") && parts.is_empty() {
        thread.leave_out("harness-error", None, "error messages of the program were left out");
        return;
    }
    let time = message.time("createdAt");
    let is_person = message.bool("isCreatedByUser").unwrap_or_else(|| message.str("sender").as_deref() == Some("User"));
    if is_person {
        thread.say(Said::user(parts).id(Some(id)).at(time));
    } else if message.str("sender").as_deref() != Some("System") {
        let maker = match message.str("endpoint").as_deref().or(endpoint) {
            Some("openAI" | "azureOpenAI" | "assistants" | "azureAssistants" | "chatGPTBrowser") => Some("openai"),
            Some("anthropic") => Some("anthropic"),
            Some("google") => Some("google"),
            _ => None,
        };
        let model = message.str("model").map(Cow::into_owned).or_else(|| usual.map(str::to_owned));
        // An agent's id says no model.
        let model = model.filter(|model| !model.starts_with("agent_")).and_then(|model| named(None, &model, maker));
        thread.say(Said::agent(model, parts).id(Some(id)).at(time));
    }
}
