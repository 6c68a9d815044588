//! A view of some of a conversation's turns, where the rest is known by its numbers.

use std::borrow::Cow;

use onrecord_index::{ConversationHead, Profile, Prompt};
use onrecord_record::Published;
use serde::Serialize;

use crate::{TURNS_PER_PAGE, render::page_count};

use super::{Asked, Author, ConversationView, Counts, Standing, TitleFrom, build};

/// Which turns, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Number of the first record that is here, from 1.
    pub first: usize,
    /// Number of the last one.
    pub last: usize,
    /// How many records there are in all.
    pub of: usize,
}

/// What is known of a conversation beside the records that were read.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a> {
    /// What its list says of it.
    pub head: &'a ConversationHead,
    /// How many of the records read stand before the stretch, and only tell how it begins.
    pub lead: usize,
    /// How many records of the conversation stand before the stretch.
    pub from: usize,
    /// What was asked in all of it; empty where the stretch is all of it.
    pub prompts: &'a [Prompt],
    /// When its last turn happened, if that is not in the stretch.
    pub last_turn_at: Option<&'a str>,
}

impl<'a> ConversationView<'a> {
    /// The view of a stretch of a conversation; `published` holds its records, and those of the lead before them.
    #[must_use]
    pub fn of_stretch(published: &'a Published, stretch: &Stretch<'a>) -> Self {
        let head = stretch.head;
        let mut view = Self::new(published, Standing::of(published));
        view.disclose(&head.author.profile);
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let of = count(head.turns).max(stretch.from + view.turns.len().saturating_sub(stretch.lead));
        if stretch.lead == 0 && view.turns.len() == of {
            return view;
        }
        // Counted anew, for the lead was counted in.
        let covered = view.counts.covered - build::covered(view.turns.get(..stretch.lead).unwrap_or_default());
        view.turns.drain(..stretch.lead.min(view.turns.len()));
        view.counts = Counts {
            turns: of,
            records: of,
            withheld: count(head.withheld),
            covered,
            steps: count(head.steps),
            failed: count(head.failed),
        };
        view.models = head.models.iter().map(|id| build::model(id)).collect();
        view.last_turn_at = stretch.last_turn_at.or(view.last_turn_at);
        if view.title_from != TitleFrom::Record
            && let Some(line) = head.opening.as_deref().and_then(|text| build::first_line(text, build::TITLE_GRAPHEMES))
        {
            (view.title, view.title_from) = (line, TitleFrom::FirstLine);
        }
        view.part = Some(Part { first: stretch.from + 1, last: stretch.from + view.turns.len(), of });
        view.asked = asked(stretch, &view);
        view
    }

    /// Keeps only the turns of one page, from 1; `false` if there is no such page.
    pub(crate) fn keep_page(&mut self, page: usize) -> bool {
        if self.part.is_some() {
            return true;
        }
        let of = self.turns.len();
        if page == 0 || page > page_count(of) {
            return false;
        }
        if of > TURNS_PER_PAGE {
            let from = (page - 1) * TURNS_PER_PAGE;
            self.turns.truncate(from + TURNS_PER_PAGE);
            self.turns.drain(..from);
            self.part = Some(Part { first: from + 1, last: from + self.turns.len(), of });
        }
        true
    }

    /// Adds what the author's account says of itself.
    pub(crate) fn disclose(&mut self, profile: &'a Profile) {
        self.author.display_name = profile.display_name.as_deref();
        self.author.automation = automation(profile);
    }
}

/// An account, with what it says of itself.
pub(crate) fn author_of<'a>(did: &'a str, handle: Option<&'a str>, profile: &'a Profile) -> Author<'a> {
    Author { did, handle, display_name: profile.display_name.as_deref(), automation: automation(profile) }
}

/// What an account says of its being automated.
fn automation(profile: &Profile) -> Option<&'static str> {
    match profile.autonomy.as_deref() {
        Some("automated") => Some("automated account"),
        Some("collaborative") => Some("person and agent together"),
        Some("assisted") => Some("person, assisted by an agent"),
        _ => profile
            .self_labels
            .iter()
            .any(|label| matches!(label.as_str(), "bot" | "ai-agent" | "agent"))
            .then_some("automated account"),
    }
}

/// The outline of all of it: what is in the stretch as it stands there, the rest as it was listed.
fn asked<'a>(stretch: &Stretch<'a>, view: &ConversationView<'a>) -> Vec<Asked<'a>> {
    let here = build::asked(&view.turns, stretch.from);
    let (first, end) = (stretch.from, stretch.from + view.turns.len());
    let elsewhere = |position: usize| position < first || position >= end;
    let mut all: Vec<Asked<'a>> = stretch
        .prompts
        .iter()
        .map(|prompt| Asked {
            rkey: prompt.rkey.as_str(),
            position: usize::try_from(prompt.position).unwrap_or(usize::MAX),
            line: prompt.beginning.as_deref().and_then(|text| build::first_line(text, build::TITLE_GRAPHEMES)),
            withheld: prompt.beginning.is_none(),
        })
        .filter(|asked| elsewhere(asked.position))
        .collect();
    all.extend(here);
    all.sort_by_key(|asked| asked.position);
    all
}

impl<'a> ConversationView<'a> {
    /// Says where the record is, of which this is another family's reading, and what there is to know of that.
    pub(crate) fn read_from(&mut self, uri: &str, notes: impl IntoIterator<Item = Cow<'a, str>>) {
        uri.clone_into(&mut self.uri);
        self.notes.extend(notes);
    }
}
