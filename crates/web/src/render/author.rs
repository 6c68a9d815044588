//! The page of one account.

use std::{borrow::Cow, fmt::Write as _};

use askama::Template;
use serde::Serialize;

use super::{
    document::{Escaped, one_line},
    elsewhere::Elsewhere,
    frame::Frame,
    link::{asking, counted},
    list::{self, ListRow},
    rendered::Rendered,
};
use crate::{
    Error, Host, ListEntry,
    feed::of_account,
    html::{Line, Plain},
    view::{Author, first_line},
};

/// An account and its conversations.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthorView<'a> {
    /// Whose they are.
    pub(crate) author: Author<'a>,
    /// What the account says of itself in its profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    /// How many accounts it lists as members of a collective.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) members: usize,
    /// Its conversations.
    pub(crate) conversations: &'a [ListEntry],
    /// Where the list goes on, if it does: the value of `after` that asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// Whether the list begins here.
    #[serde(skip)]
    pub(crate) is_first: bool,
    /// Its address on this site.
    #[serde(skip)]
    pub(crate) path: &'a str,
    /// Whether there is something to search.
    #[serde(skip)]
    pub(crate) has_index: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

#[derive(Template)]
#[template(path = "author.html")]
struct Page<'a> {
    frame: Frame<'a>,
    view: &'a AuthorView<'a>,
    rows: Vec<ListRow<'a>>,
    older: Option<String>,
    search: String,
    members: String,
}

impl AuthorView<'_> {
    /// What the account calls itself, its handle, or its identifier.
    pub(super) fn called(&self) -> Cow<'_, str> {
        called(&self.author)
    }
}

/// What an account calls itself, its handle, or its identifier.
pub(super) fn called<'a>(author: &Author<'a>) -> Cow<'a, str> {
    match (author.display_name, author.handle) {
        (Some(name), _) => Cow::Borrowed(name),
        (None, Some(handle)) => Cow::Owned(format!("@{handle}")),
        (None, None) => Cow::Borrowed(author.did),
    }
}

impl Page<'_> {
    fn title(&self) -> Cow<'_, str> {
        self.view.called()
    }

    fn title_line(&self) -> Line<Cow<'_, str>> {
        Line(self.view.called())
    }

    fn description(&self) -> Option<Plain<'_>> {
        self.view.description.map(Plain)
    }

    /// For link cards.
    fn summary(&self) -> String {
        self.view
            .description
            .and_then(|text| first_line(text, 200))
            .map_or_else(|| format!("Conversations with AI agents by {}, on record.", self.title()), Cow::into_owned)
    }
}

impl Rendered for AuthorView<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        let who = self.author.handle.unwrap_or(self.author.did);
        let page = Page {
            frame: Frame::of_site(host)
                .with_feed(self.has_index.then(|| of_account(self.author.did, self.author.handle)))
                .with_elsewhere(Elsewhere::of_account(
                    host,
                    self.is_first.then_some(self.path),
                    self.author.did,
                    &self.called(),
                )),
            view: self,
            rows: list::rows(self.conversations, false),
            older: self.next.as_ref().map(|next| asking(self.path, &[("after", next)])),
            search: asking("/search", &[("q", &format!("author:{who} "))]),
            members: counted(u64::try_from(self.members).unwrap_or(u64::MAX), "member", "members"),
        };
        Ok(page.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "# {}\n", Escaped(&self.called()))?;
        for line in facts(&self.author) {
            writeln!(out, "- {}", Escaped(&line))?;
        }
        if let Some(description) = self.description {
            out.push('\n');
            for line in description.lines() {
                writeln!(out, "{}", format!("> {}", Escaped(line)).trim_end())?;
            }
        }
        if self.members > 0 {
            writeln!(out, "\n[Members]({}/members.md): {}", self.path, self.members)?;
        }
        out.push('\n');
        list::markdown(&mut out, self.conversations)?;
        list::more(&mut out, self.next.as_deref())?;
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "{}\n", one_line(&self.called()))?;
        for line in facts(&self.author) {
            writeln!(out, "{}", one_line(&line))?;
        }
        for line in self.description.unwrap_or_default().lines() {
            writeln!(out, "  {}", one_line(line))?;
        }
        if self.members > 0 {
            writeln!(out, "Members: {}, {}/members.txt", self.members, self.path)?;
        }
        list::text(&mut out, self.conversations)?;
        list::more(&mut out, self.next.as_deref())?;
        Ok(out)
    }
}

/// What is known of an account, a line each.
pub(super) fn facts(author: &Author<'_>) -> Vec<String> {
    let mut facts = vec![format!("Account: {}", author.did)];
    facts.extend(author.handle.map(|handle| format!("Handle: @{handle}")));
    facts.extend(author.automation.map(|automation| format!("It says of itself: {automation}")));
    facts
}
