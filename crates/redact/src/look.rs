//! What an author is shown while deciding: each text as it will be, and where in it something was found or is covered.

use std::collections::HashSet;

use crate::{
    Decision, Decisions, Draft, Engine, Error, Field, Fingerprint, FingerprintKey, HomeStyle, Scan, Seen, Shared,
    cover::Whose,
    scan::{Found, Survey, Text, covered_spans},
    text,
};

/// A conversation as its author sees it while deciding.
#[derive(Debug)]
pub struct Look {
    /// Everything that was found.
    pub scan: Scan,
    /// Title and description, then the texts of the turns that were asked for, in reading order.
    pub texts: Vec<Shown>,
}

/// A text as it will be, covered as far as that is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The turn's place in the conversation, from 1; none for title and description.
    pub turn: Option<usize>,
    /// Which text it is.
    pub field: Field,
    /// The text, with its bars.
    pub text: String,
    /// What is to be seen in it, in order and apart from each other.
    pub marks: Vec<Mark>,
    /// The author wrote it, in place of what the transcript says.
    pub own: bool,
}

/// A place in a [`Shown`] text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Where it starts, in bytes of the shown text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The same in bytes of the text before anything is covered.
    pub from: usize,
    /// The same in bytes of the text before anything is covered.
    pub to: usize,
    /// What it is.
    pub what: Marked,
}

/// What a [`Mark`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// What stands there is covered.
    Covered,
    /// The finding with this id, which is not covered.
    Found(u32),
}

/// Why something is covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The finding with this id, which the author decided to cover.
    Finding(u32),
    /// A word that the author covers everywhere.
    Word(Fingerprint),
    /// A passage that the author covers there alone.
    Passage(Fingerprint),
    /// The decision on all home folders.
    Home,
    /// It stands within, or is another form of, what is covered elsewhere: by this rule, or a word of the author's.
    Elsewhere(Option<Shared>),
}

impl Shown {
    /// A place of the shown text in bytes of the text before anything is covered. Within a bar it is where that begins.
    #[must_use]
    pub fn before(&self, at: usize) -> usize {
        let covered = self.marks.iter().filter(|mark| mark.what == Marked::Covered);
        match covered.take_while(|mark| mark.start < at).last() {
            Some(mark) if at < mark.end => mark.from,
            Some(mark) => mark.to + (at - mark.end),
            None => at,
        }
    }

    /// A passage of the shown text in bytes of the text before anything is covered: of a bar it touches it has all.
    #[must_use]
    pub fn span_before(&self, start: usize, end: usize) -> (usize, usize) {
        let (mut from, mut to) = (self.before(start), self.before(end));
        for mark in self.marks.iter().filter(|mark| mark.what == Marked::Covered) {
            if mark.start < end && start < mark.end {
                (from, to) = (from.min(mark.from), to.max(mark.to));
            }
        }
        (from, to)
    }
}

/// Looks at a draft under some decisions. `turns` says, by their places from 1, of which turns the texts are wanted. What was
/// found is remembered in `seen`.
///
/// # Errors
/// Those of [`crate::scan`].
pub fn look(
    draft: &Draft,
    engine: &Engine,
    decisions: &Decisions,
    key: &FingerprintKey,
    seen: &mut Seen,
    turns: impl Fn(usize) -> bool,
) -> Result<Look, Error> {
    let survey = Survey::new(draft, engine, decisions, key, Some(seen))?;
    let tilde = decisions.home() == Some(HomeStyle::Tilde);
    let mut shown = Vec::new();
    for (index, text) in survey.texts.iter().enumerate() {
        let turn = text.turn.and_then(|place| draft.turns.get(place)).map(|turn| turn.index);
        if turn.is_none_or(&turns) {
            shown.push(show(&survey, index, text, turn, tilde));
        }
    }
    let findings = survey.findings.into_iter().map(|f| f.finding).collect();
    Ok(Look { scan: Scan { findings }, texts: shown })
}

fn findings_of<'s>(survey: &'s Survey<'_>, text: usize) -> impl Iterator<Item = &'s Found> {
    let from = survey.findings.partition_point(|f| f.text < text);
    survey.findings.iter().skip(from).take_while(move |f| f.text == text)
}

