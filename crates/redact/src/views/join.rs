//! Tokens that were cut in two: by the end of a line, or by the plus sign of a program.

use std::ops::Range;

use super::{Builder, View};
use crate::text::part;

/// A token with the pieces of it put together.
pub(crate) struct Joined {
    pub(crate) view: View,
    pieces: Vec<Piece>,
}

/// One piece after another.
struct Piece {
    /// Where it ends in the view.
    end: usize,
    /// A program puts it there.
    sure: bool,
    /// It looks like the rest of a token.
    plausible: bool,
}

impl Joined {
    /// Where the token ends in the view, if it goes on beyond its first piece: at one of `lengths` where its format fixes
    /// them, else with the last piece that looks like a part of it.
    pub(crate) fn end(&self, lengths: &[usize]) -> Option<usize> {
        let (first, rest) = self.pieces.split_first()?;
        if lengths.contains(&first.end) {
            return None;
        }
        if let Some(whole) = rest.iter().find(|p| lengths.contains(&p.end)) {
            return Some(whole.end);
        }
        let fixed = !lengths.is_empty();
        let mut end = None;
        let mut before = first.end;
        for piece in rest {
            let length = piece.end - before;
            let shown = first.end >= SHORTEST_LINE || length >= LONG_PIECE;
            if !(piece.sure || (!fixed && piece.plausible && shown)) {
                break;
            }
            before = piece.end;
            end = Some(piece.end);
        }
        end
    }
}

/// A token whose length is not known is taken to go on in the next line only if this much of it stands in the first.
const SHORTEST_LINE: usize = 12;
/// Or this much of it in the next.
const LONG_PIECE: usize = 16;
/// Longest token that is put together, in bytes.
const LONGEST: usize = 4096;
/// Most pieces that are put together.
const MOST_PIECES: usize = 128;
/// Longest glue between two pieces, in bytes.
const LONGEST_GLUE: usize = 160;

fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~')
}

/// The end of the run of a token's characters that goes on at `start`.
pub(crate) fn run_end(text: &[u8], start: usize) -> usize {
    let run = text.get(start..).unwrap_or_default();
    start + run.iter().position(|b| !in_token(*b)).unwrap_or(run.len())
}

/// The same, not further than the longest token.
fn token_end(text: &[u8], start: usize) -> usize {
    run_end(part(text, 0, start.saturating_add(LONGEST)), start)
}

/// What stands between two pieces of a token.
struct Glue {
    /// Where the next piece begins.
    end: usize,
    /// A program puts the pieces together; else a line ended there.
    sure: bool,
    /// They are two of a list.
    lists: bool,
}

/// The token that begins at `start`, if it goes on after the end of a line or in the next string of a program. Its first
/// piece ends at `end`: see [`run_end`].
pub(crate) fn joined(text: &[u8], start: usize, mut end: usize) -> Option<Joined> {
    if end <= start || end - start > LONGEST {
        return None;
    }
    end = before_soft_break(text, end);
    let listed = part(text, start.saturating_sub(9), start).ends_with(b"concat!(\"");
    let mut builder = Builder::new(text, start);
    let mut pieces = vec![Piece { end: end - start, sure: true, plausible: true }];
    let mut last_length = 0;
    while end - start < LONGEST && pieces.len() < MOST_PIECES {
        let Some(glue) = glue(text, end) else { break };
        let next = token_end(text, glue.end);
        let piece = part(text, glue.end, next);
        // A full stop ends a sentence.
        let stops = piece.iter().rev().take_while(|b| **b == b'.').count();
        if (glue.lists && !ends_item(text, next))
            || stops == piece.len()
            || piece.get(..4) == text.get(start..start + 4)
        {
            break;
        }
        builder.replace(end, glue.end, b"");
        end = before_soft_break(text, next - stops);
        builder.copy_to(end);
        // Lines that were cut at one width are parts of one thing.
        let even = end - glue.end == last_length && !piece.contains(&b'=');
        last_length = end - glue.end;
        let plausible = !glue.lists && (even || goes_on(text, glue.end, end));
        pieces.push(Piece { end: builder.view.bytes.len(), sure: glue.sure || (glue.lists && listed), plausible });
        if stops > 0 {
            break;
        }
    }
    (pieces.len() > 1).then(|| Joined { view: builder.finish(end), pieces })
}

/// Whether an item of a list ends at `at`, and not the name of a value.
fn ends_item(text: &[u8], at: usize) -> bool {
    let after = at + 1 + spaces(text, at + 1);
    matches!(text.get(at), Some(b'"' | b'\'' | b'`')) && matches!(text.get(after), Some(b',' | b']' | b')' | b'\n'))
}

