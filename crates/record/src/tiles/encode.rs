//! Reviewed conversations to snapshots.

use jiff::Timestamp;
use onrecord_lexicon::{AtUri, Datetime, Did, Rkey, Tid, data};
use onrecord_redact::{DraftStep, Reviewed, ReviewedContent, ReviewedTurn, Role};
use serde_json::{Map, Value, json, value::RawValue};
use zeroize::Zeroizing;

use super::{ENCRYPTED, FAILED, LinkSecret, SNAPSHOT, UNKNOWN, WITHHELD, split_model};
use crate::{
    EncodedRecord, Error, Family, Loss, Losses,
    keys::{self, Slot},
};

/// The largest record, in bytes of its JSON and of its DAG-CBOR: a server takes 1,000,000 for a request's body and for a
/// record, and the request says where the record is to stand.
pub const MAX_RECORD_BYTES: usize = 999_000;

/// The record of one conversation.
pub struct Encoded {
    /// Where it is to stand.
    pub uri: AtUri,
    /// The record as it goes out.
    pub record: EncodedRecord,
    /// Of a private one, the bytes that are encrypted in it.
    pub clear: Option<Zeroizing<Vec<u8>>>,
    /// What the conversation holds and the record does not.
    pub lost: Vec<Loss>,
}

/// Where the record of a conversation that started at `created_at` stands in `repo`: under the key it has already, else under
/// one derived from its start, its `source` id and the family, which every run derives alike. `taken` says which keys are those
/// of other conversations.
///
/// # Errors
/// The time has no key.
pub fn record_uri(
    repo: &Did,
    family: Family,
    source: &str,
    created_at: Timestamp,
    known: Option<Tid>,
    now: Timestamp,
    taken: impl Fn(&Tid) -> bool,
) -> Result<AtUri, Error> {
    let slot = Slot { turn: 0, part: 0, time: created_at, known };
    // Of its own in every family: a conversation may be on record in several.
    let clock = keys::clock_id(&format!("{family} {source}"));
    let key = keys::assign(&[slot], clock, now, taken)?.into_iter().next();
    let key = key.ok_or(Error::NoRoom { turn: 0, needed: 1 })?;
    Ok(AtUri::parse(&format!("at://{repo}/{SNAPSHOT}/{key}"))?)
}

/// The public record of `reviewed` at `uri` (see [`record_uri`]).
///
/// # Errors
/// [`Error::TooLarge`]; the record is outside the protocol's data model.
pub fn encode(reviewed: &Reviewed, uri: AtUri) -> Result<Encoded, Error> {
    let (value, lost) = snapshot(reviewed, uri.rkey().unwrap_or_default());
    let record = record(&uri, &value)?;
    Ok(Encoded { uri, record, clear: None, lost })
}

/// The private record of `reviewed` at `uri`, encrypted under `secret`, whose nonce must never have served for other content.
///
/// # Errors
/// [`Error::TooLarge`]; the record is outside the protocol's data model.
pub fn encode_private(reviewed: &Reviewed, uri: AtUri, secret: &LinkSecret) -> Result<Encoded, Error> {
    let (value, lost) = snapshot(reviewed, uri.rkey().unwrap_or_default());
    let clear = Zeroizing::new(serde_json::to_vec(&value)?);
    let record = record(&uri, &json!({ "$type": SNAPSHOT, ENCRYPTED: secret.seal(&clear)? }))?;
    Ok(Encoded { uri, record, clear: Some(clear), lost })
}

fn record(uri: &AtUri, value: &Value) -> Result<EncodedRecord, Error> {
    let (block, cid) = data::record_cid(value).map_err(|source| Error::Data { turn: 0, source })?;
    let json = serde_json::to_string(value)?;
    let bytes = json.len().max(block.len());
    if bytes > MAX_RECORD_BYTES {
        return Err(Error::TooLarge { bytes, limit: MAX_RECORD_BYTES });
    }
    let rkey = Rkey::parse(uri.rkey().unwrap_or_default())?;
    Ok(EncodedRecord { turn: None, part: 0, collection: SNAPSHOT, rkey, cid, json: RawValue::from_string(json)? })
}

