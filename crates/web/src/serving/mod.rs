//! What stands between the network and the pages: who may ask how often, how long an answer may take, what of it is kept,
//! and in which form it goes out.

mod keep;
mod limit;
mod listen;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use onrecord_index::{Index, Scope};
use tower_http::{CompressionLevel, compression::CompressionLayer, limit::RequestBodyLimitLayer};

use crate::Site;

pub(crate) use keep::Depends;
use keep::Kept;
use limit::Rates;
pub use listen::serve;

/// How hard pages are compressed, as zstd and gzip count it.
const COMPRESSION: i32 = 2;

/// How much anyone may ask of the site. The defaults suit one machine with two cores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests a second from one address, on average. None for as many as come.
    pub requests_per_s: Option<u32>,
    /// How many of them may come at once.
    pub burst: u32,
    /// Connections at once, from everybody.
    pub connections: usize,
    /// Connections at once from one address. Those that come through a reverse proxy on this machine are not told apart.
    pub connections_per_address: usize,
    /// How long a request's head may take to come, and an answer to be taken.
    pub patience: Duration,
    /// How long an answer may take to be made.
    pub answer: Duration,
    /// The largest body of a request, in bytes.
    pub body_bytes: usize,
    /// How much of what was made is kept, in bytes.
    pub kept_bytes: u64,
    /// How long what is being answered may go on when the site is stopped.
    pub farewell: Duration,
    /// Whether the addresses in `X-Forwarded-For` are believed of any peer. Of a peer on this machine they always are.
    pub behind_proxy: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_s: Some(20),
            burst: 200,
            connections: 2_048,
            connections_per_address: 64,
            patience: Duration::from_secs(20),
            answer: Duration::from_secs(20),
            body_bytes: 1 << 20,
            kept_bytes: 48 << 20,
            farewell: Duration::from_secs(10),
            behind_proxy: false,
        }
    }
}

/// Puts the pages of a site behind its limits.
pub(crate) fn guarded(pages: Router, site: &Site) -> Router {
    let Site { limits, index, own, .. } = site;
    let answer = limits.answer;
    let health = Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .with_state(index.clone())
        .layer(from_fn(never_kept));
    pages
        .layer(compression())
        .layer(from_fn(move |request, next| in_time(answer, request, next)))
        .layer(from_fn_with_state(Arc::new(Kept::new(index.clone(), own.clone(), limits.kept_bytes)), keep::answer))
        .layer(RequestBodyLimitLayer::new(limits.body_bytes))
        .layer(from_fn_with_state(Arc::new(Rates::new(limits)), limit::count))
        .merge(health)
}

/// Puts what stands beside the pages behind the same limits, counted apart. Nothing of it is kept.
pub fn limited(doors: Router, limits: &Limits) -> Router {
    let answer = limits.answer;
    doors
        .layer(compression())
        .layer(from_fn(move |request, next| in_time(answer, request, next)))
        .layer(RequestBodyLimitLayer::new(limits.body_bytes))
        .layer(from_fn_with_state(Arc::new(Rates::new(limits)), limit::count))
}

/// Quick rather than small: at the usual level a fifth of the time that a page of 200 turns took was compressing it.
fn compression() -> CompressionLayer {
    CompressionLayer::new().quality(CompressionLevel::Precise(COMPRESSION))
}

/// Whether the index answers.
async fn ready(State(index): State<Option<Arc<dyn Index>>>) -> Response {
    let asked = async {
        match &index {
            Some(index) => index.stamp(&Scope::Everything).await.map(|_| ()),
            None => Ok(()),
        }
    };
    match tokio::time::timeout(Duration::from_secs(2), asked).await {
        Ok(Ok(())) => "ready\n".into_response(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "the index does not answer\n").into_response()
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the index takes long to answer\n").into_response(),
    }
}

async fn never_kept(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn in_time(answer: Duration, request: Request, next: Next) -> Response {
    match tokio::time::timeout(answer, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            tracing::warn!(seconds = answer.as_secs(), "an answer took too long and was given up");
            let retry = [(header::RETRY_AFTER, "10"), (header::CACHE_CONTROL, "no-store")];
            (StatusCode::SERVICE_UNAVAILABLE, retry, "This took too long. Try again in a moment.\n").into_response()
        }
    }
}
