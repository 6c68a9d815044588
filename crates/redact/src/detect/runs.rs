//! Where runs of token characters stand.

use std::ops::Range;

use crate::text::after_last_below;

/// Runs of letters, digits, `_`, `-` and `.` that are at least `length` bytes long.
///
/// A run that long has a byte at every so many of the text: only those are looked at first.
pub(super) struct Runs<'a> {
    text: &'a [u8],
    length: usize,
    /// No run that was not told of begins before this.
    at: usize,
}

impl<'a> Runs<'a> {
    pub(super) fn new(text: &'a [u8], length: usize) -> Self {
        Self { text, length, at: 0 }
    }
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let probe = self.at + self.length - 1;
            let window = self.text.get(self.at..=probe)?;
            // No run has a byte below `-`.
            if let Some(after) = after_last_below::<b'-'>(self.text, self.at, probe + 1) {
                self.at = after;
                continue;
            }
            let tail = window.iter().rev().take_while(|b| joins_run(**b)).count();
            let start = probe + 1 - tail;
            if tail < self.length {
                self.at = start;
                continue;
            }
            let rest = self.text.get(probe..).unwrap_or_default();
            self.at = probe + rest.iter().position(|b| !joins_run(*b)).unwrap_or(rest.len());
            return Some(start..self.at);
        }
    }
}

/// Letters, digits, `_`, `-` and `.`.
fn joins_run(byte: u8) -> bool {
    static JOINS: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        #[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "every index is below 256")]
        while byte < 256 {
            let b = byte as u8;
            table[byte] = b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
            byte += 1;
        }
        table
    };
    JOINS.get(usize::from(byte)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Runs, joins_run};

    /// Every byte looked at, one after the other.
    fn one_by_one(text: &[u8], length: usize) -> Vec<std::ops::Range<usize>> {
        let mut at = 0;
        let runs = text.chunk_by(|a, b| joins_run(*a) == joins_run(*b)).map(|run| {
            at += run.len();
            (at - run.len()..at, run)
        });
        runs.filter(|(range, run)| joins_run(run[0]) && range.len() >= length).map(|(range, _)| range).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn passing_over_text_in_steps_misses_no_run(
            text in "([a-zA-Z0-9_.-]{0,40}[ ,+/:@\\[`{~é\u{7f}]{0,3}){0,8}", length in 2_usize..40,
        ) {
            let found: Vec<_> = Runs::new(text.as_bytes(), length).collect();
            prop_assert_eq!(found, one_by_one(text.as_bytes(), length));
        }
    }
}
