//! Commits that wait until it is known who must have signed them, so that an account whose document is slow to come delays
//! nobody else. What waits is bounded, of one account and of all; beyond, a commit is not believed, and counted.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    time::{Duration, Instant},
};

use onrecord_atproto::{
    Client,
    stream::{Commit, Cursor},
};
use onrecord_lexicon::Did;
use onrecord_repo::PublicKey;
use tokio::task::JoinSet;

use super::believe::{self, Believed, Doubt};
use crate::{Change, CommitFlaw};

/// How many documents are asked for at once: of the directory, and of hosts that accounts choose themselves. The second must
/// not take the room of the first.
const AT_ONCE: usize = 16;
/// How long one is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most commits that wait, and their bytes.
const MOST: usize = 5_000;
const MOST_BYTES: usize = 32_000_000;
/// ... and of one account.
const MOST_OF_ONE: usize = 200;
const MOST_BYTES_OF_ONE: usize = 4_000_000;
/// Keys that are remembered.
const KEYS: usize = 10_000;

/// What came of something that may have waited.
pub(super) enum Decided {
    Commit(Box<Commit>, Result<Believed, Doubt>),
    /// What happened to the account itself, after its commits before.
    Account(Change),
}

impl Decided {
    fn commit(commit: Commit, outcome: Result<Believed, Doubt>) -> Self {
        Self::Commit(Box::new(commit), outcome)
    }
}

enum Held {
    Commit(Commit),
    Account(Change),
}

/// What an account did, in order, each with its number.
struct Room {
    held: VecDeque<(u64, Held)>,
    bytes: usize,
    since: Instant,
}

/// The keys that are known, and the commits that wait for others.
pub(super) struct Waiting {
    client: Client,
    keys: HashMap<Did, PublicKey>,
    rooms: HashMap<Did, Room>,
    /// Accounts that the directory is asked for, and those of which their own hosts are.
    directory: Lane,
    hosts: Lane,
    running: JoinSet<(Did, Result<PublicKey, Doubt>)>,
    /// For each commit that waits, the place before it.
    places: BTreeMap<u64, Option<Cursor>>,
    bytes: usize,
    number: u64,
}

/// Who is to be asked for, and how many are.
#[derive(Default)]
struct Lane {
    queue: VecDeque<Did>,
    busy: usize,
}

fn weight(commit: &Commit) -> usize {
    commit.proof.as_ref().map_or(0, |proof| proof.blocks.len()) + 500 * commit.operations.len()
}

const TOO_MUCH: &str = "too much waits for its account's key";

fn unresolved(why: &str) -> Doubt {
    Doubt { flaw: CommitFlaw::Unresolved, why: why.to_owned() }
}

impl Waiting {
    pub(super) fn new(client: &Client) -> Self {
        Self {
            client: client.clone(),
            keys: HashMap::new(),
            rooms: HashMap::new(),
            directory: Lane::default(),
            hosts: Lane::default(),
            running: JoinSet::new(),
            places: BTreeMap::new(),
            bytes: 0,
            number: 0,
        }
    }

    /// What comes of a commit, if that can be told at once; else it waits. `before` is the place in the stream before it.
    pub(super) fn take(&mut self, commit: Commit, before: Option<Cursor>) -> Option<Decided> {
        if commit.proof.is_none() {
            let outcome = believe::writes(&commit, None);
            return Some(Decided::commit(commit, outcome));
        }
        if !self.rooms.contains_key(&commit.did)
            && let Some(key) = self.keys.get(&commit.did)
        {
            match believe::writes(&commit, Some(key)) {
                // The key may be another by now.
                Err(doubt) if doubt.flaw == CommitFlaw::Signature => drop(self.keys.remove(&commit.did)),
                outcome => return Some(Decided::commit(commit, outcome)),
            }
        }
        let bytes = weight(&commit);
        let is_full = match self.rooms.get(&commit.did) {
            Some(room) => room.held.len() >= MOST_OF_ONE || room.bytes + bytes > MOST_BYTES_OF_ONE,
            None => false,
        };
        if is_full || self.places.len() >= MOST || self.bytes + bytes > MOST_BYTES {
            return Some(Decided::commit(commit, Err(unresolved(TOO_MUCH))));
        }
        self.number += 1;
        self.bytes += bytes;
        self.places.insert(self.number, before);
        if !self.rooms.contains_key(&commit.did) {
            self.lane(&commit.did).queue.push_back(commit.did.clone());
        }
        let room = self.rooms.entry(commit.did.clone()).or_insert_with(|| Room {
            held: VecDeque::new(),
            bytes: 0,
            since: Instant::now(),
        });
        room.bytes += bytes;
        room.held.push_back((self.number, Held::Commit(commit)));
        self.ask();
        None
    }

