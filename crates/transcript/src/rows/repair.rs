//! Mending a damaged line: what can be put right without guessing at content.

use memchr::{memchr_iter, memmem};

use super::Object;

/// Replaces each escaped surrogate that has no partner by `\uFFFD`, in place; says whether it did.
///
/// An unpaired surrogate is legal JSON text but no Unicode string, so no decoder would give the
/// row's text back. The replacement has the same length, six bytes.
pub(super) fn replace_lone_surrogates(line: &mut [u8]) -> bool {
    if memmem::find(line, b"\\ud").is_none() && memmem::find(line, b"\\uD").is_none() {
        return false;
    }
    let mut replaced = false;
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let escape = at + found;
        match code_unit(line, escape) {
            Some(0xD800..=0xDBFF) if matches!(code_unit(line, escape + 6), Some(0xDC00..=0xDFFF)) => {
                at = escape + 12;
            }
            Some(0xD800..=0xDFFF) => {
                if let Some(digits) = line.get_mut(escape + 2..escape + 6) {
                    digits.copy_from_slice(b"FFFD");
                    replaced = true;
                }
                at = escape + 6;
            }
            Some(_) => at = escape + 6,
            None => at = escape + 2,
        }
    }
    replaced
}

/// The code unit of the `\uXXXX` at `at`, if there is one.
fn code_unit(line: &[u8], at: usize) -> Option<u16> {
    let escape = line.get(at..at.checked_add(6)?)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    u16::from_str_radix(digits, 16).ok()
}

/// Whether `text` holds a byte that JSON allows nowhere inside a string.
pub(super) fn has_control_characters(text: &str) -> bool {
    text.bytes().any(|byte| byte < b' ')
}

/// `text` with control characters inside strings escaped, and NUL bytes dropped everywhere.
pub(crate) fn escape_control_characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut scan = Scan::default();
    for character in text.chars() {
        let inside = scan.in_string;
        scan.step(character);
        match character {
            '\0' => {}
            '\n' if inside => out.push_str("\\n"),
            '\r' if inside => out.push_str("\\r"),
            '\t' if inside => out.push_str("\\t"),
            control if inside && control < ' ' => {
                out.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    out
}

/// Where in JSON's structure a scan stands.
#[derive(Debug, Default, Clone)]
pub(super) struct Scan {
    depth: u64,
    in_string: bool,
    escaped: bool,
    opened: bool,
}

impl Scan {
    pub(super) fn feed(&mut self, text: &str) {
        for character in text.chars() {
            self.step(character);
        }
    }

    fn step(&mut self, character: char) {
        if self.in_string {
            match character {
                _ if self.escaped => self.escaped = false,
                '\\' => self.escaped = true,
                '"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match character {
            '"' => self.in_string = true,
            '{' | '[' => {
                self.depth += 1;
                self.opened = true;
            }
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether everything that was opened has been closed.
    pub(super) const fn is_closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.in_string
    }
}

/// The place after `start` where a whole row begins that a damaged beginning hides.
///
/// A writer that died in the middle of a row leaves a stub, and the next row is appended to it.
/// `failed_at` is where reading from `start` stopped making sense. Work is bounded by a multiple of
/// the line's length.
pub(super) fn find_glued_row(text: &str, start: usize, failed_at: usize) -> Option<usize> {
    const ATTEMPTS: usize = 256;
    let bytes = text.as_bytes();
    let mut budget = text.len().saturating_mul(4).saturating_add(4096);
    let opening = memchr_iter(b'{', bytes.get(start + 1..)?)
        .map(|found| start + 1 + found)
        .filter(|at| matches!(next_visible(bytes, at + 1), Some(b'"')));
    for at in opening.take(ATTEMPTS) {
        // What is properly nested in the damaged row is a part of it, not a row: unless reading
        // failed right there, or it carries what only an envelope carries.
        let nested = matches!(last_visible(bytes, at), Some(b':' | b',' | b'['));
        let trusted = !nested || (at..at + 3).contains(&failed_at);
        let rest = text.get(at..)?;
        let parsed = Object::parse_prefix(rest);
        let spent = match &parsed {
            Ok((_, length)) => *length,
            Err(error) => error.column().min(rest.len()),
        };
        if let Ok((object, length)) = parsed {
            let tail = rest.get(length..)?.trim_start_matches(is_filler);
            let is_row = object.str("type").is_some() && (trusted || object.has("sessionId"));
            if is_row && (tail.is_empty() || tail.starts_with('{')) {
                return Some(at);
            }
        }
        budget = budget.checked_sub(spent)?;
    }
    None
}

/// Bytes between rows that mean nothing.
pub(super) const fn is_filler(character: char) -> bool {
    matches!(character, '\0' | ' ' | '\t' | '\r' | '\n' | '\u{1e}' | '\u{feff}')
}

fn next_visible(bytes: &[u8], from: usize) -> Option<u8> {
    bytes.get(from..)?.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

fn last_visible(bytes: &[u8], before: usize) -> Option<u8> {
    bytes.get(..before)?.iter().rev().copied().find(|byte| !byte.is_ascii_whitespace())
}
