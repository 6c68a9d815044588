//! The first page: what was put on record last.

use std::{collections::HashMap, sync::Arc};

use axum::{
    extract::{Query, State},
    response::Response,
};
use onrecord_index::Recent;

use super::{
    Site,
    answer::{Asked, Format, no_such_page_of, refused},
    listing::{After, list},
};
use crate::render::HomeView;

pub(super) async fn page(State(site): State<Arc<Site>>, asked: Asked) -> Response {
    show(Format::Html, &site, asked).await
}

pub(super) async fn json(State(site): State<Arc<Site>>, asked: Asked) -> Response {
    show(Format::Json, &site, asked).await
}

pub(super) async fn markdown(State(site): State<Arc<Site>>, asked: Asked) -> Response {
    show(Format::Markdown, &site, asked).await
}

pub(super) async fn text(State(site): State<Arc<Site>>, asked: Asked) -> Response {
    show(Format::Text, &site, asked).await
}

async fn show(format: Format, site: &Site, asked: Asked) -> Response {
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    let Some(after) = after(&asked) else { return no_such_page_of(&site.host, format) };
    match list(site, &Recent::All, &after).await {
        Ok(slice) => {
            let view = HomeView {
                conversations: &slice.entries,
                next: slice.next,
                is_first: after == After::START,
                has_index: site.index.is_some(),
                has_own: site.own.is_some(),
            };
            format.page(&site.host, &view)
        }
        Err(error) => refused(&site.host, format, &error),
    }
}

/// Where the list goes on, as the address says; `None` if it says nothing that can be read.
pub(super) fn after(asked: &HashMap<String, String>) -> Option<After> {
    asked.get("after").map_or(Some(After::START), |text| After::parse(text))
}
