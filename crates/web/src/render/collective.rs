//! A collective: whom it vouches for, and their conversations.

use std::fmt::Write as _;

use askama::Template;
use serde::Serialize;

use super::{
    author::called,
    document::{Escaped, one_line},
    elsewhere::Elsewhere,
    frame::Frame,
    link::{asking, counted},
    list::{self, ListRow},
    rendered::Rendered,
};
use crate::{Error, Host, ListEntry, feed::of_members, html::Line, moment::Moment, path_of_account, view::Author};

/// A collective, its members and their conversations.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CollectiveView<'a> {
    /// Who vouches.
    pub(crate) author: Author<'a>,
    /// For whom, as far as they are listed here.
    pub(crate) members: Vec<MemberView<'a>>,
    /// How many members there are in all.
    pub(crate) member_count: usize,
    /// What they put on record last.
    pub(crate) conversations: &'a [ListEntry],
    /// Where the list goes on, if it does: the value of `after` that asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// The collective's address on this site.
    #[serde(skip)]
    pub(crate) path: &'a str,
}

/// A member of a collective.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemberView<'a> {
    /// Who it is, as far as the index knows.
    #[serde(flatten)]
    pub(crate) author: Author<'a>,
    /// When the collective took it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) added_at: Option<&'a str>,
}

impl<'a> MemberView<'a> {
    fn href(&self) -> String {
        path_of_account(self.author.did, self.author.handle)
    }

    fn name(&self) -> Line<std::borrow::Cow<'a, str>> {
        Line(called(&self.author))
    }

    /// The handle, where the name does not say it.
    fn handle(&self) -> Option<&'a str> {
        self.author.handle.filter(|_| self.author.display_name.is_some())
    }

    fn since(&self) -> Option<String> {
        Some(Moment::read(self.added_at?).day().to_string())
    }
}

#[derive(Template)]
#[template(path = "collective.html")]
struct Page<'a> {
    frame: Frame<'a>,
    view: &'a CollectiveView<'a>,
    rows: Vec<ListRow<'a>>,
    older: Option<String>,
}

impl Page<'_> {
    fn title(&self) -> String {
        format!("Members of {}", called(&self.view.author))
    }

    fn name(&self) -> Line<std::borrow::Cow<'_, str>> {
        Line(called(&self.view.author))
    }

    fn tally(&self) -> String {
        members(self.view.member_count)
    }

    /// How many members are not listed.
    fn others(&self) -> usize {
        self.view.member_count.saturating_sub(self.view.members.len())
    }
}

fn members(count: usize) -> String {
    counted(u64::try_from(count).unwrap_or(u64::MAX), "member", "members")
}

impl Rendered for CollectiveView<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        let path = format!("{}/members", self.path);
        let page = Page {
            frame: Frame::of_site(host)
                .with_feed(Some(of_members(self.author.did, self.author.handle)))
                .with_elsewhere(Elsewhere::of_account(host, None, self.author.did, &called(&self.author))),
            view: self,
            rows: list::rows(self.conversations, true),
            older: self.next.as_ref().map(|next| asking(&path, &[("after", next)])),
        };
        Ok(page.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "# Members of {}\n\n{}\n", Escaped(&called(&self.author)), members(self.member_count))?;
        for member in &self.members {
            writeln!(out, "- [{}]({})", Escaped(&called(&member.author)), member.href())?;
        }
        out.push('\n');
        list::markdown(&mut out, self.conversations)?;
        list::more(&mut out, self.next.as_deref())?;
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "Members of {}\n\n{}\n", one_line(&called(&self.author)), members(self.member_count))?;
        for member in &self.members {
            writeln!(out, "  {}  {}", one_line(&called(&member.author)), member.href())?;
        }
        list::text(&mut out, self.conversations)?;
        list::more(&mut out, self.next.as_deref())?;
        Ok(out)
    }
}
