//! A whole repository, fetched from its own server: what streams cannot tell, and the past of an author.

use std::fs::File;

use jiff::Timestamp;
use onrecord_atproto::{Client, Error as Net, Identity};
use onrecord_lexicon::{Did, Nsid, Rkey, Tid};
use onrecord_repo::{Car, Checked, Expected, Link, PublicKey, check};
use tokio::sync::{Semaphore, mpsc};

use super::{believe::json_of, crawl::Trouble, listing};
use crate::{AccountStatus, Address, Admitted, Batch, Change, Fence, Index, Note, Put, Trust, admit, family::family};

/// Most changes of a batch.
pub(super) const BATCH: usize = 500;
/// The largest repository that is fetched whole, in bytes; a larger one is listed.
const MAX_REPO: usize = 1 << 30;
/// A repository larger than this is checked when no other such is: checking may hold much of it in memory.
const LARGE: u64 = 32 << 20;
static LARGE_ONES: Semaphore = Semaphore::const_new(1);

/// A repository that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Whose.
    pub did: Did,
    /// At which revision; `None` where its server shows nothing of it.
    pub rev: Option<Tid>,
    /// Records of it that the index keeps.
    pub records: usize,
    /// Whether all of it was held against its author's signature. If not, its server listed the records, each of which is what
    /// its CID says.
    pub is_proven: bool,
    /// How its server says the account stands.
    pub status: AccountStatus,
}

/// Fetches a repository, checks all of it (its signature, every block, the whole tree), and makes the index agree with it:
/// what it holds is put, and what it does not hold is removed. Takes the memory of one batch and of the records' places.
///
/// Of a server that does not give the repository as a whole, or of one larger than a gigabyte, the records are listed instead.
/// Of an account that its server says is not active, that is noted.
///
/// # Errors
/// It cannot be fetched; it is not what its author signed: then nothing is changed; the index cannot be written. In words.
pub async fn fetch(index: &dyn Index, client: &Client, did: &Did, fence: Option<&Fence>) -> Result<Fetched, String> {
    let identity = client.resolve_afresh(did.as_str()).await.map_err(|error| error.to_string())?;
    fetch_from(index, client, &identity, fence).await.map_err(|trouble| trouble.to_string())
}

/// The same of an account whose identity was just looked up.
pub(super) async fn fetch_from(
    index: &dyn Index,
    client: &Client,
    identity: &Identity,
    fence: Option<&Fence>,
) -> Result<Fetched, Trouble> {
    let did = &identity.did;
    let apply = |changes, notes| index.apply(batch(changes, Trust::Cids, notes, fence));
    let (sender, mut batches) = mpsc::channel(2);
    let whole = async {
        // Dropped when it ends, so that no more is waited for.
        let sender = sender;
        read_whole(client, identity, &sender).await
    };
    let put = async {
        while let Some(changes) = batches.recv().await {
            apply(changes, Vec::new()).await?;
        }
        Ok::<_, Trouble>(())
    };
    let (whole, put) = tokio::join!(whole, put);
    put?;
    let whole = match whole {
        Ok(whole) => whole,
        Err(Unread::Unavailable(status)) => {
            if index.head(did).await?.is_some() {
                let at_ms = Timestamp::now().as_millisecond();
                apply(vec![Change::Account { did: did.clone(), status, at_ms }], Vec::new()).await?;
            }
            return Ok(Fetched { did: did.clone(), rev: None, records: 0, is_proven: false, status });
        }
        Err(Unread::Refused) => return listing::fetch(index, client, identity, fence).await,
        Err(Unread::Trouble(trouble)) => return Err(trouble),
    };
    let records = whole.records.len();
    let head = Note::Head { did: did.clone(), rev: whole.rev.clone(), data: Some(whole.data) };
    let listed = Change::Listed { did: did.clone(), rev: whole.rev.clone(), records: whole.records };
    apply(vec![listed, identified(identity)], vec![head]).await?;
    Ok(Fetched { did: did.clone(), rev: Some(whole.rev), records, is_proven: true, status: AccountStatus::Active })
}

