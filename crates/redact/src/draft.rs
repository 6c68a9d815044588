//! What would be published, before anything is covered.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// A conversation projected to what a published one could carry: no tool output, no unknown field; reasoning only where the
/// author asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What the conversation was about.
    pub title: Option<String>,
    /// Why it is published, in the author's words.
    pub description: Option<String>,
    /// When the conversation started.
    pub created_at: Timestamp,
    /// The turns in reading order.
    pub turns: Vec<DraftTurn>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A person.
    User,
    /// The agent.
    Assistant,
}

/// One turn that could be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftTurn {
    /// Stable name of the turn within its conversation; decisions to withhold are kept by it.
    pub id: String,
    /// Place in the conversation, from 1.
    pub index: usize,
    /// Who speaks.
    pub role: Role,
    /// When it happened.
    pub created_at: Timestamp,
    /// `provider/model`, on agent turns.
    pub model: Option<String>,
    /// The visible text.
    pub text: String,
    /// The tool calls.
    pub steps: Vec<DraftStep>,
    /// What the model thought to itself, where that is to be published too; only some families carry it.
    pub reasoning: Vec<String>,
}

/// One tool call that could be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftStep {
    /// The tool's name as the agent called it.
    pub tool: String,
    /// One line on what it was called for; may be empty.
    pub summary: String,
    /// Whether the call failed.
    pub failed: bool,
}

/// A text within a [`Draft`]: where a finding stands. Steps and pieces of reasoning count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// The conversation's title.
    Title,
    /// The conversation's description.
    Description,
    /// A turn's text.
    Text,
    /// The name of a turn's tool call.
    StepTool(usize),
    /// The summary of a turn's tool call.
    StepSummary(usize),
    /// A piece of a turn's reasoning.
    Reasoning(usize),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Title => f.write_str("title"),
            Self::Description => f.write_str("description"),
            Self::Text => f.write_str("text"),
            Self::StepTool(n) => write!(f, "steps[{n}].tool"),
            Self::StepSummary(n) => write!(f, "steps[{n}].summary"),
            Self::Reasoning(n) => write!(f, "reasoning[{n}]"),
        }
    }
}

/// The text names no [`Field`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a field is title, description, text, steps[N].tool, steps[N].summary or reasoning[N]")]
pub struct NotAField;

impl FromStr for Field {
    type Err = NotAField;

    fn from_str(s: &str) -> Result<Self, NotAField> {
        let numbered = |start: &str, end: &str| s.strip_prefix(start)?.strip_suffix(end)?.parse().ok();
        match s {
            "title" => return Ok(Self::Title),
            "description" => return Ok(Self::Description),
            "text" => return Ok(Self::Text),
            _ => {}
        }
        (numbered("steps[", "].tool").map(Self::StepTool))
            .or_else(|| numbered("steps[", "].summary").map(Self::StepSummary))
            .or_else(|| numbered("reasoning[", "]").map(Self::Reasoning))
            .ok_or(NotAField)
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
