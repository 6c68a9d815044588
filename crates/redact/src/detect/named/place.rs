//! From a name to what stands as its value: assignments, literals, arguments, elements, cells.

use super::value::{Stands, contains};
use crate::text::part;

/// Where a value may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) stands: Stands,
}

/// How far a value is followed before it is judged; one that is taken goes on to its end.
const REACH: usize = 256;
/// White space between a name, its separator and its value.
const GAP: usize = 48;

/// A name in its text.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Written as environment variables are.
    pub(super) caps: bool,
}

fn at(text: &[u8], index: usize) -> u8 {
    text.get(index).copied().unwrap_or_default()
}

fn skip(text: &[u8], from: usize, most: usize, test: impl Fn(u8) -> bool) -> usize {
    from + text.get(from..).unwrap_or_default().iter().take(most).take_while(|b| test(**b)).count()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// What stands between the name and the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `=`, `:=`, `=>`: an assignment. With nothing around it, one of a shell or a form.
    Equals {
        tight: bool,
    },
    Colon,
    /// `==`, `!=`, `||`, `??`: only a literal is a value.
    Operator,
    /// After a name in quotes.
    Comma,
    /// A call.
    Paren,
    /// The end of a tag.
    Tag,
    /// The next cell of a table.
    Cell,
    /// Nothing but white space.
    Space,
}

/// The value that is assigned to `name`, if any is.
pub(super) fn assigned(text: &[u8], name: Name) -> Option<Place> {
    let (mut pos, quote) = close(text, name.end);
    let key_quoted = quote.is_some();
    // `%NAME%=…`
    if at(text, pos) == b'%' && name.start.checked_sub(1).map(|i| at(text, i)) == Some(b'%') {
        pos += 1;
    }
    let before_gap = pos;
    pos = skip(text, pos, GAP, is_blank);
    if !key_quoted && at(text, pos) == b'\n' && begins_line(text, name) {
        return below(text, pos);
    }
    let (separator, after) = separator(text, name, pos, pos > before_gap, quote)?;
    let value = skip(text, after, GAP, is_blank);
    let place = value_at(text, name, value, separator);
    // `var password string = "…"` of Go.
    if separator == Separator::Space && part(text, value, value + 7) == b"string " {
        return typed(text, value);
    }
    match (separator, place) {
        // The type stands between: `password: &str = "…"`.
        (Separator::Colon, Some(Place { stands: Stands::Bare, .. }) | None) if !key_quoted => {
            typed(text, value).or(place).or_else(|| below(text, value))
        }
        (Separator::Colon | Separator::Equals { .. }, None) => below(text, value),
        _ => place,
    }
}

/// Passes what may close a name: quotes, brackets, emphasis, a question mark.
fn close(text: &[u8], from: usize) -> (usize, Option<u8>) {
    let mut pos = from;
    let mut quoted = None;
    for _ in 0..12 {
        match at(text, pos) {
            quote @ (b'"' | b'\'' | b'`') => quoted = Some(quote),
            b'\\' if at(text, pos + 1) == b'\\' || is_quote(at(text, pos + 1)) => {}
            b'*' | b']' | b'?' => {}
            b'[' => {
                let close = skip(text, pos + 1, 6, |b| b.is_ascii_alphanumeric());
                if at(text, close) != b']' {
                    break;
                }
                pos = close;
            }
            b'<' if at(text, pos + 1) == b'/' && !text.get(pos..).unwrap_or_default().starts_with(b"</span>") => {
                // `<b>Password</b>: …`, `<td>Password</td><td>…`
                let close = skip(text, pos, 12, |b| b != b'>');
                let tag = part(text, pos + 2, close);
                if at(text, close) != b'>'
                    || !matches!(tag, b"b" | b"strong" | b"td" | b"th" | b"dt" | b"code" | b"em" | b"label")
                {
                    break;
                }
                pos = close;
            }
            _ => break,
        }
        pos += 1;
    }
    (pos, quoted)
}

