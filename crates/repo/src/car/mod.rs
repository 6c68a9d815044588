//! CAR files (version 1): a header that names the roots, then blocks with their CIDs, in any order.
//!
//! A reader that asks for the blocks in the order in which they stand reads the file once, from front to end, and holds no
//! more of it than one window of 1 MiB, whatever its size. At the first block out of that order an index of all blocks is
//! made (see [`MAX_BLOCKS`]). Files up to 256 MiB are held in memory.

mod index;
mod source;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::HashMap, fs::File, io, ops::Range};

use onrecord_lexicon::data::Value;

pub use index::MAX_BLOCKS;

use self::{
    index::Index,
    source::{IN_MEMORY, Source},
};
use crate::{
    Error, Faults, Rule,
    link::{LINK_LEN, Link},
};

/// Largest block, in bytes. The protocol has none above 2,000,000.
pub const MAX_BLOCK: usize = 1 << 22;
/// Largest header, in bytes. One root takes 58.
const MAX_HEADER: usize = 1 << 12;
/// Longest varint of a length, in bytes.
const MAX_VARINT: usize = 5;

/// A CAR file, its blocks read as they are asked for.
#[derive(Debug)]
pub struct Car<'a> {
    source: Source<'a>,
    /// Where the first section begins.
    sections: u64,
    /// Where the next section begins, while all were asked for in order.
    next: u64,
    roots: Vec<Link>,
    index: Option<Index>,
    faults: Faults,
    notices: Faults,
    blocks: u64,
}

/// A section: where its block is, and whose it says it is.
#[derive(Debug, Clone, Copy)]
struct Section {
    link: Option<Link>,
    data: u64,
    len: usize,
    next: u64,
}

/// What came of asking for a block.
pub(crate) enum Block<'b> {
    Missing,
    /// The bytes are not what the CID says.
    Damaged,
    Found {
        bytes: &'b [u8],
        /// It was asked for before.
        again: bool,
    },
}

