//! Which page stands where.

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{MethodRouter, get},
};

use super::{Site, about, answer, author, collective, conversation, home, live, names, search, status, turn};
use crate::{
    render::{CIPHER_PATH, open_path},
    script_path,
    serving::guarded,
    style_path,
};

/// The site as a service.
pub fn router(mut site: Site) -> Router {
    site.host.is_live = site.live.is_some();
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
        .route("/at/{repo}/{collection}/{rkey}/verify", get(live::verify_at))
        .route("/at/{repo}/{collection}/{rkey}/verify.json", get(live::verify_at_json))
        .route("/{owner}/{rkey}/verify", get(live::verify_short))
        .route("/{owner}/{rkey}/verify.json", get(live::verify_short_json))
        .route("/at/{repo}/{collection}/{rkey}/{turn}/about/{n}", get(live::about_at))
        .route("/{owner}/{rkey}/{turn}/about/{n}", get(live::about_short))
        .route(&script_path(), get(answer::script))
        .route(&open_path(), get(answer::open))
        .route(CIPHER_PATH, get(answer::cipher))
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
