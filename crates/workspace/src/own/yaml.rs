//! YAML as tools write their settings: nested keys, one value a line, blocks of text. Not a YAML parser: whatever it does not
//! understand is passed over.

use zeroize::Zeroizing;

use super::{
    ini::unquoted,
    sink::{Sink, Trust},
};

/// Takes `key: value` wherever it stands, named after its key and the one above.
pub(super) fn yaml(text: &str, trust: Trust, sink: &mut Sink) {
    // The keys above, with their indentation.
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines().peekable();
    while let Some(line) = lines.next() {
        let mut body = line.trim_start();
        let mut indent = line.len() - body.len();
        if body.is_empty() || body.starts_with(['#', '%']) || body.starts_with("//") {
            continue;
        }
        let mut item = false;
        while let Some(rest) = body.strip_prefix("- ") {
            item = true;
            let rest = rest.trim_start();
            indent += body.len() - rest.len();
            body = rest;
        }
        above.retain(|(i, _)| *i < indent);
        let parent = above.last().map_or("", |(_, key)| key);
        let Some((key, value)) = split(body) else {
            if item {
                // aider's list of keys: `openai=…`.
                match value_of(body).split_once('=').filter(|(key, value)| key.len() <= 20 && !value.is_empty()) {
                    Some((key, value)) => sink.offer_as(parent, key, value, trust),
                    None => offer(parent, "", value_of(body), trust, sink),
                }
            }
            continue;
        };
        if value.starts_with(['|', '>']) && value.len() <= 3 {
            let mut block = Zeroizing::new(String::new());
            while let Some(line) = lines.next_if(|l| l.trim().is_empty() || l.len() - l.trim_start().len() > indent) {
                block.push_str(line.trim());
                block.push('\n');
            }
            offer(key, parent, &block, trust, sink);
        } else if value.is_empty() || matches!(value, "{" | "[") {
            above.push((indent, key));
        } else if let Some(flow) = value.strip_prefix('{') {
            for (inner, value) in flow.trim_end_matches([',', '}']).split(", ").filter_map(split) {
                offer(inner, key, value_of(value), trust, sink);
            }
        } else {
            offer(key, parent, value_of(value), trust, sink);
        }
    }
}

fn offer(key: &str, above: &str, value: &str, trust: Trust, sink: &mut Sink) {
    let name = if above.is_empty() { key.to_owned() } else { format!("{key} of {above}") };
    sink.offer_as(key, &name, value, trust);
}

/// A key and what follows it; Ruby's keys begin with a colon.
fn split(line: &str) -> Option<(&str, &str)> {
    let start = line.strip_prefix(':').unwrap_or(line);
    if let Some(quote @ ('"' | '\'')) = start.chars().next() {
        let (key, rest) = start.get(1..)?.split_once(quote)?;
        return Some((key, rest.trim_start().strip_prefix(':')?.trim()));
    }
    match start.split_once(": ") {
        Some((key, value)) => Some((key.trim(), value.trim())),
        None => Some((start.trim_end().strip_suffix(':')?.trim(), "")),
    }
}

/// The value without quotes, remark, or the comma of JSON.
fn value_of(value: &str) -> &str {
    let value = if value.starts_with(['"', '\'']) { value } else { value.split(" #").next().unwrap_or(value) };
    unquoted(value.trim())
}
