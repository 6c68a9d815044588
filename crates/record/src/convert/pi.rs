//! A session file of pi, version 3. Source: pi's own description of its session files, and `docs/formats/pi.md`.

use jiff::Timestamp;
use onrecord_redact::{Reviewed, ReviewedContent, ReviewedTurn, Role};
use onrecord_transcript::model::format_rfc3339_ms;
use serde_json::{Value, json};

use super::{Document, Head, NO_OUTPUT, NO_OUTPUT_FAILED, UNKNOWN, common_losses};
use crate::tiles::{call_id, step_arguments};

/// The session file of `reviewed`, a line of JSON for each entry.
///
/// A turn held back is a note in its place, which pi shows. Every call has a result, as pi needs one to go on: it says that the
/// output is not published.
#[must_use]
pub fn pi(reviewed: &Reviewed, head: &Head<'_>) -> Document {
    let mut lost = common_losses(reviewed);
    if reviewed.description().is_some_and(|d| !d.is_empty()) {
        lost.add("description");
    }
    let started = reviewed.created_at();
    let mut file = File { lines: String::new(), entries: 0, turn: 0 };
    file.line(&json!({
        "type": "session", "version": 3, "id": head.id, "timestamp": format_rfc3339_ms(started), "cwd": "",
    }));
    if let Some(title) = reviewed.title() {
        file.entry("session_info", started, json!({ "name": title }));
    }
    for turn in reviewed.turns() {
        file.turn = turn.index();
        match turn.content() {
            None => {
                lost.add("place of a turn held back (a note stands there)");
                let what = if turn.role() == Role::User { "message" } else { "reply" };
                let note = json!({
                    "customType": "onrecord.withheld",
                    "content": format!("Off the record: the author held back this {what}."),
                    "display": true,
                });
                file.entry("custom_message", turn.created_at(), note);
            }
            Some(content) if turn.role() == Role::User => file.prompt(turn, content),
            Some(content) => file.answer(turn, content),
        }
    }
    Document { text: file.lines, lost: lost.0 }
}

struct File {
    lines: String,
    entries: u32,
    turn: usize,
}

impl File {
    fn line(&mut self, value: &Value) {
        self.lines.push_str(&value.to_string());
        self.lines.push('\n');
    }

    /// An entry that follows the one before it.
    fn entry(&mut self, kind: &str, at: Timestamp, mut entry: Value) {
        let parent = (self.entries > 0).then(|| format!("{:08x}", self.entries));
        self.entries += 1;
        if let Value::Object(fields) = &mut entry {
            fields.insert("type".to_owned(), kind.into());
            fields.insert("id".to_owned(), format!("{:08x}", self.entries).into());
            fields.insert("parentId".to_owned(), parent.into());
            fields.insert("timestamp".to_owned(), format_rfc3339_ms(at).into());
        }
        self.line(&entry);
    }

    fn message(&mut self, at: Timestamp, mut message: Value) {
        if let Value::Object(fields) = &mut message {
            fields.insert("timestamp".to_owned(), at.as_millisecond().into());
        }
        self.entry("message", at, json!({ "message": message }));
    }

    fn prompt(&mut self, turn: &ReviewedTurn, content: &ReviewedContent) {
        let at = turn.created_at();
        if !content.text().is_empty() || content.steps().is_empty() {
            let text = json!([{ "type": "text", "text": content.text() }]);
            self.message(at, json!({ "role": "user", "content": text }));
        }
        // What a person ran themselves.
        for step in content.steps() {
            self.message(
                at,
                json!({
                    "role": "bashExecution", "command": step.summary, "output": "", "exitCode": i32::from(step.failed),
                    "cancelled": false, "truncated": false,
                }),
            );
        }
    }

    fn answer(&mut self, turn: &ReviewedTurn, content: &ReviewedContent) {
        let at = turn.created_at();
        let id = |n: usize| format!("{}-{}", call_id(n), turn.index());
        let mut items: Vec<Value> =
            content.reasoning().iter().map(|thought| json!({ "type": "thinking", "thinking": thought })).collect();
        if !content.text().is_empty() || content.steps().is_empty() {
            items.push(json!({ "type": "text", "text": content.text() }));
        }
        let steps = || (1..).zip(content.steps());
        items.extend(steps().map(|(n, step)| {
            json!({ "type": "toolCall", "id": id(n), "name": step.tool, "arguments": step_arguments(step) })
        }));
        let (provider, model) =
            content.model().map_or((UNKNOWN, UNKNOWN), |m| m.split_once('/').unwrap_or((UNKNOWN, m)));
        let none = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 });
        let mut usage = none.clone();
        if let Value::Object(fields) = &mut usage {
            fields.remove("total");
            fields.insert("totalTokens".to_owned(), 0.into());
            fields.insert("cost".to_owned(), none);
        }
        self.message(
            at,
            json!({
                "role": "assistant", "content": items, "api": UNKNOWN, "provider": provider, "model": model,
                "usage": usage, "stopReason": if content.steps().is_empty() { "stop" } else { "toolUse" },
            }),
        );
        for (n, step) in steps() {
            let text = if step.failed { NO_OUTPUT_FAILED } else { NO_OUTPUT };
            self.message(
                at,
                json!({
                    "role": "toolResult", "toolCallId": id(n), "toolName": step.tool, "isError": step.failed,
                    "content": [{ "type": "text", "text": text }],
                }),
            );
        }
    }
}
