//! A text as it is read: without terminal codes and invisible characters, disguised letters as what they look like, escapes as
//! what they say.

use super::{
    Builder, View,
    escape::escape,
    fold::{Looks, looks},
};
use crate::text::next_byte;

/// How much of the text around a change is looked at: context of a name before a value, and the length of long tokens.
const MARGIN: usize = 2048;

/// So many changes make one region at most, over so many bytes: what is remembered of them takes more than the text.
const MOST_CHANGES: usize = 1 << 15;
const MOST_BYTES: usize = 1 << 20;
/// So much of a region is looked at again with the next.
const OVERLAP_CHANGES: usize = 1 << 13;
const OVERLAP_BYTES: usize = 1 << 16;

/// A part of a text that reads otherwise than it is written.
pub(crate) struct Region {
    /// As it is read.
    pub(crate) clean: View,
    /// With a space for each byte of what is not seen, where there is any: what stands on either side is apart.
    pub(crate) apart: Option<View>,
}

/// Calls `each` with the parts of `text` that read otherwise than they are written, in order.
pub(crate) fn regions(text: &[u8], each: &mut dyn FnMut(Region)) {
    let mut changes: Vec<Found> = Vec::new();
    let mut at = 0;
    while let Some(found) = next_change(text, at, changes.last()) {
        let first = changes.first().map_or(found.from, |c| c.from);
        let last = changes.last().map_or(found.from, |c| c.to);
        if found.from - last > 2 * MARGIN {
            each(region(text, &changes));
            changes.clear();
        } else if changes.len() >= MOST_CHANGES || last - first > MOST_BYTES {
            each(region(text, &changes));
            // What stands across the end of the one region stands whole in the next.
            let kept = changes.iter().rev().take(OVERLAP_CHANGES).take_while(|c| last - c.from < OVERLAP_BYTES).count();
            changes.drain(..changes.len() - kept);
        }
        at = found.to;
        changes.push(found);
    }
    if !changes.is_empty() {
        each(region(text, &changes));
    }
}

/// Something that reads otherwise.
struct Found {
    from: usize,
    to: usize,
    /// What it reads as; the first bytes of it, as many as `length`.
    says: [u8; 4],
    length: usize,
}

fn region(text: &[u8], changes: &[Found]) -> Region {
    let first = changes.first().map_or(0, |c| c.from);
    let last = changes.last().map_or(0, |c| c.to);
    let from = first.saturating_sub(MARGIN);
    let end = last.saturating_add(MARGIN).min(text.len());
    // Not in the middle of a token.
    let tail = text.get(end..).unwrap_or_default().iter().take(8 * MARGIN).take_while(|b| !b.is_ascii_whitespace());
    let end = end + tail.count();
    let mut clean = Builder::new(text, from);
    let mut apart = changes.iter().any(|c| c.length == 0).then(|| Builder::new(text, from));
    for change in changes {
        clean.replace(change.from, change.to, change.says.get(..change.length).unwrap_or_default());
        if let Some(apart) = apart.as_mut().filter(|_| change.length == 0) {
            apart.replace(change.from, change.to, &vec![b' '; change.to - change.from]);
        }
    }
    Region { clean: clean.finish(end), apart: apart.map(|a| a.finish(end)) }
}

fn next_change(text: &[u8], mut at: usize, before: Option<&Found>) -> Option<Found> {
    loop {
        at = next_trigger(text, at)?;
        let rest = text.get(at..)?;
        let (change, length) = match rest.first()? {
            0x80.. => character(text, at, before.is_some_and(|c| c.to == at)),
            0x1b => (Some(([0; 4], 0)), terminal_code(rest)),
            0 | 0x08 => (Some(([0; 4], 0)), 1),
            _ => match escape(rest) {
                Some(found) => (utf8(found.says), found.length),
                None => (None, 1),
            },
        };
        let to = at + length.max(1);
        if let Some((says, length)) = change {
            return Some(Found { from: at, to, says, length });
        }
        at = to;
    }
}

