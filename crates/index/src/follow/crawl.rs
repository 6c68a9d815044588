//! Visiting many repositories on many servers: several at once, few on one server, and none on a server that asks for time or
//! fails, without the others waiting for it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_atproto::{Client, Error as Net, Identity};
use onrecord_lexicon::Did;
use tokio::task::{JoinError, JoinSet};

use crate::{Error, Reason, RepositoryFlaw, refusal::Refusals};

/// How many identities are looked up at once: at the directory, and at hosts that accounts choose themselves. The second must
/// not take the room of the first.
const RESOLVED_AT_ONCE: usize = 8;
/// How long one is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many repositories wait whose server is known.
const MOST_WAITING: usize = 2_000;
/// How often one repository is tried in a run.
const TRIES: u32 = 3;
/// A server that failed so often without a success in between is given up, and a directory of identities.
const MOST_FAILURES: u32 = 6;
const MOST_LOOKUP_FAILURES: u32 = 24;
/// A server that asked for time so often without a success in between is given up.
const MOST_LIMITS: u32 = 30;
const LONGEST_BACKOFF: Duration = Duration::from_secs(300);

/// How much is asked of the network at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Repositories at once.
    pub at_once: usize,
    /// Of those, on one server.
    pub per_host: usize,
    /// How long a server that failed is left alone the first time; the next times twice as long each.
    pub backoff: Duration,
    /// The largest repository that is fetched whole, in bytes; the records of a larger one are listed.
    pub repo_bytes: usize,
    /// How long a server is waited for that names a time. Beyond, its repositories are given up for now.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let (backoff, patience) = (Duration::from_secs(1), Duration::from_secs(900));
        Self { at_once: 8, per_host: 2, backoff, repo_bytes: 1 << 30, patience }
    }
}

/// Why a repository could not be visited.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// It would end so again.
    #[error("{0}")]
    Lasting(String),
    /// Its server failed or could not be reached.
    #[error("{0}")]
    Passing(String),
    /// What came is not what an honest server sends: it is not believed.
    #[error("{why}")]
    NotBelieved {
        /// To be counted by.
        flaw: RepositoryFlaw,
        /// In words.
        why: String,
    },
    /// Its server asks for time.
    #[error("{why}")]
    Limited {
        /// Its words.
        why: String,
        /// Until when.
        until: Option<Timestamp>,
    },
    /// The index cannot be read or written.
    #[error(transparent)]
    Index(#[from] Error),
}

impl Trouble {
    /// What is to be counted of it.
    pub(super) fn refused(&self) -> Refusals {
        let mut refused = Refusals::default();
        if let Self::NotBelieved { flaw, .. } = self {
            refused.other(Reason::Repository(*flaw));
        }
        refused
    }
}

impl From<Net> for Trouble {
    fn from(error: Net) -> Self {
        let why = error.to_string();
        let flaw = match &error {
            Net::AnswerTooLarge { .. } => Some(RepositoryFlaw::TooLarge),
            Net::TooSlow { .. } => Some(RepositoryFlaw::TooSlow),
            Net::BadDocument { .. } | Net::DidMismatch { .. } | Net::NoPds { .. } => Some(RepositoryFlaw::Document),
            Net::AddressRefused { .. } => Some(RepositoryFlaw::Address),
            Net::BadAnswer { .. } => Some(RepositoryFlaw::Answer),
            Net::NotAnXrpcServer { status, .. } if *status < 500 => Some(RepositoryFlaw::Answer),
            _ => None,
        };
        if let Some(flaw) = flaw {
            return Self::NotBelieved { flaw, why };
        }
        match error {
            Net::RateLimited { retry_at, .. } => Self::Limited { why, until: retry_at },
            error if error.is_transient() => Self::Passing(why),
            _ => Self::Lasting(why),
        }
    }
}

/// What a visit is.
pub(super) type Visit<T> = dyn Fn(Identity) -> Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send>> + Send + Sync;
/// Who is told of a server that is left alone, and for how long.
pub(super) type OnHold = dyn Fn(&str, Duration) + Send + Sync;

struct Job {
    did: Did,
    tries: u32,
}

/// Whose identity is to be looked up, and how many are.
#[derive(Default)]
struct Lane {
    queue: VecDeque<Job>,
    busy: usize,
}

/// A server and who waits for it.
#[derive(Default)]
struct Host {
    waiting: VecDeque<(Job, Identity)>,
    running: usize,
    failures: u32,
    limits: u32,
    not_before: Option<Instant>,
}

impl Host {
    /// Whether nothing of it is to be remembered.
    fn is_idle(&self, now: Instant) -> bool {
        self.waiting.is_empty() && self.running == 0 && self.not_before.is_none_or(|at| at <= now)
    }

    fn is_ready(&self, per_host: usize, now: Instant) -> bool {
        !self.waiting.is_empty() && self.running < per_host && self.not_before.is_none_or(|at| at <= now)
    }
}

