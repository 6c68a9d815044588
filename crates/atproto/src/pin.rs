//! Looking up many records and accounts at once: which of them exist, and in which version.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use onrecord_lexicon::{AtUri, Cid, Did, Nsid, Rkey, data};
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, timeout_at},
};

use crate::{Client, Error, Identity, error::quote, http::host_of};

/// Repositories looked at at once.
const AT_ONCE: usize = 8;
/// Requests to one server at once.
const AT_ONCE_ON_A_HOST: usize = 2;
/// All places of one repository must be looked up within this.
const LONGEST: Duration = Duration::from_secs(20);
/// When so many repositories could not be looked at, and none could, the network is taken to be down.
const HOPELESS: usize = 4;

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pin {
    /// A record, at its version of this moment.
    Record {
        /// Where it is, its repository by DID.
        uri: AtUri,
        /// Its CID.
        cid: Cid,
    },
    /// An account.
    Account(Did),
    /// Nothing: there is no such account or record.
    Absent(String),
    /// It could not be found out; asking again later may help.
    Failed(String),
}

impl Client {
    /// Looks up each of `places`, which are at-uris of records or of accounts, their authorities DIDs or handles; the
    /// answers are in the same order. A place is asked for once, a server by at most two requests at a time.
    ///
    /// A record's CID is computed from what the server gives, and must be what it says.
    pub async fn pin(&self, places: &[AtUri]) -> Vec<Pin> {
        let mut by_authority: HashMap<&str, Vec<AtUri>> = HashMap::new();
        let mut seen = HashSet::new();
        for place in places.iter().filter(|place| seen.insert(*place)) {
            by_authority.entry(place.authority()).or_default().push(place.clone());
        }
        let pinning = Arc::new(Pinning {
            client: self.clone(),
            at_once: Semaphore::new(AT_ONCE),
            hosts: Mutex::default(),
            down: Mutex::default(),
            reached: AtomicUsize::new(0),
            missed: AtomicUsize::new(0),
        });
        let mut jobs = JoinSet::new();
        for (authority, places) in by_authority {
            let (pinning, authority) = (Arc::clone(&pinning), authority.to_owned());
            jobs.spawn(async move { pinning.repository(&authority, places).await });
        }
        let mut pins = HashMap::new();
        while let Some(done) = jobs.join_next().await {
            // A job ends by returning: it is not cancelled, and does not panic.
            pins.extend(done.into_iter().flatten());
        }
        let pin = |place: &AtUri| pins.get(place).cloned();
        places.iter().map(|place| pin(place).unwrap_or_else(|| Pin::Failed("it was not looked up".into()))).collect()
    }
}

struct Pinning {
    client: Client,
    at_once: Semaphore,
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// Servers that did not answer, and why: nobody waits for them twice.
    down: Mutex<HashMap<String, String>>,
    reached: AtomicUsize,
    missed: AtomicUsize,
}

impl Pinning {
    async fn repository(&self, authority: &str, places: Vec<AtUri>) -> Vec<(AtUri, Pin)> {
        let _turn = self.at_once.acquire().await;
        if self.reached.load(Ordering::Relaxed) == 0 && self.missed.load(Ordering::Relaxed) >= HOPELESS {
            let failed = || Pin::Failed("the network could not be reached".into());
            return places.into_iter().map(|place| (place, failed())).collect();
        }
        let deadline = Instant::now() + LONGEST;
        let too_long = || Pin::Failed(format!("no answer within {} seconds", LONGEST.as_secs()));
        let identity = match timeout_at(deadline, self.client.resolve(authority)).await {
            Ok(Ok(identity)) => identity,
            answer => {
                let pin =
                    answer.map_or_else(|_| too_long(), |answer| answer.map_or_else(|e| pin_of(&e), |_| too_long()));
                let counter = if matches!(pin, Pin::Absent(_)) { &self.reached } else { &self.missed };
                counter.fetch_add(1, Ordering::Relaxed);
                return places.into_iter().map(|place| (place, pin.clone())).collect();
            }
        };
        self.reached.fetch_add(1, Ordering::Relaxed);
        let mut pins = Vec::with_capacity(places.len());
        for place in places {
            let pin = match timeout_at(deadline, self.place(&identity, &place)).await {
                Ok(pin) => pin,
                Err(_) => too_long(),
            };
            pins.push((place, pin));
        }
        pins
    }

    async fn place(&self, identity: &Identity, place: &AtUri) -> Pin {
        let (Some(collection), Some(rkey)) = (place.collection(), place.rkey()) else {
            return Pin::Account(identity.did.clone());
        };
        let (Ok(collection), Ok(rkey)) = (Nsid::parse(collection), Rkey::parse(rkey)) else {
            return Pin::Absent("it is no place of a record".into());
        };
        let host = host_of(&identity.pds);
        let turn = self.turn_at(&host);
        let _turn = turn.acquire().await;
        // Looked at only now: it may have failed while this one waited.
        if let Some(why) = self.down.lock().unwrap_or_else(PoisonError::into_inner).get(&host) {
            return Pin::Failed(why.clone());
        }
        match self.client.repo(identity).get_record(&collection, &rkey).await {
            Ok(None) => Pin::Absent("there is no such record".into()),
            Ok(Some(record)) => {
                let ours = serde_json::from_str(record.value.get()).ok().and_then(|v| data::record_cid(&v).ok());
                if ours.is_some_and(|(_, ours)| ours != record.cid) {
                    return Pin::Failed(format!("{host} says that it is another than it gives"));
                }
                Pin::Record { uri: AtUri::of_record(&identity.did, &collection, &rkey), cid: record.cid }
            }
            Err(error) => {
                let pin = pin_of(&error);
                if let Pin::Failed(why) = &pin
                    && matches!(error, Error::Unreachable { .. } | Error::TimedOut { .. } | Error::RateLimited { .. })
                {
                    self.down.lock().unwrap_or_else(PoisonError::into_inner).insert(host, why.clone());
                }
                pin
            }
        }
    }

    fn turn_at(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = hosts.entry(host.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE_ON_A_HOST)));
        Arc::clone(turn)
    }
}

/// Whether an error says that there is nothing, or only that it could not be found out.
fn pin_of(error: &Error) -> Pin {
    let why = quote(&error.to_string());
    match error {
        Error::BadIdentifier { .. }
        | Error::UnknownHandle { .. }
        | Error::ConflictingHandle { .. }
        | Error::HandleMismatch { .. }
        | Error::UnsupportedDid { .. }
        | Error::UnknownDid { .. }
        | Error::Tombstone { .. }
        | Error::DidMismatch { .. }
        | Error::NoPds { .. }
        | Error::AddressRefused { .. }
        | Error::AccountUnavailable { .. }
        | Error::UnknownRepo { .. } => Pin::Absent(why),
        _ => Pin::Failed(why),
    }
}
