//! Texts over a record's limits, cut where a reader would cut them.

use unicode_segmentation::UnicodeSegmentation;

/// A text's limits: UTF-8 bytes and extended grapheme clusters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub bytes: usize,
    pub graphemes: usize,
}

const BAR: char = '\u{2588}';

/// Pieces of `text` within `limits`, at least one, which together are `text` to the byte.
///
/// Cut after the last paragraph that fits (outside a code fence where there is such a place), else after the last sentence
/// or word, else at a grapheme boundary; never inside a bar.
pub(crate) fn split(text: &str, limits: Limits) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(fits) = overflow(rest, limits) {
        let (piece, tail) = rest.split_at(cut(rest, fits));
        pieces.push(piece);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

/// `text` within `limits`, ending in an ellipsis where it was longer; and whether it was.
pub(crate) fn shorten(text: &str, limits: Limits) -> (String, bool) {
    const ELLIPSIS: &str = "…";
    if overflow(text, limits).is_none() {
        return (text.to_owned(), false);
    }
    let room = Limits { bytes: limits.bytes - ELLIPSIS.len(), graphemes: limits.graphemes - 1 };
    let end = overflow(text, room).unwrap_or(text.len());
    let kept = text.get(..outside_bar(text, end)).unwrap_or_default();
    (format!("{}{ELLIPSIS}", kept.trim_end()), true)
}

/// The end of the longest prefix within the limits, at a grapheme boundary; `None` if all of `text` is.
fn overflow(text: &str, limits: Limits) -> Option<usize> {
    // A grapheme is at least a byte: most texts need no counting.
    if text.len() <= limits.bytes && text.len() <= limits.graphemes {
        return None;
    }
    let mut count = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        count += 1;
        if count > limits.graphemes || start + grapheme.len() > limits.bytes {
            // A single grapheme longer than the limit is cut between its characters.
            return Some(if start > 0 { start } else { floor_char_boundary(text, limits.bytes) });
        }
    }
    None
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let end = (1..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i));
    end.unwrap_or_else(|| text.chars().next().map_or(0, char::len_utf8))
}

fn cut(text: &str, fits: usize) -> usize {
    let window = text.get(..fits).unwrap_or(text);
    // A cut in the first quarter would make a sliver of a record.
    let floor = fits / 4;
    let candidates = [paragraph_end(window), sentence_end(window), word_end(window)];
    let at = candidates.into_iter().flatten().find(|&at| at >= floor && at > 0).unwrap_or(fits);
    outside_bar(text, at)
}

/// After the last blank line; outside code fences if there is one there.
fn paragraph_end(window: &str) -> Option<usize> {
    let (mut fenced, mut inside, mut outside) = (false, None, None);
    let mut at = 0;
    let mut blank_before = false;
    for line in window.split_inclusive('\n') {
        let blank = line.trim().is_empty();
        if blank_before && !blank && at > 0 {
            if fenced { inside = Some(at) } else { outside = Some(at) }
        }
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        blank_before = blank && line.ends_with('\n');
        at += line.len();
    }
    let floor = window.len() / 4;
    outside.filter(|&at| at >= floor).or(inside)
}

fn sentence_end(window: &str) -> Option<usize> {
    // Only the tail matters; segmenting all of it would be work for nothing.
    let from = floor_char_boundary(window, window.len() / 2);
    let tail = window.get(from..)?;
    let last = tail.split_sentence_bound_indices().last().map(|(at, _)| at)?;
    (last > 0).then_some(from + last)
}

fn word_end(window: &str) -> Option<usize> {
    window.char_indices().rev().find(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8())
}

/// `at`, or the start of the bar it would cut through.
fn outside_bar(text: &str, at: usize) -> usize {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    if !(before.ends_with(BAR) && after.starts_with(BAR)) {
        return at;
    }
    let start = before.trim_end_matches(BAR).len();
    if start == 0 { at } else { start }
}

#[cfg(test)]
mod tests;
