//! Searching, and who refers to a record or an account.

use std::fmt::Write as _;

use askama::Template;
use onrecord_index::Search;
use serde::Serialize;

use super::{
    conversation::record_link,
    document::{Escaped, one_line},
    finds::{self, FindRow},
    frame::Frame,
    link::asking,
    list::more,
    rendered::Rendered,
};
use crate::{Error, Host, feed::of_search, search_words::FILTERS, view::FindView};

/// A question and what was found.
#[derive(Debug, Serialize)]
pub(crate) struct SearchView<'a> {
    /// As it was asked.
    pub(crate) question: &'a str,
    /// Why it was not answered, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
    /// What to know of how it was understood, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// What was found; none if nothing was asked, or the question was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<Vec<FindView<'a>>>,
    /// Where it goes on, if it does: the value of `after` that asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// Path of the feed of what was found.
    #[serde(skip)]
    pub(crate) feed: Option<String>,
}

impl<'a> SearchView<'a> {
    /// A question that is not answered yet.
    pub(crate) fn new(question: &'a str) -> Self {
        Self { question, refused: None, notes: Vec::new(), found: None, next: None, feed: None }
    }

    fn older(&self) -> Option<String> {
        self.next.as_ref().map(|next| asking("/search", &[("q", self.question), ("after", next)]))
    }
}

/// That nothing was found, and how to go on.
const NOTHING_FOUND: &str = "Nothing on record here has all of this. Fewer words, the beginning of one with a star, or no filter \
                             find more.";

#[derive(Template)]
#[template(path = "search.html")]
struct Page<'a> {
    frame: Frame<'a>,
    view: &'a SearchView<'a>,
    rows: Vec<FindRow<'a>>,
    older: Option<String>,
    question: &'a str,
    filters: &'static [(&'static str, &'static str)],
    nothing_found: &'static str,
}

impl Page<'_> {
    /// The page in another format.
    fn format(&self, suffix: &str) -> String {
        asking(&format!("/search.{suffix}"), &[("q", self.question)])
    }
}

impl Rendered for SearchView<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        let page = Page {
            frame: Frame::of_site(host)
                .with_feed(self.feed.clone().filter(|_| self.found.is_some()))
                .with_site_card(None),
            view: self,
            rows: self.found.as_deref().map(finds::rows).unwrap_or_default(),
            older: self.older(),
            question: self.question,
            filters: &FILTERS,
            nothing_found: NOTHING_FOUND,
        };
        Ok(page.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let mut out = String::from("# Search\n\n");
        if !self.question.trim().is_empty() {
            writeln!(out, "{}\n", Escaped(self.question))?;
        }
        for line in self.refused.iter().chain(&self.notes) {
            writeln!(out, "{}\n", Escaped(line))?;
        }
        match &self.found {
            Some(found) if found.is_empty() => writeln!(out, "{NOTHING_FOUND}")?,
            Some(found) => finds::markdown(&mut out, found)?,
            None => {
                for (filter, what) in FILTERS {
                    writeln!(out, "- `{filter}`: {what}")?;
                }
            }
        }
        if let Some(older) = self.older() {
            writeln!(out, "\nMore: {older}")?;
        }
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = String::from("Search\n\n");
        if !self.question.trim().is_empty() {
            writeln!(out, "{}", one_line(self.question))?;
        }
        for line in self.refused.iter().chain(&self.notes) {
            writeln!(out, "{}", one_line(line))?;
        }
        match &self.found {
            Some(found) if found.is_empty() => writeln!(out, "{NOTHING_FOUND}")?,
            Some(found) => finds::text(&mut out, found)?,
            None => {
                for (filter, what) in FILTERS {
                    writeln!(out, "  {filter:<24}  {what}")?;
                }
            }
        }
        if let Some(older) = self.older() {
            writeln!(out, "\nMore: {older}")?;
        }
        Ok(out)
    }
}

/// What this site is, and who refers to a record or an account.
#[derive(Debug, Serialize)]
pub(crate) struct AboutView<'a> {
    /// As it was asked.
    pub(crate) uri: &'a str,
    /// What is meant by it: an at-uri or a DID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// Why it was not answered, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
    /// The turns that refer to it; none if nothing was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<Vec<FindView<'a>>>,
    /// Where it goes on, if it does: the value of `after` that asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

#[derive(Template)]
#[template(path = "about.html")]
struct AboutPage<'a> {
    frame: Frame<'a>,
    view: &'a AboutView<'a>,
    rows: Vec<FindRow<'a>>,
    older: Option<String>,
    what: &'static str,
    not_discussed: &'static str,
}

impl AboutPage<'_> {
    /// The page in another format.
    fn format(&self, suffix: &str) -> String {
        asking(&format!("/about.{suffix}"), &[("uri", self.view.uri)])
    }

    /// Where what is meant can be looked at.
    fn target_link(&self) -> Option<String> {
        let target = self.view.target.as_deref()?;
        Some(if target.starts_with("did:") {
            format!("https://bsky.app/profile/{target}")
        } else {
            record_link(target).into_owned()
        })
    }
}

/// That nobody refers to it, and how to go on.
const NOT_DISCUSSED: &str = "No turn on record here refers to this. Turns refer to the version they were about, so a record may have \
                             been written anew; who refers to its account is found by the account's DID.";

impl Rendered for AboutView<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        let feed = self.target.as_deref().map(|target| of_search(&Search::about(target)));
        let page = AboutPage {
            frame: Frame::of_site(host).with_feed(feed).with_site_card(None),
            view: self,
            rows: self.found.as_deref().map(finds::rows).unwrap_or_default(),
            older: self.next.as_ref().map(|next| asking("/about", &[("uri", self.uri), ("after", next)])),
            what: super::home::WHAT,
            not_discussed: NOT_DISCUSSED,
        };
        Ok(page.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "# {}\n", self.heading())?;
        match (&self.found, &self.refused) {
            (Some(found), _) => {
                writeln!(out, "{}\n", Escaped(self.target.as_deref().unwrap_or(self.uri)))?;
                finds::markdown(&mut out, found)?;
                if found.is_empty() {
                    writeln!(out, "{NOT_DISCUSSED}")?;
                }
            }
            (None, Some(refused)) => writeln!(out, "{}", Escaped(refused))?,
            (None, None) => writeln!(out, "{}", super::home::WHAT)?,
        }
        more(&mut out, self.next.as_deref())?;
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "{}\n", self.heading())?;
        match (&self.found, &self.refused) {
            (Some(found), _) => {
                writeln!(out, "{}", one_line(self.target.as_deref().unwrap_or(self.uri)))?;
                finds::text(&mut out, found)?;
                if found.is_empty() {
                    writeln!(out, "{NOT_DISCUSSED}")?;
                }
            }
            (None, Some(refused)) => writeln!(out, "{}", one_line(refused))?,
            (None, None) => writeln!(out, "{}", super::home::WHAT)?,
        }
        more(&mut out, self.next.as_deref())?;
        Ok(out)
    }
}

impl AboutView<'_> {
    fn heading(&self) -> &'static str {
        if self.found.is_some() || self.refused.is_some() { "Who discussed this" } else { "About this site" }
    }
}
