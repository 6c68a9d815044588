//! What a commit on a stream says, and whether it is so.

use onrecord_atproto::{
    Action, Client,
    stream::{Commit, Operation, Proof},
};
use onrecord_lexicon::{Did, data::Value};
use onrecord_repo::{Before, Claim, Link, PublicKey, Slice, SliceError, Written, check_slice};

use crate::{Address, Change, CommitFlaw, Put, family::family};

/// Why a commit is not believed.
#[derive(Debug, Clone)]
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

/// The key that signs an account's commits, as its document has it now.
///
/// # Errors
/// It cannot be learnt, or there is none.
pub(super) async fn key(client: &Client, did: &Did) -> Result<PublicKey, Doubt> {
    let key = client.signing_key(did).await;
    let key = key.map_err(|error| Doubt::new(CommitFlaw::Unresolved, error.to_string()))?;
    let key = key.ok_or_else(|| Doubt::new(CommitFlaw::NoKey, "its DID document names no key"))?;
    PublicKey::parse(&key).map_err(|error| Doubt::new(CommitFlaw::NoKey, error.to_string()))
}

/// What a commit does that is believed.
#[derive(Debug)]
pub(super) struct Believed {
    /// Its changes of what is kept.
    pub(super) changes: Vec<Change>,
    /// The root of the tree after it, where it is proven.
    pub(super) data: Option<Link>,
}

/// What a commit does; of a firehose's, after all that it says was checked, with the key of its account.
///
/// # Errors
/// It is not to be believed.
pub(super) fn writes(commit: &Commit, key: Option<&PublicKey>) -> Result<Believed, Doubt> {
    let kept = || commit.operations.iter().filter(|operation| family(operation.collection.as_str()).is_some());
    let slice = match (&commit.proof, key) {
        (Some(proof), Some(key)) => match check(commit, proof, key) {
            // It is signed, and of no interest but for its place.
            Err(SliceError::NoPast) if kept().next().is_none() => {
                return Ok(Believed { changes: Vec::new(), data: None });
            }
            slice => Some(slice?),
        },
        (Some(_), None) => return Err(Doubt::new(CommitFlaw::NoKey, "no key of its account is known")),
        (None, _) => None,
    };
    let changes = kept().map(|operation| change(commit, operation, slice.as_ref())).collect::<Result<_, _>>()?;
    Ok(Believed { changes, data: slice.map(|slice| slice.data) })
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
