//! An agent's text, which is Markdown, into HTML.
//!
//! Written event by event, so that nothing reaches the page that is not written here: raw HTML is shown as the text
//! it is, a link leads only to http, https, mailto or at, an image is never loaded but linked, headings stand below
//! the page's own, and bars are bars in code too.

mod places;

use std::{
    borrow::Cow,
    fmt::{self, Write},
    ops::Range,
};

use askama::filters::HtmlSafe;
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TextMergeStream,
};

use crate::{
    code::{highlighted, language_name},
    fold::{Fold, LINES_OPEN},
    html::{escape, may_link, open_link, with_bars, with_bars_and_links},
    math,
};

use places::merged;
pub(crate) use places::{In, Places};
pub use places::{MarkKind, TextMark};

/// Quotes, lists and emphasis nested deeper than this are written flat: nobody reads them, and browsers choke on them.
const MAX_DEPTH: usize = 24;

/// How many characters of an address that is no link are shown; the Markdown form has all of it.
const SHOWN_ADDRESS: usize = 120;

/// How many formulas of a text are laid out; the others are shown as their source.
const FORMULAS: usize = 300;

/// Markdown as HTML.
pub(crate) struct Prose<'a> {
    /// The text of one record.
    pub(crate) text: &'a str,
    /// The code fence that the record before this one left open, where a long turn was cut inside a code block.
    pub(crate) fence: Option<&'a str>,
    /// What is marked in the text, for a page that also says where everything stands in it.
    pub(crate) marks: Option<&'a [TextMark]>,
}

impl fmt::Display for Prose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.fence.map_or(Cow::Borrowed(self.text), |fence| Cow::Owned(format!("{fence}\n{}", self.text)));
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_MATH;
        let mut writer = Writer {
            w: f,
            open: Vec::new(),
            anchors: 0,
            depth: 0,
            in_head: false,
            columns: Vec::new(),
            column: 0,
            words: false,
            code: None,
            heading_level: 2,
            formulas: 0,
            fold: Fold::of(&text),
            places: self.marks.map(|marks| Places::new(&text, marks)),
            at: 0..0,
        };
        let parser = Parser::new_ext(&text, options);
        if self.marks.is_none() {
            for event in TextMergeStream::new(parser) {
                writer.event(event)?;
            }
        } else {
            for (event, at) in merged(&text, parser.into_offset_iter()) {
                writer.at = at;
                writer.event(event)?;
            }
        }
        writer.fold.close(&mut writer.w)?;
        match &mut writer.places {
            Some(places) => places.rest(&mut writer.w),
            None => Ok(()),
        }
    }
}

impl HtmlSafe for Prose<'_> {}

