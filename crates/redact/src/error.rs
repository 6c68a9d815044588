//! What can go wrong. No variant carries a text of the conversation.

use crate::{Field, Fingerprint};

/// Why nothing was scanned, decided or sealed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The rules are not TOML of the known shape.
    #[error("the rules cannot be read: {0}")]
    RulesSyntax(String),
    /// There are no rules at all, which would find nothing and look like success.
    #[error("the rules are empty; nothing would be found")]
    NoRules,
    /// The list of words is not usable.
    #[error("the list of words cannot be read: {0}")]
    Words(String),
    /// A rule is not usable.
    #[error("rule {id}: {reason}")]
    Rule {
        /// The rule.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A planted canary was not found, or got through: the engine cannot be trusted.
    #[error("the engine failed its self-test: it missed {missed}; nothing can be published with it")]
    SelfTest {
        /// What was planted.
        missed: &'static str,
    },
    /// Findings wait for the author.
    #[error("{count} findings are undecided; the first: {}", places(.first))]
    Undecided {
        /// How many.
        count: usize,
        /// The first of them, in reading order.
        first: Vec<UndecidedPlace>,
    },
    /// More was found than anyone could look through.
    #[error(
        "more than {most} findings, {count} of them in the {field}{}; hold that turn back, or make the text shorter",
        .turn.map(|n| format!(" of turn {n}")).unwrap_or_default()
    )]
    TooManyFindings {
        /// So many are listed at most.
        most: usize,
        /// The turn in which it became too many, from 1; none for title and description.
        turn: Option<usize>,
        /// The text.
        field: Field,
        /// How many were found in it.
        count: usize,
    },
    /// This kind of secret may never be published.
    #[error("{rule} findings can be covered or their turn withheld, but never allowed")]
    NotAllowable {
        /// The rule that found it.
        rule: String,
    },
    /// Allowing needs a reason, for the person who reads the decisions later.
    #[error("allowing a finding needs a reason")]
    NoReason,
    /// The finding stands in the title or the description, which are no turn.
    #[error("a finding in the {0} cannot be withheld; cover it or change the {0}")]
    NotInTurn(Field),
    /// A pattern to cover cannot be used.
    #[error("the pattern to cover cannot be used: {0}")]
    Pattern(String),
    /// The author's own title or description would be kept in clear.
    #[error("the {field} holds what must not be kept in clear: {name} ({rule})")]
    InOwnText {
        /// Title or description.
        field: Field,
        /// The rule that found it.
        rule: String,
        /// What it is, for people.
        name: String,
    },
    /// Nothing to cover.
    #[error("a word to cover cannot be empty")]
    EmptyWord,
    /// There is no such text, or it is one that is written anew instead.
    #[error("there is no passage at that place that could be covered there alone")]
    NoSuchPassage,
    /// Bars are not words.
    #[error("a word to cover cannot contain a bar (U+2588)")]
    BarInWord,
    /// Covering kept uncovering new findings.
    #[error("covering did not settle; nothing is sealed")]
    Unsettled,
    /// The literal matcher could not be built.
    #[error("the covered values cannot be compiled for searching: {0}")]
    Matcher(String),
}

/// Where an undecided finding stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndecidedPlace {
    /// The turn, from 1; none for title and description.
    pub turn: Option<usize>,
    /// The text.
    pub field: Field,
    /// The rule.
    pub rule: String,
    /// Names the value among others, without telling it.
    pub fingerprint: Fingerprint,
}

fn places(first: &[UndecidedPlace]) -> String {
    let mut out = String::new();
    for place in first {
        if !out.is_empty() {
            out.push_str("; ");
        }
        if let Some(turn) = place.turn {
            out.push_str(&format!("turn {turn}, "));
        }
        out.push_str(&format!("{} ({})", place.field, place.rule));
    }
    out
}
