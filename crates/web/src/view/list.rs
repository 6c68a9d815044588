//! The list of conversations.

use jiff::Timestamp;
use onrecord_index::ConversationHead;
use onrecord_lexicon::Datetime;
use onrecord_record::{Family, Published};
use serde::Serialize;

use super::{ConversationView, Standing};
use crate::model_name;

/// One conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListEntry {
    /// The author's repository.
    pub repo: String,
    /// The author's handle, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// What the author's account calls itself, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Collection of the session record, or of the one record there is.
    pub collection: String,
    /// Key of that record.
    pub rkey: String,
    /// Its title, or what stands in for one.
    pub title: String,
    /// When it started, as the record has it.
    pub created_at: String,
    /// How many turns it has.
    pub turns: usize,
    /// How many of them are held back.
    pub withheld: usize,
    /// The models that spoke, in plain words.
    pub models: Vec<String>,
    /// Only its link opens it: its turns are not counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub encrypted: bool,
    /// Where its records stand.
    pub standing: Standing,
}

impl ListEntry {
    /// The entry for `published`, counted as its page counts.
    #[must_use]
    pub fn new(published: &Published, standing: Standing) -> Self {
        let view = ConversationView::new(published, standing);
        Self {
            repo: view.author.did.to_owned(),
            handle: view.author.handle.map(str::to_owned),
            display_name: None,
            collection: published.family.collection().to_owned(),
            rkey: view.rkey.to_owned(),
            title: view.title.to_string(),
            created_at: view.created_at.to_owned(),
            turns: view.counts.turns,
            withheld: view.counts.withheld,
            models: view.models.iter().map(|model| model.name.to_string()).collect(),
            encrypted: published.family == Family::TilesPrivate,
            standing,
        }
    }

    /// The entry for a conversation of the index.
    #[must_use]
    pub fn of_head(head: &ConversationHead) -> Self {
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let started = Timestamp::from_millisecond(head.started_ms).unwrap_or_default();
        Self {
            repo: head.author.did.to_string(),
            handle: head.author.handle.as_ref().map(ToString::to_string),
            display_name: head.author.profile.display_name.clone(),
            collection: head.address.collection.to_string(),
            rkey: head.address.rkey.to_string(),
            title: head.title.as_deref().or(head.opening.as_deref()).unwrap_or("(no opening message)").to_owned(),
            created_at: Datetime::from_timestamp(started).to_string(),
            turns: count(head.turns),
            withheld: count(head.withheld),
            models: head.models.iter().map(|model| model_name(model).into_owned()).collect(),
            encrypted: false,
            standing: Standing::Repository,
        }
    }
}

/// A list of conversations, newest first.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListView<'a> {
    /// Whose they are, if they are one account's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<super::Author<'a>>,
    /// The conversations.
    pub conversations: &'a [ListEntry],
    /// Where the list goes on, if it does: the value of `after` that asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