fn separator(text: &[u8], name: Name, pos: usize, gap: bool, quote: Option<u8>) -> Option<(Separator, usize)> {
    let rest = part(text, pos, pos + 4);
    let key_quoted = quote.is_some();
    let tight = !gap && !is_blank(at(text, pos + 1));
    Some(match rest {
        [b'=' | b'!', b'=', b'=', ..] => (Separator::Operator, pos + 3),
        [b'=' | b'!', b'=', ..] | [b'|', b'|', ..] | [b'?', b'?', ..] => (Separator::Operator, pos + 2),
        [b'=' | b'-', b'>', ..] | [b':' | b'+', b'=', ..] | [b'<', b'-', b' ', ..] => {
            (Separator::Equals { tight: false }, pos + 2)
        }
        [b'=', b'~', ..] | [b':', b':', ..] => return None,
        [b'=', ..] => (Separator::Equals { tight }, pos + 1),
        [b':', ..] => (Separator::Colon, pos + 1),
        [b',', ..] if key_quoted => (Separator::Comma, pos + 1),
        [b')', b',', ..] if key_quoted => (Separator::Comma, pos + 2),
        [b'(', ..] if !gap => (Separator::Paren, pos + 1),
        [b'|', ..] if quote.is_none_or(|q| q == b'`') => (Separator::Cell, pos + 1),
        [b'>', ..] if key_quoted || at(text, name.start.wrapping_sub(1)) == b'<' => (Separator::Tag, pos + 1),
        [b'<', b't' | b'd', b'd', b'>'] => (Separator::Tag, pos + 4),
        [0xe2, 0x86, 0x92, ..] => (Separator::Colon, pos + 3),
        [0xef, 0xbc, 0x9a | 0x9d, ..] => (Separator::Colon, pos + 3),
        [b'o', b'r', b' ', ..] if gap && key_quoted => (Separator::Operator, pos + 3),
        _ if gap => (Separator::Space, pos),
        _ => return None,
    })
}

/// The value at `pos`, after `separator`.
fn value_at(text: &[u8], name: Name, pos: usize, separator: Separator) -> Option<Place> {
    let (pos, emphasis) = opening(text, pos);
    if let Some((start, end)) = quoted(text, pos) {
        let called = match separator {
            // `PASSWORD '…'` is SQL.
            Separator::Space => !is_flag(text, name) && !name.caps,
            Separator::Comma => !name.caps,
            _ => false,
        };
        let stands = if called { Stands::Argument } else { Stands::Literal };
        return Some(Place { start, end, stands });
    }
    if let Some((start, end)) = wrapped(text, pos) {
        return (separator != Separator::Space).then_some(Place { start, end, stands: Stands::Argument });
    }
    let inside = bracketed(text, pos).filter(|_| matches!(separator, Separator::Equals { .. } | Separator::Colon));
    if let Some((start, end)) = inside {
        let stands = if name.caps { Stands::Literal } else { Stands::Bare };
        return Some(Place { start, end, stands });
    }
    let literal = match separator {
        Separator::Equals { tight } => {
            tight && (name.caps || is_flag(text, name) || is_dotted_line(text, name) || in_form(text, name))
        }
        Separator::Tag | Separator::Cell => true,
        Separator::Colon => emphasis || name.caps,
        Separator::Space => is_flag(text, name) || is_command(text, name),
        Separator::Operator | Separator::Comma | Separator::Paren => return None,
    };
    if separator == Separator::Space && !literal {
        return None;
    }
    let end = match separator {
        Separator::Tag => skip(text, pos, REACH, |b| !matches!(b, b'<' | b'\n')),
        Separator::Cell => {
            let end = skip(text, pos, REACH, |b| !matches!(b, b'|' | b'\n'));
            let tail = part(text, pos, end)
                .iter()
                .rev()
                .take_while(|b| is_blank(**b) || matches!(b, b'`' | b'*' | b'\r'))
                .count();
            end - tail
        }
        _ => bare_end(text, pos),
    };
    let stands = if literal { Stands::Literal } else { Stands::Bare };
    (end > pos).then_some(Place { start: pos, end, stands })
}

