//! What makes a match of a gitleaks rule none.

use std::collections::HashMap;

use regex::bytes::Regex;

use super::search::unanchored;
use crate::{
    rules::{AllowSource, Target},
    text::part,
};

/// A line is looked at this far before and after a match, in bytes.
const LINE: usize = 4096;

pub(super) struct Allowlist {
    all: bool,
    target: Target,
    regexes: Vec<Regex>,
    stopwords: Vec<String>,
}

impl Allowlist {
    /// `compiled` holds the expressions compiled so far: a global allowlist stands at each rule.
    pub(super) fn new(source: &AllowSource, compiled: &mut HashMap<String, Regex>) -> Result<Self, String> {
        let mut regexes = Vec::with_capacity(source.regexes.len());
        for pattern in &source.regexes {
            let regex = match compiled.get(pattern) {
                Some(regex) => regex.clone(),
                None => {
                    let regex = unanchored(pattern, true).map_err(|e| format!("its allowlist: {e}"))?;
                    compiled.insert(pattern.clone(), regex.clone());
                    regex
                }
            };
            regexes.push(regex);
        }
        Ok(Self { all: source.all, target: source.target, regexes, stopwords: source.stopwords.clone() })
    }

    pub(super) fn allows(&self, text: &[u8], secret: (usize, usize), whole: (usize, usize)) -> bool {
        let by_regex = || {
            let (start, end) = match self.target {
                Target::Secret => secret,
                Target::Match => whole,
                Target::Line => line(text, whole),
            };
            self.regexes.iter().any(|r| r.is_match(part(text, start, end)))
        };
        let by_stopword = || {
            let value = String::from_utf8_lossy(part(text, secret.0, secret.1)).to_lowercase();
            self.stopwords.iter().any(|word| value.contains(word))
        };
        match (self.regexes.is_empty(), self.stopwords.is_empty()) {
            (true, true) => false,
            (false, true) => by_regex(),
            (true, false) => by_stopword(),
            (false, false) if self.all => by_regex() && by_stopword(),
            (false, false) => by_regex() || by_stopword(),
        }
    }
}

/// The line or lines that a match stands in.
fn line(text: &[u8], (start, end): (usize, usize)) -> (usize, usize) {
    let before = part(text, start.saturating_sub(LINE), start);
    let after = part(text, end, end.saturating_add(LINE));
    let from = memchr::memrchr(b'\n', before).map_or(before.len(), |at| before.len() - at - 1);
    let to = memchr::memchr(b'\n', after).unwrap_or(after.len());
    (start - from, end + to)
}