fn show(survey: &Survey<'_>, index: usize, of: &Text<'_>, turn: Option<usize>, tilde: bool) -> Shown {
    let mut own = Vec::new();
    let mut homes = HashSet::new();
    for found in findings_of(survey, index).filter(|f| f.finding.decision == Some(Decision::Cover)) {
        let span = (found.finding.start, found.finding.end);
        own.push(span);
        if tilde && found.finding.is_home() {
            homes.insert(span);
        }
    }
    own.extend(survey.passages.of(index).map(|(_, start, end, _)| (*start, *end)));
    let spans = covered_spans(&survey.covers, of.text, own);
    let text = text::cover(of.text, &spans, &homes);

    // Bars and tildes are not as long as what they cover: places after them move.
    let mut marks = Vec::new();
    let mut shift = 0_isize;
    let signed = |n: usize| isize::try_from(n).unwrap_or(isize::MAX);
    let moved = |at: usize, shift: isize| at.saturating_add_signed(shift);
    let mut covered = spans.iter().peekable();
    let mut open = findings_of(survey, index).filter(|f| f.finding.decision != Some(Decision::Cover)).peekable();
    let mut last = 0;
    loop {
        let next_open = open.peek().map(|f| (f.finding.start.max(last), f.finding.end, f.finding.id));
        match (covered.peek().copied(), next_open) {
            (Some(&(start, end)), found) if found.is_none_or(|(from, _, _)| start <= from) => {
                covered.next();
                let is_home = homes.contains(&(start, end));
                let length = if is_home { 1 } else { text::BAR.len() };
                let at = moved(start, shift);
                marks.push(Mark { start: at, end: at + length, from: start, to: end, what: Marked::Covered });
                shift += signed(length) - signed(end - start);
                last = end;
            }
            (cover, Some((from, to, id))) => {
                // Only as far as it can be seen.
                let to = cover.map_or(to, |(start, _)| to.min(*start));
                if from < to {
                    let (start, end) = (moved(from, shift), moved(to, shift));
                    marks.push(Mark { start, end, from, to, what: Marked::Found(id) });
                    last = to;
                }
                open.next();
            }
            (_, None) => break,
        }
    }
    Shown { turn, field: of.field, text, marks, own: of.own }
}

/// Why the passage `from..to` of a text, in bytes of it before anything is covered, is covered.
///
/// # Errors
/// Those of [`crate::scan`].
pub fn causes(
    (draft, engine, decisions, key): (&Draft, &Engine, &Decisions, &FingerprintKey),
    seen: &mut Seen,
    (turn, field): (Option<usize>, Field),
    (from, to): (usize, usize),
) -> Result<Vec<Cause>, Error> {
    let survey = Survey::new(draft, engine, decisions, key, Some(seen))?;
    let place = turn.and_then(|turn| draft.turns.iter().position(|t| t.index == turn));
    let found = survey.texts.iter().enumerate().find(|(_, t)| t.turn == place && t.field == field);
    let Some((index, text)) = found.filter(|_| place.is_some() == turn.is_some()) else { return Ok(Vec::new()) };
    let touches = |start: usize, end: usize| start < to && from < end;
    let mut causes = Vec::new();
    let mut add = |cause| {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    };
    for found in findings_of(&survey, index).map(|f| &f.finding).filter(|f| touches(f.start, f.end)) {
        if found.decision == Some(Decision::Cover) {
            if decisions.decision(found) == Some(Decision::Cover) {
                add(Cause::Finding(found.id));
            } else if found.is_home() && decisions.home().is_some() {
                add(Cause::Home);
            }
        }
    }
    for (_, start, end, id) in survey.passages.of(index) {
        if touches(*start, *end) {
            add(Cause::Passage(*id));
        }
    }
    survey.covers.each_place(text.text.as_bytes(), |place| {
        if let Whose::Word(word) = place.whose
            && touches(place.start, place.end)
            && let Some(word) = survey.words.get(word)
        {
            let lost = !decisions.covered_words().any(|id| *id == word.id);
            add(if lost { Cause::Elsewhere(None) } else { Cause::Word(word.id) });
        }
    });
    if causes.is_empty() {
        let mut spans = Vec::new();
        survey.covers.find(text.text.as_bytes(), &mut spans);
        let span = spans.iter().find(|s| touches(s.start, s.end));
        let rule = span.and_then(|s| Some(engine.kind(s.rule?)?.name.clone()));
        causes.push(Cause::Elsewhere(rule));
    }
    Ok(causes)
}
