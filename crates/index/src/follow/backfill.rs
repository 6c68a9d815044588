//! The past: repositories that are fetched because somebody asked for them, and not because a stream told of them.
//!
//! What is to be fetched and what was stands in the index, so that whoever ends a backfill, at any moment, loses at most the
//! repositories that were on their way: running it again goes on from there. One process at a time works on a run.

use std::{collections::HashMap, sync::Arc, time::Duration};

use onrecord_atproto::Client;
use onrecord_lexicon::{Did, Nsid};
use url::Url;

use super::{
    Fetched, WANTED,
    crawl::{Crawl, Limits, OnHold, Trouble, Visit},
    repository::fetch_from,
};
use crate::{Admitted, Fence, Index, Note, Owed, OwedState, Result};

/// How often another process's lease is asked for.
const LEASE_WAIT: Duration = Duration::from_secs(2);
/// How many repositories are looked up in the index at once.
const CHUNK: u32 = 1_000;
/// How often a listing is tried that fails.
const LIST_TRIES: u32 = 4;

/// Collections that nearly everybody has: of no use for finding who put a conversation on record.
const OF_EVERYBODY: [&str; 2] = [crate::PROFILE, crate::AUTONOMY];

/// What to fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Some accounts' repositories.
    Repos(Vec<Did>),
    /// Those of a collective, and its own.
    MembersOf(Did),
    /// Those of which a relay says that they hold one of the collections that are kept.
    Network(Url),
}

impl Target {
    /// The name under which its progress is remembered.
    #[must_use]
    pub fn run(&self) -> String {
        match self {
            Self::Repos(_) => "repos".to_owned(),
            Self::MembersOf(did) => format!("members:{did}"),
            Self::Network(relay) => format!("network:{relay}"),
        }
    }
}

/// What happens to a backfill, for whoever watches.
#[derive(Debug)]
pub enum BackfillProgress {
    /// Another process works on this run; this one waits.
    Waiting,
    /// A page of a relay's list was read.
    Listed {
        /// Which collection.
        collection: String,
        /// How many repositories the page named.
        count: usize,
    },
    /// A list could not be read to its end; what it named before is fetched.
    ListFailed {
        /// Which collection.
        collection: String,
        /// Why.
        why: String,
    },
    /// How far the run is.
    Now {
        /// Repositories fetched or given up, in this and earlier processes.
        done: u64,
        /// Of how many.
        total: u64,
    },
    /// A repository was fetched.
    Fetched(Fetched),
    /// A repository could not be fetched; running again tries it again.
    Failed {
        /// Whose.
        did: Did,
        /// Why.
        why: String,
    },
    /// A server is left alone for a while; the others are not.
    OnHold {
        /// Which.
        host: String,
        /// For how long.
        wait: Duration,
    },
}

/// How a backfill ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Backfilled {
    /// Repositories that were fetched now.
    pub fetched: u64,
    /// Those that had been fetched before.
    pub before: u64,
    /// Those that could not be fetched.
    pub failed: u64,
    /// Lists that could not be read to their end.
    pub unlisted: u64,
}

/// Fetches what is asked for.
pub struct Backfill {
    /// Where to.
    pub index: Arc<dyn Index>,
    /// How the network is reached.
    pub client: Client,
    /// How much is asked of it at once.
    pub limits: Limits,
    /// Fetch also what was fetched before.
    pub anew: bool,
    /// Who is told.
    pub on_progress: Arc<dyn Fn(BackfillProgress) + Send + Sync>,
}

impl Backfill {
    /// Fetches all of it. What could not be fetched is told, and does not keep the rest.
    ///
    /// # Errors
    /// The index cannot be read or written; another process took over.
    pub async fn run(&self, target: &Target) -> Result<Backfilled> {
        let run = target.run();
        let lease = loop {
            if let Some(lease) = self.index.lease(&format!("backfill {run}")).await? {
                break lease;
            }
            self.tell(BackfillProgress::Waiting);
            tokio::time::sleep(LEASE_WAIT).await;
        };
        let work = Work { of: self, run, fence: lease.fence() };
        let mut ended = Backfilled::default();
        match target {
            Target::Repos(dids) => {
                let owed = Note::Owed { run: work.run.clone(), dids: dids.clone(), afresh: self.anew };
                work.note(vec![Note::Retry { run: work.run.clone() }, owed]).await?;
            }
            Target::MembersOf(did) => {
                work.begin().await?;
                work.owed(vec![did.clone()]).await?;
                work.crawl(&mut ended).await?;
                work.owed(self.members(did).await?).await?;
            }
            Target::Network(relay) => {
                work.begin().await?;
                ended.unlisted = work.list(relay).await?;
            }
        }
        ended.before = self.index.run(&work.run).await?.done.saturating_sub(ended.fetched);
        work.crawl(&mut ended).await?;
        ended.failed = self.index.run(&work.run).await?.given_up;
        Ok(ended)
    }

