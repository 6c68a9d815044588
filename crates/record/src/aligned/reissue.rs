//! The records of a conversation written again as what they are.

use std::collections::{HashMap, HashSet};

use onrecord_redact::Reviewed;
use serde_json::{Map, Value};

use super::{Published, conversation};
use crate::{Error, RecordAt, reissue::cover};

/// Words of the protocol and of the family, which no bar may stand over.
const STRUCTURAL: [&str; 6] = ["$type", "session", "role", "createdAt", "uri", "cid"];

/// `records` (the session's first) of `published`, and `reviewed` of the conversation made of them: the same records under the
/// same keys, unknown fields and all, with bars over what is covered and bare ones where turns are held back.
///
/// # Errors
/// A record is outside the protocol's data model.
pub fn reissue(reviewed: &Reviewed, published: &Published, records: &[RecordAt]) -> Result<Vec<RecordAt>, Error> {
    // A turn may be several records: it is called after the first, and goes on until the next.
    let starts: HashSet<String> = conversation(published).turns.into_iter().map(|turn| turn.id).collect();
    let withheld: HashMap<&str, bool> = reviewed.turns().iter().map(|t| (t.id(), t.content().is_none())).collect();
    let (mut held, mut again) = (false, Vec::with_capacity(records.len()));
    for (place, record) in records.iter().enumerate() {
        let key = record.uri.rkey().unwrap_or_default();
        let first = starts.contains(key);
        if place == 0 {
            let mut value = record.value.clone();
            cover(&mut value, reviewed, &STRUCTURAL);
            if let Value::Object(fields) = &mut value {
                set(fields, "title", reviewed.title());
                if reviewed.description().is_some() {
                    set(fields, "description", reviewed.description());
                }
            }
            again.push(RecordAt::new(record.uri.clone(), value)?);
            continue;
        }
        if first {
            held = withheld.get(key).copied().unwrap_or(false);
        }
        let mut value = record.value.clone();
        let was_held = value.get("withheld") == Some(&Value::Bool(true));
        if held && !was_held {
            if !first {
                continue;
            }
            value = bare(&value);
        } else {
            cover(&mut value, reviewed, &STRUCTURAL);
        }
        again.push(RecordAt::new(record.uri.clone(), value)?);
    }
    Ok(again)
}

fn set(fields: &mut Map<String, Value>, name: &str, text: Option<&str>) {
    match text {
        // One that is there and says nothing stays as it is.
        None if fields.get(name).is_none_or(|old| old.as_str().is_none_or(str::is_empty)) => {}
        None => drop(fields.remove(name)),
        Some(text) => drop(fields.insert(name.to_owned(), text.into())),
    }
}

fn bare(value: &Value) -> Value {
    let mut fields = Map::new();
    for name in ["$type", "session", "role", "createdAt"] {
        if let Some(field) = value.get(name) {
            fields.insert(name.to_owned(), field.clone());
        }
    }
    fields.insert("withheld".to_owned(), true.into());
    fields.insert("text".to_owned(), "".into());
    Value::Object(fields)
}
