//! A whole repository, fetched from its own server: what streams cannot tell, and the past of an author.

use std::fs::File;

use jiff::Timestamp;
use onrecord_atproto::{Client, Error as Net, Identity};
use onrecord_lexicon::{Did, Nsid, Rkey, Tid};
use onrecord_repo::{Car, Checked, Expected, Link, PublicKey, check};
use tokio::sync::{Semaphore, mpsc};

use super::{
    believe::json_of,
    crawl::{Limits, Trouble},
    listing,
};
use crate::{
    AccountStatus, Address, Admitted, Batch, Change, Fence, Index, Note, Put, RepositoryFlaw, Trust,
    admit::{admit, is_future},
    family::family,
};

/// Most changes of a batch, and the bytes of the records in it, as JSON.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 2_000_000;
/// How many batches wait to be written.
pub(super) const BATCHES: usize = 1;
/// A repository larger than this is checked when no other such is: where its blocks stand may take a few hundred megabytes.
const LARGE: u64 = 8 << 20;
/// A repository up to this size is held in memory; of a larger one a window is.
const IN_MEMORY: u64 = 4 << 20;
static LARGE_ONES: Semaphore = Semaphore::const_new(1);

/// A repository that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Whose.
    pub did: Did,
    /// At which revision; `None` where its server shows nothing of it.
    pub rev: Option<Tid>,
    /// Records of it that the index keeps.
    pub records: u64,
    /// Whether all of it was held against its author's signature. If not, its server listed the records, each of which is what
    /// its CID says.
    pub is_proven: bool,
    /// How its server says the account stands.
    pub status: AccountStatus,
}

/// Fetches a repository, checks all of it (its signature, every block, the whole tree), and makes the index agree with it:
/// what it holds is put, and what it does not hold is removed. Takes the memory of a few batches, whatever its size.
///
/// Of a server that does not give the repository as a whole, or of one larger than a gigabyte, the records are listed instead.
/// Of an account that its server says is not active, that is noted.
///
/// # Errors
/// It cannot be fetched; it is not what its author signed: then nothing is changed; the index cannot be written. In words.
pub async fn fetch(index: &dyn Index, client: &Client, did: &Did, fence: Option<&Fence>) -> Result<Fetched, String> {
    let identity = client.resolve_afresh(did.as_str()).await.map_err(|error| error.to_string())?;
    fetch_from(index, client, &identity, Limits::default().repo_bytes, fence)
        .await
        .map_err(|trouble| trouble.to_string())
}

/// The same of an account whose identity was just looked up.
pub(super) async fn fetch_from(
    index: &dyn Index,
    client: &Client,
    identity: &Identity,
    most_bytes: usize,
    fence: Option<&Fence>,
) -> Result<Fetched, Trouble> {
    let did = &identity.did;
    let apply = |changes, notes| index.apply(batch(changes, Trust::Cids, notes, fence));
    let (sender, mut batches) = mpsc::channel(BATCHES);
    let whole = async {
        // Dropped when it ends, so that no more is waited for.
        let sender = sender;
        read_whole(client, identity, most_bytes, &sender).await
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
        Err(Unread::TooLarge(why)) => {
            return match listing::fetch(index, client, identity, fence).await {
                // It cannot be listed either: then its size is what is wrong with it.
                Err(Trouble::Lasting(_)) => Err(Trouble::NotBelieved { flaw: RepositoryFlaw::TooLarge, why }),
                outcome => outcome,
            };
        }
        Err(Unread::Trouble(trouble)) => return Err(trouble),
    };
    let head = Note::Head { did: did.clone(), rev: whole.rev.clone(), data: Some(whole.data) };
    let listed = Change::Listed { did: did.clone(), rev: whole.rev.clone() };
    apply(vec![listed, identified(identity)], vec![head]).await?;
    let (rev, records) = (Some(whole.rev), whole.records);
    Ok(Fetched { did: did.clone(), rev, records, is_proven: true, status: AccountStatus::Active })
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
    /// How many records are kept of it.
    pub(super) records: u64,
}

/// Why it was not.
pub(super) enum Unread {
    /// The account is not active.
    Unavailable(AccountStatus),
    /// The server does not give it as a whole; it may still list it.
    Refused,
    /// It is too large to be fetched whole.
    TooLarge(String),
    Trouble(Trouble),
}

impl<E: Into<Trouble>> From<E> for Unread {
    fn from(error: E) -> Self {
        Self::Trouble(error.into())
    }
}

