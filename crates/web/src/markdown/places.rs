//! Where the pieces of a page stand in the text it is made of, for a page on which passages are chosen; and what is marked.
//!
//! An element with `data-o` holds a piece of the text as it is, which begins at that byte. What in it is not as long as it
//! looks says in `data-n` how many bytes of the text it is.

use std::{
    fmt::{self, Write},
    ops::Range,
};

use pulldown_cmark::{CowStr, Event};

use crate::{
    bar::BAR,
    code::highlighted,
    html::{escape, with_bars, with_bars_and_links},
};

/// A place in a text that is marked; in bytes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextMark {
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What it is.
    pub kind: MarkKind,
}

/// What a [`TextMark`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// A bar, or what else stands for something covered.
    Covered,
    /// The finding of this number, which is to be decided.
    Open(u32),
    /// One that may stand.
    Allowed(u32),
    /// One that need not be decided.
    Suggested(u32),
}

/// The text of a page, and its marks as they are drawn.
pub(crate) struct Places<'a> {
    source: &'a str,
    marks: &'a [TextMark],
    drawn: Vec<bool>,
}

impl<'a> Places<'a> {
    /// `marks` are in order and apart from each other.
    pub(crate) fn new(source: &'a str, marks: &'a [TextMark]) -> Self {
        Self { source, marks, drawn: vec![false; marks.len()] }
    }

    /// Writes `text`, which stands at `at` or is made of what does.
    pub(super) fn text(&mut self, w: &mut impl Write, text: &str, at: Range<usize>, links: bool) -> fmt::Result {
        if self.source.get(at.clone()) == Some(text) {
            return self.run(w, at, if links { In::Prose } else { In::Link });
        }
        if self.has_mark(&at) {
            // As it is written, so that the mark is seen.
            return self.run(w, at, In::Link);
        }
        self.whole(w, &at, |w| with_bars(w, text))
    }

    /// Writes `text`, which stands somewhere within `at`: code between its marks.
    pub(super) fn within(&mut self, w: &mut impl Write, text: &str, at: Range<usize>, in_link: bool) -> fmt::Result {
        let found = self.source.get(at.clone()).and_then(|source| source.find(text)).map(|n| at.start + n);
        match found {
            Some(start) => self.run(w, start..start + text.len(), if in_link { In::Link } else { In::Code }),
            None => self.text(w, text, at, false),
        }
    }

    /// Writes a block of code, whose pieces stand at `stands`.
    pub(super) fn code(&mut self, w: &mut impl Write, info: &str, text: &str, stands: &[Range<usize>]) -> fmt::Result {
        let all = stands.first().map_or(0, |r| r.start)..stands.last().map_or(0, |r| r.end);
        let is_plain = self.source.get(all.clone()) == Some(text);
        if is_plain && !self.has_mark(&all) && !text.chars().any(is_drawn_otherwise) {
            write!(w, "<code data-o=\"{}\">", all.start)?;
            highlighted(w, info, text)?;
            return w.write_str("</code>");
        }
        w.write_str("<code>")?;
        if is_plain {
            self.run(w, all, In::Code)?;
        } else {
            // Within a list its lines stand apart.
            for at in stands {
                self.run(w, at.clone(), In::Code)?;
            }
        }
        w.write_str("</code>")
    }

    /// Writes something of which no part can be chosen.
    pub(super) fn whole<W: Write>(
        &mut self,
        w: &mut W,
        at: &Range<usize>,
        inner: impl FnOnce(&mut W) -> fmt::Result,
    ) -> fmt::Result {
        write!(w, "<span data-o=\"{}\"><span data-n=\"{}\">", at.start, at.len())?;
        inner(w)?;
        w.write_str("</span></span>")
    }

    pub(super) fn has_mark(&self, at: &Range<usize>) -> bool {
        self.marks.iter().any(|mark| mark.start < at.end && at.start < mark.end)
    }

    /// Writes what stands at `at`, with its marks.
    pub(crate) fn run(&mut self, w: &mut impl Write, at: Range<usize>, place: In) -> fmt::Result {
        write!(w, "<span data-o=\"{}\">", at.start)?;
        let mut from = at.start;
        let first = self.marks.partition_point(|mark| mark.end <= at.start);
        for (index, mark) in self.marks.iter().enumerate().skip(first).take_while(|(_, mark)| mark.start < at.end) {
            let (start, end) = (mark.start.max(at.start), mark.end.min(at.end));
            piece(w, self.source.get(from..start).unwrap_or_default(), place)?;
            let is_first = self.drawn.get_mut(index).is_some_and(|drawn| !std::mem::replace(drawn, true));
            draw(w, mark, self.source.get(start..end).unwrap_or_default(), place, is_first)?;
            from = end;
        }
        piece(w, self.source.get(from..at.end).unwrap_or_default(), place)?;
        w.write_str("</span>")
    }

