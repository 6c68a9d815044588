//! What is looked up when a reader asks, against a real server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
};
use jiff::Timestamp;
use onrecord_atproto::{Client, Config};
use onrecord_index::{Address, Batch, Change, Index, Put, SqliteIndex, Trust, admit};
use onrecord_lexicon::{Nsid, Rkey, Tid, data::record_cid};
use onrecord_record::aligned::{MESSAGE, SESSION};
use onrecord_testkit::{Account, Pds, PdsOptions};
use onrecord_web::{Host, Limits, Live, Site, router};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const POST: &str = "app.bsky.feed.post";

struct Author<'a> {
    pds: &'a Pds,
    account: Account,
    token: String,
}

impl<'a> Author<'a> {
    async fn new(pds: &'a Pds) -> Self {
        let account = pds.create_account("dana.test").await;
        let login = json!({"identifier": account.did, "password": account.password});
        let session = pds.post("com.atproto.server.createSession", None, &login).await;
        Self { pds, account, token: session["accessJwt"].as_str().unwrap().to_owned() }
    }

    async fn put(&self, collection: &str, rkey: &str, record: &Value) {
        let body = json!({"repo": self.account.did, "collection": collection, "rkey": rkey, "record": record});
        self.pds.post("com.atproto.repo.putRecord", Some(&self.token), &body).await;
    }

    async fn delete(&self, collection: &str, rkey: &str) {
        let body = json!({"repo": self.account.did, "collection": collection, "rkey": rkey});
        self.pds.post("com.atproto.repo.deleteRecord", Some(&self.token), &body).await;
    }

    fn seen(&self, collection: &str, rkey: &str, record: &Value) -> Change {
        let (_, cid) = record_cid(record).unwrap();
        let (collection, rkey) = (Nsid::parse(collection).unwrap(), Rkey::parse(rkey).unwrap());
        let address = Address { did: self.account.did.clone(), collection, rkey };
        let rev = Tid::parse("3mg7j5nmx622b").unwrap();
        Change::Put(Box::new(Put { address, cid, rev, json: record.to_string().into() }))
    }
}

async fn get(site: &Router, path: &str) -> (StatusCode, String) {
    let response = site.clone().oneshot(Request::builder().uri(path).body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    (parts.status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn pds_signatures_and_references_are_looked_up_when_asked() {
    let pds = Pds::start(PdsOptions::default()).await;
    let author = Author::new(&pds).await;
    let did = author.account.did.clone();
    let (session_key, message_key, post_key) = ("3mf2k5aaaaa22", "3mf2k5aaaab22", "3mf2k5aaaac22");
    let post = json!({"$type": POST, "text": "Glazes crack. <b>Why</b>?", "createdAt": "2026-03-04T05:00:00.000Z"});
    let (_, post_cid) = record_cid(&post).unwrap();
    let uri = format!("at://{did}/{SESSION}/{session_key}");
    let session = json!({"$type": SESSION, "title": "Kilns", "createdAt": "2026-03-04T05:06:00.000Z"});
    let message = json!({"$type": MESSAGE, "session": uri, "role": "user", "text": "Look at this.",
        "createdAt": "2026-03-04T05:06:00.000Z",
        "refs": [{"uri": format!("at://{did}/{POST}/{post_key}"), "cid": post_cid.to_string()}]});
    let records = [(SESSION, session_key, &session), (MESSAGE, message_key, &message)];
    author.put(POST, post_key, &post).await;
    for (collection, rkey, record) in records {
        author.put(collection, rkey, record).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let index = SqliteIndex::open(folder.path().join("index.db")).await.unwrap();
    let changes = records.map(|(collection, rkey, record)| author.seen(collection, rkey, record)).to_vec();
    let now = Timestamp::from_second(1_900_000_000).unwrap();
    let applied = index.apply(admit(Batch { changes, ..Batch::default() }, Trust::Nothing, now)).await.unwrap();
    assert_eq!(applied.stored, 2);
    let config = Config { plc_url: pds.plc_url().parse().unwrap(), allow_local: true, ..Config::default() };
    let live = Some(Live::new(Client::new(config).unwrap()));
    let site = router(Site {
        own: None,
        index: Some(Arc::new(index)),
        host: Host::new(),
        live,
        loopback_only: false,
        limits: Limits::default(),
    });
    let path = format!("/at/{did}/{SESSION}/{session_key}");

    let (_, page) = get(&site, &path).await;
    assert!(page.contains(&format!("href=\"{path}/verify\"")), "{page}");
    assert!(page.contains(&format!("href=\"{path}/{message_key}/about/0\"")), "{page}");
    let (status, page) = get(&site, &format!("{path}/verify")).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(
        page.contains("<h1>Signed by the author</h1>") && page.contains(&format!("onrecord verify {uri}")),
        "{page}"
    );
    let (_, report) = get(&site, &format!("{path}/verify.json")).await;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["ok"], &report["counts"]["messages"]), (&json!(true), &json!(1)));

    let about = format!("{path}/{message_key}/about/0");
    let now = async |status: &str| {
        let (_, answer) = get(&site, &format!("{about}.json")).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["status"], status, "{answer}");
        answer
    };
    assert_eq!(now("same").await["text"], "Glazes crack. <b>Why</b>?");
    let (_, page) = get(&site, &about).await;
    assert!(page.contains("the same") && page.contains("&lt;b&gt;Why") && !page.contains("<b>Why"), "{page}");
    author
        .put(POST, post_key, &json!({"$type": POST, "text": "Changed.", "createdAt": "2026-03-04T05:00:00.000Z"}))
        .await;
    assert_eq!(now("changed").await["text"], "Changed.");
    author.delete(POST, post_key).await;
    assert!(now("deleted").await["text"].is_null());
    // Nothing but what a turn names that is here.
    for other in [
        format!("{path}/{message_key}/about/1"),
        format!("{path}/3nope/about/0"),
        format!("/at/{did}/{POST}/{post_key}/verify"),
    ] {
        assert_eq!(get(&site, &other).await.0, StatusCode::NOT_FOUND, "{other}");
    }
}