/// Passes emphasis, prefixes of strings, a bracket.
fn opening(text: &[u8], from: usize) -> (usize, bool) {
    let mut pos = from;
    let mut emphasis = false;
    if matches!(part(text, pos, pos + 2), b"**" | b"__") {
        pos += 2;
        pos = skip(text, pos, 3, is_blank);
        emphasis = true;
    }
    for tag in [&b"<code>"[..], b"<b>", b"<strong>", b"<kbd>"] {
        if text.get(pos..).is_some_and(|t| t.starts_with(tag)) {
            pos += tag.len();
            emphasis = true;
        }
    }
    let prefix =
        skip(text, pos, 3, |b| matches!(b, b'&' | b'[' | b'b' | b'r' | b'u' | b'f' | b'L' | b'@' | b'#' | b'('));
    let slashes = skip(text, prefix, 8, |b| b == b'\\');
    if prefix > pos && is_quote(at(text, slashes)) {
        pos = prefix;
    }
    (pos, emphasis)
}

/// The inside of the quotes at `pos`, up to where they close, or as far as they are looked at.
pub(super) fn quoted(text: &[u8], pos: usize) -> Option<(usize, usize)> {
    const PAIRS: [(&[u8], &[u8]); 7] = [
        ("“".as_bytes(), "”".as_bytes()),
        ("„".as_bytes(), "“".as_bytes()),
        ("«".as_bytes(), "»".as_bytes()),
        ("「".as_bytes(), "」".as_bytes()),
        ("‘".as_bytes(), "’".as_bytes()),
        ("『".as_bytes(), "』".as_bytes()),
        (b"&quot;", b"&quot;"),
    ];
    let window = part(text, pos, pos.saturating_add(REACH));
    for (open, close) in PAIRS {
        if let Some(rest) = window.strip_prefix(open) {
            let end = rest.windows(close.len()).position(|w| w == close)?;
            return Some((pos + open.len(), pos + open.len() + end));
        }
    }
    let slashes = skip(text, pos, 8, |b| b == b'\\') - pos;
    let quote = at(text, pos + slashes);
    if !is_quote(quote) {
        return None;
    }
    let mut start = pos + slashes + 1;
    if slashes == 0 && part(text, start, start + 2) == [quote, quote] {
        start += 2;
    }
    let mut before = 0;
    for (offset, byte) in part(text, start, start.saturating_add(REACH)).iter().enumerate() {
        match byte {
            b'\n' | b'\r' => return None,
            b'\\' => {
                before += 1;
                continue;
            }
            b if *b == quote && before <= slashes => return Some((start, start + offset - before)),
            // A line of the outer string ends.
            b'n' if before == 1 && slashes > 0 => return None,
            _ => {}
        }
        before = 0;
    }
    // It is longer, or was cut off.
    let end = bare_end(text, start);
    (end - start >= 16).then_some((start, end))
}

/// The quoted argument of a call: `String::from("…")`, `new Secret("…")`, `ConvertTo-SecureString "…"`.
fn wrapped(text: &[u8], pos: usize) -> Option<(usize, usize)> {
    let pos = if part(text, pos, pos + 4) == b"new " { pos + 4 } else { pos };
    let name = skip(text, pos, 48, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'-' | b'!'));
    let open = match at(text, name) {
        b'(' if name > pos => name + 1,
        b' ' if part(text, pos, name).eq_ignore_ascii_case(b"ConvertTo-SecureString") => {
            name + 1 + if part(text, name + 1, name + 9) == b"-String " { 8 } else { 0 }
        }
        _ => return None,
    };
    is_quote(at(text, skip(text, open, 4, |b| b == b'\\'))).then(|| quoted(text, open))?
}

/// The inside of `[…]`, as logs and forms print a value: one word, and no link.
fn bracketed(text: &[u8], pos: usize) -> Option<(usize, usize)> {
    let start = pos + 1;
    let end = skip(text, start, REACH, |b| b.is_ascii_graphic() && !is_quote(b) && !b"[](){},".contains(&b));
    let closed = at(text, pos) == b'[' && at(text, end) == b']' && at(text, end + 1) != b'(';
    (closed && end - start >= 8).then_some((start, end))
}

