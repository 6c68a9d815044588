//! The person's list of words.

use std::collections::{HashMap, HashSet};

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{
    Error, Tier,
    detect::Hit,
    engine::{Kind, definition},
    rules::{ListedWord, WordList},
    text::{self, part},
};

/// White space within a phrase may be this long, in bytes.
const GAP: usize = 256;

/// All words, found by their beginnings.
pub(super) struct Words {
    kind: usize,
    words: Vec<ListedWord>,
    beginnings: AhoCorasick,
    /// By pattern of `beginnings`: the words that begin so.
    askers: Vec<Vec<usize>>,
}

impl Words {
    pub(super) fn new(lists: Vec<WordList>, kinds: &mut Vec<Kind>) -> Result<Option<Self>, Error> {
        let mut seen = HashSet::new();
        let words: Vec<ListedWord> = lists.into_iter().flat_map(|l| l.0).filter(|w| seen.insert(w.0.clone())).collect();
        if words.is_empty() {
            return Ok(None);
        }
        let mut patterns = Vec::new();
        let mut askers: Vec<Vec<usize>> = Vec::new();
        let mut known = HashMap::new();
        for (index, word) in words.iter().enumerate() {
            for beginning in beginnings(&word.0) {
                let at = *known.entry(beginning.clone()).or_insert(askers.len());
                if let Some(list) = askers.get_mut(at) {
                    list.push(index);
                } else {
                    patterns.push(beginning);
                    askers.push(vec![index]);
                }
            }
        }
        let beginnings = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(&patterns)
            .map_err(|e| Error::Matcher(e.to_string()))?;
        let kind = kinds.len();
        kinds.push(Kind {
            id: "deny-word".to_owned().into(),
            name: "Word of your list".to_owned().into(),
            tier: Tier::G,
            blocking: true,
            allowable: true,
            // Not the words: a digest of them would tell whoever guesses one. A finding is bound to its own value anyway.
            definition: definition(["deny-word"]),
        });
        Ok(Some(Self { kind, words, beginnings, askers }))
    }

    pub(super) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        for found in self.beginnings.find_overlapping_iter(text) {
            let askers = self.askers.get(found.pattern().as_usize()).map(Vec::as_slice).unwrap_or_default();
            for word in askers.iter().filter_map(|index| self.words.get(*index)) {
                if let Some(end) = stands_at(text, found.start(), &word.0) {
                    hits.push(Hit::new(self.kind, found.start(), end));
                }
            }
        }
    }
}

/// How the text may begin where `word` stands: its first part, up to and with the first letter beyond ASCII in either case.
fn beginnings(word: &str) -> Vec<String> {
    let first = word.split(' ').next().unwrap_or_default();
    let ascii: String = first.chars().take_while(char::is_ascii).collect();
    let Some(letter) = first.chars().nth(ascii.len()) else { return vec![ascii] };
    let mut cases: Vec<String> =
        vec![letter.to_string(), letter.to_uppercase().collect(), letter.to_lowercase().collect()];
    // The sigma at a word's end has a capital in common with the other.
    cases.extend(letter.to_uppercase().map(|c| c.to_lowercase().collect()));
    cases.sort_unstable();
    cases.dedup();
    cases.into_iter().map(|case| format!("{ascii}{case}")).collect()
}

/// Where `word` ends, if it stands at `start`.
fn stands_at(text: &[u8], start: usize, word: &str) -> Option<usize> {
    let mut at = start;
    for expected in word.chars() {
        if expected == ' ' {
            let gap = part(text, at, at.saturating_add(GAP));
            let mut length = 0;
            while let Some(c) = first_char(gap.get(length..)?).filter(|c| c.is_whitespace()) {
                length += c.len_utf8();
            }
            if length == 0 {
                return None;
            }
            at += length;
        } else {
            let c = first_char(text.get(at..)?)?;
            if !(c == expected
                || c.to_lowercase().eq(expected.to_lowercase())
                || c.to_uppercase().eq(expected.to_uppercase()))
            {
                return None;
            }
            at += c.len_utf8();
        }
    }
    let begins = !word.starts_with(char::is_alphabetic)
        || last_char(part(text, 0, start))
            .is_none_or(|c| !c.is_alphabetic() || (c.is_ascii() && text::begins_token(text, start, false)));
    let ends =
        !word.ends_with(char::is_alphabetic) || text.get(at..).and_then(first_char).is_none_or(|c| !c.is_alphabetic());
    (begins && ends).then_some(at)
}

/// The character that `bytes` begin with, if they do with one.
fn first_char(bytes: &[u8]) -> Option<char> {
    let head = part(bytes, 0, 4);
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(part(head, 0, error.valid_up_to())).ok()?,
    };
    valid.chars().next()
}

/// The character that `bytes` end with, if they do with one.
fn last_char(bytes: &[u8]) -> Option<char> {
    (1..=4).find_map(|length| {
        let tail = bytes.get(bytes.len().checked_sub(length)?..)?;
        std::str::from_utf8(tail).ok()?.chars().next()
    })
}
