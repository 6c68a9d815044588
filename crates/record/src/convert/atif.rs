//! The Agent Trajectory Interchange Format, version 1.7. Source: Harbor's RFC 0001 and the models that validate it, which forbid
//! fields of other names; what has no field stands in `extra`.

use onrecord_redact::{DraftStep, Reviewed, ReviewedContent, ReviewedTurn, Role};
use onrecord_transcript::model::format_rfc3339_ms;
use serde_json::{Map, Value, json};

use super::{Document, Head, UNKNOWN, common_losses};
use crate::tiles::{call_id, step_arguments};

/// The trajectory of `reviewed`, one step a turn.
#[must_use]
pub fn atif(reviewed: &Reviewed, head: &Head<'_>) -> Document {
    let steps: Vec<Value> = (1..).zip(reviewed.turns()).map(|(n, turn)| step(n, turn)).collect();
    let mut agent = json!({ "name": head.harness, "version": head.version.unwrap_or(UNKNOWN) });
    let models = || reviewed.turns().iter().filter_map(|turn| turn.content()?.model());
    if let (Some(model), Value::Object(agent)) = (models().next_back(), &mut agent) {
        agent.insert("model_name".to_owned(), model.into());
    }
    let mut trajectory =
        json!({ "schema_version": "ATIF-v1.7", "session_id": head.id, "agent": agent, "steps": steps });
    if let Value::Object(fields) = &mut trajectory {
        if let Some(title) = reviewed.title() {
            fields.insert("extra".to_owned(), json!({ "title": title }));
        }
        if let Some(description) = reviewed.description() {
            fields.insert("notes".to_owned(), description.into());
        }
    }
    Document { text: format!("{trajectory:#}\n"), lost: common_losses(reviewed).0 }
}

fn step(n: usize, turn: &ReviewedTurn) -> Value {
    let mut fields = Map::new();
    fields.insert("step_id".to_owned(), n.into());
    fields.insert("timestamp".to_owned(), format_rfc3339_ms(turn.created_at()).into());
    fields.insert("source".to_owned(), if turn.role() == Role::User { "user" } else { "agent" }.into());
    fields.insert("message".to_owned(), turn.content().map(ReviewedContent::text).unwrap_or_default().into());
    match turn.content() {
        None => drop(fields.insert("extra".to_owned(), json!({ "withheld": true }))),
        Some(content) if turn.role() == Role::Assistant => agent_fields(&mut fields, content),
        // Only an agent has calls in this format.
        Some(content) if !content.steps().is_empty() => {
            let ran: Vec<Value> = content.steps().iter().map(ran).collect();
            fields.insert("extra".to_owned(), json!({ "ran": ran }));
        }
        Some(_) => {}
    }
    Value::Object(fields)
}

fn ran(step: &DraftStep) -> Value {
    json!({ "tool": step.tool, "summary": step.summary, "failed": step.failed })
}

fn agent_fields(fields: &mut Map<String, Value>, content: &ReviewedContent) {
    if let Some(model) = content.model() {
        fields.insert("model_name".to_owned(), model.into());
    }
    if !content.reasoning().is_empty() {
        fields.insert("reasoning_content".to_owned(), content.reasoning().join("\n\n").into());
    }
    let steps = || (1..).zip(content.steps());
    let calls: Vec<Value> = steps()
        .map(|(n, step)| {
            json!({ "tool_call_id": call_id(n), "function_name": step.tool, "arguments": step_arguments(step) })
        })
        .collect();
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    let failed: Vec<Value> = steps()
        .filter(|(_, step)| step.failed)
        .map(|(n, _)| json!({ "source_call_id": call_id(n), "extra": { "failed": true } }))
        .collect();
    if !failed.is_empty() {
        fields.insert("observation".to_owned(), json!({ "results": failed }));
    }
}
