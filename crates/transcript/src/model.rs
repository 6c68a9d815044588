//! The conversation model: what every harness's transcript becomes.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use crate::harness::{Harness, UnknownHarness};

/// Where a conversation came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The program that wrote it.
    pub harness: Harness,
    /// The harness's own session id; the file stem where the transcript names none.
    pub id: String,
    /// The file it was read from; absent for standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The harness's version as the transcript gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The project folder the agent worked in. Never printed or published: step summaries are relative to it.
    #[serde(skip)]
    pub cwd: Option<String>,
    /// The conversation in which an agent started this one, where it is an agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}

/// Where a conversation was started by an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parent {
    /// The id of that conversation.
    pub id: String,
    /// The id of the call in it ([`Part::ToolCall`]), where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A person.
    User,
    /// The agent.
    Assistant,
}

/// One conversation, on its active branch, whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Where it came from.
    pub source: Source,
    /// The harness's title, else the start of the first human prompt; `None` if there is neither.
    pub title: Option<String>,
    /// Whether the title is only the start of the first human prompt. Then it says what that prompt says, and is not
    /// published: a reader's own fallback is made from what is.
    #[serde(skip)]
    pub title_is_prompt: bool,
    /// When it started: the time of the first turn.
    #[serde(serialize_with = "rfc3339_ms")]
    pub created_at: Timestamp,
    /// The turns, in reading order.
    pub turns: Vec<Turn>,
    /// What could not be read, and where.
    pub warnings: Vec<Warning>,
}

/// One human prompt, or everything the agent did between two human prompts
/// (one agent message with [`crate::Grain::Message`]).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Place in the conversation, from 1.
    pub index: usize,
    /// Stable name of the turn within its conversation: the harness's id of its first message,
    /// else derived from its place and time. Does not change when the conversation grows.
    #[serde(skip)]
    pub id: String,
    /// The `id` of the turn it belongs to at [`crate::Grain::Turn`], where withholding is decided; its own there.
    #[serde(skip)]
    pub group: String,
    /// Who speaks.
    pub role: Role,
    /// When it happened: the time of its first message.
    #[serde(serialize_with = "rfc3339_ms")]
    pub created_at: Timestamp,
    /// `provider/model`, e.g. `anthropic/claude-opus-4-5`; on agent turns, where known.
    /// Several models in one turn: the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The visible text, its parts joined by a blank line: what a published turn would carry.
    pub text: String,
    /// The tool calls in order: what a published turn would carry. Always present on agent turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Step>>,
    /// Everything a reader of the transcript could see. Left out of a person's turn that is text alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

impl Turn {
    /// The steps, none for a person's turn.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        self.steps.as_deref().unwrap_or_default()
    }
}

/// One tool call as a published turn would carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The tool's name as the agent called it.
    pub tool: String,
    /// One line on what it was called for; never its output, paths relative to the project.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Whether the call failed.
    pub failed: bool,
}

/// One thing in a turn, in the order it happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Part {
    /// Visible text.
    Text {
        /// The text.
        text: String,
    },
    /// The model's reasoning. Never published in the click.aligned family.
    Reasoning {
        /// The text.
        text: String,
    },
    /// A tool call with its result.
    ToolCall {
        /// The call's id in the transcript; empty where it gives none.
        id: String,
        /// The tool's name as the agent called it.
        name: String,
        /// The arguments.
        input: serde_json::Value,
        /// What came back, as text; `None` if nothing did.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// Whether the call failed.
        failed: bool,
    },
    /// An image, without its bytes.
    Image {
        /// Its media type, e.g. `image/png`.
        mime_type: String,
        /// Its size in bytes, decoded.
        bytes: u64,
    },
}

/// Something in the transcript that could not be read, or was left out on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Line in the file, from 1; `None` where no single line is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Stable code, e.g. `malformed-line`, `unknown-row-type`, `invalid-utf8`.
    pub code: &'static str,
    /// One sentence for people. Never quotes the transcript's content.
    pub message: String,
}

/// RFC 3339 in UTC with milliseconds, the form of every time we write.
#[must_use]
pub fn format_rfc3339_ms(time: Timestamp) -> String {
    format!("{time:.3}")
}

fn rfc3339_ms<S: serde::Serializer>(time: &Timestamp, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&format_rfc3339_ms(*time))
}
