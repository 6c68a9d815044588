//! Where tokens and characters begin and end.

use std::collections::HashSet;

use unicode_segmentation::{GraphemeCursor, GraphemeIncomplete, UnicodeSegmentation};

/// The bar that stands for covered text, whatever its length.
pub const BAR: &str = "███";
/// One third of a bar.
pub(crate) const BLOCK: &str = "█";

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The bytes `start..end`, or none of them.
pub(crate) fn part(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    bytes.get(start..end.min(bytes.len())).unwrap_or_default()
}

/// Where the next byte stands, at `from` or after it, of which `is` holds. For bytes that are rare: many are looked at
/// together, so that comparing them costs next to nothing.
#[inline]
pub(crate) fn next_byte(text: &[u8], from: usize, is: impl Fn(u8) -> bool) -> Option<usize> {
    const CHUNK: usize = 32;
    let mut at = from;
    let mut rest = text.get(from..)?;
    while let Some((chunk, after)) = rest.split_first_chunk::<CHUNK>() {
        // No early way out: the whole chunk is one comparison of vectors.
        if chunk.iter().fold(false, |any, b| any | is(*b)) {
            break;
        }
        at += CHUNK;
        rest = after;
    }
    rest.iter().position(|b| is(*b)).map(|found| at + found)
}

/// Where the last byte of `start..end` ends that is less than `LEAST` or not ASCII. For passing over text in steps: `None`
/// also where it stands more than sixteen bytes before `end`.
#[inline]
pub(crate) fn after_last_below<const LEAST: u8>(text: &[u8], start: usize, end: usize) -> Option<usize> {
    const HIGH: u128 = u128::from_le_bytes([0x80; 16]);
    let last = u128::from_le_bytes(*text.get(..end)?.last_chunk()?);
    // The high bit of each byte is lent to the subtraction, so that no byte borrows from its neighbour.
    let below = !((last | HIGH) - u128::from_le_bytes([LEAST; 16])) | last;
    let behind = usize::try_from((below & HIGH).leading_zeros() / 8).unwrap_or_default();
    end.checked_sub(behind).filter(|after| behind < 16 && *after > start)
}

/// The text `start..end`, or nothing.
pub(crate) fn str_part(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// Whether a token can begin at `at`: not within a word, where the letter of an escape (`\n`, `%20`, a terminal's colour
/// code) is no part of one.
pub(crate) fn begins_token(bytes: &[u8], at: usize, dash_joins: bool) -> bool {
    let before = part(bytes, 0, at);
    let [.., last] = before else { return true };
    if dash_joins && *last == b'-' {
        return false;
    }
    if !is_word(*last) {
        return true;
    }
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'"'] => true,
        [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        [.., b'm'] => {
            let codes = before.iter().rev().skip(1).take(16);
            let length = codes.take_while(|b| b.is_ascii_digit() || **b == b';').count();
            before.len().checked_sub(length + 2).and_then(|i| before.get(i)) == Some(&b'[')
        }
        _ => false,
    }
}

/// Whether no word goes on at `at`; a dash or underscore joins only when a word follows it.
pub(crate) fn ends_token(bytes: &[u8], at: usize) -> bool {
    match part(bytes, at, at.saturating_add(2)) {
        [b'-' | b'_', next] => !next.is_ascii_alphanumeric(),
        [b'-' | b'_'] | [] => true,
        [first, ..] => !first.is_ascii_alphanumeric(),
    }
}

/// The end of the token that goes on at `end`, without a dash or underscore at its very end.
pub(crate) fn token_end(bytes: &[u8], end: usize) -> usize {
    let run = bytes.get(end..).unwrap_or_default();
    let length = run.iter().take_while(|b| is_word(**b) || **b == b'-').count();
    let tail = part(run, 0, length).iter().rev().take_while(|b| matches!(b, b'-' | b'_')).count();
    end + length - tail
}

