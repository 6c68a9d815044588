//! What tells the rows and documents of each harness from those of all others.

use super::Outline;
use crate::Harness;

/// Whose row, document, or item of a list this is; those that are known by more than one sign in their own right stay with the
/// caller.
pub(super) fn of(row: &Outline<'_>, kind: Option<&[u8]>) -> Option<Harness> {
    match kind {
        Some(kind) => of_kind(row, kind),
        None => of_export(row).or_else(|| of_document(row)).or_else(|| of_row(row)),
    }
}

/// A row or item with a `type`.
fn of_kind(row: &Outline<'_>, kind: &[u8]) -> Option<Harness> {
    let has = |name| row.has("", name);
    match kind {
        b"session" if has("harness") => Some(Harness::Sts),
        b"session_start" if has("id") => Some(Harness::Droid),
        b"metadata" if has("protocol_version") => Some(Harness::Kimi),
        b"turn.prompt" | b"context.append_message" | b"context.append_loop_event" => Some(Harness::Kimi),
        b"config.update" if has("modelAlias") || has("cwd") || has("profileName") => Some(Harness::Kimi),
        b"gemini" if has("content") || has("toolCalls") => Some(Harness::GeminiCli),
        b"user" | b"assistant" | b"tool_result" if row.has("message", "parts") => Some(Harness::Qwen),
        b"message" | b"function_call" | b"function_call_output" | b"reasoning"
            if !has("payload")
                && !has("message")
                && (row.any(["content", "", "type"], |t| t == b"input_text" || t == b"output_text")
                    || (has("call_id") && (has("arguments") || has("output")))) =>
        {
            Some(Harness::OpenAiResponses)
        }
        kind if has("data") => {
            let starts = ["session.", "user.message", "assistant.", "tool.execution_", "hook."];
            starts.iter().any(|start| kind.starts_with(start.as_bytes())).then_some(Harness::CopilotCli)
        }
        _ => None,
    }
}

/// A conversation of a chat app's export.
fn of_export(row: &Outline<'_>) -> Option<Harness> {
    let has = |name| row.has("", name);
    if has("mapping") && (has("current_node") || has("title") || has("create_time") || has("conversation_id")) {
        Some(Harness::ChatGpt)
    } else if has("chat_messages") {
        Some(Harness::ClaudeAi)
    } else if row.has("chat", "history") || row.has("history", "currentId") {
        Some(Harness::OpenWebUi)
    } else if has("conversationId") && (has("messages") || has("messagesTree")) {
        Some(Harness::LibreChat)
    } else if has("title") && row.text("", "header").is_some_and(|h| holds(h, b"Gemini") || h == b"Bard") {
        Some(Harness::GeminiTakeout)
    } else if row.text("", "schema_version").is_some_and(|version| version.starts_with(b"ATIF")) {
        Some(Harness::Atif)
    } else {
        None
    }
}

/// A conversation in one document.
fn of_document(row: &Outline<'_>) -> Option<Harness> {
    let has = |name| row.has("", name);
    let of_messages = |name| row.has_at(["messages", "", name]);
    if has("requests") && !has("messages") {
        return Some(Harness::VsCodeChat);
    }
    if has("history") && has("sessionId") {
        return Some(Harness::Continue);
    }
    if has("info") && has("messages") || has("id") && (has("projectID") || has("directory")) && has("time") {
        return Some(Harness::OpenCode);
    }
    if row.has("agent", "llm") || row.any(["items", "", "kind"], is_event) || row.any(["events", "", "kind"], is_event)
    {
        return Some(Harness::OpenHands);
    }
    if row.text("", "object") == Some(b"response") && has("output") {
        return Some(Harness::OpenAiResponses);
    }
    if has("session_id") && (has("messages_path") || has("workspace_root")) {
        return Some(Harness::Cline);
    }
    if !has("messages") {
        return None;
    }
    if row.text("", "id").is_some_and(|id| id.starts_with(b"T-")) || (has("v") && has("created")) {
        Some(Harness::Amp)
    } else if has("projectHash")
        || (has("sessionId") && has("startTime"))
        || row.any(["messages", "", "type"], |t| t == b"gemini")
    {
        Some(Harness::GeminiCli)
    } else if of_messages("User") || of_messages("Agent") || of_messages("segments") {
        Some(Harness::Zed)
    } else if has("agent") && has("sessionId") || of_messages("ts") {
        Some(Harness::Cline)
    } else if has("model") && of_messages("role") {
        // A request; messages alone may be anything.
        Some(Harness::OpenAiChat)
    } else {
        None
    }
}

/// A row, or an item of a list.
fn of_row(row: &Outline<'_>) -> Option<Harness> {
    let has = |name| row.has("", name);
    // A log of changes: numbers say which.
    if has("kind") && row.text("", "kind").is_none() && (has("v") || has("k")) {
        return Some(Harness::VsCodeChat);
    }
    if row.text("", "kind").is_some_and(is_event) {
        return Some(Harness::OpenHands);
    }
    if has("source") && has("timestamp") && has("id") && (has("action") || has("observation")) {
        return Some(Harness::OpenHands);
    }
    if has("working_dir") {
        return Some(Harness::Goose);
    }
    if has("sessionId") && has("startTime") || has("$rewindTo") || row.has("$set", "messages") {
        return Some(Harness::GeminiCli);
    }
    let is_wire =
        |kind: &[u8]| matches!(kind, b"TurnBegin" | b"StepBegin" | b"ContentPart" | b"TurnEnd" | b"StatusUpdate");
    if row.text("message", "type").is_some_and(is_wire) {
        return Some(Harness::Kimi);
    }
    let role = row.text("", "role")?;
    if role.starts_with(b"_") {
        return Some(Harness::Kimi);
    }
    if has("message") {
        return row.has("message", "content").then_some(Harness::Cursor);
    }
    if !has("content") && !has("tool_calls") {
        return None;
    }
    let is_task = |text: &[u8]| text.starts_with(b"<task>") || text.starts_with(b"<user_input");
    if has("ts") || row.text("", "content").is_some_and(is_task) || row.any(["content", "", "text"], is_task) {
        return Some(Harness::Cline);
    }
    if row.any(["content", "", "type"], |t| t == b"input_text" || t == b"output_text") {
        return Some(Harness::OpenAiResponses);
    }
    if has("created") && row.has_at(["content", "", "type"]) {
        return Some(Harness::Goose);
    }
    matches!(role, b"user" | b"assistant" | b"system" | b"developer" | b"tool").then_some(Harness::OpenAiChat)
}

fn is_event(kind: &[u8]) -> bool {
    matches!(
        kind,
        b"MessageEvent"
            | b"ActionEvent"
            | b"ObservationEvent"
            | b"SystemPromptEvent"
            | b"AgentErrorEvent"
            | b"ConversationStateUpdateEvent"
    )
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}
