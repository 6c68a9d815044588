//! Long texts: their beginning in sight, the rest a fold away, with its length. The browser's search finds what is in it.

use std::fmt::{self, Write};

/// What is shown of a long turn, in characters.
pub(crate) const SHOWN: usize = 4_000;
/// A rest shorter than this is not folded.
const LEAST_REST: usize = 1_500;
/// A block of code of more lines is folded.
pub(crate) const LINES_OPEN: usize = 60;

/// Where a text is folded.
#[derive(Debug)]
pub(crate) struct Fold {
    /// How long the text is, in characters; 0 of one that is not folded.
    all: usize,
    shown: usize,
    is_open: bool,
}

impl Fold {
    pub(crate) fn of(text: &str) -> Self {
        // Bytes are never fewer than characters.
        let all = if text.len() > SHOWN + LEAST_REST { text.chars().count() } else { 0 };
        Self { all: if all > SHOWN + LEAST_REST { all } else { 0 }, shown: 0, is_open: false }
    }

    /// Counts what is shown.
    pub(crate) fn count(&mut self, text: &str) {
        if self.all > 0 && !self.is_open {
            self.shown += text.chars().count();
        }
    }

    /// Between two blocks: folds what follows, if it is time.
    pub(crate) fn between(&mut self, w: &mut impl Write) -> fmt::Result {
        let rest = self.all.saturating_sub(self.shown);
        if self.is_open || self.all == 0 || self.shown < SHOWN - SHOWN / 8 || rest < LEAST_REST {
            return Ok(());
        }
        self.is_open = true;
        writeln!(w, "<details class=\"rest\"><summary>The rest of this turn, {} characters</summary>", Thousands(rest))
    }

    /// At the end of the text.
    pub(crate) fn close(&self, w: &mut impl Write) -> fmt::Result {
        w.write_str(if self.is_open { "</details>\n" } else { "" })
    }
}

/// A number of which nobody needs the last digits, with its thousands told apart.
pub(crate) struct Thousands(pub(crate) usize);

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundreds = self.0 / 100 * 100;
        if hundreds < 1_000 {
            return write!(f, "about {hundreds}");
        }
        let (thousands, rest) = (hundreds / 1_000, hundreds % 1_000);
        if thousands < 1_000 {
            write!(f, "about {thousands},{rest:03}")
        } else {
            write!(f, "about {},{:03},{rest:03}", thousands / 1_000, thousands % 1_000)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_round_and_readable() {
        for (number, text) in [(2_345, "about 2,300"), (120_099, "about 120,000"), (1_234_567, "about 1,234,500")] {
            assert_eq!(Thousands(number).to_string(), text);
        }
    }
}
