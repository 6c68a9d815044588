//! Which page stands where.

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{MethodRouter, get},
};

use super::{Site, about, answer, author, collective, conversation, home, names, search, status, turn};
use crate::{serving::guarded, style_path};

/// The site as a service.
pub fn router(site: Site) -> Router {
    let loopback_only = site.loopback_only;
    let site = Arc::new(site);
    let for_headers = Arc::clone(&site);
    let pages = Router::new()
        .route("/", get(home::page))
        .route("/index.json", get(home::json))
        .route("/index.md", get(home::markdown))
        .route("/index.txt", get(home::text))
        .route("/{owner}", get(author::short))
        .route("/{owner}/index.json", get(author::json))
        .route("/{owner}/index.md", get(author::markdown))
        .route("/{owner}/index.txt", get(author::text))
        .merge(in_every_format("/search", || get(search::page)))
        .merge(in_every_format("/about", || get(about::page)))
        .merge(in_every_format("/models", || get(names::models)))
        .merge(in_every_format("/tools", || get(names::tools)))
        .merge(in_every_format("/status", || get(status::page)))
        .merge(in_every_format("/{owner}/members", || get(collective::short)))
        .merge(in_every_format("/at/{repo}/members", || get(collective::at)))
        .route("/model/{*name}", get(names::model))
        .route("/tool/{*name}", get(names::tool))
        .route("/at/{repo}", get(author::at))
        .route("/at/{repo}/{collection}/{rkey}", get(conversation::at))
        .route("/at/{repo}/{collection}/{rkey}/{turn}", get(turn::at))
        .route("/{owner}/{rkey}", get(conversation::short))
        .route("/{owner}/{rkey}/{turn}", get(turn::short))
        .route("/style.css", get(answer::style))
        .route(&style_path(), get(answer::style_for_ever))
        .fallback(answer::no_such_page)
        .method_not_allowed_fallback(answer::only_reading)
        .with_state(Arc::clone(&site));
    guarded(pages, &site)
        .layer(middleware::from_fn_with_state(for_headers, answer::headers))
        .layer(middleware::from_fn(move |request, next| answer::loopback(loopback_only, request, next)))
}

/// A page whose suffix says in which format it is asked for.
fn in_every_format(path: &str, page: impl Fn() -> MethodRouter<Arc<Site>>) -> Router<Arc<Site>> {
    ["", ".json", ".md", ".txt"]
        .iter()
        .fold(Router::new(), |router, suffix| router.route(&format!("{path}{suffix}"), page()))
}
