//! From records to the view.

use std::borrow::Cow;

use onrecord_record::{Family, MessageRecord, Published, PublishedMessage};
use unicode_segmentation::UnicodeSegmentation;

use super::{
    Asked, Author, Continues, ConversationView, Counts, MentionView, ModelView, RefView, Standing, StepView, TitleFrom,
    TurnView,
};
use crate::{bar, markdown::open_fence, model_name, moment::Moment};

/// How much of a first line stands in for a title or in the outline, in graphemes.
pub(super) const TITLE_GRAPHEMES: usize = 96;

impl<'a> ConversationView<'a> {
    /// The view of `published`, whose records stand where `standing` says.
    ///
    /// A record that says it is withheld is shown as withheld whatever else it holds.
    #[must_use]
    pub fn new(published: &'a Published, standing: Standing) -> Self {
        let session = &published.session;
        let turns = turns(&published.messages);
        let (title, title_from) = title(published, &turns);
        let description = session.description.as_deref().filter(|d| !d.trim().is_empty());
        let mut counts = count(&turns);
        counts.covered += description.map_or(0, bar::count);
        if title_from == TitleFrom::Record {
            counts.covered += bar::count(&title);
        }
        Self {
            uri: published.uri(),
            cid: published.cid.as_str(),
            rkey: published.rkey.as_str(),
            author: Author {
                did: published.repo.as_str(),
                handle: published.handle.as_ref().map(AsRef::as_ref),
                display_name: None,
                automation: None,
            },
            standing,
            title,
            title_from,
            description,
            discussion: session.discussion.as_ref().map(AsRef::as_ref),
            created_at: session.created_at.as_str(),
            last_turn_at: turns.last().map(|turn| turn.created_at),
            counts,
            models: models(&turns),
            part: None,
            checked: None,
            notes: Vec::new(),
            asked: asked(&turns, 0),
            turns,
        }
    }
}

/// What a person asks in `turns`, before which `from` records stand.
pub(super) fn asked<'a>(turns: &[TurnView<'a>], from: usize) -> Vec<Asked<'a>> {
    (from..)
        .zip(turns)
        .filter(|(_, turn)| turn.role == "user" && turn.continues != Continues::Turn)
        // A command that a person ran is no question.
        .filter(|(_, turn)| turn.withheld || !turn.text.is_empty() || turn.steps.is_empty())
        .map(|(position, turn)| Asked {
            rkey: turn.rkey,
            position,
            line: first_line(turn.text, TITLE_GRAPHEMES),
            withheld: turn.withheld,
        })
        .collect()
}

fn turns(messages: &[PublishedMessage]) -> Vec<TurnView<'_>> {
    let mut turns = Vec::with_capacity(messages.len());
    let mut previous: Option<(&MessageRecord, Moment<'_>)> = None;
    let mut fence = None;
    for message in messages {
        let record = &message.record;
        let moment = Moment::read(record.created_at.as_str());
        let continues = previous.map_or(Continues::No, |(before, _)| continues(before, record));
        if continues != Continues::Turn {
            fence = None;
        }
        turns.push(TurnView {
            fence,
            new_day: previous.is_some_and(|(_, before)| !before.same_day(&moment)),
            ..turn(message, moment, continues)
        });
        fence = if record.withheld { None } else { open_fence(&record.text, fence) };
        previous = Some((record, moment));
    }
    turns
}

/// Records of one turn share its time; this is how a turn that was cut is known again.
fn continues(before: &MessageRecord, record: &MessageRecord) -> Continues {
    if before.role != record.role || before.model != record.model {
        Continues::No
    } else if before.created_at == record.created_at && !before.withheld && !record.withheld {
        Continues::Turn
    } else {
        Continues::Speaker
    }
}

fn turn<'a>(message: &'a PublishedMessage, moment: Moment<'a>, continues: Continues) -> TurnView<'a> {
    let record = &message.record;
    let bare = TurnView {
        rkey: message.rkey.as_str(),
        cid: message.cid.as_str(),
        role: &record.role,
        continues,
        created_at: record.created_at.as_str(),
        withheld: true,
        encrypted: false,
        hidden: false,
        text: "",
        model: None,
        steps: Vec::new(),
        refs: Vec::new(),
        mentions: Vec::new(),
        fence: None,
        moment,
        new_day: false,
    };
    if record.withheld {
        return bare;
    }
    TurnView {
        withheld: false,
        text: &record.text,
        model: record.model.as_deref().map(model),
        steps: record
            .steps
            .iter()
            .map(|s| StepView { tool: &s.tool, summary: s.summary.as_deref(), failed: s.failed })
            .collect(),
        refs: record.refs.iter().map(|r| RefView { uri: r.uri.as_str(), cid: r.cid.as_str() }).collect(),
        mentions: record.mentions.iter().map(|did| MentionView { did: did.as_str() }).collect(),
        ..bare
    }
}

