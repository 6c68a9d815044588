//! From a draft to its findings.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use zeroize::Zeroizing;

use crate::{
    Decision, Decisions, Draft, Engine, Error, Field, Finding, Fingerprint, FingerprintKey, Shared, Tier,
    cover::{Covers, Value},
    decisions::Passages,
    detect::{Hit, Seeks, is_home},
    engine::{ENGINE_VERSION, Kind},
    finding::Ground,
    fingerprint::Tag,
    text::{self, str_part},
    words::Word,
};

/// What a scan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// In reading order: title, description, then the turns.
    pub findings: Vec<Finding>,
}

impl Scan {
    /// How many findings stand in the way of publishing.
    #[must_use]
    pub fn undecided(&self) -> usize {
        self.findings.iter().filter(|f| f.undecided()).count()
    }

    /// The finding with this id.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Finding> {
        self.findings.iter().find(|f| f.id == id)
    }
}

/// Scans everything that `draft` would publish, in turns held back too, and says what is decided already.
///
/// A finding within something that is covered anyway is decided `cover`, and so is a home folder once the author decided what
/// stands for all of them; one in a turn held back is decided `withhold`.
/// A secret (tiers A to C) in a turn held back is covered wherever else it stands, unless it was allowed.
///
/// # Errors
/// The covered values cannot be compiled for searching, or there are more findings than anyone could decide on.
pub fn scan(draft: &Draft, engine: &Engine, decisions: &Decisions, key: &FingerprintKey) -> Result<Scan, Error> {
    let survey = Survey::new(draft, engine, decisions, key, None)?;
    Ok(Scan { findings: survey.findings.into_iter().map(|f| f.finding).collect() })
}

/// What was found in texts before, so that whoever decides again and again need not wait for it to be looked for again. It is
/// of one engine and key alone.
#[derive(Default)]
pub struct Seen(HashMap<(Option<usize>, Field), SeenText>);

struct SeenText {
    /// Hash of the text, and whether it was held back: of such a one not every finding is listed.
    text: u64,
    withheld: bool,
    found: Vec<Found>,
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Seen({} texts)", self.0.len())
    }
}

impl Seen {
    fn get(&self, text: &Text<'_>) -> Option<&[Found]> {
        let seen = self.0.get(&(text.turn, text.field))?;
        (seen.withheld == text.withheld && seen.text == hash(text.text)).then_some(&*seen.found)
    }

    fn note(&mut self, text: &Text<'_>, found: &[Found]) {
        let seen = SeenText { text: hash(text.text), withheld: text.withheld, found: found.to_vec() };
        self.0.insert((text.turn, text.field), seen);
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// One text of the draft.
pub(crate) struct Text<'a> {
    /// Its turn's place in `draft.turns`.
    pub(crate) turn: Option<usize>,
    pub(crate) field: Field,
    pub(crate) text: &'a str,
    pub(crate) withheld: bool,
    /// The author wrote it, in place of what the transcript says.
    pub(crate) own: bool,
}

/// A finding, with what must not leave this crate.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) finding: Finding,
    /// Index of its text.
    pub(crate) text: usize,
    kind: usize,
    public: usize,
    /// Its value, where the text has it in another form.
    plain: Option<Zeroizing<String>>,
}

/// Everything known about a draft under some decisions.
pub(crate) struct Survey<'a> {
    pub(crate) texts: Vec<Text<'a>>,
    pub(crate) findings: Vec<Found>,
    pub(crate) values: Vec<Value>,
    pub(crate) covers: Covers,
    /// What is covered in one place.
    pub(crate) passages: Passages,
    /// The author's words, and the passages that are not where they were.
    pub(crate) words: Vec<Word>,
}

