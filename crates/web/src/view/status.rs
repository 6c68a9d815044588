//! How the index stands, in words.

use jiff::Timestamp;
use onrecord_index::{AccountStatus, Rejected, SourceCursor, Status};
use onrecord_lexicon::Datetime;
use serde::Serialize;

/// How the index stands.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusView {
    /// Conversations that can be read.
    pub(crate) conversations: u64,
    /// Records stored.
    pub(crate) records: u64,
    /// Records stored, by collection.
    pub(crate) collections: Vec<CountView>,
    /// Conversations of which turns came and the record did not.
    pub(crate) waiting: u64,
    /// Records known to be gone.
    pub(crate) gone: u64,
    /// Accounts, by state.
    pub(crate) accounts: Vec<CountView>,
    /// The streams that are followed.
    pub(crate) sources: Vec<SourceView>,
    /// How far behind the answers are, where a replica gives them; in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replica_lag_ms: Option<u64>,
    /// Records that were refused, and why.
    pub(crate) rejections: Vec<RejectionView>,
}

/// So many of something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CountView {
    /// Of what.
    pub(crate) name: String,
    /// How many.
    pub(crate) count: u64,
}

/// A stream that is followed, and how far it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceView {
    /// What kind of stream it is: `jetstream`, `firehose` or `tap`.
    pub(crate) kind: String,
    /// Its server, without a password.
    pub(crate) server: String,
    /// The place that was reached, as the server counts.
    pub(crate) place: String,
    /// When what was read last happened, where the place says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reached: Option<String>,
    /// The same in words.
    pub(crate) lag: String,
}

/// Records that were refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RejectionView {
    /// The reason's name, which stays the same.
    pub(crate) reason: String,
    /// What it means.
    pub(crate) meaning: String,
    /// Of which collection; empty of what is no record.
    pub(crate) collection: String,
    /// How many.
    pub(crate) count: u64,
}

impl StatusView {
    /// What an index says of itself, looked at `now`.
    /// `reached` says of a source when its last event happened.
    pub(crate) fn new(
        status: Status,
        rejections: Vec<Rejected>,
        now: Timestamp,
        reached: impl Fn(&str) -> Option<Timestamp>,
    ) -> Self {
        let count = |(name, count)| CountView { name, count };
        let accounts = status.accounts.into_iter().map(|(state, n)| (of_accounts(state).to_owned(), n));
        let rejections = rejections.into_iter().map(|Rejected { reason, collection, count }| RejectionView {
            meaning: meaning(&reason),
            reason,
            collection,
            count,
        });
        Self {
            conversations: status.conversations,
            records: status.records.iter().map(|(_, count)| count).sum(),
            collections: status.records.into_iter().map(count).collect(),
            waiting: status.waiting,
            gone: status.gone,
            accounts: accounts.map(count).collect(),
            sources: status.cursors.iter().map(|cursor| source(cursor, now, reached(&cursor.source))).collect(),
            replica_lag_ms: status.replica_lag_ms,
            rejections: rejections.collect(),
        }
    }
}

fn of_accounts(state: AccountStatus) -> &'static str {
    match state {
        AccountStatus::Active => "shown",
        AccountStatus::Deactivated => "paused by their owners",
        AccountStatus::Suspended => "suspended by their hosts",
        AccountStatus::Takendown => "taken down by their hosts",
        AccountStatus::Deleted => "deleted",
    }
}

/// The oldest number that is a time and no count: the first microsecond of 2020.
const FIRST_TIME_US: i64 = 1_577_836_800_000_000;

fn source(cursor: &SourceCursor, now: Timestamp, reached: Option<Timestamp>) -> SourceView {
    let (kind, address) = cursor.source.split_once(':').unwrap_or(("", &cursor.source));
    let server = address.split_once("://").map_or(address, |(_, rest)| rest);
    let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
    // Where a Jetstream counts in microseconds since 1970, the place is a time. Other servers count events, and say with each
    // when it was: who follows them remembers that of the last one.
    let us = Some(kind).filter(|kind| *kind == "jetstream").and_then(|_| cursor.cursor.parse::<i64>().ok());
    let place = us.filter(|us| *us >= FIRST_TIME_US).and_then(|us| Timestamp::from_microsecond(us).ok());
    let reached = place.or(reached);
    let lag = match reached {
        Some(at) => ago(now.as_millisecond().saturating_sub(at.as_millisecond())),
        None => format!("up to event {}; when that was, the process that follows it knows", cursor.cursor),
    };
    SourceView {
        kind: kind.to_owned(),
        server: server.to_owned(),
        place: cursor.cursor.clone(),
        reached: reached.map(|at| Datetime::from_timestamp(at).to_string()),
        lag,
    }
}

/// `up to 3 minutes ago`.
fn ago(ms: i64) -> String {
    let seconds = ms / 1_000;
    let (count, unit) = match seconds {
        ..10 => return "up to now".to_owned(),
        10..120 => (seconds, "seconds"),
        120..7_200 => (seconds / 60, "minutes"),
        7_200..172_800 => (seconds / 3_600, "hours"),
        _ => (seconds / 86_400, "days"),
    };
    format!("up to {count} {unit} ago")
}

