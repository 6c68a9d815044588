//! The page of all conversations on this machine.

use askama::Template;

use super::{Around, Pager};
use crate::{Error, html::Line, marks::with_few_marks};

/// The page.
#[derive(Debug, Clone)]
pub struct Library<'a> {
    /// What is around it.
    pub around: Around<'a>,
    /// What was looked for.
    pub query: &'a str,
    /// The agents whose conversations are here: identifier and name.
    pub harnesses: Vec<(&'static str, &'static str)>,
    /// The one that is asked for.
    pub harness: &'a str,
    /// The projects, and the one that is asked for.
    pub projects: Vec<String>,
    /// See `projects`.
    pub project: &'a str,
    /// Which states are asked for.
    pub state: &'a str,
    /// What was found.
    pub entries: Vec<LibraryEntry>,
    /// Its other pages.
    pub pager: Option<Pager>,
    /// How many were found, and how many there are, as a sentence.
    pub tally: String,
    /// On record, while its transcript is no longer here: name in addresses, title, and where it is.
    pub gone: Vec<(String, String, String)>,
    /// How much is still being read, as a sentence.
    pub reading: Option<String>,
    /// What could not be looked into.
    pub left_out: Vec<String>,
    /// Something is on record in a repository, and can be compared with it.
    pub can_check: bool,
    /// What a comparison found, as a sentence.
    pub checked: Option<String>,
}

/// A conversation.
#[derive(Debug, Clone, Default)]
pub struct LibraryEntry {
    /// Its name in addresses.
    pub key: String,
    /// Its title, or how it begins.
    pub title: Option<String>,
    /// The agent that wrote it.
    pub harness: &'static str,
    /// The project.
    pub project: Option<String>,
    /// When it was last written to, for programs and for people.
    pub datetime: String,
    /// See `datetime`.
    pub day: String,
    /// How many turns it has; none while it is not read.
    pub turns: Option<usize>,
    /// Why it cannot be read.
    pub fault: Option<String>,
    /// How many findings wait; none while it was not looked at.
    pub waiting: Option<usize>,
    /// Where it is on record: what is said of it, and whether that is good news.
    pub on_record: Vec<(String, bool)>,
}

impl LibraryEntry {
    fn title_line(&self) -> Line<&str> {
        let untitled = if self.turns.is_some() { "(no words of yours)" } else { "(not read yet)" };
        Line(self.title.as_deref().unwrap_or(untitled))
    }
}

#[derive(Template)]
#[template(path = "review/library.html")]
struct LibraryPage<'a> {
    around: Around<'a>,
    library: &'a Library<'a>,
}

impl Library<'_> {
    /// The page.
    ///
    /// # Errors
    /// None in practice.
    pub fn html(&self) -> Result<String, Error> {
        Ok(with_few_marks(LibraryPage { around: self.around, library: self }.render()?))
    }

    fn states() -> [(&'static str, &'static str); 5] {
        [
            ("", "all"),
            ("waiting", "something to decide"),
            ("published", "on record"),
            ("unpublished", "not on record"),
            ("drifted", "drifted"),
        ]
    }
}
