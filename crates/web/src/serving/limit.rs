//! How often one address may ask.
//!
//! A table of fixed size: whoever sends from very many addresses shares places with others, and fills no memory. Each place
//! holds the time at which it would have been quiet again (the "generic cell rate algorithm": one number, no clock that
//! ticks).

use std::{
    hash::{BuildHasher as _, RandomState},
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::Limits;

/// How many places there are: 512 KiB.
const PLACES: usize = 1 << 16;

/// How often who asked.
pub(super) struct Rates {
    /// What one request costs, in microseconds of quiet; none where as many may come as will.
    cost_us: Option<u64>,
    burst_us: u64,
    behind_proxy: bool,
    began: Instant,
    hasher: RandomState,
    places: Box<[AtomicU64]>,
}

impl Rates {
    pub(super) fn new(limits: &Limits) -> Self {
        let cost_us = limits.requests_per_s.map(|n| 1_000_000 / u64::from(n.max(1)));
        Self {
            cost_us,
            burst_us: cost_us.unwrap_or(0) * u64::from(limits.burst.max(1)),
            behind_proxy: limits.behind_proxy,
            began: Instant::now(),
            hasher: RandomState::new(),
            places: (0..if cost_us.is_some() { PLACES } else { 0 }).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Counts a request; if it is one too many, how long to wait.
    fn count(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let Some(cost) = self.cost_us else { return Ok(()) };
        let now = u64::try_from(now.duration_since(self.began).as_micros()).unwrap_or(u64::MAX / 2);
        let hash = self.hasher.hash_one(network(address));
        let Some(place) = usize::try_from(hash % PLACES as u64).ok().and_then(|n| self.places.get(n)) else {
            return Ok(());
        };
        let next = |quiet: u64| quiet.max(now) + cost;
        place
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |quiet| {
                (next(quiet) - now <= self.burst_us).then(|| next(quiet))
            })
            .map(|_| ())
            .map_err(|quiet| Duration::from_micros((next(quiet) - now).saturating_sub(self.burst_us)))
    }
}

/// What one person has: a whole address of version 4, the network part of one of version 6.
fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        // Version 6 networks begin with bits that the addresses above do not have.
        IpAddr::V6(address) => u64::try_from(address.to_bits() >> 64).unwrap_or(u64::MAX),
    }
}

/// Whose request it is. None for one from this machine itself.
fn asker(peer: IpAddr, headers: &HeaderMap, behind_proxy: bool) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    if !peer.is_loopback() && !behind_proxy {
        return Some(peer);
    }
    // The proxy that is nearest writes last; what stands before it anybody can have written.
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back().and_then(|list| list.to_str().ok());
    let forwarded = forwarded.and_then(|list| list.rsplit(',').next()).and_then(|last| last.trim().parse().ok());
    forwarded.or_else(|| (!peer.is_loopback()).then_some(peer))
}

/// Answers with 429 what is one too many.
pub(super) async fn count(State(rates): State<Arc<Rates>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
    let asker = peer.and_then(|peer| asker(peer, request.headers(), rates.behind_proxy));
    if let Some(wait) = asker.and_then(|asker| rates.count(asker, Instant::now()).err()) {
        let seconds = (wait.as_secs() + 1).to_string();
        let headers = [(header::RETRY_AFTER, seconds.as_str()), (header::CACHE_CONTROL, "no-store")];
        let text = "Too many requests from your address. Wait a moment, then go on.\n";
        return (StatusCode::TOO_MANY_REQUESTS, headers, text).into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(requests_per_s: u32, burst: u32) -> Rates {
        Rates::new(&Limits { requests_per_s: Some(requests_per_s), burst, ..Limits::default() })
    }

    #[test]
    fn a_burst_goes_through_and_then_as_many_as_agreed() {
        let rates = rates(10, 5);
        let address: IpAddr = "192.0.2.7".parse().unwrap();
        let at = |ms: u64| rates.began + Duration::from_millis(ms);
        assert!((0..5).all(|_| rates.count(address, at(1_000)).is_ok()));
        let wait = rates.count(address, at(1_000)).unwrap_err();
        assert_eq!(wait, Duration::from_millis(100));
        assert!(rates.count(address, at(1_099)).is_err() && rates.count(address, at(1_100)).is_ok());
        assert!(rates.count(address, at(1_101)).is_err());
        // Another is not held up, and whoever was quiet has a burst again.
        assert!(rates.count("192.0.2.8".parse().unwrap(), at(1_101)).is_ok());
        assert!((0..5).all(|_| rates.count(address, at(9_000)).is_ok()) && rates.count(address, at(9_000)).is_err());
    }

    #[test]
    fn a_network_of_version_6_is_one() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.7"), of("192.0.2.7"));
        assert_ne!(of("192.0.2.7"), of("192.0.2.8"));
    }

    #[test]
    fn a_proxy_on_this_machine_is_believed_and_nobody_else() {
        let asker = |peer: &str, forwarded: &str, behind_proxy| {
            let mut headers = HeaderMap::new();
            if !forwarded.is_empty() {
                headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            }
            asker(peer.parse().unwrap(), &headers, behind_proxy).map(|address| address.to_string())
        };
        assert_eq!(asker("127.0.0.1", "", false), None);
        assert_eq!(asker("127.0.0.1", "198.51.100.1, 192.0.2.7", false).as_deref(), Some("192.0.2.7"));
        assert_eq!(asker("203.0.113.5", "192.0.2.7", false).as_deref(), Some("203.0.113.5"));
        assert_eq!(asker("203.0.113.5", "192.0.2.7", true).as_deref(), Some("192.0.2.7"));
        assert_eq!(asker("203.0.113.5", "nonsense", true).as_deref(), Some("203.0.113.5"));
    }
}
