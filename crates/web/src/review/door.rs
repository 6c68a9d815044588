//! Who may enter the review: the person who started it, in one browser, and no other page of that browser.
//!
//! A page of one's own machine can be asked by every page that a browser has open. So: the address that is printed holds a
//! token that opens the door once and becomes a cookie, which no other site's page is sent with; the name of the host is
//! checked, which a page that gave its own name our address has wrong; what changes anything is a POST from a page of ours, with
//! a second token that stands in it.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use percent_encoding::percent_decode_str;

use super::{assets, notice_html};
use crate::CONTENT_SECURITY_POLICY;

/// The longest body of a request, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// Where the printed address leads.
const OPEN: &str = "/open";

/// What lets one browser in.
#[derive(Debug)]
pub struct Door {
    address: SocketAddr,
    /// Where the opened address leads.
    first: String,
    /// Opens the door once.
    token: Mutex<Option<Secret>>,
    cookie: Secret,
    csrf: Secret,
}

/// A secret of this run.
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// Compared in a time that tells nothing of where they differ.
    fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        own.len() == other.len() && own.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// The fields of a request that changes something: it came from a page of ours.
#[derive(Debug, Clone, Default)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// The field of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The same, empty where there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Reads `a=b&c=d`, as forms and queries write it.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let word = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(a, b)| (word(a), word(b))).collect())
    }
}

impl Door {
    /// A door at `address` that leads to the page `first`. The three secrets are random, and of this run alone.
    #[must_use]
    pub fn new(address: SocketAddr, first: String, [token, cookie, csrf]: [String; 3]) -> Self {
        Self { address, first, token: Mutex::new(Some(Secret(token))), cookie: Secret(cookie), csrf: Secret(csrf) }
    }

    /// The address to open; it works once.
    #[must_use]
    pub fn url(&self) -> String {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        let token = token.as_ref().map_or("", |token| token.0.as_str());
        format!("http://{}{OPEN}?token={token}", self.address)
    }

    /// What every form of our pages holds.
    #[must_use]
    pub fn csrf(&self) -> &str {
        &self.csrf.0
    }

    fn cookie_name(&self) -> String {
        // Cookies do not tell ports apart.
        format!("onrecord-review-{}", self.address.port())
    }

    /// Whether a name of a host is ours.
    fn is_ours(&self, host: &str) -> bool {
        let port = self.address.port();
        let name = match host.rsplit_once(':') {
            Some((name, given)) if given.parse() == Ok(port) => name,
            None if port == 80 => host,
            _ => return false,
        };
        let name = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies.flat_map(|value| value.split(';')).any(|pair| {
            pair.trim().split_once('=').is_some_and(|(known, value)| known == name && self.cookie.is(value))
        })
    }

    /// Lets in whoever has the token, if nobody was before.
    fn open(&self, request: &Request) -> Response {
        let query = Form::parse(request.uri().query().unwrap_or_default());
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if !token.as_ref().is_some_and(|token| token.is(query.text("token"))) {
            return refused(
                StatusCode::FORBIDDEN,
                "This address opens nothing",
                "It works once, in the browser that opened it first. Run `onrecord review` again for a new one.",
            );
        }
        *token = None;
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.cookie.0);
        ([(header::SET_COOKIE, cookie), (header::LOCATION, self.first.clone())], StatusCode::SEE_OTHER).into_response()
    }
}

/// Refuses what may not be, and gives the others on; a form's fields are then among the request's extensions.
pub async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let mut response = match admitted(&door, request).await {
        Ok(request) => next.run(request).await,
        Err(response) => *response,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Without any, a form of ours would not say where it comes from.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn admitted(door: &Door, request: Request) -> Result<Request, Box<Response>> {
    let headers = request.headers();
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let host = text(header::HOST).to_owned();
    if !door.is_ours(&host) {
        return Err(Box::new(refused(
            StatusCode::MISDIRECTED_REQUEST,
            "This page is for this machine only",
            "It answers to the address it was started at, and to no other name.",
        )));
    }
    // Sent by every browser of today, for every request; another program on this machine is no site.
    let from = text(HeaderName::from_static("sec-fetch-site"));
    let is_foreign = matches!(from, "cross-site" | "same-site");
    let path = request.uri().path();
    if path == OPEN && request.method() == Method::GET {
        if is_foreign {
            // A cookie that is given while another site leads here is not sent on the way there.
            let next = format!("{OPEN}?{}", request.uri().query().unwrap_or_default());
            return Err(Box::new(([(header::REFRESH, format!("0; url={next}"))], StatusCode::OK).into_response()));
        }
        return Err(Box::new(door.open(&request)));
    }
    if is_foreign {
        return Err(Box::new(refused(
            StatusCode::FORBIDDEN,
            "This page is not for other sites",
            "Another page asked for it. Nothing was done.",
        )));
    }
    if assets::is_one(path) && matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(request);
    }
    if !door.has_cookie(headers) {
        return Err(Box::new(refused(
            StatusCode::UNAUTHORIZED,
            "This page is for the person who started it",
            "This browser has not opened it, or it was started anew since. Run `onrecord review` again.",
        )));
    }
    match *request.method() {
        Method::GET | Method::HEAD => Ok(request),
        Method::POST => {
            if text(header::ORIGIN) != format!("http://{host}") {
                return Err(Box::new(refused(
                    StatusCode::FORBIDDEN,
                    "This did not come from this page",
                    "Another page sent it, or the browser does not say which. Nothing was changed.",
                )));
            }
            with_form(door, request).await.map_err(Box::new)
        }
        _ => Err(Box::new(refused(
            StatusCode::METHOD_NOT_ALLOWED,
            "There is nothing of the kind here",
            "Pages are read with GET and changed with POST.",
        ))),
    }
}

/// Reads the form and checks that a page of ours made it.
async fn with_form(door: &Door, request: Request) -> Result<Request, Response> {
    let (mut parts, body) = request.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        let why = "What is sent here is the form of a page.";
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "This is no form", why));
    }
    let Ok(bytes) = to_bytes(body, MOST_BYTES).await else {
        let why = "No page here sends so much. Nothing was changed.";
        return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, "This is too long", why));
    };
    let form = Form::parse(&String::from_utf8_lossy(&bytes));
    if !form.get("csrf").is_some_and(|given| door.csrf.is(given)) {
        let why = "The page is one of before the review was started anew. Open it again. Nothing was changed.";
        return Err(refused(StatusCode::FORBIDDEN, "This page is too old", why));
    }
    parts.extensions.insert(form);
    Ok(Request::from_parts(parts, Body::empty()))
}

/// Says that something may not be.
fn refused(status: StatusCode, title: &'static str, why: &str) -> Response {
    let body = notice_html(title, why, None).unwrap_or_else(|_| format!("{title}. {why}"));
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}
