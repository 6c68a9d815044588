//! Whether the index holds what its authors' repositories hold.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use onrecord_atproto::{Client, Identity};
use onrecord_lexicon::{Cid, Did, Nsid, Rkey};
use tokio::sync::mpsc;

use super::{
    crawl::{Crawl, Limits, Trouble, Visit},
    fraction, listing,
    repository::{Unread, fetch_from, read_whole},
};
use crate::{
    AccountStatus, Address, Admitted, Batch, Change, ExportLine, Index, Note, OwedState, Result, Trust,
    admit::{Act, admit},
    transfer::accounts,
};

/// Under which name what is to be repaired is owed.
const RUN: &str = "repair";
/// How many accounts, and records of one, are read from the index at once.
const CHUNK: u32 = 1_000;

/// How the index and a repository differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// In the repository, and not here.
    pub missing: Vec<Address>,
    /// In both, and not the same.
    pub stale: Vec<Address>,
    /// Here, and not in the repository.
    pub extra: Vec<Address>,
    /// How the account stands here and at its server, where that is not the same and the server's word counts.
    pub status: Option<(AccountStatus, AccountStatus)>,
}

impl Difference {
    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What is told of a comparison.
#[derive(Debug)]
pub enum CompareProgress {
    /// So many accounts were compared.
    Now {
        /// So many.
        done: u64,
    },
    /// An account's repository is not what is here.
    Differs {
        /// Whose.
        did: Did,
        /// How.
        difference: Difference,
        /// Whether it was fetched again; why not, if that was asked for.
        repaired: Option<Result<(), String>>,
    },
    /// A repository could not be looked at.
    Failed {
        /// Whose.
        did: Did,
        /// Why.
        why: String,
    },
}

/// What a comparison found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compared {
    /// Accounts whose repository was compared with what is here.
    pub accounts: u64,
    /// Of those, the ones that differ.
    pub differing: u64,
    /// Of these, the ones that were fetched again.
    pub repaired: u64,
    /// Accounts whose repository could not be looked at.
    pub failed: u64,
}

/// Compares the index with repositories.
pub struct Comparison {
    /// What to compare.
    pub index: Arc<dyn Index>,
    /// How the network is reached.
    pub client: Client,
    /// How much is asked of it at once.
    pub limits: Limits,
    /// Look at so many accounts, drawn by lot; at all otherwise.
    pub sample: Option<usize>,
    /// Fetch again what differs.
    pub repair: bool,
    /// Who is told.
    pub on_progress: Arc<dyn Fn(CompareProgress) + Send + Sync>,
}

type Statuses = Arc<Mutex<HashMap<Did, AccountStatus>>>;
type Outcome = (Difference, Option<Result<(), String>>);

impl Comparison {
    /// Compares. What changes meanwhile may be called a difference.
    ///
    /// # Errors
    /// The index cannot be read or written.
    pub async fn run(&self) -> Result<Compared> {
        let statuses = Statuses::default();
        let visit: Arc<Visit<Outcome>> = {
            let (index, client) = (Arc::clone(&self.index), self.client.clone());
            let (statuses, repair, most_bytes) = (Arc::clone(&statuses), self.repair, self.limits.repo_bytes);
            Arc::new(move |identity| {
                let (index, client) = (Arc::clone(&index), client.clone());
                let ours = statuses.lock().unwrap_or_else(PoisonError::into_inner).get(&identity.did).copied();
                Box::pin(async move {
                    look(&*index, &client, &identity, ours.unwrap_or_default(), most_bytes, repair).await
                })
            })
        };
        let mut crawl = Crawl::new(self.client.clone(), self.limits, visit, Arc::new(|_, _| {}));
        let mut accounts = Accounts::new(self).await?;
        let mut compared = Compared::default();
        loop {
            while crawl.len() < CHUNK as usize
                && let Some((did, status)) = accounts.next().await?
            {
                statuses.lock().unwrap_or_else(PoisonError::into_inner).insert(did.clone(), status);
                crawl.add(did);
            }
            let Some((did, outcome)) = crawl.next().await else { return Ok(compared) };
            statuses.lock().unwrap_or_else(PoisonError::into_inner).remove(&did);
            match outcome {
                Ok((difference, repaired)) => {
                    compared.accounts += 1;
                    if !difference.is_none() {
                        compared.differing += 1;
                        compared.repaired += u64::from(matches!(repaired, Some(Ok(()))));
                        self.tell(CompareProgress::Differs { did, difference, repaired });
                    }
                }
                Err(Trouble::Index(error)) => return Err(error),
                Err(trouble) => {
                    compared.failed += 1;
                    self.tell(CompareProgress::Failed { did, why: trouble.to_string() });
                }
            }
            self.tell(CompareProgress::Now { done: compared.accounts + compared.failed });
        }
    }