/// The end of a piece without the `=` of quoted-printable at the end of its line.
fn before_soft_break(text: &[u8], end: usize) -> usize {
    let soft = matches!(part(text, end.saturating_sub(2), end), [before, b'='] if *before != b'=');
    end - usize::from(soft && matches!(text.get(end), Some(b'\n' | b'\r')))
}

/// Whether the first word of a line looks like the rest of a token.
fn goes_on(text: &[u8], start: usize, end: usize) -> bool {
    let piece = part(text, start, end);
    let closes = match part(text, end, end + 2) {
        [] => true,
        [b' ' | b'\t', next] => matches!(next, b'|' | b'+' | b'\\' | b'"' | b'\'' | b'\n' | b'\r' | b'#' | 0xe2),
        [first, ..] => !first.is_ascii_alphanumeric() && !matches!(first, b'(' | b'[' | b'{' | b':'),
    };
    let assigns =
        piece.iter().position(|b| *b == b'=').is_some_and(|at| part(piece, at, piece.len()).iter().any(|b| *b != b'='));
    let digit = piece.iter().any(u8::is_ascii_digit);
    let lower = piece.iter().any(u8::is_ascii_lowercase);
    let upper_within = piece.iter().skip(1).any(u8::is_ascii_uppercase);
    closes && !assigns && piece.len() >= 8 && lower && (digit || upper_within)
}

/// The glue that begins at `at`.
fn glue(text: &[u8], at: usize) -> Option<Glue> {
    let limit = at + LONGEST_GLUE;
    let unsure = |end| Some(Glue { end, sure: false, lists: false });
    match part(text, at, at + 2) {
        // Nothing between two quotes, in a shell's word.
        [b'"', b'"'] | [b'\'', b'\''] => Some(Glue { end: at + 2, sure: true, lists: false }),
        // What a page shows as code may be a part of a token only.
        [b'`', ..] => concatenation(text, at, limit).or_else(|| unsure(at + 1)),
        [b'"' | b'\'', ..] => concatenation(text, at, limit),
        b"${" => empty_expression(text, at).map(|end| Glue { end, sure: true, lists: false }),
        b"**" => Some(Glue { end: at + 2, sure: true, lists: false }),
        [b'=', ..] => line_end(text, at + 1).and_then(|end| unsure(line_start(text, end))),
        [b'<', ..] => {
            let end = tags(text, at)?;
            // What a page puts within a word.
            let within = [&b"<wbr"[..], b"</span><span", b"</b><b", b"</em><em", b"<b>", b"<em>", b"<mark", b"<span"];
            let sure = within.iter().any(|tag| part(text, at, at + tag.len()) == *tag);
            Some(Glue { end, sure, lists: false })
        }
        [b'\\' | b'\n' | b'\r' | b' ' | b'\t' | b'|' | 0xe2, ..] => {
            let end = line_end(text, at)?;
            let start = line_start(text, end);
            appended(text, start).map_or_else(|| unsure(start), |end| Some(Glue { end, sure: true, lists: false }))
        }
        _ => None,
    }
    .filter(|glue| glue.end <= limit && text.get(glue.end).is_some_and(|b| in_token(*b)))
}

/// `${""}` in a template.
fn empty_expression(text: &[u8], at: usize) -> Option<usize> {
    matches!(part(text, at, at + 5), b"${\"\"}" | b"${''}").then_some(at + 5)
}

/// Tags of HTML that part nothing on the page: `<br>`, `<wbr>`, `</span><span class="x">`.
fn tags(text: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..4 {
        if text.get(at) != Some(&b'<') {
            return Some(at);
        }
        let tag = part(text, at, at + 48);
        let name = tag.get(1).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/');
        let end = tag.iter().position(|b| *b == b'>').filter(|_| name)?;
        at += end + 1;
    }
    Some(at)
}

/// `K+=` before the rest of a value, with or without a quote.
fn appended(text: &[u8], at: usize) -> Option<usize> {
    let name = part(text, at, at + 32).iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let mut end = at + name + spaces(text, at + name);
    if name == 0 || part(text, end, end + 2) != b"+=" {
        return None;
    }
    end += 2;
    end += spaces(text, end);
    Some(end + usize::from(matches!(text.get(end), Some(b'"' | b'\''))))
}

/// The end of a line, as it is or escaped, after white space, the border of a table and a shell's backslash.
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + spaces(text, at);
    let border = match part(text, at, at + 3) {
        [b'|', ..] => 1,
        [0xe2, 0x94, 0x82] => 3,
        _ => 0,
    };
    at += border;
    at += spaces(text, at);
    let rest = part(text, at, at + 4);
    Some(match rest {
        [b'\n', ..] => at + 1,
        [b'\r', b'\n', ..] => at + 2,
        [b'\\', b'\n', ..] => at + 2,
        [b'\\', b'\r', b'\n', ..] => at + 3,
        [b'\\', b'r', b'\\', b'n'] => at + 4,
        [b'\\', b'n', ..] => at + 2,
        _ => return None,
    })
}