impl<'a> Car<'a> {
    /// A CAR file in memory.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self::new(Source::Memory(bytes.into()))
    }

    /// A CAR file on disk.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(file: File) -> Result<Self, Error> {
        Self::open_with(file, IN_MEMORY)
    }

    /// The same, held in memory only if it has at most `in_memory` bytes: where many are read at once.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open_with(file: File, in_memory: u64) -> Result<Self, Error> {
        Ok(Self::new(Source::open(file, in_memory)?))
    }

    fn new(source: Source<'a>) -> Self {
        let mut car = Self {
            source,
            sections: 0,
            next: 0,
            roots: Vec::new(),
            index: None,
            faults: Faults::default(),
            notices: Faults::default(),
            blocks: 0,
        };
        match car.header() {
            Ok((roots, end)) => (car.roots, car.sections, car.next) = (roots, end, end),
            Err(why) => {
                car.faults.add(Rule::CarHeader, "byte 0", why);
                car.sections = car.source.len();
                car.next = car.sections;
            }
        }
        car
    }

    /// The roots that the header names, those of a kind that repositories use.
    #[must_use]
    pub fn roots(&self) -> &[Link] {
        &self.roots
    }

    /// Bytes of the whole file.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an empty file is no CAR file, and that is a fault of its own")]
    pub fn len(&self) -> u64 {
        self.source.len()
    }

    /// Whether the blocks had to be looked up, because they do not stand in the order in which they were asked for.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        self.index.is_some()
    }

    /// The commit that the file begins with, without checking anything; to learn whose repository it is.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn peek_commit(&mut self) -> Result<Option<crate::Commit>, Error> {
        let Some(root) = self.roots.first().copied() else { return Ok(None) };
        let (blocks, next, sections) = (self.blocks, self.next, self.sections);
        let mut place = sections;
        // It stands first in every export; a file that holds it elsewhere is looked through.
        while let Some(section) = self.section(place)? {
            if section.link == Some(root) {
                let bytes = self.source.at(section.data, section.len)?;
                let commit = crate::Commit::decode(bytes).ok();
                (self.blocks, self.next) = (blocks, next);
                return Ok(commit);
            }
            place = section.next;
        }
        Ok(None)
    }

    /// Whether there is a header that can be understood.
    pub(crate) fn has_header(&self) -> bool {
        self.faults.listed().iter().all(|fault| fault.rule != Rule::CarHeader)
    }

    /// As if nothing had been asked for yet, but for what is known of where blocks stand.
    pub(crate) fn rewind(&mut self) {
        self.next = self.sections;
        match &mut self.index {
            Some(index) => index.forget_reached(),
            None => self.blocks = 0,
        }
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    pub(crate) fn take_faults(&mut self) -> (Faults, Faults) {
        (std::mem::take(&mut self.faults), std::mem::take(&mut self.notices))
    }

    /// Where every block of a file in memory stands, each checked.
    ///
    /// # Errors
    /// The first thing that is wrong with the file, in words.
    pub(crate) fn all_blocks(&mut self) -> Result<HashMap<Link, Range<usize>>, String> {
        let mut blocks = HashMap::new();
        let mut place = self.sections;
        while let Some(section) = self.section(place).map_err(|error| error.to_string())? {
            let Some(link) = section.link else { return Err(format!("byte {place}: a CID of no kind that is used")) };
            if !link.is_of(self.source.at(section.data, section.len).map_err(|error| error.to_string())?) {
                return Err(format!("the block {link} has another hash"));
            }
            let start = usize::try_from(section.data).map_err(|error| error.to_string())?;
            blocks.insert(link, start..start + section.len);
            place = section.next;
        }
        match self.faults.listed().first() {
            Some(fault) => Err(fault.to_string()),
            None => Ok(blocks),
        }
    }

    fn header(&mut self) -> Result<(Vec<Link>, u64), String> {
        let io = |error: io::Error| error.to_string();
        let Some((len, start)) = varint(self.source.at(0, MAX_VARINT).map_err(io)?) else {
            return Err("it does not begin with a length".into());
        };
        if len == 0 || len > MAX_HEADER {
            return Err(format!("its header is said to be {len} bytes long"));
        }
        let bytes = self.source.at(start as u64, len).map_err(io)?;
        if bytes.len() < len {
            return Err("it ends within its header".into());
        }
        let header = Value::from_dag_cbor(bytes)
            .and_then(Value::into_object)
            .map_err(|error| format!("its header is not a DAG-CBOR object: {error}"))?;
        match header.get("version").and_then(Value::as_integer) {
            Some(1) => {}
            Some(other) => return Err(format!("it is of version {other}")),
            None => return Err("its header names no version".into()),
        }
        let roots = header.get("roots").and_then(Value::as_array).ok_or("its header names no roots")?;
        let roots = roots.iter().map(|root| root.as_link().map(Link::from)).collect::<Option<_>>();
        Ok((roots.ok_or("a root in its header is no link")?, (start + len) as u64))
    }

    /// The section that begins at `offset`; none at the end of the file, and where it is damaged, which is noted.
    #[inline]
    fn section(&mut self, offset: u64) -> Result<Option<Section>, Error> {
        let left = self.source.len().saturating_sub(offset);
        if left == 0 {
            return Ok(None);
        }
        let head = self.source.at(offset, MAX_VARINT + LINK_LEN)?;
        let Some((len, start)) = varint(head) else {
            let (rule, why) = match head.len() {
                ..MAX_VARINT => (Rule::CarTruncated, "the file ends within a length"),
                _ => (Rule::CarSection, "a block's length is not a number"),
            };
            self.faults.add(rule, format_args!("byte {offset}"), why);
            return Ok(None);
        };
        if len > MAX_BLOCK + LINK_LEN || len == 0 {
            let why = format!("a block is said to be {len} bytes long");
            self.faults.add(Rule::CarSection, format_args!("byte {offset}"), why);
            return Ok(None);
        }
        let end = (start + len) as u64;
        if end > left {
            let why = format!("a block of {len} bytes begins here, and {} follow", left - start as u64);
            self.faults.add(Rule::CarTruncated, format_args!("byte {offset}"), why);
            return Ok(None);
        }
        let link = head.get(start..start + LINK_LEN).filter(|_| len >= LINK_LEN).and_then(Link::from_bytes);
        let data = offset + (start + LINK_LEN) as u64;
        let len = len.saturating_sub(LINK_LEN);
        Ok(Some(Section { link, data, len, next: offset + end }))
    }

    /// The block that `link` names, its bytes checked.
    pub(crate) fn block(&mut self, link: &Link) -> Result<Block<'_>, Error> {
        if self.index.is_none() {
            match self.section(self.next)? {
                Some(section) if section.link == Some(*link) => {
                    self.next = section.next;
                    self.blocks += 1;
                    return self.checked(link, section, false);
                }
                _ => self.make_index()?,
            }
        }
        let Some((slot, section, again)) = self.find(link)? else { return Ok(Block::Missing) };
        if let Some(index) = &mut self.index {
            index.reach(slot);
        }
        self.checked(link, section, again)
    }

    #[inline]
    fn checked(&mut self, link: &Link, section: Section, again: bool) -> Result<Block<'_>, Error> {
        let bytes = self.source.at(section.data, section.len)?;
        Ok(if link.is_of(bytes) { Block::Found { bytes, again } } else { Block::Damaged })
    }

    fn find(&mut self, link: &Link) -> Result<Option<(usize, Section, bool)>, Error> {
        let mut from = None;
        loop {
            let Some(found) = self.index.as_ref().and_then(|index| index.find(link, from)) else { return Ok(None) };
            if let Some(section) = self.section(found.offset)?
                && section.link == Some(*link)
            {
                return Ok(Some((found.slot, section, found.is_reached)));
            }
            from = Some(found.slot);
        }
    }

    /// Notes where each block stands. What was read so far was asked for.
    fn make_index(&mut self) -> Result<(), Error> {
        let mut index = Index::default();
        let (mut place, mut blocks) = (self.sections, 0);
        // The section at `next` was looked at already, and what is wrong with it noted; not twice.
        let before = std::mem::take(&mut self.faults);
        while let Some(section) = self.section(place)? {
            blocks += 1;
            match &section.link {
                Some(link) => index.insert(link, place, place < self.next)?,
                None => {
                    let why = "its CID is not one of DAG-CBOR or raw bytes by SHA-256";
                    self.faults.add(Rule::BlockCid, format_args!("byte {place}"), why);
                }
            }
            place = section.next;
        }
        if self.faults.is_empty() {
            self.faults = before;
        }
        self.blocks = blocks;
        self.index = Some(index);
        Ok(())
    }

    /// What is left when the tree has been walked: blocks that it does not lead to, which are counted, and noted as faults
    /// if it was walked whole.
    pub(crate) fn finish(&mut self, whole: bool) -> Result<u64, Error> {
        if self.index.is_none() {
            if self.next >= self.source.len() {
                return Ok(0);
            }
            self.make_index()?;
        }
        let unreached = self.index.as_ref().map(Index::unreached).unwrap_or_default();
        let mut count = 0;
        for offset in unreached {
            let Some(section) = self.section(offset)? else { continue };
            let Some(link) = section.link else { continue };
            if matches!(self.checked(&link, section, false)?, Block::Damaged) {
                self.faults.add(Rule::BlockHash, link, "its bytes have another hash");
                continue;
            }
            // Of blocks that stand twice, the tree leads to one.
            if self.is_reached_elsewhere(&link)? {
                self.notices.add(Rule::BlockDuplicate, link, format!("it stands again at byte {offset}"));
                continue;
            }
            count += 1;
            if whole {
                let why = format!("nothing in the tree leads to this block of {} bytes", section.len);
                self.faults.add(Rule::BlockUnreachable, link, why);
            }
        }
        Ok(count)
    }

    fn is_reached_elsewhere(&mut self, link: &Link) -> Result<bool, Error> {
        let mut from = None;
        loop {
            let Some(found) = self.index.as_ref().and_then(|index| index.find(link, from)) else { return Ok(false) };
            if found.is_reached && self.section(found.offset)?.is_some_and(|section| section.link == Some(*link)) {
                return Ok(true);
            }
            from = Some(found.slot);
        }
    }
}

/// One CAR file of the blocks of several, with the roots of the first: for proofs that were asked for one by one. Those that
/// are no CAR files are left out.
#[must_use]
pub fn join(cars: &[Vec<u8>]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(cars.iter().map(Vec::len).sum());
    for (n, bytes) in cars.iter().enumerate() {
        let start = if n == 0 { Some(0) } else { varint(bytes).map(|(len, start)| start.saturating_add(len)) };
        joined.extend_from_slice(start.and_then(|start| bytes.get(start..)).unwrap_or_default());
    }
    joined
}

/// An unsigned LEB128 number in its shortest form, and the bytes it takes.
#[inline]
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut n = 0;
    for (place, byte) in bytes.iter().take(MAX_VARINT).enumerate() {
        n |= usize::from(byte & 0x7f).checked_shl(u32::try_from(place * 7).ok()?)?;
        if byte & 0x80 == 0 {
            // A longer form of the same number ends in a zero.
            return (place == 0 || *byte != 0).then_some((n, place + 1));
        }
    }
    None
}
