//! Finding covered values again, wherever and in whatever form they stand.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::{
    Error, FingerprintKey,
    anchors::{Anchors, Windows},
    forms::RunOn,
    literals::{Literals, Search},
    reading::{Reading, stretches},
    text::{part, token_end},
    views,
    words::{Word, WordFinder},
};

/// A value to cover that is known, because it stands in the conversation.
pub(crate) struct Value {
    pub(crate) text: Arc<Zeroizing<String>>,
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

/// Everything covered, compiled for searching.
pub(crate) struct Covers {
    windows: Windows,
    literals: Literals,
    words: WordFinder,
}

/// Whose form it is that stands somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A value that this rule found.
    Rule(usize),
    /// The author's own word with this number.
    Word(usize),
}

/// Where a form stands.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) whose: Whose,
    pub(crate) start: usize,
    pub(crate) end: usize,
    complete: bool,
    run_on: RunOn,
}

impl Covers {
    pub(crate) fn new(key: &FingerprintKey, values: &[Value], words: &[Word]) -> Result<Self, Error> {
        let anchors = Anchors::new(key);
        let literals = Literals::new(values, anchors)?;
        let words = WordFinder::new(key, words);
        let mut windows = Windows::new(anchors, literals.count() + words.count());
        literals.tell(&mut windows);
        words.tell(&mut windows);
        Ok(Self { windows, literals, words })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.literals.is_empty() && self.words.is_empty()
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
        // A run of base64 is walked over once, not once for each hit in it.
        let mut last: [Option<Span>; 2] = [None; 2];
        self.each_place(text, |place| {
            let rule = if let Whose::Rule(rule) = place.whose { Some(rule) } else { None };
            let last = last.get_mut(usize::from(rule.is_some()));
            if last.as_ref().and_then(|l| **l).is_some_and(|s| s.start <= place.start && place.end <= s.end) {
                return;
            }
            if rule.is_none() && is_within_word(text, place.start, place.end) {
                return;
            }
            let (start, end) = run(text, place.start, place.end, place.complete, place.run_on);
            let span = Span { start, end, rule };
            spans.push(span);
            if let Some(last) = last {
                *last = Some(span);
            }
        });
    }

    /// Calls `each` with the places in `text` as it is where forms of what is covered stand, wrapped or not; in no order.
    pub(crate) fn each_place(&self, text: &[u8], mut each: impl FnMut(Place)) {
        if self.is_empty() {
            return;
        }
        let mut search = Search::new(&self.literals, text);
        stretches(text, |stretch| {
            self.windows.propose(text, stretch, |length, last, hash| {
                let Some(start) = stretch.back(text, last, length - 1) else { return };
                for reading in stretch.readings(last) {
                    let least = if reading == Reading::Unwrapped { UNWRAPPED_BYTES } else { 0 };
                    search.at((length, hash), start, reading, |p| {
                        if p.length >= least {
                            let whose = Whose::Rule(p.rule);
                            each(Place { whose, start, end: p.end, complete: p.complete, run_on: p.run_on });
                        }
                    });
                    self.words.at((length, hash), text, start, reading, |p| {
                        if p.length >= least {
                            let whose = Whose::Word(p.word);
                            each(Place { whose, start, end: p.end, complete: p.complete, run_on: p.run_on });
                        }
                    });
                }
            });
        });
    }
}

/// A word of fewer letters than this is another one within a longer word: no "Al" stands in "Also".
const SHORT_WORD: usize = 4;

/// Whether a short word is part of a longer one. Only of letters that have cases: other scripts write words side by side. A
/// secret, unlike a name, is covered wherever it stands.
fn is_within_word(text: &[u8], start: usize, end: usize) -> bool {
    let Some(Ok(word)) = text.get(start..end).map(str::from_utf8) else { return false };
    let cased = |c: char| c.is_lowercase() || c.is_uppercase();
    if word.chars().count() >= SHORT_WORD || !word.chars().all(cased) {
        return false;
    }
    let after = part(text, end, end + 4).utf8_chunks().next().and_then(|c| c.valid().chars().next());
    let before = part(text, start.saturating_sub(4), start);
    // The letter of an escape (`\n`) is no part of what follows it.
    let escaped = matches!(before, [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f']);
    let before = before.utf8_chunks().last().filter(|c| c.invalid().is_empty()).and_then(|c| c.valid().chars().last());
    let joins = |first: char, next: char| next.is_lowercase() || (first.is_uppercase() && next.is_uppercase());
    let (first, last) = (word.chars().next(), word.chars().last());
    let goes_on = last.zip(after).is_some_and(|(last, after)| joins(last, after));
    let went_on = before.zip(first).is_some_and(|(before, first)| cased(before) && joins(before, first));
    goes_on || (went_on && !escaped)
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
