//! Which servers may be talked to. DID documents and handles are other people's words: without this guard they
//! could aim our requests at the machine's own network.
//!
//! Addresses are checked at the moment of connecting, on what the name resolved to, so that a name cannot answer
//! differently between check and use.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::{Config, Error};

/// Why an address is refused. Travels through the HTTP client as an error's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refusal(pub(crate) &'static str);

#[derive(Debug, Clone)]
pub(crate) struct Guard {
    allow_local: bool,
    hosts: Arc<BTreeMap<String, SocketAddr>>,
}

impl Guard {
    pub(crate) fn new(config: &Config) -> Self {
        Self { allow_local: config.allow_local, hosts: Arc::new(config.hosts.clone()) }
    }

    /// Checks all of a URL that can be checked without resolving its host.
    pub(crate) fn check(&self, url: &Url) -> Result<(), Error> {
        self.check_url(url)
            .map_err(|Refusal(why)| Error::AddressRefused { host: url.host_str().unwrap_or_default().into(), why })
    }

    fn check_url(&self, url: &Url) -> Result<(), Refusal> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal("the URL holds a user name or a password"));
        }
        match url.host() {
            None => return Err(Refusal("the URL has no host")),
            Some(Host::Ipv4(ip)) => self.check_ip(ip.into())?,
            Some(Host::Ipv6(ip)) => self.check_ip(ip.into())?,
            Some(Host::Domain(name)) if is_local_name(name) && !self.allow_local => {
                return Err(LOOPBACK);
            }
            Some(Host::Domain(_)) => {}
        }
        match url.scheme() {
            "https" => Ok(()),
            "http" if self.is_local(url) => Ok(()),
            "http" => Err(Refusal("it is not https")),
            _ => Err(Refusal("it is no web address")),
        }
    }

    /// Whether the URL's host is on this machine and may be talked to over plain http.
    pub(crate) fn is_local(&self, url: &Url) -> bool {
        self.allow_local
            && match url.host() {
                Some(Host::Ipv4(ip)) => ip.is_loopback(),
                Some(Host::Ipv6(ip)) => ip.is_loopback(),
                Some(Host::Domain(name)) => self.is_local_host(name),
                None => false,
            }
    }

    /// The same for a host's name, as it stands in a handle or a did:web.
    pub(crate) fn is_local_host(&self, name: &str) -> bool {
        self.allow_local
            && (is_local_name(name) || self.hosts.get(name).is_some_and(|address| address.ip().is_loopback()))
    }

    fn check_ip(&self, ip: IpAddr) -> Result<(), Refusal> {
        match reach(ip) {
            Reach::Public => Ok(()),
            Reach::Loopback if self.allow_local => Ok(()),
            Reach::Loopback => Err(LOOPBACK),
            Reach::Private(why) => Err(Refusal(why)),
        }
    }

    /// The addresses that may be connected to; a refusal if a name has none but others.
    fn permitted(&self, found: impl Iterator<Item = SocketAddr>) -> Result<Vec<SocketAddr>, Refusal> {
        let mut refusal = Refusal("the name has no address");
        let mut permitted = Vec::new();
        for address in found {
            match self.check_ip(address.ip()) {
                Ok(()) => permitted.push(address),
                Err(why) => refusal = why,
            }
        }
        if permitted.is_empty() { Err(refusal) } else { Ok(permitted) }
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = match guard.hosts.get(name.as_str()) {
                Some(address) => guard.permitted([*address].into_iter())?,
                None => guard.permitted(tokio::net::lookup_host((name.as_str(), 0)).await?)?,
            };
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

const LOOPBACK: Refusal = Refusal("it is this machine itself");

#[derive(Debug, PartialEq, Eq)]
enum Reach {
    Public,
    Loopback,
    Private(&'static str),
}

const PRIVATE: Reach = Reach::Private("it is an address of a private network");
const LINK_LOCAL: Reach = Reach::Private("it is a link-local address");
const RESERVED: Reach = Reach::Private("it is a reserved address");

/// How far an address reaches. Source: the IANA special-purpose address registries.
fn reach(ip: IpAddr) -> Reach {
    match ip {
        IpAddr::V4(ip) => reach_v4(ip),
        IpAddr::V6(ip) => reach_v6(ip),
    }
}

fn reach_v4(ip: Ipv4Addr) -> Reach {
    match ip.octets() {
        [127, ..] => Reach::Loopback,
        [10, ..] | [192, 168, ..] | [172, 16..=31, ..] => PRIVATE,
        [100, 64..=127, ..] => Reach::Private("it is an address of a carrier's private network"),
        [169, 254, ..] => LINK_LOCAL,
        // This network, protocol assignments, documentation, 6to4 relays, benchmarks, multicast, future use.
        [0 | 224..=255, ..]
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => RESERVED,
        _ => Reach::Public,
    }
}

fn reach_v6(ip: Ipv6Addr) -> Reach {
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        reach_v4(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Loopback,
        // IPv4-mapped, NAT64 and 6to4 addresses reach what they embed.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => match embedded(high, low) {
            Reach::Public => Reach::Public,
            Reach::Loopback | Reach::Private(_) => RESERVED,
        },
        [0xfc00..=0xfdff, ..] => PRIVATE,
        [0xfe80..=0xfebf, ..] => LINK_LOCAL,
        // Protocol assignments (Teredo among them) and documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => RESERVED,
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => RESERVED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(allow_local: bool) -> Guard {
        Guard::new(&Config { allow_local, ..Config::default() })
    }

    fn allows(guard: &Guard, url: &str) -> bool {
        guard.check(&Url::parse(url).unwrap()).is_ok()
    }

    #[test]
    fn private_addresses_are_refused_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "localhost",
            "LOCALHOST",
            "a.localhost",
            "localhost.",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:10.0.0.1]",
            "[::7f00:1]",
            "[64:ff9b::a00:1]",
            "[2002:7f00:1::]",
            "[fc00::1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[ff02::1]",
            "[2001:db8::1]",
            "[2001::1]",
            "[fec0::1]",
        ] {
            assert!(!allows(&guard(false), &format!("https://{host}/")), "{host}");
        }
    }

    #[test]
    fn public_addresses_and_names_are_allowed_over_https_only() {
        for host in ["example.com", "1.1.1.1", "172.32.0.1", "100.128.0.1", "[2606:4700::1111]", "[64:ff9b::101:101]"] {
            for allow_local in [false, true] {
                assert!(allows(&guard(allow_local), &format!("https://{host}/")), "{host}");
                assert!(allows(&guard(allow_local), &format!("https://{host}:8443/")), "{host}");
                assert!(!allows(&guard(allow_local), &format!("http://{host}/")), "{host}");
            }
        }
    }

    #[test]
    fn allow_local_allows_loopback_and_no_other_private_address() {
        for host in ["localhost:2583", "127.0.0.1:1", "[::1]:1", "pds.localhost"] {
            assert!(allows(&guard(true), &format!("http://{host}/")), "{host}");
            assert!(allows(&guard(true), &format!("https://{host}/")), "{host}");
        }
        for host in ["10.0.0.1", "192.168.0.1", "169.254.169.254", "[fe80::1]", "[fd00::1]"] {
            assert!(!allows(&guard(true), &format!("https://{host}/")), "{host}");
        }
    }

    #[test]
    fn credentials_and_other_schemes_are_refused() {
        for url in
            ["https://user@example.com/", "https://:pass@example.com/", "ftp://example.com/", "file:///etc/passwd"]
        {
            assert!(!allows(&guard(true), url), "{url}");
        }
    }

    #[test]
    fn a_name_with_only_private_addresses_is_refused_and_a_mixed_one_keeps_the_public() {
        let at = |ip: &str| SocketAddr::new(ip.parse().unwrap(), 0);
        let guard = guard(false);
        assert_eq!(guard.permitted([at("10.0.0.1"), at("127.0.0.1")].into_iter()), Err(LOOPBACK));
        assert_eq!(guard.permitted([at("10.0.0.1"), at("1.1.1.1")].into_iter()), Ok(vec![at("1.1.1.1")]));
        assert!(guard.permitted(std::iter::empty()).is_err());
    }
}
