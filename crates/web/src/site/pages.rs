//! The pages.

use std::{collections::HashMap, sync::Arc};

use axum::{
    extract::{
        Path, Query, State,
        rejection::{PathRejection, QueryRejection},
    },
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use onrecord_record::Published;

use super::{
    Address, Found, LIST_PAGE, Repo, Site,
    answer::{Format, encrypted, failed, gone, notice, unknown},
    escaped,
};
use crate::{
    ListView, Place, Standing, conversation_html, conversation_json, conversation_markdown, conversation_text,
    list_html,
    render::{page_count, page_of},
    view::ConversationView,
};

type Asked = Result<Query<HashMap<String, String>>, QueryRejection>;

pub(super) async fn list(State(site): State<Arc<Site>>, asked: Asked) -> Response {
    list_in(Format::Html, site, asked).await
}

pub(super) async fn list_json(State(site): State<Arc<Site>>, asked: Asked) -> Response {
    list_in(Format::Json, site, asked).await
}

async fn list_in(format: Format, site: Arc<Site>, asked: Asked) -> Response {
    let page = match asked.as_ref().ok().and_then(|asked| asked.get("page")).map(|page| page.parse::<usize>()) {
        None => 1,
        Some(Ok(page)) if page > 0 && page < usize::MAX / LIST_PAGE => page,
        Some(_) => return no_such_page_of(format),
    };
    blocking(format, move || {
        let slice = match (site.list)((page - 1) * LIST_PAGE, LIST_PAGE) {
            Ok(slice) => slice,
            Err(error) => return failed(format, &error),
        };
        let pages = slice.total.div_ceil(LIST_PAGE).max(1);
        if page > pages {
            return no_such_page_of(format);
        }
        let view = ListView { total: slice.total, page, pages, conversations: &slice.entries };
        let body = match format {
            Format::Json => crate::list_json(&view),
            _ => list_html(&view, Place::Site { path: "/" }),
        };
        match body {
            Ok(body) => format.answer(StatusCode::OK, body),
            Err(error) => failed(format, &error),
        }
    })
    .await
}

/// `/at/{did or handle}/{collection}/{rkey}`, as in an at-uri.
pub(super) async fn at(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String, String)>, PathRejection>,
    asked: Asked,
) -> Response {
    let Ok(Path((repo, collection, name))) = path else { return unknown(Format::Html) };
    let (rkey, format) = Format::of(&name);
    let address = repo_of(&repo).zip(Nsid::parse(&collection).ok()).zip(Rkey::parse(rkey).ok());
    let Some(((repo_name, collection), rkey)) = address else { return unknown(format) };
    let path = format!("/at/{}/{collection}/{rkey}", escaped(&repo));
    conversation(site, Address { repo: repo_name, collection: Some(collection), rkey }, path, format, asked).await
}

/// `/@{handle}/{rkey}`, for people.
pub(super) async fn short(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String)>, PathRejection>,
    asked: Asked,
) -> Response {
    let Ok(Path((owner, name))) = path else { return unknown(Format::Html) };
    let (rkey, format) = Format::of(&name);
    let handle = owner.strip_prefix('@').and_then(|handle| Handle::parse(handle).ok());
    let Some((handle, rkey)) = handle.zip(Rkey::parse(rkey).ok()) else { return unknown(format) };
    let path = format!("/@{handle}/{rkey}");
    conversation(site, Address { repo: Repo::Handle(handle), collection: None, rkey }, path, format, asked).await
}

fn repo_of(text: &str) -> Option<Repo> {
    if text.starts_with("did:") {
        Did::parse(text).ok().map(Repo::Did)
    } else {
        Handle::parse(text).ok().map(Repo::Handle)
    }
}

async fn conversation(site: Arc<Site>, address: Address, path: String, format: Format, asked: Asked) -> Response {
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    blocking(format, move || match (site.find)(&address) {
        Ok(Found::Conversation(published)) => show(&published, &path, format, &asked),
        Ok(Found::Encrypted) => encrypted(format),
        Ok(Found::Gone) => gone(format),
        Ok(Found::Unknown) => unknown(format),
        Err(error) => failed(format, &error),
    })
    .await
}

fn show(published: &Published, path: &str, format: Format, asked: &HashMap<String, String>) -> Response {
    let view = ConversationView::new(published, Standing::of(published));
    let body = match format {
        Format::Html => match asked.get("turn") {
            Some(turn) => return to_turn(&view, path, turn),
            None => match page(&view, path, asked.get("page").map(String::as_str)) {
                Ok(None) => return no_such_page_of(format),
                Ok(Some(body)) => Ok(body),
                Err(error) => Err(error),
            },
        },
        Format::Json => conversation_json(&view),
        Format::Markdown => conversation_markdown(&view),
        Format::Text => conversation_text(&view),
    };
    match body {
        Ok(body) => format.answer(StatusCode::OK, body),
        Err(error) => failed(format, &error),
    }
}

fn page(view: &ConversationView<'_>, path: &str, asked: Option<&str>) -> Result<Option<String>, crate::Error> {
    let page = match asked {
        None => Some(1),
        Some("all") => None,
        Some(page) => match page.parse() {
            Ok(page) => Some(page),
            Err(_) => return Ok(None),
        },
    };
    conversation_html(view, Place::Site { path }, page)
}

/// A fragment never reaches the server, so a link that has to work whatever the paging asks for the turn.
fn to_turn(view: &ConversationView<'_>, path: &str, rkey: &str) -> Response {
    let Some(index) = view.turns.iter().position(|turn| turn.rkey == rkey) else {
        return notice(
            Format::Html,
            StatusCode::NOT_FOUND,
            "unknown",
            "This turn is not in the conversation",
            "The conversation is here, but no turn of it has this key. The link may be incomplete.",
        );
    };
    let page = if page_count(view.turns.len()) > 1 { page_of(index) } else { 1 };
    Redirect::to(&format!("{}#{rkey}", Place::Site { path }.page(page))).into_response()
}

fn no_such_page_of(format: Format) -> Response {
    notice(format, StatusCode::NOT_FOUND, "notFound", "There is no such page", "It has fewer pages than that.")
}

/// Runs `work` where it may block.
async fn blocking(format: Format, work: impl FnOnce() -> Response + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(work).await {
        Ok(response) => response,
        Err(error) => failed(format, &error),
    }
}
