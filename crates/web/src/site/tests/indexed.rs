//! What the index has, on the pages: with a real store.

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
};
use jiff::Timestamp;
use onrecord_index::{
    Address as Place, Batch, Change, Decision, Index, Label, Moderation, Put, SqliteIndex, Subject, Trust, admit,
};
use onrecord_lexicon::{Did, Handle, Nsid, Rkey, Tid, data::record_cid};
use onrecord_record::aligned::{MESSAGE, SESSION};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use super::super::*;
use crate::{Limits, ListEntry, Standing, view::tests::published};

pub(super) const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
pub(super) const START_MS: u64 = 1_767_225_600_000;

pub(super) fn tid(n: u64) -> Tid {
    Tid::from_micros((START_MS + n * 1000) * 1000, 7).unwrap()
}

pub(super) fn time(n: u64) -> String {
    Timestamp::from_millisecond(i64::try_from(START_MS + n * 1000).unwrap()).unwrap().to_string()
}

pub(super) fn put(collection: &str, rkey: &str, record: &Value) -> Change {
    let (_, cid) = record_cid(record).unwrap();
    let (did, collection) = (Did::parse(DID).unwrap(), Nsid::parse(collection).unwrap());
    let address = Place { did, collection, rkey: Rkey::parse(rkey).unwrap() };
    Change::Put(Box::new(Put { address, cid, rev: tid(900_000), json: record.to_string().into() }))
}

pub(super) fn session(key: u64, title: Option<&str>) -> Change {
    let mut record = json!({"$type": SESSION, "createdAt": time(key)});
    if let Some(title) = title {
        record["title"] = title.into();
    }
    put(SESSION, tid(key).as_str(), &record)
}

pub(super) fn message(session: u64, key: u64, role: &str, text: &str, more: &Value) -> Change {
    let session = format!("at://{DID}/{SESSION}/{}", tid(session));
    let mut record = json!({"$type": MESSAGE, "session": session, "role": role, "text": text, "createdAt": time(key)});
    for (name, value) in more.as_object().unwrap() {
        record[name] = value.clone();
    }
    put(MESSAGE, tid(key).as_str(), &record)
}

/// An index with these changes, and the folder it is in.
pub(super) async fn index(mut changes: Vec<Change>) -> (TempDir, Arc<dyn Index>) {
    let folder = tempfile::tempdir().unwrap();
    let index = SqliteIndex::open(folder.path().join("index.db")).await.unwrap();
    let (did, handle) = (Did::parse(DID).unwrap(), Handle::parse("dana.example").unwrap());
    changes.push(Change::Identity { did, handle: Some(handle), pds: None });
    let now = Timestamp::from_millisecond(i64::try_from(START_MS + 1_000_000_000).unwrap()).unwrap();
    let applied = index.apply(admit(Batch { changes, ..Batch::default() }, Trust::Nothing, now)).await.unwrap();
    assert_eq!(applied.rejected, 0);
    (folder, Arc::new(index))
}

pub(super) fn site(index: &Arc<dyn Index>, own: Option<Own>) -> Router {
    router(Site {
        own,
        index: Some(Arc::clone(index)),
        host: Host::new(),
        live: None,
        reached: None,
        loopback_only: false,
        limits: Limits::default(),
    })
}

