//! Reading a text across its white space, and across what else wraps lines: wrapping a word changes nothing in it.

use std::ops::Range;

use crate::text::part;

/// What is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// ASCII white space.
    Squeezed,
    /// The same, and escaped line ends (`\n` in a string), a shell's `\` at the end of a line, and what quotations, comments
    /// and lists put before each line.
    Unwrapped,
}

/// What stands between the end of one line and the beginning of the next.
#[derive(Default)]
struct Wrap {
    length: usize,
    breaks_line: bool,
    /// There is more to it than white space.
    decorated: bool,
}

impl Wrap {
    /// The wrap that `text` begins with, if any.
    fn before(text: &[u8]) -> Self {
        let mut wrap = Self::default();
        loop {
            let rest = text.get(wrap.length..).unwrap_or_default();
            // Escaped once, or in a string within a string.
            let slashes = rest.iter().take(4).take_while(|b| **b == b'\\').count();
            let (length, breaks_line) = match (slashes, rest.get(slashes)) {
                (1.., Some(b'n' | b'r')) => (slashes + 1, true),
                (1, Some(b'\n' | b'\r')) => (2, true),
                (0, Some(b'\n' | b'\r')) => (1, true),
                (0, Some(space)) if space.is_ascii_whitespace() => (1, false),
                (0, Some(b'>' | b'|')) if wrap.breaks_line => (1, false),
                (0, Some(b'#' | b'*' | b'+' | b'-')) if wrap.breaks_line && rest.get(1) == Some(&b' ') => (2, false),
                (0, Some(b'/')) if wrap.breaks_line && rest.starts_with(b"// ") => (3, false),
                (0, Some(_)) if wrap.breaks_line && rest.starts_with("│".as_bytes()) => (3, false),
                _ => return wrap,
            };
            wrap.decorated |= length > 1 || matches!(rest.first(), Some(b'>' | b'|'));
            wrap.breaks_line |= breaks_line;
            wrap.length += length;
        }
    }

    /// The run of white space that `text` begins with.
    fn space_before(text: &[u8]) -> Self {
        let length = text.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(text.len());
        let breaks_line = part(text, 0, length).iter().any(|b| matches!(b, b'\n' | b'\r'));
        Self { length, breaks_line, decorated: false }
    }
}

/// Reads byte by byte.
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    reading: Reading,
    /// After the byte that was read last.
    pub(crate) at: usize,
    begun: bool,
}

impl<'a> Cursor<'a> {
    /// Reads from the byte at `at` on, which is itself read.
    pub(crate) fn new(text: &'a [u8], at: usize, reading: Reading) -> Self {
        Self { text, reading, at, begun: false }
    }

    /// The next byte, if a word reads on to it whose own white space stands here or (`space` is false) does not: elsewhere
    /// only a line break may interrupt it.
    pub(crate) fn next(&mut self, space: bool) -> Option<u8> {
        let mut byte = *self.text.get(self.at)?;
        if self.begun {
            let gap = self.gap(byte);
            if gap.length == 0 {
                if space {
                    return None;
                }
            } else {
                if !gap.breaks_line && !space {
                    return None;
                }
                byte = *self.text.get(self.at + gap.length)?;
                self.at += gap.length;
            }
        }
        self.begun = true;
        self.at += 1;
        Some(byte)
    }

    /// The next byte, whatever stands before it.
    pub(crate) fn skip_to_next(&mut self) -> Option<u8> {
        if self.begun {
            self.at += self.gap(*self.text.get(self.at)?).length;
        }
        self.begun = true;
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn gap(&self, byte: u8) -> Wrap {
        let rest = || self.text.get(self.at..).unwrap_or_default();
        match self.reading {
            Reading::Squeezed if byte.is_ascii_whitespace() => Wrap::space_before(rest()),
            Reading::Unwrapped if byte == b'\\' || byte.is_ascii_whitespace() => Wrap::before(rest()),
            _ => Wrap::default(),
        }
    }
}

/// How many bytes are looked at together.
pub(crate) const BLOCK: usize = 8;

/// The last eight bytes that were read, the last of them highest.
pub(crate) type Register = u64;

/// `register` after one more byte.
#[inline]
pub(crate) fn push(register: Register, byte: u8) -> Register {
    register >> 8 | u64::from(byte) << 56
}

/// A piece of a text in which nothing but white space is passed over.
pub(crate) struct Stretch<'a> {
    pub(crate) range: Range<usize>,
    /// What was read before it.
    pub(crate) register: Register,
    pub(crate) reading: Reading,
    /// What ends with this byte or after it reads the same unwrapped.
    shared_from: usize,
    /// Where the latest wraps are that are more than white space.
    wraps: &'a Wraps,
}