/// `password: &str = "…"`: the literal after the type at `pos`.
fn typed(text: &[u8], pos: usize) -> Option<Place> {
    let end = skip(text, pos, 64, |b| {
        b.is_ascii_alphanumeric()
            || matches!(b, b' ' | b'&' | b'\'' | b'<' | b'>' | b'[' | b']' | b':' | b'.' | b'_' | b'|' | b'?')
    });
    if end == pos || at(text, end) != b'=' || at(text, end + 1) == b'=' {
        return None;
    }
    let value = skip(text, end + 1, GAP, is_blank);
    let (value, _) = opening(text, value);
    if let Some((start, end)) = quoted(text, value) {
        return Some(Place { start, end, stands: Stands::Literal });
    }
    wrapped(text, value).map(|(start, end)| Place { start, end, stands: Stands::Argument })
}

/// The value alone on a line below its name: `API key:`, an empty line or a fence, then the key.
fn below(text: &[u8], pos: usize) -> Option<Place> {
    if !matches!(at(text, pos), b'\n' | b'\r') {
        return None;
    }
    let mut pos = skip(text, pos, 8, |b| b.is_ascii_whitespace());
    if part(text, pos, pos + 3) == b"```" {
        pos = skip(text, pos, 16, |b| b != b'\n');
        pos = skip(text, pos, 8, |b| b.is_ascii_whitespace());
    }
    if at(text, pos) == b'`' {
        pos += 1;
    }
    let end = skip(text, pos, REACH, |b| !b.is_ascii_whitespace() && !is_quote(b));
    let closed = skip(text, end, 4, |b| b == b'`' || is_blank(b));
    let alone = matches!(at(text, closed), b'\n' | b'\r' | 0);
    (alone && end - pos >= 12).then_some(Place { start: pos, end, stands: Stands::Prose })
}

/// `- name: DB_PASSWORD⏎  value: …`, `{"name":"DB_PASSWORD","value":"…"}`, `name="password" value="…"`.
pub(super) fn paired(text: &[u8], name: Name) -> Option<Place> {
    let before = part(text, name.start.saturating_sub(14), name.start);
    if !before.iter().any(|b| matches!(b, b'=' | b':')) {
        return None;
    }
    let window = part(text, name.end, name.end.saturating_add(120));
    let limit = window.iter().position(|b| matches!(b, b'>' | b'}' | b';' | b'{' | b'(')).unwrap_or(window.len());
    let window = part(window, 0, limit);
    let value = window.windows(5).position(|w| w.eq_ignore_ascii_case(b"value"))?;
    let between = part(window, 0, value);
    // Nothing but attributes, or the end of one line.
    let lines = between.iter().filter(|b| **b == b'\n').count();
    if lines > 1 || contains(between, b"- ") {
        return None;
    }
    let (pos, _) = close(text, name.end + value + 5);
    let pos = skip(text, pos, GAP, is_blank);
    if !matches!(at(text, pos), b'=' | b':') {
        return None;
    }
    let value = skip(text, pos + 1, GAP, is_blank);
    if let Some((start, end)) = quoted(text, value) {
        return Some(Place { start, end, stands: Stands::Literal });
    }
    let end = bare_end(text, value);
    (end > value).then_some(Place { start: value, end, stands: if name.caps { Stands::Literal } else { Stands::Bare } })
}

/// `--password`, `-Dkey`, `/p:Password`.
fn is_flag(text: &[u8], name: Name) -> bool {
    at(text, name.start) == b'-'
}

