//! What was found, on pages and in documents.

use std::fmt::{self, Write};

use askama::filters::HtmlSafe;
use onrecord_index::Snippet;

use super::document::{Escaped, one_line};
use crate::{
    html::{Line, with_bars},
    moment::Moment,
    view::FindView,
};

/// A find as a page shows it.
pub(super) struct FindRow<'a> {
    pub(super) find: &'a FindView<'a>,
    pub(super) title: Line<&'a str>,
    pub(super) quote: Option<Quote<'a>>,
    pub(super) moment: Moment<'a>,
    pub(super) speaker: String,
}

/// The rows of what was found.
pub(super) fn rows<'a>(finds: &'a [FindView<'a>]) -> Vec<FindRow<'a>> {
    finds
        .iter()
        .map(|find| FindRow {
            find,
            title: Line(find.title()),
            quote: find.snippet.map(Quote),
            moment: Moment::read(&find.created_at),
            speaker: find.speaker(),
        })
        .collect()
}

impl FindRow<'_> {
    /// Whose record it is, where the speaker does not say it.
    pub(super) fn of(&self) -> Option<String> {
        let whose =
            self.find.author.handle.map_or_else(|| self.find.author.did.to_owned(), |handle| format!("@{handle}"));
        (whose != self.speaker).then_some(whose)
    }
}

/// A passage with what was asked for marked in it.
pub(super) struct Quote<'a>(&'a Snippet);

impl fmt::Display for Quote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.cut_before {
            f.write_str("… ")?;
        }
        for part in &self.0.parts {
            if part.found {
                f.write_str("<mark>")?;
                with_bars(f, &part.text)?;
                f.write_str("</mark>")?;
            } else {
                with_bars(f, &part.text)?;
            }
        }
        f.write_str(if self.0.cut_after { " …" } else { "" })
    }
}

impl HtmlSafe for Quote<'_> {}

/// Finds as a Markdown list.
pub(super) fn markdown(out: &mut String, finds: &[FindView<'_>]) -> fmt::Result {
    for find in finds {
        writeln!(out, "- [{}]({}): {}", Escaped(find.title()), find.path, Escaped(&line(find)))?;
        if let Some(snippet) = find.snippet {
            let (before, after) = ellipses(snippet);
            write!(out, "  > {before}")?;
            for part in &snippet.parts {
                // A mark may not begin or end with a space.
                if part.found { write!(out, "**{}**", Escaped(&part.text))? } else { spaced(out, &part.text)? }
            }
            writeln!(out, "{after}")?;
        }
    }
    Ok(())
}

/// Finds as plain text.
pub(super) fn text(out: &mut String, finds: &[FindView<'_>]) -> fmt::Result {
    for find in finds {
        writeln!(out, "\n{}\n  {}", one_line(find.title()), one_line(&line(find)))?;
        if let Some(snippet) = find.snippet {
            let (before, after) = ellipses(snippet);
            let words: String = snippet.parts.iter().map(|part| part.text.as_str()).collect();
            writeln!(out, "  {before}{}{after}", one_line(&words))?;
        }
        writeln!(out, "  {}", find.path)?;
    }
    Ok(())
}

/// Foreign text that means nothing in Markdown, with the spaces at its ends.
fn spaced(out: &mut String, text: &str) -> fmt::Result {
    let is_space = |c: Option<char>| c.is_some_and(char::is_whitespace);
    out.push_str(if is_space(text.chars().next()) { " " } else { "" });
    write!(out, "{}", Escaped(text))?;
    out.push_str(if is_space(text.chars().next_back()) && !text.trim().is_empty() { " " } else { "" });
    Ok(())
}

fn ellipses(snippet: &Snippet) -> (&'static str, &'static str) {
    (if snippet.cut_before { "… " } else { "" }, if snippet.cut_after { " …" } else { "" })
}

/// Who speaks, when, in whose record; and that it was held back.
fn line(find: &FindView<'_>) -> String {
    let (speaker, moment) = (find.speaker(), Moment::read(&find.created_at));
    let whose = find.author.handle.map_or_else(|| find.author.did.to_owned(), |handle| format!("@{handle}"));
    let mut line = format!("{speaker}, {}, {} UTC", moment.day(), moment.clock());
    if whose != speaker {
        line.push_str(&format!(", {whose}"));
    }
    if find.withheld {
        line.push_str(&format!(". Off the record: the author held back this {}", find.noun()));
    }
    line
}