impl Stretch<'_> {
    /// In what ways the bytes are read that end at `last`.
    pub(crate) fn readings(&self, last: usize) -> impl Iterator<Item = Reading> {
        let shared = self.reading == Reading::Squeezed && last >= self.shared_from;
        std::iter::once(self.reading).chain(shared.then_some(Reading::Unwrapped))
    }

    /// Where the byte stands that was read `before` bytes before the one at `last`.
    pub(crate) fn back(&self, text: &[u8], last: usize, before: usize) -> Option<usize> {
        let mut at = last;
        for _ in 0..before {
            loop {
                if self.reading == Reading::Unwrapped
                    && let Some(start) = self.wraps.start(at)
                {
                    at = start;
                    continue;
                }
                at = at.checked_sub(1)?;
                if !text.get(at)?.is_ascii_whitespace() {
                    break;
                }
            }
        }
        Some(at)
    }
}

/// The latest wraps: as many as may lie within one block, and some more.
#[derive(Default)]
struct Wraps {
    latest: [(usize, usize); 2 * BLOCK],
    count: usize,
}

impl Wraps {
    fn add(&mut self, start: usize, end: usize) {
        if let Some(slot) = self.latest.get_mut(self.count % (2 * BLOCK)) {
            *slot = (start, end);
        }
        self.count += 1;
    }

    fn start(&self, end: usize) -> Option<usize> {
        self.latest.iter().take(self.count).find(|w| w.1 == end).map(|w| w.0)
    }
}

/// Calls `each` with the stretches of `text`, in order: of all of it squeezed, and unwrapped where that reads otherwise.
pub(crate) fn stretches(text: &[u8], mut each: impl FnMut(&Stretch<'_>)) {
    // What was read last: squeezed, and unwrapped.
    let (mut squeezed, mut unwrapped): (Register, Register) = (0, 0);
    // Unwrapped, everything before this was passed over; and no wrap but white space begins before that.
    let (mut skip, mut seen) = (0, 0);
    let mut wraps = Wraps::default();
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let end = at + memchr::memchr3(b'\\', b'\n', b'\r', rest).unwrap_or(rest.len());
        // A backslash is read too, unless it is part of a wrap.
        let slash = text.get(end) == Some(&b'\\');
        let wrap = if end >= seen { Wrap::before(text.get(end..).unwrap_or_default()) } else { Wrap::default() };
        let (of_squeezed, of_unwrapped) = (end + usize::from(slash), end + usize::from(slash && wrap.length == 0));
        // Unwrapped, what follows a wrap is read after something else; once as much was read as is looked at together, there
        // is no difference any more.
        let from = at.max(skip);
        let same = squeezed == unwrapped && from == at;
        let to = if same { from } else { nth(text, from..of_unwrapped, BLOCK) };
        let shared_from = if end < skip { usize::MAX } else { to };
        let mut tell = |range, register, reading| {
            each(&Stretch { range, register, reading, shared_from, wraps: &wraps });
        };
        if at < of_squeezed {
            tell(at..of_squeezed, squeezed, Reading::Squeezed);
            squeezed = after(squeezed, part(text, at, of_squeezed));
        }
        if from < of_unwrapped && end >= skip {
            if from < to {
                tell(from..to, unwrapped, Reading::Unwrapped);
            }
            unwrapped = after(unwrapped, part(text, from, of_unwrapped));
        }
        seen = seen.max(end + wrap.length);
        if wrap.decorated {
            skip = seen;
            wraps.add(end, skip);
        }
        at = end + 1;
    }
}

/// The register after all of `bytes` but white space.
fn after(register: Register, bytes: &[u8]) -> Register {
    let (mut read, mut count) = (0_u64, 0);
    for byte in bytes.iter().rev().filter(|b| !b.is_ascii_whitespace()).take(BLOCK) {
        read = read << 8 | u64::from(*byte);
        count += 1;
    }
    // Of what was read the last byte is highest already.
    let read = read.checked_shl(64 - 8 * count).unwrap_or(0);
    register.checked_shr(8 * count).unwrap_or(0) | read
}

/// The end of the first `count` bytes of `range` that are no white space.
fn nth(text: &[u8], range: Range<usize>, count: usize) -> usize {
    let bytes = text.get(range.clone()).unwrap_or_default();
    let found = bytes.iter().enumerate().filter(|(_, b)| !b.is_ascii_whitespace()).nth(count - 1);
    found.map_or(range.end.max(range.start), |(at, _)| range.start + at + 1)
}
