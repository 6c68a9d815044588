//! What must be written so that a repository holds exactly the desired records.

use std::collections::BTreeMap;

use onrecord_lexicon::{Cid, Rkey};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::EncodedRecord;

/// What a write does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// A record that is not there yet.
    Create,
    /// A record that is there with another content.
    Update,
    /// A record that is to go.
    Delete,
}

/// One write to a repository.
#[derive(Debug, Clone, Serialize)]
pub struct Write {
    /// What it does.
    pub action: Action,
    /// The record's collection.
    pub collection: String,
    /// The record's key.
    pub rkey: Rkey,
    /// CID of the record afterwards; `None` for a deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cid: Option<Cid>,
    /// The record; `None` for a deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Box<RawValue>>,
}

/// The records of one conversation that a repository really holds: key → CID, by collection.
pub type Existing = BTreeMap<(String, Rkey), Cid>;

/// The writes that turn `existing` into `desired`, in the order they must happen: the desired records in theirs (the session
/// first), then deletions of `stale` keys, which are those this conversation used before and needs no more.
#[must_use]
pub fn plan<'a>(
    desired: &[EncodedRecord],
    existing: &Existing,
    stale: impl IntoIterator<Item = &'a (String, Rkey)>,
) -> Vec<Write> {
    let mut writes = Vec::new();
    for record in desired {
        let place = (record.collection.to_owned(), record.rkey.clone());
        let action = match existing.get(&place) {
            Some(cid) if *cid == record.cid => continue,
            Some(_) => Action::Update,
            None => Action::Create,
        };
        writes.push(Write {
            action,
            collection: place.0,
            rkey: place.1,
            cid: Some(record.cid.clone()),
            record: Some(record.json.clone()),
        });
    }
    for place in stale {
        let wanted = desired.iter().any(|d| d.collection == place.0 && d.rkey == place.1);
        if existing.contains_key(place) && !wanted {
            writes.push(Write {
                action: Action::Delete,
                collection: place.0.clone(),
                rkey: place.1.clone(),
                cid: None,
                record: None,
            });
        }
    }
    writes
}

#[cfg(test)]
mod tests;
