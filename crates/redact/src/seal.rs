//! The sealed type: what can become records.

use std::{collections::HashSet, fmt, sync::Arc};

use jiff::Timestamp;
use zeroize::Zeroizing;

use crate::{
    Decision, Decisions, Draft, DraftStep, Engine, Error, Field, Fingerprint, FingerprintKey, HomeStyle, Role,
    cover::{Covers, Value},
    cut::Phrases,
    detect::{Seeks, is_home},
    gate::{Gate, GateHit},
    scan::{Allowed, Survey, Text, covered_spans, undecided},
    text::{self, str_part},
};

/// Covering may bring to light what stood hidden beside the covered text; after this many rounds nothing is sealed.
const ROUNDS: usize = 16;

/// A conversation as its author decided to publish it: turns held back are empty, bars stand over what is covered.
///
/// [`seal`] is the only way to one:
///
/// ```
/// # fn main() -> Result<(), onrecord_redact::Error> {
/// use onrecord_redact::{Decisions, Draft, Engine, FingerprintKey, seal};
///
/// let draft = Draft { title: Some("Hello".into()), description: None, created_at: Default::default(), turns: vec![] };
/// let key = FingerprintKey::from_bytes([0; 32]);
/// let reviewed = seal(&draft, &Engine::builtin()?, &Decisions::default(), &key)?;
/// assert_eq!(reviewed.title(), Some("Hello"));
/// # Ok(())
/// # }
/// ```
///
/// There is no constructor, as ARCHITECTURE.md promises (Invariant 2.):
///
/// ```compile_fail
/// let forged = onrecord_redact::Reviewed { title: None };
/// ```
///
/// It cannot be made from nothing, from a draft, or from stored bytes:
///
/// ```compile_fail
/// let forged = onrecord_redact::Reviewed::default();
/// ```
/// ```compile_fail
/// fn forge(draft: onrecord_redact::Draft) -> onrecord_redact::Reviewed { draft.into() }
/// ```
/// ```compile_fail
/// fn forge(json: &str) -> onrecord_redact::Reviewed { serde_json::from_str(json).unwrap() }
/// ```
///
/// Nor can one be changed, or a turn be made or changed:
///
/// ```compile_fail
/// fn change(mut r: onrecord_redact::Reviewed) { r.turns.clear(); }
/// ```
/// ```compile_fail
/// let forged = onrecord_redact::ReviewedTurn { content: None };
/// ```
pub struct Reviewed {
    title: Option<String>,
    description: Option<String>,
    discussion: Option<String>,
    created_at: Timestamp,
    turns: Vec<ReviewedTurn>,
    gate: Gate,
}

/// One turn of a [`Reviewed`].
pub struct ReviewedTurn {
    id: String,
    index: usize,
    role: Role,
    created_at: Timestamp,
    content: Option<ReviewedContent>,
}

/// What is published of a turn that is not held back.
pub struct ReviewedContent {
    text: String,
    model: Option<String>,
    steps: Vec<DraftStep>,
    reasoning: Vec<String>,
}

impl Reviewed {
    /// The title, with its bars.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The description, with its bars.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Where it is being discussed: an at-uri, as the author gave it.
    #[must_use]
    pub fn discussion(&self) -> Option<&str> {
        self.discussion.as_deref()
    }

    /// When the conversation started.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// All turns in reading order, those held back too.
    #[must_use]
    pub fn turns(&self) -> &[ReviewedTurn] {
        &self.turns
    }

    /// `text`, which belongs to the conversation and was in no draft, with a bar over everything that is covered in it. What
    /// nobody decided about is not covered: the last gate is to look at whatever this goes into.
    #[must_use]
    pub fn cover(&self, text: &str) -> String {
        self.gate.bar(text)
    }

    /// The last gate: looks over the exact bytes about to be sent for everything covered, in all its forms, and for secrets
    /// (tiers A to C) that were not allowed.
    ///
    /// # Errors
    /// Something was found; nothing may be sent.
    pub fn gate(&self, bytes: &[u8]) -> Result<(), GateHit> {
        self.gate.check(bytes, true)
    }

    /// The same for a page of our own making: the author's words are not looked for, as a page has words of its own.
    ///
    /// # Errors
    /// Something was found; the page may not be written.
    pub fn gate_page(&self, bytes: &[u8]) -> Result<(), GateHit> {
        self.gate.check(bytes, false)
    }
}

impl ReviewedTurn {
    /// Its stable name within the conversation.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its place in the conversation, from 1.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Who speaks.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// When it happened.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// What is published of it; nothing when it is held back.
    #[must_use]
    pub fn content(&self) -> Option<&ReviewedContent> {
        self.content.as_ref()
    }
}

