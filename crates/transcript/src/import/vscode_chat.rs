//! The chat of Visual Studio Code: a document, or a log of changes to one. `docs/formats/vscode-chat.md` says more.

use std::{borrow::Cow, collections::HashMap, io::BufRead};

use serde_json::{Map, Value, json};

use super::{
    Error, ParseOptions, Parsed,
    model_name::named,
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part,
    input::read_objects,
    rows::{Object, Warnings, parse_raw, time_of_number},
};

/// The deepest path that a change may have, and the longest list that it may make.
const MAX_DEPTH: usize = 32;
const MAX_ITEMS: usize = 1_000_000;

/// Kinds of response parts that are the editor's own, and say nothing.
const SILENT: [&str; 17] = [
    "prepareToolInvocation",
    "undoStop",
    "codeblockUri",
    "mcpServersStarting",
    "progressMessage",
    "progressTask",
    "progressTaskSerialized",
    "confirmation",
    "command",
    "warning",
    "notebookEditGroup",
    "references",
    "usedContext",
    "codeCitation",
    "elicitation",
    "treeData",
    "extensions",
];

/// Reads a session.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut state = Value::Null;
    let mut recognised = false;
    let mut strange = 0_u64;
    let bytes = read_objects(reader, &mut warnings, |_, object, _| {
        if object.has("requests") {
            recognised = true;
            state = Value::Object(whole(object));
        } else if let Some(kind) = object.i64("kind") {
            recognised = true;
            strange += u64::from(!change(&mut state, kind, object));
        } else {
            strange += 1;
        }
    })?;
    let mut thread = Thread::new(time(&state, "creationDate").unwrap_or(options.fallback_time));
    for _ in 0..strange {
        thread.unknown(None);
    }
    let text = |key: &str| state.get(key).and_then(Value::as_str).map(str::to_owned);
    let head = Head { id: text("sessionId"), title: text("customTitle"), version: None, cwd: None, parent: None };
    for request in state.get("requests").and_then(Value::as_array).into_iter().flatten() {
        say(&mut thread, request);
    }
    one(thread, Harness::VsCodeChat, head, options, warnings, (bytes, recognised))
}

fn whole(object: &Object<'_>) -> Map<String, Value> {
    ["requests", "sessionId", "customTitle", "creationDate"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), object.value(key)?)))
        .collect()
}

