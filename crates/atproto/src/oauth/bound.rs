//! Requests that carry a proof: with the nonce the server gave last, sent again when it asks for another one, and by its
//! clock where ours is wrong. Source: RFC 9449, sections 8 and 9.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use reqwest::{
    Method, RequestBuilder, StatusCode,
    header::{AUTHORIZATION, DATE, HeaderMap, HeaderValue, WWW_AUTHENTICATE},
};
use serde::Deserialize;
use url::Url;

use super::{DpopKey, dpop::Proof};
use crate::{Client, Error, Result, Secret, http::Answer};

/// Times a request is sent again with another nonce or time. One is the rule; a second where the nonce changed in between.
const MAX_RETRIES: usize = 2;
/// A clock that is off by less is right enough for any server.
const TOLERATED: SignedDuration = SignedDuration::from_secs(30);
/// Longer ones would not fit into a header.
const LONGEST_NONCE: usize = 1_000;

/// What servers said that proofs must have, by origin. Shared by all sessions of a client: nonces are a server's, not a key's.
#[derive(Default)]
pub(crate) struct Proofs(Mutex<HashMap<String, State>>);

#[derive(Default, Clone, PartialEq)]
struct State {
    nonce: Option<String>,
    /// How far the server's clock is ahead of ours.
    ahead: SignedDuration,
}

impl Proofs {
    fn of(&self, origin: &str) -> State {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(origin).cloned().unwrap_or_default()
    }

    fn set(&self, origin: String, state: State) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(origin, state);
    }
}

/// What an answer says is wrong with the proof.
#[derive(Debug, PartialEq, Eq)]
enum Complaint {
    /// It lacks the server's nonce, or has an old one.
    Nonce,
    /// Something else; its time, perhaps.
    Proof,
}

impl Client {
    /// Sends a request with a proof by `key`, and with the access token `token` if there is one. `prepare` adds what else
    /// the request has.
    ///
    /// A server that complains about a proof has looked at nothing else, so even a write is sent again then.
    pub(crate) async fn exchange_bound(
        &self,
        key: &DpopKey,
        token: Option<&Secret>,
        (method, url): (&Method, &Url),
        prepare: impl Fn(RequestBuilder) -> RequestBuilder,
        limit: usize,
    ) -> Result<Answer> {
        let origin = url.origin().ascii_serialization();
        let mut retries = 0;
        loop {
            let state = self.inner.proofs.of(&origin);
            let now = Timestamp::now().checked_add(state.ahead).unwrap_or_else(|_| Timestamp::now());
            let proof = Proof { method: method.as_str(), url, nonce: state.nonce.as_deref(), token, now };
            let mut request = prepare(self.inner.http.request(method.clone(), url.clone())?);
            request = request.header("DPoP", sensitive(&key.prove(&proof)?)?);
            if let Some(token) = token {
                request = request.header(AUTHORIZATION, sensitive(&format!("DPoP {}", token.expose()))?);
            }
            let answer = self.inner.http.exchange(request, limit).await?;
            let complaint = complaint(&answer);
            let mut news = State { nonce: nonce(&answer.headers).or_else(|| state.nonce.clone()), ahead: state.ahead };
            if complaint == Some(Complaint::Proof)
                && let Some(ahead) = clock_ahead(&answer.headers, Timestamp::now())
                && (ahead - state.ahead).abs() > TOLERATED
            {
                tracing::debug!(origin, %ahead, "the server has another time");
                news.ahead = ahead;
            }
            let changed = news != state;
            if changed {
                self.inner.proofs.set(origin.clone(), news);
            }
            if complaint.is_none() || !changed || retries >= MAX_RETRIES {
                return Ok(answer);
            }
            retries += 1;
        }
    }
}

fn sensitive(text: &str) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| Error::Setup { why: "a token or proof that fits into no header".into() })?;
    value.set_sensitive(true);
    Ok(value)
}

fn nonce(headers: &HeaderMap) -> Option<String> {
    let nonce = headers.get("dpop-nonce")?.to_str().ok()?;
    (!nonce.is_empty() && nonce.len() <= LONGEST_NONCE).then(|| nonce.to_owned())
}

/// What the server has against the proof. Authorization servers say it in the body (400), others in a header (401).
fn complaint(answer: &Answer) -> Option<Complaint> {
    #[derive(Deserialize)]
    struct Body {
        error: String,
    }
    if !matches!(answer.status, StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED) {
        return None;
    }
    let body = serde_json::from_slice::<Body>(&answer.body).map(|body| body.error).unwrap_or_default();
    let header = answer.headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let says = |name: &str| body == name || header.contains(&format!("error=\"{name}\""));
    if says("use_dpop_nonce") {
        Some(Complaint::Nonce)
    } else if says("invalid_dpop_proof") {
        Some(Complaint::Proof)
    } else {
        None
    }
}

fn clock_ahead(headers: &HeaderMap, now: Timestamp) -> Option<SignedDuration> {
    let date = headers.get(DATE)?.to_str().ok()?;
    Some(jiff::fmt::rfc2822::parse(date).ok()?.timestamp().duration_since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect(),
            body: body.into(),
        }
    }

    #[test]
    fn both_kinds_of_servers_are_understood() {
        let body = r#"{"error":"use_dpop_nonce","error_description":"…"}"#;
        assert_eq!(complaint(&answer(400, &[], body)), Some(Complaint::Nonce));
        let header = ("www-authenticate", r#"DPoP algs="ES256", error="use_dpop_nonce""#);
        assert_eq!(complaint(&answer(401, &[header], "")), Some(Complaint::Nonce));
        let header = ("www-authenticate", r#"DPoP error="invalid_dpop_proof""#);
        assert_eq!(complaint(&answer(401, &[header], "{}")), Some(Complaint::Proof));
        for (status, body) in [(400, r#"{"error":"invalid_grant"}"#), (200, body), (500, body), (400, "no JSON")] {
            assert_eq!(complaint(&answer(status, &[], body)), None, "{status} {body}");
        }
        let header = ("www-authenticate", r#"DPoP error="invalid_token", error_description="use_dpop_nonce""#);
        assert_eq!(complaint(&answer(401, &[header], "")), None);
    }

    #[test]
    fn the_servers_time_is_its_date() {
        let now = "2026-11-30T12:00:00Z".parse().unwrap();
        let ahead = |date: &str| clock_ahead(&answer(200, &[("date", date)], "").headers, now);
        assert_eq!(ahead("Mon, 30 Nov 2026 12:10:00 GMT"), Some(SignedDuration::from_secs(600)));
        assert_eq!(ahead("Mon, 30 Nov 2026 11:00:00 GMT"), Some(SignedDuration::from_secs(-3600)));
        assert_eq!(ahead("yesterday"), None);
    }

    #[test]
    fn a_nonce_that_fits_into_no_header_is_none() {
        assert_eq!(nonce(&answer(200, &[("dpop-nonce", "abc")], "").headers).as_deref(), Some("abc"));
        assert_eq!(nonce(&answer(200, &[("dpop-nonce", "")], "").headers), None);
        assert_eq!(nonce(&answer(200, &[("dpop-nonce", &"a".repeat(1001))], "").headers), None);
    }
}
