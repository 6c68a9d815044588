//! The cards over HTTP.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use onrecord_lexicon::AtUri;
use tokio::sync::Semaphore;

use super::{Card, DRAWN, card_png};
use crate::xrpc::{Xrpc, XrpcError};

/// How many images are kept. Each has some 40 kB.
const KEPT: usize = 256;
/// How many are drawn at once: the pages come first.
const AT_ONCE: usize = 2;

#[derive(Clone)]
struct Cards {
    xrpc: Xrpc,
    site: Arc<str>,
    /// By content, the last used one last.
    kept: Arc<Mutex<VecDeque<(u64, Bytes)>>>,
    drawing: Arc<Semaphore>,
}

/// Answers `/card/WHO/COLLECTION/RKEY.png`. `site` is what the site is called.
pub fn router(xrpc: Xrpc, site: &str) -> Router {
    let cards = Cards { xrpc, site: site.into(), kept: Arc::default(), drawing: Arc::new(Semaphore::new(AT_ONCE)) };
    Router::new().route("/card/{repo}/{collection}/{name}", get(card)).with_state(cards)
}

async fn card(
    State(cards): State<Cards>,
    path: Result<Path<(String, String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let uri = path.ok().and_then(|Path((repo, collection, name))| {
        AtUri::parse(&format!("at://{}/{collection}/{}", repo.trim_start_matches('@'), name.strip_suffix(".png")?)).ok()
    });
    let Some(uri) = uri else { return refused(StatusCode::NOT_FOUND, "there is no card at this address") };
    let card = match cards.xrpc.head(&uri).await {
        Ok(head) => Card::new(&head, &cards.site),
        Err(error) => {
            let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            return refused(status, error.message());
        }
    };
    let key = key(&card);
    let tag = format!("\"{key:016x}\"");
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag)) {
        return with_headers(StatusCode::NOT_MODIFIED.into_response(), &tag);
    }
    match cards.image(key, card).await {
        Ok(image) => with_headers(([(header::CONTENT_TYPE, "image/png")], image).into_response(), &tag),
        Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, error.message()),
    }
}

/// The same for what looks the same.
fn key(card: &Card) -> u64 {
    let mut hasher = DefaultHasher::new();
    (card, DRAWN).hash(&mut hasher);
    hasher.finish()
}

impl Cards {
    async fn image(&self, key: u64, card: Card) -> Result<Bytes, XrpcError> {
        if let Some(image) = self.find(key) {
            return Ok(image);
        }
        let _turn = self.drawing.acquire().await.map_err(XrpcError::failed)?;
        // Somebody else may have asked for it before.
        if let Some(image) = self.find(key) {
            return Ok(image);
        }
        let drawn = tokio::task::spawn_blocking(move || card_png(&card)).await.map_err(XrpcError::failed)?;
        let image = Bytes::from(drawn.map_err(XrpcError::failed)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((key, image.clone()));
        if kept.len() > KEPT {
            kept.pop_front();
        }
        Ok(image)
    }

    fn find(&self, key: u64) -> Option<Bytes> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| *known == key)?;
        let found = kept.remove(at)?;
        let image = found.1.clone();
        kept.push_back(found);
        Some(image)
    }
}

fn refused(status: StatusCode, why: &str) -> Response {
    with_headers((status, format!("{why}\n")).into_response(), "")
}

/// Asked for again each time, so that what was taken back is gone at once.
fn with_headers(mut response: Response, tag: &str) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-cache"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(tag) = HeaderValue::from_str(tag)
        && !tag.is_empty()
    {
        headers.insert(header::ETAG, tag);
    }
    response
}
