//! Atom feeds of what the index has: all, one author's, a collective's, and what a search finds (RFC 4287, RFC 5005).
//!
//! An entry says what a list says of a conversation, or the passage that was found, and nothing that its author held back. What
//! is taken back is in no feed any more: Atom has no word for it that readers know.

mod service;
mod xml;

use std::fmt::{self, Write as _};

use jiff::Timestamp;
use onrecord_index::{Address, Author, ConversationHead, Hit, Search};
use onrecord_lexicon::{Datetime, Handle};

use crate::{
    model_name, path_in, path_of_account,
    render::{asking, counted},
};

use xml::Escaped;

pub use service::router;

/// The media type.
pub const ATOM: &str = "application/atom+xml; charset=utf-8";

/// What a feed is of. Paths begin with a slash.
#[derive(Debug, Clone)]
pub struct Feed<'a> {
    /// Where the site is reached, without a slash at its end.
    pub base: &'a str,
    /// Its title.
    pub title: String,
    /// Its own path, the query included.
    pub path: String,
    /// That of its first page, which is what the feed is known by.
    pub first: String,
    /// That of the page for people.
    pub page: String,
    /// That of the next page, which has what is older, if there is more.
    pub next: Option<String>,
}

/// One entry.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The at-uri of the record, by which the entry is known wherever it turns up, written as an IRI.
    iri: String,
    title: String,
    updated: Datetime,
    author: Author,
    summary: String,
    /// Path of the page.
    page: String,
}

impl Entry {
    /// A conversation.
    #[must_use]
    pub fn of_conversation(head: &ConversationHead) -> Self {
        let title = head.title.as_deref().or(head.opening.as_deref());
        Self {
            iri: iri(&head.address),
            title: title.unwrap_or("(no opening message)").to_owned(),
            updated: datetime(head.published_us / 1000),
            author: head.author.clone(),
            summary: summary(head),
            page: path_to(&head.address, head.author.handle.as_ref()),
        }
    }

    /// Something that was found.
    #[must_use]
    pub fn of_hit(hit: &Hit) -> Self {
        let passage = hit.snippet.as_ref().map(|snippet| {
            let text: String = snippet.parts.iter().map(|part| part.text.as_str()).collect();
            let cut = |is_cut| if is_cut { "…" } else { "" };
            format!("{}{text}{}", cut(snippet.cut_before), cut(snippet.cut_after))
        });
        let held_back = "Held back by its author.";
        let page = hit.conversation.as_ref().filter(|conversation| **conversation != hit.address);
        Self {
            iri: iri(&hit.address),
            title: hit.title.clone().unwrap_or_else(|| "(no title)".to_owned()),
            updated: datetime(hit.at_ms),
            author: hit.author.clone(),
            summary: if hit.withheld { held_back.to_owned() } else { passage.unwrap_or_default() },
            page: match page {
                Some(conversation) => {
                    let path = path_to(conversation, hit.author.handle.as_ref());
                    format!("{path}#{}", hit.address.rkey)
                }
                None => path_to(&hit.address, hit.author.handle.as_ref()),
            },
        }
    }
}

/// An at-uri as Atom wants its names: in an IRI no colons stand in an authority (RFC 3986, section 3.2.2).
fn iri(address: &Address) -> String {
    let did = address.did.as_str().replace('%', "%25").replace(':', "%3A");
    format!("at://{did}/{}/{}", address.collection, address.rkey)
}

/// Path of the page of a record.
fn path_to(address: &Address, handle: Option<&Handle>) -> String {
    path_in(address.did.as_str(), handle.map(Handle::as_str), address.collection.as_str(), address.rkey.as_str())
}

/// How much there is, in words.
fn summary(head: &ConversationHead) -> String {
    let mut summary = counted(head.turns, "turn", "turns");
    if head.withheld > 0 {
        let _ = write!(summary, ", {} withheld", head.withheld);
    }
    if head.failed > 0 {
        let _ = write!(summary, ", {}", counted(head.failed, "failed tool call", "failed tool calls"));
    }
    for (n, model) in head.models.iter().enumerate() {
        let _ = write!(summary, "{}{}", if n == 0 { ". With " } else { ", " }, model_name(model));
    }
    summary.push('.');
    summary
}

fn datetime(ms: i64) -> Datetime {
    Datetime::from_timestamp(Timestamp::from_millisecond(ms).unwrap_or_default())
}

/// Path of the feed of everything.
pub(crate) const OF_ALL: &str = "/feed.atom";

