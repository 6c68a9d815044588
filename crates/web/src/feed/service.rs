//! The feeds over HTTP.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use axum::{
    Router,
    extract::{
        Path, Query, State,
        rejection::{PathRejection, QueryRejection},
    },
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use onrecord_index::{Cursor, Recent};
use onrecord_lexicon::{AtIdentifier, Catalog};

use super::{ATOM, Entry, Feed, atom};
use crate::xrpc::{Xrpc, XrpcError};

/// How many entries a page of a feed has.
const ENTRIES: u32 = 50;

#[derive(Clone)]
struct Feeds {
    xrpc: Xrpc,
    /// Where the site is reached, if that is known.
    base: Option<String>,
    /// What the site is called.
    name: String,
}

type Asked = Result<Query<HashMap<String, String>>, QueryRejection>;

/// Answers `/feed.atom`, `/@HANDLE/feed.atom`, `/@HANDLE/members/feed.atom` and `/search.atom`. `base` is where the site is
/// reached, e.g. `https://record.example`; where it is not known, what the request calls it. `name` is what the site is called.
pub fn router(xrpc: Xrpc, base: Option<String>, name: &str) -> Router {
    Router::new()
        .route("/feed.atom", get(all))
        .route("/{owner}/feed.atom", get(author))
        .route("/{owner}/members/feed.atom", get(collective))
        .route("/search.atom", get(search))
        .with_state(Feeds { xrpc, base, name: name.to_owned() })
}

async fn all(State(feeds): State<Feeds>, headers: HeaderMap, asked: Asked) -> Response {
    let title = format!("{}: conversations", feeds.name);
    feeds.list(&headers, Recent::All, title, ("/feed.atom", "/"), cursor(&asked)).await
}

async fn author(
    State(feeds): State<Feeds>,
    owner: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    asked: Asked,
) -> Response {
    let owner = owner.map(|Path(owner)| owner).unwrap_or_default();
    let who = owner.strip_prefix('@').and_then(|who| AtIdentifier::parse(who).ok());
    let found = match &who {
        Some(who) => feeds.xrpc.did_of(who).await,
        None => Ok(None),
    };
    match (found, who) {
        (Ok(Some(did)), Some(who)) => {
            let (title, page) = (format!("{}: conversations of @{who}", feeds.name), format!("/@{who}"));
            feeds.list(&headers, Recent::By(did), title, (&format!("{page}/feed.atom"), &page), cursor(&asked)).await
        }
        (Ok(_), _) => refused(StatusCode::NOT_FOUND, "nothing is known here of this account"),
        (Err(error), _) => error.into_plain(),
    }
}

async fn collective(
    State(feeds): State<Feeds>,
    who: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    asked: Asked,
) -> Response {
    let who = who.ok().and_then(|Path(who)| AtIdentifier::parse(who.trim_start_matches('@')).ok());
    let found = match &who {
        Some(who) => feeds.xrpc.did_of(who).await,
        None => Ok(None),
    };
    match (found, who) {
        (Ok(Some(did)), Some(who)) => {
            let (title, page) =
                (format!("{}: conversations of the members of {who}", feeds.name), format!("/@{who}/members"));
            feeds
                .list(&headers, Recent::MembersOf(did), title, (&format!("{page}/feed.atom"), &page), cursor(&asked))
                .await
        }
        (Ok(_), _) => refused(StatusCode::NOT_FOUND, "nothing is known here of this account"),
        (Err(error), _) => error.into_plain(),
    }
}

