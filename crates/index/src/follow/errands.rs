//! What is looked up beside the stream: accounts, and repositories of which the stream cannot tell enough. Both are owed in the
//! index until it was done, whatever becomes of this process.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use onrecord_atproto::Client;
use onrecord_lexicon::{Did, Nsid, Rkey};
use tokio::{task::JoinSet, time::Instant};

use super::{
    Fetched, Limits, Progress,
    crawl::{Crawl, Trouble, Visit},
    repository::fetch_from,
};
use crate::{Address, Admitted, Batch, Change, Fence, Index, Note, OwedState, Put, Result, Trust, admit};

/// How many accounts are looked up at once.
const AT_ONCE: usize = 8;
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

/// Of an account of which something was just written, or of one that may be nobody's here.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Errand {
    Meet(Did),
    Resolve(Did),
}

impl Errand {
    fn did(&self) -> &Did {
        match self {
            Self::Meet(did) | Self::Resolve(did) => did,
        }
    }
}

/// Something that ended, or a time that came.
pub(super) enum Over {
    Resolved(Did, Result<(), String>),
    Fetched(Did, Result<Fetched, Trouble>),
    Look,
}

/// What runs and what waits.
pub(super) struct Errands {
    index: Arc<dyn Index>,
    client: Client,
    on_progress: Arc<dyn Fn(Progress) + Send + Sync>,
    fence: Fence,
    run: String,
    known: HashSet<Did>,
    /// Accounts whose look-up is owed, and how often each was asked for.
    unmet: HashMap<Did, i64>,
    waiting: VecDeque<Errand>,
    queued: HashSet<Errand>,
    running: JoinSet<(Did, Result<(), String>)>,
    crawl: Crawl<Fetched>,
    /// Those on their way to be fetched: how often each was asked for, and tried.
    owed: HashMap<Did, (i64, i64)>,
    look_at: Instant,
    has_looked: bool,
}

