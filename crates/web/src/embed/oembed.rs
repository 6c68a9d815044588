//! `/oembed`: what a page of another site needs to show a conversation (oEmbed 1.0).

use std::collections::HashMap;

use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use onrecord_lexicon::{AtUri, Handle};
use onrecord_record::{aligned::SESSION, tiles::SNAPSHOT};
use serde_json::json;

use super::{Embeds, HEIGHT, WIDTH};
use crate::{
    card,
    doors::{NO_PAGE, open_to_all, plain, refused},
    html::escape,
    path_of_account,
    xrpc::XrpcError,
};

/// Narrower or lower, nothing could be read.
const LEAST: u32 = 200;

pub(super) async fn answer(
    State(embeds): State<Embeds>,
    asked: Result<Query<HashMap<String, String>>, QueryRejection>,
) -> Response {
    let Ok(Query(asked)) = asked else { return plain(StatusCode::BAD_REQUEST, "the query cannot be read") };
    if asked.get("format").is_some_and(|format| format != "json") {
        return plain(StatusCode::NOT_IMPLEMENTED, "only format=json is answered");
    }
    let Some(base) = embeds.host.base_url.as_deref() else {
        return plain(StatusCode::NOT_FOUND, "this site does not know under which address it is reached");
    };
    let path = asked.get("url").and_then(|url| url.strip_prefix(base)).filter(|path| path.starts_with('/'));
    let Some(path) = path else { return plain(StatusCode::NOT_FOUND, "the url is none of this site") };
    match found(&embeds, path).await {
        Ok(Some((head, uri))) => {
            let side = |name: &str, most: u32| {
                let max = asked.get(name).and_then(|max| max.parse::<u32>().ok()).unwrap_or(most);
                max.min(most).max(LEAST)
            };
            let (width, height) = (side("maxwidth", WIDTH), side("maxheight", HEIGHT));
            let card = card::Card::new(&head, embeds.host.name());
            let title = card.title.as_ref().unwrap_or(&card.instead);
            let handle = head.author.handle.as_ref().map(Handle::as_str);
            let at = uri.as_str().trim_start_matches("at://").replace('%', "%25");
            let mut quoted = String::new();
            // Writing to a string cannot fail.
            let _ = escape(&mut quoted, title);
            let frame = format!(
                "<iframe src=\"{base}/embed/{at}\" title=\"{quoted}\" width=\"{width}\" height=\"{height}\" loading=\"lazy\" \
                 sandbox=\"allow-popups allow-popups-to-escape-sandbox\" style=\"border:0;max-width:100%\"></iframe>"
            );
            let answer = json!({
                "version": "1.0", "type": "rich", "title": title,
                "author_name": card.display_name.as_deref().unwrap_or(&card.account),
                "author_url": format!("{base}{}", path_of_account(head.author.did.as_str(), handle)),
                "provider_name": embeds.host.name(), "provider_url": base,
                "thumbnail_url": format!("{base}/card/{at}.png"),
                "thumbnail_width": card::WIDTH, "thumbnail_height": card::HEIGHT,
                "html": frame, "width": width, "height": height,
            });
            let answer = ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response();
            open_to_all(answer, "no-cache", NO_PAGE)
        }
        Ok(None) => plain(StatusCode::NOT_FOUND, "the url leads to no conversation"),
        Err(error) => refused(&error),
    }
}

/// The conversation that the page at `path` shows: its own, or that of a turn of it.
async fn found(embeds: &Embeds, path: &str) -> Result<Option<(onrecord_index::ConversationHead, AtUri)>, XrpcError> {
    let path = path.split(['?', '#']).next().unwrap_or_default().replace("%25", "%");
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let candidates: Vec<String> = match parts.as_slice() {
        ["at", repo, collection, rkey, ..] => vec![format!("at://{repo}/{collection}/{rkey}")],
        // A short address does not say which family it is of.
        [owner, rkey] | [owner, rkey, _] if owner.starts_with('@') => {
            let who = owner.trim_start_matches('@');
            [SESSION, SNAPSHOT].iter().map(|collection| format!("at://{who}/{collection}/{rkey}")).collect()
        }
        _ => Vec::new(),
    };
    let mut refusal = None;
    for candidate in candidates {
        let Ok(uri) = AtUri::parse(&candidate) else { continue };
        match embeds.xrpc.head(&uri).await {
            Ok(head) => {
                let uri = AtUri::of_record(&head.address.did, &head.address.collection, &head.address.rkey);
                return Ok(Some((head, uri)));
            }
            // What is gone under one name is gone, whatever is not known under the other.
            Err(error) if refusal.is_none() || error.status() == 410 => refusal = Some(error),
            Err(_) => {}
        }
    }
    refusal.map_or(Ok(None), Err)
}
