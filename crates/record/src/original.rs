//! Conversations as others, or we, wrote them: read from records of any family, and written again without loss.

use std::collections::HashMap;

use onrecord_lexicon::{AtUri, Catalog, Cid, Did, Nsid, Rkey, data};
use onrecord_redact::Reviewed;
use onrecord_transcript::Conversation;
use serde_json::{Value, json};

use crate::{
    Error, Loss, Published,
    aligned::{self, Unreadable},
    generic, sharedcomputer, tiles,
};

/// A record with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordAt {
    /// Where it stands.
    pub uri: AtUri,
    /// What it is.
    pub cid: Cid,
    /// The record, `$type` and unknown fields included.
    pub value: Value,
}

impl RecordAt {
    /// A record with the CID that its value has.
    ///
    /// # Errors
    /// It is outside the protocol's data model.
    pub fn new(uri: AtUri, value: Value) -> Result<Self, Error> {
        let (_, cid) = data::record_cid(&value).map_err(|source| Error::Data { turn: 0, source })?;
        Ok(Self { uri, cid, value })
    }

    fn rkey(&self) -> Option<Rkey> {
        Rkey::parse(self.uri.rkey()?).ok()
    }
}

/// A conversation read from records, with the records themselves where this version writes their family.
#[derive(Debug, Clone)]
pub enum Original {
    /// Of the click.aligned family: the session's record first, then the messages' in key order.
    Aligned {
        /// As pages show it.
        published: Box<Published>,
        /// The records.
        records: Vec<RecordAt>,
    },
    /// A Tiles record.
    Tiles {
        /// The record, in clear.
        snapshot: tiles::Snapshot,
        /// What it says.
        reading: Box<tiles::Reading>,
    },
    /// Of `network.sharedcomputer`.
    SharedComputer(Box<sharedcomputer::Reading>),
    /// Any other record.
    Generic {
        /// What it says.
        document: Box<generic::Document>,
        /// Where it stands.
        id: String,
    },
}

/// What a reader is told in place of a turn that its author held back.
pub const HELD_BACK: &str = "held back by the author";

impl Original {
    /// Puts a click.aligned conversation together: the record of its session, and all that may be messages of it. Those that
    /// cannot be understood are reported, and left out of what is shown; they are kept.
    ///
    /// # Errors
    /// The session's record cannot be understood.
    pub fn aligned(
        repo: &Did,
        handle: Option<onrecord_lexicon::Handle>,
        session: RecordAt,
        mut messages: Vec<RecordAt>,
    ) -> Result<(Self, Vec<Unreadable>), Error> {
        messages.retain(|m| m.value.get("session").and_then(Value::as_str) == Some(session.uri.as_str()));
        messages.sort_by(|a, b| a.uri.rkey().cmp(&b.uri.rkey()));
        let no_key = || Error::NotAConversation { why: "its session record has no key".to_owned() };
        let head = (session.rkey().ok_or_else(no_key)?, session.cid.clone(), &session.value);
        let parts = messages.iter().filter_map(|m| Some((m.rkey()?, m.cid.clone(), m.value.clone())));
        let (published, unreadable) = aligned::published(repo, handle, head, parts)
            .map_err(|unreadable| Error::NotAConversation { why: unreadable.to_string() })?;
        let records = std::iter::once(session).chain(messages).collect();
        Ok((Self::Aligned { published: Box::new(published), records }, unreadable))
    }

    /// The conversation that a Tiles record is; `id` is where it stands.
    #[must_use]
    pub fn tiles(snapshot: tiles::Snapshot, id: &str) -> Self {
        let reading = Box::new(tiles::read(&snapshot, id));
        Self::Tiles { snapshot, reading }
    }

    /// Any other record, by its schema where `catalog` has it.
    #[must_use]
    pub fn generic(collection: &str, id: &str, value: &Value, catalog: &Catalog) -> Self {
        let document = Box::new(generic::read(collection, value, catalog.lexicon(collection)));
        Self::Generic { document, id: id.to_owned() }
    }

    /// What a file holds that is one document of records, as [`Original::to_document`] writes it and `listRecords` gives it, or a
    /// single record; `None` if it is neither. `id` is what a record is called that does not say.
    ///
    /// # Errors
    /// It is one and cannot be read.
    pub fn parse(document: &Value, id: &str, catalog: &Catalog) -> Option<Result<Self, Error>> {
        if let Some(records) = document.get("records").and_then(Value::as_array) {
            // Other programs have lists of that name too.
            let is_record = |record: &Value| record.get("uri").is_some() && record.get("value").is_some();
            return records.iter().any(is_record).then(|| listed(records));
        }
        let collection = Nsid::parse(document.get("$type")?.as_str()?).ok()?;
        Some(match collection.as_str() {
            tiles::SNAPSHOT | tiles::LEGACY => tiles::Snapshot::open(collection.as_str(), document.clone(), None)
                .map(|snapshot| Self::tiles(snapshot, id)),
            other => Ok(Self::generic(other, id, document, catalog)),
        })
    }

