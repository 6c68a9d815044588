//! The page of one turn.

use std::borrow::Cow;

use askama::Template;
use serde::Serialize;

use super::{
    Place,
    document::{HIDDEN, turns_markdown, turns_text},
    frame::Frame,
    page_of,
    rendered::Rendered,
};
use crate::{
    Error, Host, Standing,
    html::Line,
    view::{Continues, ConversationView, TurnView, first_line},
};

/// How much of a neighbour is shown, in graphemes.
const NEIGHBOUR_GRAPHEMES: usize = 96;

/// One turn of a conversation: its records, and who speaks before and after it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnPage<'a> {
    /// The conversation, with the turns that are shown.
    #[serde(flatten)]
    view: ConversationView<'a>,
    /// Number of the turn's first record in the conversation, from 1.
    position: usize,
    /// The turn before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<Neighbour<'a>>,
    /// The turn after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Neighbour<'a>>,
    /// Path of the conversation.
    #[serde(skip)]
    path: &'a str,
}

/// A turn beside the one that is shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Neighbour<'a> {
    rkey: &'a str,
    speaker: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Cow<'a, str>>,
    withheld: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
}

impl<'a> Neighbour<'a> {
    fn line(&self) -> Option<Line<&str>> {
        self.line.as_deref().map(Line)
    }
}

impl<'a> TurnPage<'a> {
    /// The page of the turn that the record `rkey` belongs to, which is among those of `view`; `path` is the path of the
    /// conversation.
    pub(crate) fn new(mut view: ConversationView<'a>, rkey: &str, path: &'a str) -> Option<Self> {
        let at = view.turns.iter().position(|turn| turn.rkey == rkey)?;
        let is_part = |turn: &TurnView<'_>| turn.continues == Continues::Turn;
        let first = (0..=at).rev().find(|n| !view.turns.get(*n).is_some_and(is_part)).unwrap_or(0);
        let end = (at + 1..view.turns.len()).find(|n| !view.turns.get(*n).is_some_and(is_part));
        let end = end.unwrap_or(view.turns.len());
        let neighbour = |n: usize| {
            view.turns.get(n).map(|turn| Neighbour {
                rkey: turn.rkey,
                speaker: turn.speaker(&view.author).into_owned(),
                line: first_line(turn.text, NEIGHBOUR_GRAPHEMES),
                withheld: turn.withheld,
                hidden: turn.hidden,
            })
        };
        let (previous, next) = (first.checked_sub(1).and_then(neighbour), neighbour(end));
        let before = view.part.map_or(0, |part| part.first - 1);
        view.turns.truncate(end);
        view.turns.drain(..first);
        if let Some(turn) = view.turns.first_mut() {
            // Alone, it says the day and who speaks.
            (turn.new_day, turn.continues) = (true, Continues::No);
        }
        Some(Self { view, position: before + first + 1, previous, next, path })
    }

    /// The path of the conversation.
    fn path(&self) -> &str {
        self.path
    }

    /// Where it stands in the conversation.
    fn in_conversation(&self, host: &Host) -> String {
        let rkey = self.view.turns.first().map_or("", |turn| turn.rkey);
        let place = Place::Site { path: self.path, host };
        format!("{}#{rkey}", place.page(page_of(self.position - 1)))
    }
}

#[derive(Template)]
#[template(path = "turn_page.html")]
struct Page<'a> {
    frame: Frame<'a>,
    page: &'a TurnPage<'a>,
    view: &'a ConversationView<'a>,
    place: Place<'a>,
    conversation: String,
}

impl Page<'_> {
    /// What the page is called.
    fn title(&self) -> String {
        format!("Turn {} of {}", self.page.position, self.view.title)
    }

    /// How the turn begins, for link cards.
    fn summary(&self) -> String {
        match self.view.turns.first() {
            Some(turn) if turn.withheld => "Off the record: the author held this turn back.".to_owned(),
            Some(turn) if turn.hidden => HIDDEN.to_owned(),
            Some(turn) => first_line(turn.text, 200).unwrap_or_default().into_owned(),
            None => String::new(),
        }
    }

    fn path(&self, rkey: &str) -> String {
        format!("{}/{rkey}", self.page.path)
    }
}

impl Rendered for TurnPage<'_> {
    fn html(&self, host: &Host) -> Result<String, Error> {
        let place = Place::Site { path: self.path, host };
        let conversation = self.in_conversation(host);
        let mut page = Page { frame: Frame::of_site(host), page: self, view: &self.view, place, conversation };
        page.frame.elsewhere = self.view.turns.first().and_then(|turn| {
            self.view.turn_elsewhere(host, &page.path(turn.rkey), self.path, &page.summary(), turn.created_at)
        });
        Ok(page.render()?)
    }

    fn markdown(&self) -> Result<String, Error> {
        let mut out = String::new();
        turns_markdown(&mut out, &self.view)?;
        out.push_str(&format!("\n---\n\n{}\n", self.view.uri));
        Ok(out)
    }

    fn text(&self) -> Result<String, Error> {
        let mut out = String::new();
        turns_text(&mut out, &self.view)?;
        out.push_str(&format!("\n{}\n", self.view.uri));
        Ok(out)
    }
}
