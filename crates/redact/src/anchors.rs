//! Proposing places in a text: a hash of the next few bytes says where one of many forms may begin.

use crate::{
    FingerprintKey,
    reading::{BLOCK, Register, Stretch, push},
};

/// Bits of the hash of a word's first bytes that are kept with the word, so few that they give nothing away.
pub(crate) const WORD_BITS: u32 = 18;
/// A larger table is no longer in the fastest cache.
const LEAST_BITS: u32 = 18;
const MOST_BITS: u32 = 26;

/// How many of a form's first bytes are hashed: few different lengths, so that few passes serve all forms.
pub(crate) fn window(min: usize) -> usize {
    match min {
        8.. => 8,
        4.. => 4,
        short => short,
    }
}

/// A multiplicative hash of up to eight bytes under a secret factor.
#[derive(Clone, Copy)]
pub(crate) struct Anchors {
    factor: u64,
    offset: u64,
}

impl Anchors {
    pub(crate) fn new(key: &FingerprintKey) -> Self {
        Self { factor: first_eight(&key.mac("factor", &[])) | 1, offset: first_eight(&key.mac("offset", &[])) }
    }

    /// The hash of the bytes of `block`, the first of them lowest, zeros above the last. Its upper bits are the good ones.
    pub(crate) fn of_block(self, block: u64) -> u64 {
        (block ^ self.offset).wrapping_mul(self.factor)
    }

    pub(crate) fn of(self, bytes: &[u8]) -> u64 {
        self.of_block(bytes.iter().take(BLOCK).rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }
}

pub(crate) fn first_eight(mac: &[u8; 32]) -> u64 {
    mac.iter().take(8).fold(0, |n, b| n << 8 | u64::from(*b))
}

/// The upper `bits` of a hash.
pub(crate) fn top(hash: u64, bits: u32) -> usize {
    usize::try_from(hash >> (64 - bits)).unwrap_or_default()
}

/// Which hashes the beginnings of forms have, by how many bytes are hashed.
pub(crate) struct Windows {
    anchors: Anchors,
    all: Vec<Window>,
}

struct Window {
    length: usize,
    bits: u32,
    /// One bit for each hash that a form has.
    likely: Vec<u64>,
}

impl Windows {
    /// For so many forms.
    pub(crate) fn new(anchors: Anchors, forms: usize) -> Self {
        let bits = forms.saturating_mul(16).max(1).ilog2().clamp(LEAST_BITS, MOST_BITS);
        let all = (0..=BLOCK).map(|length| Window { length, bits, likely: Vec::new() }).collect();
        Self { anchors, all }
    }

    /// Adds a form of which `length` bytes are hashed; the first `bits` of their hash are known.
    pub(crate) fn add(&mut self, length: usize, hash: u64, bits: u32) {
        let Some(window) = self.all.get_mut(length).filter(|_| length > 0) else { return };
        if window.likely.is_empty() {
            window.likely = vec![0; 1 << (window.bits - 6)];
        }
        let unknown = window.bits.saturating_sub(bits);
        let first = top(hash, window.bits.min(bits)) << unknown;
        for hash in first..first + (1 << unknown) {
            if let Some(bits) = window.likely.get_mut(hash / 64) {
                *bits |= 1 << (hash % 64);
            }
        }
    }

    /// Calls `each` with what may be the beginning of a form in a stretch: how many bytes were hashed, where the last of them
    /// stands, and the hash.
    pub(crate) fn propose(&self, text: &[u8], stretch: &Stretch<'_>, mut each: impl FnMut(usize, usize, u64)) {
        for window in self.all.iter().filter(|w| !w.likely.is_empty()) {
            window.propose(self.anchors, text, stretch, &mut each);
        }
    }
}

impl Window {
    fn propose(&self, anchors: Anchors, text: &[u8], stretch: &Stretch<'_>, each: &mut impl FnMut(usize, usize, u64)) {
        let shift = 64 - 8 * self.length.clamp(1, BLOCK);
        let likely = self.likely.as_slice();
        let mut register: Register = stretch.register;
        let bytes = text.get(stretch.range.clone()).unwrap_or_default();
        for (at, byte) in bytes.iter().enumerate() {
            // White space is read too, and nothing comes of it: a branch for every word would take longer.
            let space = matches!(byte, b' ' | b'\t' | 0x0c);
            let read = push(register, *byte);
            register = if space { register } else { read };
            let hash = anchors.of_block(register >> shift);
            let bit = top(hash, self.bits);
            if likely.get(bit / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1) && !space {
                each(self.length, stretch.range.start + at, hash);
            }
        }
    }
}
