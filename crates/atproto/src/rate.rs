//! What a server says about how much more it will take.

use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderMap;
use serde::Serialize;

/// The tightest limit that held for a request, from its answer's `RateLimit-*` headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RateLimit {
    /// Points in a window.
    pub limit: u64,
    /// Points left in this one. A batch that needs more is refused, and burns them.
    pub remaining: u64,
    /// When the window ends.
    pub reset: Option<Timestamp>,
    /// The limit as the server names it, e.g. `5000;w=3600`: points and seconds.
    pub policy: Option<String>,
}

/// Below this a `RateLimit-Reset` is seconds from now (the later drafts), from it on a Unix time (what a PDS sends).
const SMALLEST_UNIX_TIME: i64 = 1_000_000_000;

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    Some(headers.get(name)?.to_str().ok()?.trim())
}

fn after(now: Timestamp, seconds: i64) -> Option<Timestamp> {
    now.checked_add(SignedDuration::from_secs(seconds)).ok()
}

impl RateLimit {
    /// The limit in an answer's headers, if it tells one.
    pub(crate) fn parse(headers: &HeaderMap, now: Timestamp) -> Option<Self> {
        let number = |name| text(headers, name)?.parse::<u64>().ok();
        let reset = || {
            let seconds = text(headers, "ratelimit-reset")?.parse::<i64>().ok()?;
            match seconds {
                ..0 => None,
                0..SMALLEST_UNIX_TIME => after(now, seconds),
                SMALLEST_UNIX_TIME.. => Timestamp::from_second(seconds).ok(),
            }
        };
        Some(Self {
            limit: number("ratelimit-limit")?,
            remaining: number("ratelimit-remaining")?,
            reset: reset(),
            policy: text(headers, "ratelimit-policy").map(|policy| policy.chars().take(100).collect()),
        })
    }
}

/// When a refused request may be sent again: `Retry-After` (seconds or an HTTP date), else the window's end.
pub(crate) fn retry_at(headers: &HeaderMap, now: Timestamp) -> Option<Timestamp> {
    let retry_after = || {
        let value = text(headers, "retry-after")?;
        match value.parse::<u32>() {
            Ok(seconds) => after(now, seconds.into()),
            Err(_) => jiff::fmt::rfc2822::parse(value).ok().map(|at| at.timestamp()),
        }
    };
    retry_after().or_else(|| RateLimit::parse(headers, now)?.reset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn now() -> Timestamp {
        "2026-11-30T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn the_four_headers_of_a_pds() {
        let limit = RateLimit::parse(
            &headers(&[
                ("ratelimit-limit", "5000"),
                ("ratelimit-remaining", "4400"),
                ("ratelimit-reset", "1796040000"),
                ("ratelimit-policy", "5000;w=3600"),
            ]),
            now(),
        );
        assert_eq!(
            limit,
            Some(RateLimit {
                limit: 5000,
                remaining: 4400,
                reset: Some(Timestamp::from_second(1_796_040_000).unwrap()),
                policy: Some("5000;w=3600".into()),
            })
        );
    }

    #[test]
    fn a_small_reset_counts_from_now() {
        let limit = RateLimit::parse(
            &headers(&[("ratelimit-limit", "10"), ("ratelimit-remaining", "0"), ("ratelimit-reset", "90")]),
            now(),
        );
        assert_eq!(limit.unwrap().reset, Some("2026-11-30T12:01:30Z".parse().unwrap()));
    }

    #[test]
    fn no_or_nonsense_headers_are_no_limit() {
        assert_eq!(RateLimit::parse(&headers(&[]), now()), None);
        let nonsense = headers(&[("ratelimit-limit", "many"), ("ratelimit-remaining", "-1")]);
        assert_eq!(RateLimit::parse(&nonsense, now()), None);
        assert_eq!(retry_at(&headers(&[("retry-after", "soon")]), now()), None);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_goes_before_the_reset() {
        let at = |pairs: &[(&'static str, &str)]| retry_at(&headers(pairs), now()).map(|at| at.to_string());
        assert_eq!(at(&[("retry-after", "30")]).as_deref(), Some("2026-11-30T12:00:30Z"));
        assert_eq!(at(&[("retry-after", "Mon, 30 Nov 2026 12:05:00 GMT")]).as_deref(), Some("2026-11-30T12:05:00Z"));
        let reset = [("ratelimit-limit", "1"), ("ratelimit-remaining", "0"), ("ratelimit-reset", "5")];
        assert_eq!(at(&reset).as_deref(), Some("2026-11-30T12:00:05Z"));
        assert_eq!(at(&[("retry-after", "1"), reset[0], reset[1], reset[2]]).as_deref(), Some("2026-11-30T12:00:01Z"));
    }
}
