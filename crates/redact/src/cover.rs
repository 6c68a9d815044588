//! Finding covered values again, wherever and in whatever form they stand.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use zeroize::Zeroizing;

use crate::{
    Error, FingerprintKey,
    forms::{self, Form, RunOn},
    text::{Squeezed, part, token_end},
    views,
    words::{Word, WordFinder},
};

/// A value to cover that is known, because it stands in the conversation.
pub(crate) struct Value {
    pub(crate) text: Zeroizing<String>,
    /// How many of its first bytes tell nothing.
    pub(crate) public: usize,
    /// The rule that found it.
    pub(crate) rule: usize,
}

/// Where a covered value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The rule that found it; none for the author's own words.
    pub(crate) rule: Option<usize>,
}

/// Read across the marks of quotations, comments and lists, shorter forms than this (in bytes) would stand anywhere by chance.
const UNWRAPPED_BYTES: usize = 8;

/// How often each byte of a text is compared with covered values, on the average, before only their beginnings are.
const COMPARED: usize = 16;

/// Everything covered, compiled for searching.
pub(crate) struct Covers {
    literals: Option<AhoCorasick>,
    /// By pattern of `literals`: the forms that begin so.
    forms: Vec<Vec<(Form, usize)>>,
    words: WordFinder,
}

