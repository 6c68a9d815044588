//! Where a page stands, and so how it links to its neighbours.

use crate::{Host, style_path};

/// How many records a page shows; a longer conversation is cut into pages.
pub const TURNS_PER_PAGE: usize = 200;

/// Where pages stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// On a site; `path` is the path of the conversation without suffix, as asked for.
    Site {
        /// E.g. `/@dana.example/3mf2k5aaaaa22`.
        path: &'a str,
        /// What the site says of itself.
        host: &'a Host,
    },
    /// In a folder of files; `stem` is the name of the conversation's files without suffix.
    Folder {
        /// E.g. `3mf2k5aaaaa22`.
        stem: &'a str,
    },
    /// Nowhere: one document with its style in it and no neighbours.
    Alone,
}

impl Place<'_> {
    /// The list of conversations.
    pub(crate) fn home(&self) -> Option<&'static str> {
        match self {
            Self::Site { .. } => Some("/"),
            Self::Folder { .. } => Some("index.html"),
            Self::Alone => None,
        }
    }

    /// The stylesheet's address; `None` where it stands in the document.
    pub(crate) fn style(&self) -> Option<String> {
        match self {
            Self::Site { .. } => Some(style_path()),
            Self::Folder { .. } => Some("style.css".to_owned()),
            Self::Alone => None,
        }
    }

    /// Whether there are other pages and formats to link to.
    pub(crate) fn has_neighbours(&self) -> bool {
        *self != Self::Alone
    }

    /// The whole conversation in another format, e.g. `json`.
    pub(crate) fn format(&self, suffix: &str) -> String {
        match self {
            Self::Site { path, .. } => format!("{path}.{suffix}"),
            Self::Folder { stem } => format!("{stem}.{suffix}"),
            Self::Alone => String::new(),
        }
    }

    /// Page `page` of the conversation, from 1.
    pub(crate) fn page(&self, page: usize) -> String {
        match (self, page) {
            (Self::Site { path, .. }, 1) => (*path).to_owned(),
            (Self::Site { path, .. }, page) => format!("{path}?page={page}"),
            (Self::Folder { stem }, 1) => format!("{stem}.html"),
            (Self::Folder { stem }, page) => format!("{stem}.p{page}.html"),
            (Self::Alone, _) => String::new(),
        }
    }

    /// Where a reader sees what became of the `index`-th reference of a turn, where that can be looked up.
    pub(crate) fn reference(&self, rkey: &str, index: &usize) -> Option<String> {
        match self {
            Self::Site { path, host } if host.is_live => Some(format!("{path}/{rkey}/about/{index}")),
            _ => None,
        }
    }

    /// Where a reader has the signature checked, where that can be done.
    pub(crate) fn verification(&self) -> Option<String> {
        match self {
            Self::Site { path, host } if host.is_live => Some(format!("{path}/verify")),
            _ => None,
        }
    }

    /// The path of the conversation on a site, else nothing.
    pub(crate) fn path(&self) -> &str {
        if let Self::Site { path, .. } = self { path } else { "" }
    }

    /// All of the conversation on one page, where there is such a page.
    pub(crate) fn whole(&self) -> Option<String> {
        match self {
            Self::Site { path, .. } => Some(format!("{path}?page=all")),
            Self::Folder { .. } | Self::Alone => None,
        }
    }
}

/// How many pages `records` records make; an empty conversation has one.
pub(crate) fn page_count(records: usize) -> usize {
    records.div_ceil(TURNS_PER_PAGE).max(1)
}

/// On which page the record at `index` stands.
pub(crate) fn page_of(index: usize) -> usize {
    index / TURNS_PER_PAGE + 1
}
