//! Answers that are kept as long as they are right.
//!
//! A page goes out with what it was made of and in which state that was; before it goes out again the index is asked whether
//! the state is still the same, which costs one small query. So nothing is ever served that was taken back, in any process,
//! and what did not change is neither made nor compressed twice. Browsers and proxies may keep it too, if they ask each time.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt as _;
use onrecord_index::{Index, Scope, Stamp};
use quick_cache::{Weighter, sync::Cache};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use crate::{Own, SourceError};

/// What is larger goes out as it is made, and is not kept.
const MAX_BYTES: usize = 4 << 20;
/// What else a page may show, such as what became of a record it points at, may be so old.
const MAX_AGE: Duration = Duration::from_secs(30);
/// The forms an answer goes out in, the best first.
const ENCODINGS: [&str; 2] = ["zstd", "gzip"];

/// What an answer was made of, if not of everything. A page says so by adding it to its response's extensions.
#[derive(Debug, Clone)]
pub(crate) struct Depends {
    scope: Scope,
    stamp: Stamp,
}

impl Depends {
    /// Asks for the state. To be done before what the answer is made of is read.
    pub(crate) async fn on(index: &dyn Index, scope: Scope) -> onrecord_index::Result<Self> {
        Ok(Self { stamp: index.stamp(&scope).await?, scope })
    }
}

/// Which answer: the path with the query, and the form.
type Key = (Box<str>, Option<&'static str>);

#[derive(Clone)]
struct Answer {
    depends: Option<Depends>,
    own: Option<i64>,
    made: Instant,
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Answer> for Weight {
    fn weight(&self, key: &Key, answer: &Answer) -> u64 {
        // The headers take about as much as this.
        (key.0.len() + answer.body.len()) as u64 + 2_048
    }
}

/// The answers that are kept.
pub(super) struct Kept {
    index: Option<Arc<dyn Index>>,
    own: Option<Own>,
    answers: Cache<Key, Answer, Weight>,
    /// What is being made, so that many who ask for the same at once have it made once.
    making: Mutex<HashMap<Key, watch::Receiver<()>>>,
}

/// That an answer is being made; over with this value.
struct Making<'k> {
    kept: &'k Kept,
    key: Key,
    _told: watch::Sender<()>,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.kept.making().remove(&self.key);
    }
}

impl Kept {
    pub(super) fn new(index: Option<Arc<dyn Index>>, own: Option<Own>, bytes: u64) -> Self {
        let pages = usize::try_from(bytes / 16_384).unwrap_or(usize::MAX).max(16);
        Self { index, own, answers: Cache::with_weighter(pages, bytes, Weight), making: Mutex::default() }
    }

    fn making(&self) -> MutexGuard<'_, HashMap<Key, watch::Receiver<()>>> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that an answer is being made; where somebody else makes it already, gives what that ends with.
    fn make(&self, key: Key) -> Result<Making<'_>, watch::Receiver<()>> {
        match self.making().entry(key.clone()) {
            Entry::Occupied(other) => Err(other.get().clone()),
            Entry::Vacant(free) => {
                let (told, end) = watch::channel(());
                free.insert(end);
                Ok(Making { kept: self, key, _told: told })
            }
        }
    }

    async fn find(&self, key: &Key) -> Option<Answer> {
        let answer = self.answers.get(key)?;
        let is_right = answer.made.elapsed() < MAX_AGE
            && match (&answer.depends, &self.index) {
                (Some(depends), Some(index)) => index.stamp(&depends.scope).await.is_ok_and(|now| now == depends.stamp),
                (None, None) => true,
                _ => false,
            }
            && self.own().await.is_ok_and(|now| now == answer.own);
        if !is_right {
            self.answers.remove(key);
        }
        is_right.then_some(answer)
    }

    /// The state of what is on record from this machine.
    async fn own(&self) -> Result<Option<i64>, SourceError> {
        match &self.own {
            Some(own) => own.ask(|own| (own.version)()).await.map(Some),
            None => Ok(None),
        }
    }

    /// The state of everything.
    async fn now(&self) -> Result<(Option<Depends>, Option<i64>), SourceError> {
        let depends = match &self.index {
            Some(index) => Some(Depends::on(&**index, Scope::Everything).await?),
            None => None,
        };
        Ok((depends, self.own().await?))
    }
}