impl Errands {
    pub(super) fn new(follower: &super::Follower, name: &str, fence: &Fence) -> Self {
        let (index, client) = (Arc::clone(&follower.index), follower.client.clone());
        let visit: Arc<Visit<Fetched>> = {
            let (index, client, fence) = (Arc::clone(&index), client.clone(), fence.clone());
            Arc::new(move |identity| {
                let (index, client, fence) = (Arc::clone(&index), client.clone(), fence.clone());
                Box::pin(async move { fetch_from(&*index, &client, &identity, Some(&fence)).await })
            })
        };
        Self {
            crawl: Crawl::new(client.clone(), Limits::default(), visit, Arc::new(|_, _| {})),
            index,
            client,
            on_progress: Arc::clone(&follower.on_progress),
            fence: fence.clone(),
            run: format!("follow:{name}"),
            known: HashSet::new(),
            unmet: HashMap::new(),
            waiting: VecDeque::new(),
            queued: HashSet::new(),
            running: JoinSet::new(),
            owed: HashMap::new(),
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

    /// Looks up who an account is, if anything of it is known. `owed` says whether that was just noted.
    pub(super) fn resolve(&mut self, did: Did, owed: bool) {
        if owed {
            *self.unmet.entry(did.clone()).or_default() += 1;
        }
        let errand = if self.known.contains(&did) { Errand::Meet(did) } else { Errand::Resolve(did) };
        if self.waiting.len() < WAITING && self.queued.insert(errand.clone()) {
            self.waiting.push_back(errand);
            self.start();
        }
    }

    /// Says that something is owed.
    pub(super) fn look(&mut self) {
        self.look_at = Instant::now();
    }

    fn start(&mut self) {
        while self.running.len() < AT_ONCE
            && let Some(errand) = self.waiting.pop_front()
        {
            // What is asked for while it runs may be news it does not see any more.
            self.queued.remove(&errand);
            let (index, client, fence) = (Arc::clone(&self.index), self.client.clone(), self.fence.clone());
            self.running.spawn(async move {
                let did = errand.did();
                // Nobody else's affairs are looked into.
                let is_ours =
                    matches!(errand, Errand::Meet(_)) || index.head(did).await.is_ok_and(|head| head.is_some());
                let outcome = if is_ours { resolve(&*index, &client, did, &fence).await } else { Ok(()) };
                (did.clone(), outcome)
            });
        }
    }

    /// Waits until something is over. Nothing is lost if it is not waited for to the end.
    pub(super) async fn next(&mut self) -> Over {
        tokio::select! {
            Some(ended) = self.running.join_next() => match ended {
                Ok((did, outcome)) => Over::Resolved(did, outcome),
                // Errands are never ended from outside but with the whole.
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
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
            Over::Resolved(did, outcome) => {
                match outcome {
                    // It stays owed; the next process tries again, if it is not heard of before.
                    Err(why) => self.tell(Progress::FetchFailed { did, why }),
                    // What was asked for since is still to be seen.
                    Ok(()) if self.is_queued(&did) => {}
                    Ok(()) => {
                        if let Some(asked) = self.unmet.remove(&did) {
                            let note = Note::Done { run: self.who(), did, asked, keep: false };
                            self.index.apply(Admitted::of_notes(vec![note], Some(self.fence.clone()))).await?;
                        }
                    }
                }
                self.start();
            }
            Over::Fetched(did, outcome) => self.fetched(did, outcome).await?,
            Over::Look => self.look_up().await?,
        }
        Ok(())
    }

    fn is_queued(&self, did: &Did) -> bool {
        self.queued.contains(&Errand::Meet(did.clone())) || self.queued.contains(&Errand::Resolve(did.clone()))
    }

    async fn fetched(&mut self, did: Did, outcome: Result<Fetched, Trouble>) -> Result<()> {
        let (asked, tries) = self.owed.remove(&did).unwrap_or_default();
        let run = self.run.clone();
        let note = match outcome {
            Ok(fetched) => {
                self.tell(Progress::Fetched(fetched));
                Note::Done { run, did, asked, keep: false }
            }
            Err(Trouble::Index(error)) => return Err(error),
            Err(trouble) => {
                let most = if matches!(trouble, Trouble::Lasting(_)) { LASTING_TRIES } else { TRIES };
                let why = trouble.to_string();
                self.tell(Progress::FetchFailed { did: did.clone(), why: why.clone() });
                let wait = FIRST_AGAIN_MS.saturating_mul(1 << (2 * tries).clamp(0, 20)).min(LAST_AGAIN_MS);
                let again_ms = (tries < most).then(|| Timestamp::now().as_millisecond().saturating_add(wait));
                Note::Failed { run, did, why, again_ms }
            }
        };
        self.index.apply(Admitted::of_notes(vec![note], Some(self.fence.clone()))).await?;
        if self.owed.is_empty() {
            self.look();
        }
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
        Ok(())
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
                self.resolve(owed.did, false);
            }
            if is_last || self.waiting.len() >= WAITING {
                return Ok(());
            }
        }
    }

    fn tell(&self, progress: Progress) {
        (self.on_progress)(progress);
    }
}

/// Who an account is, and what it says of itself.
async fn resolve(index: &dyn Index, client: &Client, did: &Did, fence: &Fence) -> Result<(), String> {
    let identity = client.resolve_afresh(did.as_str()).await.map_err(|error| error.to_string())?;
    let pds = Some(identity.pds.as_str().trim_end_matches('/').to_owned());
    let mut changes = vec![Change::Identity { did: did.clone(), handle: identity.handle.clone(), pds }];
    let repo = client.repo(&identity);
    let rev = repo.latest_commit().await.map_err(|error| error.to_string())?.rev;
    for name in [crate::PROFILE, crate::AUTONOMY] {
        let (Ok(collection), Ok(rkey)) = (Nsid::parse(name), Rkey::parse("self")) else { continue };
        if let Some(record) = repo.get_record(&collection, &rkey).await.map_err(|error| error.to_string())? {
            let address = Address { did: did.clone(), collection, rkey };
            let json = record.value.to_string().into();
            changes.push(Change::Put(Box::new(Put { address, cid: record.cid, rev: rev.clone(), json })));
        }
    }
    let batch = Batch { cursor: None, changes, fence: Some(fence.clone()) };
    index.apply(admit(batch, Trust::Nothing, Timestamp::now())).await.map_err(|error| error.to_string())?;
    Ok(())
}
