//! Models and tools, and the turns of one.

use std::{borrow::Cow, fmt::Write as _};

use askama::Template;
use onrecord_index::{Name, NameOf, Search};
use serde::Serialize;

use super::{
    document::{Code, Escaped, one_line},
    finds::{self, FindRow},
    frame::Frame,
    link::{Grouped, asking, counted, named},
    list::more,
    rendered::Rendered,
};
use crate::{Error, Host, feed::of_search, html::Line, model_name, search_words::question, view::FindView};

/// How many names a page lists.
pub(crate) const NAMES: u32 = 500;

/// Models or tools, the most used first.
#[derive(Debug, Serialize)]
pub(crate) struct NamesView<'a> {
    /// What is listed.
    pub(crate) of: NameOf,
    /// Each with how many turns or calls, and conversations, there are.
    pub(crate) names: &'a [Name],
}

/// A kind of names in words.
struct Words {
    heading: &'static str,
    folder: &'static str,
    filter: &'static str,
    what: &'static str,
    one: &'static str,
    many: &'static str,
}

fn words(of: NameOf) -> Words {
    match of {
        NameOf::Model => Words {
            heading: "Models",
            folder: "/model",
            filter: "model",
            what: "The models that speak in what is on record here, as their agents name them.",
            one: "turn",
            many: "turns",
        },
        NameOf::Tool => Words {
            heading: "Tools",
            folder: "/tool",
            filter: "tool",
            what: "The tools that were called in what is on record here, as their agents name them.",
            one: "call",
            many: "calls",
        },
    }
}

struct NameRow<'a> {
    href: String,
    name: Line<Cow<'a, str>>,
    /// As records have it, where that says more.
    id: Option<Line<&'a str>>,
    count: Grouped,
    conversations: Grouped,
}

#[derive(Template)]
#[template(path = "names.html")]
struct NamesPage<'a> {
    frame: Frame<'a>,
    words: Words,
    is_models: bool,
    rows: Vec<NameRow<'a>>,
    is_cut: bool,
}

impl Rendered for NamesView<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        let words = words(self.of);
        let is_models = self.of == NameOf::Model;
        let rows = self.names.iter().map(|name| {
            let plain = if is_models { model_name(&name.name) } else { Cow::Borrowed(name.name.as_str()) };
            NameRow {
                href: named(words.folder, &name.name),
                id: (plain != name.name).then_some(Line(name.name.as_str())),
                name: Line(plain),
                count: Grouped(name.count),
                conversations: Grouped(name.conversations),
            }
        });
        let rows = rows.collect();
        let path = if is_models { "/models" } else { "/tools" };
        let is_cut = self.names.len() >= NAMES as usize;
        Ok(NamesPage { frame: Frame::of_site(host).with_site_card(Some(path)), words, is_models, rows, is_cut }
            .render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let words = words(self.of);
        let mut out = String::new();
        writeln!(out, "# {}\n\n{}\n", words.heading, words.what)?;
        for name in self.names {
            let count = counted(name.count, words.one, words.many);
            let conversations = counted(name.conversations, "conversation", "conversations");
            writeln!(out, "- {}: {count} in {conversations}", Code(&name.name))?;
        }
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let words = words(self.of);
        let mut out = String::new();
        writeln!(out, "{}\n\n{}\n", words.heading, words.what)?;
        for name in self.names {
            writeln!(
                out,
                "{:>9} {:>9}  {}",
                Grouped(name.count).to_string(),
                Grouped(name.conversations).to_string(),
                one_line(&name.name)
            )?;
        }
        Ok(out)
    }
}

/// What finds the turns of a model or of a tool.
pub(crate) fn search_for(of: NameOf, name: &str) -> Search {
    let name = Some(name.to_owned());
    match of {
        NameOf::Model => Search { model: name, ..Search::default() },
        NameOf::Tool => Search { tool: name, ..Search::default() },
    }
}

/// One model or tool, and the newest turns of it.
#[derive(Debug, Serialize)]
pub(crate) struct NamedView<'a> {
    /// What it is.
    pub(crate) of: NameOf,
    /// As records have it.
    pub(crate) name: &'a str,
    /// How many turns or calls; none where it is not among the most used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) counted: Option<&'a Name>,
    /// Its turns, the newest first.
    pub(crate) found: Vec<FindView<'a>>,
    /// Where they go on, if they do: the value of `after` that asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

#[derive(Template)]
#[template(path = "named.html")]
struct NamedPage<'a> {
    frame: Frame<'a>,
    view: &'a NamedView<'a>,
    words: Words,
    plain: Cow<'a, str>,
    tally: Option<String>,
    rows: Vec<FindRow<'a>>,
    older: Option<String>,
    search: String,
    path: String,
}

impl NamedPage<'_> {
    fn heading(&self) -> Line<&str> {
        Line(&self.plain)
    }

    fn id(&self) -> Option<Line<&str>> {
        (self.plain != self.view.name).then_some(Line(self.view.name))
    }
}

impl NamedView<'_> {
    fn plain(&self) -> Cow<'_, str> {
        if self.of == NameOf::Model { model_name(self.name) } else { Cow::Borrowed(self.name) }
    }

    fn tally(&self) -> Option<String> {
        let (name, words) = (self.counted?, words(self.of));
        let conversations = counted(name.conversations, "conversation", "conversations");
        Some(format!("{} in {conversations}", counted(name.count, words.one, words.many)))
    }
}

impl Rendered for NamedView<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        let words = words(self.of);
        let path = named(words.folder, self.name);
        let search = search_for(self.of, self.name);
        let page = NamedPage {
            frame: Frame::of_site(host).with_feed(Some(of_search(&search))).with_site_card(None),
            view: self,
            plain: self.plain(),
            tally: self.tally(),
            rows: finds::rows(&self.found),
            older: self.next.as_ref().map(|next| asking(&path, &[("after", next)])),
            search: asking("/search", &[("q", &(question(&search) + " "))]),
            words,
            path,
        };
        Ok(page.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "# {}\n", Escaped(&self.plain()))?;
        writeln!(out, "{}\n", Code(self.name))?;
        if let Some(tally) = self.tally() {
            writeln!(out, "{tally}\n")?;
        }
        finds::markdown(&mut out, &self.found)?;
        more(&mut out, self.next.as_deref())?;
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = String::new();
        writeln!(out, "{}\n{}", one_line(&self.plain()), one_line(self.name))?;
        if let Some(tally) = self.tally() {
            writeln!(out, "{tally}")?;
        }
        finds::text(&mut out, &self.found)?;
        more(&mut out, self.next.as_deref())?;
        Ok(out)
    }
}
