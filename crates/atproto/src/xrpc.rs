//! The client, and XRPC: one method called on one server, its answer or a named error.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use reqwest::{
    Method, RequestBuilder,
    header::{ACCEPT, CONTENT_TYPE},
};
use serde::{Deserialize, de::DeserializeOwned};
use url::Url;

use crate::{
    Config, Error, RateLimit, Result, Secret,
    error::{misfit, quote},
    http::{Answer, Http, host_of},
    identity::Resolver,
    oauth::{DpopKey, Proofs},
    rate,
};

/// Answers of methods that say little.
pub(crate) const SMALL_ANSWER: usize = 1_000_000;

/// Servers whose limits are remembered.
const MAX_LIMITED: usize = 1_000;

/// Times a read is tried again.
const MAX_RETRIES: u32 = 3;
const FIRST_BACKOFF: Duration = Duration::from_millis(250);
/// Longer waits are the caller's to decide.
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);

/// The network as onrecord sees it. Cheap to clone; clones share connections, caches and limits.
#[derive(Clone)]
pub struct Client {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) http: Http,
    pub(crate) resolver: Resolver,
    pub(crate) proofs: Proofs,
    rate_limits: Mutex<HashMap<String, RateLimit>>,
}

/// What a request is signed in with.
#[derive(Clone, Copy)]
pub(crate) enum Auth<'a> {
    Nothing,
    /// A token that is good by itself.
    Bearer(&'a Secret),
    /// A token that is good with a proof by its key.
    Bound(&'a Secret, &'a DpopKey),
}

/// A call of an XRPC method.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Url,
    pub(crate) method: &'static str,
    pub(crate) params: &'a [(&'static str, &'a str)],
    pub(crate) auth: Auth<'a>,
    /// Most bytes of the answer.
    pub(crate) limit: usize,
    /// The media type asked for.
    pub(crate) accept: &'static str,
}

/// The media type of repositories and proofs.
pub(crate) const CAR: &str = "application/vnd.ipld.car";

impl<'a> Call<'a> {
    pub(crate) fn new(server: &'a Url, method: &'static str) -> Self {
        Self { server, method, params: &[], auth: Auth::Nothing, limit: SMALL_ANSWER, accept: "application/json" }
    }

    fn url(&self) -> Result<Url> {
        let mut url = self
            .server
            .join(&format!("/xrpc/{}", self.method))
            .map_err(|_| Error::AddressRefused { host: host_of(self.server), why: "it is no web address" })?;
        if !self.params.is_empty() {
            url.query_pairs_mut().extend_pairs(self.params);
        }
        Ok(url)
    }

    pub(crate) fn bad_answer(&self, why: &str) -> Error {
        Error::BadAnswer { host: host_of(self.server), method: self.method, why: quote(why) }
    }

    fn parse<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T> {
        serde_json::from_slice(&answer.body).map_err(|error| {
            if answer.is_json() {
                self.bad_answer(&misfit(&error))
            } else {
                Error::NotAnXrpcServer { host: host_of(self.server), status: answer.status.as_u16() }
            }
        })
    }
}

impl Client {
    /// A client that asks as `config` says. Sends nothing yet.
    ///
    /// # Errors
    /// [`Error::Setup`] if the machine's TLS or network cannot be set up.
    pub fn new(config: Config) -> Result<Self> {
        let http = Http::new(&config)?;
        let resolver = Resolver::new(config);
        Ok(Self { inner: Arc::new(Inner { http, resolver, proofs: Proofs::default(), rate_limits: Mutex::default() }) })
    }

    /// The limit that `server` named last, if it has named one since this client was made.
    #[must_use]
    pub fn last_rate_limit(&self, server: &Url) -> Option<RateLimit> {
        self.rate_limits().get(&host_of(server)).cloned()
    }

    fn rate_limits(&self) -> std::sync::MutexGuard<'_, HashMap<String, RateLimit>> {
        self.inner.rate_limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A read: tried again a few times where that may help.
    pub(crate) async fn query<T: DeserializeOwned>(&self, call: &Call<'_>) -> Result<T> {
        call.parse(&self.query_bytes(call).await?)
    }

