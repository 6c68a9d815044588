//! What the author writes in place of what the transcript says: summaries of steps, and where it is being discussed.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Decisions;
use crate::{Draft, DraftStep, Fingerprint, FingerprintKey};

/// The author's own words on what a tool was called for. They are public text and stand here, with their bars.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnSummary {
    pub(crate) turn: String,
    /// From 0.
    pub(crate) step: usize,
    /// Names the call that it stands for: the same one must be there.
    of: Fingerprint,
    pub(crate) text: String,
}

fn name(key: &FingerprintKey, step: &DraftStep) -> Fingerprint {
    Fingerprint::from_mac(key.mac("step", format!("{}\0{}", step.tool, step.summary).as_bytes()))
}

impl Decisions {
    /// Sets what is said of a tool call, by its turn and its number from 0; `None` goes back to what the transcript says, an
    /// empty one leaves the tool's name alone. Says whether there is such a call.
    pub fn set_summary(
        &mut self,
        key: &FingerprintKey,
        draft: &Draft,
        turn_id: &str,
        step: usize,
        text: Option<String>,
    ) -> bool {
        let turn = draft.turns.iter().find(|turn| turn.id == turn_id);
        let Some(call) = turn.and_then(|turn| turn.steps.get(step)) else { return false };
        self.summaries.retain(|own| (own.turn.as_str(), own.step) != (turn_id, step));
        if let Some(text) = text.filter(|text| *text != call.summary) {
            self.summaries.push(OwnSummary { turn: turn_id.to_owned(), step, of: name(key, call), text });
        }
        true
    }

    /// Whether the author says something else of a tool call than the transcript.
    #[must_use]
    pub fn has_summary(&self, turn_id: &str, step: usize) -> bool {
        self.summaries.iter().any(|own| (own.turn.as_str(), own.step) == (turn_id, step))
    }

    /// Puts the author's own summaries into a draft.
    pub fn write_summaries(&self, key: &FingerprintKey, draft: &mut Draft) {
        let own: Vec<_> =
            self.own_summaries(key, draft).into_iter().map(|(place, own)| (place, own.text.clone())).collect();
        for ((turn, step), text) in own {
            if let Some(step) = draft.turns.get_mut(turn).and_then(|turn| turn.steps.get_mut(step)) {
                step.summary = text;
            }
        }
    }

    /// The author's own summaries by the places of turn and step. One whose call is not where it was (a turn is cut into
    /// messages otherwise) stands for every call that reads as that one did: what was rewritten must not come back.
    pub(crate) fn own_summaries(&self, key: &FingerprintKey, draft: &Draft) -> HashMap<(usize, usize), &OwnSummary> {
        let mut placed = HashMap::new();
        if self.summaries.is_empty() {
            return placed;
        }
        let turns: HashMap<&str, usize> =
            draft.turns.iter().enumerate().map(|(n, turn)| (turn.id.as_str(), n)).collect();
        let mut lost: HashMap<Fingerprint, &OwnSummary> = HashMap::new();
        for own in &self.summaries {
            let place = turns.get(own.turn.as_str()).copied();
            let call = place.and_then(|n| draft.turns.get(n)?.steps.get(own.step));
            match place.filter(|_| call.is_some_and(|call| name(key, call) == own.of)) {
                Some(turn) => {
                    placed.insert((turn, own.step), own);
                }
                None => {
                    lost.insert(own.of, own);
                }
            }
        }
        if !lost.is_empty() {
            for (turn, steps) in draft.turns.iter().map(|turn| &turn.steps).enumerate() {
                for (n, call) in steps.iter().enumerate() {
                    if let Some(own) = lost.get(&name(key, call)) {
                        placed.entry((turn, n)).or_insert(own);
                    }
                }
            }
        }
        placed
    }

    pub(crate) fn set_own_summary_text(&mut self, of: &OwnSummary, text: String) {
        if let Some(own) = self.summaries.iter_mut().find(|own| own.turn == of.turn && own.step == of.step) {
            own.text = text;
        }
    }

    /// Where the conversation is being discussed, as an at-uri.
    #[must_use]
    pub fn discussion(&self) -> Option<&str> {
        self.discussion.as_deref()
    }

    /// Sets where it is being discussed.
    pub fn set_discussion(&mut self, uri: Option<String>) {
        self.discussion = uri;
    }

    /// The same decisions with the title, description and summaries of others: for decisions that are kept to go back to, when
    /// more is covered by now than was then.
    pub fn take_texts_of(&mut self, other: &Self) {
        self.title.clone_from(&other.title);
        self.description.clone_from(&other.description);
        self.summaries.clone_from(&other.summaries);
    }

    /// Whether everything that these cover is covered by `other` too, as far as fingerprints tell.
    #[must_use]
    pub fn covers_no_more_than(&self, other: &Self) -> bool {
        let covers =
            |of: &Self, finding: &_| of.findings.get(finding).is_some_and(|c| c.decision == crate::Decision::Cover);
        self.findings.keys().all(|finding| !covers(self, finding) || covers(other, finding))
            && self.words.iter().all(|word| other.words.iter().any(|w| w.id == word.id))
            && self.home.is_none_or(|_| other.home.is_some())
    }
}
