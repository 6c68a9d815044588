//! Many words in one pass, whatever their case.
//!
//! A text is full of bytes and poor in keywords, so most of the time goes into seeing that none stands here. The rarest three
//! bytes of a word are its anchor; eighteen bits of a hash of every three bytes of the text say whether they may be one. An
//! automaton of several hundred words costs three times as much a byte.

use std::{collections::HashMap, sync::LazyLock};

mod common;

use self::common::COMMON;

/// Bits of the hash: the table of all of them fits into the fastest cache.
const HASH_BITS: u32 = 18;
const HASHES: usize = 1 << HASH_BITS;
const ANCHOR: usize = 3;

/// A set of words, ready to be found.
pub(crate) struct Keywords {
    /// Words of three bytes and more.
    long: Anchored<{ ANCHOR }>,
    /// Words of two bytes, if there are any.
    short: Option<Anchored<2>>,
    /// Words of one byte, and their places in the list.
    single: Vec<(u8, usize)>,
}

/// Words that are found by `N` bytes of them.
struct Anchored<const N: usize> {
    /// One bit for each hash that an anchor has.
    likely: Box<[u64; HASHES / 64]>,
    /// By sixty-four hashes: how many have an anchor before them. The next bucket in that order is that of the hash.
    before: Vec<u16>,
    /// By hash, those that have an anchor.
    buckets: Vec<Bucket>,
}

/// Words with one hash. Most places with that hash have none of them: the bytes around tell.
#[derive(Default)]
struct Bucket {
    hash: usize,
    /// By the byte before the anchor: whether a word goes on with it.
    left: Neighbours,
    /// By the byte after the anchor.
    right: Neighbours,
    words: Vec<Word>,
}

/// A set of bytes, folded to sixty-four: more than the true ones.
#[derive(Default, Clone, Copy)]
struct Neighbours(u64);

impl Neighbours {
    fn bit(byte: u8) -> u64 {
        1 << ((byte | 0x20) & 0x3f)
    }

    /// Adds what stands there; nothing means anything.
    fn add(&mut self, byte: Option<u8>) {
        self.0 |= byte.map_or(u64::MAX, Self::bit);
    }

    /// Where the text ends, only a word that ends too may stand.
    fn has(self, byte: Option<u8>) -> bool {
        byte.map_or(self.0 == u64::MAX, |byte| self.0 & Self::bit(byte) != 0)
    }
}

struct Word {
    /// The word, in lower case.
    bytes: Vec<u8>,
    /// Where its anchor stands in it.
    offset: usize,
    /// Its place in the list it came in.
    index: usize,
}

/// A word that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeywordHit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The word's place in the list.
    pub(crate) index: usize,
}

impl Keywords {
    /// Compiles `words`; an empty one is never found.
    pub(crate) fn new<W: AsRef<[u8]>>(words: &[W]) -> Self {
        let mut keywords = Self { long: Anchored::new(), short: None, single: Vec::new() };
        for (index, word) in words.iter().enumerate() {
            let bytes = word.as_ref().to_ascii_lowercase();
            match bytes.as_slice() {
                [] => {}
                [only] => keywords.single.push((*only, index)),
                [_, _] => keywords.short.get_or_insert_with(Anchored::new).add(bytes, index),
                _ => keywords.long.add(bytes, index),
            }
        }
        keywords
    }

    /// Appends every place at which a word stands, overlapping ones too, in order of their beginning.
    pub(crate) fn find(&self, text: &[u8], hits: &mut Vec<KeywordHit>) {
        let from = hits.len();
        let blocks = || {
            let number = |block: &[u8]| block.try_into().map(u32::from_le_bytes).unwrap_or_default();
            text.windows(4).map(number).enumerate()
        };
        for (at, block) in blocks() {
            self.long.propose(text, at, block & 0x00ff_ffff, hits);
        }
        if let Some(short) = &self.short {
            for (at, block) in blocks() {
                short.propose(text, at, block & 0xffff, hits);
            }
        }
        // The last three bytes have no fourth.
        for at in text.len().saturating_sub(3)..text.len() {
            let block = number(text.get(at..).unwrap_or_default());
            self.long.propose(text, at, block, hits);
            if let Some(short) = &self.short {
                short.propose(text, at, block & 0xffff, hits);
            }
        }
        for (byte, index) in &self.single {
            let places = memchr::memchr2_iter(*byte, byte.to_ascii_uppercase(), text);
            hits.extend(places.map(|start| KeywordHit { start, end: start + 1, index: *index }));
        }
        hits.get_mut(from..).unwrap_or_default().sort_unstable();
    }
}

