//! Every match of an expression that someone else wrote, in bounded time.

use regex::bytes::{Captures, Regex, RegexBuilder};

/// A compiled expression may take this much memory.
const SIZE: usize = 10 << 20;
/// Its cache of states may take this much.
const CACHE: usize = 1 << 20;

/// After so many matches an expression may look only so far for the next one, or as far as that one goes on. One with an
/// optional end of any length would otherwise look at all the rest of the text for each of many matches.
const PATIENCE: [(u32, usize); 3] = [(16, 1 << 16), (512, 1 << 12), (8192, 1 << 9)];

/// Compiles `pattern` to be looked for anywhere; the error says why it cannot be.
pub(super) fn unanchored(pattern: &str, unicode: bool) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .unicode(unicode)
        .size_limit(SIZE)
        .dfa_size_limit(CACHE)
        .build()
        .map_err(|e| e.to_string())
}

/// Calls `take` with start and end of each match that begins at `from` or after it, and its groups if `groups`; it says where
/// to go on. Empty matches are left out.
pub(super) fn each_match(
    regex: &Regex,
    text: &[u8],
    from: usize,
    groups: bool,
    mut take: impl FnMut(usize, usize, Option<&Captures<'_>>) -> usize,
) {
    let (mut at, mut count, mut wider) = (from, 0, 1_usize);
    while at < text.len() {
        let reach =
            PATIENCE.iter().rev().find(|(matches, _)| count >= *matches).map_or(text.len(), |(_, reach)| *reach);
        let reach = reach.saturating_mul(wider);
        let limit = at.saturating_add(reach).min(text.len());
        let window = text.get(..limit).unwrap_or_default();
        let last = limit == text.len();
        match regex.find_at(window, at) {
            None if last => return,
            None => at = limit - reach / 2,
            // Close to the window's end it may go on beyond it.
            Some(found) if !last && found.start() > at && found.end() > limit - reach / 2 => at = found.start(),
            Some(found) if !last && found.end() == limit => wider = wider.saturating_mul(8),
            Some(found) if found.is_empty() => at = found.end() + 1,
            Some(found) => {
                (count, wider) = (count + 1, 1);
                let captures = if groups { regex.captures_at(window, found.start()) } else { None };
                at = take(found.start(), found.end(), captures.as_ref()).max(found.start() + 1);
            }
        }
    }
}
