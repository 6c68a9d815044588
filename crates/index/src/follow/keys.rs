//! The keys that sign repositories, looked up beside the stream: who answers slowly keeps nobody waiting but their own.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use onrecord_atproto::Client;
use onrecord_lexicon::Did;
use onrecord_repo::PublicKey;
use tokio::task::JoinSet;

/// Lookups at once: of the directory, and of all other servers together. So none of these keeps the directory waiting.
const AT_ONCE: usize = 12;
/// Keys that are remembered.
const KNOWN: usize = 100_000;
/// How often a lookup is tried that fails, and how long until the second time.
const TRIES: u32 = 3;
const WAIT: Duration = Duration::from_secs(1);

/// A key, or why it cannot be learnt.
pub(super) type Learnt = Result<PublicKey, Unlearnt>;

/// Why a key cannot be learnt.
#[derive(Debug, Clone)]
pub(super) enum Unlearnt {
    /// The account's document cannot be had.
    Unresolved(String),
    /// It names no key, or none of the protocol's.
    NoKey(String),
}

/// Lookups of one kind.
#[derive(Default)]
struct Line {
    waiting: VecDeque<Did>,
    running: usize,
}

/// What is known and what is being asked.
pub(super) struct Keys {
    client: Client,
    known: HashMap<Did, PublicKey>,
    asked: HashSet<Did>,
    /// Of the directory, and of others.
    lines: [Line; 2],
    running: JoinSet<(Did, Learnt)>,
}

impl Keys {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            known: HashMap::new(),
            asked: HashSet::new(),
            lines: Default::default(),
            running: JoinSet::new(),
        }
    }

    /// The key of an account, if it was looked up before. It may be another by now.
    pub(super) fn get(&self, did: &Did) -> Option<PublicKey> {
        self.known.get(did).cloned()
    }

    /// Forgets a key that may be another by now.
    pub(super) fn forget(&mut self, did: &Did) {
        self.known.remove(did);
    }

    /// Looks it up, whatever is known.
    pub(super) fn ask(&mut self, did: &Did) {
        if self.asked.insert(did.clone()) {
            self.line(did).waiting.push_back(did.clone());
            self.start();
        }
    }

    /// The next lookup that has ended; for ever if none runs.
    pub(super) async fn next(&mut self) -> (Did, Learnt) {
        let Some(ended) = self.running.join_next().await else { std::future::pending().await };
        let (did, learnt) = match ended {
            Ok(ended) => ended,
            // Lookups are never ended from outside but with the whole.
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        self.asked.remove(&did);
        let line = self.line(&did);
        line.running = line.running.saturating_sub(1);
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        match &learnt {
            Ok(key) => drop(self.known.insert(did.clone(), key.clone())),
            Err(_) => drop(self.known.remove(&did)),
        }
        self.start();
        (did, learnt)
    }

    fn line(&mut self, did: &Did) -> &mut Line {
        let [directory, others] = &mut self.lines;
        if did.as_str().starts_with("did:plc:") { directory } else { others }
    }

    fn start(&mut self) {
        for line in &mut self.lines {
            while line.running < AT_ONCE
                && let Some(did) = line.waiting.pop_front()
            {
                line.running += 1;
                let client = self.client.clone();
                self.running.spawn(async move {
                    let learnt = look_up(&client, &did).await;
                    (did, learnt)
                });
            }
        }
    }
}

async fn look_up(client: &Client, did: &Did) -> Learnt {
    let mut tries = 0;
    loop {
        tries += 1;
        match client.signing_key(did).await {
            Ok(Some(key)) => return PublicKey::parse(&key).map_err(|error| Unlearnt::NoKey(error.to_string())),
            Ok(None) => return Err(Unlearnt::NoKey("its DID document names no key".to_owned())),
            Err(error) if error.is_transient() && tries < TRIES => {
                tokio::time::sleep(super::crawl::backoff(WAIT, tries)).await;
            }
            Err(error) => return Err(Unlearnt::Unresolved(error.to_string())),
        }
    }
}
