//! The Agent Trajectory Interchange Format, versions 1.0 to 1.7. `docs/formats/atif.md` says more.

use std::{borrow::Cow, io::BufRead};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{Blocks, ToolResult, arguments, output_of},
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part, Role,
    input::documents::read_values,
    rows::{Object, Warnings},
};

/// Reads a trajectory.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut head = Head::default();
    let mut recognised = false;
    let bytes = read_values(reader, &mut warnings, |raw, _| {
        let Some(object) = Object::from_raw(raw).filter(|object| object.has("steps")) else { return };
        recognised |= object.str("schema_version").is_some_and(|version| version.starts_with("ATIF"));
        let text = |key: &str| object.str(key).map(Cow::into_owned);
        head.id = text("session_id").or_else(|| text("trajectory_id"));
        head.version = text("schema_version").map(|version| version.trim_start_matches("ATIF-v").to_owned());
        head.title = object.object("extra").and_then(|extra| Some(extra.str("title")?.into_owned()));
        let usual = object.object("agent").and_then(|agent| Some(agent.str("model_name")?.into_owned()));
        for inner in object.array("subagent_trajectories").unwrap_or_default() {
            if Object::from_raw(inner).is_some() {
                thread.leave_out(
                    "subagent-trajectory",
                    None,
                    "trajectories of agents that this one started were left out",
                );
            }
        }
        for step in object.array("steps").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
            say(&mut thread, &step, usual.as_deref());
        }
    })?;
    one(thread, Harness::Atif, head, options, warnings, (bytes, recognised))
}

fn say(thread: &mut Thread, step: &Object<'_>, usual: Option<&str>) {
    let time = step.time("timestamp");
    let extra = step.object("extra").unwrap_or_default();
    if extra.is_true("withheld") {
        thread.set_time(time);
        thread.leave_out("withheld", None, "steps were held back by their author");
        return;
    }
    let blocks = Blocks::of(step.get("message"));
    let id = step.i64("step_id").map(|id| format!("step-{id}"));
    match step.str("source").as_deref() {
        Some("user") => {
            let mut parts = blocks.parts;
            // Only an agent has calls in this format: what a person ran stands beside.
            for ran in extra.array("ran").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
                parts.push(Part::ToolCall {
                    id: String::new(),
                    name: ran.str("tool").unwrap_or_default().into_owned(),
                    input: serde_json::json!({ "summary": ran.str("summary").unwrap_or_default() }),
                    output: None,
                    failed: ran.is_true("failed"),
                });
            }
            thread.say(Said::user(parts).id(id).at(time));
        }
        Some("agent") => {
            let mut parts = Vec::new();
            parts.extend(step.str("reasoning_content").map(|text| Part::Reasoning { text: text.into_owned() }));
            parts.extend(blocks.parts);
            for call in step.array("tool_calls").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
                parts.push(Part::ToolCall {
                    id: call.str("tool_call_id").unwrap_or_default().into_owned(),
                    name: call.str("function_name").unwrap_or_default().into_owned(),
                    input: arguments(call.get("arguments")),
                    output: None,
                    failed: false,
                });
            }
            let model = step.str("model_name").map(Cow::into_owned).or_else(|| usual.map(str::to_owned));
            let model = model.and_then(|model| named(None, &model, None));
            thread.say(Said { role: Role::Assistant, id, time, model, parts });
            let results = step.object("observation").and_then(|seen| seen.array("results")).unwrap_or_default();
            for result in results.into_iter().filter_map(Object::from_raw) {
                observe(thread, &result);
            }
        }
        Some("system") => {}
        _ => thread.unknown(None),
    }
}

fn observe(thread: &mut Thread, result: &Object<'_>) {
    let call_id = result.str("source_call_id").unwrap_or_default().into_owned();
    let extra = result.object("extra").unwrap_or_default();
    let failed = extra.is_true("failed") || extra.is_true("is_error") || result.is_true("is_error");
    let (output, images) = match result.get("content") {
        Some(content) => output_of(Some(content)),
        None => (None, Vec::new()),
    };
    thread.result(ToolResult { call_id, output, failed, images });
}
