//! Records of our own making, and the stores to put them in.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "each test file uses its part, and tests fail loudly"
)]

pub mod cases;
pub mod finding;
pub mod model;
pub mod moderation;
pub mod network;

use jiff::Timestamp;
use onrecord_index::{Address, Applied, Batch, Change, Index, Put, Trust, admit};
use onrecord_lexicon::{Did, Nsid, Rkey, Tid, data::record_cid};
use serde_json::{Value, json};

pub const SESSION: &str = "click.aligned.chat.session";
pub const MESSAGE: &str = "click.aligned.chat.message";

/// When everything here happens: 2026-01-01, in milliseconds.
pub const START_MS: i64 = 1_767_225_600_000;

pub fn did(n: usize) -> Did {
    Did::parse(&format!(
        "did:plc:{}",
        format!("{n:024}").replace('0', "a").replace('1', "b").replace('8', "c").replace('9', "d")
    ))
    .unwrap()
}

/// A revision or key: so many seconds after the start.
pub fn tid(n: u64) -> Tid {
    Tid::from_micros((START_MS.unsigned_abs() + n * 1000) * 1000, 7).unwrap()
}

pub fn rkey(n: u64) -> Rkey {
    Rkey::from(tid(n))
}

pub fn time(n: u64) -> String {
    Timestamp::from_millisecond(START_MS + i64::try_from(n).unwrap() * 1000).unwrap().to_string()
}

pub fn at(did: &Did, collection: &str, rkey: &Rkey) -> Address {
    Address { did: did.clone(), collection: Nsid::parse(collection).unwrap(), rkey: rkey.clone() }
}

pub fn put(did: &Did, collection: &str, rkey: &Rkey, rev: u64, record: &Value) -> Change {
    let (_, cid) = record_cid(record).unwrap();
    let json = record.to_string().into();
    Change::Put(Box::new(Put { address: at(did, collection, rkey), cid, rev: tid(rev), json }))
}

pub fn session(did: &Did, key: u64, rev: u64, title: Option<&str>) -> Change {
    let mut record = json!({"$type": SESSION, "createdAt": time(key)});
    if let Some(title) = title {
        record["title"] = json!(title);
    }
    put(did, SESSION, &rkey(key), rev, &record)
}

/// A message, with `more` beside what every one has.
pub fn message(did: &Did, session: u64, key: u64, rev: u64, role: &str, text: &str, more: &Value) -> Change {
    let uri = at(did, SESSION, &rkey(session)).uri();
    let mut record = json!({"$type": MESSAGE, "session": uri, "role": role, "text": text, "createdAt": time(key)});
    for (name, value) in more.as_object().into_iter().flatten() {
        record[name] = value.clone();
    }
    put(did, MESSAGE, &rkey(key), rev, &record)
}

pub fn delete(did: &Did, collection: &str, key: u64, rev: u64) -> Change {
    Change::Delete { address: at(did, collection, &rkey(key)), rev: tid(rev) }
}

pub async fn apply(index: &dyn Index, changes: Vec<Change>) -> Applied {
    let batch = Batch { changes, ..Batch::default() };
    index.apply(admit(batch, Trust::Nothing, now())).await.unwrap()
}

/// Later than all that happens here.
pub fn now() -> Timestamp {
    Timestamp::from_millisecond(START_MS + 1_000_000_000).unwrap()
}

/// Words that nobody else uses: those of conversations that stay, and of some that are taken back.
pub fn words_to_forget() -> (Vec<String>, Vec<String>) {
    // Spread over the whole alphabet, so that some stand at every border of the inverted index's pages.
    let word = |n: u64| {
        let mut n = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995;
        let mut word = String::new();
        for _ in 0..12 {
            word.push(char::from(b'a' + u8::try_from(n % 26).unwrap()));
            n = n.rotate_left(11).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (n >> 7);
        }
        word
    };
    let mut words = (1..=12_000).map(word).collect::<Vec<_>>();
    let removed = words.split_off(6_000);
    (words, removed)
}

/// Publishes them: in the texts, steps and titles of one account each, at the same time.
pub async fn publish_words(index: &dyn Index, kept: &[String], removed: &[String]) {
    for (at, (kept, removed)) in kept.chunks(60).zip(removed.chunks(60)).enumerate() {
        let mut changes = Vec::new();
        for (n, words) in [(1, kept), (2, removed)] {
            let (d, key) = (did(n), 1_000 + at as u64 * 10);
            let more = json!({"steps": [{"tool": words[0], "summary": words[1..20].join(" ")}], "model": format!("a/{}", words[20])});
            changes.push(session(&d, key, 50_000, Some(&words[21..30].join(" "))));
            changes.push(message(&d, key, key + 1, 50_000, "assistant", &words[30..].join(" "), &more));
        }
        apply(index, changes).await;
    }
}

/// Takes back the second account's: by halves, one record at a time, and whole.
pub async fn take_words_back(index: &dyn Index) {
    let d = did(2);
    for at in 0..50 {
        let key = 1_000 + at * 10;
        apply(index, vec![delete(&d, MESSAGE, key + 1, 60_000), delete(&d, SESSION, key, 60_001)]).await;
    }
    // Some are written over before they go.
    for at in 50..60 {
        let key = 1_000 + at * 10;
        let withheld = json!({"withheld": true});
        apply(
            index,
            vec![session(&d, key, 60_000, None), message(&d, key, key + 1, 60_000, "assistant", "", &withheld)],
        )
        .await;
    }
    apply(index, vec![Change::Account { did: d, status: onrecord_index::AccountStatus::Deleted, at_ms: 5 }]).await;
}

pub async fn hits(index: &dyn Index, text: &str) -> usize {
    let search = onrecord_index::Search { text: text.to_owned(), ..Default::default() };
    index.search(&search, None, 10).await.unwrap().items.len()
}