/// Answers with what is kept if it is still right, else makes it.
pub(super) async fn answer(State(kept): State<Arc<Kept>>, mut request: Request, next: Next) -> Response {
    let is_get = request.method() == Method::GET;
    if !is_get && request.method() != Method::HEAD {
        return next.run(request).await;
    }
    let form = form(request.headers());
    // What is inside compresses; it is told what was chosen here.
    request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static(form.unwrap_or("identity")));
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let key: Key = (path.into(), form);
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    if let Some(answer) = kept.find(&key).await {
        return told(answer.headers, answer.body, known.as_ref(), is_get);
    }
    // Who waited once makes it: what the other made may not be for everybody, or no longer right.
    let _making = match kept.make(key.clone()) {
        Ok(making) => Some(making),
        Err(mut others) => {
            // It never says anything but that it is over.
            let _ = others.changed().await;
            if let Some(answer) = kept.find(&key).await {
                return told(answer.headers, answer.body, known.as_ref(), is_get);
            }
            None
        }
    };
    // Before anything is read. Where it cannot be told, nothing is kept.
    let before = kept.now().await.ok();
    let response = next.run(request).await;
    // What a page itself says is for this reader alone, such as what was looked up for them, is kept nowhere.
    let is_for_one = response.headers().get(header::CACHE_CONTROL).is_some_and(|value| value == "no-store");
    if response.status() != StatusCode::OK || !is_get || is_for_one {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = match short(body).await {
        Ok(Short::Whole(body)) => body,
        Ok(Short::Endless(body)) => return Response::from_parts(parts, body),
        Err(error) => {
            tracing::error!(%error, "an answer broke off");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    parts.headers.remove(header::TRANSFER_ENCODING);
    if !parts.headers.contains_key(header::ETAG) {
        parts.headers.insert(header::ETAG, etag(&body));
    }
    let narrower = parts.extensions.remove::<Depends>();
    if let Some((everything, own)) = before {
        let depends = narrower.or(everything);
        let answer = Answer { depends, own, made: Instant::now(), headers: parts.headers.clone(), body: body.clone() };
        kept.answers.insert(key, answer);
    }
    told(parts.headers, body, known.as_ref(), true)
}

/// What goes out: all of it, its head alone, or word that nothing changed.
fn told(mut headers: HeaderMap, body: Bytes, known: Option<&HeaderValue>, is_get: bool) -> Response {
    let is_known = match (known.and_then(|known| known.to_str().ok()), headers.get(header::ETAG)) {
        (Some(known), Some(etag)) => known
            .split(',')
            .map(str::trim)
            .any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one).as_bytes() == etag.as_bytes()),
        _ => false,
    };
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    if is_known {
        // The length that the answer would have had (RFC 9110, 8.6).
        headers.remove(header::CONTENT_TYPE);
        headers.remove(header::CONTENT_ENCODING);
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, if is_get { Body::from(body) } else { Body::empty() }).into_response()
}

/// The name of these bytes. They differ from form to form, and so do the names.
fn etag(body: &[u8]) -> HeaderValue {
    let digest = Sha256::digest(body);
    let name = digest.iter().take(12).fold(String::from("\""), |name, byte| format!("{name}{byte:02x}")) + "\"";
    HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("\"\""))
}

/// The form the reader prefers, of those there are: what it names with a weight above none; ours decides among them.
fn form(headers: &HeaderMap) -> Option<&'static str> {
    let offered = |encoding: &str| {
        headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|list| list.to_str().ok()).any(|list| {
            list.split(',').any(|one| {
                let (name, parameters) = one.split_once(';').unwrap_or((one, ""));
                let weight = parameters.trim().strip_prefix("q=").map(|q| q.trim().parse::<f32>().unwrap_or(0.0));
                name.trim().eq_ignore_ascii_case(encoding) && weight.is_none_or(|q| q > 0.0)
            })
        })
    };
    ENCODINGS.into_iter().find(|encoding| offered(encoding))
}

enum Short {
    Whole(Bytes),
    Endless(Body),
}

/// The whole body, if it is not larger than what is kept.
async fn short(body: Body) -> Result<Short, axum::Error> {
    use http_body_util::{Either, StreamBody};
    let mut body = body;
    if let Some(exact) = axum::body::HttpBody::size_hint(&body).exact() {
        return if exact <= MAX_BYTES as u64 {
            to_bytes(body, MAX_BYTES).await.map(Short::Whole)
        } else {
            Ok(Short::Endless(body))
        };
    }
    let mut parts: Vec<Bytes> = Vec::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        size += data.len();
        parts.push(data);
        if size > MAX_BYTES {
            let first = futures_util::stream::iter(
                parts.into_iter().map(|part| Ok::<_, axum::Error>(http_body::Frame::data(part))),
            );
            let all = futures_util::StreamExt::chain(first, http_body_util::BodyStream::new(body));
            return Ok(Short::Endless(Body::new(Either::<_, Body>::Left(StreamBody::new(all)))));
        }
    }
    Ok(Short::Whole(parts.concat().into()))
}
