//! A whole repository, fetched from its own server: what streams cannot tell, and the past of an author.

use std::fs::File;

use jiff::Timestamp;
use onrecord_atproto::Client;
use onrecord_lexicon::{Did, Nsid, Rkey, Tid};
use onrecord_repo::{Car, Checked, Expected, PublicKey, check};
use tokio::sync::mpsc;

use super::believe::json_of;
use crate::{Address, Batch, Change, Fence, Index, Put, Trust, admit, family::family};

/// Most changes of a batch.
const BATCH: usize = 500;

/// A repository that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Whose.
    pub did: Did,
    /// At which revision.
    pub rev: Tid,
    /// Records of it that the index keeps.
    pub records: usize,
}

/// Fetches a repository, checks all of it (its signature, every block, the whole tree), and makes the index agree with it:
/// what it holds is put, and what it does not hold is removed. Takes the memory of one batch and of the records' places.
///
/// # Errors
/// It cannot be fetched; it is not what its author signed: then nothing is changed; the index cannot be written. In words.
pub async fn fetch(index: &dyn Index, client: &Client, did: &Did, fence: Option<&Fence>) -> Result<Fetched, String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let identity = client.resolve_afresh(did.as_str()).await.map_err(|e| words(&e))?;
    let key = identity.signing_key.as_deref().ok_or("its DID document names no key")?;
    let key = PublicKey::parse(key).map_err(|e| words(&e))?;
    let mut file = tempfile::tempfile().map_err(|e| words(&e))?;
    client.repo(&identity).export(&mut file).await.map_err(|e| words(&e))?;

    let (sender, mut batches) = mpsc::channel(2);
    let of = did.clone();
    let read = tokio::task::spawn_blocking(move || read(file, &of, &key, &sender));
    let apply = |changes| {
        let batch = Batch { cursor: None, changes, fence: fence.cloned() };
        index.apply(admit(batch, Trust::Cids, Timestamp::now()))
    };
    while let Some(changes) = batches.recv().await {
        apply(changes).await.map_err(|e| words(&e))?;
    }
    let (rev, records) = read.await.map_err(|e| words(&e))??;
    let count = records.len();
    let pds = Some(identity.pds.as_str().trim_end_matches('/').to_owned());
    apply(vec![
        Change::Listed { did: did.clone(), rev: rev.clone(), records },
        Change::Identity { did: did.clone(), handle: identity.handle, pds },
    ])
    .await
    .map_err(|e| words(&e))?;
    Ok(Fetched { did: did.clone(), rev, records: count })
}

/// Checks the file, then sends what the index keeps of it, batch by batch. Gives the revision and the places.
fn read(
    file: File,
    did: &Did,
    key: &PublicKey,
    batches: &mpsc::Sender<Vec<Change>>,
) -> Result<(Tid, Vec<(Nsid, Rkey)>), String> {
    let mut car = Car::open(file).map_err(|error| error.to_string())?;
    let expected = Expected { did: Some(did), key: Some(key), partial: false };
    let checked = check(&mut car, &expected, |_| {}).map_err(|error| error.to_string())?;
    let rev = believed(&checked)?;
    let (mut records, mut changes) = (Vec::new(), Vec::new());
    let send = |changes: &mut Vec<Change>| batches.blocking_send(std::mem::take(changes));
    check(&mut car, &expected, |record| {
        let (Some(_), Some(block)) = (family(record.collection), record.block) else { return };
        let (Ok(collection), Ok(rkey)) = (Nsid::parse(record.collection), Rkey::parse(record.rkey)) else { return };
        let Ok(json) = json_of(block) else { return };
        records.push((collection.clone(), rkey.clone()));
        let address = Address { did: did.clone(), collection, rkey };
        changes.push(Change::Put(Box::new(Put { address, cid: record.link.to_cid(), rev: rev.clone(), json })));
        if changes.len() >= BATCH {
            // Nobody receives any more only when the whole is given up.
            let _ = send(&mut changes);
        }
    })
    .map_err(|error| error.to_string())?;
    let _ = send(&mut changes);
    Ok((rev, records))
}

/// The revision of a repository in which nothing is wrong.
fn believed(checked: &Checked) -> Result<Tid, String> {
    if let Some(fault) = checked.faults.listed().first() {
        return Err(format!("its repository is not what its author signed: {fault}"));
    }
    match &checked.commit {
        Some(commit) if checked.is_signed && checked.is_whole => Ok(commit.rev.clone()),
        _ => Err("its repository is not whole".into()),
    }
}