impl ReviewedContent {
    /// The text, with its bars.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `provider/model`, on agent turns.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The tool calls, with their bars.
    #[must_use]
    pub fn steps(&self) -> &[DraftStep] {
        &self.steps
    }

    /// What the model thought to itself, with its bars; empty unless it was to be published.
    #[must_use]
    pub fn reasoning(&self) -> &[String] {
        &self.reasoning
    }
}

impl fmt::Debug for Reviewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reviewed")
            .field("title", &self.title)
            .field("description", &self.description)
            .field("discussion", &self.discussion)
            .field("created_at", &self.created_at)
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ReviewedTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReviewedTurn")
            .field("id", &self.id)
            .field("index", &self.index)
            .field("role", &self.role)
            .field("created_at", &self.created_at)
            .field("content", &self.content)
            .finish()
    }
}

impl fmt::Debug for ReviewedContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReviewedContent")
            .field("text", &self.text)
            .field("model", &self.model)
            .field("steps", &self.steps)
            .field("reasoning", &self.reasoning)
            .finish()
    }
}

/// Covers what is to be covered, empties what is held back, and seals the rest.
///
/// Findings that covering brings to light (a token whose neighbour was covered, so that it now stands free) are covered too:
/// nobody could have decided on them before.
///
/// # Errors
/// A blocking finding is undecided, or covering does not settle: nothing may be published.
pub fn seal(draft: &Draft, engine: &Engine, decisions: &Decisions, key: &FingerprintKey) -> Result<Reviewed, Error> {
    let survey = Survey::new(draft, engine, decisions, key, None)?;
    if let Some(error) = undecided(&survey) {
        return Err(error);
    }
    let tilde = decisions.home() == Some(HomeStyle::Tilde);
    let mut marked: Vec<Marked<'_>> = survey.texts.iter().map(Marked::new).collect();
    for found in survey.findings.iter().filter(|f| f.finding.decision == Some(Decision::Cover)) {
        if let Some(marked) = marked.get_mut(found.text) {
            let span = (found.finding.start, found.finding.end);
            marked.own.push(span);
            if tilde && is_home(&found.finding.rule) {
                marked.homes.insert(span);
            }
        }
    }

    for &(text, start, end, _) in &survey.passages.placed {
        if let Some(marked) = marked.get_mut(text) {
            marked.own.push((start, end));
        }
    }

    let allowed = Allowed::of(&survey);
    let (mut values, mut covers) = (survey.values, survey.covers);
    let mut outputs = Vec::new();
    let mut settled = false;
    for _ in 0..ROUNDS {
        outputs.clear();
        let mut revealed = Revealed::new(engine, &allowed, key);
        for marked in &marked {
            if marked.text.withheld {
                outputs.push(String::new());
                continue;
            }
            let spans = marked.spans(&covers);
            let output = text::bar(marked.text.text, &spans);
            if !spans.is_empty() {
                revealed.look(&output);
            }
            outputs.push(output);
        }
        if revealed.values.is_empty() {
            settled = true;
            break;
        }
        values.append(&mut revealed.values);
        covers = Covers::new(key, &values, &survey.words)?;
    }
    if !settled {
        return Err(Error::Unsettled);
    }
    write_tildes(&mut marked, &covers, || Revealed::new(engine, &allowed, key), &mut outputs);
    cover_cut_phrases(&marked, &covers, &mut outputs);
    let gate = Gate::new(engine.clone(), covers, allowed.clone(), key.duplicate());
    let mut reviewed = assemble(draft, &survey.texts, outputs, gate);
    reviewed.discussion = decisions.discussion().map(str::to_owned);
    Ok(reviewed)
}

/// A text, and what is decided to be covered in it.
struct Marked<'a> {
    text: &'a Text<'a>,
    own: Vec<(usize, usize)>,
    /// Those of them for which a tilde stands, unless they are part of something longer.
    homes: HashSet<(usize, usize)>,
}

impl<'a> Marked<'a> {
    fn new(text: &'a Text<'a>) -> Self {
        Self { text, own: Vec::new(), homes: HashSet::new() }
    }

    /// All that is covered in it.
    fn spans(&self, covers: &Covers) -> Vec<(usize, usize)> {
        covered_spans(covers, self.text.text, self.own.clone())
    }
}

/// Writes a tilde for home folders. A text in which that would bring something to light, since one can read on past a tilde
/// as one cannot past a bar, keeps its bars.
fn write_tildes<'a>(
    marked: &mut [Marked<'_>],
    covers: &Covers,
    revealed: impl Fn() -> Revealed<'a>,
    outputs: &mut [String],
) {
    for (marked, output) in marked.iter_mut().zip(outputs).filter(|(m, _)| !m.homes.is_empty() && !m.text.withheld) {
        let written = text::cover(marked.text.text, &marked.spans(covers), &marked.homes);
        let mut revealed = revealed();
        revealed.look(&written);
        if revealed.values.is_empty() && covered_spans(covers, &written, Vec::new()).is_empty() {
            *output = written;
        } else {
            marked.homes.clear();
        }
    }
}

