//! Words to cover that are kept without their value.
//!
//! A workspace file must not hold what its author wants hidden. So for each form of a word (as it is, JSON-escaped, in base64
//! and so on) three things are kept, all under the workspace's secret key:
//!
//! 1. a rolling hash of its first bytes (at most eight): one pass of Rabin–Karp over a text proposes places;
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

const WINDOW: usize = 8;

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
    /// Rolling hash of the first bytes, masked.
    anchor: u64,
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
        let rolling = Rolling::new(key);
        let forms = forms::of(value, 0, RunOn::No).iter().map(|form| keyed(key, &rolling, form)).collect();
        Self { id: Self::name(key, value), forms }
    }

    pub(crate) fn name(key: &FingerprintKey, value: &str) -> Fingerprint {
        Fingerprint::from_mac(key.mac("word", value.as_bytes()))
    }
}

fn keyed(key: &FingerprintKey, rolling: &Rolling, form: &Form) -> KeyedForm {
    let prefix = Fingerprint::from_mac(key.mac("prefix", part(&form.bytes, 0, form.min)));
    let window = form.min.min(WINDOW);
    KeyedForm {
        length: form.bytes.len(),
        min: form.min,
        spaces: form.spaces.clone(),
        run_on: match form.run_on {
            RunOn::No | RunOn::Token => StoredRunOn::No,
            RunOn::Base64 => StoredRunOn::Base64,
            RunOn::Hex => StoredRunOn::Hex,
        },
        anchor: rolling.hash(part(&form.bytes, 0, window)) ^ mask(key, &prefix),
        prefix,
        whole: Fingerprint::from_mac(key.mac("form", &form.bytes)),
    }
}

/// Hides the arithmetic of the rolling hash.
fn mask(key: &FingerprintKey, prefix: &Fingerprint) -> u64 {
    first_eight(&key.mac("mask", prefix.as_bytes()))
}

fn first_eight(mac: &[u8; 32]) -> u64 {
    mac.iter().take(8).fold(0, |n, b| n << 8 | u64::from(*b))
}

/// A polynomial hash modulo 2⁶⁴ at a secret odd point.
struct Rolling {
    point: u64,
}

impl Rolling {
    fn new(key: &FingerprintKey) -> Self {
        Self { point: first_eight(&key.mac("point", &[])) | 1 }
    }

    fn push(&self, hash: u64, byte: u8) -> u64 {
        hash.wrapping_mul(self.point).wrapping_add(u64::from(byte) + 1)
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |hash, byte| self.push(hash, *byte))
    }

    /// Calls `at` with each place and the hash of the `window` bytes there.
    fn roll(&self, bytes: &[u8], window: usize, mut at: impl FnMut(usize, u64)) {
        let Some(first) = bytes.get(..window) else { return };
        let oldest = (1..window).fold(1_u64, |power, _| power.wrapping_mul(self.point));
        let mut hash = self.hash(first);
        at(0, hash);
        let entering = bytes.get(window..).unwrap_or_default();
        for (place, (leaving, entering)) in bytes.iter().zip(entering).enumerate() {
            hash = hash.wrapping_sub((u64::from(*leaving) + 1).wrapping_mul(oldest));
            hash = self.push(hash, *entering);
            at(place + 1, hash);
        }
    }
}

/// A place where a word stands, in the squeezed text.
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) length: usize,
    pub(crate) complete: bool,
    pub(crate) run_on: RunOn,
}

/// All words, ready to be found.
pub(crate) struct WordFinder {
    key: FingerprintKey,
    rolling: Rolling,
    forms: Vec<KeyedForm>,
    /// By length of the window: the forms, by the hash of their first bytes.
    windows: Vec<(usize, HashMap<u64, Vec<usize>>)>,
}

impl WordFinder {
    pub(crate) fn new(key: &FingerprintKey, words: &[Word]) -> Self {
        let forms: Vec<_> = words.iter().flat_map(|w| w.forms.iter().cloned()).filter(|f| f.min > 0).collect();
        let mut windows: Vec<(usize, HashMap<u64, Vec<usize>>)> = Vec::new();
        for (index, form) in forms.iter().enumerate() {
            let length = form.min.min(WINDOW);
            if !windows.iter().any(|(l, _)| *l == length) {
                windows.push((length, HashMap::new()));
            }
            for (_, by_hash) in windows.iter_mut().filter(|(l, _)| *l == length) {
                by_hash.entry(form.anchor ^ mask(key, &form.prefix)).or_default().push(index);
            }
        }
        Self { key: key.duplicate(), rolling: Rolling::new(key), forms, windows }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    pub(crate) fn find(&self, text: &Squeezed, places: &mut Vec<Place>) {
        for (window, by_hash) in &self.windows {
            // Nearly every place fails here, so the table of hashes has a small, fast one before it.
            let mut likely = [false; 1024];
            for hash in by_hash.keys() {
                if let Some(flag) = likely.get_mut(slot(*hash)) {
                    *flag = true;
                }
            }
            self.rolling.roll(&text.bytes, *window, |at, hash| {
                if likely.get(slot(hash)).copied().unwrap_or(true)
                    && let Some(indexes) = by_hash.get(&hash)
                {
                    places.extend(indexes.iter().filter_map(|i| self.verify(self.forms.get(*i)?, text, at)));
                }
            });
        }
    }

    fn verify(&self, form: &KeyedForm, text: &Squeezed, at: usize) -> Option<Place> {
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
        Some(Place { at, length: if complete { form.length } else { form.min }, complete, run_on })
    }
}

fn slot(hash: u64) -> usize {
    usize::try_from(hash >> 54).unwrap_or_default()
}
