//! The small view: a title, whose it is, how much of it there is, and the way to the whole.

use askama::Template;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use onrecord_lexicon::AtUri;

use super::{Embeds, oembed::refused, plain, with_headers};
use crate::{card::Card, html::Line, style_path};

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

pub(super) async fn answer(
    State(embeds): State<Embeds>,
    path: Result<Path<(String, String, String)>, PathRejection>,
) -> Response {
    let uri = path.ok().and_then(|Path((repo, collection, rkey))| {
        AtUri::parse(&format!("at://{}/{collection}/{rkey}", repo.trim_start_matches('@'))).ok()
    });
    let Some(uri) = uri else {
        return plain(StatusCode::NOT_FOUND, "there is no conversation at this address\n".into());
    };
    let head = match embeds.xrpc.head(&uri).await {
        Ok(head) => head,
        Err(error) => return refused(&error),
    };
    let card = Card::new(&head, embeds.host.name());
    let name = card.display_name.as_ref().map(|name| format!("{name} · ")).unwrap_or_default();
    let mut tally = card.counts();
    if card.withheld > 0 {
        tally.push_str(&format!(", {} off the record", card.withheld));
    }
    if !card.models.is_empty() {
        tally.push_str(&format!(" · {}", card.models.join(", ")));
    }
    let address = &head.address;
    let small = Small {
        style: style_path(),
        site: embeds.host.name(),
        title: Line(card.title.as_deref().unwrap_or("A conversation on the record")),
        page: format!("/at/{}/{}/{}", address.did.as_str().replace('%', "%25"), address.collection, address.rkey),
        by: format!("{name}{}", card.account),
        tally,
    };
    match small.render() {
        Ok(html) => with_headers(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(), POLICY),
        Err(error) => refused(&crate::xrpc::XrpcError::failed(error)),
    }
}
