//! Text into one line of bounded length.

use unicode_segmentation::UnicodeSegmentation;

/// As much of a text as is looked at, in bytes: far more than a line can show.
const LOOKED_AT_BYTES: usize = 16 * 1024;

/// `text` with every run of white space and control characters as one space, none at the ends.
/// Invisible characters that reorder the text around them are dropped: a line must read as it runs.
pub(super) fn fold(text: &str) -> String {
    let text = text.get(..text.floor_char_boundary(LOOKED_AT_BYTES)).unwrap_or_default();
    let mut line = String::with_capacity(text.len());
    let mut gap = false;
    for character in text.chars() {
        match character {
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {}
            blank if blank.is_whitespace() || blank.is_control() => gap = true,
            visible => {
                if gap && !line.is_empty() {
                    line.push(' ');
                }
                gap = false;
                line.push(visible);
            }
        }
    }
    line
}

/// `line` cut to the limits between graphemes and words, with an ellipsis where something was cut.
///
/// A word stays whole or goes whole, however long it is: what is left of a secret that was cut is found by no rule,
/// and would be published.
pub(super) fn truncate(mut line: String, max_graphemes: usize, max_bytes: usize) -> String {
    const ELLIPSIS: char = '…';
    let room = max_bytes.saturating_sub(ELLIPSIS.len_utf8());
    let mut keep = 0;
    for (count, (start, grapheme)) in line.grapheme_indices(true).enumerate() {
        let end = start + grapheme.len();
        if count >= max_graphemes || end > max_bytes {
            let goes_on = line.get(keep..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_graphic()));
            line.truncate(keep);
            if goes_on {
                line.truncate(line.trim_end_matches(|c: char| c.is_ascii_graphic()).len());
            }
            line.truncate(line.trim_end().len());
            line.push(ELLIPSIS);
            return line;
        }
        if count + 1 < max_graphemes && end <= room {
            keep = end;
        }
    }
    line
}

/// The first line of `text` that says anything, marked where more follow.
pub(super) fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first.to_owned() }
}