/// Whose it is, as was just looked up.
pub(super) fn identified(identity: &Identity) -> Change {
    let pds = Some(identity.pds.as_str().trim_end_matches('/').to_owned());
    Change::Identity { did: identity.did.clone(), handle: identity.handle.clone(), pds }
}

/// A repository that was read to its end.
pub(super) struct Whole {
    pub(super) rev: Tid,
    /// The root of its tree.
    pub(super) data: Link,
    /// The places of all records that are kept of it.
    pub(super) records: Vec<(Nsid, Rkey)>,
}

/// Why it was not.
pub(super) enum Unread {
    /// The account is not active.
    Unavailable(AccountStatus),
    /// The server does not give it as a whole; it may still list it.
    Refused,
    Trouble(Trouble),
}

impl<E: Into<Trouble>> From<E> for Unread {
    fn from(error: E) -> Self {
        Self::Trouble(error.into())
    }
}

/// Fetches a repository into a temporary file, checks it, and sends what is kept of it, batch by batch.
pub(super) async fn read_whole(
    client: &Client,
    identity: &Identity,
    batches: &mpsc::Sender<Vec<Change>>,
) -> Result<Whole, Unread> {
    let ours = |error: &dyn std::fmt::Display| Trouble::Passing(format!("a temporary file: {error}"));
    let key = identity.signing_key.as_deref().ok_or_else(|| lasting(&"its DID document names no key"))?;
    let key = PublicKey::parse(key).map_err(|error| lasting(&error))?;
    let mut file = tempfile::tempfile().map_err(|error| ours(&error))?;
    match client.repo(identity).export_up_to(&mut file, MAX_REPO).await {
        Ok(()) => {}
        Err(Net::AccountUnavailable { status, .. }) => return Err(Unread::Unavailable(status_named(&status))),
        Err(Net::Rejected { .. } | Net::AnswerTooLarge { .. } | Net::Server { status: 501, .. }) => {
            return Err(Unread::Refused);
        }
        Err(error) => return Err(error.into()),
    }
    let len = file.metadata().map_err(|error| ours(&error))?.len();
    let _alone = if len > LARGE { LARGE_ONES.acquire().await.ok() } else { None };
    let (of, batches) = (identity.did.clone(), batches.clone());
    let read = tokio::task::spawn_blocking(move || read(file, &of, &key, &batches)).await;
    match read {
        Ok(read) => read.map_err(|why| Unread::Trouble(Trouble::Lasting(why))),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(Trouble::Index(crate::Error::Closed).into()),
    }
}

fn lasting(why: &dyn std::fmt::Display) -> Trouble {
    Trouble::Lasting(why.to_string())
}

fn status_named(status: &str) -> AccountStatus {
    match status {
        "deactivated" => AccountStatus::Deactivated,
        "takendown" => AccountStatus::Takendown,
        _ => AccountStatus::Suspended,
    }
}

/// Checks the file, then sends what the index keeps of it, batch by batch.
fn read(file: File, did: &Did, key: &PublicKey, batches: &mpsc::Sender<Vec<Change>>) -> Result<Whole, String> {
    let mut car = Car::open(file).map_err(|error| error.to_string())?;
    let expected = Expected { did: Some(did), key: Some(key), partial: false };
    let checked = check(&mut car, &expected, |_| {}).map_err(|error| error.to_string())?;
    let (rev, data) = believed(&checked)?;
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
    Ok(Whole { rev, data, records })
}

/// The revision and the root of a repository in which nothing is wrong.
fn believed(checked: &Checked) -> Result<(Tid, Link), String> {
    if let Some(fault) = checked.faults.listed().first() {
        return Err(format!("its repository is not what its author signed: {fault}"));
    }
    match &checked.commit {
        Some(commit) if checked.is_signed && checked.is_whole => Ok((commit.rev.clone(), commit.data)),
        _ => Err("its repository is not whole".into()),
    }
}

/// The batch of what was put, for a store that is told what else to remember.
pub(super) fn batch(changes: Vec<Change>, trust: Trust, notes: Vec<Note>, fence: Option<&Fence>) -> Admitted {
    let batch = Batch { cursor: None, changes, fence: fence.cloned() };
    admit(batch, trust, Timestamp::now()).noting(notes)
}
