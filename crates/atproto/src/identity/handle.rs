//! Handle → DID: by an XRPC host if one is set, by DNS, by the handle's own site, in this order.

use std::fmt::Write;

use onrecord_lexicon::{Did, Handle};
use serde::Deserialize;
use url::Url;

use super::dns::Miss;
use crate::{Client, Error, Result, http::host_of, xrpc::Call};

const HANDLE_LIMIT: usize = 64_000;

/// Top-level domains no handle may have. `.test` is for local tests only.
const RESERVED: [&str; 9] = ["alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion", "test"];

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
                Way::Dns => self.did_by_dns("_atproto", handle.as_str()).await,
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
