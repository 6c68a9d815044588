//! The list of conversations.

use std::borrow::Cow;

use askama::Template;

use super::{
    Place,
    conversation::{and, turns_and_withheld},
    frame::Frame,
    rendered::Rendered,
};
use crate::{Error, Host, ListEntry, ListView, Standing, html::Line, moment::Moment, path_in};

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage<'a> {
    frame: Frame<'a>,
    view: &'a ListView<'a>,
    rows: Vec<ListRow<'a>>,
    /// The address of this list, without its suffix.
    path: &'a str,
    /// Whether this is a folder of files.
    folder: bool,
    /// Whether it is of what has not gone out.
    preview: bool,
}

impl ListPage<'_> {
    /// The list in another format.
    fn index(&self, suffix: &str) -> String {
        format!("{}/index.{suffix}", self.path.trim_end_matches('/'))
    }
}

struct ListRow<'a> {
    href: String,
    entry: &'a ListEntry,
    author: Cow<'a, str>,
    title: Line<&'a str>,
    moment: Moment<'a>,
    tally: String,
    models: String,
}

/// The list of conversations. In a folder every entry's files are named after its key.
pub fn list_html(view: &ListView<'_>, place: Place<'_>) -> Result<String, Error> {
    let folder = matches!(place, Place::Folder { .. });
    let path = if let Place::Site { path, .. } = place { path } else { "" };
    let rows = view
        .conversations
        .iter()
        .map(|entry| ListRow {
            href: if folder {
                format!("{}.html", entry.rkey)
            } else {
                path_in(&entry.repo, entry.handle.as_deref(), &entry.collection, &entry.rkey)
            },
            entry,
            author: entry.handle.as_ref().map_or(Cow::Borrowed(""), |handle| Cow::Owned(format!("@{handle}"))),
            title: Line(&entry.title),
            moment: Moment::read(&entry.created_at),
            // Nothing that was counted is not the same as nothing that can be counted.
            tally: if entry.encrypted {
                "its link opens it".to_owned()
            } else {
                turns_and_withheld(entry.turns, entry.withheld)
            },
            models: and(&entry.models.iter().map(String::as_str).collect::<Vec<_>>()),
        })
        .collect();
    let preview = view.conversations.iter().any(|entry| entry.standing == Standing::Preview);
    Ok(ListPage { frame: Frame::new(place), view, rows, path, folder, preview }.render()?)
}

/// A list on a site, at its address.
pub(crate) struct ListAt<'a> {
    pub(crate) view: ListView<'a>,
    pub(crate) path: &'a str,
}

impl serde::Serialize for ListAt<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.view.serialize(s)
    }
}

impl Rendered for ListAt<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        list_html(&self.view, Place::Site { path: self.path, host })
    }

    fn markdown(&self) -> Result<String, Error> {
        super::document::list_markdown(&self.view)
    }

    fn text(&self) -> Result<String, Error> {
        super::document::list_text(&self.view)
    }
}