pub(super) async fn get(site: &Router, path: &str) -> (StatusCode, String) {
    let response = site.clone().oneshot(Request::builder().uri(path).body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (parts.status, String::from_utf8(body.to_vec()).unwrap())
}

pub(super) async fn json_of(site: &Router, path: &str) -> Value {
    let (status, body) = get(site, path).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// A conversation of 450 turns, the first at key 11; the last but one was held back.
fn long() -> Vec<Change> {
    let mut changes = vec![session(10, None)];
    for n in 0..450 {
        let (role, more) = match n {
            448 => ("user", json!({"withheld": true})),
            n if n % 2 == 0 => ("user", json!({})),
            _ => ("assistant", json!({"model": "anthropic/claude-opus-4-5"})),
        };
        let text = if n == 448 { String::new() } else { format!("turn {n} \u{2588}\u{2588}\u{2588}.") };
        changes.push(message(10, 11 + n, role, &text, &more));
    }
    changes
}

#[tokio::test]
async fn a_long_conversation_is_read_page_by_page() {
    let (_folder, index) = index(long()).await;
    let site = site(&index, None);
    let path = format!("/@dana.example/{}", tid(10));
    for (page, first, count) in [("", 0, 200), ("?page=2", 200, 200), ("?page=3", 400, 50)] {
        let (status, body) = get(&site, &format!("{path}{page}")).await;
        assert_eq!((status, body.matches("<article").count()), (StatusCode::OK, count), "{page}");
        assert!(body.contains(&format!(">turn {first} ")) && body.contains("450 turns, 1 off the record"), "{body}");
        assert!(body.contains(&format!("{count} passages covered on this page")) || count == 50, "{page}");
        // The outline is of all of it, wherever one is.
        assert_eq!(body.matches("<li><a dir=\"auto\"").count(), 225, "{page}");
        assert!(body.contains("#turns/") && body.contains("<em>Off the record</em>"));
        assert!(body.contains("1 January 2026, 00:00 to 00:07 UTC"), "{body}");
    }
    let (_, second) = get(&site, &format!("{path}?page=2")).await;
    assert!(second.contains(&format!("href=\"{path}?page=3#{}\"", tid(459))), "{second}");
    assert!(second.contains(&format!("href=\"{path}#{}\"", tid(11))));
    for page in ["0", "4", "999999999999", "x"] {
        assert_eq!(get(&site, &format!("{path}?page={page}")).await.0, StatusCode::NOT_FOUND, "{page}");
    }
    let whole = json_of(&site, &format!("{path}.json")).await;
    assert_eq!((whole["turns"].as_array().unwrap().len(), &whole["part"]), (450, &Value::Null));
    assert_eq!(whole["counts"]["covered"], 449);
    let part = json_of(&site, &format!("{path}.json?page=2")).await;
    assert_eq!(part["part"], json!({"first": 201, "last": 400, "of": 450}));
    assert_eq!(part["turns"][0]["continues"], "no");
}

#[tokio::test]
async fn a_turn_of_the_index_has_a_page() {
    let (_folder, index) = index(long()).await;
    let site = site(&index, None);
    let path = format!("/@dana.example/{}", tid(10));
    let page = json_of(&site, &format!("{path}/{}.json", tid(211))).await;
    assert_eq!((page["position"].as_u64(), page["turns"].as_array().unwrap().len()), (Some(201), 1));
    assert_eq!(page["turns"][0]["text"], "turn 200 ███.");
    assert_eq!((&page["previous"]["rkey"], &page["next"]["rkey"]), (&json!(tid(210)), &json!(tid(212))));
    let (_, body) = get(&site, &format!("{path}/{}", tid(211))).await;
    assert!(body.contains(&format!("href=\"{path}?page=2#{}\"", tid(211))), "{body}");
    assert_eq!(get(&site, &format!("{path}/{}", tid(9))).await.0, StatusCode::NOT_FOUND);
    // The address of its record leads there.
    let response = Request::builder().uri(format!("/at/{DID}/{MESSAGE}/{}", tid(211))).body(Body::empty()).unwrap();
    let response = site.clone().oneshot(response).await.unwrap();
    assert_eq!(response.headers()["location"], format!("/at/{DID}/{SESSION}/{}/{}", tid(10), tid(211)));
}

#[tokio::test]
async fn what_the_index_has_not_any_more_is_gone() {
    let (_folder, index) = index(long()).await;
    let now = Timestamp::from_millisecond(i64::try_from(START_MS + 1_000_000_000).unwrap()).unwrap();
    let did = Did::parse(DID).unwrap();
    let address = Place { did, collection: Nsid::parse(SESSION).unwrap(), rkey: tid(10).into() };
    let changes = vec![Change::Delete { address, rev: tid(950_000) }];
    index.apply(admit(Batch { changes, ..Batch::default() }, Trust::Nothing, now)).await.unwrap();
    let site = site(&index, None);
    let path = format!("/@dana.example/{}", tid(10));
    for suffix in ["", ".json", ".md", "?page=2", &format!("/{}", tid(211))] {
        let (status, body) = get(&site, &format!("{path}{suffix}")).await;
        assert_eq!(status, StatusCode::GONE, "{suffix}");
        assert!(!body.contains("turn 2"), "{body}");
    }
}

/// What is on record from this machine stands where it belongs in time, once.
#[tokio::test]
async fn both_sources_are_one_list() {
    let mut changes = Vec::new();
    for n in 0..120 {
        changes.push(session(100 + 10 * n, Some(&format!("Index {n}"))));
    }
    let (_folder, index) = index(changes).await;
    let entry = ListEntry::new(&published(Vec::new()), Standing::Shelf);
    let own = Own {
        list: Arc::new(move |wanted| {
            let entries = (0..60_u64).rev().map(|n| OwnEntry {
                published_us: tid(105 + 20 * n).micros(),
                entry: ListEntry { title: format!("Own {n}"), ..entry.clone() },
            });
            Ok(entries.filter(|own| own.published_us < wanted.before_us).take(wanted.limit).collect())
        }),
        find: Arc::new(|_| Ok(Found::Unknown)),
        know: Arc::new(|places| {
            let known = |rkey: &Rkey| {
                if *rkey == tid(100).into() {
                    Known::Gone
                } else if *rkey == tid(1290).into() {
                    Known::Own
                } else {
                    Known::No
                }
            };
            Ok(places.iter().map(|(_, rkey)| known(rkey)).collect())
        }),
        resolve: Arc::new(|_| Ok(None)),
        version: Arc::new(|| Ok(1)),
    };
    let site = site(&index, Some(own));
    let (mut seen, mut next) = (Vec::new(), "/index.json".to_owned());
    loop {
        let page = json_of(&site, &next).await;
        let titles = page["conversations"].as_array().unwrap();
        assert!(titles.len() <= 50);
        seen.extend(titles.iter().map(|c| c["title"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(after) => next = format!("/index.json?after={after}"),
            None => break,
        }
    }
    let mut wanted: Vec<(u64, String)> = (0..60).map(|n| (105 + 20 * n, format!("Own {n}"))).collect();
    wanted.extend((1..119).map(|n| (100 + 10 * n, format!("Index {n}"))));
    wanted.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    assert_eq!(seen, wanted.into_iter().map(|(_, title)| title).collect::<Vec<_>>());
}

#[tokio::test]
async fn families_that_are_only_read_have_pages() {
    const SHARED: &str = "network.sharedcomputer.chat.message";
    let text = |text: &str| json!({"$type": "network.sharedcomputer.chat.defs#plainContent", "parts": [{"$type": "network.sharedcomputer.chat.defs#textPart", "text": text}]});
    let shared = |key: &str, role: &str, parent: Option<&str>, content: Value| {
        let mut record = json!({"$type": SHARED, "role": role, "content": content, "createdAt": time(1)});
        if let Some(parent) = parent {
            record["parent"] = parent.into();
        }
        put(SHARED, key, &record)
    };
    let changes = vec![
        shared("3first", "user", None, text("Which glaze?")),
        shared("3first.r1", "assistant", Some("3first"), text("Celadon.")),
        shared(
            "3first.r2",
            "assistant",
            Some("3first"),
            json!({"$type": "network.sharedcomputer.chat.defs#encryptedContent", "scheme": "x", "keyId": "k", "nonce": {"$bytes": "AAAA"}, "ciphertext": {"$bytes": "AAAA"}}),
        ),
        put(
            "stream.thought.memory",
            "3note",
            &json!({"$type": "stream.thought.memory", "text": "I thought of <b>clay</b>.", "createdAt": time(2)}),
        ),
    ];
    let (_folder, index) = index(changes).await;
    let site = site(&index, None);
    let (status, body) = get(&site, &format!("/at/{DID}/{SHARED}/3first.r1")).await;
    assert_eq!((status, body.matches("<article").count()), (StatusCode::OK, 2), "{body}");
    assert!(body.contains("Which glaze?") && body.contains("Celadon.") && body.contains("one of 2 attempts"), "{body}");
    let (_, body) = get(&site, &format!("/at/{DID}/{SHARED}/3first")).await;
    assert!(body.contains("This turn is encrypted") && !body.contains("Celadon"), "{body}");
    let (status, body) = get(&site, &format!("/at/{DID}/stream.thought.memory/3note")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        body.contains("I thought of") && !body.contains("<b>clay") && body.contains("shown by its shape"),
        "{body}"
    );
}

async fn decide(index: &Arc<dyn Index>, at_us: i64, subject: &Subject, hide: bool) {
    let (reason, by) = ("zwetschge".into(), "Ada".into());
    let decision = Decision { at_us, subject: subject.clone(), hide, reason, by };
    index.moderate(Moderation { decisions: vec![decision], ..Moderation::default() }).await.unwrap();
}

/// Hidden is told apart from withheld, empty, and taken back, in every format, at once. Invariant 21.
#[tokio::test]
async fn what_the_site_hides_is_said_to_be_hidden() {
    let told = vec![
        session(10, Some("How to fire a kiln")),
        message(10, 11, "user", "Why does the glaze crack?", &json!({})),
        message(10, 12, "assistant", "It cooled too fast.", &json!({"model": "anthropic/claude-opus-4-5"})),
        message(10, 13, "user", "Plums?", &json!({})),
    ];
    let (_folder, index) = index(told).await;
    let site = site(&index, None);
    let (path, did) = (format!("/@dana.example/{}", tid(10)), Did::parse(DID).unwrap());
    let at = |collection: &str, key: u64| {
        let (collection, rkey) = (Nsid::parse(collection).unwrap(), Rkey::parse(tid(key).as_str()).unwrap());
        Subject::Record(Place { did: did.clone(), collection, rkey })
    };
    for key in [12, 13] {
        decide(&index, 1, &at(MESSAGE, key), true).await;
    }
    let sentence = "This site hides this turn. That is not its author";
    for suffix in ["", ".md", ".txt"] {
        let (status, body) = get(&site, &format!("{path}{suffix}")).await;
        assert_eq!((status, body.matches(sentence).count()), (StatusCode::OK, 2), "{suffix}: {body}");
        assert!(!body.contains("cooled") && !body.contains("Plums") && !body.contains("Empty"), "{body}");
        assert!(body.contains("Why does the glaze crack?"));
    }
    let json = json_of(&site, &format!("{path}.json")).await;
    assert_eq!((&json["turns"][1]["hidden"], &json["turns"][1]["withheld"]), (&json!(true), &json!(false)));
    assert_eq!(json["turns"][0].get("hidden"), None);
    let (status, body) = get(&site, &format!("{path}/{}", tid(12))).await;
    assert!(status == StatusCode::OK && body.contains(sentence) && !body.contains("cooled"), "{body}");
    let (_, body) = get(&site, &format!("{path}/{}", tid(11))).await;
    assert!(body.contains("Hidden by this site"), "{body}");

    let author = "The host of this site decided not to show this";
    for (n, subject) in [(10, at(SESSION, 10)), (20, Subject::Account(did.clone()))] {
        decide(&index, n, &subject, true).await;
        let turn = format!("{path}/{}", tid(11));
        for path in [path.clone(), format!("{path}.md"), format!("{path}.json"), turn] {
            let (status, body) = get(&site, &path).await;
            assert_eq!(status, StatusCode::GONE, "{path}: {body}");
            assert!(body.contains(author) && !body.contains("zwetschge") && !body.contains("glaze"), "{path}: {body}");
            assert!(!body.contains("taken back"), "{path}: {body}");
        }
        let (_, home) = get(&site, "/").await;
        assert!(!home.contains("How to fire a kiln"), "{home}");
        if matches!(subject, Subject::Account(_)) {
            let (status, body) = get(&site, "/@dana.example").await;
            assert!(status == StatusCode::GONE && body.contains(author), "{status} {body}");
        }
        decide(&index, n + 1, &subject, false).await;
        assert_eq!(get(&site, &path).await.0, StatusCode::OK);
    }
    let label = |value: &str| Label {
        source: Did::parse("did:plc:ar7c4by46qjdydhdevvrndac").unwrap(),
        subject: Subject::Account(did.clone()),
        cid: None,
        value: value.into(),
        at_us: 1,
        until_ms: None,
        negated: false,
    };
    for (value, status, says) in [
        ("!no-unauthenticated", StatusCode::FORBIDDEN, "only to people who are signed in"),
        ("!takedown", StatusCode::GONE, "follows the labeler did:plc:ar7c4by46qjdydhdevvrndac"),
    ] {
        index.moderate(Moderation { labels: vec![label(value)], ..Moderation::default() }).await.unwrap();
        let (found, body) = get(&site, &path).await;
        assert!(found == status && body.contains(says), "{found} {body}");
    }
}