    /// Fetches the members that a collective has by now and that were not fetched yet. Of use while a stream keeps its list.
    ///
    /// # Errors
    /// Those of [`Backfill::run`].
    pub async fn new_members(&self, collective: &Did) -> Result<Backfilled> {
        let run = Target::MembersOf(collective.clone()).run();
        let mut ended = Backfilled::default();
        if let Some(lease) = self.index.lease(&format!("backfill {run}")).await? {
            let work = Work { of: self, run, fence: lease.fence() };
            work.owed(self.members(collective).await?).await?;
            work.crawl(&mut ended).await?;
        }
        Ok(ended)
    }

    /// Those that could not be fetched, and why.
    ///
    /// # Errors
    /// The index cannot be read.
    pub async fn failures(&self, target: &Target) -> Result<Vec<Owed>> {
        let (run, mut failures) = (target.run(), Vec::new());
        loop {
            let after = failures.last().map(|owed: &Owed| owed.did.clone());
            let page = self.index.owed(&run, OwedState::GivenUp, after.as_ref(), CHUNK).await?;
            let is_last = page.len() < CHUNK as usize;
            failures.extend(page);
            if is_last {
                return Ok(failures);
            }
        }
    }

    async fn members(&self, collective: &Did) -> Result<Vec<Did>> {
        let members = self.index.members(collective).await?;
        // The key of a member's record is the member's DID.
        Ok(members.iter().filter_map(|member| Did::parse(member.address.rkey.as_str()).ok()).collect())
    }

    fn tell(&self, progress: BackfillProgress) {
        (self.on_progress)(progress);
    }
}

/// A run that this process works on.
struct Work<'a> {
    of: &'a Backfill,
    run: String,
    fence: Fence,
}