    fn tell(&self, progress: CompareProgress) {
        (self.on_progress)(progress);
    }
}

/// The accounts to look at, in any order.
struct Accounts<'a> {
    index: &'a dyn Index,
    ready: Vec<(Did, AccountStatus)>,
    /// Where the next page begins; none after the last.
    next: Option<Option<crate::Cursor>>,
}

impl<'a> Accounts<'a> {
    async fn new(of: &'a Comparison) -> Result<Self> {
        let mut accounts = Self { index: &*of.index, ready: Vec::new(), next: Some(Some(accounts())) };
        if let Some(size) = of.sample {
            // Each is kept with the same chance, whatever their number: reservoir sampling.
            let (mut drawn, mut seen) = (Vec::with_capacity(size.min(10_000)), 0_usize);
            while let Some(account) = accounts.next().await? {
                seen += 1;
                if drawn.len() < size {
                    drawn.push(account);
                } else if let Some(place) = below(seen).filter(|place| *place < size)
                    && let Some(old) = drawn.get_mut(place)
                {
                    *old = account;
                }
            }
            accounts.ready = drawn;
        }
        if of.repair {
            // What an earlier process began to repair.
            let owed = of.index.owed(RUN, OwedState::Waiting, None, CHUNK).await?;
            accounts.ready.extend(owed.into_iter().map(|owed| (owed.did, AccountStatus::Active)));
        }
        Ok(accounts)
    }

    async fn next(&mut self) -> Result<Option<(Did, AccountStatus)>> {
        loop {
            if let Some(account) = self.ready.pop() {
                return Ok(Some(account));
            }
            let Some(cursor) = self.next.take() else { return Ok(None) };
            let page = self.index.export_page(cursor.as_ref(), CHUNK).await?;
            let count = page.lines.len();
            for line in page.lines {
                match line {
                    // Of a deleted one there is nothing to compare.
                    ExportLine::Account(account) if account.status != AccountStatus::Deleted => {
                        self.ready.push((account.author.did, account.status));
                    }
                    ExportLine::Account(_) => {}
                    // All of them were read.
                    _ => return Ok(self.ready.pop()),
                }
            }
            self.next = page.cursor.filter(|_| count == CHUNK as usize).map(Some);
        }
    }
}

/// A number below another, by chance.
fn below(end: usize) -> Option<usize> {
    use std::hash::{BuildHasher as _, RandomState};
    // Every state has fresh keys.
    usize::try_from(RandomState::new().hash_one(fraction().to_bits())).ok()?.checked_rem(end)
}