    /// The same for an answer that is not JSON.
    pub(crate) async fn query_bytes(&self, call: &Call<'_>) -> Result<Answer> {
        let mut retries = 0;
        loop {
            let error = match self.query_once(call).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(wait) = backoff(&error, retries) else {
                return Err(error);
            };
            tracing::debug!(method = call.method, retries, ?wait, %error, "asking again");
            retries += 1;
            tokio::time::sleep(wait).await;
        }
    }

    async fn query_once(&self, call: &Call<'_>) -> Result<Answer> {
        let answer = self.exchange(call, Method::GET, |request| request).await?;
        self.accepted(call.server, call.method, answer)
    }

    /// A read whose answer is too large to be held. Asked once: what came of an answer that broke off is in `sink` already.
    pub(crate) async fn download(&self, call: &Call<'_>, sink: &mut (dyn std::io::Write + Send)) -> Result<()> {
        let request = self.inner.http.get(call.url()?)?.header(ACCEPT, call.accept);
        let answer = self.inner.http.download(request, call.limit, sink).await?;
        self.accepted(call.server, call.method, answer).map(drop)
    }

    /// A change: sent once. Returns the limit its answer names as well.
    pub(crate) async fn procedure<T: DeserializeOwned>(
        &self,
        call: &Call<'_>,
        body: Option<Vec<u8>>,
    ) -> Result<(T, Option<RateLimit>)> {
        let answer = self.procedure_answer(call, body).await?;
        Ok((call.parse(&answer)?, RateLimit::parse(&answer.headers, Timestamp::now())))
    }

    /// A change whose answer says nothing.
    pub(crate) async fn procedure_without_answer(&self, call: &Call<'_>) -> Result<()> {
        self.procedure_answer(call, None).await.map(drop)
    }

    async fn procedure_answer(&self, call: &Call<'_>, body: Option<Vec<u8>>) -> Result<Answer> {
        let with_body = |request: RequestBuilder| match &body {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.clone()),
            None => request,
        };
        let answer = self.exchange(call, Method::POST, with_body).await?;
        self.accepted(call.server, call.method, answer)
    }

    async fn exchange(
        &self,
        call: &Call<'_>,
        method: Method,
        prepare: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Answer> {
        let url = call.url()?;
        let prepare = |request: RequestBuilder| prepare(request.header(ACCEPT, call.accept));
        let request = match call.auth {
            Auth::Bound(token, key) => {
                return self.exchange_bound(key, Some(token), (&method, &url), prepare, call.limit).await;
            }
            Auth::Bearer(token) => self.inner.http.request(method, url)?.bearer_auth(token.expose()),
            Auth::Nothing => self.inner.http.request(method, url)?,
        };
        self.inner.http.exchange(prepare(request), call.limit).await
    }

    /// Remembers the answer's limit, and turns all but success into an error. `method` is an XRPC method, or says what was
    /// asked.
    pub(crate) fn accepted(&self, server: &Url, method: &'static str, answer: Answer) -> Result<Answer> {
        let host = host_of(server);
        let now = Timestamp::now();
        let limit = RateLimit::parse(&answer.headers, now);
        if let Some(limit) = limit.clone() {
            let mut limits = self.rate_limits();
            if limits.len() >= MAX_LIMITED && !limits.contains_key(&host) {
                // Those of windows that are over say nothing any more; if that is not enough, what they say is learnt again.
                limits.retain(|_, limit| limit.reset.is_some_and(|reset| reset > now));
                if limits.len() >= MAX_LIMITED {
                    limits.clear();
                }
            }
            limits.insert(host.clone(), limit);
        }
        if answer.status.is_success() {
            return Ok(answer);
        }
        #[derive(Deserialize)]
        struct Body {
            error: String,
            #[serde(default, alias = "error_description")]
            message: String,
        }
        let status = answer.status.as_u16();
        let body = serde_json::from_slice::<Body>(&answer.body).ok();
        let words = |body: Option<Body>| match body {
            Some(body) => (quote(&body.error), quote(&body.message)),
            None => ("no reason given".to_owned(), answer.status.canonical_reason().unwrap_or_default().to_owned()),
        };
        Err(match (status, body) {
            (429, _) => Error::RateLimited { host, retry_at: rate::retry_at(&answer.headers, now), limit },
            (500.., body) => {
                let (error, message) = words(body);
                Error::Server { host, method, status, error, message }
            }
            (400..500, Some(body)) if body.error == "InvalidSwap" => {
                Error::InvalidSwap { message: quote(&body.message) }
            }
            (400..500, body @ Some(_)) | (413, body) => {
                let (error, message) = words(body);
                Error::Rejected { host, method, status, error, message }
            }
            (..500, _) => Error::NotAnXrpcServer { host, status },
        })
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limits: BTreeMap<_, _> = self.rate_limits().clone().into_iter().collect();
        f.debug_struct("Client").field("rate_limits", &limits).finish_non_exhaustive()
    }
}

