//! A snapshot written again as the snapshot it is.

use std::collections::HashSet;

use onrecord_redact::Reviewed;
use serde_json::{Map, Value, json};

use super::{Form, Reading, Snapshot, UNKNOWN, WITHHELD};
use crate::{Error, reissue::cover};

/// Words of the protocol and of the family, which no bar may stand over.
const STRUCTURAL: [&str; 6] = ["$type", "type", "role", "createdAt", "stopReason", "mimeType"];

/// `snapshot`, of which `reading` was made, and `reviewed` of that: the same record, unknown fields and all, with bars over what
/// is covered and holes where turns are held back. The last gate is to look at it.
///
/// # Errors
/// [`Error::NotASnapshot`] for one of the older form, which is not written.
pub fn reissue(reviewed: &Reviewed, snapshot: &Snapshot, reading: &Reading) -> Result<Value, Error> {
    if snapshot.form == Form::Legacy {
        return Err(Error::NotASnapshot { why: "the older form is read and not written" });
    }
    let mut value = snapshot.value.clone();
    for turn in reviewed.turns().iter().filter(|turn| turn.content().is_none()) {
        // One that was held back already stays as it was written.
        if !reading.held.contains(turn.id()) {
            hold_back(&mut value, reading.places.get(turn.id()).map(Vec::as_slice).unwrap_or_default());
        }
    }
    no_nulls(&mut value);
    cover(&mut value, reviewed, &STRUCTURAL);
    if let Value::Object(fields) = &mut value {
        fields.insert("name".to_owned(), Value::from(reviewed.title().unwrap_or_default()));
    }
    Ok(value)
}

/// Makes a hole of the messages at `places`: the first is bare, the others go, and so do the results of their calls.
fn hold_back(value: &mut Value, places: &[(usize, usize)]) {
    let turns: HashSet<usize> = places.iter().map(|(turn, _)| *turn).collect();
    let mut first = true;
    for index in 0.. {
        let Some(turn) = value.get_mut("turns").and_then(|turns| turns.get_mut(index)) else { return };
        if !turns.contains(&index) {
            continue;
        }
        let Some(messages) = turn.get_mut("messages").and_then(Value::as_array_mut) else { continue };
        let mut kept = Vec::with_capacity(messages.len());
        // The results of a call follow it.
        let mut within = false;
        for (place, message) in messages.drain(..).enumerate() {
            if message.get("role").and_then(Value::as_str) == Some("toolResult") {
                if !within {
                    kept.push(message);
                }
                continue;
            }
            within = places.contains(&(index, place));
            if !within {
                kept.push(message);
            } else if std::mem::take(&mut first) {
                kept.push(bare(&message));
            }
        }
        *messages = kept;
        let speaks =
            |message: &Value| message.get("role").and_then(Value::as_str) == Some("assistant") && !is_held(message);
        if !messages.iter().any(speaks)
            && let Value::Object(turn) = turn
        {
            // Of a turn held back, nobody is to know which model it was.
            turn.insert("provider".to_owned(), UNKNOWN.into());
            turn.insert("model".to_owned(), UNKNOWN.into());
            turn.remove("api");
        }
    }
}

/// Role and time of a message, and that it was held back.
fn bare(message: &Value) -> Value {
    let mut bare = Map::new();
    for name in ["role", "timestamp"] {
        if let Some(field) = message.get(name) {
            bare.insert(name.to_owned(), field.clone());
        }
    }
    bare.insert("content".to_owned(), json!([{ "type": WITHHELD }]));
    Value::Object(bare)
}

fn is_held(message: &Value) -> bool {
    super::decode::list(message, "content").iter().any(|item| super::decode::text(item, "type") == Some(WITHHELD))
}

/// The app writes `null` for an `api` or a `provider` it does not know, which the lexicon forbids.
fn no_nulls(value: &mut Value) {
    let Some(turns) = value.get_mut("turns").and_then(Value::as_array_mut) else { return };
    for turn in turns.iter_mut().filter_map(Value::as_object_mut) {
        if turn.get("api") == Some(&Value::Null) {
            turn.remove("api");
        }
        for name in ["provider", "model"] {
            if turn.get(name) == Some(&Value::Null) {
                turn.insert(name.to_owned(), UNKNOWN.into());
            }
        }
    }
}
