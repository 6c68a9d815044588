//! The page of a conversation.

use std::{collections::HashMap, sync::Arc};

use axum::{
    extract::{Path, Query, State, rejection::PathRejection},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use onrecord_lexicon::{Handle, Nsid, Rkey};

use super::{
    Address, Host, Repo, Site,
    answer::{
        Asked, Format, encrypted, failed, gone, hidden, no_such_page_of, no_such_turn, refused, too_long, unknown,
    },
    escaped,
    live::checked,
    reader::{Loaded, Read, Wanted, read, repo_of},
};
use crate::{
    Place, conversation_html, conversation_json, conversation_markdown, conversation_text, path_in, render::SealedPage,
    serving::Depends,
};

/// `/at/{did or handle}/{collection}/{rkey}`, as in an at-uri.
pub(super) async fn at(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String, String)>, PathRejection>,
    asked: Asked,
) -> Response {
    let Ok(Path((repo, collection, name))) = path else { return unknown(&site.host, Format::Html) };
    let (rkey, format) = Format::of(&name);
    match address_at(&repo, &collection, rkey) {
        Some((address, path)) => show(site, address, path, format, asked).await,
        None => unknown(&site.host, format),
    }
}

/// `/@{handle}/{rkey}`, for people.
pub(super) async fn short(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String)>, PathRejection>,
    asked: Asked,
) -> Response {
    let Ok(Path((owner, name))) = path else { return unknown(&site.host, Format::Html) };
    let (rkey, format) = Format::of(&name);
    match address_short(&owner, rkey) {
        Some((address, path)) => show(site, address, path, format, asked).await,
        None => unknown(&site.host, format),
    }
}

/// The address that a path of four parts names, and that path.
pub(super) fn address_at(repo: &str, collection: &str, rkey: &str) -> Option<(Address, String)> {
    let (collection, rkey) = (Nsid::parse(collection).ok()?, Rkey::parse(rkey).ok()?);
    let path = format!("/at/{}/{collection}/{rkey}", escaped(repo));
    Some((Address { repo: repo_of(repo)?, collection: Some(collection), rkey }, path))
}

/// The address that a path of two parts names, and that path.
pub(super) fn address_short(owner: &str, rkey: &str) -> Option<(Address, String)> {
    let (handle, rkey) = (Handle::parse(owner.strip_prefix('@')?).ok()?, Rkey::parse(rkey).ok()?);
    let path = format!("/@{handle}/{rkey}");
    Some((Address { repo: Repo::Handle(handle), collection: None, rkey }, path))
}

async fn show(site: Arc<Site>, address: Address, path: String, format: Format, asked: Asked) -> Response {
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    // A fragment never reaches the server, so a link that has to work whatever the paging asks for the turn.
    if let (Format::Html, Some(turn)) = (format, asked.get("turn")) {
        return match Rkey::parse(turn) {
            Ok(turn) => Redirect::to(&format!("{path}/{turn}")).into_response(),
            Err(_) => no_such_turn(&site.host, format),
        };
    }
    let Some(wanted) = wanted(format, &asked) else { return no_such_page_of(&site.host, format) };
    let found = match read(&site, &address, &wanted).await {
        Ok(found) => found,
        Err(error) => return refused(&site.host, format, &error),
    };
    match found {
        Read::Here(mut loaded) => {
            loaded.checked = checked(&site, &loaded).await;
            let for_page = Arc::clone(&site);
            let depends = loaded.depends.clone();
            let page = move || body(&for_page.host, &loaded, &path, format, &wanted);
            match tokio::task::spawn_blocking(page).await {
                Ok(Ok(Some(body))) => kept_with(depends, format.answer(StatusCode::OK, body)),
                Ok(Ok(None)) => no_such_page_of(&site.host, format),
                Ok(Err(error)) => failed(&site.host, format, &error),
                Err(error) => failed(&site.host, format, &error),
            }
        }
        Read::TurnOf(of) => {
            let path = path_in(of.did.as_str(), None, of.collection.as_str(), of.rkey.as_str());
            Redirect::to(&format!("{path}/{}", address.rkey)).into_response()
        }
        other => no_page(&site.host, format, &other),
    }
}

/// Says of an answer what it was made of.
pub(super) fn kept_with(depends: Option<Depends>, mut response: Response) -> Response {
    if let Some(depends) = depends {
        response.extensions_mut().insert(depends);
    }
    response
}

/// Why there is no page, where there is none.
pub(super) fn no_page(host: &Host, format: Format, found: &Read) -> Response {
    match found {
        Read::Encrypted(Some(sealed)) => {
            let page = SealedPage { uri: &sealed.uri, sealed: &sealed.text };
            format.page(host, &page)
        }
        Read::Encrypted(None) => encrypted(host, format),
        Read::Gone => gone(host, format),
        Read::Hidden(why) => hidden(host, format, "conversation", why),
        Read::NoSuchPage => no_such_page_of(host, format),
        Read::NoSuchTurn => no_such_turn(host, format),
        Read::TooLong => too_long(host, format),
        Read::Unknown | Read::Here(_) | Read::TurnOf(_) => unknown(host, format),
    }
}

/// The page is one of many, the other formats are whole where nothing else is asked for. `None` of a page that is no number.
fn wanted(format: Format, asked: &HashMap<String, String>) -> Option<Wanted> {
    match (asked.get("page").map(String::as_str), format) {
        (None, Format::Html) => Some(Wanted::Page(1)),
        (None | Some("all"), _) => Some(Wanted::Whole),
        (Some(page), _) => page.parse().ok().map(Wanted::Page),
    }
}

fn body(
    host: &Host,
    loaded: &Loaded,
    path: &str,
    format: Format,
    wanted: &Wanted,
) -> Result<Option<String>, crate::Error> {
    let mut view = loaded.view();
    let page = if let Wanted::Page(page) = wanted { Some(*page) } else { None };
    if format == Format::Html {
        return conversation_html(&view, Place::Site { path, host }, page);
    }
    if let Some(page) = page
        && !view.keep_page(page)
    {
        return Ok(None);
    }
    match format {
        Format::Json => conversation_json(&view),
        Format::Text => conversation_text(&view),
        Format::Markdown | Format::Html => conversation_markdown(&view),
    }
    .map(Some)
}
