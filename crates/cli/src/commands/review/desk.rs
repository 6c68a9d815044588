//! One conversation that is being decided about.

use std::{collections::HashMap, fs, sync::Arc, time::SystemTime};

use onrecord_record::about;
use onrecord_redact::{Field, Finding, Look, Seen, Shown};
use onrecord_transcript::Part;
use onrecord_web::review::Private;

use super::number_of;
use crate::{
    cli::RulesArgs,
    error::{Error, Result},
    source::{Input, Opened},
};

/// How many turns a page shows.
pub const PAGE: usize = 100;

/// An open conversation, and what was found in it.
pub struct Desk {
    pub key: String,
    pub opened: Opened,
    pub seen: Seen,
    input: Input,
    rules: RulesArgs,
    stamp: Stamp,
    /// The state since which the transcript only grew.
    grows_since: Stamp,
    /// What of each turn is for the author's eyes alone.
    pub private: Vec<Option<Private>>,
    /// How many records and accounts each turn names.
    pub named: Vec<usize>,
    /// What was looked at last: under which state, and which page.
    last: Option<(u64, usize, Arc<Look>)>,
}

/// A state of the transcript's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Stamp(Option<SystemTime>, u64);

impl Stamp {
    fn of(input: &Input) -> Result<Self> {
        let Some(path) = &input.path else { return Ok(Self(None, 0)) };
        let meta = fs::metadata(path).map_err(|source| Error::File { path: path.clone(), source })?;
        Ok(Self(meta.modified().ok(), meta.len()))
    }
}

impl Desk {
    pub fn open(key: &str, input: Input, rules: &RulesArgs) -> Result<Self> {
        let stamp = Stamp::of(&input)?;
        let opened = Opened::at(input.clone(), rules)?;
        let turns = &opened.conversation.turns;
        let private = turns.iter().map(|turn| private(&turn.parts)).collect();
        let named = turns.iter().map(|turn| about::find(&turn.text).len()).collect();
        let (key, rules, seen) = (key.to_owned(), rules.clone(), Seen::default());
        Ok(Self { key, opened, seen, input, rules, stamp, grows_since: stamp, private, named, last: None })
    }

    /// Takes in what changed since: a transcript that grew, decisions that somebody else made.
    pub fn refresh(&mut self) -> Result<()> {
        if Stamp::of(&self.input)? == self.stamp {
            return self.opened.read_decisions_again();
        }
        let mut fresh = Self::open(&self.key, self.input.clone(), &self.rules)?;
        if fresh.has_all_of(self)? {
            fresh.grows_since = self.grows_since;
        }
        *self = fresh;
        Ok(())
    }

    /// Whether everything stands here that stood in `old`, under the same numbers, so that what is decided on the grounds of that
    /// is decided on true ones: turns were added, or the last one goes on. So it is while an agent is still at work.
    fn has_all_of(&mut self, old: &mut Self) -> Result<bool> {
        let (new, was) = (&self.opened.conversation, &old.opened.conversation);
        let Some((last, others)) = was.turns.split_last() else { return Ok(false) };
        let Some(same_place) = new.turns.get(others.len()) else { return Ok(false) };
        let goes_on = (&same_place.id, same_place.role) == (&last.id, last.role)
            && same_place.text.starts_with(&last.text)
            && same_place.steps().starts_with(last.steps());
        if new.title != was.title || !new.turns.starts_with(others) || !goes_on {
            return Ok(false);
        }
        let new = self.opened.look(&mut self.seen, |_| false)?.scan.findings;
        let was = old.opened.look(&mut old.seen, |_| false)?.scan.findings;
        let place = |f: &Finding| (f.id, f.turn, f.field, f.start, f.end);
        let what = |f: &Finding| (f.rule.clone(), f.fingerprint);
        Ok(new.len() >= was.len() && new.iter().zip(&was).all(|(a, b)| place(a) == place(b) && what(a) == what(b)))
    }

    /// Reads everything anew: also what is looked for, as the person's own secrets may be others by now.
    pub fn reopen(&mut self) -> Result<()> {
        let fresh = Self::open(&self.key, self.input.clone(), &self.rules)?;
        *self = fresh;
        Ok(())
    }

    /// Names what everything that is shown depends on, and stays the same while the transcript only grows.
    pub fn revision(&self) -> Result<String> {
        let decisions = serde_json::to_string(&self.opened.decisions)?;
        Ok(format!("{:016x}", number_of(&(decisions, self.grows_since))))
    }

    /// Names the state of all of it.
    pub fn state(&self) -> Result<u64> {
        Ok(number_of(&(self.revision()?, self.stamp)))
    }

    pub fn turns(&self) -> usize {
        self.opened.conversation.turns.len()
    }

    /// On which page a turn stands.
    pub fn page_of(turn: usize) -> usize {
        turn.saturating_sub(1) / PAGE + 1
    }

    /// The last page there is, or the one that is asked for.
    pub fn page(&self, asked: usize) -> usize {
        asked.clamp(1, self.turns().div_ceil(PAGE).max(1))
    }

    /// Looks at a page as it will be.
    pub fn look(&mut self, page: usize) -> Result<Arc<Look>> {
        let state = self.state()?;
        if let Some((known, of, look)) = &self.last
            && (*known, *of) == (state, page)
        {
            return Ok(Arc::clone(look));
        }
        let look = Arc::new(self.opened.look(&mut self.seen, |turn| Self::page_of(turn) == page)?);
        self.last = Some((state, page, Arc::clone(&look)));
        Ok(look)
    }

    /// A text before anything is covered.
    pub fn text(&self, turn: Option<usize>, field: Field) -> Option<String> {
        let draft = self.opened.draft();
        let of = |turn: Option<usize>| draft.turns.iter().find(move |t| Some(t.index) == turn);
        match field {
            Field::Title => draft.title,
            Field::Description => draft.description,
            Field::Text => of(turn).map(|turn| turn.text.clone()),
            Field::StepTool(n) => of(turn).and_then(|turn| Some(turn.steps.get(n)?.tool.clone())),
            Field::StepSummary(n) => of(turn).and_then(|turn| Some(turn.steps.get(n)?.summary.clone())),
            Field::Reasoning(n) => of(turn).and_then(|turn| turn.reasoning.get(n).cloned()),
        }
    }
}

/// What of a turn is never published.
fn private(parts: &[Part]) -> Option<Private> {
    let count = |is: fn(&Part) -> bool| parts.iter().filter(|part| is(part)).count();
    let private = Private {
        reasoning: count(|p| matches!(p, Part::Reasoning { .. })),
        outputs: count(|p| matches!(p, Part::ToolCall { output: Some(_), .. })),
        images: count(|p| matches!(p, Part::Image { .. })),
    };
    (private != Private { reasoning: 0, outputs: 0, images: 0 }).then_some(private)
}

/// The texts of a look by the turns they stand in.
pub fn by_turn(look: &Look) -> HashMap<usize, Vec<&Shown>> {
    let mut turns: HashMap<usize, Vec<&Shown>> = HashMap::new();
    for shown in &look.texts {
        if let Some(turn) = shown.turn {
            turns.entry(turn).or_default().push(shown);
        }
    }
    turns
}