/// Compares one account, and fetches it again if it differs and that is asked for.
async fn look(
    index: &dyn Index,
    client: &Client,
    identity: &Identity,
    ours: AccountStatus,
    most_bytes: usize,
    repair: bool,
) -> Result<Outcome, Trouble> {
    let difference = compare(index, client, identity, ours, most_bytes).await?;
    if !repair || difference.is_none() {
        return Ok((difference, None));
    }
    let did = &identity.did;
    let owed = Note::Owed { run: RUN.to_owned(), dids: vec![did.clone()], afresh: true };
    let distrust = Note::Distrust { did: did.clone() };
    let mut changes = Vec::new();
    if let Some((_, theirs @ AccountStatus::Active)) = difference.status {
        let at_ms = Timestamp::now().as_millisecond();
        changes.push(Change::Account { did: did.clone(), status: theirs, at_ms });
    }
    let batch = Batch { changes, ..Batch::default() };
    index.apply(admit(batch, Trust::Nothing, Timestamp::now()).noting(vec![distrust, owed])).await?;
    let repaired = match fetch_from(index, client, identity, most_bytes, None).await {
        Ok(_) => {
            let asked = index.owed(RUN, OwedState::Waiting, None, CHUNK).await?;
            let asked = asked.iter().find(|owed| owed.did == *did).map_or(1, |owed| owed.asked);
            let done = Note::Done { run: RUN.to_owned(), did: did.clone(), asked, keep: false };
            index.apply(Admitted::of_notes(vec![done], None)).await?;
            Ok(())
        }
        Err(Trouble::Index(error)) => return Err(Trouble::Index(error)),
        Err(trouble) => Err(trouble.to_string()),
    };
    Ok((difference, Some(repaired)))
}

/// The records of a repository that would be stored, and which version of each.
type Records = BTreeMap<(Nsid, Rkey), Cid>;

async fn compare(
    index: &dyn Index,
    client: &Client,
    identity: &Identity,
    ours: AccountStatus,
    most_bytes: usize,
) -> Result<Difference, Trouble> {
    let did = &identity.did;
    let (whole, records) =
        collect(Trust::Cids, async |sender| read_whole(client, identity, most_bytes, &sender).await.map(drop)).await;
    let mut records = match whole {
        Ok(()) => records,
        Err(Unread::Refused | Unread::TooLarge(_)) => {
            let (listed, records) =
                collect(Trust::Nothing, async |sender| listing::list(client, identity, &sender).await.map(drop)).await;
            listed?;
            records
        }
        Err(Unread::Unavailable(theirs)) => {
            let is_told = ours == theirs || ours == AccountStatus::Takendown;
            return Ok(Difference { status: (!is_told).then_some((ours, theirs)), ..Difference::default() });
        }
        Err(Unread::Trouble(trouble)) => return Err(trouble),
    };
    let mut difference = Difference::default();
    // That others took it down is their word against the server's; that its owner paused it is the server's own.
    if ours == AccountStatus::Deactivated {
        difference.status = Some((ours, AccountStatus::Active));
    }
    let address = |collection: Nsid, rkey: Rkey| Address { did: did.clone(), collection, rkey };
    let mut after = None;
    loop {
        let page = index.holdings(did, after.as_ref(), CHUNK).await?;
        let is_last = page.len() < CHUNK as usize;
        after = page.last().map(|holding| (holding.collection.clone(), holding.rkey.clone()));
        for holding in page {
            match records.remove(&(holding.collection.clone(), holding.rkey.clone())) {
                Some(cid) if cid == holding.cid => {}
                Some(_) => difference.stale.push(address(holding.collection, holding.rkey)),
                None => difference.extra.push(address(holding.collection, holding.rkey)),
            }
        }
        if is_last {
            break;
        }
    }
    difference.missing = records.into_keys().map(|(collection, rkey)| address(collection, rkey)).collect();
    Ok(difference)
}

/// What comes in batches that the index would store.
async fn collect<E>(
    trust: Trust,
    send: impl AsyncFnOnce(mpsc::Sender<Vec<Change>>) -> Result<(), E>,
) -> (Result<(), E>, Records) {
    let (sender, mut batches) = mpsc::channel::<Vec<Change>>(2);
    let receive = async {
        let mut records = Records::new();
        while let Some(changes) = batches.recv().await {
            let admitted = admit(Batch { changes, ..Batch::default() }, trust, Timestamp::now());
            for act in admitted.acts {
                if let Act::Put(record) = act {
                    records.insert((record.address.collection, record.address.rkey), record.cid);
                }
            }
        }
        records
    };
    tokio::join!(send(sender), receive)
}