impl Covers {
    pub(crate) fn new(key: &FingerprintKey, values: &[Value], words: &[Word]) -> Result<Self, Error> {
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut by_pattern: Vec<Vec<(Form, usize)>> = Vec::new();
        for value in values {
            for piece in pieces(&value.text) {
                let public = if piece.len() == value.text.len() { value.public } else { 0 };
                for form in forms::of(piece, public, RunOn::Token) {
                    let at = *known.entry(part(&form.bytes, 0, form.min).to_vec()).or_insert(by_pattern.len());
                    match by_pattern.get_mut(at) {
                        Some(list) if list.iter().any(|(f, _)| f.bytes == form.bytes && f.spaces == form.spaces) => {}
                        Some(list) => list.push((form, value.rule)),
                        None => by_pattern.push(vec![(form, value.rule)]),
                    }
                }
            }
        }
        let mut patterns: Vec<_> = known.into_iter().map(|(pattern, at)| (at, Zeroizing::new(pattern))).collect();
        patterns.sort_unstable_by_key(|(at, _)| *at);
        let literals = if patterns.is_empty() {
            None
        } else {
            // The fastest automaton, while it is small.
            let kind = (patterns.len() <= 5_000).then_some(AhoCorasickKind::DFA);
            let built = AhoCorasick::builder()
                .match_kind(MatchKind::Standard)
                .kind(kind)
                .build(patterns.iter().map(|(_, p)| &**p));
            Some(built.map_err(|_| Error::Matcher("too many or too long".to_owned()))?)
        };
        Ok(Self { literals, forms: by_pattern, words: WordFinder::new(key, words) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.literals.is_none() && self.words.is_empty()
    }

    /// Appends where covered values stand, in no order: as the text is, as it is read, and decoded.
    pub(crate) fn find(&self, text: &[u8], spans: &mut Vec<Span>) {
        if !self.is_empty() {
            self.look(text, 0, &|start, end| (start, end), spans);
        }
    }

    /// `place` leads from the bytes of `text` back to where they stand.
    fn look(&self, text: &[u8], depth: u8, place: &dyn Fn(usize, usize) -> (usize, usize), spans: &mut Vec<Span>) {
        let from = spans.len();
        self.find_as_it_is(text, spans);
        if depth > 0 {
            for span in spans.get_mut(from..).unwrap_or_default() {
                (span.start, span.end) = place(span.start, span.end);
            }
        }
        if depth == views::DEPTH {
            return;
        }
        views::regions(text, &mut |region| {
            let back = |start, end| {
                let (start, end) = region.clean.span(start, end);
                place(start, end)
            };
            self.look(&region.clean.bytes, depth + 1, &back, spans);
        });
        views::decoded(text, &mut |plain, (start, end)| {
            self.look(plain, depth + 1, &|_, _| place(start, end), spans);
        });
    }

    /// The same in the text as it is alone.
    pub(crate) fn find_as_it_is(&self, text: &[u8], spans: &mut Vec<Span>) {
        if text.is_empty() {
            return;
        }
        self.find_in(text, &Squeezed::new(text), 0, spans);
        if let Some(unwrapped) = Squeezed::unwrapped(text) {
            self.find_in(text, &unwrapped, UNWRAPPED_BYTES, spans);
        }
    }

    /// Appends where at least `least` bytes of covered values stand in `squeezed`, in places of `text`.
    fn find_in(&self, text: &[u8], squeezed: &Squeezed, least: usize, spans: &mut Vec<Span>) {
        let own = spans.len();
        let mut push = |at: usize, length: usize, complete: bool, run_on: RunOn, rule: Option<usize>| {
            if length < least {
                return;
            }
            let start = squeezed.original(at);
            let end = squeezed.original(at + length.saturating_sub(1)) + 1;
            // A run of base64 is walked over once, not once for each hit in it.
            if spans
                .get(own..)
                .and_then(<[Span]>::last)
                .is_some_and(|s| s.start <= start && end <= s.end && s.rule.is_some() == rule.is_some())
            {
                return;
            }
            let (start, end) = run(text, start, end, complete, run_on);
            spans.push(Span { start, end, rule });
        };
        // A long value that repeats itself begins at every repetition: comparing all of it each time would never end. When so
        // much was compared, its beginnings are enough, as each of them is covered by itself.
        let mut budget = squeezed.bytes.len().saturating_mul(COMPARED) + (1 << 16);
        if let Some(literals) = &self.literals {
            for hit in literals.find_overlapping_iter(&squeezed.bytes) {
                for (form, rule) in self.forms.get(hit.pattern().as_usize()).map(Vec::as_slice).unwrap_or_default() {
                    let here = squeezed.bytes.get(hit.start()..).unwrap_or_default();
                    let most = if budget == 0 { form.min } else { form.bytes.len() };
                    let same = form.bytes.iter().zip(here).take(most).take_while(|(a, b)| a == b).count();
                    budget = budget.saturating_sub(same);
                    let length = squeezed.reads_on(hit.start(), same, &form.spaces);
                    if length >= form.min {
                        push(hit.start(), length, length == form.bytes.len(), form.run_on, Some(*rule));
                    }
                }
            }
        }
        if !self.words.is_empty() {
            let mut places = Vec::new();
            self.words.find(squeezed, &mut places);
            for place in places {
                push(place.at, place.length, place.complete, place.run_on, None);
            }
        }
    }
}

/// How far a hit runs on.
fn run(text: &[u8], start: usize, end: usize, complete: bool, run_on: RunOn) -> (usize, usize) {
    let over = |is_digit: fn(u8) -> bool| {
        let before = part(text, 0, start).iter().rev().take_while(|b| is_digit(**b)).count();
        let after = text.get(end..).unwrap_or_default().iter().take_while(|b| is_digit(**b)).count();
        (start - before, end + after)
    };
    match run_on {
        RunOn::No if complete => (start, end),
        RunOn::No | RunOn::Token => (start, token_end(text, end)),
        RunOn::Base64 => over(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=')),
        RunOn::Hex => over(|b| b.is_ascii_hexdigit()),
    }
}

/// What of a value is covered by itself: all of it, and the values of a list of cookies.
fn pieces(value: &str) -> Vec<&str> {
    let mut pieces = vec![value];
    if !value.contains(char::is_whitespace) || value.contains("; ") {
        pieces.extend(value.split(';').filter_map(|pair| pair.split_once('=')).map(|(_, v)| v.trim()).filter(|v| {
            v.len() >= forms::PREFIX_CHARS && v.len() < value.len() && v.bytes().any(|b| b.is_ascii_digit())
        }));
    }
    pieces
}