/// Takes what `dev.onrecord.searchTurns` takes.
async fn search(State(feeds): State<Feeds>, headers: HeaderMap, uri: axum::http::Uri) -> Response {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(&uri).map(|Query(pairs)| pairs).unwrap_or_default();
    let given = pairs.iter().filter(|(name, _)| name != "limit").map(|(name, value)| (name.as_str(), value.as_str()));
    let limit = ENTRIES.to_string();
    let params = Catalog::bundled().read_params("dev.onrecord.searchTurns", given.chain([("limit", limit.as_str())]));
    let page = match params {
        Ok(params) => feeds.xrpc.search(params).await,
        Err(why) => return refused(StatusCode::BAD_REQUEST, &why.to_string()),
    };
    let page = match page {
        Ok(page) => page,
        Err(error) => return error.into_plain(),
    };
    let asked = |with: Option<&Cursor>| {
        let kept = pairs.iter().filter(|(name, _)| name != "cursor" && name != "limit");
        let mut query = url_query(kept.map(|(name, value)| (name.as_str(), value.as_str())));
        if let Some(cursor) = with {
            query = [query, url_query([("cursor", cursor.as_str())].into_iter())].join("&");
        }
        query
    };
    let given = cursor_of(&pairs);
    let words = pairs.iter().find(|(name, _)| name == "q").map_or("", |(_, words)| words.as_str());
    let feed = Feed {
        base: &feeds.base_of(&headers),
        title: format!("{}: search {words}", feeds.name).trim_end().to_owned(),
        path: format!("/search.atom?{}", asked(given.as_ref())),
        first: format!("/search.atom?{}", asked(None)),
        page: format!("/search?{}", asked(None)),
        next: page.cursor.as_ref().map(|next| format!("/search.atom?{}", asked(Some(next)))),
    };
    let entries: Vec<Entry> = page.items.iter().map(Entry::of_hit).collect();
    answer(&headers, atom(&feed, &entries))
}

fn cursor(asked: &Asked) -> Option<Cursor> {
    asked.as_ref().ok().and_then(|asked| asked.get("cursor")).map(|text| Cursor::from_text(text))
}

fn cursor_of(pairs: &[(String, String)]) -> Option<Cursor> {
    pairs.iter().find(|(name, _)| name == "cursor").map(|(_, text)| Cursor::from_text(text))
}

impl Feeds {
    async fn list(
        &self,
        headers: &HeaderMap,
        of: Recent,
        title: String,
        (path, page): (&str, &str),
        after: Option<Cursor>,
    ) -> Response {
        let found = match self.xrpc.heads(&of, after.as_ref(), ENTRIES).await {
            Ok(found) => found,
            Err(error) => return error.into_plain(),
        };
        let at = |cursor: &Cursor| format!("{path}?{}", url_query([("cursor", cursor.as_str())].into_iter()));
        let feed = Feed {
            base: &self.base_of(headers),
            title,
            path: after.as_ref().map_or_else(|| path.to_owned(), at),
            first: path.to_owned(),
            page: page.to_owned(),
            next: found.cursor.as_ref().map(at),
        };
        let entries: Vec<Entry> = found.items.iter().map(Entry::of_conversation).collect();
        answer(headers, atom(&feed, &entries))
    }

    /// Where the site is reached: as its host says, or as the request does.
    fn base_of(&self, headers: &HeaderMap) -> String {
        let asked = || {
            let host = headers.get(header::HOST)?.to_str().ok()?;
            // Nothing that could end the address early stands in a host's name.
            let is_host = host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]_".contains(&b));
            is_host.then(|| format!("http://{host}"))
        };
        self.base.clone().or_else(asked).unwrap_or_else(|| "http://localhost".to_owned())
    }
}

/// Pairs as a query string.
fn url_query<'q>(pairs: impl Iterator<Item = (&'q str, &'q str)>) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode as encode};
    let pairs =
        pairs.map(|(name, value)| format!("{}={}", encode(name, NON_ALPHANUMERIC), encode(value, NON_ALPHANUMERIC)));
    pairs.collect::<Vec<_>>().join("&")
}

/// The document, or that it is the one the reader has. Readers keep asking, and never keep it unasked.
fn answer(headers: &HeaderMap, body: String) -> Response {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    let has_it = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|tags| tags.to_str().ok())
        .is_some_and(|tags| tags.split(',').any(|known| known.trim() == tag || known.trim() == "*"));
    let mut response = match has_it {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, ATOM)], body).into_response(),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    with_headers(response)
}

fn refused(status: StatusCode, why: &str) -> Response {
    with_headers((status, format!("{why}\n")).into_response())
}

impl XrpcError {
    /// For readers that know no XRPC.
    fn into_plain(self) -> Response {
        refused(StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), self.message())
    }
}

fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
