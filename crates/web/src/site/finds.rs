//! What the index finds, without what was taken back from here: for search, backlinks, models and tools.

use axum::response::Response;
use onrecord_index::{Cursor, Hit, Page, Search};
use onrecord_lexicon::{AtIdentifier, AtUri};

use super::{
    Host, Known, Repo, Site, SourceError,
    answer::{Format, notice},
    reader::did_of,
};

/// How many finds a page shows.
const FINDS: u32 = 25;

/// The finds of `search` that follow `after`; nothing where nothing is asked. `Ok(None)` where this site keeps no index.
pub(super) async fn find(site: &Site, search: &Search, after: Option<&str>) -> Result<Option<Page<Hit>>, SourceError> {
    let Some(index) = &site.index else { return Ok(None) };
    let mut page = index.search(search, after.map(Cursor::from_text).as_ref(), FINDS).await?;
    if let Some(own) = &site.own {
        // The ledger knows first what its author took back.
        let places: Vec<_> = page
            .items
            .iter()
            .map(|hit| hit.conversation.as_ref().unwrap_or(&hit.address))
            .map(|place| (place.did.clone(), place.rkey.clone()))
            .collect();
        let mut known = own.ask(move |own| (own.know)(&places)).await?.into_iter();
        page.items.retain(|_| known.next() != Some(Known::Gone));
    }
    Ok(Some(page))
}

/// What is referred to, as the index has it: an account by its DID, a record under its account's. A handle that nobody here has
/// is given back as it is.
pub(super) async fn target(site: &Site, uri: &AtUri) -> Result<Result<String, String>, SourceError> {
    let did = match AtIdentifier::parse(uri.authority()).ok().and_then(|who| repo_of(&who)) {
        Some(repo) => did_of(site, &repo).await?,
        None => None,
    };
    let Some(did) = did else { return Ok(Err(uri.authority().to_owned())) };
    let place = uri.as_str().strip_prefix("at://").and_then(|rest| rest.split_once('/'));
    Ok(Ok(place.map_or_else(|| did.to_string(), |(_, place)| format!("at://{did}/{place}"))))
}

pub(super) fn repo_of(who: &AtIdentifier) -> Option<Repo> {
    super::reader::repo_of(who.as_str())
}

/// Says that this site has nothing to look in.
pub(super) fn no_index(host: &Host, format: Format) -> Response {
    notice(
        host,
        format,
        axum::http::StatusCode::NOT_FOUND,
        "noIndex",
        "There is nothing to search here",
        "This site shows what is on record from one machine, and keeps no index of it.",
    )
}