/// Where the next byte stands that may begin something that reads otherwise.
fn next_trigger(text: &[u8], from: usize) -> Option<usize> {
    let begins = |b: u8| (b >= 0x80) | (b == b'\\') | (b == b'%') | (b == b'&') | (b == 0x1b) | (b == 0) | (b == 8);
    next_byte(text, from, begins)
}

fn utf8(c: char) -> Option<([u8; 4], usize)> {
    let mut says = [0; 4];
    let length = c.encode_utf8(&mut says).len();
    Some((says, length))
}

/// What the character beyond ASCII at `at` reads as, and its length in bytes.
fn character(text: &[u8], at: usize, follows_change: bool) -> (Option<([u8; 4], usize)>, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let Some(c) = first_char(rest) else { return (None, 1) };
    let length = c.len_utf8();
    let in_token = |b: Option<&u8>| b.is_some_and(u8::is_ascii_graphic);
    let letter = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let before = at.checked_sub(1).and_then(|i| text.get(i));
    let as_is = |byte: u8| Some(([byte, 0, 0, 0], 1));
    let change = match looks(c) {
        None => None,
        // Between other characters beyond ASCII (in emoji, in Persian) it is as it should be.
        Some(Looks::LikeNothing) => (in_token(before) || follows_change).then_some(([0; 4], 0)),
        Some(Looks::Like(byte)) => as_is(byte),
        Some(Looks::LikeBeside(byte)) if letter(before) || follows_change || leads_to_letter(rest) => as_is(byte),
        Some(Looks::LikeBeside(_)) => None,
        Some(Looks::LikeAfter(byte)) if follows_change => as_is(byte),
        Some(Looks::LikeAfter(_)) => None,
    };
    (change, length)
}

/// Whether look-alikes lead on to a letter of ASCII: then they are of its word.
fn leads_to_letter(text: &[u8]) -> bool {
    let mut at = 0;
    for _ in 0..8 {
        let Some(c) = first_char(text.get(at..).unwrap_or_default()) else { return false };
        match (c.is_ascii(), looks(c)) {
            (true, _) => return c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
            (false, Some(Looks::LikeBeside(_))) => at += c.len_utf8(),
            (false, _) => return false,
        }
    }
    false
}

fn first_char(bytes: &[u8]) -> Option<char> {
    let head = bytes.get(..bytes.len().min(4))?;
    let valid = match str::from_utf8(head) {
        Ok(valid) => valid,
        Err(error) => str::from_utf8(head.get(..error.valid_up_to())?).ok()?,
    };
    valid.chars().next()
}

/// Longest terminal code that is looked through, in bytes: links carry an address.
const LONGEST_CODE: usize = 4096;

/// Length of the terminal code (ECMA-48) that `text` begins with.
pub(super) fn terminal_code(text: &[u8]) -> usize {
    let body = text.get(2..text.len().min(LONGEST_CODE)).unwrap_or_default();
    match text.get(1) {
        Some(b'[') => {
            let parameters = body.iter().take_while(|b| (0x20..0x40).contains(*b)).count();
            let last = body.get(parameters).is_some_and(|b| (0x40..0x7f).contains(b));
            2 + parameters + usize::from(last)
        }
        // Strings end with BEL or ESC \; without an end only the beginning is a code.
        Some(b']' | b'P' | b'^' | b'_' | b'X') => {
            let end = body.iter().position(|b| matches!(b, 0x07 | 0x1b | b'\n'));
            match end.and_then(|end| Some((end, body.get(end)?))) {
                Some((end, 0x07)) => 2 + end + 1,
                Some((end, 0x1b)) if body.get(end + 1) == Some(&b'\\') => 2 + end + 2,
                _ => 2,
            }
        }
        Some(0x20..0x30) => 3,
        Some(0x30..0x7f) => 2,
        _ => 1,
    }
}
