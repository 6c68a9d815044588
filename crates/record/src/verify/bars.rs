//! The form of bars in records of the `click.aligned.chat` family.

const FULL: char = '\u{2588}';
const BAR: usize = 3;

/// What the bars of a text are like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bars {
    /// Runs of exactly three full blocks.
    pub(super) bars: u64,
    /// The width of the first run that is neither a bar nor part of a drawing.
    pub(super) odd: Option<usize>,
}

/// Looks at every run of U+2588. One that touches another block element (U+2580 to U+259F) is a drawing, as terminals make
/// them, and says nothing.
pub(super) fn bars(text: &str) -> Bars {
    let mut found = Bars::default();
    let mut rest = text;
    let mut before = None;
    while let Some(at) = rest.find(FULL) {
        let (head, run) = rest.split_at(at);
        before = head.chars().next_back().or(before);
        let after = run.trim_start_matches(FULL);
        let width = (run.len() - after.len()) / FULL.len_utf8();
        let is_drawing = before.is_some_and(is_block_element) || after.chars().next().is_some_and(is_block_element);
        match width {
            _ if is_drawing => {}
            BAR => found.bars += 1,
            _ => found.odd = found.odd.or(Some(width)),
        }
        (rest, before) = (after, Some(FULL));
    }
    found
}

fn is_block_element(c: char) -> bool {
    c != FULL && matches!(c, '\u{2580}'..='\u{259f}')
}
