//! What is looked up beside the stream: accounts, and repositories of which the stream cannot tell enough. Both are owed in the
//! index until it was done, whatever becomes of this process.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use onrecord_atproto::{Client, Identity};
use onrecord_lexicon::{Did, Nsid, Rkey};
use tokio::time::Instant;

use super::{
    Fetched, Limits, Progress,
    crawl::{Crawl, Trouble, Visit},
    repository::{fetch_from, identified},
};
use crate::{
    Address, Admitted, Batch, Change, Fence, Index, Note, OwedState, Put, Result, Trust, admit, refusal::Refusals,
};

/// How many wait. More are looked up when they are heard of again, or by the next process.
const WAITING: usize = 10_000;
/// Accounts that are remembered as looked up.
const KNOWN: usize = 100_000;
/// How often it is looked for what is owed and due again.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How many repositories are on their way to be fetched, and how many are read from the index at once.
const ON_THEIR_WAY: usize = 1_000;
const CHUNK: u32 = 500;
/// When a repository that could not be fetched is tried again: after a minute, then four times as long each time, up to six
/// hours; and no more after so many times.
const FIRST_AGAIN_MS: i64 = 60_000;
const LAST_AGAIN_MS: i64 = 21_600_000;
const TRIES: i64 = 12;
/// The same where it would most likely end so again.
const LASTING_TRIES: i64 = 3;

/// Something that ended, or a time that came.
pub(super) enum Over {
    Met(Did, Result<(), Trouble>),
    Fetched(Did, Result<Fetched, Trouble>),
    Look,
}

/// What runs and what waits.
pub(super) struct Errands {
    index: Arc<dyn Index>,
    on_progress: Arc<dyn Fn(Progress) + Send + Sync>,
    fence: Fence,
    run: String,
    known: HashSet<Did>,
    /// Accounts whose look-up is owed, and how often each was asked for.
    unmet: HashMap<Did, i64>,
    /// Accounts on their way to be looked up, and whether something was heard of them meanwhile.
    meeting: HashMap<Did, bool>,
    meetings: Crawl<()>,
    crawl: Crawl<Fetched>,
    /// Those on their way to be fetched: how often each was asked for, and tried.
    owed: HashMap<Did, (i64, i64)>,
    /// How many were owed when it was looked last.
    all_owed: u64,
    look_at: Instant,
    has_looked: bool,
}

impl Errands {
    pub(super) fn new(follower: &super::Follower, name: &str, fence: &Fence) -> Self {
        let (index, client) = (Arc::clone(&follower.index), follower.client.clone());
        let limits = Limits::default();
        let visit: Arc<Visit<Fetched>> = {
            let (index, client, fence) = (Arc::clone(&index), client.clone(), fence.clone());
            Arc::new(move |identity| {
                let (index, client, fence) = (Arc::clone(&index), client.clone(), fence.clone());
                Box::pin(async move { fetch_from(&*index, &client, &identity, limits.repo_bytes, Some(&fence)).await })
            })
        };
        let meet: Arc<Visit<()>> = {
            let (index, client, fence) = (Arc::clone(&index), client.clone(), fence.clone());
            Arc::new(move |identity| {
                let (index, client, fence) = (Arc::clone(&index), client.clone(), fence.clone());
                Box::pin(async move { meet(&*index, &client, &identity, &fence).await })
            })
        };
        Self {
            crawl: Crawl::new(client.clone(), limits, visit, Arc::new(|_, _| {})),
            meetings: Crawl::new(client, limits, meet, Arc::new(|_, _| {})),
            index,
            on_progress: Arc::clone(&follower.on_progress),
            fence: fence.clone(),
            run: format!("follow:{name}"),
            known: HashSet::new(),
            unmet: HashMap::new(),
            meeting: HashMap::new(),
            owed: HashMap::new(),
            all_owed: 0,
            // What an earlier process owed.
            look_at: Instant::now(),
            has_looked: false,
        }
    }

    /// Under which name repositories are owed.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    /// Whether an account was not heard of before, as far as is remembered.
    pub(super) fn is_new(&mut self, did: &Did) -> bool {
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(did.clone())
    }

    /// Under which name look-ups of accounts are owed.
    pub(super) fn who(&self) -> String {
        format!("who:{}", self.run)
    }

    /// Looks up who an account is. `owed` says whether that was just noted.
    pub(super) fn meet(&mut self, did: Did, owed: bool) {
        if owed {
            if self.unmet.len() >= KNOWN {
                self.unmet.clear();
            }
            *self.unmet.entry(did.clone()).or_default() += 1;
        }
        if let Some(is_news) = self.meeting.get_mut(&did) {
            // What was heard while it is looked up may be news that is not seen any more.
            *is_news = true;
        } else if self.meeting.len() < WAITING {
            self.meeting.insert(did.clone(), false);
            self.meetings.add(did);
        }
    }

    /// Says that something is owed.
    pub(super) fn look(&mut self) {
        self.look_at = Instant::now();
    }

    /// Waits until something is over. Nothing is lost if it is not waited for to the end.
    pub(super) async fn next(&mut self) -> Over {
        tokio::select! {
            Some((did, outcome)) = self.meetings.next() => Over::Met(did, outcome),
            Some((did, outcome)) = self.crawl.next() => Over::Fetched(did, outcome),
            () = tokio::time::sleep_until(self.look_at) => Over::Look,
        }
    }

    /// Goes on after something was over.
    ///
    /// # Errors
    /// The index cannot be read or written; the lease passed on.
    pub(super) async fn over(&mut self, over: Over) -> Result<()> {
        match over {
            Over::Met(did, outcome) => self.met(did, outcome).await?,
            Over::Fetched(did, outcome) => self.fetched(did, outcome).await?,
            Over::Look => self.look_up().await?,
        }
        Ok(())
    }