pub(super) fn model(id: &str) -> ModelView<'_> {
    ModelView { id, name: model_name(id) }
}

fn models<'a>(turns: &[TurnView<'a>]) -> Vec<ModelView<'a>> {
    let mut models: Vec<ModelView<'a>> = Vec::new();
    for model in turns.iter().filter_map(|turn| turn.model.as_ref()) {
        if !models.iter().any(|m| m.id == model.id) {
            models.push(model.clone());
        }
    }
    models
}

fn count(turns: &[TurnView<'_>]) -> Counts {
    let mut counts = Counts { records: turns.len(), covered: covered(turns), ..Counts::default() };
    for turn in turns {
        counts.turns += usize::from(turn.continues != Continues::Turn);
        counts.withheld += usize::from(turn.withheld);
        counts.steps += turn.steps.len();
        counts.failed += turn.steps.iter().filter(|step| step.failed).count();
    }
    counts
}

/// How many spans of `turns` are covered.
pub(super) fn covered(turns: &[TurnView<'_>]) -> usize {
    let steps = turns.iter().flat_map(|turn| &turn.steps);
    turns.iter().map(|turn| bar::count(turn.text)).sum::<usize>()
        + steps.map(|step| bar::count(step.tool) + step.summary.map_or(0, bar::count)).sum::<usize>()
}

/// The record's title, else the first line a person wrote, else a sentence.
fn title<'a>(published: &'a Published, turns: &[TurnView<'a>]) -> (Cow<'a, str>, TitleFrom) {
    if published.family == Family::TilesPrivate {
        return (Cow::Borrowed("(encrypted)"), TitleFrom::Nothing);
    }
    if let Some(title) = published.session.title.as_deref().map(str::trim).filter(|t| !t.is_empty()) {
        return (Cow::Borrowed(title), TitleFrom::Record);
    }
    turns
        .iter()
        .filter(|turn| turn.role == "user")
        .find_map(|turn| first_line(turn.text, TITLE_GRAPHEMES))
        .map_or((Cow::Borrowed("(no opening message)"), TitleFrom::Nothing), |line| (line, TitleFrom::FirstLine))
}

/// The first line of `text` that is not blank; where it has more than `max` graphemes it is cut after a word, and never
/// in a bar, and ends in “…”.
pub(crate) fn first_line(text: &str, max: usize) -> Option<Cow<'_, str>> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    // None is shorter than a byte.
    if line.len() <= max {
        return Some(Cow::Borrowed(line));
    }
    // Of ASCII without control characters each is a byte, and the next one does not join it.
    let is_plain = line.bytes().take(max + 1).all(|b| matches!(b, b' '..=b'~'));
    let end = if is_plain { Some(max) } else { line.grapheme_indices(true).nth(max).map(|(at, _)| at) };
    let Some(end) = end else { return Some(Cow::Borrowed(line)) };
    let (kept, rest) = line.split_at_checked(end)?;
    let kept = if rest.starts_with('\u{2588}') { kept.trim_end_matches('\u{2588}') } else { kept };
    // A word too long for half the line is cut within.
    let after_word =
        kept.rfind(char::is_whitespace).filter(|at| !rest.starts_with(char::is_whitespace) && *at > end / 2);
    let kept = after_word.and_then(|at| kept.get(..at)).unwrap_or(kept);
    Some(Cow::Owned(format!("{}…", kept.trim_end())))
}

impl TurnView<'_> {
    /// Who speaks, in words.
    pub(crate) fn speaker<'s>(&'s self, author: &'s Author<'_>) -> Cow<'s, str> {
        match (self.role, &self.model) {
            ("user", _) => author.name(),
            ("assistant", Some(model)) => Cow::Borrowed(model.name.as_ref()),
            ("assistant", None) => Cow::Borrowed("Agent"),
            (other, _) => Cow::Borrowed(other),
        }
    }

    /// What a withheld turn of this role is called.
    pub(crate) fn noun(&self) -> &'static str {
        match self.role {
            "user" => "message",
            "assistant" => "reply",
            _ => "turn",
        }
    }

    /// Whether there is nothing in it that a reader could see.
    pub(crate) fn is_empty(&self) -> bool {
        !self.withheld
            && !self.encrypted
            && !self.hidden
            && self.text.trim().is_empty()
            && self.steps.is_empty()
            && self.refs.is_empty()
            && self.mentions.is_empty()
    }
}

impl Author<'_> {
    /// `@handle` where there is one, else “The author”.
    pub(crate) fn name(&self) -> Cow<'static, str> {
        self.handle.map_or(Cow::Borrowed("The author"), |handle| Cow::Owned(format!("@{handle}")))
    }
}
