//! The review's stylesheet and script, named after their content.

use axum::{
    Router,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};

use crate::render::{STYLE, hash};

const REVIEW_STYLE: &str = include_str!("../../assets/review.css");
const SCRIPT: &str = include_str!("../../assets/review.js");

/// Where the stylesheet is: that of the reading pages, and what the review has besides.
pub(super) fn style_path() -> String {
    format!("/review-{:016x}.css", hash(STYLE) ^ hash(REVIEW_STYLE))
}

/// Where the script is.
pub(super) fn script_path() -> String {
    format!("/review-{:016x}.js", hash(SCRIPT))
}

/// Whether that is one of them: they hold nothing of anybody's.
pub(super) fn is_one(path: &str) -> bool {
    path == style_path() || path == script_path()
}

/// Both, as a service.
pub fn assets() -> Router {
    Router::new()
        .route(&style_path(), get(async || asset("text/css; charset=utf-8", format!("{STYLE}\n{REVIEW_STYLE}"))))
        .route(&script_path(), get(async || asset("text/javascript; charset=utf-8", SCRIPT.to_owned())))
}

fn asset(kind: &'static str, content: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], content).into_response()
}
