//! The file's bytes: all of them in memory where they are few, else a window that moves.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

/// A file up to this size is read whole: then no block costs a system call, in whatever order they stand.
pub(super) const IN_MEMORY: u64 = 256 << 20;
/// What is read at once of a larger file: this much at first, and while it is read in order twice as much each time, up to the
/// window.
const FIRST_WINDOW: usize = 1 << 12;
const WINDOW: usize = 1 << 20;
/// A read that begins this near behind the last one continues it.
const NEAR: u64 = 1 << 16;

#[derive(Debug)]
pub(super) enum Source<'a> {
    Memory(Cow<'a, [u8]>),
    File(Window),
}

#[derive(Debug)]
pub(super) struct Window {
    file: File,
    len: u64,
    start: u64,
    bytes: Vec<u8>,
    ahead: usize,
}

impl Source<'_> {
    pub(super) fn open(mut file: File, in_memory: u64) -> io::Result<Self> {
        let len = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        if len > in_memory {
            return Ok(Self::File(Window { file, len, start: 0, bytes: Vec::new(), ahead: FIRST_WINDOW }));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        // A file that grows meanwhile is read as far as it was long.
        (&mut file).take(len).read_to_end(&mut bytes)?;
        Ok(Self::Memory(Cow::Owned(bytes)))
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Self::File(window) => window.len,
        }
    }

    /// The `want` bytes from `offset` on, or as many as there are.
    #[inline]
    pub(super) fn at(&mut self, offset: u64, want: usize) -> io::Result<&[u8]> {
        match self {
            Self::Memory(bytes) => Ok(part(bytes, offset, want)),
            Self::File(window) => window.at(offset, want),
        }
    }
}

#[inline]
fn part(bytes: &[u8], offset: u64, want: usize) -> &[u8] {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let end = start.saturating_add(want).min(bytes.len());
    bytes.get(start..end).unwrap_or_default()
}

impl Window {
    /// Bytes of the file that are held at most.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    fn at(&mut self, offset: u64, want: usize) -> io::Result<&[u8]> {
        let left = self.len.saturating_sub(offset);
        let want = want.min(usize::try_from(left).unwrap_or(usize::MAX));
        let end = self.start + u64::try_from(self.bytes.len()).unwrap_or(0);
        let inside = offset >= self.start && end.checked_sub(offset).is_some_and(|n| n >= want as u64);
        if !inside {
            let in_order = offset >= self.start && offset <= end.saturating_add(NEAR);
            self.ahead = if in_order { (2 * self.ahead).min(WINDOW) } else { FIRST_WINDOW };
            let fill = want.max(self.ahead);
            self.bytes.resize(fill.min(usize::try_from(left).unwrap_or(usize::MAX)), 0);
            self.start = offset;
            self.file.seek(SeekFrom::Start(offset))?;
            if let Err(error) = self.file.read_exact(&mut self.bytes) {
                self.bytes.clear();
                return Err(error);
            }
        }
        Ok(part(&self.bytes, offset - self.start, want))
    }
}
