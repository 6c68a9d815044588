//! Streams below the rows: compressed ones that end badly, and rows that are never materialised.

use std::io::{self, BufRead, Read};

use memchr::{memchr, memmem};

/// The first bytes of a zstd frame.
pub(crate) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// A decompressed stream that ends where the compressed one is cut off or damaged.
pub(super) struct Tolerant<R> {
    inner: R,
    damaged: bool,
}

impl<R: BufRead> Tolerant<R> {
    pub(super) const fn new(inner: R) -> Self {
        Self { inner, damaged: false }
    }

    /// Whether the stream ended before its compressed form did.
    pub(super) const fn is_damaged(&self) -> bool {
        self.damaged
    }
}

impl<R: BufRead> BufRead for Tolerant<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.damaged {
            return Ok(&[]);
        }
        // Asked twice because a borrow that is returned cannot also be dropped on the error path.
        match self.inner.fill_buf() {
            Ok(_) => self.inner.fill_buf(),
            // The decoder's own errors; a disk that fails has another kind.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Other | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
                ) =>
            {
                self.damaged = true;
                Ok(&[])
            }
            Err(error) => Err(error),
        }
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for Tolerant<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        copy_from(self, out)
    }
}

/// Passes lines on, except that a `compacted` row becomes an empty line.
///
/// Such a row repeats the whole history: nine tenths of the giant rollouts, rows of hundreds of
/// megabytes. Nothing in it is shown, so it is not parsed, not held in memory, and not even kept to
/// the row limit; it costs a search for the end of its line. A row glued behind it is passed on.
pub(super) struct SkipCompacted<'r> {
    inner: &'r mut dyn BufRead,
    place: Place,
    /// What has been looked at of a line's head, and how much of it was given out.
    head: Vec<u8>,
    given: usize,
    skipped: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the first byte of a line.
    LineStart,
    /// Giving out `head`.
    Head,
    /// Inside a line that is passed on.
    Passing,
}

/// As far as a row's type can stand from its beginning.
const HEAD_BYTES: usize = 160;

/// What a row glued behind a skipped one begins with. Inside a JSON string the quote is escaped.
const GLUED: &[u8] = b"}{\"timestamp\"";

impl<'r> SkipCompacted<'r> {
    pub(super) const fn new(inner: &'r mut dyn BufRead) -> Self {
        Self { inner, place: Place::LineStart, head: Vec::new(), given: 0, skipped: 0 }
    }

    /// Rows that were skipped so far.
    pub(super) const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Moves past the rest of a `compacted` row; leaves in `head` what is to be given out instead.
    fn skip_row(&mut self) -> io::Result<()> {
        self.skipped += 1;
        let mut tail = std::mem::take(&mut self.head);
        loop {
            if let Some(found) = memmem::find(&tail, GLUED) {
                tail.drain(..=found);
                self.head = tail;
                return Ok(());
            }
            let keep = tail.len().saturating_sub(GLUED.len() - 1);
            tail.drain(..keep);
            let buffer = self.inner.fill_buf()?;
            if buffer.is_empty() {
                return Ok(());
            }
            let end = memchr(b'\n', buffer);
            let line = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
            // The seam first, then the buffer in place: it is not copied.
            let seam = line.get(..line.len().min(GLUED.len())).unwrap_or_default();
            tail.extend_from_slice(seam);
            if memmem::find(&tail, GLUED).is_some() {
                let taken = seam.len();
                self.inner.consume(taken);
                continue;
            }
            if let Some(found) = memmem::find(line, GLUED) {
                self.inner.consume(found + 1);
                self.head.clear();
                return Ok(());
            }
            if end.is_some() {
                // The newline stays: it is the empty line that keeps the line numbers right.
                let taken = line.len();
                self.inner.consume(taken);
                self.head.clear();
                return Ok(());
            }
            // A shorter piece than the seam is in `tail` already.
            if line.len() > seam.len() {
                tail.clear();
                tail.extend_from_slice(line.get(line.len() - (GLUED.len() - 1)..).unwrap_or_default());
            }
            let taken = line.len();
            self.inner.consume(taken);
        }
    }

    /// Looks at a line's head; afterwards `head` holds what is to be given out first.
    fn begin_line(&mut self) -> io::Result<()> {
        self.head.clear();
        self.given = 0;
        while self.head.len() < HEAD_BYTES {
            let buffer = self.inner.fill_buf()?;
            let wanted = HEAD_BYTES - self.head.len();
            let seen = buffer.get(..buffer.len().min(wanted)).unwrap_or_default();
            if seen.is_empty() {
                break;
            }
            let end = memchr(b'\n', seen);
            let line = seen.get(..end.unwrap_or(seen.len())).unwrap_or_default();
            self.head.extend_from_slice(line);
            let taken = line.len();
            self.inner.consume(taken);
            if end.is_some() {
                break;
            }
        }
        if is_compacted(&self.head) {
            self.skip_row()?;
        }
        self.place = if self.head.is_empty() { Place::Passing } else { Place::Head };
        Ok(())
    }
}

impl BufRead for SkipCompacted<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.place == Place::LineStart {
            // The common case looks at the head where it stands, without copying it.
            let buffer = self.inner.fill_buf()?;
            let visible = buffer.get(..buffer.len().min(HEAD_BYTES)).unwrap_or_default();
            let decided = visible.len() == HEAD_BYTES || memchr(b'\n', visible).is_some();
            if decided && !is_compacted(visible) {
                self.place = Place::Passing;
            } else {
                self.begin_line()?;
            }
        }
        if self.place == Place::Head {
            return Ok(self.head.get(self.given..).unwrap_or_default());
        }
        let buffer = self.inner.fill_buf()?;
        let end = memchr(b'\n', buffer).map_or(buffer.len(), |at| at + 1);
        Ok(buffer.get(..end).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        match self.place {
            Place::Head => {
                self.given += amount;
                if self.given >= self.head.len() {
                    self.place = Place::Passing;
                }
            }
            Place::Passing if amount > 0 => {
                // `fill_buf` never gave out anything beyond a newline.
                let ends = self.inner.fill_buf().is_ok_and(|buffer| buffer.get(amount - 1) == Some(&b'\n'));
                self.inner.consume(amount);
                if ends {
                    self.place = Place::LineStart;
                }
            }
            Place::Passing | Place::LineStart => {}
        }
    }
}

impl Read for SkipCompacted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        copy_from(self, out)
    }
}

/// Whether a line beginning with `head` is a `compacted` row: its type stands before its payload.
fn is_compacted(head: &[u8]) -> bool {
    if !head.starts_with(b"{") {
        return false;
    }
    let payload = memmem::find(head, b"\"payload\"").unwrap_or(head.len());
    head.get(..payload).is_some_and(|envelope| memmem::find(envelope, b"\"type\":\"compacted\"").is_some())
}

fn copy_from(reader: &mut impl BufRead, out: &mut [u8]) -> io::Result<usize> {
    let available = reader.fill_buf()?;
    let count = available.len().min(out.len());
    if let (Some(from), Some(to)) = (available.get(..count), out.get_mut(..count)) {
        to.copy_from_slice(from);
    }
    reader.consume(count);
    Ok(count)
}
