//! Other ways to look at a text: what a reader, a terminal or a decoder would make of it.
//!
//! A view is bytes and the way back: every span found in it is a span of the text. Views are made only where there is
//! something to see, so that ordinary text costs one pass of looking for triggers.

mod clean;
mod decode;
mod escape;
mod fold;
mod join;

pub(crate) use self::{
    clean::regions,
    decode::decoded,
    join::{joined, run_end, split_words},
};

/// How often a text is looked at behind what it says: decoded, and what comes of it decoded again.
pub(crate) const DEPTH: u8 = 2;

/// A view of a part of a text.
pub(crate) struct View {
    pub(crate) bytes: Vec<u8>,
    map: Map,
}

impl View {
    /// Where the bytes `start..end` of the view stand in the text.
    pub(crate) fn span(&self, start: usize, end: usize) -> (usize, usize) {
        (self.map.start(start), self.map.end(end))
    }
}

/// Bytes `at..at + length` of a view stand for `from..to` of the text.
struct Change {
    at: usize,
    length: usize,
    from: usize,
    to: usize,
}

/// Between the changes a view is the text itself, beginning at byte `base` of it.
struct Map {
    base: usize,
    changes: Vec<Change>,
}

impl Map {
    fn change_at(&self, at: usize) -> Option<&Change> {
        let after = self.changes.partition_point(|c| c.at <= at);
        after.checked_sub(1).and_then(|i| self.changes.get(i))
    }

    fn start(&self, at: usize) -> usize {
        match self.change_at(at) {
            None => self.base + at,
            Some(change) if at < change.at + change.length => change.from,
            Some(change) => change.to + (at - change.at - change.length),
        }
    }

    fn end(&self, end: usize) -> usize {
        let Some(last) = end.checked_sub(1) else { return self.base };
        match self.change_at(last) {
            None => self.base + end,
            Some(change) if last < change.at + change.length => change.to,
            Some(change) => change.to + (end - change.at - change.length),
        }
    }
}

/// Makes a view, change by change, in order.
struct Builder<'a> {
    text: &'a [u8],
    view: View,
    /// Up to where the text is in the view.
    done: usize,
}

impl<'a> Builder<'a> {
    fn new(text: &'a [u8], base: usize) -> Self {
        Self { text, view: View { bytes: Vec::new(), map: Map { base, changes: Vec::new() } }, done: base }
    }

    fn copy_to(&mut self, at: usize) {
        self.view.bytes.extend_from_slice(self.text.get(self.done..at).unwrap_or_default());
        self.done = self.done.max(at.min(self.text.len()));
    }

    /// Puts `with` in place of `from..to` of the text.
    fn replace(&mut self, from: usize, to: usize, with: &[u8]) {
        self.copy_to(from);
        let at = self.view.bytes.len();
        self.view.bytes.extend_from_slice(with);
        match self.view.map.changes.last_mut() {
            // Nothing can be found between two things that were taken out one after the other.
            Some(last) if last.to == from && last.length == 0 && with.is_empty() => last.to = to,
            _ => self.view.map.changes.push(Change { at, length: with.len(), from, to }),
        }
        self.done = to;
    }

    fn finish(mut self, end: usize) -> View {
        self.copy_to(end);
        self.view
    }
}

#[cfg(test)]
mod tests;
