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
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use onrecord_lexicon::{AtIdentifier, AtUri};
use tokio::sync::Semaphore;

use super::{Card, DRAWN, card_png};
use crate::{
    doors::{NO_PAGE, open_to_all, plain, refused},
    xrpc::{Xrpc, XrpcError},
};

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

/// Answers `/card/WHO/COLLECTION/RKEY.png`, `/card/WHO.png` and `/card/site.png`. `site` is what the site is called.
pub fn router(xrpc: Xrpc, site: &str) -> Router {
    let cards = Cards { xrpc, site: site.into(), kept: Arc::default(), drawing: Arc::new(Semaphore::new(AT_ONCE)) };
    Router::new()
        .route("/card/{name}", get(of_account))
        .route("/card/{repo}/{collection}/{name}", get(of_conversation))
        .with_state(cards)
}

/// Of an account, or of the site itself, which is called as no account can be.
async fn of_account(
    State(cards): State<Cards>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let Some(name) = path.ok().and_then(|Path(name)| Some(name.strip_suffix(".png")?.to_owned())) else {
        return nothing();
    };
    if name == "site" {
        return cards.answer(Card::of_site(&cards.site), &headers).await;
    }
    let Ok(who) = AtIdentifier::parse(name.trim_start_matches('@')) else { return nothing() };
    match cards.xrpc.shown(&who).await {
        Ok(author) => cards.answer(Card::of_account(&author, &cards.site), &headers).await,
        Err(error) => refused(&error),
    }
}

async fn of_conversation(
    State(cards): State<Cards>,
    path: Result<Path<(String, String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let uri = path.ok().and_then(|Path((repo, collection, name))| {
        AtUri::parse(&format!("at://{}/{collection}/{}", repo.trim_start_matches('@'), name.strip_suffix(".png")?)).ok()
    });
    let Some(uri) = uri else { return nothing() };
    match cards.xrpc.head(&uri).await {
        Ok(head) => cards.answer(Card::new(&head, &cards.site), &headers).await,
        Err(error) => refused(&error),
    }
}

fn nothing() -> Response {
    plain(StatusCode::NOT_FOUND, "there is no card at this address")
}

/// The same for what looks the same.
fn key(card: &Card) -> u64 {
    let mut hasher = DefaultHasher::new();
    (card, DRAWN).hash(&mut hasher);
    hasher.finish()
}

impl Cards {
    /// The image of a card, or word that the asker has it.
    async fn answer(&self, card: Card, headers: &HeaderMap) -> Response {
        let key = key(&card);
        let tag = format!("\"{key:016x}\"");
        let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
        if known.is_some_and(|known| known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag)) {
            return with_tag(StatusCode::NOT_MODIFIED.into_response(), &tag);
        }
        match self.image(key, card).await {
            Ok(image) => with_tag(([(header::CONTENT_TYPE, "image/png")], image).into_response(), &tag),
            Err(error) => refused(&error),
        }
    }

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

/// Asked for again each time, so that what was taken back is gone at once.
fn with_tag(response: Response, tag: &str) -> Response {
    let mut response = open_to_all(response, "no-cache", NO_PAGE);
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