/// What a reason means.
fn meaning(reason: &str) -> String {
    let text = match reason {
        "no-object" => "It is no record: JSON, but no object.",
        "too-large" => "It is larger than a repository takes.",
        "data-model" => {
            "It holds something that the protocol cannot, such as a fraction, or our reading cannot make sense of."
        }
        "cid-mismatch" => "Its content is not the one that its hash (CID) names: it was changed on the way.",
        "future-rev" => "It claims to be written in the future.",
        "foreign-session" => "It is a turn of a conversation in somebody else's repository.",
        "account-deleted" => "Its account is deleted.",
        "unknown-did" => "Its account's identifier (DID) is of no kind that accounts have.",
        _ => match reason.split_once(':') {
            Some(("lexicon", rule)) => return format!("It breaks its lexicon: {}.", of_rule(rule)),
            Some(("frame", flaw)) => return format!("A message of a stream cannot be understood: {}.", of_flaw(flaw)),
            Some(("commit", flaw)) => {
                return format!("A commit is not believed, so none of its writes was taken: {}.", of_flaw(flaw));
            }
            Some(("repository", flaw)) => {
                return format!("A repository is not believed, so nothing of it was taken: {}.", of_flaw(flaw));
            }
            _ => "This version does not know the reason.",
        },
    };
    text.to_owned()
}

/// What is wrong where a record breaks a rule.
fn of_rule(rule: &str) -> String {
    let text = match rule {
        "type" => "a value is of another type than it should be",
        "required" => "something is missing that has to be there",
        "null" => "something is null that may not be",
        "const" | "enum" | "token" => "a value is none of those that are allowed",
        "min-length" | "min-graphemes" => "something is too short",
        "max-length" | "max-graphemes" => "something is too long",
        "minimum" => "a number is too small",
        "maximum" => "a number is too large",
        "format" => "a text does not have the form it should, such as that of a time or an address",
        "record-type" => "its type is missing, or another than its collection's",
        "record-key" => "its key is not of the kind that its collection has",
        "union-type" | "union-closed" => "a part is of a kind that cannot stand there",
        "unresolved-ref" => "it uses a schema that is not known",
        "too-deep" => "it is nested too deeply",
        "duplicate-key" => "a name stands twice in it",
        "data-model" | "bytes" | "cid-link" => "a value is not written as the protocol writes it",
        _ if rule.contains("blob") => "a file in it is described wrongly, too large, or of another type",
        other => return format!("the rule {other}"),
    };
    text.to_owned()
}

/// What is wrong with what came before any record of it was looked at.
fn of_flaw(flaw: &str) -> String {
    let text = match flaw {
        "encoding" => "it is not encoded as it should be",
        "packing" => "it cannot be unpacked",
        "too-large" => "it is larger than the protocol allows",
        "fields" => "something is missing in it, or is something else than it should be",
        "identifier" => "a name in it is malformed",
        "operations" => "it has more writes than a commit may have",
        "place" => "it claims a place that no server can be at",
        "unresolved" => "whose key must have signed it cannot be learnt",
        "no-key" => "its account names no key of the protocol",
        "blocks" => "its blocks are damaged",
        "form" => "the commit itself is missing, or cannot be understood",
        "signature" | "signature-form" | "signature-high-s" => "it carries no good signature of its account's key",
        "record" => "a record in it is missing, or is none",
        "no-past" => "it does not say what was there before",
        "tree" => "its writes do not lead from the tree before to the tree after",
        "not-whole" => "it did not come whole",
        "too-slow" => "it came too slowly",
        "future-rev" => "it claims to be written in the future",
        other => return format!("the rule {other}"),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use onrecord_lexicon::Rule;

    use super::*;

    fn at(source: &str, cursor: &str) -> SourceView {
        let now = "2026-01-31T12:00:00Z".parse().unwrap();
        super::source(&SourceCursor { source: source.to_owned(), cursor: cursor.to_owned() }, now, None)
    }

    #[test]
    fn how_far_a_source_was_followed_is_said_in_words() {
        let us = |time: &str| time.parse::<Timestamp>().unwrap().as_microsecond().to_string();
        for (time, lag) in [
            ("2026-01-31T11:59:58Z", "up to now"),
            ("2026-01-31T12:00:05Z", "up to now"),
            ("2026-01-31T11:59:20Z", "up to 40 seconds ago"),
            ("2026-01-31T11:57:00Z", "up to 3 minutes ago"),
            ("2026-01-31T07:00:00Z", "up to 5 hours ago"),
            ("2026-01-01T12:00:00Z", "up to 30 days ago"),
        ] {
            assert_eq!(at("jetstream:wss://host.example", &us(time)).lag, lag);
        }
        let firehose = at("firehose:wss://relay.example", "123456");
        assert!(firehose.lag.starts_with("up to event 123456;") && firehose.reached.is_none());
        let cursor = SourceCursor { source: "firehose:wss://relay.example".into(), cursor: "123456".into() };
        let (now, last) = ("2026-01-31T12:00:00Z".parse().unwrap(), "2026-01-31T11:57:00Z".parse().unwrap());
        let firehose = source(&cursor, now, Some(last));
        assert_eq!((firehose.lag.as_str(), firehose.place.as_str()), ("up to 3 minutes ago", "123456"));
        assert_eq!(firehose.reached.as_deref(), Some("2026-01-31T11:57:00.000Z"));
        assert!(at("jetstream:wss://host.example", "42").reached.is_none(), "the second version counts events");
    }

    /// Invariant 15.
    #[test]
    fn no_password_is_shown() {
        let view = at("tap:wss://someone:pass@w0rd@tap.example/path", "1");
        assert_eq!((view.kind.as_str(), view.server.as_str()), ("tap", "tap.example/path"));
    }

    #[test]
    fn every_reason_has_a_meaning() {
        for rule in Rule::ALL {
            let meaning = meaning(&format!("lexicon:{rule}"));
            assert!(meaning.starts_with("It breaks its lexicon: ") && meaning.len() > 40, "{rule}: {meaning}");
        }
        for reason in ["frame:fields", "commit:signature", "repository:too-slow", "unknown-did"] {
            assert!(meaning(reason).len() > 40 && !meaning(reason).contains("the rule"), "{reason}");
        }
        assert!(meaning("from-a-later-version").contains("does not know"));
    }
}
