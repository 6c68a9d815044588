//! A published conversation as it goes out: the one structure behind HTML, JSON, Markdown and plain text.

mod build;
mod checked;
mod find;
mod list;
mod status;
mod stretch;

use std::borrow::Cow;

use onrecord_record::Published;
use serde::Serialize;

pub(crate) use build::first_line;
pub use checked::{Checked, Outcome};
pub(crate) use find::{FindView, finds};
pub use list::{ListEntry, ListView};
pub(crate) use status::{CountView, RejectionView, StatusView};
pub(crate) use stretch::author_of;
pub use stretch::{Part, Stretch};

use crate::{SHELF, moment::Moment};

/// Where the records stand, which decides what may be said about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// Nowhere yet: what would go out.
    Preview,
    /// On this machine's shelf only.
    Shelf,
    /// In the author's repository.
    Repository,
}

impl Standing {
    /// The standing of records that were found: the shelf's, or a repository's.
    #[must_use]
    pub fn of(published: &Published) -> Self {
        if published.repo.as_str() == SHELF { Self::Shelf } else { Self::Repository }
    }
}

/// A conversation.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationView<'a> {
    /// At-uri of the session record.
    pub uri: String,
    /// CID of the session record.
    pub cid: &'a str,
    /// Key of the session record.
    pub rkey: &'a str,
    /// Whose it is.
    pub author: Author<'a>,
    /// Where the records stand.
    pub standing: Standing,
    /// Its title, or what stands in for one.
    pub title: Cow<'a, str>,
    /// Where the title is from.
    pub title_from: TitleFrom,
    /// What was being explored, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    /// At-uri of a post where it is being discussed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discussion: Option<&'a str>,
    /// When it started.
    pub created_at: &'a str,
    /// When its last turn happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_turn_at: Option<&'a str>,
    /// How much there is, and how much is not.
    pub counts: Counts,
    /// The models that spoke: in the order of their first words, or of a part, the most used first.
    pub models: Vec<ModelView<'a>>,
    /// Which part of the conversation its turns are; none if they are all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Its turns in reading order.
    pub turns: Vec<TurnView<'a>>,
    /// What the last check of the author's signature found, where there was one since these records came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
    /// What a reader should know of how it was read, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Cow<'a, str>>,
    /// What was asked, in all of it.
    #[serde(skip)]
    pub(crate) asked: Vec<Asked<'a>>,
}

/// A line of the outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    pub(crate) rkey: &'a str,
    /// How many records stand before it.
    pub(crate) position: usize,
    /// How it begins; none for a prompt held back, or one without words.
    pub(crate) line: Option<Cow<'a, str>>,
    pub(crate) withheld: bool,
}

/// The owner of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Author<'a> {
    /// The repository.
    pub did: &'a str,
    /// The handle, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<&'a str>,
    /// What the account calls itself, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<&'a str>,
    /// What it says of its being automated, in plain words, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automation: Option<&'static str>,
}

/// Where a title is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TitleFrom {
    /// The session record.
    Record,
    /// The first line a person wrote, as far as it is published.
    FirstLine,
    /// Nothing a person wrote is published.
    Nothing,
}

/// How much a conversation holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Turns; the records of a turn that was too long for one record count once, except where only a part was read.
    pub turns: usize,
    /// Message records.
    pub records: usize,
    /// Turns held back.
    pub withheld: usize,
    /// Spans covered, wherever they are: text, steps, title, description. Of a part: in that part.
    pub covered: usize,
    /// Tool calls.
    pub steps: usize,
    /// Tool calls that failed.
    pub failed: usize,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelView<'a> {
    /// As the record has it, `provider/model`.
    pub id: &'a str,
    /// In plain words, where they follow from the id.
    pub name: Cow<'a, str>,
}

/// How a turn follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Continues {
    /// Someone else spoke before it.
    No,
    /// The same speaker spoke before it, at another time.
    Speaker,
    /// It is the same turn, too long for one record.
    Turn,
}

/// One message record.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnView<'a> {
    /// Its key, which is also its anchor on the page.
    pub rkey: &'a str,
    /// Its CID.
    pub cid: &'a str,
    /// `user`, `assistant`, or a role this version does not know.
    pub role: &'a str,
    /// How it follows the record before it.
    pub continues: Continues,
    /// When it happened.
    pub created_at: &'a str,
    /// The author held it back: it has no text, no model, no steps, no references.
    pub withheld: bool,
    /// It is encrypted and cannot be read here, which is neither withheld nor empty.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub encrypted: bool,
    /// This site hides it: neither its author's doing, nor empty.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// What was said. Empty is empty, and not withheld.
    pub text: &'a str,
    /// The model that said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelView<'a>>,
    /// The tools it called, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepView<'a>>,
    /// Records it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<RefView<'a>>,
    /// Accounts it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<MentionView<'a>>,
    /// The code fence the record before it left open.
    #[serde(skip)]
    pub(crate) fence: Option<&'a str>,
    #[serde(skip)]
    pub(crate) moment: Moment<'a>,
    /// Whether it happened on another day than the turn before it.
    #[serde(skip)]
    pub(crate) new_day: bool,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepView<'a> {
    /// The tool, as the agent called it.
    pub tool: &'a str,
    /// What it was called for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<&'a str>,
    /// Whether the call failed.
    pub failed: bool,
}

/// A record that a turn is about, at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefView<'a> {
    /// Its at-uri.
    pub uri: &'a str,
    /// The version that was discussed.
    pub cid: &'a str,
}

/// An account that a turn is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MentionView<'a> {
    /// The account.
    pub did: &'a str,
}

#[cfg(test)]
pub(crate) mod tests;
