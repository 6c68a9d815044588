//! What this site is, and who refers to a record or an account.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    http::Uri,
    response::Response,
};
use onrecord_index::Search;
use onrecord_record::about::named;

use super::{
    Site,
    answer::{Asked, Format, refused},
    finds::{find, no_index, target},
};
use crate::{MAX_QUESTION, render::AboutView, view::finds};

/// `/about?uri=`, and in the other formats.
pub(super) async fn page(State(site): State<Arc<Site>>, uri: Uri, asked: Asked) -> Response {
    let format = Format::of(uri.path()).1;
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    let text = asked.get("uri").map_or("", |text| text.trim());
    let mut view = AboutView { uri: text, target: None, refused: None, found: None, next: None };
    if text.is_empty() {
        return format.page(&site.host, &view);
    }
    let Some(uri) = named(text).filter(|_| text.len() <= MAX_QUESTION) else {
        view.refused = Some(
            "This leads to no record and no account. An at-uri does, a DID, a handle, or a link of bsky.app or another reader of \
             the network."
                .to_owned(),
        );
        return format.page(&site.host, &view);
    };
    let meant = match target(&site, &uri).await {
        Ok(Ok(meant)) => meant,
        Ok(Err(who)) => {
            view.refused = Some(format!(
                "Nothing is known here of an account {who}; with its DID, what refers to it can be looked for."
            ));
            return format.page(&site.host, &view);
        }
        Err(error) => return refused(&site.host, format, &error),
    };
    match find(&site, &Search::about(&meant), asked.get("after").map(String::as_str)).await {
        Ok(Some(found)) => {
            view.target = Some(meant);
            view.found = Some(finds(&found.items));
            view.next = found.cursor.as_ref().map(|cursor| cursor.as_str().to_owned());
            format.page(&site.host, &view)
        }
        Ok(None) => no_index(&site.host, format),
        Err(error) => refused(&site.host, format, &error),
    }
}
