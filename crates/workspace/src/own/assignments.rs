//! Lines of `NAME=value` that no shell reads.

use zeroize::Zeroizing;

use super::sink::{Sink, Trust};

/// The most lines a quoted value goes on for.
const MOST_LINES: usize = 200;

/// A `.env` file: `NAME=value`, with or without `export`, quoted or not; a quoted value may go on over lines.
pub(super) fn dotenv(text: &str, sink: &mut Sink) {
    let mut rest = text.trim_start_matches('\u{feff}');
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        if line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=').or_else(|| line.split_once(": ")) else { continue };
        let name = name.trim_end();
        if !is_name(name) {
            continue;
        }
        let value = value.trim_start();
        match value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
            Some(quote) => {
                let inner = value.get(1..).unwrap_or_default();
                if let Some(end) = closing(inner, quote) {
                    offer(name, inner.get(..end).unwrap_or_default(), quote, sink);
                } else if let Some((more, after)) = goes_on(rest, quote) {
                    rest = after;
                    offer(name, &Zeroizing::new(format!("{inner}\n{more}")), quote, sink);
                } else {
                    offer(name, inner, quote, sink);
                }
            }
            // A remark needs a space before it: a password may hold the sign.
            None => offer(name, value.split(" #").next().unwrap_or(value), ' ', sink),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

/// Where the quote closes, escaped ones passed over.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped && quote == '"';
        closes.then_some(at)
    })
}

/// The rest of a quoted value that its first line does not close, and what comes after.
fn goes_on(text: &str, quote: char) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n').take(MOST_LINES) {
        if let Some(end) = closing(line, quote) {
            let after = text.get(at + end + quote.len_utf8()..)?;
            return Some((text.get(..at + end)?, after.split_once('\n').map_or("", |(_, after)| after)));
        }
        // Another assignment: the quote was never closed.
        if line
            .split_once('=')
            .is_some_and(|(name, _)| is_name(name.trim()) && name.len() > 2 && !line.ends_with("=\n"))
        {
            return None;
        }
        at += line.len();
    }
    None
}

fn offer(name: &str, value: &str, quote: char, sink: &mut Sink) {
    if quote == '"' && value.contains('\\') {
        let unescaped = value.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
        sink.offer(name, &Zeroizing::new(unescaped), Trust::Settings);
    } else {
        sink.offer(name, value, Trust::Settings);
    }
}

/// The universal variables of the fish shell: `SETUVAR --export NAME:value`, with `\x20` and the like for bytes.
pub(super) fn fish_variables(text: &str, sink: &mut Sink) {
    for line in text.lines().filter_map(|line| line.strip_prefix("SETUVAR ")) {
        let line = line.split(' ').find(|word| !word.starts_with("--")).unwrap_or_default();
        if let Some((name, value)) = line.split_once(':') {
            sink.offer(name, &unescape(value), Trust::Settings);
        }
    }
}

fn unescape(text: &str) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(text.len()));
    let mut parts = text.split('\\');
    out.push_str(parts.next().unwrap_or_default());
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let byte = part.strip_prefix('x').and_then(|hex| u8::from_str_radix(hex.get(..2)?, 16).ok());
        match byte.filter(u8::is_ascii) {
            Some(byte) => {
                out.push(char::from(byte));
                out.push_str(part.get(3..).unwrap_or_default());
            }
            // An escaped backslash leaves an empty part.
            None if part.is_empty() => {
                out.push('\\');
                out.push_str(parts.next().unwrap_or_default());
            }
            None => out.push_str(part),
        }
    }
    out
}
