//! What the author decided, in the form in which it is kept: without a single value.

mod own;
mod passages;
mod pointers;
mod stored;
mod whole;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub(crate) use self::{
    own::OwnSummary,
    passages::{Passage, Passages},
};

use self::stored::Stored;
use crate::{
    Decision, Error, Finding, Fingerprint, FingerprintKey, Shared, fingerprint::Tag, text::BLOCK, words::Word,
};

/// The author's decisions on one conversation.
///
/// Findings are kept by rule and fingerprint, words to cover by keyed hashes of their forms: the
/// value of either stands nowhere in here. Title and description are the author's own public text and do stand here, with
/// their bars.
///
/// What is covered stays covered. What is allowed is allowed as one rule found it in certain paragraphs: when the rule or the
/// engine changes, when such a paragraph does, or when the value turns up in another, it is undecided again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Decisions {
    withheld: BTreeSet<String>,
    findings: BTreeMap<(Shared, Fingerprint), Choice>,
    words: Vec<Word>,
    title: Option<String>,
    description: Option<String>,
    home: Option<HomeStyle>,
    no_pointers: bool,
    dropped: BTreeSet<(Option<String>, Fingerprint)>,
    passages: Vec<Passage>,
    summaries: Vec<OwnSummary>,
    discussion: Option<String>,
}

/// What stands for a home folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HomeStyle {
    /// `~`, so that `/home/name/x` reads `~/x`.
    Tilde,
    /// A bar.
    Bar,
}

/// A decision on the findings of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    decision: Decision,
    reason: Option<String>,
    /// What an allow is bound to.
    bound: Option<Bound>,
}

/// The rule as it was when its finding was allowed, and the paragraphs in which its value stood. All of it keyed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    rule: Tag,
    /// In order.
    places: Vec<Tag>,
}

impl Decisions {
    /// Holds a turn back.
    pub fn withhold(&mut self, turn_id: &str) {
        self.withheld.insert(turn_id.to_owned());
    }

    /// No longer holds a turn back.
    pub fn publish(&mut self, turn_id: &str) {
        self.withheld.remove(turn_id);
    }

    /// Whether a turn is held back.
    #[must_use]
    pub fn is_withheld(&self, turn_id: &str) -> bool {
        self.withheld.contains(turn_id)
    }

    /// The ids of the turns held back.
    pub fn withheld(&self) -> impl Iterator<Item = &str> {
        self.withheld.iter().map(String::as_str)
    }

    /// Covers a word wherever it stands, in all its forms, and returns its name. The word itself is not kept.
    ///
    /// # Errors
    /// It is empty, only white space, or has a bar in it.
    pub fn cover_word(&mut self, key: &FingerprintKey, word: &str) -> Result<Fingerprint, Error> {
        let word = word.trim();
        if word.is_empty() {
            return Err(Error::EmptyWord);
        }
        if word.contains(BLOCK) {
            return Err(Error::BarInWord);
        }
        let id = Word::name(key, word);
        if !self.words.iter().any(|w| w.id == id) {
            self.words.push(Word::new(key, word));
        }
        Ok(id)
    }

    /// No longer covers a word; says whether it was covered.
    pub fn uncover_word(&mut self, key: &FingerprintKey, word: &str) -> bool {
        self.uncover(&Word::name(key, word.trim()))
    }

    /// No longer covers the word of that name; says whether it was covered.
    pub fn uncover(&mut self, id: &Fingerprint) -> bool {
        let before = self.words.len();
        self.words.retain(|w| w.id != *id);
        self.words.len() < before
    }

    /// The names of the covered words, in the order in which they were added.
    pub fn covered_words(&self) -> impl Iterator<Item = &Fingerprint> {
        self.words.iter().map(|w| &w.id)
    }

    pub(crate) fn words(&self) -> &[Word] {
        &self.words
    }

    /// Decides on all findings of this rule and value. [`Decision::Withhold`] holds back the finding's turn, and decides
    /// nothing about the same value elsewhere.
    ///
    /// # Errors
    /// Allowing what may not be allowed, or without a reason; withholding title or description.
    pub fn decide(&mut self, finding: &Finding, decision: Decision, reason: Option<&str>) -> Result<(), Error> {
        let reason = reason.map(str::trim).filter(|r| !r.is_empty()).map(str::to_owned);
        match decision {
            Decision::Withhold => {
                let turn = finding.turn_id.as_deref().ok_or(Error::NotInTurn(finding.field))?;
                self.withhold(turn);
                return Ok(());
            }
            Decision::Allow if !finding.allowable => {
                return Err(Error::NotAllowable { rule: finding.rule.to_string() });
            }
            Decision::Allow if reason.is_none() => return Err(Error::NoReason),
            Decision::Allow | Decision::Cover => {}
        }
        let bound = (decision == Decision::Allow)
            .then(|| Bound { rule: finding.ground.rule, places: finding.ground.places.to_vec() });
        self.findings.insert((finding.rule.clone(), finding.fingerprint), Choice { decision, reason, bound });
        Ok(())
    }

    /// Forgets the decision on the findings of this rule and value; says whether there was one.
    pub fn reopen(&mut self, finding: &Finding) -> bool {
        self.findings.remove(&(finding.rule.clone(), finding.fingerprint)).is_some()
    }

    /// What was decided about a finding, as far as it still holds.
    #[must_use]
    pub fn decision(&self, finding: &Finding) -> Option<Decision> {
        let choice = self.findings.get(&(finding.rule.clone(), finding.fingerprint))?;
        let holds = match choice.decision {
            Decision::Allow => {
                self.allows_value(finding)
                    && choice.bound.as_ref().is_some_and(|b| b.places.binary_search(&finding.ground.place).is_ok())
            }
            _ => true,
        };
        holds.then_some(choice.decision)
    }

    /// Whether this value is allowed somewhere, as the rule finds it now.
    pub(crate) fn allows_value(&self, finding: &Finding) -> bool {
        let choice = self.findings.get(&(finding.rule.clone(), finding.fingerprint));
        finding.allowable
            && choice.is_some_and(|c| {
                c.decision == Decision::Allow && c.bound.as_ref().is_some_and(|b| b.rule == finding.ground.rule)
            })
    }

    /// Why the findings of a rule and value were allowed.
    #[must_use]
    pub fn reason(&self, rule: &str, fingerprint: &Fingerprint) -> Option<&str> {
        self.findings.get(&(rule.into(), *fingerprint))?.reason.as_deref()
    }

    /// The author's title; `None` where the conversation's own stands, `Some("")` for no title at all.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Sets the title; `None` goes back to the conversation's own, an empty one removes it.
    pub fn set_title(&mut self, title: Option<String>) {
        self.title = title;
    }

    /// The author's description; see [`Self::title`].
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Sets the description; see [`Self::set_title`].
    pub fn set_description(&mut self, description: Option<String>) {
        self.description = description;
    }

    /// What stands for home folders, once that is decided.
    #[must_use]
    pub fn home(&self) -> Option<HomeStyle> {
        self.home
    }

    /// Decides on all home folders at once: each finding of one that has no decision of its own is covered, and this stands
    /// for it. `None` leaves them to be decided one by one.
    pub fn set_home(&mut self, home: Option<HomeStyle>) {
        self.home = home;
    }
}