/// The snapshot of `reviewed` in clear, with what it loses. `session_id` is what it is called in the record: its key, as the
/// name of a transcript may say more than its author wants to.
#[must_use]
pub fn snapshot(reviewed: &Reviewed, session_id: &str) -> (Value, Vec<Loss>) {
    let mut lost = Losses::default();
    if reviewed.description().is_some_and(|d| !d.is_empty()) {
        lost.add("description");
    }
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for turn in reviewed.turns() {
        let model = turn.content().and_then(ReviewedContent::model);
        let current = match turns.last_mut() {
            Some(current) if turn.role() == Role::Assistant && current.takes(model) => current,
            _ => {
                turns.push(Turn::default());
                match turns.last_mut() {
                    Some(current) => current,
                    None => continue,
                }
            }
        };
        current.model = current.model.or(model);
        if turn.role() == Role::Assistant && turn.content().is_some() && model.is_none() {
            lost.add("name of a model (the transcript does not say)");
        }
        messages(turn, &mut current.messages, &mut lost);
    }
    let turns: Vec<Value> = turns.into_iter().map(Turn::into_json).collect();
    let value = json!({
        "$type": SNAPSHOT,
        "name": reviewed.title().unwrap_or_default(),
        "sessionId": session_id,
        "createdAt": Datetime::from_timestamp(reviewed.created_at()).as_str(),
        "turns": turns,
    });
    (value, lost.0)
}

/// A turn as Tiles has it: a prompt and what one model did for it.
#[derive(Default)]
struct Turn<'a> {
    model: Option<&'a str>,
    messages: Vec<Value>,
}

impl Turn<'_> {
    fn takes(&self, model: Option<&str>) -> bool {
        self.model.is_none() || model.is_none() || self.model == model
    }

    fn into_json(self) -> Value {
        let (provider, model) = self.model.map_or((UNKNOWN, UNKNOWN), split_model);
        json!({ "provider": provider, "model": model, "messages": self.messages })
    }
}

/// The messages of one turn: what was said and called, and for every call that failed that it did.
fn messages(turn: &ReviewedTurn, messages: &mut Vec<Value>, lost: &mut Losses) {
    let role = match turn.role() {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let timestamp = turn.created_at().as_millisecond();
    let Some(content) = turn.content() else {
        messages.push(json!({ "role": role, "content": [{ "type": WITHHELD }], "timestamp": timestamp }));
        return;
    };
    let mut items: Vec<Value> =
        content.reasoning().iter().map(|thought| json!({ "type": "thinking", "thinking": thought })).collect();
    if !content.text().is_empty() || (items.is_empty() && content.steps().is_empty()) {
        items.push(json!({ "type": "text", "text": content.text() }));
    }
    let steps = || (1..).zip(content.steps());
    items.extend(steps().map(|(n, step)| {
        lost.add("tool arguments (one line on each call is kept)");
        tool_call(n, step)
    }));
    messages.push(json!({ "role": role, "content": items, "timestamp": timestamp }));
    messages.extend(steps().filter(|(_, step)| step.failed).map(|(n, step)| {
        json!({
            "role": "toolResult",
            "toolCallId": call_id(n),
            "toolName": step.tool,
            "isError": true,
            "content": [{ "type": "text", "text": FAILED }],
            "timestamp": timestamp,
        })
    }));
}

/// A call. One that failed has an id, by which its result names it: the lexicon has no field for either, pi has these.
fn tool_call(n: usize, step: &DraftStep) -> Value {
    let mut call = json!({ "type": "toolCall", "name": step.tool, "arguments": arguments(step).to_string() });
    if let (true, Value::Object(fields)) = (step.failed, &mut call) {
        fields.insert("id".to_owned(), call_id(n).into());
    }
    call
}

/// What a turn's `n`th call is called.
pub(crate) fn call_id(n: usize) -> String {
    format!("call-{n}")
}

/// What stands in place of a call's arguments: the one line on what it was called for.
pub(crate) fn arguments(step: &DraftStep) -> Value {
    let mut arguments = Map::new();
    if !step.summary.is_empty() {
        arguments.insert("summary".to_owned(), Value::from(step.summary.as_str()));
    }
    Value::Object(arguments)
}