    /// The conversation.
    #[must_use]
    pub fn conversation(&self) -> Conversation {
        match self {
            Self::Aligned { published, .. } => {
                let mut conversation = aligned::conversation(published);
                conversation.source.id = published.uri();
                conversation
            }
            Self::Tiles { reading, .. } => reading.conversation.clone(),
            Self::SharedComputer(reading) => reading.conversation.clone(),
            Self::Generic { document, id } => document.conversation(id),
        }
    }

    /// The turns that say nothing for a reason, by their ids: what a reader is to be told in place of their words.
    #[must_use]
    pub fn notes(&self) -> HashMap<String, &'static str> {
        match self {
            Self::Aligned { published, .. } => {
                let held = published.messages.iter().filter(|m| m.record.withheld);
                held.map(|m| (m.rkey.to_string(), HELD_BACK)).collect()
            }
            Self::Tiles { reading, .. } => reading.held.iter().map(|id| (id.clone(), HELD_BACK)).collect(),
            Self::SharedComputer(reading) => {
                reading.shut.iter().map(|id| (id.clone(), "encrypted: it cannot be read here")).collect()
            }
            Self::Generic { .. } => HashMap::new(),
        }
    }

    /// The turns that their author held back, by their ids.
    #[must_use]
    pub fn held(&self) -> Vec<String> {
        match self {
            Self::SharedComputer(_) | Self::Generic { .. } => Vec::new(),
            Self::Aligned { .. } | Self::Tiles { .. } => self.notes().into_keys().collect(),
        }
    }

    /// Whether `text` stands in any text of the records, what the conversation does not show among it.
    #[must_use]
    pub fn says(&self, text: &str) -> bool {
        match self {
            Self::Aligned { records, .. } => records.iter().any(|record| says(&record.value, text)),
            Self::Tiles { snapshot, .. } => says(&snapshot.value, text),
            Self::SharedComputer(_) | Self::Generic { .. } => false,
        }
    }

    /// What the records hold that the conversation made of them does not.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        let losses = match self {
            Self::SharedComputer(reading) => vec![
                Loss { what: "encrypted turn", count: reading.shut.len() },
                Loss { what: "part of an unknown kind", count: reading.unknown.len() },
            ],
            Self::Aligned { published, .. } => vec![
                Loss { what: "reference", count: published.messages.iter().map(|m| m.record.refs.len()).sum() },
                Loss { what: "mention", count: published.messages.iter().map(|m| m.record.mentions.len()).sum() },
            ],
            Self::Tiles { .. } | Self::Generic { .. } => Vec::new(),
        };
        losses.into_iter().filter(|loss| loss.count > 0).collect()
    }

    /// The same records again, with bars over what is covered in `reviewed` and holes where turns are held back; unknown fields
    /// and all. `None` if this version does not write their family. The last gate is to look at them.
    ///
    /// # Errors
    /// A record is outside the protocol's data model.
    pub fn reissue(&self, reviewed: &Reviewed) -> Option<Result<Value, Error>> {
        match self {
            Self::Aligned { published, records } => {
                Some(aligned::reissue(reviewed, published, records).map(|records| Self::to_document(&records)))
            }
            Self::Tiles { snapshot, .. } if snapshot.form == tiles::Form::Legacy => None,
            Self::Tiles { snapshot, reading } => Some(tiles::reissue(reviewed, snapshot, reading)),
            Self::SharedComputer(_) | Self::Generic { .. } => None,
        }
    }

    /// Records as one document, as `listRecords` gives them: `{"records": [{"uri", "cid", "value"}, …]}`.
    #[must_use]
    pub fn to_document(records: &[RecordAt]) -> Value {
        let one = |r: &RecordAt| json!({ "uri": r.uri.as_str(), "cid": r.cid.as_str(), "value": r.value });
        json!({ "records": records.iter().map(one).collect::<Vec<_>>() })
    }
}

fn says(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| says(item, text)),
        Value::Object(fields) => fields.values().any(|field| says(field, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The conversation of a list of records.
fn listed(records: &[Value]) -> Result<Original, Error> {
    let bad = |why: &str| Error::NotAConversation { why: why.to_owned() };
    let mut session = None;
    let mut messages = Vec::new();
    for record in records {
        let uri = tiles::text(record, "uri").ok_or_else(|| bad("a record of the list has no uri"))?;
        let uri = AtUri::parse(uri)?;
        let value = record.get("value").cloned().ok_or_else(|| bad("a record of the list has no value"))?;
        let at = RecordAt::new(uri, value)?;
        match at.uri.collection() {
            Some(aligned::SESSION) if session.is_none() => session = Some(at),
            Some(aligned::SESSION) => return Err(bad("the list holds more than one session")),
            Some(aligned::MESSAGE) => messages.push(at),
            _ => {}
        }
    }
    let session = session.ok_or_else(|| bad("the list holds no session record"))?;
    let repo = Did::parse(session.uri.authority())?;
    Ok(Original::aligned(&repo, None, session, messages)?.0)
}

#[cfg(test)]
mod tests;