impl Work<'_> {
    async fn note(&self, notes: Vec<Note>) -> Result<()> {
        self.of.index.apply(Admitted::of_notes(notes, Some(self.fence.clone()))).await.map(drop)
    }

    async fn owed(&self, dids: Vec<Did>) -> Result<()> {
        self.note(vec![Note::Owed { run: self.run.clone(), dids, afresh: false }]).await
    }

    /// Forgets what was done, or what was given up, as is asked.
    async fn begin(&self) -> Result<()> {
        let run = self.run.clone();
        self.note(vec![if self.of.anew { Note::Anew { run } } else { Note::Retry { run } }]).await
    }

    /// Reads the lists of a relay that were not read to their end before. Says how many could not be.
    async fn list(&self, relay: &Url) -> Result<u64> {
        let known = self.of.index.run(&self.run).await?.lists;
        let mut unlisted = 0;
        for name in WANTED.iter().filter(|name| !OF_EVERYBODY.contains(name)) {
            // A pattern is nothing that can be listed.
            let Ok(collection) = Nsid::parse(name) else { continue };
            let begun = known.iter().find(|(list, _)| list == name);
            if begun.is_some_and(|(_, cursor)| cursor.is_none()) {
                continue;
            }
            let cursor = begun.and_then(|(_, cursor)| cursor.clone());
            if let Err(trouble) = self.list_one(relay, &collection, cursor).await {
                if let Trouble::Index(error) = trouble {
                    return Err(error);
                }
                unlisted += 1;
                let (collection, why) = ((*name).to_owned(), trouble.to_string());
                self.of.tell(BackfillProgress::ListFailed { collection, why });
            }
        }
        Ok(unlisted)
    }

    async fn list_one(&self, relay: &Url, collection: &Nsid, mut cursor: Option<String>) -> Result<(), Trouble> {
        let mut tries = 0;
        loop {
            let page = match self.of.client.repos_with(relay, collection, cursor.as_deref()).await {
                Ok(page) => page,
                Err(error) => {
                    let trouble = Trouble::from(error);
                    let wait = match &trouble {
                        Trouble::Limited { until, .. } => super::crawl::wait_until(*until),
                        Trouble::Passing(_) => None,
                        _ => return Err(trouble),
                    };
                    tries += 1;
                    let wait = wait.unwrap_or_else(|| super::crawl::backoff(self.of.limits.backoff, tries));
                    if tries >= LIST_TRIES || wait > self.of.limits.patience {
                        return Err(trouble);
                    }
                    let host = relay.host_str().unwrap_or_default().to_owned();
                    self.of.tell(BackfillProgress::OnHold { host, wait });
                    tokio::time::sleep(wait).await;
                    continue;
                }
            };
            tries = 0;
            let (list, count, next) = (collection.to_string(), page.dids.len(), page.cursor);
            self.note(vec![
                Note::Owed { run: self.run.clone(), dids: page.dids, afresh: false },
                Note::Listed { run: self.run.clone(), list: list.clone(), cursor: next.clone() },
            ])
            .await?;
            self.of.tell(BackfillProgress::Listed { collection: list, count });
            match next {
                // A page of nobody ends a list, whatever it says.
                Some(next) if count > 0 => cursor = Some(next),
                Some(_) => {
                    let (run, list) = (self.run.clone(), collection.to_string());
                    self.note(vec![Note::Listed { run, list, cursor: None }]).await?;
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
    }

    /// Fetches all that waits.
    async fn crawl(&self, ended: &mut Backfilled) -> Result<()> {
        let (index, client) = (Arc::clone(&self.of.index), self.of.client.clone());
        let (fence, most_bytes) = (self.fence.clone(), self.of.limits.repo_bytes);
        let visit: Arc<Visit<Fetched>> = Arc::new(move |identity| {
            let (index, client, fence) = (Arc::clone(&index), client.clone(), fence.clone());
            Box::pin(async move { fetch_from(&*index, &client, &identity, most_bytes, Some(&fence)).await })
        });
        let tell = Arc::clone(&self.of.on_progress);
        let on_hold: Arc<OnHold> =
            Arc::new(move |host, wait| tell(BackfillProgress::OnHold { host: host.to_owned(), wait }));
        let mut crawl = Crawl::new(self.of.client.clone(), self.of.limits, visit, on_hold);
        let state = self.of.index.run(&self.run).await?;
        let (mut done, total) = (state.done + state.given_up, state.done + state.given_up + state.waiting);
        self.of.tell(BackfillProgress::Now { done, total });
        let (mut after, mut is_fed, mut asked) = (None, false, HashMap::new());
        loop {
            while !is_fed && crawl.len() < CHUNK as usize {
                let page = self.of.index.owed(&self.run, OwedState::Waiting, after.as_ref(), CHUNK).await?;
                is_fed = page.len() < CHUNK as usize;
                after = page.last().map(|owed| owed.did.clone()).or(after);
                for owed in page {
                    asked.insert(owed.did.clone(), owed.asked);
                    crawl.add(owed.did);
                }
            }
            let Some((did, outcome)) = crawl.next().await else { return Ok(()) };
            let (run, asked) = (self.run.clone(), asked.remove(&did).unwrap_or_default());
            match outcome {
                Ok(fetched) => {
                    self.note(vec![Note::Done { run, did, asked, keep: true }]).await?;
                    ended.fetched += 1;
                    self.of.tell(BackfillProgress::Fetched(fetched));
                }
                Err(Trouble::Index(error)) => return Err(error),
                Err(trouble) => {
                    let why = trouble.to_string();
                    let note = Note::Failed { run, did: did.clone(), why: why.clone(), again_ms: None };
                    let notes = Admitted::of_notes(vec![note], Some(self.fence.clone()));
                    self.of.index.apply(notes.refusing(trouble.refused())).await?;
                    self.of.tell(BackfillProgress::Failed { did, why });
                }
            }
            done += 1;
            self.of.tell(BackfillProgress::Now { done, total });
        }
    }
}
