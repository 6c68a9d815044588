//! JSON and TOML: every string, named after its key and the one above.

use serde_json::Value;
use zeroize::Zeroizing;

use super::{
    ini,
    names::{self, NameSays},
    sink::{Sink, Trust},
};

/// Deeper nesting than this is no configuration, and the TOML reader has no bound of its own.
const DEEPEST: usize = 100;

/// Takes what a JSON file holds; one that is damaged or has remarks is read line by line.
pub(super) fn json(text: &str, trust: Trust, sink: &mut Sink) {
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => walk(value, "", "", trust, sink),
        Err(_) if text.trim().is_empty() => {}
        Err(_) => {
            sink.damaged("is not valid JSON, it was read line by line");
            text.lines().for_each(|line| members(line, trust, sink));
        }
    }
}

/// The members of objects in a line of what is no JSON as a whole: each string that follows another and a colon.
fn members(line: &str, trust: Trust, sink: &mut Sink) {
    let mut key: Option<Zeroizing<String>> = None;
    let mut rest = line;
    while let Some((between, after)) = rest.split_once('"') {
        let Some(length) = string_length(after) else { return };
        let text = serde_json::from_str(&format!("\"{}\"", after.get(..length).unwrap_or_default()));
        let text = Zeroizing::new(text.unwrap_or_else(|_| String::new()));
        rest = after.get(length + 1..).unwrap_or_default();
        match key.take().filter(|_| between.trim() == ":") {
            Some(key) => sink.offer(&key, &text, trust),
            None => key = Some(text),
        }
    }
}

/// How long a string is, from behind the quote that opens it.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|b| {
        let closes = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        closes
    })
}

/// Takes what a TOML file holds; one that is damaged is read line by line.
pub(super) fn toml(text: &str, trust: Trust, sink: &mut Sink) {
    let parsed = (nesting(text) <= DEEPEST).then(|| toml::from_str(text).ok()).flatten();
    match parsed {
        Some(value) => walk(value, "", "", trust, sink),
        None => {
            sink.damaged("is not simple TOML, it was read line by line");
            ini::ini(text, trust, sink);
        }
    }
}

/// Takes what a JSON text within a value holds; whatever else begins like one is nothing.
pub(super) fn within(name: &str, text: &str, sink: &mut Sink) {
    if let Ok(value) = serde_json::from_str(text) {
        walk(value, name, "", Trust::Credentials, sink);
    }
}

fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for b in text.bytes() {
        match b {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Consumes the value, so that every string in it is wiped.
fn walk(value: Value, key: &str, above: &str, trust: Trust, sink: &mut Sink) {
    match value {
        Value::String(text) => {
            let text = Zeroizing::new(text);
            // In a list of tokens by account, the key is an account.
            let listed = names::name_says(key) == NameSays::Nothing && names::is_plural_of_secret(above);
            let trust = if listed { Trust::List } else { trust };
            let name = if above.is_empty() { key.to_owned() } else { format!("{key} of {above}") };
            sink.offer_as(key, &name, &text, trust);
        }
        Value::Array(values) => {
            // The arguments of a command: a value may follow its option.
            let mut option = Zeroizing::new(String::new());
            for value in values {
                let next = value.as_str().filter(|text| text.starts_with('-')).map(str::to_owned);
                if let Some((name, text)) = value.as_str().and_then(|text| text.split_once(['=', ':'])) {
                    sink.offer(name.trim_start_matches('-'), text, Trust::Settings);
                }
                if option.is_empty() {
                    walk(value, key, above, trust, sink);
                } else {
                    walk(value, option.trim_start_matches('-'), above, Trust::Settings, sink);
                }
                option = Zeroizing::new(next.unwrap_or_default());
            }
        }
        Value::Object(members) => {
            for (inner, value) in members {
                walk(value, &inner, key, trust, sink);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