/// Fetches a repository of at most so many bytes into a temporary file, checks it, and sends what is kept of it, batch by batch.
pub(super) async fn read_whole(
    client: &Client,
    identity: &Identity,
    most_bytes: usize,
    batches: &mpsc::Sender<Vec<Change>>,
) -> Result<Whole, Unread> {
    let ours = |error: &dyn std::fmt::Display| Trouble::Passing(format!("a temporary file: {error}"));
    let no_key = |why: String| not_believed(RepositoryFlaw::NoKey, why);
    let key = identity.signing_key.as_deref().ok_or_else(|| no_key("its DID document names no key".into()))?;
    let key = PublicKey::parse(key).map_err(|error| no_key(error.to_string()))?;
    let mut file = tempfile::tempfile().map_err(|error| ours(&error))?;
    match client.repo(identity).export_up_to(&mut file, most_bytes).await {
        Ok(()) => {}
        Err(Net::AccountUnavailable { status, .. }) => return Err(Unread::Unavailable(status_named(&status))),
        Err(Net::Rejected { .. } | Net::Server { status: 501, .. }) => return Err(Unread::Refused),
        Err(error @ Net::AnswerTooLarge { .. }) => return Err(Unread::TooLarge(error.to_string())),
        Err(error) => return Err(error.into()),
    }
    let len = file.metadata().map_err(|error| ours(&error))?.len();
    let _alone = if len > LARGE { LARGE_ONES.acquire().await.ok() } else { None };
    let (of, batches) = (identity.did.clone(), batches.clone());
    let read = tokio::task::spawn_blocking(move || read(file, &of, &key, &batches)).await;
    match read {
        Ok(read) => read.map_err(Unread::Trouble),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(Trouble::Index(crate::Error::Closed).into()),
    }
}

pub(super) fn not_believed(flaw: RepositoryFlaw, why: String) -> Trouble {
    Trouble::NotBelieved { flaw, why }
}

fn status_named(status: &str) -> AccountStatus {
    match status {
        "deactivated" => AccountStatus::Deactivated,
        "takendown" => AccountStatus::Takendown,
        _ => AccountStatus::Suspended,
    }
}

/// Checks the file, then sends what the index keeps of it, batch by batch.
fn read(file: File, did: &Did, key: &PublicKey, batches: &mpsc::Sender<Vec<Change>>) -> Result<Whole, Trouble> {
    let unread = |error: onrecord_repo::Error| match error {
        onrecord_repo::Error::TooManyBlocks => not_believed(RepositoryFlaw::TooLarge, error.to_string()),
        error => Trouble::Passing(error.to_string()),
    };
    let mut car = Car::open_with(file, IN_MEMORY).map_err(unread)?;
    let expected = Expected { did: Some(did), key: Some(key), partial: false };
    let checked = check(&mut car, &expected, |_| {}).map_err(unread)?;
    let (rev, data) = believed(&checked)?;
    let (mut records, mut changes) = (0, Pieces::default());
    // Nobody receives any more only when the whole is given up.
    let send = |changes| drop(batches.blocking_send(changes));
    check(&mut car, &expected, |record| {
        let (Some(_), Some(block)) = (family(record.collection), record.block) else { return };
        let (Ok(collection), Ok(rkey)) = (Nsid::parse(record.collection), Rkey::parse(record.rkey)) else { return };
        let Ok(json) = json_of(block) else { return };
        records += 1;
        let address = Address { did: did.clone(), collection, rkey };
        if let Some(full) = changes.add(Put { address, cid: record.link.to_cid(), rev: rev.clone(), json }) {
            send(full);
        }
    })
    .map_err(unread)?;
    send(changes.rest());
    Ok(Whole { rev, data, records })
}

/// Records on their way into the index, a batch at a time.
#[derive(Default)]
pub(super) struct Pieces {
    changes: Vec<Change>,
    bytes: usize,
}

impl Pieces {
    /// Adds one, and gives the batch if that makes it full.
    pub(super) fn add(&mut self, put: Put) -> Option<Vec<Change>> {
        self.bytes += put.json.len();
        self.changes.push(Change::Put(Box::new(put)));
        (self.changes.len() >= BATCH || self.bytes >= BATCH_BYTES).then(|| std::mem::take(self).changes)
    }

    /// What is not enough for a batch.
    pub(super) fn rest(self) -> Vec<Change> {
        self.changes
    }
}

/// The revision and the root of a repository in which nothing is wrong.
fn believed(checked: &Checked) -> Result<(Tid, Link), Trouble> {
    if let Some(fault) = checked.faults.listed().first() {
        let why = format!("its repository is not what its author signed: {fault}");
        return Err(not_believed(RepositoryFlaw::Broken(fault.rule), why));
    }
    match &checked.commit {
        Some(commit) if checked.is_signed && checked.is_whole => {
            not_future(&commit.rev)?;
            Ok((commit.rev.clone(), commit.data))
        }
        _ => Err(not_believed(RepositoryFlaw::NotWhole, "its repository is not whole".into())),
    }
}

/// A revision that its account can have by now.
pub(super) fn not_future(rev: &Tid) -> Result<(), Trouble> {
    if is_future(rev, Timestamp::now()) {
        return Err(not_believed(RepositoryFlaw::FutureRev, format!("its revision {rev} is in the future")));
    }
    Ok(())
}

/// The batch of what was put, for a store that is told what else to remember.
pub(super) fn batch(changes: Vec<Change>, trust: Trust, notes: Vec<Note>, fence: Option<&Fence>) -> Admitted {
    let batch = Batch { cursor: None, changes, fence: fence.cloned() };
    admit(batch, trust, Timestamp::now()).noting(notes)
}
