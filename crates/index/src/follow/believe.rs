//! What a commit on a stream says, and whether it is so.

use onrecord_atproto::{
    Action, Client,
    stream::{Commit, Operation, Proof},
};
use onrecord_lexicon::data::Value;
use onrecord_repo::{Before, Claim, Link, PublicKey, Slice, SliceError, Written, check_slice};

use crate::{Address, Change, CommitFlaw, Put};

/// Why a commit is not believed.
#[derive(Debug)]
pub(super) struct Doubt {
    /// To be counted by.
    pub(super) flaw: CommitFlaw,
    /// In words.
    pub(super) why: String,
}

impl Doubt {
    fn new(flaw: CommitFlaw, why: impl Into<String>) -> Self {
        Self { flaw, why: why.into() }
    }
}

impl From<SliceError> for Doubt {
    fn from(error: SliceError) -> Self {
        Self::new(CommitFlaw::of(&error), error.to_string())
    }
}

/// The changes that a commit makes; of a firehose's, after all that it says was checked.
///
/// # Errors
/// It is not to be believed, or cannot be checked.
pub(super) async fn writes(client: &Client, commit: &Commit) -> Result<Vec<Change>, Doubt> {
    let slice = match &commit.proof {
        Some(proof) => Some(checked(client, commit, proof).await?),
        None => None,
    };
    commit.operations.iter().map(|operation| change(commit, operation, slice.as_ref())).collect()
}

async fn checked(client: &Client, commit: &Commit, proof: &Proof) -> Result<Slice, Doubt> {
    let unresolved = |error: onrecord_atproto::Error| Doubt::new(CommitFlaw::Unresolved, error.to_string());
    let key = |identity: onrecord_atproto::Identity| {
        let no_key = || Doubt::new(CommitFlaw::NoKey, "its DID document names no key");
        let key = identity.signing_key.ok_or_else(no_key)?;
        PublicKey::parse(&key).map_err(|error| Doubt::new(CommitFlaw::NoKey, error.to_string()))
    };
    let did = commit.did.as_str();
    let known = key(client.resolve(did).await.map_err(unresolved)?)?;
    match check(commit, proof, &known) {
        // The key may be another by now.
        Err(SliceError::Signature(_)) => {
            let now = key(client.resolve_afresh(did).await.map_err(unresolved)?)?;
            Ok(check(commit, proof, &now)?)
        }
        outcome => Ok(outcome?),
    }
}

fn check(commit: &Commit, proof: &Proof, key: &PublicKey) -> Result<Slice, SliceError> {
    let paths: Vec<String> = commit.operations.iter().map(|op| format!("{}/{}", op.collection, op.rkey)).collect();
    let writes: Vec<Written<'_>> = (commit.operations.iter().zip(&paths))
        .map(|(op, path)| Written { path, cid: op.cid.as_ref().map(Link::from), before: before(op) })
        .collect();
    let claim = Claim {
        did: &commit.did,
        rev: &commit.rev,
        commit: Link::from(&proof.commit),
        prev_data: proof.prev_data.as_ref().map(Link::from),
        writes: &writes,
    };
    check_slice(proof.blocks.clone(), &claim, key)
}

fn before(operation: &Operation) -> Before {
    match (&operation.previous, operation.action) {
        (Some(cid), _) => Before::Record(Link::from(cid)),
        (None, Action::Create) => Before::Nothing,
        (None, Action::Update | Action::Delete) => Before::Unsaid,
    }
}

fn change(commit: &Commit, operation: &Operation, slice: Option<&Slice>) -> Result<Change, Doubt> {
    let address =
        Address { did: commit.did.clone(), collection: operation.collection.clone(), rkey: operation.rkey.clone() };
    let rev = commit.rev.clone();
    let Some(cid) = operation.cid.clone() else { return Ok(Change::Delete { address, rev }) };
    let json = match (&operation.record, slice.and_then(|slice| slice.record(&Link::from(&cid)))) {
        (Some(body), _) => body.json().into(),
        (None, Some(block)) => json_of(block).map_err(|why| Doubt::new(CommitFlaw::Record, why))?,
        (None, None) => return Err(Doubt::new(CommitFlaw::Record, "a record without its content")),
    };
    Ok(Change::Put(Box::new(Put { address, cid, rev, json })))
}

/// A record's block as JSON.
pub(super) fn json_of(block: &[u8]) -> Result<Box<str>, String> {
    let value = Value::from_dag_cbor(block).map_err(|error| error.to_string())?;
    Ok(value.to_json().to_string().into())
}
