//! Redaction bars in published text.
//!
//! The author's tool covers a span with exactly three U+2588. The same character is what terminals draw progress
//! bars and charts with, and a reader must never take one for the other. So a bar is a run of *exactly three*
//! that touches no other block element (U+2580 to U+259F); every other run is shown as the text it is, which for a
//! span covered by an app with other habits is still honest.

/// What stands in a record's text for a covered span.
pub const BAR: &str = "\u{2588}\u{2588}\u{2588}";

const FULL: char = '\u{2588}';

/// A stretch of text, or a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment<'a> {
    /// Words as they stand in the record.
    Text(&'a str),
    /// A span the author covered.
    Bar,
}

/// Iterator over the [`Segment`]s of a text; made by [`segments`].
#[derive(Debug, Clone)]
pub struct Segments<'a> {
    text: &'a str,
    /// Where the next segment starts.
    from: usize,
}

/// Cuts `text` at its bars. The pieces, with [`BAR`] for every bar, add up to `text`; no piece is empty.
#[must_use]
pub fn segments(text: &str) -> Segments<'_> {
    Segments { text, from: 0 }
}

/// How many spans of `text` the author covered.
pub(crate) fn count(text: &str) -> usize {
    segments(text).filter(|s| *s == Segment::Bar).count()
}

impl<'a> Segments<'a> {
    /// The first bar at or after `from`.
    fn next_bar(&self) -> Option<usize> {
        let mut at = self.from;
        loop {
            let rest = self.text.get(at..)?;
            let start = at + rest.find(FULL)?;
            let run = self.text.get(start..)?;
            let after_run = run.trim_start_matches(FULL);
            let end = start + (run.len() - after_run.len());
            let before = self.text.get(..start).and_then(|s| s.chars().next_back());
            let after = after_run.chars().next();
            let alone = !before.is_some_and(is_block_element) && !after.is_some_and(is_block_element);
            if end - start == BAR.len() && alone {
                return Some(start);
            }
            at = end;
        }
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    fn next(&mut self) -> Option<Segment<'a>> {
        if self.from >= self.text.len() {
            return None;
        }
        match self.next_bar() {
            Some(start) if start == self.from => {
                self.from = start + BAR.len();
                Some(Segment::Bar)
            }
            found => {
                let end = found.unwrap_or(self.text.len());
                let piece = self.text.get(self.from..end)?;
                self.from = end;
                Some(Segment::Text(piece))
            }
        }
    }
}

fn is_block_element(c: char) -> bool {
    ('\u{2580}'..='\u{259f}').contains(&c)
}

#[cfg(test)]
mod tests;
