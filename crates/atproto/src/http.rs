//! One bounded HTTP exchange: guard, time limit, size limit, and an error that tells whether anything was sent.

use std::{error::Error as StdError, time::Duration};

use reqwest::{
    Method, RequestBuilder, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, LOCATION},
};
use tokio::time::Instant;
use url::Url;

use crate::{
    Config, Error, Result,
    error::quote,
    guard::{Guard, Refusal},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter than any server's own (Node's, and so the reference PDS's, is five seconds): a write sent on a connection that the
/// server is just closing would end in doubt.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Limit on the download of a whole repository.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(3600);
/// So many bytes of a download come within the time limit of one request, or it is given up.
const LEAST_DOWNLOADED: usize = 256 << 10;
/// Redirects that a plain document may take. XRPC requests follow none: they carry tokens.
const MAX_REDIRECTS: usize = 3;

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn is_json(&self) -> bool {
        let named = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        named.to_ascii_lowercase().contains("json")
    }
}

pub(crate) struct Http {
    client: reqwest::Client,
    timeout: Duration,
    pub(crate) guard: Guard,
}

impl Http {
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let guard = Guard::new(config);
        let client = reqwest::Client::builder()
            .user_agent(&config.user_agent)
            .dns_resolver(std::sync::Arc::new(guard.clone()))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(config.timeout)
            .pool_idle_timeout(IDLE_TIMEOUT)
            // A proxy would resolve names out of the guard's sight, and is found through the environment.
            .no_proxy()
            .build()
            .map_err(|error| Error::Setup { why: root_cause(&error) })?;
        Ok(Self { client, timeout: config.timeout, guard })
    }

    pub(crate) fn get(&self, url: Url) -> Result<RequestBuilder> {
        self.request(Method::GET, url)
    }

    pub(crate) fn request(&self, method: Method, url: Url) -> Result<RequestBuilder> {
        self.guard.check(&url)?;
        Ok(self.client.request(method, url))
    }

    /// Sends the request and reads at most `limit` bytes of the answer.
    pub(crate) async fn exchange(&self, request: RequestBuilder, limit: usize) -> Result<Answer> {
        let request = request.build().map_err(|error| Error::Setup { why: root_cause(&error) })?;
        let host = host_of(request.url());
        let failed = |error: reqwest::Error| transport_error(&host, &error);
        let mut response = self.client.execute(request).await.map_err(failed)?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > limit {
                return Err(Error::AnswerTooLarge { host, limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer { status, headers, body })
    }

    /// The same for an answer that is too large to be held: what a success says goes to `sink` as it comes, and its body is
    /// empty then. It takes as long as it takes, while it goes on.
    pub(crate) async fn download(
        &self,
        request: RequestBuilder,
        limit: usize,
        sink: &mut (dyn std::io::Write + Send),
    ) -> Result<Answer> {
        let request =
            request.timeout(DOWNLOAD_TIMEOUT).build().map_err(|error| Error::Setup { why: root_cause(&error) })?;
        let host = host_of(request.url());
        let failed = |error: reqwest::Error| transport_error(&host, &error);
        let mut until = Instant::now() + self.timeout;
        let begun = tokio::time::timeout_at(until, self.client.execute(request)).await;
        let mut response = begun.map_err(|_| Error::TimedOut { host: host.clone() })?.map_err(failed)?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let (mut body, mut len, mut due) = (Vec::new(), 0_usize, LEAST_DOWNLOADED);
        let limit = if status.is_success() { limit } else { crate::xrpc::SMALL_ANSWER };
        loop {
            let next = tokio::time::timeout_at(until, response.chunk()).await;
            let next = next.map_err(|_| Error::TooSlow { host: host.clone() })?;
            let Some(chunk) = next.map_err(failed)? else { break };
            len = len.saturating_add(chunk.len());
            due = due.saturating_sub(chunk.len());
            if due == 0 {
                (until, due) = (Instant::now() + self.timeout, LEAST_DOWNLOADED);
            }
            if len > limit {
                return Err(Error::AnswerTooLarge { host, limit });
            }
            if status.is_success() {
                sink.write_all(&chunk).map_err(Error::Spool)?;
            } else {
                body.extend_from_slice(&chunk);
            }
        }
        Ok(Answer { status, headers, body })
    }

    /// Gets a plain document, following a few redirects, each through the guard.
    pub(crate) async fn document(&self, mut url: Url, limit: usize) -> Result<Answer> {
        for _ in 0..MAX_REDIRECTS {
            let answer = self.exchange(self.get(url.clone())?, limit).await?;
            let target = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok());
            match target.and_then(|target| url.join(target).ok()) {
                Some(target) if answer.status.is_redirection() => url = target,
                _ => return Ok(answer),
            }
        }
        Err(Error::BadAnswer { host: host_of(&url), method: "GET", why: "too many redirects".into() })
    }
}

/// Host and port of a URL, for messages.
pub(crate) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

pub(crate) fn transport_error(host: &str, error: &reqwest::Error) -> Error {
    let host = host.to_owned();
    if let Some(Refusal(why)) = find_refusal(error) {
        Error::AddressRefused { host, why }
    } else if error.is_connect() {
        Error::Unreachable { host, why: if error.is_timeout() { "no answer".into() } else { root_cause(error) } }
    } else if error.is_timeout() {
        Error::TimedOut { host }
    } else {
        Error::Interrupted { host, why: root_cause(error) }
    }
}

fn find_refusal(error: &(dyn StdError + 'static)) -> Option<Refusal> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(refusal) = error.downcast_ref::<Refusal>() {
            return Some(*refusal);
        }
        next = error.source();
    }
    None
}

/// The innermost words of an error; the outer ones repeat the URL.
fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    quote(&innermost.to_string())
}
