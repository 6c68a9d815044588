//! What turns are about, against the reference PDS: records that exist, at the version of the moment, and accounts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use onrecord_redact::Decisions;
use onrecord_testkit::{Account, Fault, FaultProxy, Pds, PdsOptions};
use onrecord_transcript::{Conversation, Part};
use serde_json::{Value, json};
use support::{Author, conversation};

const GET_RECORD: &str = "com.atproto.repo.getRecord";

/// A conversation of four turns in which `text` is said in the third.
fn saying(text: &str) -> Conversation {
    let mut conversation = conversation("talk", 4);
    let turn = &mut conversation.turns[2];
    turn.text = text.to_owned();
    turn.parts = vec![Part::Text { text: text.to_owned() }];
    conversation
}

/// Writes a record, or another version of it, and gives its CID.
async fn put(pds: &Pds, account: &Account, collection: &str, rkey: &str, text: &str) -> String {
    let body = json!({"identifier": account.handle, "password": account.password});
    let session = pds.post("com.atproto.server.createSession", None, &body).await;
    let record = json!({"$type": collection, "text": text, "createdAt": "2026-01-01T00:00:00Z"});
    let body = json!({"repo": account.did, "collection": collection, "rkey": rkey, "record": record});
    let put = pds.post("com.atproto.repo.putRecord", session["accessJwt"].as_str(), &body).await;
    put["cid"].as_str().unwrap().to_owned()
}

async fn message(author: &Author) -> Value {
    author.records().await[3].2.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_refs_are_pinned_when_published_and_stay_so() {
    let pds = Pds::start(PdsOptions::default()).await;
    let dana = pds.create_account("dana.test").await;
    let erin = pds.create_account("erin.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&dana, proxy.url(), proxy.url()).await;
    let first = put(&pds, &erin, "app.bsky.feed.post", "3kxyz22222222", "first").await;
    let note = put(&pds, &erin, "com.example.note", "self", "a note").await;
    let (dana, erin_did) = (&dana.did, &erin.did);
    let text = format!(
        "As @erin.test said in https://bsky.app/profile/erin.test/post/3kxyz22222222 (also at://{erin_did}/com.example.note/self, \
         and at://{erin_did}/app.bsky.feed.post/3kxyz22222222 again), not at://{erin_did}/com.example.note/gone, @dana.test. \
         @nobody.test and `@dana.test` are none."
    );
    let none = Decisions::default();
    author.publish(&saying(&text), &none).await.unwrap();
    let said = message(&author).await;
    let post_uri = format!("at://{erin_did}/app.bsky.feed.post/3kxyz22222222");
    let expected_refs = json!([
        {"uri": post_uri, "cid": first},
        {"uri": format!("at://{erin_did}/com.example.note/self"), "cid": note},
    ]);
    assert_eq!(said["refs"], expected_refs);
    assert_eq!(said["mentions"], json!([erin_did, dana]));
    for other in [1, 2, 4] {
        assert!(author.records().await[other].2.get("refs").is_none());
    }

    // The record changes, then goes: what is published stays pinned, and nobody is asked.
    put(&pds, &erin, "app.bsky.feed.post", "3kxyz22222222", "second").await;
    let asked = proxy.count(GET_RECORD);
    let outcome = author.publish(&saying(&text), &none).await.unwrap();
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (0, 0, 0));
    // One getRecord is that of the session, by which the repository is listed.
    assert!(proxy.count(GET_RECORD) <= asked + 1, "{} after {asked}", proxy.count(GET_RECORD));
    assert_eq!(message(&author).await["refs"], expected_refs);

    // Held back, it is about nothing.
    let mut held = Decisions::default();
    held.withhold("m2");
    author.publish(&saying(&text), &held).await.unwrap();
    let said = message(&author).await;
    assert!(said.get("refs").is_none() && said.get("mentions").is_none());

    // Refused, one by one.
    let key = author.workspace.fingerprint_key().unwrap();
    let mut refused = Decisions::default();
    refused.drop_pointer(&key, Some("m2"), &post_uri);
    refused.drop_pointer(&key, None, "at://erin.test");
    author.publish(&saying(&text), &refused).await.unwrap();
    let said = message(&author).await;
    assert_eq!(said["refs"], json!([expected_refs[1]]));
    assert_eq!(said["mentions"], json!([dana]));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_server_that_fails_is_told_and_stops_nothing() {
    let pds = Pds::start(PdsOptions::default()).await;
    let dana = pds.create_account("dana.test").await;
    let erin = pds.create_account("erin.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&dana, proxy.url(), proxy.url()).await;
    put(&pds, &erin, "com.example.note", "one", "a note").await;
    let text = format!("at://{}/com.example.note/one and @erin.test", erin.did);
    proxy.script(GET_RECORD, [Fault::html()]);
    let none = Decisions::default();
    author.publish(&saying(&text), &none).await.unwrap();
    let said = message(&author).await;
    assert!(said.get("refs").is_none());
    assert_eq!(said["mentions"], json!([erin.did]));
    proxy.reset();
    // Published again, it is added.
    let outcome = author.publish(&saying(&text), &none).await.unwrap();
    assert_eq!((outcome.created, outcome.updated), (0, 1));
    assert_eq!(message(&author).await["refs"].as_array().unwrap().len(), 1);
}