/// Makes one change of the log: 0 is everything, 1 sets, 2 appends to a list (cut to `i` before), 3 removes.
fn change(state: &mut Value, kind: i64, object: &Object<'_>) -> bool {
    let value = object.get("v").and_then(parse_raw::<Value>);
    if kind == 0 {
        let Some(value) = value else { return false };
        *state = value;
        return true;
    }
    let path = object.get("k").and_then(parse_raw::<Vec<Value>>).unwrap_or_default();
    if path.is_empty() || path.len() > MAX_DEPTH {
        return false;
    }
    match kind {
        1 => place(state, &path).map(|slot| *slot = value.unwrap_or(Value::Null)).is_some(),
        2 => {
            let Some(slot) = place(state, &path) else { return false };
            if !slot.is_array() {
                *slot = json!([]);
            }
            let Value::Array(items) = slot else { return false };
            if let Some(keep) = object.i64("i").and_then(|keep| usize::try_from(keep).ok()) {
                items.truncate(keep);
            }
            if let Some(Value::Array(more)) = value {
                items.extend(more);
            }
            true
        }
        3 => {
            let Some((last, above)) = path.split_last() else { return false };
            match (place(state, above), last) {
                (Some(Value::Object(members)), Value::String(name)) => {
                    members.remove(name);
                    true
                }
                (Some(Value::Array(items)), Value::Number(index)) => {
                    let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
                    index.filter(|index| *index < items.len()).map(|index| items.remove(index)).is_some()
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// The place at a path, made if there is nothing: a log may have lost its beginning.
fn place<'v>(state: &'v mut Value, path: &[Value]) -> Option<&'v mut Value> {
    let mut slot = state;
    for step in path {
        slot = match step {
            Value::String(name) => {
                if !slot.is_object() {
                    *slot = json!({});
                }
                slot.as_object_mut()?.entry(name.clone()).or_insert(Value::Null)
            }
            Value::Number(index) => {
                let index = usize::try_from(index.as_u64()?).ok().filter(|index| *index < MAX_ITEMS)?;
                if !slot.is_array() {
                    *slot = json!([]);
                }
                let items = slot.as_array_mut()?;
                // Only the next one may be made; a gap would make up requests.
                if index == items.len() {
                    items.push(Value::Null);
                }
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    Some(slot)
}

fn time(value: &Value, key: &str) -> Option<jiff::Timestamp> {
    time_of_number(value.get(key)?.as_f64()?)
}

fn text_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// A string, or the `value` of an object: texts are written in both ways.
fn markdown(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("value")?.as_str())
}

/// One request: the prompt, then the response.
fn say(thread: &mut Thread, request: &Value) {
    if request.get("hiddenFromUI").and_then(Value::as_bool) == Some(true) {
        return;
    }
    let id = text_of(request, "requestId");
    let at = time(request, "timestamp");
    let message = request.get("message");
    let prompt = message.and_then(|message| message.as_str().or_else(|| text_of(message, "text")));
    let mut parts = vec![Part::Text { text: prompt.unwrap_or_default().to_owned() }];
    let variables = request.pointer("/variableData/variables").and_then(Value::as_array).into_iter().flatten();
    parts.extend(variables.filter(|variable| text_of(variable, "kind") == Some("image")).map(image));
    thread.say(Said::user(parts).id(id).at(at));
    let model = text_of(request, "modelId").and_then(|model| named(None, model, None));
    let response = response(thread, request);
    thread.say(Said::agent(model, response).id(id.map(|id| format!("{id}/response"))));
}

fn image(variable: &Value) -> Part {
    let mime_type = text_of(variable, "mimeType").unwrap_or("image/png").to_owned();
    // The bytes, as a list or an object of numbers.
    let value = variable.get("value");
    let bytes = value.and_then(|v| v.as_array().map(Vec::len).or_else(|| v.as_object().map(Map::len))).unwrap_or(0);
    Part::Image { mime_type, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) }
}

/// What the editor shows of a response. `toolCallRounds` hold the same once more, as the model said it: arguments and results
/// of calls are taken from there.
fn response(thread: &mut Thread, request: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    let metadata = request.pointer("/result/metadata");
    let rounds = || metadata.and_then(|metadata| metadata.get("toolCallRounds")?.as_array()).into_iter().flatten();
    let mut announced: HashMap<&str, &Value> = HashMap::new();
    for call in rounds().filter_map(|round| round.get("toolCalls")?.as_array()).flatten() {
        announced.extend(text_of(call, "id").map(|id| (id, call)));
    }
    let results = metadata.and_then(|metadata| metadata.get("toolCallResults")?.as_object());
    let mut text = String::new();
    for part in request.get("response").and_then(Value::as_array).into_iter().flatten() {
        let kind = text_of(part, "kind").unwrap_or_default();
        match kind {
            "" | "markdownContent" | "markdownVuln" => {
                let said = part.get("content").and_then(markdown).or_else(|| markdown(part)).unwrap_or_default();
                text.push_str(said);
                continue;
            }
            "inlineReference" => {
                text.push_str(&reference(part));
                continue;
            }
            _ => {}
        }
        match kind {
            "thinking" => {
                flush(&mut text, &mut parts);
                let said = part.get("value").map(thinking).unwrap_or_default();
                parts.push(Part::Reasoning { text: said });
            }
            "toolInvocationSerialized" | "toolInvocation" => {
                flush(&mut text, &mut parts);
                parts.extend(tool_call(part, &announced, results));
            }
            "textEditGroup" | "textEdit" => {
                flush(&mut text, &mut parts);
                let path = part.get("uri").and_then(|uri| text_of(uri, "fsPath").or_else(|| text_of(uri, "path")));
                parts.push(Part::ToolCall {
                    id: String::new(),
                    name: "edit".to_owned(),
                    input: json!({ "path": path.unwrap_or_default() }),
                    output: None,
                    failed: false,
                });
            }
            kind if SILENT.contains(&kind) => {}
            _ => thread.unknown(None),
        }
    }
    flush(&mut text, &mut parts);
    // A response that was stopped before anything was shown may stand in the rounds alone.
    if parts.is_empty() {
        for round in rounds() {
            parts.extend(text_of(round, "response").map(|text| Part::Text { text: text.to_owned() }));
        }
    }
    parts
}

fn flush(text: &mut String, parts: &mut Vec<Part>) {
    if !text.trim().is_empty() {
        parts.push(Part::Text { text: text.trim().to_owned() });
    }
    text.clear();
}

fn thinking(value: &Value) -> String {
    match value {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
        value => markdown(value).unwrap_or_default().to_owned(),
    }
}

/// What stands in the text for a file or a symbol: its name.
fn reference(part: &Value) -> String {
    if let Some(name) = text_of(part, "name") {
        return format!("`{name}`");
    }
    let target = part.get("inlineReference").unwrap_or(&Value::Null);
    if let Some(name) = text_of(target, "name") {
        return format!("`{name}`");
    }
    let location = target.get("uri").or_else(|| target.get("location")?.get("uri")).unwrap_or(target);
    let path = text_of(location, "path").or_else(|| text_of(location, "fsPath")).unwrap_or_default();
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    if name.is_empty() { String::new() } else { format!("`{name}`") }
}

fn tool_call(part: &Value, announced: &HashMap<&str, &Value>, results: Option<&Map<String, Value>>) -> Option<Part> {
    let id = text_of(part, "toolCallId").unwrap_or_default();
    let call = announced.get(id);
    let name = text_of(part, "toolId").or_else(|| text_of(call?, "name"))?;
    let mut input = call.and_then(|call| call.get("arguments")).map_or_else(
        || json!({}),
        |arguments| match arguments {
            Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
            value => value.clone(),
        },
    );
    if input == json!({}) {
        input = shown_input(part);
    }
    let details = part.get("resultDetails");
    let mut output = results.and_then(|results| result_text(results.get(id)?));
    if output.is_none() {
        output = details.and_then(|details| details.get("output")).and_then(result_text);
    }
    let exit = part.pointer("/toolSpecificData/terminalCommandState/exitCode").and_then(Value::as_i64);
    let is_error = details.and_then(|details| details.get("isError")?.as_bool()) == Some(true);
    // Neither confirmed nor run.
    let refused = part.pointer("/isConfirmed/type").and_then(Value::as_i64) == Some(0)
        || part.get("isConfirmed").and_then(Value::as_bool) == Some(false);
    let failed = is_error || refused || exit.is_some_and(|exit| exit != 0);
    Some(Part::ToolCall { id: id.to_owned(), name: name.to_owned(), input, output, failed })
}

/// What the editor shows of a call whose arguments are not kept.
fn shown_input(part: &Value) -> Value {
    let command = part.pointer("/toolSpecificData/commandLine");
    let command = command.and_then(|line| text_of(line, "original").or_else(|| text_of(line, "toolEdited")));
    if let Some(command) = command.or_else(|| part.pointer("/toolSpecificData/command")?.as_str()) {
        return json!({ "command": command });
    }
    if let Some(input) = part.pointer("/toolSpecificData/rawInput").filter(|input| input.is_object()) {
        return input.clone();
    }
    let said = ["pastTenseMessage", "invocationMessage"].iter().find_map(|key| markdown(part.get(*key)?));
    said.map_or_else(|| json!({}), |said| json!({ "summary": plain(said) }))
}

/// A message without the addresses of its links, which name files by their whole path.
fn plain(message: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((address, after)) = after.split_once(')') else { break };
        let name = address.rsplit('/').next().unwrap_or_default().split('#').next().unwrap_or_default();
        out.push_str(before.strip_suffix('[').map(|before| format!("{before}{name}")).as_deref().unwrap_or(before));
        rest = after;
    }
    if out.is_empty() {
        return Cow::Borrowed(message);
    }
    out.push_str(rest);
    Cow::Owned(out.replace('[', ""))
}

/// The text in a result: `content` or `value`, lists of them.
fn result_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().filter_map(result_text).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Object(_) => ["content", "value", "text"].iter().find_map(|key| result_text(value.get(*key)?)),
        _ => None,
    }
}
