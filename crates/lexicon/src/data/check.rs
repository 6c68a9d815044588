//! Whether a block is canonical DAG-CBOR of the data model, without making its values: for whole repositories.

use super::{DataError, MAX_DEPTH, MAX_INTEGER, Value};

/// CIDv1 of DAG-CBOR or raw bytes, SHA-256, after the byte that links begin with.
const LINK_HEADS: [[u8; 5]; 2] = [[0, 1, 0x71, 0x12, 32], [0, 1, 0x55, 0x12, 32]];
const LINK_LEN: usize = 37;

pub(super) fn check_object(block: &[u8]) -> Result<(), DataError> {
    let mut reader = Reader { rest: block };
    let is_object = block.first().is_some_and(|first| first >> 5 == 5);
    if is_object && reader.value(0).is_some() && reader.rest.is_empty() {
        return Ok(());
    }
    // Wrong, or rare: who knows all reasons decides.
    Value::from_dag_cbor(block).and_then(Value::into_object).map(drop)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Passes over a value; none for what is wrong and for what needs a closer look.
    fn value(&mut self, depth: usize) -> Option<()> {
        let (major, n) = self.head()?;
        match major {
            0 => (n <= MAX_INTEGER.unsigned_abs()).then_some(()),
            1 => (n < MAX_INTEGER.unsigned_abs()).then_some(()),
            2 => self.take(n).map(drop),
            3 => self.text(n).map(drop),
            4 if depth < MAX_DEPTH => (0..n).try_for_each(|_| self.value(depth + 1)),
            5 if depth < MAX_DEPTH => self.object(n, depth),
            6 if n == 42 => {
                let (2, 37) = self.head()? else { return None };
                let (link, rest) = self.rest.split_at_checked(LINK_LEN)?;
                self.rest = rest;
                LINK_HEADS.iter().any(|head| link.starts_with(head)).then_some(())
            }
            7 if (20..=22).contains(&n) => Some(()),
            _ => None,
        }
    }

    fn object(&mut self, n: u64, depth: usize) -> Option<()> {
        let mut last: &str = "";
        for place in 0..n {
            let (3, len) = self.head()? else { return None };
            let key = self.text(len)?;
            let follows = last.len() < key.len() || (last.len() == key.len() && last < key);
            if place > 0 && !follows {
                return None;
            }
            last = key;
            if key.starts_with('$') {
                // Of the names that the data model reserves, only this one is common.
                let ("$type", (3, len)) = (key, self.head()?) else { return None };
                if matches!(self.text(len)?, "" | "blob") {
                    return None;
                }
            } else {
                self.value(depth + 1)?;
            }
        }
        Some(())
    }

    #[inline]
    fn head(&mut self) -> Option<(u8, u64)> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        let (major, info) = (first >> 5, first & 31);
        if info < 24 {
            return Some((major, u64::from(info)));
        }
        let (n, least) = match info {
            _ if major == 7 => return None,
            24 => (u64::from(u8::from_be_bytes(self.chunk()?)), 24),
            25 => (u64::from(u16::from_be_bytes(self.chunk()?)), 1 << 8),
            26 => (u64::from(u32::from_be_bytes(self.chunk()?)), 1 << 16),
            27 => (u64::from_be_bytes(self.chunk()?), 1 << 32),
            _ => return None,
        };
        (n >= least).then_some((major, n))
    }

    #[inline]
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*chunk)
    }

    #[inline]
    fn take(&mut self, n: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(n).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    #[inline]
    fn text(&mut self, n: u64) -> Option<&'a str> {
        std::str::from_utf8(self.take(n)?).ok()
    }
}
