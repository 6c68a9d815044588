//! Searching, with filters as words.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    http::Uri,
    response::Response,
};
use onrecord_index::{Error as IndexError, Search};
use onrecord_lexicon::AtIdentifier;

use super::{
    Site, SourceError,
    answer::{Asked, Format, refused},
    finds::{find, no_index, repo_of, target},
    reader::did_of,
};
use crate::{SearchWords, feed::of_search, render::SearchView, search_words::Unknown, view::finds};

/// `/search?q=`, and in the other formats.
pub(super) async fn page(State(site): State<Arc<Site>>, uri: Uri, asked: Asked) -> Response {
    show(&site, Format::of(uri.path()).1, asked).await
}

async fn show(site: &Site, format: Format, asked: Asked) -> Response {
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    let question = asked.get("q").map_or("", String::as_str);
    let mut view = SearchView::new(question);
    let words = match SearchWords::parse(question) {
        Ok(words) => words,
        Err(misread) => {
            view.refused = Some(misread.to_string());
            return format.page(&site.host, &view);
        }
    };
    view.notes.extend(words.unknown.iter().map(|name| Unknown(name).to_string()));
    if words.is_empty() {
        return format.page(&site.host, &view);
    }
    let found = match resolved(site, words).await {
        Ok(Ok(search)) => {
            view.feed = Some(of_search(&search));
            find(site, &search, asked.get("after").map(String::as_str)).await
        }
        Ok(Err(refusal)) => {
            view.refused = Some(refusal);
            return format.page(&site.host, &view);
        }
        Err(error) => Err(error),
    };
    match found {
        Ok(Some(found)) => {
            view.found = Some(finds(&found.items));
            view.next = found.cursor.as_ref().map(|cursor| cursor.as_str().to_owned());
            format.page(&site.host, &view)
        }
        Ok(None) => no_index(&site.host, format),
        Err(error) if matches!(error.downcast_ref(), Some(IndexError::EmptyQuery)) => {
            view.refused = Some(
                "Words with a minus only leave something out: give a word or a filter to look for, too.".to_owned(),
            );
            format.page(&site.host, &view)
        }
        Err(error) => refused(&site.host, format, &error),
    }
}

/// The question to the index, or in a sentence why there is none.
async fn resolved(site: &Site, words: SearchWords) -> Result<Result<Search, String>, SourceError> {
    let mut search = words.search;
    if let Some(who) = &words.author {
        match author(site, who).await? {
            Some(did) => search.author = Some(did),
            None => {
                return Ok(Err(format!(
                    "Nothing is known here of an account {who}. Its name may have changed; its DID stays the same."
                )));
            }
        }
    }
    if let Some(uri) = &words.about {
        match target(site, uri).await? {
            Ok(about) => search.about = Some(about),
            Err(who) => {
                return Ok(Err(format!(
                    "Nothing is known here of an account {who}; with its DID it can be looked for."
                )));
            }
        }
    }
    Ok(Ok(search))
}

async fn author(site: &Site, who: &AtIdentifier) -> Result<Option<onrecord_lexicon::Did>, SourceError> {
    match repo_of(who) {
        Some(repo) => did_of(site, &repo).await,
        None => Ok(None),
    }
}