/// Widens a span outward to grapheme boundaries, and over the blocks (U+2588) that touch it, so that bars never touch.
pub(crate) fn snap(text: &str, start: usize, end: usize) -> (usize, usize) {
    let mut start = text.floor_char_boundary(start);
    let mut end = text.ceil_char_boundary(end);
    loop {
        start = grapheme_start(text, start);
        end = grapheme_end(text, end);
        let before = str_part(text, 0, start);
        let after = text.get(end..).unwrap_or_default();
        let blocks_before = before.len() - before.trim_end_matches(BLOCK).len();
        let blocks_after = after.len() - after.trim_start_matches(BLOCK).len();
        if blocks_before + blocks_after == 0 {
            return (start, end);
        }
        start -= blocks_before;
        end += blocks_after;
    }
}

/// More spans than this in one text are put on boundaries that are looked up, not looked for: a character may be as long as
/// the text, and then each span would be a walk through all of it.
const FEW: usize = 64;

/// [`snap`] of each span, merged.
pub(crate) fn snap_all(text: &str, spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut spans = merge(spans);
    let many = spans.len() > FEW && !text.is_ascii();
    if many {
        let mut bounds = text.grapheme_indices(true).map(|(at, _)| at).peekable();
        let mut last = 0;
        // In order, and apart from each other: one walk through the text serves all.
        for span in &mut spans {
            while let Some(bound) = bounds.next_if(|b| *b <= span.0) {
                last = bound;
            }
            let start = last;
            while let Some(bound) = bounds.next_if(|b| *b < span.1) {
                last = bound;
            }
            *span = (start, bounds.peek().copied().unwrap_or(text.len()));
        }
        spans = merge(spans);
    }
    for span in &mut spans {
        let touches_block = str_part(text, 0, span.0).ends_with(BLOCK)
            || text.get(span.1..).is_some_and(|after| after.starts_with(BLOCK));
        if !many || touches_block {
            *span = snap(text, span.0, span.1);
        }
    }
    merge(spans)
}

/// Between two printable ASCII characters there is always a boundary: the common case, decided without tables.
fn plain_boundary(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let printable = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_none_or(|b| (b' '..0x7f).contains(b));
    printable(at.checked_sub(1)) && printable(Some(at))
}

fn grapheme_start(text: &str, at: usize) -> usize {
    if plain_boundary(text, at) {
        return at;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => match cursor.prev_boundary(text, 0) {
            Ok(Some(boundary)) => boundary,
            Ok(None) | Err(GraphemeIncomplete::PreContext(_)) => 0,
            Err(_) => at,
        },
    }
}

fn grapheme_end(text: &str, at: usize) -> usize {
    if plain_boundary(text, at) {
        return at;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => match cursor.next_boundary(text, 0) {
            Ok(Some(boundary)) => boundary,
            Ok(None) => text.len(),
            Err(_) => at,
        },
    }
}

/// Puts overlapping and touching spans together, in order.
pub(crate) fn merge(mut spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    spans.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(spans.len());
    for (start, end) in spans.into_iter().filter(|(start, end)| start < end) {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// What stands for a home folder, where the author wants to read on from there.
const TILDE: &str = "~";

/// The text with a bar for each span. The spans are merged and on boundaries.
pub(crate) fn bar(text: &str, spans: &[(usize, usize)]) -> String {
    cover(text, spans, &HashSet::new())
}

/// [`bar`], but with a tilde for each span that is one of `homes` and neither more nor less.
pub(crate) fn cover(text: &str, spans: &[(usize, usize)], homes: &HashSet<(usize, usize)>) -> String {
    let mut out = String::with_capacity(text.len() + spans.len() * BAR.len());
    let mut from = 0;
    for &(start, end) in spans {
        out.push_str(str_part(text, from, start));
        let home = homes.contains(&(start, end)) && !str_part(text, start, end).contains(BLOCK);
        out.push_str(if home { TILDE } else { BAR });
        from = end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