fn spaces(text: &[u8], at: usize) -> usize {
    part(text, at, at + LONGEST_GLUE).iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Where the line's own text begins: after indentation, the marks of quotations, comments, lists, tables and diffs, and a
/// line's number.
fn line_start(text: &[u8], from: usize) -> usize {
    let mut at = from + spaces(text, from);
    let digits = part(text, at, at + 8).iter().take_while(|b| b.is_ascii_digit()).count();
    let after_digits = part(text, at + digits, at + digits + 3);
    // A line's number has a mark of its own, or stands apart.
    let marked = match after_digits {
        [b':' | b'|' | b'\t', ..] => 1,
        [0xe2, 0x94, 0x82] | [0xe2, 0x86, 0x92] => 3,
        [b' ', b' ' | b'|', ..] => 1,
        _ => 0,
    };
    if digits > 0 && marked > 0 {
        at += digits + marked;
        at += spaces(text, at);
    }
    for _ in 0..4 {
        let mark = match part(text, at, at + 3) {
            [b'>' | b'|', ..] => 1,
            [b'+' | b'-', next, ..] if !matches!(next, b'+' | b'-') => 1,
            [b'#' | b'*', b' ', ..] => 2,
            [b'/', b'/', b' '] => 3,
            [0xe2, 0x94, 0x82] => 3,
            _ => 0,
        };
        if mark == 0 {
            break;
        }
        at += mark;
        at += spaces(text, at);
    }
    at
}

/// `" + "`, `' . '`, `" .. "`, `" & "`, `" ++ "`, `" <> "`, `" "` of strings that follow each other, over lines too; `", "` of
/// a list that may be joined; `"` and `K+="` in the next line.
fn concatenation(text: &[u8], at: usize, limit: usize) -> Option<Glue> {
    let mut end = at + 1;
    let mut operator = 0;
    let mut lines = 0;
    let mut lists = false;
    while end < limit {
        match text.get(end)? {
            b' ' | b'\t' | b'\r' => {}
            b'\n' => {
                lines += 1;
                let next = end + 1 + spaces(text, end + 1);
                if let Some(end) = appended(text, next) {
                    return Some(Glue { end, sure: true, lists: false });
                }
            }
            b',' if operator == 0 => {
                operator = 2;
                lists = true;
            }
            b'+' | b'.' | b'&' | b'<' | b'>' | b'|' | b'~' if operator < 2 => operator += 1,
            b'\\' if matches!(text.get(end + 1), Some(b'\n' | b'\r')) => {}
            b'"' | b'\'' | b'`' => return Some(Glue { end: end + 1, sure: !lists, lists }),
            // Letters that say what kind of string it is.
            b'f' | b'r' | b'b' | b'u' | b'@' | b'$' | b'L' if matches!(text.get(end + 1), Some(b'"' | b'\'')) => {}
            _ => return None,
        }
        if lines > 2 {
            return None;
        }
        end += 1;
    }
    None
}

/// Calls `each` with every place at which two words stand on either side of glue: the bytes around it without the glue, and
/// where in the text they stand. A keyword may have been cut in two there.
pub(crate) fn split_words(text: &[u8], mut each: impl FnMut(&[u8], Range<usize>, Range<usize>)) {
    const REACH: usize = 12;
    let mut window = [0; 2 * REACH];
    // Tags and emphasis within a word besides.
    let marks = memchr::memchr2_iter(b'<', b'*', text);
    for at in memchr::memchr3_iter(b'\n', b'"', b'\'', text).chain(marks) {
        let Some(end_of_word) = break_before(text, at) else { continue };
        let Some(glue) = glue(text, end_of_word) else { continue };
        let before = part(text, end_of_word.saturating_sub(REACH), end_of_word);
        let before = before.len() - before.iter().rev().take_while(|b| in_token(**b)).count();
        let left = end_of_word.saturating_sub(REACH) + before..end_of_word;
        let right = glue.end..token_end(text, glue.end).min(glue.end + REACH);
        let (mut length, bytes) = (0, text.get(left.clone()).unwrap_or_default().iter());
        for byte in bytes.chain(text.get(right.clone()).unwrap_or_default()) {
            if let Some(slot) = window.get_mut(length) {
                *slot = *byte;
                length += 1;
            }
        }
        each(part(&window, 0, length), left, right);
    }
}

/// The end of the word before a line end or a quote at `at`.
fn break_before(text: &[u8], at: usize) -> Option<usize> {
    let skipped =
        part(text, at.saturating_sub(4), at).iter().rev().take_while(|b| matches!(b, b' ' | b'\r' | b'\\')).count();
    let end = at - skipped;
    let word = end.checked_sub(1).and_then(|i| text.get(i)).is_some_and(|b| in_token(*b));
    word.then_some(end)
}