/// How long to wait before a failed read is tried again; none if it should not be.
fn backoff(error: &Error, retries: u32) -> Option<Duration> {
    // Who has waited for the whole time limit once is told, and not made to wait three times more.
    if retries >= MAX_RETRIES || !error.is_transient() || matches!(error, Error::TimedOut { .. }) {
        return None;
    }
    if let Error::RateLimited { retry_at: Some(at), .. } = error {
        let wait = Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default();
        return (wait <= LONGEST_BACKOFF).then_some(wait + jitter(FIRST_BACKOFF));
    }
    let backoff = FIRST_BACKOFF.saturating_mul(2_u32.saturating_pow(retries));
    Some(backoff + jitter(backoff))
}

/// A random part of `most`, so that clients that failed together do not ask again together.
fn jitter(most: Duration) -> Duration {
    // Every `RandomState` has fresh keys, so the hash of nothing is random.
    let random = RandomState::new().build_hasher().finish();
    let nanos = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(random.checked_rem(nanos).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_error(status: u16) -> Error {
        Error::Server {
            host: "pds.example".into(),
            method: "com.atproto.repo.listRecords",
            status,
            error: "InternalServerError".into(),
            message: String::new(),
        }
    }

    fn limited(seconds: i64) -> Error {
        let retry_at = Timestamp::now().checked_add(jiff::SignedDuration::from_secs(seconds)).ok();
        Error::RateLimited { host: "pds.example".into(), retry_at, limit: None }
    }

    #[test]
    fn waits_grow_and_end() {
        for (retries, least) in [(0, 250), (1, 500), (2, 1000)] {
            let wait = backoff(&server_error(502), retries).unwrap().as_millis();
            assert!((least..2 * least).contains(&wait), "{wait}");
        }
        assert_eq!(backoff(&server_error(502), 3), None);
        assert_eq!(backoff(&server_error(501), 0), None);
    }

    #[test]
    fn a_short_wait_the_server_asks_for_is_kept_and_a_long_one_is_the_callers() {
        assert!(backoff(&limited(2), 0).unwrap() > Duration::from_millis(1500));
        assert!(backoff(&limited(-60), 0).unwrap() < Duration::from_millis(260));
        assert_eq!(backoff(&limited(3600), 0), None);
    }

    #[test]
    fn the_limits_of_few_servers_are_remembered() {
        let client = Client::new(Config::default()).unwrap();
        let names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
        let headers = names.map(|name| (name.parse().unwrap(), "60".parse().unwrap()));
        let headers: reqwest::header::HeaderMap = headers.into_iter().collect();
        for n in 0..3 * MAX_LIMITED {
            let server = Url::parse(&format!("https://h{n}.example")).unwrap();
            let answer = Answer { status: reqwest::StatusCode::OK, headers: headers.clone(), body: Vec::new() };
            client.accepted(&server, "a.test.method", answer).unwrap();
            assert!(client.last_rate_limit(&server).is_some());
        }
        assert!(client.rate_limits().len() <= MAX_LIMITED);
    }

    #[test]
    fn parameters_are_escaped() {
        let server = Url::parse("https://pds.example/path?x=1").unwrap();
        let mut call = Call::new(&server, "com.atproto.repo.getRecord");
        call.params = &[("rkey", "a&b=c#d")];
        assert_eq!(
            call.url().unwrap().as_str(),
            "https://pds.example/xrpc/com.atproto.repo.getRecord?rkey=a%26b%3Dc%23d"
        );
    }
}
