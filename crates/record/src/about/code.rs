//! Which parts of a text are code: quoted, not said.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// The parts of a Markdown text that are code, in order.
#[derive(Debug, Default)]
pub(super) struct Code {
    blocks: Vec<Range<usize>>,
    inline: Vec<Range<usize>>,
}

impl Code {
    pub(super) fn of(text: &str) -> Self {
        let mut code = Self::default();
        // A text without these has neither fences, nor spans, nor indented blocks.
        if !text.contains(['`', '~', '\t']) && !text.contains("    ") {
            return code;
        }
        for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => code.blocks.push(range),
                Event::Code(_) => code.inline.push(range),
                _ => {}
            }
        }
        code
    }

    /// Whether `at` lies in a fenced or indented block.
    pub(super) fn is_block(&self, at: usize) -> bool {
        holds(&self.blocks, at)
    }

    /// Whether `at` lies in a span within a line.
    pub(super) fn is_inline(&self, at: usize) -> bool {
        holds(&self.inline, at)
    }
}

fn holds(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|range| range.start <= at);
    after.checked_sub(1).and_then(|n| ranges.get(n)).is_some_and(|range| range.contains(&at))
}
