//! The Session Trace Simple Format: a header and a message a line. Source: the Hugging Face Hub's page "Session Traces Format".

use onrecord_redact::{Reviewed, Role};
use serde_json::{Value, json};

use super::{Document, Head, common_losses};
use crate::tiles::{call_id, step_arguments};

/// The trace of `reviewed`. Of a call that failed there is a result that says so; of others there is none.
#[must_use]
pub fn sts(reviewed: &Reviewed, head: &Head<'_>) -> Document {
    let mut lost = common_losses(reviewed);
    let mut header = json!({ "type": "session", "harness": head.harness, "id": head.id });
    if let Value::Object(fields) = &mut header {
        // Any more is allowed there.
        for (name, text) in [("name", reviewed.title()), ("description", reviewed.description())] {
            if let Some(text) = text {
                fields.insert(name.to_owned(), text.into());
            }
        }
    }
    let mut text = format!("{header}\n");
    let mut line = |message: Value| text.push_str(&format!("{}\n", json!({ "type": "message", "message": message })));
    for turn in reviewed.turns() {
        let role = if turn.role() == Role::User { "user" } else { "assistant" };
        let timestamp = turn.created_at().as_millisecond();
        let Some(content) = turn.content() else {
            line(json!({ "role": role, "content": "", "withheld": true, "timestamp": timestamp }));
            continue;
        };
        let id = |n: usize| format!("{}-{}", call_id(n), turn.index());
        let mut message = json!({ "role": role, "content": content.text(), "timestamp": timestamp });
        if let Value::Object(fields) = &mut message {
            if !content.reasoning().is_empty() {
                fields.insert("reasoningContent".to_owned(), content.reasoning().join("\n\n").into());
            }
            if let Some(model) = content.model() {
                fields.insert("model".to_owned(), model.into());
            }
            let calls: Vec<Value> = (1..)
                .zip(content.steps())
                .map(|(n, step)| {
                    let arguments = step_arguments(step).to_string();
                    json!({ "id": id(n), "function": { "name": step.tool, "arguments": arguments } })
                })
                .collect();
            match turn.role() {
                Role::Assistant if !calls.is_empty() => drop(fields.insert("toolCalls".to_owned(), calls.into())),
                // Only an assistant has calls in this format.
                Role::User => calls.iter().for_each(|_| lost.add("command that the person ran")),
                Role::Assistant => {}
            }
        }
        line(message);
        if turn.role() == Role::Assistant {
            for (n, _) in (1..).zip(content.steps()).filter(|(_, step)| step.failed) {
                line(json!({
                    "role": "tool", "toolCallId": id(n), "content": "", "isError": true, "timestamp": timestamp,
                }));
            }
        }
    }
    Document { text, lost: lost.0 }
}
