//! The definitions of `dev.onrecord.defs`, from what the index answers and from the views that pages are made of.

use jiff::Timestamp;
use onrecord_index::{Author, ConversationHead, HiddenTurn, Hit, Snippet};
use onrecord_lexicon::Datetime;
use serde::Serialize;

use crate::view::{MentionView, ModelView, RefView, StepView, TurnView};

/// `#conversationView`
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    uri: String,
    author: Author,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opening: Option<String>,
    started_at: Datetime,
    published_at: Datetime,
    turns: u64,
    withheld: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<u64>,
    steps: u64,
    failed: u64,
    models: Vec<String>,
}

impl From<ConversationHead> for Head {
    fn from(head: ConversationHead) -> Self {
        Self {
            uri: head.address.uri(),
            author: head.author,
            title: head.title,
            opening: head.opening,
            started_at: datetime(head.started_ms),
            published_at: datetime(head.published_us / 1000),
            turns: head.turns,
            withheld: head.withheld,
            hidden: Some(head.hidden).filter(|hidden| *hidden > 0),
            steps: head.steps,
            failed: head.failed,
            models: head.models,
        }
    }
}

/// `#turnView`
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Turn {
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cid: Option<String>,
    role: String,
    created_at: String,
    withheld: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Model>,
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refs: Vec<Ref>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<String>,
}

impl Turn {
    /// Its at-uri, which within a conversation orders turns as they are read.
    pub(super) fn uri(&self) -> Option<&str> {
        self.uri.as_deref()
    }

    /// `turn`, whose record has the address `uri` if it has one of its own.
    pub(super) fn new(turn: &TurnView<'_>, uri: Option<String>) -> Self {
        Self {
            cid: uri.is_some().then(|| turn.cid.to_owned()),
            uri,
            role: turn.role.to_owned(),
            created_at: turn.created_at.to_owned(),
            withheld: turn.withheld,
            hidden: false,
            text: turn.text.to_owned(),
            model: turn.model.as_ref().map(Model::from),
            steps: turn.steps.iter().map(Step::from).collect(),
            refs: turn.refs.iter().map(Ref::from).collect(),
            mentions: turn.mentions.iter().map(|MentionView { did }| (*did).to_owned()).collect(),
        }
    }
}

impl From<&HiddenTurn> for Turn {
    fn from(turn: &HiddenTurn) -> Self {
        Self {
            uri: Some(turn.address.uri()),
            cid: None,
            role: turn.role.unwrap_or("turn").to_owned(),
            created_at: datetime(turn.at_ms).to_string(),
            withheld: false,
            hidden: true,
            text: String::new(),
            model: None,
            steps: Vec::new(),
            refs: Vec::new(),
            mentions: Vec::new(),
        }
    }
}

/// `#modelView`
#[derive(Serialize)]
pub(super) struct Model {
    id: String,
    name: String,
}

impl Model {
    /// The model that records call `id`.
    pub(super) fn of(id: String) -> Self {
        Self { name: crate::model_name(&id).into_owned(), id }
    }
}

impl From<&ModelView<'_>> for Model {
    fn from(model: &ModelView<'_>) -> Self {
        Self { id: model.id.to_owned(), name: model.name.to_string() }
    }
}

/// `#stepView`
#[derive(Serialize)]
struct Step {
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    failed: bool,
}

impl From<&StepView<'_>> for Step {
    fn from(step: &StepView<'_>) -> Self {
        Self { tool: step.tool.to_owned(), summary: step.summary.map(str::to_owned), failed: step.failed }
    }
}

/// `com.atproto.repo.strongRef`
#[derive(Serialize)]
struct Ref {
    uri: String,
    cid: String,
}

impl From<&RefView<'_>> for Ref {
    fn from(reference: &RefView<'_>) -> Self {
        Self { uri: reference.uri.to_owned(), cid: reference.cid.to_owned() }
    }
}

/// `#hitView`
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    uri: String,
    author: Author,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Model>,
    created_at: Datetime,
    withheld: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<Snippet>,
}

impl From<Hit> for Found {
    fn from(hit: Hit) -> Self {
        Self {
            uri: hit.address.uri(),
            author: hit.author,
            conversation: hit.conversation.map(|address| address.uri()),
            title: hit.title,
            role: hit.role,
            model: hit.model.filter(|_| !hit.withheld).map(Model::of),
            created_at: datetime(hit.at_ms),
            withheld: hit.withheld,
            snippet: hit.snippet,
        }
    }
}

/// `#countView`
#[derive(Serialize)]
pub(super) struct Count {
    pub(super) name: String,
    pub(super) count: u64,
}

/// Milliseconds since 1970 as records have times.
fn datetime(ms: i64) -> Datetime {
    Datetime::from_timestamp(Timestamp::from_millisecond(ms).unwrap_or_default())
}