impl<'a> Survey<'a> {
    pub(crate) fn new(
        draft: &'a Draft,
        engine: &Engine,
        decisions: &'a Decisions,
        key: &FingerprintKey,
        seen: Option<&mut Seen>,
    ) -> Result<Self, Error> {
        let texts = texts(draft, decisions, key);
        let mut passages = decisions.find_passages(key, draft, &texts);
        let words: Vec<Word> = decisions.words().iter().cloned().chain(passages.lost.drain(..)).collect();
        let mut findings = find_all(draft, engine, key, &texts, seen)?;
        share_places(&mut findings);
        for (id, found) in (1..).zip(&mut findings) {
            found.finding.id = id;
            let withheld = texts.get(found.text).is_some_and(|t| t.withheld);
            found.finding.decision = if withheld {
                Some(Decision::Withhold)
            } else {
                let home = || decisions.home().filter(|_| is_home(&found.finding.rule)).map(|_| Decision::Cover);
                decisions.decision(&found.finding).or_else(home)
            };
        }

        let mut values = Vec::new();
        let mut taken = HashSet::new();
        for found in &findings {
            if is_covered(found, &texts, decisions) && taken.insert(found.finding.fingerprint) {
                values.push(value(found, &texts));
            }
        }
        // What lies within a passage that is covered in its place is covered there, and nowhere else by that.
        for found in findings.iter_mut().filter(|f| f.finding.decision.is_none()) {
            let (start, end) = (found.finding.start, found.finding.end);
            if passages.of(found.text).any(|(_, from, to, _)| *from <= start && end <= *to) {
                found.finding.decision = Some(Decision::Cover);
            }
        }
        // What lies within something covered is covered too, and then everywhere else.
        let covers = loop {
            let covers = Covers::new(key, &values, &words)?;
            if covers.is_empty() {
                break covers;
            }
            let known = values.len();
            let mut spans_of: Option<(usize, Vec<(usize, usize)>)> = None;
            for found in &mut findings {
                if found.finding.decision.is_some() {
                    continue;
                }
                let Some(text) = texts.get(found.text) else { continue };
                let spans = match spans_of.take() {
                    Some((index, spans)) if index == found.text => spans,
                    _ => covered_spans(&covers, text.text, Vec::new()),
                };
                // In order and apart from each other: only the last that begins before it can hold it.
                let before = spans.partition_point(|(start, _)| *start <= found.finding.start);
                let holder = before.checked_sub(1).and_then(|i| spans.get(i));
                if holder.is_some_and(|(_, end)| found.finding.end <= *end) {
                    found.finding.decision = Some(Decision::Cover);
                    if taken.insert(found.finding.fingerprint) {
                        values.push(value(found, &texts));
                    }
                }
                spans_of = Some((found.text, spans));
            }
            if values.len() == known {
                break covers;
            }
        };
        Ok(Self { texts, findings, values, covers, passages, words })
    }
}

/// More findings than this are refused: nobody could look through them, and each takes some memory.
const MOST_FINDINGS: usize = 200_000;
/// Of a turn held back every finding is listed up to this many; of more only one for each value.
const LISTED_WHEN_WITHHELD: usize = 1_000;

