//! Events: what was shown, and completed items, which newer builds write in their place.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{
    calls::{self, Outcome},
    items::{self, arguments_of, texts_of, tool_name},
    json::{Object, string_of},
    state::{State, Way},
};

/// Events that add nothing to what a reader could see.
const SILENT: [&str; 37] = [
    "token_count",
    "task_started",
    "turn_started",
    "task_complete",
    "turn_complete",
    "turn_aborted",
    "context_compacted",
    "thread_settings_applied",
    "thread_goal_updated",
    "entered_review_mode",
    "exited_review_mode",
    "sub_agent_activity",
    "agent_reasoning_section_break",
    "error",
    "stream_error",
    "warning",
    "background_event",
    "plan_update",
    "turn_diff",
    "session_configured",
    "shutdown_complete",
    "item_started",
    "raw_response_item",
    "terminal_interaction",
    "view_image_tool_call",
    "guardian_assessment",
    "guardian_warning",
    "model_reroute",
    "model_verification",
    "mcp_startup_update",
    "mcp_startup_complete",
    "deprecation_notice",
    "hook_started",
    "hook_completed",
    "elicitation_request",
    "request_user_input",
    "request_permissions",
];

/// Whole kinds of events that only announce others, or carry them in pieces.
const SILENT_ENDINGS: [&str; 6] = ["_begin", "_delta", "_request", "_updated", "_response", "_started"];

/// Takes one event in; `false` if its type is not known.
pub(super) fn apply(state: &mut State, kind: &str, event: &Object<'_>) -> bool {
    let call_id = event.str("call_id").unwrap_or_default();
    match kind {
        "user_message" => user_message(state, event),
        "agent_message" => {
            if let Some(text) = event.str("message") {
                state.text(None, Way::Event, &text);
            }
        }
        "agent_reasoning" | "agent_reasoning_raw_content" => {
            if let Some(text) = event.str("text") {
                state.reasoning(None, Way::Event, &text);
            }
        }
        "exec_command_end" => {
            if !state.has_call(&call_id) {
                state.call(None, Way::Event, &call_id, "exec_command", command_of(event));
            }
            state.result(&call_id, Way::Event, command_outcome(event));
        }
        "patch_apply_end" => {
            if !state.has_call(&call_id) {
                state.call(None, Way::Event, &call_id, "apply_patch", changes_of(event));
            }
            let mut outcome = command_outcome(event);
            outcome.failed |= event.bool("success") == Some(false);
            state.result(&call_id, Way::Event, outcome);
        }
        "mcp_tool_call_end" => {
            let invocation = event.object("invocation");
            mcp_call(state, Way::Event, &call_id, invocation.as_ref().unwrap_or(event), event);
        }
        "web_search_end" => items::web_search(state, Way::Event, Some(call_id.into_owned()), event),
        "image_generation_end" => items::image_generation(state, Way::Event, Some(call_id.into_owned()), event),
        "item_completed" => return event.object("item").is_some_and(|item| completed(state, &item)),
        kind => {
            return SILENT.contains(&kind)
                || kind.starts_with("collab_")
                || kind.starts_with("realtime_")
                || SILENT_ENDINGS.iter().any(|ending| kind.ends_with(ending));
        }
    }
    true
}

fn user_message(state: &mut State, event: &Object<'_>) {
    // Builds of late 2025 showed injected context by the same event, with its kind.
    if event.str("kind").is_some_and(|kind| matches!(kind.as_ref(), "environment_context" | "user_instructions")) {
        return;
    }
    let mut images = Vec::new();
    for raw in event.array("images").unwrap_or_default() {
        images.extend(calls::image_at(raw));
    }
    for raw in event.array("local_images").unwrap_or_default() {
        images.extend(string_of(raw).map(|path| calls::image_named(&path)));
    }
    let text = event.str("message").unwrap_or_default().into_owned();
    state.prompt(None, Way::Event, &[text], images, false);
}