    /// Writes the marks that stand in nothing that is drawn: the address of a link, say, which goes out all the same.
    pub(crate) fn rest(&mut self, w: &mut impl Write) -> fmt::Result {
        if self.drawn.iter().all(|drawn| *drawn) {
            return Ok(());
        }
        w.write_str("<p class=\"unseen-marks\">In an address, or in other marks of the text:")?;
        for at in 0..self.drawn.len() {
            if self.drawn.get(at) == Some(&false)
                && let Some(mark) = self.marks.get(at)
            {
                w.write_char(' ')?;
                self.run(w, mark.start..mark.end, In::Code)?;
            }
        }
        w.write_str("</p>\n")
    }
}

/// In what a piece of text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum In {
    /// Addresses are links.
    Prose,
    /// They are not.
    Code,
    /// Nothing in it can be another link or a button.
    Link,
}

fn is_drawn_otherwise(c: char) -> bool {
    c.is_ascii_control() && c != '\n' && c != '\t'
}

/// Text as long as it looks.
fn piece(w: &mut impl Write, text: &str, place: In) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(is_drawn_otherwise) {
        let (before, from) = rest.split_at(at);
        plain(w, before, place)?;
        let (control, after) = from.split_at(1);
        w.write_str("<span data-n=\"1\">")?;
        // The line break of another platform is followed by one of ours.
        if !(control == "\r" && after.starts_with('\n')) {
            escape(w, control)?;
        }
        w.write_str("</span>")?;
        rest = after;
    }
    plain(w, rest, place)
}

fn plain(w: &mut impl Write, text: &str, place: In) -> fmt::Result {
    if place == In::Prose { with_bars_and_links(w, text) } else { with_bars(w, text) }
}

fn draw(w: &mut impl Write, mark: &TextMark, text: &str, place: In, is_first: bool) -> fmt::Result {
    let (class, id) = match mark.kind {
        MarkKind::Covered => {
            let (class, words) = if text == BAR { ("bar cover", "[covered by the author]") } else { ("cover", text) };
            write!(w, "<span class=\"{class}\" data-n=\"{}\" data-m=\"{}\"", text.len(), mark.start)?;
            if place != In::Link {
                w.write_str(" tabindex=\"0\" role=\"button\"")?;
            }
            w.write_str(" title=\"covered by you: look beneath, or uncover\">")?;
            escape(w, words)?;
            return w.write_str("</span>");
        }
        MarkKind::Open(id) => ("open", id),
        MarkKind::Allowed(id) => ("allowed", id),
        MarkKind::Suggested(id) => ("suggested", id),
    };
    write!(w, "<mark class=\"{class}\" data-f=\"{id}\"")?;
    if is_first {
        write!(w, " id=\"f{id}\"")?;
    }
    w.write_char('>')?;
    piece(w, text, if place == In::Prose { In::Code } else { place })?;
    w.write_str("</mark>")
}

/// The events of a text with their places; texts that stand side by side as they are become one.
pub(super) fn merged<'a>(
    source: &'a str,
    events: impl Iterator<Item = (Event<'a>, Range<usize>)>,
) -> impl Iterator<Item = (Event<'a>, Range<usize>)> {
    let mut events = events.peekable();
    std::iter::from_fn(move || {
        let (event, mut at) = events.next()?;
        let Event::Text(text) = &event else { return Some((event, at)) };
        if source.get(at.clone()) != Some(text.as_ref()) {
            return Some((event, at));
        }
        let start = at.start;
        let goes_on = |next: &(Event<'a>, Range<usize>), end: usize| matches!(&next.0, Event::Text(text) if next.1.start == end && source.get(next.1.clone()) == Some(text.as_ref()));
        while let Some((_, next)) = events.next_if(|next| goes_on(next, at.end)) {
            at.end = next.end;
        }
        let text = source.get(start..at.end).map_or_else(|| text.clone(), CowStr::Borrowed);
        Some((Event::Text(text), at))
    })
}