/// Path of the feed of an account's conversations.
pub(crate) fn of_account(did: &str, handle: Option<&str>) -> String {
    format!("/@{}/feed.atom", handle.map_or_else(|| did.replace('%', "%25"), str::to_owned))
}

/// Path of the feed of what the members of an account put on record.
pub(crate) fn of_members(did: &str, handle: Option<&str>) -> String {
    format!("/@{}/members/feed.atom", handle.map_or_else(|| did.replace('%', "%25"), str::to_owned))
}

/// Path of the feed of what a search finds: `dev.onrecord.searchTurns` by its parameters.
pub(crate) fn of_search(search: &Search) -> String {
    let time = |ms: Option<i64>| ms.map(|ms| datetime(ms).to_string()).unwrap_or_default();
    let is = |is: bool| if is { "true" } else { "" };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (since, until) = (time(search.after_ms), time(search.before_ms));
    let author = search.author.as_ref().map(ToString::to_string).unwrap_or_default();
    let (model, tool, harness) = (text(&search.model), text(&search.tool), text(&search.harness));
    asking(
        "/search.atom",
        &[
            ("q", search.text.as_str()),
            ("author", author.as_str()),
            ("model", model.as_str()),
            ("tool", tool.as_str()),
            ("harness", harness.as_str()),
            ("since", since.as_str()),
            ("until", until.as_str()),
            ("withheld", is(search.withheld)),
            ("failed", is(search.failed)),
            ("about", search.about.as_deref().unwrap_or_default()),
        ],
    )
}

/// The feed as a document.
#[must_use]
pub fn atom(feed: &Feed<'_>, entries: &[Entry]) -> String {
    let mut out = String::with_capacity(1_000 + entries.len() * 1_000);
    // Writing to a string cannot fail.
    let _ = write(&mut out, feed, entries);
    out
}

fn write(w: &mut String, feed: &Feed<'_>, entries: &[Entry]) -> fmt::Result {
    let base = Escaped(feed.base);
    w.write_str("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n")?;
    writeln!(w, "<id>{base}{}</id>", Escaped(&feed.first))?;
    writeln!(w, "<title>{}</title>", Escaped(&feed.title))?;
    // A feed of nothing has never been changed.
    let updated = entries.iter().map(|entry| &entry.updated).max().map_or("1970-01-01T00:00:00.000Z", Datetime::as_str);
    writeln!(w, "<updated>{}</updated>", Escaped(updated))?;
    writeln!(w, "<generator version=\"{}\">onrecord</generator>", env!("CARGO_PKG_VERSION"))?;
    let links = [
        ("self", "application/atom+xml", Some(&feed.path)),
        ("alternate", "text/html", Some(&feed.page)),
        ("first", "application/atom+xml", feed.next.as_ref().map(|_| &feed.first)),
        ("next", "application/atom+xml", feed.next.as_ref()),
    ];
    for (rel, kind, path) in links {
        if let Some(path) = path {
            writeln!(w, "<link rel=\"{rel}\" type=\"{kind}\" href=\"{base}{}\"/>", Escaped(path))?;
        }
    }
    for entry in entries {
        writeln!(w, "<entry>\n<id>{}</id>", Escaped(&entry.iri))?;
        writeln!(w, "<title>{}</title>", Escaped(&entry.title))?;
        writeln!(w, "<updated>{0}</updated>\n<published>{0}</published>", Escaped(entry.updated.as_str()))?;
        let (name, page) = author(&entry.author);
        writeln!(w, "<author><name>{}</name><uri>{base}{}</uri></author>", Escaped(&name), Escaped(&page))?;
        writeln!(w, "<link rel=\"alternate\" type=\"text/html\" href=\"{base}{}\"/>", Escaped(&entry.page))?;
        writeln!(w, "<link rel=\"related\" href=\"{}\"/>", Escaped(&entry.iri))?;
        writeln!(w, "<summary>{}</summary>\n</entry>", Escaped(&entry.summary))?;
    }
    w.write_str("</feed>\n")
}

/// An author's name for people, and the path of their page.
fn author(author: &Author) -> (String, String) {
    let page = path_of_account(author.did.as_str(), author.handle.as_ref().map(Handle::as_str));
    let name = author.profile.display_name.clone();
    let name = name.or_else(|| author.handle.as_ref().map(|handle| format!("@{handle}")));
    (name.unwrap_or_else(|| author.did.to_string()), page)
}

#[cfg(test)]
mod tests;
