//! Reviewed conversations to records.

use std::collections::HashMap;

use jiff::Timestamp;
use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Rkey, Tid, data};
use onrecord_redact::{DraftStep, Reviewed, ReviewedTurn, Role};
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use super::{MESSAGE, MessageRecord, SESSION, SessionRecord, StepRecord};
use crate::{
    About, EncodedRecord, Error, Loss, Losses, TurnAbout, about,
    keys::{self, Slot},
    split::{Limits, shorten, split},
};

// The lexicons' own limits; a test compares them with the bundled schemas.
pub(super) const TEXT: Limits = Limits { bytes: 60_000, graphemes: 15_000 };
pub(super) const TITLE: Limits = Limits { bytes: 640, graphemes: 128 };
pub(super) const DESCRIPTION: Limits = Limits { bytes: 12_000, graphemes: 3_000 };
pub(super) const TOOL: Limits = Limits { bytes: 320, graphemes: 64 };
pub(super) const SUMMARY: Limits = Limits { bytes: 1_000, graphemes: 250 };
pub(super) const STEPS: usize = 100;
/// Stands where the transcript does not say which model spoke: a reader must never take it for a person.
const UNKNOWN_MODEL: &str = "unknown/unknown";

/// The keys a conversation has already.
#[derive(Debug, Clone, Default)]
pub struct KnownKeys {
    /// Key of the session record.
    pub session: Option<Tid>,
    /// Keys of the turns' records, by turn id and part.
    pub turns: HashMap<(String, u32), Tid>,
}

/// The records of one conversation.
#[derive(Debug)]
pub struct Encoded {
    /// Where the session record is to stand.
    pub uri: AtUri,
    /// The session record, then the message records in reading order.
    pub records: Vec<EncodedRecord>,
    /// What the conversation holds and the records do not.
    pub lost: Vec<Loss>,
}

/// Where the session record of a conversation that started at `created_at` stands in `repo`: under the key it has already,
/// else under one derived from its start and its `source` id, which every run derives alike. `taken` says which keys are
/// those of other conversations.
///
/// # Errors
/// The time has no key.
pub fn session_uri(
    repo: &Did,
    source: &str,
    created_at: Timestamp,
    known: &KnownKeys,
    now: Timestamp,
    taken: impl Fn(&Tid) -> bool,
) -> Result<AtUri, Error> {
    let slot = Slot { turn: 0, part: 0, time: created_at, known: known.session.clone() };
    let key = keys::assign(&[slot], keys::clock_id(source), now, taken)?;
    let key = key.into_iter().next().ok_or(Error::NoRoom { turn: 0, needed: 1 })?;
    Ok(AtUri::parse(&format!("at://{repo}/{SESSION}/{key}"))?)
}

/// Makes the records of `reviewed` under the session at `uri` (see [`session_uri`]).
///
/// `source` names the conversation (for the clock id of its keys), `about` says what its turns are about, `taken` says which message keys belong to records of
/// other conversations.
///
/// # Errors
/// See [`Error`].
pub fn encode(
    reviewed: &Reviewed,
    uri: AtUri,
    source: &str,
    known: &KnownKeys,
    about: &About,
    now: Timestamp,
    taken: impl Fn(&Tid) -> bool,
) -> Result<Encoded, Error> {
    let mut lost = Losses::default();
    let rkey = Rkey::parse(uri.rkey().unwrap_or_default())?;
    let session = SessionRecord {
        title: reviewed.title().filter(|t| !t.is_empty()).map(|t| lost.shorten("end of the title", t, TITLE)),
        description: reviewed
            .description()
            .filter(|d| !d.is_empty())
            .map(|d| lost.shorten("end of the description", d, DESCRIPTION)),
        discussion: reviewed.discussion().map(AtUri::parse).transpose()?,
        created_at: Datetime::from_timestamp(reviewed.created_at()),
        extra: Map::new(),
    };
    let mut records = vec![record(None, 0, 0, SESSION, rkey, &session)?];

    let mut pending = Vec::new();
    let mut slots = Vec::new();
    for turn in reviewed.turns() {
        for (part, message) in (0..).zip(messages(turn, &uri, about.get(turn.id()), &mut lost)) {
            let key = (turn.id().to_owned(), part);
            slots.push(Slot {
                turn: turn.index(),
                part,
                time: turn.created_at(),
                known: known.turns.get(&key).cloned(),
            });
            pending.push((key, turn.index(), message));
        }
    }
    let keys = keys::assign(&slots, keys::clock_id(source), now, taken)?;
    records.reserve(pending.len());
    for (((id, part), index, message), key) in pending.into_iter().zip(keys) {
        records.push(record(Some(id), part, index, MESSAGE, Rkey::from(key), &message)?);
    }
    Ok(Encoded { uri, records, lost: lost.0 })
}

