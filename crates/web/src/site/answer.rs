//! Answers, and what every answer carries.

use std::{collections::HashMap, sync::Arc};

use axum::{
    body::Body,
    extract::{Query, Request, State, rejection::QueryRejection},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use onrecord_index::{Error as IndexError, Hidden};

use super::{Host, Site, SourceError};
use crate::{
    CONTENT_SECURITY_POLICY, Error, SCRIPT, STYLE,
    doors::when_to_retry,
    marks::with_few_marks,
    render::{CIPHER, Notice, OPEN, Rendered},
};

/// What stands after the `?`.
pub(super) type Asked = Result<Query<HashMap<String, String>>, QueryRejection>;

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

    /// A view in this format.
    pub(super) fn body(self, host: &Host, view: &impl Rendered) -> Result<String, Error> {
        match self {
            Self::Html => view.html(host).map(with_few_marks),
            Self::Json => view.json(),
            Self::Markdown => view.markdown(),
            Self::Text => view.text(),
        }
    }

    /// The page of a view.
    pub(super) fn page(self, host: &Host, view: &impl Rendered) -> Response {
        match self.body(host, view) {
            Ok(body) => self.answer(StatusCode::OK, body),
            Err(error) => failed(host, self, &error),
        }
    }

    pub(super) fn answer(self, status: StatusCode, body: String) -> Response {
        (status, [(header::CONTENT_TYPE, self.content_type())], body).into_response()
    }
}

/// Says that there is no page to show, in the format that was asked for.
pub(super) fn notice(
    host: &Host,
    format: Format,
    status: StatusCode,
    code: &'static str,
    title: &'static str,
    text: &str,
) -> Response {
    let notice = Notice { code, title, text: text.to_owned() };
    let body = format.body(host, &notice).unwrap_or_else(|error| {
        tracing::error!(%error, "a notice could not be laid out");
        format!("{title}. {text}")
    });
    format.answer(status, body)
}

pub(super) fn unknown(host: &Host, format: Format) -> Response {
    notice(
        host,
        format,
        StatusCode::NOT_FOUND,
        "unknown",
        "Nothing is known of this conversation",
        "There is no conversation at this address, or it is not one that this site keeps. The link may be incomplete.",
    )
}

pub(super) fn unknown_author(host: &Host, format: Format) -> Response {
    notice(
        host,
        format,
        StatusCode::NOT_FOUND,
        "unknown",
        "Nothing is known of this account",
        "This site keeps no conversation of an account of this name. The name may have changed hands, or the link may be \
         incomplete.",
    )
}

pub(super) fn no_such_turn(host: &Host, format: Format) -> Response {
    notice(
        host,
        format,
        StatusCode::NOT_FOUND,
        "unknown",
        "This turn is not in the conversation",
        "The conversation is here, but no turn of it has this key. The link may be incomplete.",
    )
}

pub(super) fn too_long(host: &Host, format: Format) -> Response {
    notice(
        host,
        format,
        StatusCode::PAYLOAD_TOO_LARGE,
        "tooLong",
        "This conversation is too long for one document",
        "It can be read by pages: add ?page=1 to the address, and go on from there.",
    )
}

pub(super) fn no_such_page_of(host: &Host, format: Format) -> Response {
    notice(host, format, StatusCode::NOT_FOUND, "notFound", "There is no such page", "It has fewer pages than that.")
}

pub(super) fn encrypted(host: &Host, format: Format) -> Response {
    notice(
        host,
        format,
        StatusCode::FORBIDDEN,
        "encrypted",
        "This conversation is encrypted",
        "Its author published it for those who have its link. The key stands in the link after the #, which no browser sends \
         to a server: with the whole link, `onrecord show` reads it, and so does the site that the link names.",
    )
}

pub(super) fn gone(host: &Host, format: Format) -> Response {
    notice(
        host,
        format,
        StatusCode::GONE,
        "gone",
        "This conversation was taken back",
        "Its author removed it from the record. It is no longer shown here in any form.",
    )
}

/// This site does not show it; `what` it is.
pub(super) fn hidden(host: &Host, format: Format, what: &str, why: &Hidden) -> Response {
    let not_the_author = "That is not its author's doing: what they wrote is where it was, in their own repository.";
    match why {
        Hidden::Host => notice(
            host,
            format,
            StatusCode::GONE,
            "hidden",
            "This site does not show this",
            &format!("The host of this site decided not to show this {what}. {not_the_author}"),
        ),
        Hidden::Labeler { did } => notice(
            host,
            format,
            StatusCode::GONE,
            "hidden",
            "This site does not show this",
            &format!(
                "The host of this site follows the labeler {did}, who says that this {what} should not be shown. \
                 {not_the_author}"
            ),
        ),
        Hidden::SignedInOnly => notice(
            host,
            format,
            StatusCode::FORBIDDEN,
            "signedInOnly",
            "This is for people who are signed in",
            &format!(
                "Whoever this {what} is of asks that it be shown only to people who are signed in, and nobody signs in to \
                 this site."
            ),
        ),
    }
}

/// Why what a page is made of cannot be read.
pub(super) fn refused(host: &Host, format: Format, error: &SourceError) -> Response {
    match error.downcast_ref::<IndexError>() {
        // A cursor that was cut short or made up.
        Some(IndexError::Cursor) => no_such_page_of(host, format),
        Some(error) if error.may_pass() => {
            tracing::warn!(%error, "the index does not answer");
            when_to_retry(notice(
                host,
                format,
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "This page cannot be made just now",
                "What it is made of does not answer. Nothing is lost by it. Try again in a moment.",
            ))
        }
        _ => failed(host, format, error),
    }
}

/// The source failed: the log says how, the reader is told that it is not their doing.
pub(super) fn failed(host: &Host, format: Format, error: &dyn std::fmt::Display) -> Response {
    tracing::error!(%error, "a page could not be made");
    notice(
        host,
        format,
        StatusCode::INTERNAL_SERVER_ERROR,
        "failed",
        "This page could not be made",
        "Something went wrong on this side; the log says what. The conversation itself is not changed by it. Try again in a moment.",
    )
}

pub(super) async fn no_such_page(State(site): State<Arc<Site>>) -> Response {
    notice(
        &site.host,
        Format::Html,
        StatusCode::NOT_FOUND,
        "notFound",
        "There is no such page",
        "Nothing stands at this address. The link may be incomplete.",
    )
}

pub(super) async fn only_reading(State(site): State<Arc<Site>>) -> Response {
    notice(
        &site.host,
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

/// The script, under the name of its content.
pub(super) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", SCRIPT)
}

/// What opens an encrypted conversation.
pub(super) async fn open() -> Response {
    asset("text/javascript; charset=utf-8", OPEN)
}

/// The cipher it uses.
pub(super) async fn cipher() -> Response {
    asset("text/javascript; charset=utf-8", CIPHER)
}

/// A file of which the name changes with its content.
pub(super) fn asset(kind: &'static str, content: &'static str) -> Response {
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (headers, content).into_response()
}

/// Under its plain name.
pub(super) async fn style() -> Response {
    stylesheet("no-cache")
}

/// What every answer says to the browser. Whoever keeps a page asks each time whether it is still there, so that taking a
/// conversation back is at once; what is not public is not kept at all.
pub(super) async fn headers(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let is_there = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    if !site.host.is_indexed {
        headers.insert(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
    }
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static(if is_there && !site.loopback_only {
        "no-cache"
    } else {
        "no-store"
    }));
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
            &Host::new(),
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
