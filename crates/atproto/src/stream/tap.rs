//! Tap: a server that keeps the history of chosen repositories, checks it, and sends each event until it is acknowledged.
//! Source: its published formats (WebSocket `/channel`).

use std::borrow::Cow;

use onrecord_lexicon::{Did, Handle, Tid};
use serde::Deserialize;
use serde_json::value::RawValue;
use url::Url;

use super::{
    AccountStatus, Commit, Event, Frame, Pattern, endpoint,
    event::{Unfit, parse},
    jetstream::{is_wanted, misfit, operation},
};

pub(super) fn address(url: &Url) -> Url {
    endpoint(url, "/channel")
}

pub(super) fn acknowledgement(number: u64) -> String {
    format!(r#"{{"type":"ack","id":{number}}}"#)
}

#[derive(Deserialize)]
struct Message<'a> {
    id: u64,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    record: Option<Record<'a>>,
    #[serde(borrow)]
    identity: Option<Identity<'a>>,
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(default)]
    live: bool,
    #[serde(borrow)]
    did: Cow<'a, str>,
    #[serde(borrow)]
    rev: Cow<'a, str>,
    #[serde(borrow)]
    collection: Cow<'a, str>,
    #[serde(borrow)]
    rkey: Cow<'a, str>,
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow)]
    record: Option<&'a RawValue>,
    #[serde(borrow)]
    cid: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Identity<'a> {
    #[serde(borrow)]
    did: Cow<'a, str>,
    #[serde(borrow)]
    handle: Option<Cow<'a, str>>,
    is_active: bool,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
}

/// An identity message tells two things at once, handle and status: it is told as the account's status where that is not
/// active, and else as an identity, which makes the account active again.
pub(super) fn decode(bytes: &[u8], wanted: &[Pattern]) -> Frame {
    let message: Message<'_> = match serde_json::from_slice(bytes) {
        Ok(message) => message,
        Err(error) => return misfit(&error).frame(number(bytes)),
    };
    let acknowledge = Some(message.id);
    let event = match (&*message.kind, message.record, message.identity) {
        ("record", Some(record), _) if is_wanted(wanted, &record.collection) => commit(&record),
        ("identity", _, Some(identity)) => account(&identity),
        ("record", None, _) | ("identity", _, None) => Err(Unfit::fields("a message without its content")),
        _ => return Frame::Passed { cursor: None, acknowledge },
    };
    match event {
        Ok(event) => Frame::Event { event, cursor: None, acknowledge },
        Err(unfit) => unfit.frame(acknowledge),
    }
}

/// The number of a message that cannot be understood otherwise.
fn number(bytes: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Numbered {
        id: u64,
    }
    serde_json::from_slice::<Numbered>(bytes).ok().map(|message| message.id)
}

fn commit(record: &Record<'_>) -> Result<Event, Unfit> {
    let written = operation(&record.action, &record.collection, &record.rkey, record.cid.as_deref(), record.record)?;
    Ok(Event::Commit(Commit {
        did: parse(&record.did, Did::parse)?,
        rev: parse(&record.rev, Tid::parse)?,
        operations: vec![written],
        proof: None,
        is_history: !record.live,
    }))
}

fn account(identity: &Identity<'_>) -> Result<Event, Unfit> {
    let did = parse(&identity.did, Did::parse)?;
    let status = AccountStatus::of(identity.is_active, identity.status.as_deref());
    Ok(match status {
        AccountStatus::Active => {
            Event::Identity { did, handle: identity.handle.as_deref().and_then(|h| Handle::parse(h).ok()) }
        }
        status => Event::Account { did, status, at: None },
    })
}
