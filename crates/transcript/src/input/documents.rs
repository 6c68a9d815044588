//! JSON documents: one object, a list of them of any length, or several in a row.

use std::{
    borrow::Cow,
    io::{BufRead, Read},
};

use serde_json::value::RawValue;

use super::mend::mend;
use crate::{
    import::Error,
    rows::{Warnings, clean},
};

/// The largest document, or item of a list, that is read, in bytes.
pub(crate) const MAX_VALUE_BYTES: usize = 512 * 1024 * 1024;

/// Calls `on_value` for each object of a stream: for each item if it is a list, else for each object in a row. Memory is bounded
/// by twice the largest. Returns how many bytes there were.
///
/// Warnings: `partial-document` where one is cut off and was read up to what is whole, `damaged-document` where one is no JSON
/// from some place on, and the codes of [`crate::rows::read_rows`] for bytes that are no text.
pub(crate) fn read_values(
    reader: &mut dyn BufRead,
    warnings: &mut Warnings,
    mut on_value: impl FnMut(&RawValue, &mut Warnings),
) -> Result<u64, Error> {
    let mut stream = Stream { reader, bytes: 0 };
    let mut buffer = Vec::new();
    while let Some(found) = stream.next(&mut buffer)? {
        match found {
            Found::Whole | Found::Cut => value(&mut buffer, found == Found::Cut, warnings, &mut on_value),
            Found::TooLong => warnings.push(
                None,
                "oversized-row",
                format!("a document longer than {} MB was skipped", MAX_VALUE_BYTES / (1024 * 1024)),
            ),
        }
    }
    Ok(stream.bytes)
}

/// The object at the beginning of `text`, mended if need be.
pub(crate) fn parse_object<T>(text: &[u8], read: impl FnOnce(&RawValue) -> T) -> Option<T> {
    let mut buffer = text.to_vec();
    let mut result = None;
    let mut read = Some(read);
    value(&mut buffer, false, &mut Warnings::default(), &mut |raw, _| {
        if let Some(read) = read.take() {
            result = Some(read(raw));
        }
    });
    result
}

fn value(buffer: &mut [u8], is_cut: bool, warnings: &mut Warnings, on_value: &mut dyn FnMut(&RawValue, &mut Warnings)) {
    let text = clean(buffer, None, warnings);
    if !is_cut && let Ok(raw) = serde_json::from_str::<&RawValue>(&text) {
        on_value(raw, warnings);
        return;
    }
    let escaped = crate::rows::escape_control_characters(&text);
    let whole: Cow<'_, str> = if is_cut {
        Cow::Borrowed(&escaped)
    } else {
        match serde_json::from_str::<&RawValue>(&escaped) {
            Ok(raw) => {
                on_value(raw, warnings);
                return;
            }
            Err(error) => Cow::Borrowed(escaped.get(..place_of(&escaped, &error)).unwrap_or_default()),
        }
    };
    let (code, message) = if is_cut {
        ("partial-document", "the document is cut off; what is whole of it was read")
    } else {
        ("damaged-document", "the document is damaged; what comes before the damage was read")
    };
    warnings.push(None, code, message.to_owned());
    if let Some(mended) = mend(&whole)
        && let Ok(raw) = serde_json::from_str::<&RawValue>(&mended)
    {
        on_value(raw, warnings);
    }
}

/// The byte at which reading `text` failed.
fn place_of(text: &str, error: &serde_json::Error) -> usize {
    let line = error.line().saturating_sub(1);
    let start = match line {
        0 => 0,
        line => memchr::memchr_iter(b'\n', text.as_bytes()).nth(line - 1).map_or(0, |at| at + 1),
    };
    let mut place = (start + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Whole,
    Cut,
    TooLong,
}

struct Stream<'r> {
    reader: &'r mut dyn BufRead,
    bytes: u64,
}

impl Stream<'_> {
    /// Puts the next object into `buffer`; whatever else stands at the top is passed over.
    fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Found>, Error> {
        buffer.clear();
        loop {
            let available = self.reader.fill_buf()?;
            if available.is_empty() {
                return Ok(None);
            }
            match memchr::memchr(b'{', available) {
                Some(at) => {
                    self.consume(at);
                    break;
                }
                None => {
                    let length = available.len();
                    self.consume(length);
                }
            }
        }
        let mut scan = Scan::default();
        let mut is_too_long = false;
        loop {
            let available = self.reader.fill_buf()?;
            if available.is_empty() {
                return Ok(Some(if is_too_long { Found::TooLong } else { Found::Cut }));
            }
            let end = scan.feed(available);
            let taken = end.unwrap_or(available.len());
            is_too_long |= buffer.len() + taken > MAX_VALUE_BYTES;
            if is_too_long {
                buffer.clear();
                buffer.shrink_to_fit();
            } else {
                buffer.extend_from_slice(available.get(..taken).unwrap_or_default());
            }
            self.consume(taken);
            if end.is_some() {
                return Ok(Some(if is_too_long { Found::TooLong } else { Found::Whole }));
            }
        }
    }

    fn consume(&mut self, length: usize) {
        self.reader.consume(length);
        self.bytes += u64::try_from(length).unwrap_or(0);
    }
}

/// Where in an object a scan stands that finds its end by braces alone.
#[derive(Default)]
struct Scan {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    /// Reads on; how many bytes of `bytes` belong to the object, once it has ended.
    fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if self.escaped {
                self.escaped = false;
                at += 1;
                continue;
            }
            if self.in_string {
                let found = memchr::memchr2(b'"', b'\\', rest)?;
                self.escaped = rest.get(found) == Some(&b'\\');
                self.in_string = self.escaped;
                at += found + 1;
                continue;
            }
            let found = memchr::memchr3(b'"', b'{', b'}', rest)?;
            at += found + 1;
            match rest.get(found) {
                Some(b'"') => self.in_string = true,
                Some(b'{') => self.depth += 1,
                _ => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
            }
        }
        None
    }
}

/// Reads a stream to its end, if it is not longer than `max` bytes.
pub(crate) fn read_whole(reader: &mut dyn Read, max: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    reader.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max {
        return Err(Error::TooLarge { max_bytes: max });
    }
    Ok(bytes)
}