/// Covers the beginnings of covered phrases that stand, cut in two, at the end of shortened titles and summaries.
fn cover_cut_phrases(marked: &[Marked<'_>], covers: &Covers, outputs: &mut [String]) {
    let was_cut =
        |text: &Text<'_>| !text.withheld && !matches!(text.field, Field::Text) && text.text.trim_end().ends_with('…');
    if covers.is_empty() || !marked.iter().any(|m| was_cut(m.text)) {
        return;
    }
    let mut phrases = HashSet::new();
    for marked in marked {
        let spans = marked.spans(covers);
        phrases.extend(spans.into_iter().map(|(start, end)| str_part(marked.text.text, start, end)));
    }
    let phrases = Phrases::new(phrases);
    for (marked, output) in marked.iter().zip(outputs).filter(|(m, _)| was_cut(m.text)) {
        let text = marked.text.text;
        if let Some(cut) = phrases.cut_in(text) {
            let mut spans = marked.spans(covers);
            spans.push(text::snap(text, cut.0, cut.1));
            *output = text::cover(text, &text::merge(spans), &marked.homes);
        }
    }
}

/// Blocking findings in texts that have bars already.
struct Revealed<'a> {
    engine: &'a Engine,
    allowed: &'a Allowed,
    key: &'a FingerprintKey,
    seen: HashSet<Fingerprint>,
    values: Vec<Value>,
}

impl<'a> Revealed<'a> {
    fn new(engine: &'a Engine, allowed: &'a Allowed, key: &'a FingerprintKey) -> Self {
        Self { engine, allowed, key, seen: HashSet::new(), values: Vec::new() }
    }

    fn look(&mut self, output: &str) {
        let Self { engine, allowed, key, seen, values } = self;
        engine.detect(output.as_bytes(), Seeks::Everything, &mut |hit| {
            let Some(kind) = engine.kind(hit.kind) else { return };
            let (start, end) = text::snap(output, hit.start, hit.end);
            let plain = hit.plain.as_deref().map(|bytes| String::from_utf8_lossy(bytes));
            let value = plain.as_deref().unwrap_or_else(|| str_part(output, start, end)).trim_matches('█');
            let fingerprint = key.fingerprint(value.as_bytes());
            if allowed.leaves_open(kind, &fingerprint) && seen.insert(fingerprint) {
                let text = Arc::new(Zeroizing::new(value.to_owned()));
                values.push(Value { text, public: hit.public, rule: hit.kind });
            }
        });
    }
}

fn assemble(draft: &Draft, texts: &[Text<'_>], outputs: Vec<String>, gate: Gate) -> Reviewed {
    let (mut title, mut description) = (None, None);
    let mut turns: Vec<ReviewedTurn> = Vec::with_capacity(draft.turns.len());
    for (text, output) in texts.iter().zip(outputs) {
        let turn = text.turn.and_then(|place| draft.turns.get(place));
        match (text.field, turn) {
            (Field::Title, _) => title = Some(output).filter(|t| !t.is_empty()),
            (Field::Description, _) => description = Some(output).filter(|t| !t.is_empty()),
            (Field::Text, Some(turn)) => {
                let content = (!text.withheld).then(|| ReviewedContent {
                    text: output,
                    model: turn.model.as_deref().map(|m| gate.bar(m)),
                    steps: Vec::with_capacity(turn.steps.len()),
                    reasoning: Vec::with_capacity(turn.reasoning.len()),
                });
                turns.push(ReviewedTurn {
                    id: turn.id.clone(),
                    index: turn.index,
                    role: turn.role,
                    created_at: turn.created_at,
                    content,
                });
            }
            (Field::StepTool(n), Some(turn)) => {
                let failed = turn.steps.get(n).is_some_and(|s| s.failed);
                if let Some(content) = turns.last_mut().and_then(|t| t.content.as_mut()) {
                    content.steps.push(DraftStep { tool: output, summary: String::new(), failed });
                }
            }
            (Field::StepSummary(_), Some(_)) => {
                let content = turns.last_mut().and_then(|t| t.content.as_mut());
                if let Some(step) = content.and_then(|c| c.steps.last_mut()) {
                    step.summary = output;
                }
            }
            (Field::Reasoning(_), Some(_)) => {
                if let Some(content) = turns.last_mut().and_then(|t| t.content.as_mut()) {
                    content.reasoning.push(output);
                }
            }
            (Field::Text | Field::StepTool(_) | Field::StepSummary(_) | Field::Reasoning(_), None) => {}
        }
    }
    Reviewed { title, description, discussion: None, created_at: draft.created_at, turns, gate }
}