/// The records of one turn: one, unless it is over the limits.
fn messages(turn: &ReviewedTurn, session: &AtUri, about: Option<&TurnAbout>, lost: &mut Losses) -> Vec<MessageRecord> {
    let role = match turn.role() {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let bare = MessageRecord {
        session: session.clone(),
        role: role.to_owned(),
        withheld: false,
        text: String::new(),
        model: None,
        steps: Vec::new(),
        refs: Vec::new(),
        mentions: Vec::new(),
        created_at: Datetime::from_timestamp(turn.created_at()),
        extra: Map::new(),
    };
    let Some(content) = turn.content() else {
        return vec![MessageRecord { withheld: true, ..bare }];
    };
    let model = (turn.role() == Role::Assistant).then(|| {
        content.model().map_or_else(
            || {
                lost.add("name of a model (the transcript does not say)");
                UNKNOWN_MODEL.to_owned()
            },
            str::to_owned,
        )
    });
    for _ in content.reasoning() {
        lost.add("reasoning");
    }
    let mut steps = content.steps().iter().map(|step| step_record(step, lost));
    let texts = split(content.text(), TEXT);
    // The steps follow the text, as they do for a reader of a turn that fits into one record.
    let last = texts.len() - 1;
    let mut records: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| MessageRecord {
            text: (*text).to_owned(),
            model: model.clone(),
            steps: if n == last { steps.by_ref().take(STEPS).collect() } else { Vec::new() },
            ..bare.clone()
        })
        .collect();
    loop {
        let more: Vec<_> = steps.by_ref().take(STEPS).collect();
        if more.is_empty() {
            break;
        }
        records.push(MessageRecord { model: model.clone(), steps: more, ..bare.clone() });
    }
    // What a turn is about is said once, however many records it takes.
    if let (Some(first), Some(about)) = (records.first_mut(), about) {
        first.refs = lost.most("reference over the 50 that a turn can have", &about.refs);
        first.mentions = lost.most("mention over the 50 that a turn can have", &about.mentions);
    }
    records
}

fn step_record(step: &DraftStep, lost: &mut Losses) -> StepRecord {
    let summary = lost.shorten("end of a step's summary", &step.summary, SUMMARY);
    StepRecord {
        tool: lost.shorten("end of a tool's name", &step.tool, TOOL),
        summary: (!summary.is_empty()).then_some(summary),
        failed: step.failed,
    }
}

pub(super) fn record(
    turn: Option<String>,
    part: u32,
    index: usize,
    collection: &'static str,
    rkey: Rkey,
    value: &impl Serialize,
) -> Result<EncodedRecord, Error> {
    let mut json = serde_json::to_value(value)?;
    if let Value::Object(fields) = &mut json {
        fields.insert("$type".to_owned(), Value::from(collection));
    }
    let (_, cid): (_, Cid) = data::record_cid(&json).map_err(|source| Error::Data { turn: index, source })?;
    let json = RawValue::from_string(serde_json::to_string(&json)?)?;
    Ok(EncodedRecord { turn, part, collection, rkey, cid, json })
}

impl Losses {
    /// The first of `all`, as many as a record may have.
    fn most<T: Clone>(&mut self, what: &'static str, all: &[T]) -> Vec<T> {
        all.iter().skip(about::MOST).for_each(|_| self.add(what));
        all.iter().take(about::MOST).cloned().collect()
    }

    fn shorten(&mut self, what: &'static str, text: &str, limits: Limits) -> String {
        let (text, was_longer) = shorten(text, limits);
        if was_longer {
            self.add(what);
        }
        text
    }
}
