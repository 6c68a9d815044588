//! The first page.

use std::fmt::Write as _;

use askama::Template;
use serde::Serialize;

use super::{
    frame::Frame,
    link::asking,
    list::{self, ListRow},
    rendered::Rendered,
};
use crate::{Error, Host, ListEntry, feed::OF_ALL};

/// What was put on record last.
#[derive(Debug, Serialize)]
pub(crate) struct HomeView<'a> {
    /// The conversations.
    pub(crate) conversations: &'a [ListEntry],
    /// Where the list goes on, if it does: the value of `after` that asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// Whether the list begins here.
    #[serde(skip)]
    pub(crate) is_first: bool,
    /// Whether there is something to search.
    #[serde(skip)]
    pub(crate) has_index: bool,
    /// Whether this machine's own records are shown.
    #[serde(skip)]
    pub(crate) has_own: bool,
}

#[derive(Template)]
#[template(path = "home.html")]
struct Page<'a> {
    frame: Frame<'a>,
    view: &'a HomeView<'a>,
    rows: Vec<ListRow<'a>>,
    older: Option<String>,
    /// What stands in the search box.
    question: &'a str,
    what: &'static str,
}

/// What this is, in plain words.
pub(super) const WHAT: &str = "Conversations that people had with AI agents and put on record: what was asked, what was answered, \
                               which tools were called and which failed. Each turn is a record in its author's own repository. What \
                               an author held back is shown as held back.";

impl Rendered for HomeView<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        let older = self.next.as_ref().map(|next| asking("/", &[("after", next)]));
        let rows = list::rows(self.conversations, true);
        let frame = Frame::of_site(host)
            .with_feed(self.has_index.then(|| OF_ALL.to_owned()))
            .with_site_card(self.is_first.then_some("/"));
        Ok(Page { frame, view: self, rows, older, question: "", what: WHAT }.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let mut out = String::from("# Conversations\n\n");
        writeln!(out, "{WHAT}\n")?;
        list::markdown(&mut out, self.conversations)?;
        list::more(&mut out, self.next.as_deref())?;
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = String::from("Conversations\n\n");
        writeln!(out, "{WHAT}")?;
        list::text(&mut out, self.conversations)?;
        list::more(&mut out, self.next.as_deref())?;
        Ok(out)
    }
}