impl<const N: usize> Anchored<N> {
    fn new() -> Self {
        Self { likely: Box::new([0; HASHES / 64]), before: vec![0; HASHES / 64], buckets: Vec::new() }
    }

    fn add(&mut self, bytes: Vec<u8>, index: usize) {
        let anchors = bytes.windows(N).enumerate();
        let Some((offset, anchor)) = anchors.min_by_key(|(_, anchor)| frequency(anchor)) else { return };
        let hash = hash(number(anchor));
        let at = self.buckets.partition_point(|bucket| bucket.hash < hash);
        if self.buckets.get(at).is_none_or(|bucket| bucket.hash != hash) {
            self.buckets.insert(at, Bucket { hash, ..Bucket::default() });
            if let Some(bits) = self.likely.get_mut(hash / 64) {
                *bits |= 1 << (hash % 64);
            }
            // There are not more buckets than fit: a list of words has some thousand.
            self.before.iter_mut().skip(hash / 64 + 1).for_each(|count| *count = count.saturating_add(1));
        }
        if let Some(bucket) = self.buckets.get_mut(at) {
            bucket.left.add(offset.checked_sub(1).and_then(|i| bytes.get(i)).copied());
            bucket.right.add(bytes.get(offset + N).copied());
            bucket.words.push(Word { offset, index, bytes });
        }
    }

    #[inline]
    fn propose(&self, text: &[u8], at: usize, block: u32, hits: &mut Vec<KeywordHit>) {
        let hash = hash(block);
        if self.likely.get(hash / 64).is_some_and(|bits| bits >> (hash % 64) & 1 == 1) {
            self.verify(text, at, hash, hits);
        }
    }

    #[inline(never)]
    fn verify(&self, text: &[u8], at: usize, hash: usize, hits: &mut Vec<KeywordHit>) {
        let (Some(bits), Some(before)) = (self.likely.get(hash / 64), self.before.get(hash / 64)) else { return };
        let among = (bits & ((1 << (hash % 64)) - 1)).count_ones();
        let place = usize::from(*before) + usize::try_from(among).unwrap_or_default();
        let Some(bucket) = self.buckets.get(place) else { return };
        let left = at.checked_sub(1).and_then(|i| text.get(i)).copied();
        if !bucket.left.has(left) || !bucket.right.has(text.get(at + N).copied()) {
            return;
        }
        for word in &bucket.words {
            let Some(start) = at.checked_sub(word.offset) else { continue };
            let end = start + word.bytes.len();
            if text.get(start..end).is_some_and(|there| there.eq_ignore_ascii_case(&word.bytes)) {
                hits.push(KeywordHit { start, end, index: word.index });
            }
        }
    }
}

/// The first bytes as a number, the first of them lowest.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(ANCHOR).rev().fold(0, |n, b| n << 8 | u32::from(*b))
}

/// The case of a letter is one bit; setting it in every byte makes no two letters equal that were not.
fn hash(block: u32) -> usize {
    let hash = (block | 0x0020_2020).wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS);
    usize::try_from(hash).unwrap_or_default()
}

/// How often some bytes stand beside each other in text and code: those that were counted by their rank, others by how common
/// their letters are.
fn frequency(anchor: &[u8]) -> u32 {
    const LETTERS: &[u8] = b"etaoinsrhldcumfpgwybvkxjqz";
    static RANKS: LazyLock<HashMap<&[u8], u32>> = LazyLock::new(|| COMMON.chunks(ANCHOR).zip(0..).collect());
    if let Some(rank) = RANKS.get(anchor) {
        return u32::MAX - rank;
    }
    anchor
        .iter()
        .map(|b| match LETTERS.iter().position(|letter| letter == b) {
            Some(rank) => 26 - u32::try_from(rank).unwrap_or(26),
            None if *b == b' ' => 40,
            None if matches!(b, b'_' | b'.' | b'-' | b'/' | b':' | b'=' | b'"') => 8,
            None => 4,
        })
        .fold(1, u32::saturating_mul)
}

#[cfg(test)]
mod tests;
