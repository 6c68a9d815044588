//! The firehose of a relay or a PDS: frames of two DAG-CBOR values, a head and a body.
//! Source: the protocol's event stream specification and `com.atproto.sync.subscribeRepos`.

use onrecord_lexicon::{
    Cid, Did, Handle, Nsid, Rkey, Tid,
    data::{Object, Value},
};
use url::Url;

use super::{
    AccountStatus, Commit, Cursor, Event, Flaw, Frame, Operation, Pattern, Proof, Watched, endpoint,
    event::{Unfit, parse},
    jetstream::is_wanted,
};
use crate::{Action, error::quote};

/// Most operations that a commit may have.
const MAX_OPERATIONS: usize = 200;
/// Most values in the head or the body of a frame. A commit of the most operations has some 1,600; older servers list the
/// blobs of the records beside. Without a limit, a frame of numbers alone would take many times its size.
const MAX_VALUES: usize = 20_000;

pub(super) fn address(url: &Url, cursor: Option<&Cursor>) -> Url {
    let mut address = endpoint(url, "/xrpc/com.atproto.sync.subscribeRepos");
    if let Some(Cursor::Sequence(seq)) = cursor {
        // Not inclusive: the server goes on after it.
        address.query_pairs_mut().append_pair("cursor", &seq.to_string());
    }
    address
}

pub(super) fn decode(bytes: &[u8], wanted: &[Pattern], watched: &Watched) -> Frame {
    read(bytes, wanted, watched).unwrap_or_else(|unfit| unfit.frame(None))
}

fn read(bytes: &[u8], wanted: &[Pattern], watched: &Watched) -> Result<Frame, Unfit> {
    let fault = |error: onrecord_lexicon::data::DataError| Unfit::new(Flaw::Encoding, quote(&error.to_string()));
    let (head, rest) = Value::split_dag_cbor(bytes, MAX_VALUES).map_err(fault)?;
    let head = head.as_object().ok_or_else(|| Unfit::fields("a head that is no object"))?;
    let (body, rest) = Value::split_dag_cbor(rest, MAX_VALUES).map_err(fault)?;
    if !rest.is_empty() {
        return Err(Unfit::new(Flaw::Encoding, "something follows the body"));
    }
    let body = body.as_object().ok_or_else(|| Unfit::fields("a body that is no object"))?;
    let word = |field: &str| quote(text(body, field).unwrap_or_default());
    match head.get("op").and_then(Value::as_integer) {
        Some(1) => {}
        Some(-1) => return Ok(Frame::Ended { name: word("error"), message: word("message") }),
        _ => return Err(Unfit::fields("a head of no known kind")),
    }
    let kind = text(head, "t").unwrap_or_default();
    if kind == "#info" {
        return Ok(Frame::Notice { name: word("name"), message: word("message") });
    }
    let cursor = body.get("seq").and_then(Value::as_integer).map(Cursor::sequence).transpose()?;
    let event = match kind {
        "#commit" => match commit(body, wanted, watched)? {
            Some(event) => event,
            None => return Ok(Frame::Passed { cursor, acknowledge: None }),
        },
        "#sync" => Event::Sync { did: did(body, "did")?, rev: tid(body, "rev")? },
        "#identity" => {
            let handle = text(body, "handle").and_then(|handle| Handle::parse(handle).ok());
            Event::Identity { did: did(body, "did")?, handle }
        }
        "#account" => {
            let Some(Value::Bool(active)) = body.get("active") else {
                return Err(Unfit::fields("an account of no status"));
            };
            let at = text(body, "time").and_then(|time| time.parse().ok());
            Event::Account { did: did(body, "did")?, status: AccountStatus::of(*active, text(body, "status")), at }
        }
        _ => return Ok(Frame::Passed { cursor, acknowledge: None }),
    };
    Ok(Frame::Event { event, cursor, acknowledge: None })
}

/// A commit, or none where it touches nothing that is wanted.
fn commit(body: &Object<'_>, wanted: &[Pattern], watched: &Watched) -> Result<Option<Event>, Unfit> {
    let did = did(body, "repo")?;
    let rev = tid(body, "rev")?.ok_or_else(|| Unfit::fields("a commit of no revision"))?;
    // Commits too large to be told: the repository has to be fetched.
    if body.get("tooBig") == Some(&Value::Bool(true)) {
        return Ok(Some(Event::Sync { did, rev: Some(rev) }));
    }
    let operations = body.get("ops").and_then(Value::as_array);
    let operations = operations.ok_or_else(|| Unfit::fields("a commit without operations"))?;
    if operations.len() > MAX_OPERATIONS {
        return Err(Unfit::new(Flaw::Operations, format!("a commit of {} operations", operations.len())));
    }
    let collection = |op: &Value<'_>| {
        let path = op.as_object().and_then(|op| text(op, "path")).unwrap_or_default();
        is_wanted(wanted, path.split('/').next().unwrap_or_default())
    };
    if !operations.iter().any(collection) && !watched.has(&did) {
        return Ok(None);
    }
    let operations = operations.iter().map(operation).collect::<Result<Vec<_>, Unfit>>()?;
    let blocks = body.get("blocks").and_then(Value::as_bytes);
    let blocks = blocks.ok_or_else(|| Unfit::fields("a commit without blocks"))?;
    let proof = Proof {
        blocks: blocks.to_vec(),
        commit: link(body, "commit").ok_or_else(|| Unfit::fields("a commit without its CID"))?,
        since: tid(body, "since")?,
        prev_data: link(body, "prevData"),
    };
    Ok(Some(Event::Commit(Commit { did, rev, operations, proof: Some(proof), is_history: false })))
}

fn operation(value: &Value<'_>) -> Result<Operation, Unfit> {
    let op = value.as_object().ok_or_else(|| Unfit::fields("an operation that is no object"))?;
    let action = match text(op, "action") {
        Some("create") => Action::Create,
        Some("update") => Action::Update,
        Some("delete") => Action::Delete,
        _ => return Err(Unfit::fields("an operation that is no create, update or delete")),
    };
    let path = text(op, "path").and_then(|path| path.split_once('/'));
    let (collection, rkey) = path.ok_or_else(|| Unfit::fields("an operation without its path"))?;
    let cid = link(op, "cid");
    if (action == Action::Delete) != cid.is_none() {
        return Err(Unfit::fields("an operation whose CID does not fit what it does"));
    }
    Ok(Operation {
        action,
        collection: parse(collection, Nsid::parse)?,
        rkey: parse(rkey, Rkey::parse)?,
        cid,
        previous: link(op, "prev"),
        record: None,
    })
}

fn text<'a>(object: &'a Object<'_>, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str)
}

fn link(object: &Object<'_>, field: &str) -> Option<Cid> {
    object.get(field).and_then(Value::as_link).cloned()
}

fn did(object: &Object<'_>, field: &str) -> Result<Did, Unfit> {
    parse(text(object, field).ok_or_else(|| Unfit::fields("an event of no account"))?, Did::parse)
}

fn tid(object: &Object<'_>, field: &str) -> Result<Option<Tid>, Unfit> {
    text(object, field).map(|rev| parse(rev, Tid::parse)).transpose()
}