/// What has to be written where an element ends.
enum End<'a> {
    /// This, whatever it is.
    Fixed(&'static str),
    /// This, and one level less deep.
    Nested(&'static str),
    /// The end of a link, whose address is its text where it has no other.
    Link(CowStr<'a>),
    /// The address of a link that may not be one, unless the text was the address.
    Unlinked { address: CowStr<'a>, shown: bool },
}

struct Writer<'a, W> {
    w: W,
    open: Vec<End<'a>>,
    /// How many links are open: HTML allows one.
    anchors: usize,
    depth: usize,
    in_head: bool,
    columns: Vec<Alignment>,
    column: usize,
    /// Whether anything was written since the last link was opened.
    words: bool,
    /// The block of code that is open: what it is said to be, its text so far, and where the pieces of it stand.
    code: Option<(CowStr<'a>, String, Vec<Range<usize>>)>,
    /// Of the last heading, from 1; the speaker's name is on level 2.
    heading_level: u8,
    /// How many were laid out.
    formulas: usize,
    fold: Fold,
    places: Option<Places<'a>>,
    /// Where the event stands, where that is told.
    at: Range<usize>,
}

impl<'a, W: Write> Writer<'a, W> {
    fn event(&mut self, event: Event<'a>) -> fmt::Result {
        // Between two blocks a long text may be folded.
        if self.open.is_empty() && matches!(event, Event::Start(_) | Event::Rule) {
            self.fold.between(&mut self.w)?;
        }
        match &event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) => self.fold.count(text),
            _ => {}
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => match self.open.pop() {
                Some(end) => self.end(end),
                None => Ok(()),
            },
            Event::Text(text) => {
                self.words = true;
                if let Some((_, code, places)) = &mut self.code {
                    code.push_str(&text);
                    places.push(self.at.clone());
                    return Ok(());
                }
                let links = self.anchors == 0;
                match &mut self.places {
                    Some(places) => places.text(&mut self.w, &text, self.at.clone(), links),
                    None if links => with_bars_and_links(&mut self.w, &text),
                    None => with_bars(&mut self.w, &text),
                }
            }
            Event::Code(text) => {
                self.words = true;
                self.w.write_str("<code dir=\"ltr\">")?;
                match &mut self.places {
                    Some(places) => places.within(&mut self.w, &text, self.at.clone(), self.anchors > 0)?,
                    None => with_bars(&mut self.w, &text)?,
                }
                self.w.write_str("</code>")
            }
            Event::InlineMath(text) => self.formula(&text, false),
            Event::DisplayMath(text) => self.formula(&text, true),
            // With footnotes off the last does not come; if it ever does, it is text.
            Event::Html(text) | Event::InlineHtml(text) | Event::FootnoteReference(text) => {
                self.words = true;
                match &mut self.places {
                    Some(places) => places.within(&mut self.w, &text, self.at.clone(), self.anchors > 0),
                    None => with_bars(&mut self.w, &text),
                }
            }
            Event::SoftBreak => self.w.write_char('\n'),
            Event::HardBreak => self.w.write_str("<br>\n"),
            Event::Rule => self.w.write_str("<hr>\n"),
            Event::TaskListMarker(done) => self.w.write_str(if done {
                "<span class=\"task\" role=\"img\" aria-label=\"done\">☑</span> "
            } else {
                "<span class=\"task\" role=\"img\" aria-label=\"to do\">☐</span> "
            }),
        }
    }

    fn start(&mut self, tag: Tag<'a>) -> fmt::Result {
        match tag {
            Tag::Paragraph => self.block("p", "</p>\n"),
            Tag::Heading { level, .. } => self.heading(level),
            Tag::CodeBlock(kind) => {
                let info = if let CodeBlockKind::Fenced(info) = kind { info } else { CowStr::Borrowed("") };
                self.code = Some((info, String::new(), Vec::new()));
                self.fixed("", "")
            }
            Tag::HtmlBlock => self.block("p class=\"raw\"", "</p>\n"),
            Tag::BlockQuote(_) => self.container("blockquote", None, "</blockquote>\n"),
            Tag::List(None) => self.container("ul", None, "</ul>\n"),
            Tag::List(Some(first)) => self.container("ol", Some(first).filter(|n| *n != 1), "</ol>\n"),
            Tag::Item => self.nested("<li>", "</li>\n", "<br>"),
            Tag::Emphasis => self.nested("<em>", "</em>", ""),
            Tag::Strong => self.nested("<strong>", "</strong>", ""),
            Tag::Strikethrough => self.nested("<del>", "</del>", ""),
            Tag::Table(columns) => {
                self.columns = columns;
                self.fixed("<div class=\"table\" tabindex=\"0\"><table dir=\"auto\">\n", "</tbody></table></div>\n")
            }
            Tag::TableHead => {
                (self.in_head, self.column) = (true, 0);
                self.fixed("<thead><tr>", "</tr></thead><tbody>\n")
            }
            Tag::TableRow => {
                (self.in_head, self.column) = (false, 0);
                self.fixed("<tr>", "</tr>\n")
            }
            Tag::TableCell => self.cell(),
            Tag::Link { link_type, dest_url, .. } => self.link(link_type, dest_url),
            Tag::Image { dest_url, .. } => self.image(dest_url),
            // Extensions that are off; their content is written, their frame is not.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => self.fixed("", ""),
        }
    }

    fn fixed(&mut self, start: &'static str, end: &'static str) -> fmt::Result {
        self.open.push(End::Fixed(end));
        self.w.write_str(start)
    }

    /// Where text takes its direction from its own words: outermost blocks. A block inside another has the direction
    /// of that one, for its marks stand at the same side.
    fn direction(&self) -> &'static str {
        if self.depth == 0 { " dir=\"auto\"" } else { "" }
    }

    /// An element that holds lines; `tag` may have a class.
    fn block(&mut self, tag: &'static str, end: &'static str) -> fmt::Result {
        let direction = self.direction();
        write!(self.w, "<{tag}{direction}>")?;
        self.fixed("", end)
    }

    /// Headings stand below those of the page, of which the speaker's name is the last, and skip no level.
    fn heading(&mut self, level: HeadingLevel) -> fmt::Result {
        let asked = match level {
            HeadingLevel::H1 => 3,
            HeadingLevel::H2 => 4,
            HeadingLevel::H3 => 5,
            HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => 6,
        };
        self.heading_level = asked.min(self.heading_level + 1);
        match self.heading_level {
            3 => self.block("h3", "</h3>\n"),
            4 => self.block("h4", "</h4>\n"),
            5 => self.block("h5", "</h5>\n"),
            _ => self.block("h6", "</h6>\n"),
        }
    }

    /// An element that holds blocks.
    fn container(&mut self, name: &'static str, start: Option<u64>, end: &'static str) -> fmt::Result {
        let direction = self.direction();
        if self.depth < MAX_DEPTH {
            write!(self.w, "<{name}{direction}")?;
            if let Some(start) = start {
                write!(self.w, " start=\"{start}\"")?;
            }
        }
        self.nested(">\n", end, "")
    }

    /// An element that may hold itself; beyond [`MAX_DEPTH`] only `flat` stands for it.
    fn nested(&mut self, start: &'static str, end: &'static str, flat: &'static str) -> fmt::Result {
        if self.depth >= MAX_DEPTH {
            return self.fixed(flat, "");
        }
        self.depth += 1;
        self.open.push(End::Nested(end));
        self.w.write_str(start)
    }

    fn cell(&mut self) -> fmt::Result {
        let alignment = self.columns.get(self.column).copied().unwrap_or(Alignment::None);
        self.column += 1;
        let (name, end) = if self.in_head { ("th", "</th>") } else { ("td", "</td>") };
        let class = match alignment {
            Alignment::None | Alignment::Left => "",
            Alignment::Center => " class=\"center\"",
            Alignment::Right => " class=\"right\"",
        };
        write!(self.w, "<{name}{class}>")?;
        self.fixed("", end)
    }

    fn link(&mut self, kind: LinkType, address: CowStr<'a>) -> fmt::Result {
        let address = if kind == LinkType::Email { format!("mailto:{address}").into() } else { address };
        let text_is_address = matches!(kind, LinkType::Autolink | LinkType::Email);
        self.words = false;
        if self.anchors == 0 && may_link(&address) {
            self.anchors += 1;
            open_link(&mut self.w, &address, "")?;
            self.open.push(End::Link(address));
        } else {
            self.open.push(End::Unlinked { address, shown: text_is_address });
        }
        Ok(())
    }

    fn image(&mut self, address: CowStr<'a>) -> fmt::Result {
        if self.anchors == 0 && may_link(&address) {
            self.anchors += 1;
            open_link(&mut self.w, &address, "image")?;
            self.open.push(End::Link(address));
        } else {
            self.open.push(End::Unlinked { address, shown: false });
        }
        self.words = false;
        self.w.write_str("Image: ")
    }

    fn formula(&mut self, source: &str, is_block: bool) -> fmt::Result {
        self.words = true;
        self.formulas += 1;
        // A link holds text alone, and one cannot count on a formula to be short.
        let is_text = self.formulas > FORMULAS || self.anchors > 0;
        match &mut self.places {
            Some(places) if is_text || places.has_mark(&self.at) => {
                places.within(&mut self.w, source, self.at.clone(), self.anchors > 0)
            }
            Some(places) => places.whole(&mut self.w, &self.at, |w| math::write(w, source, is_block)),
            None if is_text => with_bars(&mut self.w, source),
            None => math::write(&mut self.w, source, is_block),
        }
    }

    /// A block of code; a long one is folded to a line that says how long it is.
    fn code_block(&mut self, info: &str, text: &str, stands: &[Range<usize>]) -> fmt::Result {
        let lines = text.lines().count();
        let is_long = lines > LINES_OPEN;
        if is_long {
            let name = language_name(info).unwrap_or("Text");
            write!(self.w, "<details class=\"rest\"><summary>{name}, {lines} lines</summary>")?;
        }
        self.w.write_str("<pre tabindex=\"0\" dir=\"ltr\">")?;
        match &mut self.places {
            Some(places) => places.code(&mut self.w, info, text, stands)?,
            None => {
                self.w.write_str("<code>")?;
                highlighted(&mut self.w, info, text)?;
                self.w.write_str("</code>")?;
            }
        }
        self.w.write_str("</pre>\n")?;
        self.w.write_str(if is_long { "</details>\n" } else { "" })
    }

    fn end(&mut self, end: End<'a>) -> fmt::Result {
        match end {
            End::Fixed(text) => {
                if let Some((info, code, stands)) = self.code.take() {
                    self.code_block(&info, &code, &stands)?;
                }
                self.w.write_str(text)
            }
            End::Nested(text) => {
                self.depth -= 1;
                self.w.write_str(text)
            }
            End::Link(address) => {
                if !self.words {
                    escape(&mut self.w, &address)?;
                }
                self.anchors -= 1;
                self.w.write_str("</a>")
            }
            End::Unlinked { shown: true, .. } => Ok(()),
            End::Unlinked { address, shown: false } => {
                let end = address.char_indices().nth(SHOWN_ADDRESS).map_or(address.len(), |(at, _)| at);
                self.w.write_str(if self.words { " (" } else { "(" })?;
                with_bars(&mut self.w, address.get(..end).unwrap_or(""))?;
                self.w.write_str(if end < address.len() { "…)" } else { ")" })
            }
        }
    }
}

/// The opening line of the code fence that `text` leaves open, so that a cut inside a code block can be mended.
/// `carried` is the fence that was open where `text` begins.
pub(crate) fn open_fence<'a>(text: &'a str, carried: Option<&'a str>) -> Option<&'a str> {
    text.lines().fold(carried, fence_after)
}

/// The fence that is open after `line`, given the one that was open before it.
pub(crate) fn fence_after<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    let indented = line.len() - line.trim_start_matches(' ').len() > 3;
    let Some((mark, length, info)) = fence(line).filter(|_| !indented) else { return open };
    match open.and_then(fence) {
        Some((open_mark, open_length, _)) => {
            if mark == open_mark && length >= open_length && info.trim().is_empty() {
                None
            } else {
                open
            }
        }
        // The info string of a backtick fence holds no backtick.
        None => (mark != '`' || !info.contains('`')).then_some(line),
    }
}

/// The mark, its length and the info string of a fence line.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim_start_matches(' ');
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    (length >= 3).then_some((mark, length, info))
}

#[cfg(test)]
mod tests;
