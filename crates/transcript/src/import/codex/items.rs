//! Response items: what was sent to the model and what it sent.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{
    calls,
    json::{Object, array_of, string_of},
    person,
    state::{State, Way},
};
use crate::Part;

/// Items that nobody sees: bookkeeping, context for the model, and talk between agents.
const SILENT: [&str; 9] = [
    "ghost_snapshot",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "additional_tools",
    "agent_message",
    "item_reference",
    "other",
];

/// Whether a row without an envelope is such an item. `message` rows of other programs have no role.
pub(super) fn is_bare_item(object: &Object<'_>) -> bool {
    match object.str("type").as_deref() {
        Some("message") => object.has("role") && object.has("content"),
        Some("function_call" | "custom_tool_call") => object.has("name"),
        Some("function_call_output" | "custom_tool_call_output") => object.has("call_id"),
        Some("reasoning") => object.has("summary") || object.has("encrypted_content"),
        Some("local_shell_call") => object.has("action"),
        _ => false,
    }
}

/// Takes one item in; `false` if its type is not known.
pub(super) fn apply(state: &mut State, item: &Object<'_>) -> bool {
    let kind = item.str("type").unwrap_or(Cow::Borrowed(if item.has("role") { "message" } else { "" }));
    let id = item.str("id").filter(|id| !id.is_empty()).map(Cow::into_owned);
    let call_id = item.str("call_id").unwrap_or_default();
    match kind.as_ref() {
        "message" => message(state, item, id),
        "reasoning" => {
            for key in ["summary", "content"] {
                for text in texts_of(item.get(key)) {
                    state.reasoning(id.clone(), Way::Item, &text);
                }
            }
        }
        "function_call" => {
            state.call(id, Way::Item, &call_id, &tool_name(item), arguments_of(item.get("arguments")));
        }
        "custom_tool_call" => {
            state.call(id, Way::Item, &call_id, &tool_name(item), item.value("input").unwrap_or_else(|| json!({})));
            if fails(item) {
                state.fail(&call_id);
            }
        }
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
            let raw = item.get("output").or_else(|| item.get("tools"));
            let mut outcome = raw.map(calls::outcome_of).unwrap_or_default();
            outcome.failed |= fails(item) || item.bool("success") == Some(false);
            state.result(&call_id, Way::Item, outcome);
        }
        "local_shell_call" => {
            let call_id = if call_id.is_empty() { Cow::Owned(id.clone().unwrap_or_default()) } else { call_id };
            state.call(id, Way::Item, &call_id, "local_shell", item.value("action").unwrap_or_else(|| json!({})));
            if fails(item) {
                state.fail(&call_id);
            }
        }
        "web_search_call" => web_search(state, Way::Item, id, item),
        "tool_search_call" => {
            state.call(id, Way::Item, &call_id, "tool_search", arguments_of(item.get("arguments")));
        }
        "image_generation_call" => image_generation(state, Way::Item, id, item),
        kind => return SILENT.contains(&kind),
    }
    true
}

fn message(state: &mut State, item: &Object<'_>, id: Option<String>) {
    match item.str("role").as_deref() {
        Some("assistant") => {
            for text in texts_of(item.get("content")) {
                state.text(id.clone(), Way::Item, &text);
            }
        }
        Some("user") => user_message(state, item, id),
        // `developer` and `system` are instructions.
        _ => {}
    }
}

fn user_message(state: &mut State, item: &Object<'_>, id: Option<String>) {
    let kinds: Vec<Cow<'_, str>> = item
        .object("internal_chat_message_metadata_passthrough")
        .and_then(|metadata| metadata.array("content_item_kinds"))
        .unwrap_or_default()
        .into_iter()
        .filter_map(string_of)
        .collect();
    let Some(content) = item.get("content") else { return };
    let mut texts = Vec::new();
    let mut images = Vec::new();
    if let Some(text) = string_of(content) {
        texts.push(text.into_owned());
    }
    for (index, raw) in array_of(content).unwrap_or_default().into_iter().enumerate() {
        let is_persons = kinds.is_empty() || kinds.get(index).is_some_and(|kind| kind.starts_with("user."));
        let Some(block) = Object::of(raw).filter(|_| is_persons) else { continue };
        if let Some(text) = block.str("text") {
            if !person::is_image_marker(&text) {
                texts.push(text.into_owned());
            }
        } else if let Some(image) = calls::image_of(&block) {
            images.push(image);
        }
    }
    let is_certain = kinds.iter().any(|kind| kind.starts_with("user."));
    state.prompt(id, Way::Item, &texts, images, is_certain);
}

/// The texts in a string, or in an array of strings and of blocks with a `text`.
pub(super) fn texts_of(raw: Option<&str>) -> Vec<String> {
    let Some(raw) = raw else { return Vec::new() };
    if let Some(text) = string_of(raw) {
        return vec![text.into_owned()];
    }
    array_of(raw)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|raw| match string_of(raw) {
            Some(text) => Some(text.into_owned()),
            None => Object::of(raw)?.str("text").map(Cow::into_owned),
        })
        .collect()
}

/// The name as the agent called it. A namespace ends in the separator that its tools' names have.
pub(super) fn tool_name(item: &Object<'_>) -> String {
    let name = item.str("name").or_else(|| item.str("tool")).unwrap_or_default();
    match item.str("namespace") {
        Some(namespace) if namespace.ends_with('_') => format!("{namespace}{name}"),
        Some(namespace) if !namespace.is_empty() => format!("{namespace}.{name}"),
        _ => name.into_owned(),
    }
}

/// Arguments are JSON within a string; what is no JSON stays the string it is.
pub(super) fn arguments_of(raw: Option<&str>) -> Value {
    let Some(raw) = raw else { return json!({}) };
    match string_of(raw) {
        Some(text) if text.is_empty() => json!({}),
        Some(text) => serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.into_owned())),
        None => serde_json::from_str(raw).unwrap_or_else(|_| json!({})),
    }
}

pub(super) fn fails(item: &Object<'_>) -> bool {
    item.str("status").is_some_and(|status| matches!(status.as_ref(), "failed" | "declined" | "error"))
}

pub(super) fn web_search(state: &mut State, way: Way, id: Option<String>, item: &Object<'_>) {
    let call_id = id.clone().or_else(|| item.str("call_id").map(Cow::into_owned)).unwrap_or_default();
    let input = match item.value("action") {
        Some(action) if action.is_object() => action,
        _ => json!({ "query": item.str("query").unwrap_or_default() }),
    };
    state.call(id, way, &call_id, "web_search", input);
    if fails(item) {
        state.fail(&call_id);
    }
}

pub(super) fn image_generation(state: &mut State, way: Way, id: Option<String>, item: &Object<'_>) {
    let call_id = id.clone().or_else(|| item.str("call_id").map(Cow::into_owned)).unwrap_or_default();
    let is_new = !state.has_call(&call_id) || call_id.is_empty();
    let input = item.str("revised_prompt").map_or_else(|| json!({}), |prompt| json!({ "prompt": prompt }));
    state.call(id, way, &call_id, "image_generation", input);
    if fails(item) {
        state.fail(&call_id);
    }
    let size = item.str("result").map_or(0, |base64| calls::decoded_length(&base64));
    if is_new && size > 0 {
        let bytes = u64::try_from(size).unwrap_or(u64::MAX);
        state.image(way, Part::Image { mime_type: "image/png".to_owned(), bytes });
    }
}
