//! Who someone is: handle → DID → document → server, believed only if document and handle name each other.
//! Source: the protocol's specifications of handles, DIDs, did:plc and did:web.

pub(crate) mod dns;
mod document;
mod handle;

use std::{
    collections::HashMap,
    sync::{Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use hickory_resolver::TokioResolver;
use jiff::Timestamp;
use onrecord_lexicon::{Did, Handle};
use onrecord_repo::PublicKey;
use reqwest::StatusCode;
use url::Url;

use self::document::Document;
use crate::{
    Client, Config, Error, RateLimit, Result,
    error::{misfit, quote},
    http::host_of,
    rate,
    stream::Labeler,
};

/// An account, as its DID document describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The account's name for good.
    pub did: Did,
    /// The handle that the document names, if that handle points back at the account.
    pub handle: Option<Handle>,
    /// The server that holds the repository.
    pub pds: Url,
    /// The key that signs the repository, as `did:key:…`, if the document names one in today's form (Multikey).
    pub signing_key: Option<String>,
}

impl Identity {
    /// What people know it by: the handle, else the DID.
    #[must_use]
    pub fn name(&self) -> &str {
        self.handle.as_ref().map_or(self.did.as_str(), Handle::as_str)
    }
}

/// Long enough for one command, short enough for a server that runs for months.
const CACHE_TIME: Duration = Duration::from_secs(300);
const CACHE_ENTRIES: usize = 1_000;
const DOCUMENT_LIMIT: usize = 1_000_000;

/// What identity needs to keep between questions.
pub(crate) struct Resolver {
    pub(crate) config: Config,
    pub(crate) dns: OnceLock<TokioResolver>,
    cache: Mutex<HashMap<String, (Instant, Identity)>>,
}

impl Resolver {
    pub(crate) fn new(config: Config) -> Self {
        Self { config, dns: OnceLock::new(), cache: Mutex::default() }
    }

    fn cached(&self, who: &str) -> Option<Identity> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, identity) = cache.get(who)?;
        (since.elapsed() < CACHE_TIME).then(|| identity.clone())
    }

    fn remember(&self, who: &str, identity: &Identity) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= CACHE_ENTRIES {
            cache.retain(|_, (since, _)| since.elapsed() < CACHE_TIME);
        }
        if cache.len() < CACHE_ENTRIES {
            cache.insert(who.to_owned(), (Instant::now(), identity.clone()));
        }
    }
}

impl Client {
    /// Resolves a handle (with or without `@`) or a DID. Answers are kept for five minutes.
    ///
    /// A handle must be named by the document of the DID it points at. A DID's handle is `None` unless it points back.
    ///
    /// # Errors
    /// One of the identity errors, each naming its condition, and all that can befall a request.
    pub async fn resolve(&self, who: &str) -> Result<Identity> {
        let who = normalise(who);
        if let Some(identity) = self.inner.resolver.cached(&who) {
            return Ok(identity);
        }
        self.resolve_afresh(&who).await
    }

    /// The same, asking the network whatever was answered before.
    ///
    /// # Errors
    /// Those of [`Client::resolve`].
    pub async fn resolve_afresh(&self, who: &str) -> Result<Identity> {
        let who = normalise(who);
        let bad = |source| Error::BadIdentifier { text: quote(&who), source };
        let identity = if who.starts_with("did:") {
            self.identity_of(Did::parse(&who).map_err(bad)?, None).await?
        } else {
            let handle = Handle::parse(&who).map_err(bad)?;
            let did = self.resolve_handle(&handle).await?;
            self.identity_of(did, Some(&handle)).await?
        };
        self.inner.resolver.remember(&who, &identity);
        Ok(identity)
    }

    /// The identity of `did`. `handle` is one that is known to point at it, and then must be the document's.
    async fn identity_of(&self, did: Did, handle: Option<&Handle>) -> Result<Identity> {
        let document = self.did_document(&did).await?;
        let claimed = document.handle();
        let handle = match (handle, claimed) {
            (Some(handle), Some(claimed)) if *handle == claimed => Some(claimed),
            (Some(handle), claimed) => {
                return Err(Error::HandleMismatch { handle: handle.clone(), did, claimed });
            }
            (None, Some(claimed)) => match self.resolve_handle(&claimed).await {
                Ok(pointed_at) if pointed_at == did => Some(claimed),
                outcome => {
                    tracing::debug!(%did, %claimed, ?outcome, "the handle does not point back");
                    None
                }
            },
            (None, None) => None,
        };
        let pds = document.pds(&did, |url| self.inner.http.guard.check(url))?;
        let signing_key = document.signing_key(&did);
        Ok(Identity { did, handle, pds, signing_key })
    }