/// Everything found in `texts`, in order.
fn find_all(
    draft: &Draft,
    engine: &Engine,
    key: &FingerprintKey,
    texts: &[Text<'_>],
    mut memory: Option<&mut Seen>,
) -> Result<Vec<Found>, Error> {
    let mut findings = Vec::new();
    let mut turn_id: Option<(usize, Shared)> = None;
    for (index, text) in texts.iter().enumerate() {
        let first = findings.len();
        if let Some(known) = memory.as_ref().and_then(|memory| memory.get(text)) {
            findings.extend(known.iter().map(|found| Found { text: index, ..found.clone() }));
            continue;
        }
        let mut seen = HashSet::new();
        let mut count = 0_usize;
        let mut paragraph = Paragraph::default();
        engine.detect(text.text.as_bytes(), Seeks::Everything, &mut |hit| {
            let Some(kind) = engine.kind(hit.kind) else { return };
            count += 1;
            if findings.len() > MOST_FINDINGS {
                return;
            }
            let turn = text.turn.and_then(|place| Some((place, draft.turns.get(place)?)));
            if let Some((place, turn)) = turn.filter(|(place, _)| turn_id.as_ref().is_none_or(|(of, _)| of != place)) {
                turn_id = Some((place, Shared::from(turn.id.as_str())));
            }
            let id = turn.and(turn_id.as_ref().map(|(_, id)| id.clone()));
            let place = paragraph.tag_at(key, text, hit.start);
            let found = found(turn.map(|(_, turn)| (turn.index, id)), key, text, index, kind, hit, place);
            let again = text.withheld && !seen.insert((found.kind, found.finding.fingerprint));
            if !again || findings.len() - first < LISTED_WHEN_WITHHELD {
                findings.push(found);
            }
        });
        if findings.len() > MOST_FINDINGS {
            let turn = text.turn.and_then(|place| Some(draft.turns.get(place)?.index));
            return Err(Error::TooManyFindings { most: MOST_FINDINGS, turn, field: text.field, count });
        }
        if let Some(memory) = &mut memory {
            memory.note(text, findings.get(first..).unwrap_or_default());
        }
    }
    Ok(findings)
}

/// What is covered in `text`: `spans` and all covered values, on boundaries, in order, apart from each other.
pub(crate) fn covered_spans(covers: &Covers, text: &str, mut spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    covers.find(text.as_bytes(), &mut found);
    spans.extend(found.iter().map(|s| (s.start, s.end)));
    text::snap_all(text, spans)
}

pub(crate) fn texts<'a>(draft: &'a Draft, decisions: &'a Decisions, key: &FingerprintKey) -> Vec<Text<'a>> {
    let own = decisions.own_summaries(key, draft);
    let mut texts = Vec::with_capacity(draft.turns.len() * 2 + 2);
    let mut add = |turn, field, text: &'a str, withheld, own| texts.push(Text { turn, field, text, withheld, own });
    add(None, Field::Title, effective(decisions.title(), draft.title.as_deref()), false, decisions.title().is_some());
    let description = effective(decisions.description(), draft.description.as_deref());
    add(None, Field::Description, description, false, decisions.description().is_some());
    for (place, turn) in draft.turns.iter().enumerate() {
        let withheld = decisions.is_withheld(&turn.id);
        add(Some(place), Field::Text, &turn.text, withheld, false);
        for (n, step) in turn.steps.iter().enumerate() {
            add(Some(place), Field::StepTool(n), &step.tool, withheld, false);
            let own = own.get(&(place, n)).map(|own| own.text.as_str());
            add(Some(place), Field::StepSummary(n), own.unwrap_or(&step.summary), withheld, own.is_some());
        }
        for (n, thought) in turn.reasoning.iter().enumerate() {
            add(Some(place), Field::Reasoning(n), thought, withheld, false);
        }
    }
    texts
}

/// The author's text where there is one, else the conversation's.
fn effective<'a>(author: Option<&'a str>, own: Option<&'a str>) -> &'a str {
    author.or(own).unwrap_or_default()
}

/// The paragraph that was looked at last. Paragraphs stay what they are when turns are cut or joined otherwise.
#[derive(Default)]
struct Paragraph {
    end: usize,
    tag: Tag,
}

impl Paragraph {
    /// A keyed hash of the paragraph in which `at` stands. Asked for ascending places, it walks over a text once.
    fn tag_at(&mut self, key: &FingerprintKey, text: &Text<'_>, at: usize) -> Tag {
        if at < self.end {
            return self.tag;
        }
        let passed = text.text.get(self.end..).unwrap_or_default();
        let at = text.text.floor_char_boundary(at).saturating_sub(self.end);
        let start = str_part(passed, 0, at).rfind("\n\n").map_or(0, |blank| blank + 2);
        let rest = passed.get(at..).unwrap_or_default();
        let end = rest.find("\n\n").map_or(passed.len(), |blank| at + blank + 2);
        let kind = match text.field {
            Field::Title => "title",
            Field::Description => "description",
            Field::Text => "text",
            Field::StepTool(_) => "tool",
            Field::StepSummary(_) => "summary",
            Field::Reasoning(_) => "reasoning",
        };
        let paragraph = str_part(passed, start, end).trim();
        self.tag = key.tag("place", &[kind.as_bytes(), &[0], paragraph.as_bytes()]);
        self.end += end;
        self.tag
    }
}

/// Tells each finding in which places its value stands for its rule.
fn share_places(findings: &mut [Found]) {
    let mut places: HashMap<(usize, Fingerprint), Vec<Tag>> = HashMap::new();
    for found in &*findings {
        let tags = places.entry((found.kind, found.finding.fingerprint)).or_default();
        if tags.last() != Some(&found.finding.ground.place) {
            tags.push(found.finding.ground.place);
        }
    }
    let places: HashMap<_, Arc<[Tag]>> = places
        .into_iter()
        .map(|(of, mut tags)| {
            tags.sort_unstable();
            tags.dedup();
            (of, Arc::from(tags))
        })
        .collect();
    for found in findings {
        if let Some(places) = places.get(&(found.kind, found.finding.fingerprint)) {
            found.finding.ground.places = Arc::clone(places);
        }
    }
}

fn found(
    turn: Option<(usize, Option<Shared>)>,
    key: &FingerprintKey,
    text: &Text<'_>,
    index: usize,
    kind: &Kind,
    hit: Hit,
    place: Tag,
) -> Found {
    let (start, end) = text::snap(text.text, hit.start, hit.end);
    let plain = hit.plain.map(|bytes| Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned()));
    let value = plain.as_deref().map_or_else(|| str_part(text.text, start, end), String::as_str);
    let fingerprint = key.fingerprint(value.as_bytes());
    let public = hit.public.min(value.len());
    let finding = Finding {
        id: 0,
        rule: kind.id.clone(),
        name: kind.name.clone(),
        tier: kind.tier,
        blocking: kind.blocking,
        allowable: kind.allowable,
        turn: turn.as_ref().map(|(index, _)| *index),
        turn_id: turn.and_then(|(_, id)| id),
        field: text.field,
        start,
        end,
        fingerprint,
        preview: Shared::from(preview(value, public)),
        decision: None,
        ground: Ground { rule: rule_tag(key, kind), place, places: Arc::default() },
    };
    Found { finding, text: index, kind: hit.kind, public, plain }
}