    /// What comes of a change of an account itself: where commits of it wait, it waits behind them. `before` is the place in the
    /// stream before it.
    pub(super) fn account(&mut self, change: Change, before: Option<Cursor>) -> Vec<Decided> {
        let mut decided = Vec::new();
        if let Some(room) = self.rooms.get_mut(change.did()) {
            if room.held.len() < MOST_OF_ONE && self.places.len() < MOST {
                self.number += 1;
                self.places.insert(self.number, before);
                room.held.push_back((self.number, Held::Account(change)));
                return decided;
            }
            let did = change.did().clone();
            self.leave(&did, &mut decided, |_| Err(unresolved(TOO_MUCH)));
        }
        decided.push(Decided::Account(change));
        decided
    }

    fn lane(&mut self, did: &Did) -> &mut Lane {
        if did.as_str().starts_with("did:plc:") { &mut self.directory } else { &mut self.hosts }
    }

    fn ask(&mut self) {
        for lane in [&mut self.directory, &mut self.hosts] {
            while lane.busy < AT_ONCE
                && let Some(did) = lane.queue.pop_front()
            {
                lane.busy += 1;
                let client = self.client.clone();
                self.running.spawn(async move {
                    let key = match tokio::time::timeout(PATIENCE, believe::key(&client, &did)).await {
                        Ok(key) => key,
                        Err(_) => Err(unresolved("its document does not come")),
                    };
                    (did, key)
                });
            }
        }
    }

    /// Waits until something can be told of commits that wait; for ever if none does.
    pub(super) async fn next(&mut self) -> Vec<Decided> {
        let Some(Ok((did, key))) = self.running.join_next().await else {
            return std::future::pending().await;
        };
        let lane = self.lane(&did);
        lane.busy = lane.busy.saturating_sub(1);
        let mut late = std::mem::take(&mut lane.queue);
        let mut decided = Vec::new();
        self.leave(&did, &mut decided, |commit| match &key {
            Ok(key) => believe::writes(commit, Some(key)),
            Err(doubt) => Err(doubt.clone()),
        });
        // Those who could not be asked for in time.
        while let Some(did) = late.pop_front() {
            if self.rooms.get(&did).is_some_and(|room| room.since.elapsed() < PATIENCE) {
                late.push_front(did);
                break;
            }
            self.leave(&did, &mut decided, |_| Err(unresolved("too many documents are waited for")));
        }
        self.lane(&did).queue = late;
        if let Ok(key) = key {
            if self.keys.len() >= KEYS {
                self.keys.clear();
            }
            self.keys.insert(did, key);
        }
        self.ask();
        decided
    }

    fn leave(&mut self, did: &Did, to: &mut Vec<Decided>, outcome: impl Fn(&Commit) -> Result<Believed, Doubt>) {
        let Some(room) = self.rooms.remove(did) else { return };
        self.bytes = self.bytes.saturating_sub(room.bytes);
        for (number, held) in room.held {
            self.places.remove(&number);
            to.push(match held {
                Held::Commit(commit) => {
                    let outcome = outcome(&commit);
                    Decided::commit(commit, outcome)
                }
                Held::Account(change) => Decided::Account(change),
            });
        }
    }

    /// The place before the first that waits, if one does: so far and no further was everything dealt with.
    pub(super) fn place(&self) -> Option<Option<Cursor>> {
        self.places.first_key_value().map(|(_, place)| *place)
    }

    /// The account's key may have changed.
    pub(super) fn forget(&mut self, did: &Did) {
        self.keys.remove(did);
    }

    /// The connection ended: what waits will come again.
    pub(super) fn clear(&mut self) {
        self.rooms.clear();
        self.directory.queue.clear();
        self.hosts.queue.clear();
        self.places.clear();
        self.bytes = 0;
    }
}
