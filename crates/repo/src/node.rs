//! Nodes of the tree (MST): a strict reader of the one form they have, and the rule that puts a key into a layer.
//! Source: the protocol's repository specification, "MST structure".

use std::ops::Range;

use onrecord_lexicon::data::Value;
use sha2::{Digest, Sha256};

use crate::link::{DAG_CBOR, LINK_LEN, Link};

/// The tag of a link (42), a byte string of 37 bytes, and the byte that links begin with.
const LINK_HEAD: [u8; 5] = [0xd8, 0x2a, 0x58, 0x25, 0x00];
const NULL: u8 = 0xf6;

/// The layer a key belongs in, counted from the leaves: two leading zero bits of its SHA-256 are one layer.
#[must_use]
pub fn layer(key: &[u8]) -> u32 {
    let mut zeros = 0;
    for byte in Sha256::digest(key) {
        zeros += byte.leading_zeros();
        if byte != 0 {
            break;
        }
    }
    zeros / 2
}

/// How many bytes two keys begin with alike.
#[must_use]
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// A decoded node. Kept and used again, so that reading a tree allocates only as much as it is deep.
#[derive(Debug, Default)]
pub(crate) struct Node {
    bytes: Vec<u8>,
    pub(crate) left: Option<Link>,
    pub(crate) entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Bytes of the key before, in this node, that this one begins with.
    pub(crate) prefix: usize,
    suffix: Range<usize>,
    pub(crate) value: Link,
    pub(crate) right: Option<Link>,
}

impl Node {
    /// Reads a node's block into this one.
    pub(crate) fn read(&mut self, block: &[u8]) -> Result<(), String> {
        self.bytes.clear();
        self.bytes.extend_from_slice(block);
        self.entries.clear();
        let mut reader = Reader { bytes: block, at: 0 };
        match reader.node(&mut self.entries) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            // The strict reader knows no reasons; the general one does, where it is the encoding.
            None => Err(match Value::from_dag_cbor(block) {
                Err(error) => error.to_string(),
                Ok(_) => "it does not have the form of a node".into(),
            }),
        }
    }

    /// The part of the entry's key that the one before does not begin with.
    pub(crate) fn suffix(&self, entry: &Entry) -> &[u8] {
        self.bytes.get(entry.suffix.clone()).unwrap_or_default()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// `{"e": [{"k": suffix, "p": prefix, "t": right, "v": value}, …], "l": left}`, and nothing after it.
    fn node(&mut self, entries: &mut Vec<Entry>) -> Option<Option<Link>> {
        self.literal(&[0xa2, 0x61, b'e'])?;
        let (4, count) = self.head()? else { return None };
        for _ in 0..count {
            self.literal(&[0xa4, 0x61, b'k'])?;
            let (2, len) = self.head()? else { return None };
            let suffix = self.at..self.at.checked_add(len)?;
            self.bytes.get(suffix.clone())?;
            self.at = suffix.end;
            self.literal(&[0x61, b'p'])?;
            let (0, prefix) = self.head()? else { return None };
            self.literal(&[0x61, b't'])?;
            let right = self.link_or_null()?;
            self.literal(&[0x61, b'v'])?;
            let value = self.link_or_null()??;
            entries.push(Entry { prefix, suffix, value, right });
        }
        self.literal(&[0x61, b'l'])?;
        let left = self.link_or_null()?;
        (self.at == self.bytes.len()).then_some(left)
    }

    #[inline]
    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        self.at += expected.len();
        rest.starts_with(expected).then_some(())
    }

    /// The major type and the number of an item, in the shortest form; numbers above 2^32 are none of a node's.
    #[inline]
    fn head(&mut self) -> Option<(u8, usize)> {
        let first = *self.bytes.get(self.at)?;
        self.at += 1;
        let (len, least) = match first & 31 {
            info @ 0..24 => return Some((first >> 5, usize::from(info))),
            24 => (1, 24),
            25 => (2, 1 << 8),
            26 => (4, 1 << 16),
            _ => return None,
        };
        let digits = self.bytes.get(self.at..self.at + len)?;
        self.at += len;
        let n = digits.iter().fold(0, |n, digit| n << 8 | usize::from(*digit));
        (n >= least).then_some((first >> 5, n))
    }

    #[inline]
    fn link_or_null(&mut self) -> Option<Option<Link>> {
        if *self.bytes.get(self.at)? == NULL {
            self.at += 1;
            return Some(None);
        }
        self.literal(&LINK_HEAD)?;
        let bytes = self.bytes.get(self.at..self.at + LINK_LEN)?;
        self.at += LINK_LEN;
        // Nodes and records are DAG-CBOR: a link to anything else is not of a tree.
        bytes.starts_with(&DAG_CBOR).then(|| Link::from_bytes(bytes))
    }
}
