//! The `click.aligned.chat` family: one session record, one message record per turn.
//! Source: the published lexicons `click.aligned.chat.session` and `click.aligned.chat.message`.

mod decode;
mod encode;
mod member;
mod reissue;

pub use decode::{Unreadable, conversation, published};
pub use encode::{Encoded, KnownKeys, encode, session_uri};
pub use member::{MEMBER, MemberRecord};
pub use reissue::reissue;

use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Handle, Rkey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Family;

/// Collection of the session records.
pub const SESSION: &str = "click.aligned.chat.session";
/// Collection of the message records.
pub const MESSAGE: &str = "click.aligned.chat.message";

/// A `click.aligned.chat.session` record, without its `$type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// What the conversation was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What was being explored, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A post where it is being discussed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discussion: Option<AtUri>,
    /// When the conversation started.
    pub created_at: Datetime,
    /// Fields of the record we do not know, `$type` among them.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A `click.aligned.chat.message` record, without its `$type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageRecord {
    /// The session it belongs to.
    pub session: AtUri,
    /// `user`, `assistant`, or a role this version does not know.
    pub role: String,
    /// The turn happened and its content was not published.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
    /// What was said; runs of U+2588 are redactions.
    pub text: String,
    /// `provider/model`, on agent turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools the agent called, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRecord>,
    /// Records the turn is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<StrongRef>,
    /// Accounts the turn is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Did>,
    /// When the turn happened.
    pub created_at: Datetime,
    /// Fields of the record we do not know, `$type` among them.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One tool call within a [`MessageRecord`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The tool's name as the agent called it.
    pub tool: String,
    /// One line on what it was called for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// A record at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrongRef {
    /// Where the record is.
    pub uri: AtUri,
    /// Which version is meant.
    pub cid: Cid,
}

/// A published conversation as it stands in a repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The author's repository; `did:web:localhost` for the local shelf.
    pub repo: Did,
    /// The author's handle, where known.
    pub handle: Option<Handle>,
    /// How its records are written.
    pub family: Family,
    /// Key of the session record, or of the one record there is.
    pub rkey: Rkey,
    /// CID of that record.
    pub cid: Cid,
    /// The session record.
    pub session: SessionRecord,
    /// The message records in reading order, which is key order.
    pub messages: Vec<PublishedMessage>,
}

impl Published {
    /// Where the session record is, or the one record there is.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("at://{}/{}/{}", self.repo, self.family.collection(), self.rkey)
    }
}

/// A message record with its key.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedMessage {
    /// Its key.
    pub rkey: Rkey,
    /// Its CID.
    pub cid: Cid,
    /// The record.
    pub record: MessageRecord,
}

#[cfg(test)]
mod tests;
