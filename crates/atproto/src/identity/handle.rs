//! Handle → DID: by an XRPC host if one is set, by DNS, by the handle's own site, in this order.

use std::{fmt::Write, net::SocketAddr, time::Duration};

use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolverConfig},
    net::runtime::TokioRuntimeProvider,
    proto::rr::RData,
};
use onrecord_lexicon::{Did, Handle};
use serde::Deserialize;
use url::Url;

use crate::{Client, Error, Result, error::quote, http::host_of, xrpc::Call};

const HANDLE_LIMIT: usize = 64_000;
const DNS_TIMEOUT: Duration = Duration::from_secs(3);
const DNS_ATTEMPTS: usize = 2;

/// Top-level domains no handle may have. `.test` is for local tests only.
const RESERVED: [&str; 9] = ["alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion", "test"];

/// What one way of resolving came to, if not to a DID.
enum Miss {
    /// It knows that there is none.
    NotFound(String),
    /// It could not tell.
    Failed(String),
    /// It names several.
    Conflict,
}

impl Client {
    /// The DID that a handle points at. The DID's document must name the handle for it to be believed: that is
    /// [`Client::resolve`].
    ///
    /// # Errors
    /// [`Error::UnknownHandle`], [`Error::HandleLookup`], [`Error::ConflictingHandle`].
    pub async fn resolve_handle(&self, handle: &Handle) -> Result<Did> {
        let config = &self.inner.resolver.config;
        let top = handle.as_str().rsplit('.').next().unwrap_or_default();
        if RESERVED.contains(&top) && !(top == "test" && config.allow_local) {
            let tried = format!(".{top} is reserved");
            return Err(Error::UnknownHandle { handle: handle.clone(), tried });
        }
        let (mut tried, mut failed) = (String::new(), false);
        for way in [Way::Xrpc, Way::Dns, Way::WellKnown] {
            let miss = match way {
                Way::Xrpc => match &config.resolver_url {
                    Some(url) => self.handle_by_xrpc(url, handle).await,
                    None => continue,
                },
                Way::Dns => self.handle_by_dns(handle).await,
                Way::WellKnown => self.handle_by_well_known(handle).await,
            };
            match miss {
                Ok(did) => return Ok(did),
                Err(Miss::Conflict) => {
                    return Err(Error::ConflictingHandle { handle: handle.clone() });
                }
                Err(Miss::NotFound(why)) => note(&mut tried, &why),
                Err(Miss::Failed(why)) => {
                    failed = true;
                    note(&mut tried, &why);
                }
            }
        }
        let handle = handle.clone();
        Err(if failed { Error::HandleLookup { handle, tried } } else { Error::UnknownHandle { handle, tried } })
    }

    async fn handle_by_xrpc(&self, server: &Url, handle: &Handle) -> Result<Did, Miss> {
        #[derive(Deserialize)]
        struct Wire {
            did: Did,
        }
        let params = [("handle", handle.as_str())];
        let call =
            Call { params: &params, limit: HANDLE_LIMIT, ..Call::new(server, "com.atproto.identity.resolveHandle") };
        match self.query::<Wire>(&call).await {
            Ok(Wire { did }) => Ok(did),
            Err(Error::Rejected { status: 400 | 404, .. }) => {
                Err(Miss::NotFound(format!("{} does not know it", host_of(server))))
            }
            Err(error) => Err(Miss::Failed(error.to_string())),
        }
    }

    async fn handle_by_dns(&self, handle: &Handle) -> Result<Did, Miss> {
        let failed = |why: String| Miss::Failed(format!("DNS: {}", quote(&why)));
        let resolver = self.dns().map_err(failed)?;
        let lookup = match resolver.txt_lookup(format!("_atproto.{handle}.")).await {
            Ok(lookup) => lookup,
            Err(error) if error.is_no_records_found() => {
                return Err(Miss::NotFound("DNS has no _atproto record".into()));
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        let texts = lookup.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(txt) => Some(txt.txt_data.concat()),
            _ => None,
        });
        did_of_records(texts)
    }

    fn dns(&self) -> Result<&TokioResolver, String> {
        let resolver = &self.inner.resolver;
        if let Some(dns) = resolver.dns.get() {
            return Ok(dns);
        }
        let dns = dns_resolver(resolver.config.nameserver)?;
        Ok(resolver.dns.get_or_init(|| dns))
    }

    async fn handle_by_well_known(&self, handle: &Handle) -> Result<Did, Miss> {
        let scheme = if self.inner.http.guard.is_local_host(handle.as_str()) { "http" } else { "https" };
        let place = format!("{scheme}://{handle}/.well-known/atproto-did");
        let url = Url::parse(&place).map_err(|_| Miss::NotFound("it is no domain name".into()))?;
        match self.inner.http.document(url, HANDLE_LIMIT).await {
            Ok(answer) if answer.status.is_success() => {
                let text = String::from_utf8_lossy(&answer.body);
                Did::parse(text.trim())
                    .ok()
                    .filter(|did| did.as_str().starts_with("did:"))
                    .ok_or_else(|| Miss::NotFound(format!("{place} holds no DID")))
            }
            Ok(answer) if answer.status.is_server_error() || answer.status.as_u16() == 429 => {
                Err(Miss::Failed(format!("{place}: HTTP {}", answer.status.as_u16())))
            }
            Ok(answer) => Err(Miss::NotFound(format!("{place}: HTTP {}", answer.status.as_u16()))),
            // Most handles have no site of their own: a name without an address is a plain no.
            Err(Error::Unreachable { why, .. }) => Err(Miss::NotFound(format!("{place}: {why}"))),
            Err(error) => Err(Miss::Failed(error.to_string())),
        }
    }
}

#[derive(Clone, Copy)]
enum Way {
    Xrpc,
    Dns,
    WellKnown,
}

fn note(tried: &mut String, why: &str) {
    let separator = if tried.is_empty() { "" } else { "; " };
    // Writing to a string cannot fail.
    let _ = write!(tried, "{separator}{why}");
}

/// The DID that a handle's TXT records name. Records of other uses are passed over; several DIDs are none.
fn did_of_records(texts: impl Iterator<Item = Vec<u8>>) -> Result<Did, Miss> {
    let mut found: Option<Did> = None;
    for text in texts {
        let Some(did) =
            String::from_utf8(text).ok().and_then(|text| Did::parse(text.strip_prefix("did=")?.trim()).ok())
        else {
            continue;
        };
        match &found {
            Some(other) if *other != did => return Err(Miss::Conflict),
            _ => found = Some(did),
        }
    }
    found.ok_or_else(|| Miss::NotFound("DNS has no _atproto record that names a DID".into()))
}

fn dns_resolver(nameserver: Option<SocketAddr>) -> Result<TokioResolver, String> {
    let mut builder = match nameserver {
        None => TokioResolver::builder_tokio().map_err(|error| error.to_string())?,
        Some(address) => {
            let mut connection = ConnectionConfig::udp();
            connection.port = address.port();
            let server = NameServerConfig::new(address.ip(), true, vec![connection]);
            TokioResolver::builder_with_config(
                ResolverConfig::from_name_servers(vec![server]),
                TokioRuntimeProvider::default(),
            )
        }
    };
    let options = builder.options_mut();
    options.timeout = DNS_TIMEOUT;
    options.attempts = DNS_ATTEMPTS;
    builder.build().map_err(|error| error.to_string())
}
