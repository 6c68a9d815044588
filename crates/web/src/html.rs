//! Foreign text into HTML: escaped, with bars, and with the addresses in it made into links.

use std::fmt::{self, Write};

use askama::filters::HtmlSafe;

use crate::{
    bar::{Segment, segments},
    fold::{Fold, SHOWN},
};

/// What every link out of foreign text carries.
const REL: &str = "nofollow ugc noopener noreferrer";

/// What a bar says when it is read aloud or copied.
const COVERED: &str = "<span class=\"bar\" title=\"covered by the author\">[covered by the author]</span>";

/// Writes `text` so that it is text, in an element or in a quoted attribute. Control characters become their
/// pictures, for HTML has no place for them.
pub(crate) fn escape(w: &mut impl Write, text: &str) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| SPECIAL.get(usize::from(b)) == Some(&true)) {
        let Some((before, from)) = rest.split_at_checked(at) else { break };
        w.write_str(before)?;
        let mut chars = from.chars();
        match chars.next() {
            Some('&') => w.write_str("&amp;")?,
            Some('<') => w.write_str("&lt;")?,
            Some('>') => w.write_str("&gt;")?,
            Some('"') => w.write_str("&quot;")?,
            Some('\'') => w.write_str("&#39;")?,
            // A line break from another platform: the \n of \r\n is on its way.
            Some('\r') if chars.as_str().starts_with('\n') => {}
            Some('\r') => w.write_char('\n')?,
            Some('\u{7f}') => w.write_char('\u{2421}')?,
            Some(c) => w.write_char(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'))?,
            None => {}
        }
        rest = chars.as_str();
    }
    w.write_str(rest)
}

/// Which bytes are not written as they are.
const SPECIAL: [bool; 256] = {
    let (mut special, mut b) = ([false; 256], 0_u8);
    while b < 0x80 {
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256, and else this does not compile")]
        let at = &mut special[b as usize];
        *at = matches!(b, b'&' | b'<' | b'>' | b'"' | b'\'' | 0x7f) || (b < 0x20 && b != b'\n' && b != b'\t');
        b += 1;
    }
    special
};

/// Writes `text` with its bars, without links.
pub(crate) fn with_bars(w: &mut impl Write, text: &str) -> fmt::Result {
    for segment in segments(text) {
        match segment {
            Segment::Text(text) => escape(w, text)?,
            Segment::Bar => w.write_str(COVERED)?,
        }
    }
    Ok(())
}

/// Writes `text` with its bars, and with the web addresses and at-uris in it as links.
pub(crate) fn with_bars_and_links(w: &mut impl Write, text: &str) -> fmt::Result {
    let mut pieces = segments(text).peekable();
    while let Some(segment) = pieces.next() {
        match segment {
            Segment::Text(text) => links(w, text, pieces.peek().is_some())?,
            Segment::Bar => w.write_str(COVERED)?,
        }
    }
    Ok(())
}

/// `cut` tells that a bar follows: an address that runs into it is not whole, and a link would lead elsewhere.
fn links(w: &mut impl Write, text: &str, cut: bool) -> fmt::Result {
    let mut rest = text;
    let mut search_from = 0;
    while let Some(found) = rest.get(search_from..).and_then(|s| s.find("://")) {
        let colon = search_from + found;
        let (Some(before), Some(after)) = (rest.get(..colon), rest.get(colon + 3..)) else { break };
        search_from = colon + 3;
        let Some(scheme) = ["https", "http", "at"].into_iter().find(|s| ends_with_word(before, s)) else {
            continue;
        };
        let start = colon - scheme.len();
        let end = colon + 3 + address_len(after);
        let (Some(lead), Some(address), Some(tail)) = (rest.get(..start), rest.get(start..end), rest.get(end..)) else {
            break;
        };
        if end == colon + 3 || (cut && tail.is_empty()) {
            continue;
        }
        escape(w, lead)?;
        open_link(w, address, "")?;
        escape(w, address)?;
        w.write_str("</a>")?;
        rest = tail;
        search_from = 0;
    }
    escape(w, rest)
}

