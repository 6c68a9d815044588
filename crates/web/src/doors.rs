//! How what stands beside the pages answers: queries, feeds, cards, and what others embed.

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::xrpc::XrpcError;

/// The policy of what is no page.
pub(crate) const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'";
/// When to ask again where the index is away for a moment, in seconds.
pub(crate) const RETRY_AFTER: &str = "5";

/// An answer that any web page may read, kept by caches as `kept` says. What may be listed, only the pages are.
pub(crate) fn open_to_all(mut response: Response, kept: &'static str, policy: &'static str) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::CACHE_CONTROL, kept),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Words for who knows no XRPC. They are asked for again each time, so that what was taken back is gone at once.
pub(crate) fn plain(status: StatusCode, words: &str) -> Response {
    open_to_all((status, format!("{words}\n")).into_response(), "no-cache", NO_PAGE)
}

/// Why there is no answer, for who knows no XRPC.
pub(crate) fn refused(error: &XrpcError) -> Response {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    when_to_retry(plain(status, error.message()))
}

/// Says when to ask again, where that is of use.
pub(crate) fn when_to_retry(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER));
    }
    response
}