/// A completed item. Its type's spelling has varied in case.
fn completed(state: &mut State, item: &Object<'_>) -> bool {
    let kind = item.str("type").unwrap_or_default().replace('_', "").to_ascii_lowercase();
    let id = item.str("id").filter(|id| !id.is_empty()).map(Cow::into_owned);
    let call_id = item.str("call_id").map(Cow::into_owned).or_else(|| id.clone()).unwrap_or_default();
    match kind.as_str() {
        "usermessage" => completed_prompt(state, item, id),
        "agentmessage" => {
            let texts = if item.has("content") { texts_of(item.get("content")) } else { texts_of(item.get("text")) };
            for text in texts {
                state.text(id.clone(), Way::Completed, &text);
            }
        }
        "reasoning" => {
            for key in ["summary_text", "summary", "raw_content", "content"] {
                for text in texts_of(item.get(key)) {
                    state.reasoning(id.clone(), Way::Completed, &text);
                }
            }
        }
        "plan" => {
            if let Some(text) = item.str("text") {
                state.plan(id, &text);
            }
        }
        "commandexecution" => {
            if is_unfinished(item) {
                return true;
            }
            state.call(id, Way::Completed, &call_id, "exec_command", command_of(item));
            state.result(&call_id, Way::Completed, command_outcome(item));
        }
        "filechange" => {
            if is_unfinished(item) {
                return true;
            }
            state.call(id, Way::Completed, &call_id, "apply_patch", changes_of(item));
            state.result(&call_id, Way::Completed, command_outcome(item));
        }
        "mcptoolcall" => mcp_call(state, Way::Completed, &call_id, item, item),
        "dynamictoolcall" => {
            state.call(id, Way::Completed, &call_id, &tool_name(item), arguments_of(item.get("arguments")));
            let mut outcome = item.get("content_items").map(calls::outcome_of).unwrap_or_default();
            outcome.failed |= items::fails(item) || item.bool("success") == Some(false) || item.has("error");
            state.result(&call_id, Way::Completed, outcome);
        }
        "collabagenttoolcall" => {
            let name = snake_case(&item.str("tool").unwrap_or_default());
            let input = item.str("prompt").map_or_else(|| json!({}), |prompt| json!({ "prompt": prompt }));
            state.call(id, Way::Completed, &call_id, &name, input);
            let outcome = Outcome { failed: items::fails(item), ..Outcome::default() };
            state.result(&call_id, Way::Completed, outcome);
        }
        "websearch" => items::web_search(state, Way::Completed, id, item),
        "imageview" => {
            let input = json!({ "path": item.str("path").unwrap_or_default() });
            state.call(id, Way::Completed, &call_id, "view_image", input);
        }
        "imagegeneration" => items::image_generation(state, Way::Completed, id, item),
        "hookprompt" | "contextcompaction" | "subagentactivity" | "sleep" | "extension" | "enteredreviewmode"
        | "exitedreviewmode" | "error" => {}
        _ => return false,
    }
    true
}

fn completed_prompt(state: &mut State, item: &Object<'_>, id: Option<String>) {
    let mut text = String::new();
    let mut images = Vec::new();
    for raw in item.array("content").unwrap_or_default() {
        if let Some(piece) = string_of(raw) {
            text.push_str(&piece);
            continue;
        }
        let Some(block) = Object::of(raw) else { continue };
        if let Some(piece) = block.str("text") {
            text.push_str(&piece);
        } else if let Some(image) = calls::image_of(&block) {
            images.push(image);
        } else if block.str("type").is_some_and(|kind| kind.replace('_', "").eq_ignore_ascii_case("localimage")) {
            images.extend(block.str("path").map(|path| calls::image_named(&path)));
        }
    }
    state.prompt(id, Way::Completed, &[text], images, false);
}

fn mcp_call(state: &mut State, way: Way, call_id: &str, invocation: &Object<'_>, end: &Object<'_>) {
    if way == Way::Completed || !state.has_call(call_id) {
        let server = invocation.str("server").unwrap_or_default();
        let tool = invocation.str("tool").unwrap_or_default();
        let name = format!("mcp__{server}__{tool}");
        state.call(None, way, call_id, &name, arguments_of(invocation.get("arguments")));
    }
    let mut outcome = Outcome { failed: items::fails(end) || end.has("error"), ..Outcome::default() };
    if let Some(error) = end.object("error").and_then(|error| error.str("message").map(Cow::into_owned)) {
        outcome.output = Some(error);
    }
    if let Some(result) = end.object("result") {
        // Rust's own form of a result, or the result alone.
        if let Some(error) = result.get("Err") {
            outcome.failed = true;
            outcome.output = string_of(error).map(Cow::into_owned);
        } else {
            let inner = result.get("Ok").or_else(|| end.get("result")).map(calls::outcome_of).unwrap_or_default();
            outcome.failed |= inner.failed;
            outcome.output = inner.output.or(outcome.output);
            outcome.images = inner.images;
        }
    }
    state.result(call_id, way, outcome);
}

fn is_unfinished(item: &Object<'_>) -> bool {
    item.str("status").is_some_and(|status| matches!(status.as_ref(), "inProgress" | "in_progress"))
}

fn command_of(item: &Object<'_>) -> Value {
    let command = item.value("command").unwrap_or(Value::Null);
    json!({ "command": command })
}

/// Which files changed and how; their contents are the patch's and stand there.
fn changes_of(item: &Object<'_>) -> Value {
    let mut changes = Map::new();
    if let Some(Value::Object(files)) = item.value("changes") {
        for (path, change) in files {
            let kind = change
                .get("type")
                .and_then(Value::as_str)
                .or_else(|| change.as_object().and_then(|change| change.keys().next()).map(String::as_str))
                .unwrap_or("update");
            changes.insert(path, Value::String(kind.to_owned()));
        }
    }
    let paths: Vec<&str> = changes.keys().map(String::as_str).collect();
    json!({ "path": paths.join(", "), "changes": changes })
}

fn command_outcome(item: &Object<'_>) -> Outcome {
    let failed = item.i64("exit_code").is_some_and(|code| code != 0) || items::fails(item);
    let output = ["aggregated_output", "formatted_output"]
        .into_iter()
        .find_map(|key| item.str(key))
        .map(Cow::into_owned)
        .or_else(|| {
            let pieces: Vec<Cow<'_, str>> = ["stdout", "stderr"].into_iter().filter_map(|key| item.str(key)).collect();
            (!pieces.is_empty()).then(|| pieces.concat())
        });
    Outcome { output, failed, images: Vec::new() }
}

fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}
