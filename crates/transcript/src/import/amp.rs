//! Amp: a document for each thread. `docs/formats/amp.md` says more.

use std::{borrow::Cow, io::BufRead};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{Blocks, ToolResult, output_of},
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness,
    input::documents::read_values,
    rows::{Object, Warnings},
};

/// Reads a thread.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut head = Head::default();
    let mut recognised = false;
    let bytes = read_values(reader, &mut warnings, |raw, _| {
        let Some(object) = Object::from_raw(raw).filter(|object| object.has("messages")) else { return };
        recognised = object.str("id").is_some_and(|id| id.starts_with("T-")) || object.has("v");
        let text = |key: &str| object.str(key).map(Cow::into_owned);
        head.id = text("id");
        head.title = text("title");
        let tree = object.object("env").and_then(|env| env.object("initial")?.value("trees")?.get(0).cloned());
        let uri = tree.as_ref().and_then(|tree| tree.get("uri")?.as_str());
        head.cwd = uri.map(|uri| uri.strip_prefix("file://").unwrap_or(uri).to_owned());
        thread.set_time(object.time("created"));
        for message in object.array("messages").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
            say(&mut thread, &message);
        }
    })?;
    one(thread, Harness::Amp, head, options, warnings, (bytes, recognised))
}

fn say(thread: &mut Thread, message: &Object<'_>) {
    let mut blocks = Blocks::default();
    for item in message.array("content").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
        match item.object("run").filter(|_| item.str("type").as_deref() == Some("tool_result")) {
            Some(run) => blocks.results.push(result_of(&item, &run)),
            None => blocks.block(&item),
        }
    }
    if let Some(raw) = message.get("content").filter(|raw| raw.get().starts_with('"')) {
        blocks = Blocks::of(Some(raw));
    }
    for _ in 0..blocks.unknown {
        thread.unknown(None);
    }
    for result in blocks.results {
        thread.result(result);
    }
    let id =
        message.str("messageId").map(Cow::into_owned).or_else(|| message.i64("messageId").map(|id| id.to_string()));
    let time = message.object("meta").and_then(|meta| meta.time("sentAt"));
    match message.str("role").as_deref() {
        Some("user") => thread.say(Said::user(blocks.parts).id(id).at(time)),
        Some("assistant") => {
            let usage = message.object("usage");
            let time = time.or_else(|| usage.as_ref()?.time("timestamp"));
            let model = usage.and_then(|usage| named(None, &usage.str("model")?, None));
            thread.say(Said::agent(model, blocks.parts).id(id).at(time));
        }
        _ => thread.unknown(None),
    }
}

fn result_of(item: &Object<'_>, run: &Object<'_>) -> ToolResult {
    let status = run.str("status").unwrap_or_default();
    let result = run.object("result");
    let exit = result.as_ref().and_then(|result| result.i64("exitCode"));
    let failed =
        matches!(status.as_ref(), "error" | "cancelled" | "rejected-by-user") || exit.is_some_and(|code| code != 0);
    let (output, images) = match run.get("error").filter(|_| run.has("error")) {
        Some(error) => output_of(Some(error)),
        None => output_of(run.get("result")),
    };
    let call_id = super::blocks::first_str(item, &["toolUseID", "tool_use_id"]).unwrap_or_default().into_owned();
    ToolResult { call_id, output, failed, images }
}
