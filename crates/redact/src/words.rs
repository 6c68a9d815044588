//! Words to cover that are kept without their value.
//!
//! A workspace file must not hold what its author wants hidden. So for each form of a word (as it is, JSON-escaped, in base64
//! and so on) three things are kept, all under the workspace's secret key:
//!
//! 1. eighteen bits of a keyed hash of its first bytes (at most eight): one pass over a text proposes places,
//!    and so few bits give nothing away;
//! 2. the HMAC of the shortest prefix that is to be covered: it says whether the place is one;
//! 3. the HMAC of the whole form: it says whether all of it stands there.
//!
//! A form is thus found again in any text, and without the key nothing can be tried against the file.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{
    Fingerprint, FingerprintKey,
    anchors::{Anchors, WORD_BITS, Windows, first_eight, top, window},
    forms::{self, Form, RunOn},
    reading::{Cursor, Reading},
    text::part,
};

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
        let mut all = forms::of(value, RunOn::No);
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
        anchor: anchor_of(anchors.of(first)) ^ mask(key, &prefix),
        prefix,
        whole: Fingerprint::from_mac(key.mac("form", &form.bytes)),
    }
}

/// Makes equal beginnings unequal in the file.
fn mask(key: &FingerprintKey, prefix: &Fingerprint) -> u32 {
    anchor_of(first_eight(&key.mac("mask", prefix.as_bytes())))
}

/// What is kept of a hash.
fn anchor_of(hash: u64) -> u32 {
    u32::try_from(top(hash, WORD_BITS)).unwrap_or_default()
}

/// A place where a word stands.
pub(crate) struct WordPlace {
    /// Index of the word.
    pub(crate) word: usize,
    pub(crate) end: usize,
    /// Bytes of the form that stand there.
    pub(crate) length: usize,
    /// All of it stands there.
    pub(crate) complete: bool,
    pub(crate) run_on: RunOn,
}

/// All words, ready to be found.
pub(crate) struct WordFinder {
    key: FingerprintKey,
    words: Vec<Word>,
    /// By how many bytes are hashed and what is kept of the hash: the word, and the form of it.
    forms: HashMap<(usize, u32), Vec<(usize, usize)>>,
}

impl WordFinder {
    pub(crate) fn new(key: &FingerprintKey, words: &[Word]) -> Self {
        let mut forms: HashMap<_, Vec<_>> = HashMap::new();
        for (number, word) in words.iter().enumerate() {
            for (form, keyed) in word.forms.iter().enumerate().filter(|(_, f)| f.min > 0) {
                let anchor = keyed.anchor ^ mask(key, &keyed.prefix);
                forms.entry((window(keyed.min), anchor)).or_default().push((number, form));
            }
        }
        Self { key: key.duplicate(), words: words.to_vec(), forms }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// How many forms there are.
    pub(crate) fn count(&self) -> usize {
        self.forms.values().map(Vec::len).sum()
    }

    /// Tells where forms begin.
    pub(crate) fn tell(&self, windows: &mut Windows) {
        for (length, anchor) in self.forms.keys() {
            windows.add(*length, u64::from(*anchor) << (64 - WORD_BITS), WORD_BITS);
        }
    }

    /// Calls `each` with the words that begin at `start`, where the first `length` bytes have this hash.
    pub(crate) fn at(
        &self,
        (length, hash): (usize, u64),
        text: &[u8],
        start: usize,
        reading: Reading,
        mut each: impl FnMut(WordPlace),
    ) {
        let forms = self.forms.get(&(length, anchor_of(hash)));
        for (word, form) in forms.map(Vec::as_slice).unwrap_or_default() {
            if let Some(form) = self.words.get(*word).and_then(|w| w.forms.get(*form))
                && let Some(place) = self.verify(*word, form, text, start, reading)
            {
                each(place);
            }
        }
    }

    fn verify(&self, word: usize, form: &KeyedForm, text: &[u8], start: usize, reading: Reading) -> Option<WordPlace> {
        let mut cursor = Cursor::new(text, start, reading);
        let mut spaces = form.spaces.iter().copied().skip_while(|at| *at == 0).peekable();
        let mut read = Zeroizing::new(Vec::with_capacity(form.length));
        let mut read_to = |length: usize, read: &mut Vec<u8>| {
            while read.len() < length {
                let space = spaces.next_if_eq(&read.len()).is_some();
                read.push(cursor.next(space)?);
            }
            Some(cursor.at)
        };
        let mut end = read_to(form.min, &mut read)?;
        if self.key.mac("prefix", &read) != *form.prefix.as_bytes() {
            return None;
        }
        let whole = read_to(form.length, &mut read).filter(|_| self.key.mac("form", &read) == *form.whole.as_bytes());
        end = whole.unwrap_or(end);
        let complete = whole.is_some();
        let run_on = match form.run_on {
            StoredRunOn::No => RunOn::No,
            StoredRunOn::Base64 => RunOn::Base64,
            StoredRunOn::Hex => RunOn::Hex,
        };
        Some(WordPlace { word, end, length: if complete { form.length } else { form.min }, complete, run_on })
    }
}
