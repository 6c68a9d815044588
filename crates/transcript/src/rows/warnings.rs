//! Warnings, bounded: a file of a million damaged lines has a thousand of them and a count.

use std::collections::BTreeMap;

use crate::model::Warning;

/// Warnings of one code that are kept one by one.
const KEPT_PER_CODE: u64 = 1000;

/// Collects warnings in the order they arise.
#[derive(Debug, Default)]
pub struct Warnings {
    kept: Vec<Warning>,
    seen: BTreeMap<&'static str, u64>,
}

impl Warnings {
    /// Adds one. `message` must not quote the transcript.
    pub fn push(&mut self, line: Option<u64>, code: &'static str, message: String) {
        let seen = self.seen.entry(code).or_insert(0);
        *seen += 1;
        if *seen <= KEPT_PER_CODE {
            self.kept.push(Warning { line, code, message });
        }
    }

    /// All of them; of each code beyond the first thousand, one that counts the rest.
    #[must_use]
    pub fn finish(self) -> Vec<Warning> {
        let mut kept = self.kept;
        for (code, seen) in self.seen {
            if seen > KEPT_PER_CODE {
                let more = seen - KEPT_PER_CODE;
                kept.push(Warning { line: None, code, message: format!("and {more} more of the same") });
            }
        }
        kept
    }
}
