//! Rows of JSON from a stream, whatever has happened to the file.
//!
//! A row is one JSON object. Usually it is one line, but writers die, race, and have bugs: a line
//! may hold two rows, a stub and a row, NUL bytes, bytes that are not UTF-8, half of a row whose
//! string holds a raw newline. Each damage costs its own row at most, and one warning.
//! Only LF ends a line: U+2028 and U+2029 are ordinary characters of a JSON string.

mod object;
mod repair;
#[cfg(test)]
mod tests;
mod warnings;

use std::{
    borrow::Cow,
    io::{self, BufRead, Read},
    ops::ControlFlow,
};

pub(crate) use object::Key;
pub use object::{Object, array_of, parse_raw, parse_time, string_of, time_of, time_of_number};
pub(crate) use repair::escape_control_characters;
pub use warnings::Warnings;

/// The longest row that is read, in bytes: 64 MB. A longer one is skipped with a warning.
pub const MAX_ROW_BYTES: usize = 64 * 1024 * 1024;

/// The line buffer is kept between rows up to this size, in bytes.
const KEPT_BUFFER_BYTES: usize = 1024 * 1024;

/// One row of a transcript.
#[derive(Debug)]
pub struct Row<'a> {
    /// The line it begins on, from 1.
    pub line: u64,
    /// The row.
    pub object: Object<'a>,
}

/// What a pass over a stream met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Bytes read.
    pub bytes: u64,
    /// Rows given to the caller.
    pub rows: u64,
}

/// Calls `on_row` for each row of `reader` in order, until the end or until it breaks.
///
/// Damage goes into `warnings` with these codes: `malformed-line`, `oversized-row`, `invalid-utf8`,
/// `nul-bytes`, `lone-surrogate`, `raw-newline` (a row that went on over several lines), and
/// `partial-tail` for a last line without its newline that is no row yet: the file is still being
/// written. Memory is bounded by twice the longest row that is read.
///
/// # Errors
/// Only what `reader` gives.
pub fn read_rows(
    reader: &mut dyn BufRead,
    warnings: &mut Warnings,
    on_row: impl FnMut(Row<'_>, &mut Warnings) -> ControlFlow<()>,
) -> io::Result<Tally> {
    read_rows_up_to(reader, MAX_ROW_BYTES, warnings, on_row)
}

fn read_rows_up_to(
    reader: &mut dyn BufRead,
    max_row_bytes: usize,
    warnings: &mut Warnings,
    on_row: impl FnMut(Row<'_>, &mut Warnings) -> ControlFlow<()>,
) -> io::Result<Tally> {
    let mut lines = Lines { reader, max_bytes: max_row_bytes, buffer: Vec::new(), number: 0, bytes: 0 };
    let mut pass = Pass { warnings, on_row, rows: 0, held: None };
    loop {
        let flow = match lines.next()? {
            None => break,
            Some(Line::TooLong) => {
                pass.give_up_held();
                pass.warnings.push(
                    Some(lines.number),
                    "oversized-row",
                    format!("a row longer than {} MB was skipped", max_row_bytes / (1024 * 1024)),
                );
                ControlFlow::Continue(())
            }
            Some(Line::Whole { terminated }) => pass.line(&mut lines.buffer, lines.number, terminated, max_row_bytes),
        };
        if flow.is_break() {
            return Ok(Tally { bytes: lines.bytes, rows: pass.rows });
        }
    }
    pass.give_up_held();
    Ok(Tally { bytes: lines.bytes, rows: pass.rows })
}

/// `buffer` as text, with what is no text in it replaced by U+FFFD.
pub(crate) fn clean<'b>(buffer: &'b mut [u8], line: Option<u64>, warnings: &mut Warnings) -> Cow<'b, str> {
    if repair::replace_lone_surrogates(buffer) {
        warnings.push(line, "lone-surrogate", "half a surrogate pair was replaced by U+FFFD".to_owned());
    }
    match std::str::from_utf8(buffer) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            warnings.push(line, "invalid-utf8", "bytes that are not UTF-8 were replaced by U+FFFD".to_owned());
            String::from_utf8_lossy(buffer)
        }
    }
}

enum Line {
    Whole { terminated: bool },
    TooLong,
}

struct Lines<'r> {
    reader: &'r mut dyn BufRead,
    max_bytes: usize,
    buffer: Vec<u8>,
    /// Number of the line in `buffer`, from 1.
    number: u64,
    bytes: u64,
}

