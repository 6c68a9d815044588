//! Lists of conversations.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use askama::Template;

use super::{
    Place,
    conversation::{and, turns_and_withheld},
    document::{Escaped, one_line},
    frame::Frame,
};
use crate::{Error, ListEntry, ListView, Standing, html::Line, marks::with_few_marks, moment::Moment, path_in};

/// The index of a folder of files.
#[derive(Template)]
#[template(path = "list.html")]
struct ListPage<'a> {
    frame: Frame<'a>,
    rows: Vec<ListRow<'a>>,
    /// Whether it is of what has not gone out.
    preview: bool,
}

/// An entry of a list as a page shows it.
pub(super) struct ListRow<'a> {
    pub(super) href: String,
    pub(super) author: Cow<'a, str>,
    pub(super) title: Line<&'a str>,
    pub(super) moment: Moment<'a>,
    pub(super) tally: String,
    pub(super) models: String,
    /// Whether it is on this machine's shelf, and nowhere else.
    pub(super) on_shelf: bool,
}

/// The rows of a list on a site. Where all are of one author, it goes without saying.
pub(super) fn rows(entries: &[ListEntry], says_whose: bool) -> Vec<ListRow<'_>> {
    entries
        .iter()
        .map(|entry| {
            let href = path_in(&entry.repo, entry.handle.as_deref(), &entry.collection, &entry.rkey);
            row(entry, href, says_whose)
        })
        .collect()
}

fn row(entry: &ListEntry, href: String, says_whose: bool) -> ListRow<'_> {
    let handle = entry.handle.as_ref().filter(|_| says_whose);
    ListRow {
        href,
        author: handle.map_or(Cow::Borrowed(""), |handle| Cow::Owned(format!("@{handle}"))),
        title: Line(&entry.title),
        moment: Moment::read(&entry.created_at),
        // Nothing that was counted is not the same as nothing that can be counted.
        tally: if entry.encrypted {
            "its link opens it".to_owned()
        } else {
            turns_and_withheld(entry.turns, entry.withheld)
        },
        models: and(&entry.models.iter().map(String::as_str).collect::<Vec<_>>()),
        on_shelf: entry.standing == Standing::Shelf,
    }
}

/// The list of conversations of a folder, where every entry's files are named after its key; elsewhere, of their pages.
pub fn list_html(view: &ListView<'_>, place: Place<'_>) -> Result<String, Error> {
    let is_folder = matches!(place, Place::Folder { .. });
    let rows = if is_folder {
        view.conversations.iter().map(|entry| row(entry, format!("{}.html", entry.rkey), true)).collect()
    } else {
        rows(view.conversations, true)
    };
    let preview = view.conversations.iter().any(|entry| entry.standing == Standing::Preview);
    Ok(with_few_marks(ListPage { frame: Frame::new(place), rows, preview }.render()?))
}

/// Entries as a Markdown list.
pub(super) fn markdown(out: &mut String, entries: &[ListEntry]) -> fmt::Result {
    for entry in entries {
        let (path, line) = list_line(entry);
        writeln!(out, "- [{}]({path}): {}", Escaped(&entry.title), Escaped(&line))?;
    }
    Ok(())
}

/// Entries as plain text.
pub(super) fn text(out: &mut String, entries: &[ListEntry]) -> fmt::Result {
    for entry in entries {
        let (path, line) = list_line(entry);
        writeln!(out, "\n{}\n  {}\n  {path}", one_line(&entry.title), one_line(&line))?;
    }
    Ok(())
}

/// Where a list goes on.
pub(super) fn more(out: &mut String, next: Option<&str>) -> fmt::Result {
    match next {
        Some(next) => writeln!(out, "\nMore: {}", super::link::asking("", &[("after", next)])),
        None => Ok(()),
    }
}

/// Where an entry leads, and what it is.
fn list_line(entry: &ListEntry) -> (String, String) {
    let path = path_in(&entry.repo, entry.handle.as_deref(), &entry.collection, &entry.rkey);
    let author = entry.handle.as_ref().map_or_else(|| entry.repo.clone(), |handle| format!("@{handle}"));
    let tally = if entry.encrypted {
        "its link opens it".to_owned()
    } else {
        format!("{} turns, off the record: {}", entry.turns, entry.withheld)
    };
    let mut line = format!("{author}, {}, {tally}", Moment::read(&entry.created_at).day());
    if !entry.models.is_empty() {
        line.push_str(&format!(", {}", entry.models.join(", ")));
    }
    (path, line)
}
