//! The Tiles family: a whole conversation in one record, public or encrypted, and the older form that is only read.
//! Source: the published lexicon `run.tiles.chat.sessionSnapshot`, and what the Tiles app writes (`docs/families.md`).
//!
//! A record is kept as the JSON it is ([`Snapshot`]), so that nothing of it is lost on the way: what this version does not
//! know stands in it when it is written again ([`reissue`]).

mod decode;
mod encode;
mod envelope;
mod legacy;
mod link;
mod reissue;

pub use decode::{Reading, published, read};
pub(crate) use decode::{list, text};
pub use encode::{Encoded, MAX_RECORD_BYTES, encode, encode_private, record_uri, snapshot};
pub(crate) use encode::{arguments as step_arguments, call_id};
pub use envelope::LinkSecret;
pub use link::TilesLink;
pub use reissue::reissue;

use serde_json::Value;

use crate::Error;

/// Collection of the snapshots.
pub const SNAPSHOT: &str = "run.tiles.chat.sessionSnapshot";
/// Collection of the older form, of which no lexicon was published.
pub const LEGACY: &str = "run.tiles.session";

/// The field of a private record, its only one.
const ENCRYPTED: &str = "enc_content";
/// What a content item says that stands for a turn held back.
const WITHHELD: &str = "withheld";
/// Stands in the result of a call that failed, which is the one thing of it that is published.
const FAILED: &str = "failed";

/// A Tiles record in clear.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The record, `$type` and unknown fields included.
    pub value: Value,
    /// Which of its forms it has.
    pub form: Form,
}

/// The forms of a Tiles record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Anybody can read it.
    Public,
    /// It was encrypted, and its link opened it.
    Private,
    /// Of the older form.
    Legacy,
}

impl Snapshot {
    /// The snapshot that the record `value` of `collection` is; an encrypted one is opened with `secret`.
    ///
    /// # Errors
    /// [`Error::Encrypted`] without a secret, [`Error::WrongKey`] with one that does not fit, [`Error::NotASnapshot`].
    pub fn open(collection: &str, value: Value, secret: Option<&LinkSecret>) -> Result<Self, Error> {
        if collection == LEGACY {
            return match value.get("contents") {
                Some(Value::Array(_)) => Ok(Self { value, form: Form::Legacy }),
                _ => Err(Error::NotASnapshot { why: "it has no contents" }),
            };
        }
        let (value, form) = match value.get(ENCRYPTED) {
            None => (value, Form::Public),
            Some(Value::String(sealed)) => {
                let clear = secret.ok_or(Error::Encrypted)?.open(sealed)?;
                // The parser's message could quote what was encrypted.
                let not_json = |_| Error::NotASnapshot { why: "what was encrypted is no JSON" };
                (serde_json::from_slice(&clear).map_err(not_json)?, Form::Private)
            }
            Some(_) => return Err(Error::NotASnapshot { why: "its enc_content is no text" }),
        };
        match value.get("turns") {
            Some(Value::Array(_)) => Ok(Self { value, form }),
            _ => Err(Error::NotASnapshot { why: "it has no turns" }),
        }
    }
}

/// Whether a record says of itself that it is encrypted.
#[must_use]
pub fn is_encrypted(value: &Value) -> bool {
    value.get(ENCRYPTED).is_some()
}

/// `provider/model` as a snapshot has it, in two.
fn split_model(model: &str) -> (&str, &str) {
    model.split_once('/').unwrap_or((UNKNOWN, model))
}

/// And as one again; `None` where neither is known.
fn join_model(provider: Option<&str>, model: Option<&str>) -> Option<String> {
    let known = |name: &&str| !name.is_empty() && *name != UNKNOWN;
    match (provider.filter(known), model.filter(known)) {
        (Some(provider), Some(model)) if model.starts_with(&format!("{provider}/")) => Some(model.to_owned()),
        (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
        (None, Some(model)) => Some(format!("{UNKNOWN}/{model}")),
        (_, None) => None,
    }
}

const UNKNOWN: &str = "unknown";

#[cfg(test)]
mod tests;