    async fn met(&mut self, did: Did, outcome: Result<(), Trouble>) -> Result<()> {
        let is_news = self.meeting.remove(&did).unwrap_or_default();
        match outcome {
            Err(Trouble::Index(error)) => return Err(error),
            // It stays owed; the next process tries again, if it is not heard of before.
            Err(trouble) => {
                self.tell(Progress::FetchFailed { did: did.clone(), why: trouble.to_string() });
                self.index
                    .apply(Admitted::of_notes(Vec::new(), Some(self.fence.clone())).refusing(trouble.refused()))
                    .await?;
            }
            Ok(()) if is_news => {}
            Ok(()) => {
                if let Some(asked) = self.unmet.remove(&did) {
                    let note = Note::Done { run: self.who(), did: did.clone(), asked, keep: false };
                    self.index.apply(Admitted::of_notes(vec![note], Some(self.fence.clone()))).await?;
                }
            }
        }
        if is_news {
            self.meet(did, false);
        }
        Ok(())
    }

    async fn fetched(&mut self, did: Did, outcome: Result<Fetched, Trouble>) -> Result<()> {
        let (asked, tries) = self.owed.remove(&did).unwrap_or_default();
        let run = self.run.clone();
        let mut refused = Refusals::default();
        let note = match outcome {
            Ok(fetched) => {
                self.tell(Progress::Fetched(fetched));
                Note::Done { run, did, asked, keep: false }
            }
            Err(Trouble::Index(error)) => return Err(error),
            Err(trouble) => {
                refused = trouble.refused();
                let is_lasting = matches!(trouble, Trouble::Lasting(_) | Trouble::NotBelieved { .. });
                let most = if is_lasting { LASTING_TRIES } else { TRIES };
                let why = trouble.to_string();
                self.tell(Progress::FetchFailed { did: did.clone(), why: why.clone() });
                let wait = FIRST_AGAIN_MS.saturating_mul(1 << (2 * tries).clamp(0, 20)).min(LAST_AGAIN_MS);
                let again_ms = (tries < most).then(|| Timestamp::now().as_millisecond().saturating_add(wait));
                Note::Failed { run, did, why, again_ms }
            }
        };
        let notes = Admitted::of_notes(vec![note], Some(self.fence.clone()));
        self.index.apply(notes.refusing(refused)).await?;
        self.all_owed = self.all_owed.saturating_sub(1);
        if self.owed.is_empty() {
            self.look();
        }
        self.tell_fetching();
        Ok(())
    }

    /// Sends for what is owed and due.
    async fn look_up(&mut self) -> Result<()> {
        self.look_at = Instant::now() + LOOK_EVERY;
        if !std::mem::replace(&mut self.has_looked, true) {
            self.take_over().await?;
        }
        let now_ms = Timestamp::now().as_millisecond();
        let mut after = None;
        while self.owed.len() < ON_THEIR_WAY {
            let page = self.index.owed(&self.run, OwedState::Waiting, after.as_ref(), CHUNK).await?;
            let is_last = page.len() < CHUNK as usize;
            after = page.last().map(|owed| owed.did.clone());
            for owed in page.into_iter().filter(|owed| owed.due_ms <= now_ms) {
                if !self.owed.contains_key(&owed.did) {
                    self.owed.insert(owed.did.clone(), (owed.asked, owed.tries));
                    self.crawl.add(owed.did);
                }
            }
            if is_last {
                break;
            }
        }
        self.all_owed = self.index.run(&self.run).await?.waiting;
        self.tell_fetching();
        Ok(())
    }

    fn tell_fetching(&self) {
        let running = self.owed.len() as u64;
        self.tell(Progress::Fetching { running, owed: self.all_owed.max(running) });
    }

    /// Looks up the accounts that an earlier process did not come to.
    async fn take_over(&mut self) -> Result<()> {
        let (who, mut after) = (self.who(), None);
        loop {
            let page = self.index.owed(&who, OwedState::Waiting, after.as_ref(), CHUNK).await?;
            let is_last = page.len() < CHUNK as usize;
            after = page.last().map(|owed| owed.did.clone());
            for owed in page {
                // What this process noted in the meantime is counted in it.
                self.unmet.insert(owed.did.clone(), owed.asked);
                self.meet(owed.did, false);
            }
            if is_last || self.meeting.len() >= WAITING {
                return Ok(());
            }
        }
    }

    fn tell(&self, progress: Progress) {
        (self.on_progress)(progress);
    }
}

/// Who an account is, and what it says of itself.
async fn meet(index: &dyn Index, client: &Client, identity: &Identity, fence: &Fence) -> Result<(), Trouble> {
    let repo = client.repo(identity);
    let rev = repo.latest_commit().await?.rev;
    let mut changes = vec![identified(identity)];
    for name in [crate::PROFILE, crate::AUTONOMY] {
        let (Ok(collection), Ok(rkey)) = (Nsid::parse(name), Rkey::parse("self")) else { continue };
        if let Some(record) = repo.get_record(&collection, &rkey).await? {
            let address = Address { did: identity.did.clone(), collection, rkey };
            let json = record.value.get().into();
            changes.push(Change::Put(Box::new(Put { address, cid: record.cid, rev: rev.clone(), json })));
        }
    }
    let batch = Batch { cursor: None, changes, fence: Some(fence.clone()) };
    index.apply(admit(batch, Trust::Nothing, Timestamp::now())).await?;
    Ok(())
}
