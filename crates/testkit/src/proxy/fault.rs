//! What the proxy can do to a request.

use std::{fmt, sync::Arc, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

/// Changes the bytes of an answer.
pub type Tampering = dyn Fn(&mut Vec<u8>) + Send + Sync;

/// What happens to one request.
#[derive(Clone)]
pub enum Fault {
    /// Nothing: it is passed on. For a place in a script.
    Pass,
    /// The proxy answers itself; the PDS never sees the request.
    Answer {
        /// HTTP status.
        status: u16,
        /// Further headers.
        headers: Vec<(String, String)>,
        /// The body, as it is.
        body: String,
    },
    /// The connection is cut before the PDS sees the request.
    CutBefore,
    /// The PDS answers, so a write took effect, and the connection is cut before the first byte of the answer.
    CutAfter,
    /// The PDS answers, and the connection is cut in the middle of the answer.
    CutMidway,
    /// The PDS sees the request after this long.
    DelayBefore(Duration),
    /// The PDS answers at once, and the client hears of it after this long.
    DelayAfter(Duration),
    /// The PDS answers, and this runs before the client hears of it, e.g. to kill the client.
    After(Arc<dyn Fn() + Send + Sync>),
    /// The PDS's JSON is changed on its way back.
    Rewrite(Arc<dyn Fn(&mut Value) + Send + Sync>),
    /// The PDS's bytes are changed on their way back, whatever they are.
    Tamper(Arc<Tampering>),
}

impl Fault {
    /// An answer of the XRPC's own form, e.g. 400 `InvalidRequest`.
    #[must_use]
    pub fn refusal(status: u16, error: &str, message: &str) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type".into(), "application/json".into())],
            body: json!({ "error": error, "message": message }).to_string(),
        }
    }

    /// 429 that says nothing more.
    #[must_use]
    pub fn rate_limited_bare() -> Self {
        Self::Answer { status: 429, headers: Vec::new(), body: String::new() }
    }

    /// 429 as a PDS says it, over in so many seconds.
    #[must_use]
    pub fn rate_limited(seconds: u32) -> Self {
        let mut fault = Self::refusal(429, "RateLimitExceeded", "Rate Limit Exceeded");
        if let Self::Answer { headers, .. } = &mut fault {
            let reset = Timestamp::now().as_second() + i64::from(seconds);
            headers.extend([
                ("retry-after".into(), seconds.to_string()),
                ("ratelimit-limit".into(), "5000".into()),
                ("ratelimit-remaining".into(), "0".into()),
                ("ratelimit-reset".into(), reset.to_string()),
                ("ratelimit-policy".into(), "5000;w=3600".into()),
            ]);
        }
        fault
    }

    /// 500 as a PDS says it.
    #[must_use]
    pub fn server_error() -> Self {
        Self::refusal(500, "InternalServerError", "Internal Server Error")
    }

    /// 502 with a page, as a web server before a dead PDS says it.
    #[must_use]
    pub fn bad_gateway() -> Self {
        Self::page(502, "502 Bad Gateway")
    }

    /// A web page with status 200, as a parked domain or a hotel's network has it.
    #[must_use]
    pub fn html() -> Self {
        Self::page(200, "Welcome")
    }

    fn page(status: u16, title: &str) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
            body: format!("<!doctype html>\n<title>{title}</title>\n<h1>{title}</h1>\n"),
        }
    }

    /// The refusal of an access token that is too old.
    #[must_use]
    pub fn expired_token() -> Self {
        Self::refusal(400, "ExpiredToken", "Token has expired")
    }

    /// A PDS that says it wrote something else: every result's CID is another one.
    #[must_use]
    pub fn lying_cids() -> Self {
        // The CID of an empty DAG-CBOR map.
        const OTHER: &str = "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua";
        Self::Rewrite(Arc::new(|answer| {
            for result in answer.get_mut("results").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(cid) = result.get_mut("cid") {
                    *cid = OTHER.into();
                }
            }
        }))
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("Pass"),
            Self::Answer { status, .. } => write!(f, "Answer({status})"),
            Self::CutBefore => f.write_str("CutBefore"),
            Self::CutAfter => f.write_str("CutAfter"),
            Self::CutMidway => f.write_str("CutMidway"),
            Self::DelayBefore(delay) => write!(f, "DelayBefore({delay:?})"),
            Self::DelayAfter(delay) => write!(f, "DelayAfter({delay:?})"),
            Self::After(_) => f.write_str("After"),
            Self::Rewrite(_) => f.write_str("Rewrite"),
            Self::Tamper(_) => f.write_str("Tamper"),
        }
    }
}
