//! What was found, as it goes out.

use jiff::Timestamp;
use onrecord_index::{Address, Hit, Snippet};
use onrecord_lexicon::{Datetime, Handle};
use serde::Serialize;

use super::{Author, ModelView, author_of, build};
use crate::path_in;

/// One record that was found.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindView<'a> {
    /// Its at-uri.
    pub(crate) uri: String,
    /// Where it is on this site.
    pub(crate) path: String,
    /// Whose it is.
    pub(crate) author: Author<'a>,
    /// At-uri of the conversation it belongs to; itself, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<String>,
    /// That conversation's title, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<&'a str>,
    /// Who speaks: `user`, `assistant`, or a role this version does not know; none where it is no single turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'a str>,
    /// The model that speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelView<'a>>,
    /// When it happened.
    pub(crate) created_at: String,
    /// Its author holds it back: there is nothing to quote.
    pub(crate) withheld: bool,
    /// The place where the words stand, or how it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) snippet: Option<&'a Snippet>,
}

/// The views of what was found.
pub(crate) fn finds(hits: &[Hit]) -> Vec<FindView<'_>> {
    hits.iter().map(FindView::new).collect()
}

impl<'a> FindView<'a> {
    fn new(hit: &'a Hit) -> Self {
        let (did, handle) = (hit.author.did.as_str(), hit.author.handle.as_ref().map(Handle::as_str));
        let path = match &hit.conversation {
            Some(of) => {
                let path = path_in(did, handle, of.collection.as_str(), of.rkey.as_str());
                if *of == hit.address { path } else { format!("{path}/{}", hit.address.rkey) }
            }
            None => path_in(did, None, hit.address.collection.as_str(), hit.address.rkey.as_str()),
        };
        Self {
            uri: hit.address.uri(),
            path,
            author: author_of(did, handle, &hit.author.profile),
            conversation: hit.conversation.as_ref().map(Address::uri),
            title: hit.title.as_deref(),
            role: hit.role.as_deref(),
            model: hit.model.as_deref().map(build::model),
            created_at: Datetime::from_timestamp(Timestamp::from_millisecond(hit.at_ms).unwrap_or_default())
                .to_string(),
            withheld: hit.withheld,
            snippet: hit.snippet.as_ref(),
        }
    }

    /// Who speaks, in words; of a record that is no single turn, whose it is.
    pub(crate) fn speaker(&self) -> String {
        match (self.role, &self.model) {
            (Some("assistant"), Some(model)) => model.name.to_string(),
            (Some("assistant"), None) => "Agent".to_owned(),
            (Some("user") | None, _) => self.author.name().into_owned(),
            (Some(other), _) => other.to_owned(),
        }
    }

    /// As the pages of conversations mark who speaks.
    pub(crate) fn kind(&self) -> &'static str {
        match self.role {
            Some("user") => "person",
            Some("assistant") => "agent",
            _ => "other",
        }
    }

    /// What it is called where it leads.
    pub(crate) fn title(&self) -> &'a str {
        let other = if self.conversation.is_some() { "A conversation without a title" } else { "A record of its own" };
        self.title.filter(|title| !title.trim().is_empty()).unwrap_or(other)
    }

    /// What a withheld turn of this role is called.
    pub(crate) fn noun(&self) -> &'static str {
        match self.role {
            Some("user") => "message",
            Some("assistant") => "reply",
            _ => "turn",
        }
    }
}
