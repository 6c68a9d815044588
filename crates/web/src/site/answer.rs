//! Answers, and what every answer carries.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    CONTENT_SECURITY_POLICY, STYLE,
    render::{Notice, notice_html, notice_json},
};

/// A format a page comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Html,
    Json,
    Markdown,
    Text,
}

impl Format {
    /// Cuts a format's suffix off the last part of a path.
    pub(super) fn of(name: &str) -> (&str, Self) {
        [(".json", Self::Json), (".md", Self::Markdown), (".txt", Self::Text)]
            .into_iter()
            .find_map(|(suffix, format)| Some((name.strip_suffix(suffix)?, format)))
            .unwrap_or((name, Self::Html))
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Json => "application/json",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Text => "text/plain; charset=utf-8",
        })
    }

    pub(super) fn answer(self, status: StatusCode, body: String) -> Response {
        (status, [(header::CONTENT_TYPE, self.content_type())], body).into_response()
    }
}

/// Says that there is no page to show, in the format that was asked for.
pub(super) fn notice(
    format: Format,
    status: StatusCode,
    code: &'static str,
    title: &'static str,
    text: &str,
) -> Response {
    let notice = Notice { code, title, text: text.to_owned() };
    let body = match format {
        Format::Html => notice_html(&notice).unwrap_or_else(|error| {
            tracing::error!(%error, "a notice could not be laid out");
            format!("{title}. {text}")
        }),
        Format::Json => notice_json(&notice),
        Format::Markdown | Format::Text => format!("{title}. {text}\n"),
    };
    format.answer(status, body)
}

pub(super) fn unknown(format: Format) -> Response {
    notice(
        format,
        StatusCode::NOT_FOUND,
        "unknown",
        "Nothing is known of this conversation",
        "There is no conversation at this address, or it is not one that this site keeps. The link may be incomplete.",
    )
}

pub(super) fn encrypted(format: Format) -> Response {
    notice(
        format,
        StatusCode::FORBIDDEN,
        "encrypted",
        "This conversation is encrypted",
        "Its author published it for those who have its link. The key stands in the link after the #, which no browser sends \
         to a server: with the whole link, `onrecord show` reads it, and so does the site that the link names.",
    )
}

pub(super) fn gone(format: Format) -> Response {
    notice(
        format,
        StatusCode::GONE,
        "gone",
        "This conversation was taken back",
        "Its author removed it from the record. It is no longer shown here in any form.",
    )
}

/// The source failed: the log says how, the reader is told that it is not their doing.
pub(super) fn failed(format: Format, error: &dyn std::fmt::Display) -> Response {
    tracing::error!(%error, "a page could not be made");
    notice(
        format,
        StatusCode::INTERNAL_SERVER_ERROR,
        "failed",
        "This page could not be made",
        "Something went wrong on this side; the log says what. The conversation itself is not changed by it. Try again in a moment.",
    )
}

pub(super) async fn no_such_page() -> Response {
    notice(
        Format::Html,
        StatusCode::NOT_FOUND,
        "notFound",
        "There is no such page",
        "Nothing stands at this address. The link may be incomplete.",
    )
}

pub(super) async fn only_reading() -> Response {
    notice(
        Format::Html,
        StatusCode::METHOD_NOT_ALLOWED,
        "methodNotAllowed",
        "This site is for reading",
        "It answers GET and HEAD, and changes nothing.",
    )
}

fn stylesheet(cache: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, cache)], STYLE).into_response()
}

/// Under the name of its content, which never changes.
pub(super) async fn style_for_ever() -> Response {
    stylesheet("public, max-age=31536000, immutable")
}

/// Under its plain name.
pub(super) async fn style() -> Response {
    stylesheet("no-cache")
}

/// What every answer says to the browser. A conversation is never kept by a cache, so that taking it back is at once.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses requests that name another host, where only loopback names are answered.
pub(super) async fn loopback(only: bool, request: Request<Body>, next: Next) -> Response {
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| request.uri().authority().map(axum::http::uri::Authority::as_str));
    if only && !host.is_some_and(is_loopback) {
        return notice(
            Format::Text,
            StatusCode::MISDIRECTED_REQUEST,
            "misdirected",
            "This site is for this machine only",
            "It answers to localhost and to loopback addresses.",
        );
    }
    next.run(request).await
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
