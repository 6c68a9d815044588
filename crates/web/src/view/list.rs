//! The list of conversations.

use onrecord_record::{Family, Published};
use serde::Serialize;

use super::{ConversationView, Standing};

/// One conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListEntry {
    /// The author's repository.
    pub repo: String,
    /// The author's handle, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// How its records are written.
    pub family: Family,
    /// Key of the session record, or of the one record there is.
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
            family: published.family,
            rkey: view.rkey.to_owned(),
            title: view.title.to_string(),
            created_at: view.created_at.to_owned(),
            turns: view.counts.turns,
            withheld: view.counts.withheld,
            models: view.models.iter().map(|model| model.name.to_string()).collect(),
            standing,
        }
    }
}

/// A page of the list, newest first.
#[derive(Debug, Clone, Serialize)]
pub struct ListView<'a> {
    /// How many conversations there are on all pages.
    pub total: usize,
    /// Which page this is, from 1.
    pub page: usize,
    /// How many pages there are, at least 1.
    pub pages: usize,
    /// The conversations of this page.
    pub conversations: &'a [ListEntry],
}
