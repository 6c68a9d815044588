//! Words to cover that are kept without their value.
//!
//! A workspace file must not hold what its author wants hidden. So for each form of a word (as it is, JSON-escaped, in base64
//! and so on) three things are kept, all under the workspace's secret key:
//!
//! 1. eighteen bits of a keyed hash of its first bytes (at most eight): one pass of Rabin–Karp over a text proposes places,
//!    and so few bits give nothing away;
//! 2. the HMAC of the shortest prefix that is to be covered: it says whether the place is one;
//! 3. the HMAC of the whole form: it says whether all of it stands there.
//!
//! A form is thus found again in any text, and without the key nothing can be tried against the file.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    Fingerprint, FingerprintKey,
    forms::{self, Form, RunOn},
    text::{Squeezed, part},
};

/// Bits of the hash that proposes places: the table of all of them fits into the fastest cache.
const ANCHOR_BITS: u32 = 18;

/// How many of a form's first bytes are hashed: few different lengths, so that one pass serves all forms.
fn window(min: usize) -> usize {
    match min {
        8.. => 8,
        4.. => 4,
        short => short,
    }
}

/// A word to cover, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Word {
    /// Names the word.
    pub(crate) id: Fingerprint,
    forms: Vec<KeyedForm>,
}

/// One form of a word, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyedForm {
    length: usize,
    /// Length of the shortest prefix that is covered.
    min: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spaces: Vec<usize>,
    run_on: StoredRunOn,
    /// Hash of the first bytes, masked.
    anchor: u32,
    prefix: Fingerprint,
    whole: Fingerprint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredRunOn {
    No,
    Base64,
    Hex,
}

impl Word {
    pub(crate) fn new(key: &FingerprintKey, value: &str) -> Self {
        let anchors = Anchors::new(key);
        let mut all = forms::of(value, 0, RunOn::No);
        for spelling in forms::spellings(value) {
            forms::as_written(&spelling, &mut all);
        }
        let forms = all.iter().map(|form| keyed(key, &anchors, form)).collect();
        Self { id: Self::name(key, value), forms }
    }

    pub(crate) fn name(key: &FingerprintKey, value: &str) -> Fingerprint {
        Fingerprint::from_mac(key.mac("word", value.as_bytes()))
    }
}

fn keyed(key: &FingerprintKey, anchors: &Anchors, form: &Form) -> KeyedForm {
    let prefix = Fingerprint::from_mac(key.mac("prefix", part(&form.bytes, 0, form.min)));
    let first = part(&form.bytes, 0, window(form.min));
    KeyedForm {
        length: form.bytes.len(),
        min: form.min,
        spaces: form.spaces.clone(),
        run_on: match form.run_on {
            RunOn::No | RunOn::Token => StoredRunOn::No,
            RunOn::Base64 => StoredRunOn::Base64,
            RunOn::Hex => StoredRunOn::Hex,
        },
        anchor: anchors.of(first) ^ mask(key, &prefix),
        prefix,
        whole: Fingerprint::from_mac(key.mac("form", &form.bytes)),
    }
}

/// Makes equal beginnings unequal in the file.
fn mask(key: &FingerprintKey, prefix: &Fingerprint) -> u32 {
    top_bits(first_eight(&key.mac("mask", prefix.as_bytes())))
}

fn first_eight(mac: &[u8; 32]) -> u64 {
    mac.iter().take(8).fold(0, |n, b| n << 8 | u64::from(*b))
}

fn top_bits(n: u64) -> u32 {
    u32::try_from(n >> (64 - ANCHOR_BITS)).unwrap_or_default()
}

/// A multiplicative hash of up to eight bytes under a secret factor.
struct Anchors {
    factor: u64,
    offset: u64,
}

impl Anchors {
    fn new(key: &FingerprintKey) -> Self {
        Self { factor: first_eight(&key.mac("factor", &[])) | 1, offset: first_eight(&key.mac("offset", &[])) }
    }

    /// The hash of the bytes of `block`, the first of them lowest, zeros above the last.
    fn of_block(&self, block: u64) -> u32 {
        top_bits((block ^ self.offset).wrapping_mul(self.factor))
    }

