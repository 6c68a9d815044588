//! Atom feeds of what the index has: all, one author's, a collective's, and what a search finds (RFC 4287, RFC 5005).
//!
//! An entry says what a list says of a conversation, or the passage that was found, and nothing that its author held back. What
//! is taken back is in no feed any more: Atom has no word for it that readers know.

mod service;
mod xml;

use std::fmt::{self, Write as _};

use jiff::Timestamp;
use onrecord_index::{Address, Author, ConversationHead, Hit};
use onrecord_lexicon::{Datetime, Handle};
use onrecord_record::Family;

use crate::{model_name, path_of};

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
    /// The at-uri of the record, by which the entry is known wherever it turns up.
    uri: String,
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
            uri: head.address.uri(),
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
            uri: hit.address.uri(),
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

/// Path of the page of a record.
fn path_to(address: &Address, handle: Option<&Handle>) -> String {
    let (did, rkey) = (address.did.as_str(), address.rkey.as_str());
    match Family::ALL.into_iter().find(|family| family.collection() == address.collection.as_str()) {
        Some(family) => path_of(did, handle.map(Handle::as_str), family, rkey),
        None => format!("/at/{}/{}/{rkey}", did.replace('%', "%25"), address.collection),
    }
}

/// How much there is, in words.
fn summary(head: &ConversationHead) -> String {
    let mut summary = counted(head.turns, "turn");
    for (count, what) in [(head.withheld, "withheld"), (head.failed, "failed")] {
        let word = if what == "failed" { counted(count, "failed tool call") } else { format!("{count} {what}") };
        if count > 0 {
            let _ = write!(summary, ", {word}");
        }
    }
    for (n, model) in head.models.iter().enumerate() {
        let _ = write!(summary, "{}{}", if n == 0 { ". With " } else { ", " }, model_name(model));
    }
    summary.push('.');
    summary
}

fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn datetime(ms: i64) -> Datetime {
    Datetime::from_timestamp(Timestamp::from_millisecond(ms).unwrap_or_default())
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
        writeln!(w, "<entry>\n<id>{}</id>", Escaped(&entry.uri))?;
        writeln!(w, "<title>{}</title>", Escaped(&entry.title))?;
        writeln!(w, "<updated>{0}</updated>\n<published>{0}</published>", Escaped(entry.updated.as_str()))?;
        let (name, page) = author(&entry.author);
        writeln!(w, "<author><name>{}</name><uri>{base}{}</uri></author>", Escaped(&name), Escaped(&page))?;
        writeln!(w, "<link rel=\"alternate\" type=\"text/html\" href=\"{base}{}\"/>", Escaped(&entry.page))?;
        writeln!(w, "<link rel=\"related\" href=\"{}\"/>", Escaped(&entry.uri))?;
        writeln!(w, "<summary>{}</summary>\n</entry>", Escaped(&entry.summary))?;
    }
    w.write_str("</feed>\n")
}

/// An author's name for people, and the path of their page.
fn author(author: &Author) -> (String, String) {
    let page = author
        .handle
        .as_ref()
        .map_or_else(|| format!("/at/{}", author.did.as_str().replace('%', "%25")), |h| format!("/@{h}"));
    let name = author.profile.display_name.clone();
    let name = name.or_else(|| author.handle.as_ref().map(|handle| format!("@{handle}")));
    (name.unwrap_or_else(|| author.did.to_string()), page)
}

#[cfg(test)]
mod tests;
