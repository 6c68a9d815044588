//! The conversations of one account.

use std::sync::Arc;

use axum::{
    extract::{Path, Query, State, rejection::PathRejection},
    response::Response,
};
use onrecord_index::{Hidden, Profile, Recent, Subject};
use onrecord_lexicon::Handle;

use super::{
    Repo, Site, SourceError,
    answer::{Asked, Format, failed, hidden, no_such_page, no_such_page_of, unknown_author},
    escaped,
    home::after,
    listing::list,
    reader::{did_of, repo_of},
};
use crate::{ListView, render::ListAt, view::author_of};

type Named = Result<Path<String>, PathRejection>;

/// `/@{handle}`.
pub(super) async fn short(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    by_handle(Format::Html, &site, path, asked).await
}

/// `/@{handle}/index.json`, and the like.
pub(super) async fn json(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    by_handle(Format::Json, &site, path, asked).await
}

pub(super) async fn markdown(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    by_handle(Format::Markdown, &site, path, asked).await
}

pub(super) async fn text(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    by_handle(Format::Text, &site, path, asked).await
}

/// `/at/{did or handle}`.
pub(super) async fn at(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    match path.ok().and_then(|Path(repo)| repo_of(&repo)) {
        Some(repo) => show(Format::Html, &site, &repo, asked).await,
        None => no_such_page(State(site)).await,
    }
}

async fn by_handle(format: Format, site: &Arc<Site>, path: Named, asked: Asked) -> Response {
    let handle = path.ok().and_then(|Path(owner)| Handle::parse(owner.strip_prefix('@')?).ok());
    match handle {
        Some(handle) => show(format, site, &Repo::Handle(handle), asked).await,
        None => no_such_page(State(Arc::clone(site))).await,
    }
}

async fn show(format: Format, site: &Site, repo: &Repo, asked: Asked) -> Response {
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    let Some(after) = after(&asked) else { return no_such_page_of(&site.host, format) };
    match found(site, repo, &after).await {
        Ok(Some(Found::Hidden(why))) => hidden(&site.host, format, "account", &why),
        Ok(Some(Found::Here(did, slice))) => {
            let handle = match repo {
                Repo::Handle(handle) => Some(handle.to_string()),
                Repo::Did(_) => slice.entries.iter().find_map(|entry| entry.handle.clone()),
            };
            let path = handle.as_ref().map_or_else(|| format!("/at/{}", escaped(&did)), |handle| format!("/@{handle}"));
            let profile = Profile {
                display_name: slice.entries.iter().find_map(|entry| entry.display_name.clone()),
                ..Profile::default()
            };
            let author = author_of(&did, handle.as_deref(), &profile);
            let view = ListView { author: Some(author), conversations: &slice.entries, next: slice.next };
            format.page(&site.host, &ListAt { view, path: &path })
        }
        Ok(None) => unknown_author(&site.host, format),
        Err(error) => failed(&site.host, format, &error),
    }
}

/// What is known of an account.
enum Found {
    /// What it published.
    Here(String, super::listing::Slice),
    /// This site does not show it.
    Hidden(Hidden),
}

async fn found(site: &Site, repo: &Repo, after: &super::listing::After) -> Result<Option<Found>, SourceError> {
    let Some(did) = did_of(site, repo).await? else { return Ok(None) };
    let slice = list(site, &Recent::By(did.clone()), after).await?;
    if !slice.entries.is_empty() {
        return Ok(Some(Found::Here(did.to_string(), slice)));
    }
    Ok(match &site.index {
        Some(index) => index.hides(&Subject::Account(did)).await?.map(Found::Hidden),
        None => None,
    })
}