/// Changes with whatever decides what the rule finds.
fn rule_tag(key: &FingerprintKey, kind: &Kind) -> Tag {
    key.tag("rule", &[&ENGINE_VERSION.to_le_bytes(), &kind.definition])
}

/// The prefix of its kind, or else its first characters if it has many: a hint, and never its length.
fn preview(value: &str, public: usize) -> String {
    let first = if value.chars().count() >= 10 { 2 } else { 0 };
    let known = value.get(..public).unwrap_or_default().lines().next().unwrap_or_default();
    let hint = if known.is_empty() { value.chars().take(first).collect() } else { known.to_owned() };
    format!("{hint}…")
}

fn is_covered(found: &Found, texts: &[Text<'_>], decisions: &Decisions) -> bool {
    let finding = &found.finding;
    match finding.decision {
        Some(Decision::Cover) => true,
        Some(Decision::Withhold) if texts.get(found.text).is_some_and(|t| t.withheld) => {
            match decisions.decision(finding) {
                Some(Decision::Cover) => true,
                Some(Decision::Allow) => false,
                _ => finding.blocking && is_secret(finding.tier),
            }
        }
        _ => false,
    }
}

/// Whether the last gate looks for it.
pub(crate) fn is_secret(tier: Tier) -> bool {
    matches!(tier, Tier::A | Tier::B | Tier::C)
}

fn value(found: &Found, texts: &[Text<'_>]) -> Value {
    let text = texts.get(found.text).map_or("", |t| t.text);
    let value = match &found.plain {
        Some(plain) => plain.as_str(),
        None => str_part(text, found.finding.start, found.finding.end),
    };
    Value { text: Arc::new(Zeroizing::new(value.to_owned())), public: found.public, rule: found.kind }
}

/// The first findings in the way of publishing, for the message.
pub(crate) fn undecided(survey: &Survey<'_>) -> Option<Error> {
    let open: Vec<&Finding> = survey.findings.iter().map(|f| &f.finding).filter(|f| f.undecided()).collect();
    if open.is_empty() {
        return None;
    }
    let place = |f: &&Finding| crate::UndecidedPlace {
        turn: f.turn,
        field: f.field,
        rule: f.rule.to_string(),
        fingerprint: f.fingerprint,
    };
    Some(Error::Undecided { count: open.len(), first: open.iter().take(3).map(place).collect() })
}

/// Values that the author allowed where they stand.
#[derive(Clone, Default)]
pub(crate) struct Allowed(HashSet<Fingerprint>);

impl Allowed {
    pub(crate) fn of(survey: &Survey<'_>) -> Self {
        let allowed = survey.findings.iter().filter(|f| f.finding.decision == Some(Decision::Allow));
        Self(allowed.map(|f| f.finding.fingerprint).collect())
    }

    /// Whether an undecided hit of this value would be in the way.
    pub(crate) fn leaves_open(&self, kind: &Kind, fingerprint: &Fingerprint) -> bool {
        kind.blocking && !(kind.allowable && self.0.contains(fingerprint))
    }
}
