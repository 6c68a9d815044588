//! What is looked up beside the stream: accounts, and repositories of which the stream cannot tell enough.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use jiff::Timestamp;
use onrecord_atproto::Client;
use onrecord_lexicon::{Did, Nsid, Rkey};
use tokio::task::JoinSet;

use super::{Follower, Progress, fetch};
use crate::{Address, Batch, Change, Fence, Index, Put, Recent, Trust, admit};

/// How many run at once.
const AT_ONCE: usize = 8;
/// How many wait. More are forgotten, and done when the account is heard of again.
const WAITING: usize = 10_000;
/// Accounts that are remembered as looked up.
const KNOWN: usize = 100_000;

/// An errand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Errand {
    /// Of an account of which something was just written.
    Meet(Did),
    /// Of one that may be nobody's here.
    Resolve(Did),
    Fetch(Did),
}

impl Errand {
    fn did(&self) -> &Did {
        match self {
            Self::Meet(did) | Self::Resolve(did) | Self::Fetch(did) => did,
        }
    }
}

/// Those that run and those that wait.
pub(super) struct Errands<'a> {
    follower: &'a Follower,
    fence: Fence,
    known: HashSet<Did>,
    waiting: VecDeque<Errand>,
    queued: HashSet<Errand>,
    running: JoinSet<Errand>,
}

impl<'a> Errands<'a> {
    pub(super) fn new(follower: &'a Follower, fence: &Fence) -> Self {
        Self {
            follower,
            fence: fence.clone(),
            known: HashSet::new(),
            waiting: VecDeque::new(),
            queued: HashSet::new(),
            running: JoinSet::new(),
        }
    }

    /// Whether an account was not heard of before, as far as is remembered.
    pub(super) fn is_new(&mut self, did: &Did) -> bool {
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(did.clone())
    }

    /// Looks up who an account is, if anything of it is known.
    pub(super) fn resolve(&mut self, did: Did) {
        self.add(if self.known.contains(&did) { Errand::Meet(did) } else { Errand::Resolve(did) });
    }

    /// Fetches a repository, if a conversation of its account is known.
    pub(super) fn fetch(&mut self, did: Did) {
        self.add(Errand::Fetch(did));
    }

    fn add(&mut self, errand: Errand) {
        if self.waiting.len() < WAITING && self.queued.insert(errand.clone()) {
            self.waiting.push_back(errand);
            self.start();
        }
    }

    fn start(&mut self) {
        while self.running.len() < AT_ONCE
            && let Some(errand) = self.waiting.pop_front()
        {
            // What is asked for while it runs may be news it does not see any more.
            self.queued.remove(&errand);
            let (index, client) = (Arc::clone(&self.follower.index), self.follower.client.clone());
            let (tell, fence) = (Arc::clone(&self.follower.on_progress), self.fence.clone());
            self.running.spawn(async move {
                let did = errand.did();
                let is_ours = matches!(errand, Errand::Meet(_)) || is_known(&*index, did).await;
                let outcome = match &errand {
                    _ if !is_ours => Ok(()),
                    Errand::Meet(_) | Errand::Resolve(_) => resolve(&*index, &client, did, &fence).await,
                    Errand::Fetch(_) => {
                        fetch(&*index, &client, did, Some(&fence)).await.map(|fetched| tell(Progress::Fetched(fetched)))
                    }
                };
                if let Err(why) = outcome {
                    tell(Progress::FetchFailed { did: did.clone(), why });
                }
                errand
            });
        }
    }

    /// Waits until one has ended; for ever if none runs.
    pub(super) async fn next(&mut self) {
        if self.running.is_empty() {
            std::future::pending::<()>().await;
        }
        let _ = self.running.join_next().await;
        self.start();
    }
}

/// Whether the index has a conversation of the account: nobody else's affairs are looked into.
async fn is_known(index: &dyn Index, did: &Did) -> bool {
    index.recent(&Recent::By(did.clone()), None, 1).await.is_ok_and(|page| !page.items.is_empty())
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