impl Lines<'_> {
    fn next(&mut self) -> io::Result<Option<Line>> {
        self.buffer.clear();
        if self.buffer.capacity() > KEPT_BUFFER_BYTES {
            self.buffer = Vec::new();
        }
        // The row, its CRLF, and one byte more, by which an oversized one is told.
        let limit = u64::try_from(self.max_bytes).unwrap_or(u64::MAX).saturating_add(2);
        let read = Read::take(&mut *self.reader, limit).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += u64::try_from(read).unwrap_or(0);
        let terminated = self.buffer.last() == Some(&b'\n');
        if terminated {
            self.buffer.pop();
        }
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.pop();
        }
        if self.buffer.len() <= self.max_bytes {
            return Ok(Some(Line::Whole { terminated }));
        }
        if !terminated {
            self.bytes += u64::try_from(self.reader.skip_until(b'\n')?).unwrap_or(0);
        }
        Ok(Some(Line::TooLong))
    }
}

/// A row that its line does not finish: its string may hold a raw newline.
struct Held {
    text: String,
    /// The lines it has taken, blank ones left out; the first is where it begins.
    lines: Vec<u64>,
    scan: repair::Scan,
}

struct Pass<'w, F> {
    warnings: &'w mut Warnings,
    on_row: F,
    rows: u64,
    held: Option<Held>,
}

impl<F: FnMut(Row<'_>, &mut Warnings) -> ControlFlow<()>> Pass<'_, F> {
    fn line(&mut self, buffer: &mut [u8], number: u64, terminated: bool, max_bytes: usize) -> ControlFlow<()> {
        let text = clean(buffer, Some(number), self.warnings);
        let trimmed = text.trim_start_matches(['\0', '\u{feff}']);
        if let Some(mut held) = self.held.take() {
            // A row always starts with `{` and its first name; a lone brace is pretty-printed JSON.
            let is_row_start = trimmed.strip_prefix('{').is_some_and(|rest| !rest.trim().is_empty());
            if !is_row_start && held.text.len() + text.len() < max_bytes {
                if !trimmed.trim().is_empty() {
                    held.lines.push(number);
                }
                held.text.push('\n');
                held.text.push_str(&text);
                held.scan.feed("\n");
                held.scan.feed(&text);
                if !held.scan.is_closed() {
                    self.held = Some(held);
                    return ControlFlow::Continue(());
                }
                let mended = escape_control_characters(&held.text);
                let line = held.lines.first().copied().unwrap_or(number);
                if Object::parse_prefix(&mended).is_ok() {
                    self.warnings.push(
                        Some(line),
                        "raw-newline",
                        "a row went on over several lines and was put together again".to_owned(),
                    );
                    return self.rows_of(&mended, line, true, false);
                }
                self.give_up(&held);
                return ControlFlow::Continue(());
            }
            self.give_up(&held);
        }
        self.rows_of(&text, number, terminated, true)
    }

    /// The rows of one line.
    fn rows_of(&mut self, line_text: &str, line: u64, terminated: bool, may_hold: bool) -> ControlFlow<()> {
        let mut text = Cow::Borrowed(line_text);
        let mut mended = false;
        let mut at = 0;
        let mut had_nul = false;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let row = rest.trim_start_matches(repair::is_filler);
            let filler = rest.get(..rest.len() - row.len()).unwrap_or_default();
            had_nul |= filler.contains('\0');
            at += filler.len();
            if row.is_empty() {
                break;
            }
            let error = match Object::parse_prefix(row) {
                Ok((object, length)) => {
                    at += length;
                    self.rows += 1;
                    if (self.on_row)(Row { line, object }, self.warnings).is_break() {
                        return ControlFlow::Break(());
                    }
                    continue;
                }
                Err(error) => error,
            };
            if !mended && repair::has_control_characters(row) {
                had_nul |= row.contains('\0');
                text = Cow::Owned(escape_control_characters(row));
                mended = true;
                at = 0;
                continue;
            }
            let failed_at = at + error.column().saturating_sub(1);
            if let Some(found) = repair::find_glued_row(&text, at, failed_at) {
                self.malformed(line);
                at = found;
                continue;
            }
            if !terminated {
                self.warnings.push(
                    Some(line),
                    "partial-tail",
                    "the last row is not finished: the file is still being written, or was cut off".to_owned(),
                );
            } else if may_hold && error.is_eof() && row.starts_with('{') {
                let mut scan = repair::Scan::default();
                scan.feed(row);
                self.held = Some(Held { text: row.to_owned(), lines: vec![line], scan });
            } else {
                self.malformed(line);
            }
            break;
        }
        if had_nul {
            self.warnings.push(Some(line), "nul-bytes", "a run of NUL bytes was skipped".to_owned());
        }
        ControlFlow::Continue(())
    }

    fn give_up_held(&mut self) {
        if let Some(held) = self.held.take() {
            self.give_up(&held);
        }
    }

    fn give_up(&mut self, held: &Held) {
        for line in &held.lines {
            self.malformed(*line);
        }
    }

    fn malformed(&mut self, line: u64) {
        self.warnings.push(Some(line), "malformed-line", "this line could not be read and was skipped".to_owned());
    }
}
