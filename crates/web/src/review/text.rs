//! Texts of a conversation that is being reviewed: as readers will see them, with what is found and covered marked.

use std::fmt;

use askama::filters::HtmlSafe;

use crate::{
    fold::Fold,
    html::{paragraphs, pieces},
    markdown::{In, Places, Prose, TextMark},
};

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What an agent says: Markdown.
    Prose,
    /// What a person says.
    Plain,
    /// A title, or what a tool was called for.
    Line,
}

/// A text as it will be, with its marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedText {
    /// Which text of its turn it is, e.g. `text` or `steps[3].summary`.
    pub field: String,
    /// The text, with its bars.
    pub text: String,
    /// In order and apart from each other.
    pub marks: Vec<TextMark>,
    /// How it is written.
    pub kind: Kind,
}

impl MarkedText {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }
}

impl fmt::Display for MarkedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Prose => Prose { text: &self.text, fence: None, marks: Some(&self.marks) }.fmt(f),
            Kind::Line => Places::new(&self.text, &self.marks).run(f, 0..self.text.len(), In::Code),
            Kind::Plain => {
                let mut places = Places::new(&self.text, &self.marks);
                let mut fold = Fold::of(&self.text);
                for piece in paragraphs(&self.text).flat_map(pieces) {
                    fold.between(f)?;
                    fold.count(piece);
                    f.write_str("<p dir=\"auto\">")?;
                    let start = piece.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
                    places.run(f, start..start + piece.len(), In::Prose)?;
                    f.write_str("</p>\n")?;
                }
                fold.close(f)?;
                places.rest(f)
            }
        }
    }
}

impl HtmlSafe for MarkedText {}

#[cfg(test)]
mod tests;