    fn of(&self, bytes: &[u8]) -> u32 {
        self.of_block(bytes.iter().take(8).rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }
}

/// A place where a word stands, in the squeezed text.
pub(crate) struct Place {
    /// Index of the word.
    pub(crate) word: usize,
    pub(crate) at: usize,
    pub(crate) length: usize,
    pub(crate) complete: bool,
    pub(crate) run_on: RunOn,
}

/// All words, ready to be found.
pub(crate) struct WordFinder {
    key: FingerprintKey,
    anchors: Anchors,
    forms: Vec<KeyedForm>,
    /// By form: whose it is.
    owners: Vec<usize>,
    windows: Vec<Window>,
}

/// The forms whose first bytes are hashed at one length.
struct Window {
    length: usize,
    /// One bit for each hash that a form has.
    likely: Vec<u64>,
    by_hash: HashMap<u32, Vec<usize>>,
}

impl Window {
    fn is_likely(&self, hash: u32) -> bool {
        let word = usize::try_from(hash / 64).unwrap_or_default();
        self.likely.get(word).is_some_and(|bits| bits >> (hash % 64) & 1 == 1)
    }
}

impl WordFinder {
    pub(crate) fn new(key: &FingerprintKey, words: &[Word]) -> Self {
        let all = words.iter().enumerate().flat_map(|(n, w)| w.forms.iter().map(move |f| (n, f.clone())));
        let (owners, forms): (Vec<_>, Vec<_>) = all.filter(|(_, f)| f.min > 0).unzip();
        let mut windows: Vec<Window> = Vec::new();
        for (index, form) in forms.iter().enumerate() {
            let length = window(form.min);
            if !windows.iter().any(|w| w.length == length) {
                windows.push(Window { length, likely: vec![0; 1 << (ANCHOR_BITS - 6)], by_hash: HashMap::new() });
            }
            let hash = form.anchor ^ mask(key, &form.prefix);
            for window in windows.iter_mut().filter(|w| w.length == length) {
                window.by_hash.entry(hash).or_default().push(index);
                let word = usize::try_from(hash / 64).unwrap_or_default();
                if let Some(bits) = window.likely.get_mut(word) {
                    *bits |= 1 << (hash % 64);
                }
            }
        }
        Self { key: key.duplicate(), anchors: Anchors::new(key), forms, owners, windows }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Appends the places where words stand in `text`.
    pub(crate) fn find(&self, text: &Squeezed, places: &mut Vec<Place>) {
        for window in &self.windows {
            let keep = u64::MAX >> (64 - 8 * window.length.clamp(1, 8));
            let mut propose = |at: usize, block: u64| {
                let hash = self.anchors.of_block(block & keep);
                if window.is_likely(hash)
                    && let Some(indexes) = window.by_hash.get(&hash)
                {
                    places.extend(
                        indexes
                            .iter()
                            .filter_map(|i| self.verify(*self.owners.get(*i)?, self.forms.get(*i)?, text, at)),
                    );
                }
            };
            let mut next = 0;
            for (at, block) in text.bytes.windows(8).enumerate() {
                propose(at, block.try_into().map(u64::from_le_bytes).unwrap_or_default());
                next = at + 1;
            }
            for at in next..text.bytes.len() {
                let rest = text.bytes.get(at..).unwrap_or_default();
                propose(at, rest.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)));
            }
        }
    }

    fn verify(&self, word: usize, form: &KeyedForm, text: &Squeezed, at: usize) -> Option<Place> {
        let is = |domain: &str, length: usize, mac: &Fingerprint| {
            text.bytes.get(at..at + length).is_some_and(|b| self.key.mac(domain, b) == *mac.as_bytes())
                && text.reads_on(at, length, &form.spaces) == length
        };
        if !is("prefix", form.min, &form.prefix) {
            return None;
        }
        let complete = is("form", form.length, &form.whole);
        let run_on = match form.run_on {
            StoredRunOn::No => RunOn::No,
            StoredRunOn::Base64 => RunOn::Base64,
            StoredRunOn::Hex => RunOn::Hex,
        };
        Some(Place { word, at, length: if complete { form.length } else { form.min }, complete, run_on })
    }
}
