//! The small view: a title, whose it is, how much of it there is, and the way to the whole.

use askama::Template;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use onrecord_lexicon::AtUri;

use super::Embeds;
use crate::{
    card::Card,
    doors::{open_to_all, plain, refused},
    html::Line,
    marks::with_few_marks,
    model_name, path_in,
    render::turns_and_withheld,
    style_path,
};

/// It may be framed by anybody; that is what it is for.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

#[derive(Template)]
#[template(path = "embed.html")]
struct Small<'a> {
    style: String,
    site: &'a str,
    title: Line<&'a str>,
    /// The page of the whole.
    page: String,
    by: String,
    tally: String,
}

fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

pub(super) async fn answer(
    State(embeds): State<Embeds>,
    path: Result<Path<(String, String, String)>, PathRejection>,
) -> Response {
    let uri = path.ok().and_then(|Path((repo, collection, rkey))| {
        AtUri::parse(&format!("at://{}/{collection}/{rkey}", repo.trim_start_matches('@'))).ok()
    });
    let Some(uri) = uri else {
        return plain(StatusCode::NOT_FOUND, "there is no conversation at this address");
    };
    let head = match embeds.xrpc.head(&uri).await {
        Ok(head) => head,
        Err(error) => return refused(&error),
    };
    let card = Card::new(&head, embeds.host.name());
    let name = card.display_name.as_ref().map(|name| format!("{name} · ")).unwrap_or_default();
    let mut tally = turns_and_withheld(count(head.turns), count(head.withheld));
    for (n, model) in head.models.iter().enumerate() {
        tally.push_str(if n == 0 { " · " } else { ", " });
        tally.push_str(&model_name(model));
    }
    let address = &head.address;
    let small = Small {
        style: style_path(),
        site: embeds.host.name(),
        title: Line(card.title.as_deref().unwrap_or(&card.instead)),
        page: path_in(address.did.as_str(), None, address.collection.as_str(), address.rkey.as_str()),
        by: format!("{name}{}", card.account),
        tally,
    };
    match small.render() {
        Ok(html) => {
            let page = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
            let page = (page, with_few_marks(html)).into_response();
            open_to_all(page, "no-cache", POLICY)
        }
        Err(error) => refused(&crate::xrpc::XrpcError::failed(error)),
    }
}