/// The line begins with the word of a Dockerfile or a shell that sets a variable, or is one of a netrc.
fn is_command(text: &[u8], name: Name) -> bool {
    let before = part(text, name.start.saturating_sub(24), name.start);
    let line = before.iter().rposition(|b| *b == b'\n').map_or(before, |i| part(before, i + 1, before.len()));
    // The marks of a quotation, a diff, a prompt, a tag.
    let line = line.rsplit(|b| *b == b'>').next().unwrap_or_default();
    let marks = line.iter().take_while(|b| !b.is_ascii_alphanumeric()).count();
    let word = part(line, marks, line.len()).trim_ascii();
    // The flags of fish's `set`, wherever it stands.
    let mut words = word.rsplit(|b| *b == b' ');
    let (last, before) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if before.ends_with(b"set") && last.starts_with(b"-") {
        return true;
    }
    // In capitals it is no word of a sentence.
    if last == b"ENV" || last == b"ARG" || last.ends_with("→ENV".as_bytes()) || last.ends_with("→ARG".as_bytes()) {
        return true;
    }
    [&b"ENV"[..], b"ARG", b"setx", b"set", b"SETX", b"config", b"requirepass"].contains(&word)
        || (word.is_empty() && part(text, name.start, name.end) == b"requirepass")
}

/// Nothing stands before the name on its line but white space and the mark of a quotation.
fn begins_line(text: &[u8], name: Name) -> bool {
    let before = part(text, name.start.saturating_sub(16), name.start);
    let margin = before.iter().rev().take_while(|b| is_blank(**b) || **b == b'>').count();
    before.len().checked_sub(margin + 1).map_or(before.len() == name.start, |i| before.get(i) == Some(&b'\n'))
}

/// `spring.datasource.password=…` from the beginning of a line: a file of properties.
fn is_dotted_line(text: &[u8], name: Name) -> bool {
    let before = name.start.checked_sub(1).map(|i| at(text, i));
    let own = part(text, name.start, name.end);
    before.is_none_or(|b| b == b'\n')
        && own.iter().any(|b| matches!(b, b'.' | b'-'))
        && !own.starts_with(b"self.")
        && !own.starts_with(b"this.")
}

/// One of several `name=value` with `&` or `?` before it.
fn in_form(text: &[u8], name: Name) -> bool {
    matches!(name.start.checked_sub(1).map(|i| at(text, i)), Some(b'&' | b'?'))
}

/// Where a value without quotes ends: at white space, a quote, an escape; not with the punctuation of what holds it.
pub(super) fn bare_end(text: &[u8], start: usize) -> usize {
    let window = part(text, start, start.saturating_add(REACH));
    let mut length = 0;
    while let Some(byte) = window.get(length) {
        let next = window.get(length + 1).copied().unwrap_or_default();
        let stop = match byte {
            b'"' | b'\'' | b'`' | b'<' | b'>' => true,
            b'\\' => matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'\n' | b'u' | 0),
            b'&' | b';' | b',' | b'|' => {
                begins_pair(window, length + 1) || next == b' ' || (*byte != b'&' && next == 0)
            }
            b'*' => next == b'*',
            0xe2 => matches!(window.get(length..length + 3), Some([0xe2, 0x80, 0x9c..=0x9e | 0xa6])),
            0xe3 => matches!(window.get(length..length + 3), Some([0xe3, 0x80, 0x80..=0x8f])),
            0xef => matches!(window.get(length..length + 2), Some([0xef, 0xbc])),
            b => b.is_ascii_whitespace() || *b < 0x20,
        };
        if stop {
            break;
        }
        length += 1;
    }
    let mut end = length;
    while let Some(last) = end.checked_sub(1).and_then(|i| window.get(i)) {
        let body = part(window, 0, end);
        let open = |o: u8, c: u8| body.iter().filter(|b| **b == o).count() < body.iter().filter(|b| **b == c).count();
        let cut = match last {
            b'.' | b',' | b';' | b':' => true,
            b')' => open(b'(', b')'),
            b']' => open(b'[', b']'),
            b'}' => open(b'{', b'}'),
            _ => false,
        };
        if !cut {
            break;
        }
        end -= 1;
    }
    start + end
}

/// `name=` begins at `at`.
fn begins_pair(window: &[u8], at: usize) -> bool {
    let rest = window.get(at..).unwrap_or_default();
    let space = rest.iter().take(2).take_while(|b| **b == b' ').count();
    let rest = part(rest, space, 48);
    let quote = usize::from(rest.first().copied().is_some_and(is_quote));
    let name = rest
        .iter()
        .skip(quote)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b' '))
        .count();
    name > 0 && matches!(rest.get(name + quote), Some(b'=' | b'"' | b':'))
}
