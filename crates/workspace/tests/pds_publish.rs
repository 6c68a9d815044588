//! Publishing to the reference PDS and taking back, with nothing in the way.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use onrecord_lexicon::Rkey;
use onrecord_redact::Decisions;
use onrecord_testkit::{FaultProxy, Pds, PdsOptions};
use onrecord_workspace::{
    Error,
    publish::{Drift, TakeBack},
};
use serde_json::json;
use support::{Author, conversation, wanted};

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";

// Invariant 10.
#[tokio::test(flavor = "multi_thread")]
async fn pds_a_conversation_goes_out_grows_changes_and_comes_back_whole() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;

    // Records of someone else's making, one in the very collection.
    let foreign = |text: &str| {
        json!({"$type": "click.aligned.chat.message", "session": "at://did:web:example.com/click.aligned.chat.session/x",
               "role": "user", "text": text, "createdAt": "2026-01-01T00:00:00Z"})
    };
    let token = author.session.tokens().access_jwt.expose().to_owned();
    for (collection, record) in [
        ("click.aligned.chat.message", foreign("not ours")),
        ("com.example.note", json!({"$type": "com.example.note", "text": "not ours either"})),
    ] {
        let body = json!({"repo": account.did, "collection": collection, "record": record});
        pds.post("com.atproto.repo.createRecord", Some(&token), &body).await;
    }
    let before = author.records().await;
    assert_eq!(before.len(), 1);

    // Out: what is in the repository is what was planned, to the CID, in order.
    let talk = conversation("talk", 250);
    let mut decisions = Decisions::default();
    let plan = author.plan(&talk, &decisions).await.unwrap();
    let outcome = author.publish(&talk, &decisions).await.unwrap();
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (251, 0, 0));
    let ours = |records: Vec<(String, String, serde_json::Value)>| -> Vec<_> {
        records.into_iter().filter(|r| r.2["text"] != "not ours").collect()
    };
    assert_eq!(ours(author.records().await), wanted(&plan));
    assert_eq!(proxy.count(APPLY_WRITES), 2);

    // Again: nothing is written, not even asked for.
    let outcome = author.publish(&talk, &decisions).await.unwrap();
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (0, 0, 0));
    assert_eq!(proxy.count(APPLY_WRITES), 2);

    // One more turn held back: one update, under its key.
    let published = ours(author.records().await);
    decisions.withhold("m101");
    let outcome = author.publish(&talk, &decisions).await.unwrap();
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (0, 1, 0));
    let after = ours(author.records().await);
    let changed: Vec<_> = published.iter().zip(&after).filter(|(a, b)| a != b).collect();
    assert_eq!(changed.len(), 1);
    let (was, is) = changed[0];
    assert_eq!(was.0, is.0);
    assert_eq!((&is.2["withheld"], &is.2["text"]), (&json!(true), &json!("")));
    assert!(is.2.get("model").is_none() && is.2.get("steps").is_none());

    // It grew: only the new turns are written, behind the others.
    let grown = conversation("talk", 260);
    let outcome = author.publish(&grown, &decisions).await.unwrap();
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (10, 0, 0));
    let longer = ours(author.records().await);
    assert_eq!(longer[..after.len()], after);
    assert_eq!(longer.len(), 261);

    // The ledger and the repository agree, until someone changes a record by other means.
    let [publication] = author.workspace.publications().unwrap().try_into().unwrap();
    let target = author.target();
    assert!(Drift::of(&author.workspace, &target, &publication).await.unwrap().is_empty());
    let (key, mut record) = (longer[5].0.clone(), longer[5].2.clone());
    record["text"] = "changed elsewhere".into();
    let body = json!({"repo": account.did, "collection": "click.aligned.chat.message", "rkey": key, "record": record});
    pds.post("com.atproto.repo.putRecord", Some(&token), &body).await;
    let body = json!({"repo": account.did, "collection": "click.aligned.chat.message", "rkey": longer[9].0});
    pds.post("com.atproto.repo.deleteRecord", Some(&token), &body).await;
    let drift = Drift::of(&author.workspace, &target, &publication).await.unwrap();
    assert_eq!((drift.changed.len(), drift.missing.len(), drift.unknown.len()), (1, 1, 0));
    let outcome = author.publish(&grown, &decisions).await.unwrap();
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (1, 1, 0));
    assert_eq!(ours(author.records().await), longer);

    // A second conversation of the same minutes stands beside the first.
    let other = conversation("other", 20);
    let second = author.publish(&other, &Decisions::default()).await.unwrap();
    assert_eq!(second.created, 21);

    // Back: nothing is left of the first, everything of the rest.
    assert_eq!(author.unpublish(&outcome.uri).await.unwrap(), 261);
    let left = author.records().await;
    assert_eq!(left.len(), 1 + 21);
    assert!(left.iter().any(|r| r.2["text"] == "not ours"));
    assert!(matches!(author.unpublish(&outcome.uri).await, Err(Error::NotOnRecord { .. })));

    // With the ledger lost, the repository still tells what is there.
    let mut amnesiac = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let writes = proxy.count(APPLY_WRITES);
    let outcome = amnesiac.publish(&other, &Decisions::default()).await.unwrap();
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (0, 0, 0));
    assert_eq!(proxy.count(APPLY_WRITES), writes);
    let amnesiac = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let mut amnesiac = amnesiac;
    assert_eq!(amnesiac.unpublish(&outcome.uri).await.unwrap(), 21);
    assert_eq!(amnesiac.records().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_what_another_machine_publishes_meanwhile_is_taken_back_too() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut here = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let mut there = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let none = Decisions::default();
    let outcome = here.publish(&conversation("talk", 6), &none).await.unwrap();
    let rkey = Rkey::parse(outcome.uri.rsplit('/').next().unwrap()).unwrap();
    let target = here.target();
    let take_back = TakeBack::prepare(&here.workspace, &target, &rkey).await.unwrap();
    there.publish(&conversation("talk", 10), &none).await.unwrap();
    assert_eq!(take_back.execute(&mut here.workspace, &target, &mut |_| {}).await.unwrap(), 11);
    assert_eq!(here.records().await, []);
    assert_eq!(here.workspace.publications().unwrap(), []);
}
