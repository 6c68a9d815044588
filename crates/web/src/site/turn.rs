//! The page of one turn.

use std::sync::Arc;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    response::{IntoResponse, Redirect, Response},
};
use onrecord_lexicon::Rkey;

use super::{
    Address, Site,
    answer::{Format, no_such_turn, refused, unknown},
    conversation::{address_at, address_short, kept_with, no_page},
    live::checked,
    reader::{Read, Wanted, read},
};
use crate::{path_in, render::TurnPage};

/// `/at/{did or handle}/{collection}/{rkey}/{turn}`.
pub(super) async fn at(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String, String, String)>, PathRejection>,
) -> Response {
    let Ok(Path((repo, collection, rkey, name))) = path else { return unknown(&site.host, Format::Html) };
    show(site, address_at(&repo, &collection, &rkey), &name).await
}

/// `/@{handle}/{rkey}/{turn}`.
pub(super) async fn short(
    State(site): State<Arc<Site>>,
    path: Result<Path<(String, String, String)>, PathRejection>,
) -> Response {
    let Ok(Path((owner, rkey, name))) = path else { return unknown(&site.host, Format::Html) };
    show(site, address_short(&owner, &rkey), &name).await
}

async fn show(site: Arc<Site>, address: Option<(Address, String)>, name: &str) -> Response {
    let (turn, format) = Format::of(name);
    let Some(((address, path), turn)) = address.zip(Rkey::parse(turn).ok()) else {
        return unknown(&site.host, format);
    };
    match read(&site, &address, &Wanted::Around(turn.clone())).await {
        Ok(Read::Here(mut loaded)) => {
            loaded.checked = checked(&site, &loaded).await;
            match TurnPage::new(loaded.view(), turn.as_str(), &path) {
                Some(page) => kept_with(loaded.depends.clone(), format.page(&site.host, &page)),
                None => no_such_turn(&site.host, format),
            }
        }
        Ok(Read::TurnOf(of)) => {
            let path = path_in(of.did.as_str(), None, of.collection.as_str(), of.rkey.as_str());
            Redirect::to(&format!("{path}/{turn}")).into_response()
        }
        Ok(other) => no_page(&site.host, format, &other),
        Err(error) => refused(&site.host, format, &error),
    }
}
