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
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use onrecord_index::{Cursor, Recent};
use onrecord_lexicon::{AtIdentifier, Catalog, Did};

use super::{ATOM, Entry, Feed, OF_ALL, atom, of_account, of_members, of_search};
use crate::{
    doors::{NO_PAGE, open_to_all, plain, refused},
    path_of_account,
    render::asking,
    search_words::question,
    xrpc::{Xrpc, XrpcError},
};

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
    feeds.list(&headers, Recent::All, title, (OF_ALL, "/"), cursor(&asked)).await
}

async fn author(
    State(feeds): State<Feeds>,
    who: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    asked: Asked,
) -> Response {
    let account = match feeds.account(who).await {
        Ok(account) => account,
        Err(refusal) => return refusal,
    };
    let (did, handle) = (account.did.as_str(), account.handle());
    let (path, page) = (of_account(did, handle), path_of_account(did, handle));
    let title = format!("{}: conversations of {}", feeds.name, account.name());
    feeds.list(&headers, Recent::By(account.did.clone()), title, (&path, &page), cursor(&asked)).await
}

async fn collective(
    State(feeds): State<Feeds>,
    who: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    asked: Asked,
) -> Response {
    let account = match feeds.account(who).await {
        Ok(account) => account,
        Err(refusal) => return refusal,
    };
    let (did, handle) = (account.did.as_str(), account.handle());
    let (path, page) = (of_members(did, handle), format!("{}/members", path_of_account(did, handle)));
    let title = format!("{}: conversations of the members of {}", feeds.name, account.name());
    feeds.list(&headers, Recent::MembersOf(account.did.clone()), title, (&path, &page), cursor(&asked)).await
}

/// Takes what `dev.onrecord.searchTurns` takes.
async fn search(State(feeds): State<Feeds>, headers: HeaderMap, uri: axum::http::Uri) -> Response {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(&uri).map(|Query(pairs)| pairs).unwrap_or_default();
    let given = pairs.iter().filter(|(name, _)| name != "limit").map(|(name, value)| (name.as_str(), value.as_str()));
    let params = match Catalog::bundled().read_params("dev.onrecord.searchTurns", given) {
        Ok(params) => params,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why.to_string()),
    };
    let after = pairs.iter().find(|(name, _)| name == "cursor").map(|(_, text)| text.as_str());
    let found = async {
        let search = feeds.xrpc.search_of(params).await?;
        let page = feeds.xrpc.hits(&search, after, ENTRIES).await?;
        Ok::<_, XrpcError>((search, page))
    };
    let (search, page) = match found.await {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    let (first, question) = (of_search(&search), question(&search));
    let feed = Feed {
        base: &feeds.base_of(&headers),
        title: format!("{}: search {question}", feeds.name),
        path: after.map_or_else(|| first.clone(), |cursor| going_on(&first, cursor)),
        page: asking("/search", &[("q", &question)]),
        next: page.cursor.as_ref().map(|next| going_on(&first, next.as_str())),
        first,
    };
    let entries: Vec<Entry> = page.items.iter().map(Entry::of_hit).collect();
    answer(&headers, atom(&feed, &entries))
}

/// Whose feed is asked for.
struct Account {
    did: Did,
    /// As it was asked for.
    who: AtIdentifier,
}

impl Account {
    fn handle(&self) -> Option<&str> {
        self.who.as_handle().is_some().then(|| self.who.as_str())
    }

    fn name(&self) -> String {
        self.handle().map_or_else(|| self.did.to_string(), |handle| format!("@{handle}"))
    }
}

/// The page of a feed that follows the one before it.
fn going_on(first: &str, cursor: &str) -> String {
    let mark = if first.contains('?') { '&' } else { '?' };
    format!("{first}{mark}cursor={}", percent_encoding::utf8_percent_encode(cursor, percent_encoding::NON_ALPHANUMERIC))
}

fn cursor(asked: &Asked) -> Option<Cursor> {
    asked.as_ref().ok().and_then(|asked| asked.get("cursor")).map(|text| Cursor::from_text(text))
}

impl Feeds {
    /// The account that an address names, which begins with an @.
    async fn account(&self, named: Result<Path<String>, PathRejection>) -> Result<Account, Response> {
        let unknown = || plain(StatusCode::NOT_FOUND, "nothing is known here of this account");
        let named = named.ok().and_then(|Path(named)| AtIdentifier::parse(named.strip_prefix('@')?).ok());
        let who = named.ok_or_else(unknown)?;
        let did = self.xrpc.did_of(&who).await.map_err(|error| refused(&error))?;
        Ok(Account { did: did.ok_or_else(unknown)?, who })
    }

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
            Err(error) => return refused(&error),
        };
        let at = |cursor: &Cursor| going_on(path, cursor.as_str());
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
    open_to_all(response, "no-cache", NO_PAGE)
}