/// Repositories on their way to being visited. Ends what runs when dropped.
pub(super) struct Crawl<T> {
    client: Client,
    limits: Limits,
    visit: Arc<Visit<T>>,
    on_hold: Arc<OnHold>,
    queued: HashSet<Did>,
    /// At the directory, and at hosts of their own.
    directory: Lane,
    own_hosts: Lane,
    /// Those whose identity could not be looked up a moment ago.
    later: Vec<(Instant, Job)>,
    lookup_failures: u32,
    hosts: HashMap<String, Host>,
    /// The servers in the order of their turns.
    turns: VecDeque<String>,
    waiting: usize,
    resolving: JoinSet<(Job, Result<Identity, Trouble>)>,
    visiting: JoinSet<(Job, Identity, Result<T, Trouble>)>,
    over: VecDeque<(Did, Result<T, Trouble>)>,
}

impl<T: Send + 'static> Crawl<T> {
    pub(super) fn new(client: Client, limits: Limits, visit: Arc<Visit<T>>, on_hold: Arc<OnHold>) -> Self {
        Self {
            client,
            limits,
            visit,
            on_hold,
            queued: HashSet::new(),
            directory: Lane::default(),
            own_hosts: Lane::default(),
            later: Vec::new(),
            lookup_failures: 0,
            hosts: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            resolving: JoinSet::new(),
            visiting: JoinSet::new(),
            over: VecDeque::new(),
        }
    }

    /// Adds a repository, unless it is on its way already.
    pub(super) fn add(&mut self, did: Did) {
        if self.queued.insert(did.clone()) {
            self.look_up(Job { did, tries: 0 });
        }
    }

    fn lane(&mut self, did: &Did) -> &mut Lane {
        if did.as_str().starts_with("did:plc:") { &mut self.directory } else { &mut self.own_hosts }
    }

    fn look_up(&mut self, job: Job) {
        self.lane(&job.did).queue.push_back(job);
    }

    /// How many are on their way.
    pub(super) fn len(&self) -> usize {
        self.queued.len()
    }

    /// The next one that is over; `None` once all are. Nothing is lost if it is not waited for to the end.
    pub(super) async fn next(&mut self) -> Option<(Did, Result<T, Trouble>)> {
        loop {
            if let Some((did, outcome)) = self.over.pop_front() {
                self.queued.remove(&did);
                return Some((did, outcome));
            }
            if self.queued.is_empty() {
                return None;
            }
            let soonest = self.start();
            tokio::select! {
                Some(done) = self.resolving.join_next() => self.resolved(whole(done)),
                Some(done) = self.visiting.join_next() => self.visited(whole(done)),
                () = tokio::time::sleep_until(soonest.into()) => {}
            }
        }
    }

    /// Starts what may run, and says when to look again if nothing ends before.
    fn start(&mut self) -> Instant {
        let now = Instant::now();
        let mut soonest = now + LONGEST_BACKOFF;
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.later).into_iter().partition(|(at, _)| *at <= now);
        due.into_iter().for_each(|(_, job)| self.look_up(job));
        soonest = later.iter().map(|(at, _)| *at).fold(soonest, Instant::min);
        self.later = later;
        for lane in [&mut self.directory, &mut self.own_hosts] {
            while lane.busy < RESOLVED_AT_ONCE
                && self.waiting + self.resolving.len() < MOST_WAITING
                && let Some(job) = lane.queue.pop_front()
            {
                lane.busy += 1;
                let client = self.client.clone();
                self.resolving.spawn(async move {
                    let identity = match tokio::time::timeout(PATIENCE, client.resolve_afresh(job.did.as_str())).await {
                        Ok(identity) => identity.map_err(Trouble::from),
                        Err(_) => Err(Trouble::Passing("who it is cannot be learnt in time".into())),
                    };
                    (job, identity)
                });
            }
        }
        for _ in 0..self.turns.len() {
            if self.visiting.len() >= self.limits.at_once {
                break;
            }
            let Some(name) = self.turns.pop_front() else { break };
            let Some(host) = self.hosts.get_mut(&name) else { continue };
            if host.is_idle(now) {
                self.hosts.remove(&name);
                continue;
            }
            if let Some(at) = host.not_before.filter(|at| *at > now) {
                soonest = soonest.min(at);
            } else if host.is_ready(self.limits.per_host, now)
                && let Some((job, identity)) = host.waiting.pop_front()
            {
                host.running += 1;
                self.waiting -= 1;
                let visit = (self.visit)(identity.clone());
                self.visiting.spawn(async move { (job, identity, visit.await) });
                // Its next one may start at once, if nobody else is in line.
                soonest = now;
            }
            self.turns.push_back(name);
        }
        if self.visiting.len() >= self.limits.at_once { now + LONGEST_BACKOFF } else { soonest }
    }

    fn resolved(&mut self, (mut job, identity): (Job, Result<Identity, Trouble>)) {
        let lane = self.lane(&job.did);
        lane.busy = lane.busy.saturating_sub(1);
        match identity {
            Ok(identity) => {
                self.lookup_failures = 0;
                let name = host_of(&identity);
                let host = self.hosts.entry(name.clone()).or_insert_with(|| {
                    self.turns.push_back(name);
                    Host::default()
                });
                host.waiting.push_back((job, identity));
                self.waiting += 1;
            }
            Err(Trouble::Passing(why) | Trouble::Limited { why, .. })
                if self.lookup_failures >= MOST_LOOKUP_FAILURES =>
            {
                self.give_up(job, Trouble::Passing(why.clone()));
                let rest: Vec<Job> = (self.directory.queue.drain(..).chain(self.own_hosts.queue.drain(..)))
                    .chain(self.later.drain(..).map(|(_, job)| job))
                    .collect();
                rest.into_iter().for_each(|job| self.give_up(job, Trouble::Passing(why.clone())));
            }
            Err(Trouble::Limited { why, until }) => {
                self.lookup_failures += 1;
                match wait_until(until) {
                    Some(wait) if wait > self.limits.patience => self.give_up(job, Trouble::Limited { why, until }),
                    wait => {
                        let wait = wait.unwrap_or(self.limits.backoff).max(Duration::from_millis(100));
                        self.later.push((Instant::now() + wait, job));
                    }
                }
            }
            Err(Trouble::Passing(why)) => {
                self.lookup_failures += 1;
                job.tries += 1;
                if job.tries >= TRIES {
                    self.give_up(job, Trouble::Passing(why));
                } else {
                    let wait = backoff(self.limits.backoff, job.tries);
                    self.later.push((Instant::now() + wait, job));
                }
            }
            Err(trouble) => self.give_up(job, trouble),
        }
    }

    fn visited(&mut self, (mut job, identity, outcome): (Job, Identity, Result<T, Trouble>)) {
        let name = host_of(&identity);
        let said = self.client.last_rate_limit(&identity.pds);
        let Some(host) = self.hosts.get_mut(&name) else { return };
        host.running -= 1;
        let limits = self.limits;
        // How long the server is left alone, and whether those that wait for it are given up.
        let (wait, over) = match &outcome {
            Err(Trouble::Passing(_)) => {
                host.failures += 1;
                (backoff(limits.backoff, host.failures), host.failures >= MOST_FAILURES)
            }
            Err(Trouble::Limited { until, .. }) => {
                host.limits += 1;
                let wait = wait_until(*until).unwrap_or_else(|| backoff(limits.backoff, host.limits));
                (wait.max(Duration::from_millis(100)), wait > limits.patience || host.limits >= MOST_LIMITS)
            }
            _ => {
                (host.failures, host.limits) = (0, 0);
                // Before it has to refuse.
                let spent = said.filter(|limit| limit.remaining == 0).and_then(|limit| wait_until(limit.reset));
                (spent.filter(|wait| *wait <= limits.patience).unwrap_or_default(), false)
            }
        };
        if !wait.is_zero() && !over {
            host.not_before = Some(host.not_before.unwrap_or_else(Instant::now).max(Instant::now() + wait));
            (self.on_hold)(&name, wait);
        }
        match outcome {
            Err(Trouble::Passing(_) | Trouble::Limited { .. }) if !over && job.tries + 1 < TRIES => {
                // Who was only told to wait has not been tried.
                job.tries += u32::from(matches!(outcome, Err(Trouble::Passing(_))));
                host.waiting.push_front((job, identity));
                self.waiting += 1;
            }
            Err(Trouble::Passing(why) | Trouble::Limited { why, .. }) if over => {
                let rest: Vec<_> = host.waiting.drain(..).collect();
                self.waiting -= rest.len();
                // Should more of it be asked for later, it has another chance.
                (host.failures, host.limits) = (0, 0);
                let give = |job: Job| (job.did, Err(Trouble::Passing(why.clone())));
                self.over.push_back(give(job));
                self.over.extend(rest.into_iter().map(|(job, _)| give(job)));
            }
            outcome => self.over.push_back((job.did, outcome)),
        }
        if self.hosts.get(&name).is_some_and(|host| host.is_idle(Instant::now())) {
            self.hosts.remove(&name);
            self.turns.retain(|other| *other != name);
        }
    }

    fn give_up(&mut self, job: Job, trouble: Trouble) {
        self.over.push_back((job.did, Err(trouble)));
    }
}

/// What a task gave. Tasks are never ended from outside but with the whole.
fn whole<R>(done: Result<R, JoinError>) -> R {
    match done {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

fn host_of(identity: &Identity) -> String {
    let host = identity.pds.host_str().unwrap_or_default();
    identity.pds.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// How long it is until then.
pub(super) fn wait_until(at: Option<Timestamp>) -> Option<Duration> {
    at.map(|at| Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default())
}

/// Twice as long each time, and never the same for all.
pub(super) fn backoff(first: Duration, times: u32) -> Duration {
    let wait = first.saturating_mul(2_u32.saturating_pow(times.saturating_sub(1))).min(LONGEST_BACKOFF);
    wait.mul_f64(0.75 + super::fraction() / 2.0)
}