fn ends_with_word(text: &str, word: &str) -> bool {
    text.len().checked_sub(word.len()).is_some_and(|at| {
        text.get(at..).is_some_and(|s| s.eq_ignore_ascii_case(word))
            && !text.get(..at).is_some_and(|s| s.ends_with(|c: char| c.is_alphanumeric()))
    })
}

/// How much of `text` belongs to the address it starts with: up to white space or a quote or bracket that addresses
/// do not hold, without the punctuation of the sentence around it.
fn address_len(text: &str) -> usize {
    let stop = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`' | '\u{2588}');
    let mut address = text.find(stop).and_then(|end| text.get(..end)).unwrap_or(text);
    while let Some(last) = address.chars().next_back() {
        let unbalanced =
            |open: char, close: char| last == close && address.matches(close).count() > address.matches(open).count();
        let trailing = matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '|' | '…' | '”' | '’')
            || unbalanced('(', ')')
            || unbalanced('[', ']')
            || unbalanced('{', '}');
        if !trailing {
            break;
        }
        address = address.get(..address.len() - last.len_utf8()).unwrap_or("");
    }
    // A scheme and punctuation is no address.
    if address.starts_with(|c: char| c.is_alphanumeric() || c == '[') { address.len() } else { 0 }
}

/// Whether a link may lead to `address`: http, https, mailto and at, nothing else, and nothing that hides.
pub(crate) fn may_link(address: &str) -> bool {
    let scheme = ["https://", "http://", "mailto:", "at://"].into_iter().any(|scheme| {
        address.len() > scheme.len()
            && address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    scheme && !address.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\u{2588}')
}

/// Opens a link to an address that [`may_link`]; `class` may be empty.
pub(crate) fn open_link(w: &mut impl Write, address: &str, class: &str) -> fmt::Result {
    w.write_str("<a href=\"")?;
    escape(w, address)?;
    w.write_str("\" rel=\"")?;
    w.write_str(REL)?;
    if !class.is_empty() {
        w.write_str("\" class=\"")?;
        w.write_str(class)?;
    }
    w.write_str("\">")
}

/// One line of foreign text: a title, a step's summary, a line of the outline.
pub(crate) struct Line<T>(pub(crate) T);

impl<T: AsRef<str>> fmt::Display for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_bars(f, self.0.as_ref())
    }
}

impl<T: AsRef<str>> HtmlSafe for Line<T> {}

/// Plain foreign text of any length: a person's turn, a description. Its paragraphs are paragraphs, its line breaks
/// are kept by the stylesheet.
pub(crate) struct Plain<'a>(pub(crate) &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fold = Fold::of(self.0);
        for paragraph in paragraphs(self.0) {
            // A paragraph that would be too long in sight is cut after a line.
            for piece in pieces(paragraph) {
                fold.between(f)?;
                fold.count(piece);
                f.write_str("<p dir=\"auto\">")?;
                with_bars_and_links(f, piece)?;
                f.write_str("</p>\n")?;
            }
        }
        fold.close(f)
    }
}

impl HtmlSafe for Plain<'_> {}

/// A paragraph in pieces of which none but the last is longer than what is shown of a long turn, unless its lines are.
pub(crate) fn pieces(paragraph: &str) -> impl Iterator<Item = &str> {
    let mut rest = paragraph;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        if rest.len() > SHOWN + SHOWN / 2
            && let Some(start) = rest.get(..rest.floor_char_boundary(SHOWN))
        {
            end = start.rfind('\n').or_else(|| rest.find('\n')).map_or(rest.len(), |at| at + 1);
        }
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(piece.trim_end_matches('\n'))
    })
}

/// The stretches of `text` between blank lines.
pub(crate) fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = None;
        let mut at = 0;
        let mut start = None;
        for line in rest.split_inclusive('\n') {
            let blank = line.trim().is_empty();
            match (start, blank) {
                (None, false) => start = Some(at),
                (Some(_), true) => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
            at += line.len();
        }
        let start = start?;
        let end = end.unwrap_or(rest.len());
        let paragraph = rest.get(start..end)?;
        rest = rest.get(end..)?;
        Some(paragraph.trim_end())
    })
}

#[cfg(test)]
mod tests;
