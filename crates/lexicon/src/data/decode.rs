//! Canonical DAG-CBOR to values, and nothing else to anything.

use std::borrow::Cow;

use super::{
    DataError, Fault, MAX_DEPTH, MAX_INTEGER, Value,
    object::{Object, canonical_order},
};
use crate::syntax::Cid;

/// Room made at once for an array or object: a head may promise more than ever comes.
const MAX_ROOM: usize = 32;

pub(super) fn decode(bytes: &[u8]) -> Result<Value<'_>, DataError> {
    let (value, rest) = split(bytes, usize::MAX)?;
    if rest.is_empty() { Ok(value) } else { Err(Fault::TrailingBytes(bytes.len() - rest.len()).into()) }
}

/// The first value, made of at most so many, and the bytes after it.
pub(super) fn split(bytes: &[u8], most: usize) -> Result<(Value<'_>, &[u8]), DataError> {
    let mut reader = Reader { rest: bytes, len: bytes.len(), left: most };
    let value = reader.value(0)?;
    Ok((value, reader.rest))
}

struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
    /// How many values may still come.
    left: usize,
}

impl<'a> Reader<'a> {
    /// `depth` is how many arrays and objects lie around the value.
    fn value(&mut self, depth: usize) -> Result<Value<'a>, DataError> {
        let at = self.at();
        self.left = self.left.checked_sub(1).ok_or(Fault::TooMany)?;
        let (major, n) = self.head()?;
        Ok(match major {
            0 => Value::Integer(integer(n)?),
            1 => Value::Integer(integer(n.saturating_add(1)).map(|i| -i)?),
            2 => Value::Bytes(Cow::Borrowed(self.take(n)?)),
            3 => Value::String(Cow::Borrowed(self.text(n, at)?)),
            4 => Value::Array(self.array(n, depth)?),
            5 => Value::Object(self.object(n, depth)?),
            6 => Value::Link(self.link(n, at)?),
            _ => match n {
                20 => Value::Bool(false),
                21 => Value::Bool(true),
                22 => Value::Null,
                // `head` has refused the longer forms, which are floats.
                _ => return Err(encoding("a simple value other than false, true and null", at)),
            },
        })
    }

    fn array(&mut self, n: u64, depth: usize) -> Result<Vec<Value<'a>>, DataError> {
        let n = self.count(n, depth)?;
        let mut values = Vec::with_capacity(n.min(MAX_ROOM));
        for index in 0..n {
            values.push(self.value(depth + 1).map_err(|error| error.at_index(index))?);
        }
        Ok(values)
    }

    fn object(&mut self, n: u64, depth: usize) -> Result<Object<'a>, DataError> {
        let n = self.count(n, depth)?;
        let mut entries: Vec<(Cow<'a, str>, Value<'a>)> = Vec::with_capacity(n.min(MAX_ROOM));
        for _ in 0..n {
            let at = self.at();
            let (major, len) = self.head()?;
            if major != 3 {
                return Err(encoding("a key that is not text", at));
            }
            let key = self.text(len, at)?;
            if let Some((last, _)) = entries.last() {
                match canonical_order(last, key) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => return Err(DataError::from(Fault::DuplicateKey).under_key(key)),
                    std::cmp::Ordering::Greater => return Err(encoding("a key out of order", at).under_key(key)),
                }
            }
            let value = self.value(depth + 1).map_err(|error| error.under_key(key))?;
            entries.push((Cow::Borrowed(key), value));
        }
        let object = Object::from_sorted(entries);
        object.check_reserved()?;
        Ok(object)
    }

    fn link(&mut self, tag: u64, at: usize) -> Result<Cid, DataError> {
        if tag != 42 {
            return Err(encoding("a tag other than 42", at));
        }
        let (major, n) = self.head()?;
        if major != 2 {
            return Err(encoding("a link that is not bytes", at));
        }
        let Some((0, cid)) = self.take(n)?.split_first() else {
            return Err(encoding("a link that does not begin with 0", at));
        };
        Ok(Cid::from_bytes(cid).map_err(Fault::from)?)
    }

    fn text(&mut self, n: u64, at: usize) -> Result<&'a str, DataError> {
        std::str::from_utf8(self.take(n)?).map_err(|_| encoding("text that is not UTF-8", at))
    }

    /// How many items follow, if they may and can.
    fn count(&self, n: u64, depth: usize) -> Result<usize, DataError> {
        if depth >= MAX_DEPTH {
            return Err(Fault::TooDeep.into());
        }
        // Every item takes a byte at least.
        match usize::try_from(n) {
            Ok(n) if n <= self.rest.len() => Ok(n),
            _ => Err(Fault::Truncated(self.len).into()),
        }
    }

    /// The major type and the number of an item's head.
    fn head(&mut self) -> Result<(u8, u64), DataError> {
        let at = self.at();
        let (first, rest) = self.rest.split_first().ok_or(Fault::Truncated(self.len))?;
        self.rest = rest;
        let (major, info) = (first >> 5, first & 31);
        if info < 24 {
            return Ok((major, u64::from(info)));
        }
        if major == 7 {
            return Err(match info {
                25..=27 => Fault::Float.into(),
                _ => encoding("a simple value other than false, true and null", at),
            });
        }
        let (n, least) = match info {
            24 => (u64::from(u8::from_be_bytes(self.chunk()?)), 24),
            25 => (u64::from(u16::from_be_bytes(self.chunk()?)), 1 << 8),
            26 => (u64::from(u32::from_be_bytes(self.chunk()?)), 1 << 16),
            27 => (u64::from_be_bytes(self.chunk()?), 1 << 32),
            31 => return Err(encoding("an item of indefinite length", at)),
            _ => return Err(encoding("a head that CBOR does not know", at)),
        };
        if n < least { Err(encoding("a number longer than it needs to be", at)) } else { Ok((major, n)) }
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], DataError> {
        let (chunk, rest) = self.rest.split_first_chunk().ok_or(Fault::Truncated(self.len))?;
        self.rest = rest;
        Ok(*chunk)
    }

    fn take(&mut self, n: u64) -> Result<&'a [u8], DataError> {
        let n = usize::try_from(n).map_err(|_| Fault::Truncated(self.len))?;
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Fault::Truncated(self.len))?;
        self.rest = rest;
        Ok(taken)
    }

    /// The offset of what comes next.
    fn at(&self) -> usize {
        self.len - self.rest.len()
    }
}

fn integer(n: u64) -> Result<i64, Fault> {
    match i64::try_from(n) {
        Ok(i) if i <= MAX_INTEGER => Ok(i),
        _ => Err(Fault::IntegerRange),
    }
}

fn encoding(what: &'static str, at: usize) -> DataError {
    Fault::Encoding { what, at }.into()
}