    /// The key that an account's document names now, whatever was answered before; see [`Identity::signing_key`]. Asks for
    /// nothing but the document.
    ///
    /// # Errors
    /// One of the identity errors, each naming its condition, and all that can befall a request.
    pub async fn signing_key(&self, did: &Did) -> Result<Option<String>> {
        Ok(self.did_document(did).await?.signing_key(did))
    }

    /// The server that an account's document names now, whatever was answered before.
    pub(crate) async fn pds_of(&self, did: &Did) -> Result<Url> {
        self.did_document(did).await?.pds(did, |url| self.inner.http.guard.check(url))
    }

    /// The labeler that an account is now, as its document says.
    pub(crate) async fn labeler_of(&self, did: &Did) -> Result<Labeler> {
        let document = self.did_document(did).await?;
        let (url, key) = document.labeler(did, |url| self.inner.http.guard.check(url))?;
        Ok(Labeler { did: did.clone(), url, key: PublicKey::parse(&key)? })
    }

    async fn did_document(&self, did: &Did) -> Result<Document> {
        let url = self.document_url(did)?;
        let host = host_of(&url);
        let answer = self.inner.http.document(url, DOCUMENT_LIMIT).await?;
        match answer.status {
            StatusCode::NOT_FOUND => return Err(Error::UnknownDid { did: did.clone() }),
            StatusCode::GONE => return Err(Error::Tombstone { did: did.clone() }),
            // Its words are not those of XRPC; what they mean is.
            StatusCode::TOO_MANY_REQUESTS => {
                let now = Timestamp::now();
                let (retry_at, limit) = (rate::retry_at(&answer.headers, now), RateLimit::parse(&answer.headers, now));
                return Err(Error::RateLimited { host, retry_at, limit });
            }
            status if status.is_server_error() => {
                let why = format!("it answered HTTP {}", status.as_u16());
                return Err(Error::Unreachable { host, why });
            }
            status if !status.is_success() => {
                let why = format!("{host} answered HTTP {}", status.as_u16());
                return Err(Error::BadDocument { did: did.clone(), why });
            }
            _ => {}
        }
        let document = Document::parse(&answer.body)
            .map_err(|why| Error::BadDocument { did: did.clone(), why: format!("{host}: {}", misfit(&why)) })?;
        if document.id != did.as_str() {
            return Err(Error::DidMismatch { from: host, asked: did.clone(), got: quote(&document.id) });
        }
        Ok(document)
    }

    fn document_url(&self, did: &Did) -> Result<Url> {
        let unsupported = |why| Error::UnsupportedDid { did: did.clone(), why };
        let text = did.as_str();
        if text.starts_with("did:plc:") {
            let mut url = self.inner.resolver.config.plc_url.clone();
            url.path_segments_mut()
                .map_err(|()| unsupported("the PLC directory's URL cannot have a path"))?
                .pop_if_empty()
                .push(text);
            return Ok(url);
        }
        let Some(host) = text.strip_prefix("did:web:") else {
            return Err(unsupported("only did:plc and did:web are used"));
        };
        if host.contains(':') {
            return Err(unsupported("a did:web with a path is not allowed"));
        }
        let (name, port) = match host.split_once("%3A").or_else(|| host.split_once("%3a")) {
            Some((name, port)) => (name, Some(port)),
            None => (host, None),
        };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.') {
            return Err(unsupported("its host is no domain name"));
        }
        let local = self.inner.http.guard.is_local_host(name);
        if port.is_some() && !local {
            return Err(unsupported("a did:web with a port is for local tests only"));
        }
        let scheme = if local { "http" } else { "https" };
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Url::parse(&format!("{scheme}://{name}{port}/.well-known/did.json"))
            .map_err(|_| unsupported("its host is no domain name"))
    }
}

fn normalise(who: &str) -> String {
    let who = who.trim();
    let who = who.strip_prefix("at://").unwrap_or(who);
    if who.starts_with("did:") { who.to_owned() } else { who.strip_prefix('@').unwrap_or(who).to_ascii_lowercase() }
}
