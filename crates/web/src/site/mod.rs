//! The reading site: pages by address, each in four formats.

mod answer;
mod pages;

use std::sync::Arc;

use axum::{Router, middleware, routing::get};
use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use onrecord_record::{Family, Published};

use crate::{ListEntry, style_path};

/// How many conversations a page of the list shows.
pub const LIST_PAGE: usize = 50;

/// Why a source could not answer; it is logged, and the reader is told that it happened.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Gives `limit` entries of the list from `offset` on, newest first.
pub type ListSource = dyn Fn(usize, usize) -> Result<ListSlice, SourceError> + Send + Sync;

/// Finds the conversation whose session record has this address.
pub type FindSource = dyn Fn(&Address) -> Result<Found, SourceError> + Send + Sync;

/// What a site shows. Both sources may block: they are called where blocking is allowed.
pub struct Site {
    /// The list of conversations.
    pub list: Box<ListSource>,
    /// One conversation.
    pub find: Box<FindSource>,
    /// Whether only requests for a loopback name are answered. Set it where the site listens on loopback and shows
    /// what is not public: otherwise any web page could read it by giving its own name a loopback address.
    pub loopback_only: bool,
}

/// A stretch of the list.
#[derive(Debug, Clone, Default)]
pub struct ListSlice {
    /// The entries asked for, newest first.
    pub entries: Vec<ListEntry>,
    /// How many there are in all.
    pub total: usize,
}

/// The address of a session record, or of the one record a conversation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whose repository.
    pub repo: Repo,
    /// Which collection; the short addresses do not say.
    pub collection: Option<Nsid>,
    /// Which record.
    pub rkey: Rkey,
}

/// A repository, by either of its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repo {
    /// By its identifier.
    Did(Did),
    /// By the handle of its owner.
    Handle(Handle),
}

/// What is known of an address.
#[derive(Debug, Clone)]
pub enum Found {
    /// The conversation.
    Conversation(Box<Published>),
    /// It is here, and only its link opens it, which no server sees whole.
    Encrypted,
    /// It was here and its author took it back.
    Gone,
    /// Nothing.
    Unknown,
}

/// Path of a conversation on a site: `/@handle/rkey` where the handle is known, else `/at/did/collection/rkey`.
#[must_use]
pub fn path_of(repo: &str, handle: Option<&str>, family: Family, rkey: &str) -> String {
    match handle {
        Some(handle) => format!("/@{handle}/{rkey}"),
        None => format!("/at/{}/{}/{rkey}", escaped(repo), family.collection()),
    }
}

/// A DID may hold `%`, which in a path has to be written out.
fn escaped(repo: &str) -> String {
    repo.replace('%', "%25")
}

/// The site as a service.
pub fn router(site: Site) -> Router {
    let loopback_only = site.loopback_only;
    Router::new()
        .route("/", get(pages::list))
        .route("/index.json", get(pages::list_json))
        .route("/at/{repo}/{collection}/{rkey}", get(pages::at))
        .route("/{owner}/{rkey}", get(pages::short))
        .route("/style.css", get(answer::style))
        .route(&style_path(), get(answer::style_for_ever))
        .fallback(answer::no_such_page)
        .method_not_allowed_fallback(answer::only_reading)
        .layer(middleware::from_fn(answer::headers))
        .layer(middleware::from_fn(move |request, next| answer::loopback(loopback_only, request, next)))
        .with_state(Arc::new(site))
}

#[cfg(test)]
mod tests;
