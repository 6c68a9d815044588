//! The Tiles families in a repository of the reference PDS: out, changed in place, and back.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use jiff::Timestamp;
use onrecord_lexicon::{Nsid, Rkey};
use onrecord_record::{
    Family,
    tiles::{self, Snapshot, TilesLink},
};
use onrecord_redact::{Decisions, Engine, seal};
use onrecord_testkit::{FaultProxy, Pds, PdsOptions};
use onrecord_transcript::Conversation;
use onrecord_workspace::{
    Error,
    publish::{self, Drift, Outcome, Pointers, TakeBack},
};
use serde_json::{Value, json};
use support::{Author, conversation};

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";

async fn publish_as(
    author: &mut Author,
    family: Family,
    talk: &Conversation,
    decisions: &Decisions,
) -> Result<Outcome, Error> {
    let id = author.workspace.remember(talk)?;
    let (draft, _) = onrecord_record::project(talk);
    let reviewed = seal(&draft, &Engine::builtin()?, decisions, &author.workspace.fingerprint_key()?)?;
    let (target, now) = (author.target(), Timestamp::now());
    let plan = publish::prepare_as(
        family,
        &author.workspace,
        &target,
        (id, &talk.source.id),
        reviewed,
        &Pointers::default(),
        now,
    )
    .await?;
    publish::execute(&mut author.workspace, &target, &plan, &mut |_| {}).await
}

async fn snapshots(author: &Author) -> Vec<(String, Value)> {
    let pages = author.session.repo().list_records(&Nsid::parse(tiles::SNAPSHOT).unwrap(), true);
    let records = pages.all().await.unwrap();
    records.into_iter().map(|r| (r.uri.to_string(), serde_json::from_str(r.value.get()).unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_tiles_records_go_out_change_in_place_and_come_back() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let token = author.session.tokens().access_jwt.expose().to_owned();
    let (talk, mut decisions) = (conversation("talk", 60), Decisions::default());
    // Another conversation of another program, in the very collection.
    let other = json!({"repo": account.did, "collection": tiles::SNAPSHOT, "record":
        {"$type": tiles::SNAPSHOT, "name": "not ours", "sessionId": "x", "createdAt": "2026-01-01T00:00:00Z", "turns": []}});
    pds.post("com.atproto.repo.createRecord", Some(&token), &other).await;

    for family in [Family::Tiles, Family::TilesPrivate] {
        decisions.publish("m7");
        let out = publish_as(&mut author, family, &talk, &decisions).await.unwrap();
        assert_eq!((out.created, out.updated, out.deleted), (1, 0, 0));
        let link = TilesLink::parse(&out.link.clone().unwrap().to_text()).unwrap().unwrap();
        assert_eq!((link.uri.as_str(), link.secret.is_some()), (out.uri.as_str(), family == Family::TilesPrivate));
        let there = snapshots(&author).await;
        assert_eq!(there.len(), 2);
        let record = &there.iter().find(|(uri, _)| *uri == out.uri).unwrap().1;
        let text = record.to_string();
        assert_eq!(text.contains("Question 2"), family == Family::Tiles, "{family}");
        assert_eq!(text.contains("Conversation talk"), family == Family::Tiles);
        if family == Family::TilesPrivate {
            assert_eq!(record.as_object().unwrap().len(), 2);
        }
        let opened = Snapshot::open(tiles::SNAPSHOT, record.clone(), link.secret.as_ref()).unwrap();
        let reading = tiles::read(&opened, &out.uri);
        assert_eq!(reading.conversation.turns.len(), 60);
        assert_eq!(reading.conversation.turns[5].text, talk.turns[5].text);

        // Again: nothing, not even asked for.
        let writes = proxy.count(APPLY_WRITES);
        let again = publish_as(&mut author, family, &talk, &decisions).await.unwrap();
        assert_eq!((again.created, again.updated, again.deleted, again.link_is_new), (0, 0, 0, false));
        assert_eq!(proxy.count(APPLY_WRITES), writes);

        // Changed: one update, at the same place; the answer is lost on the way, and nothing is written twice.
        decisions.withhold("m7");
        proxy.script(APPLY_WRITES, [onrecord_testkit::Fault::CutAfter]);
        let changed = publish_as(&mut author, family, &talk, &decisions).await.unwrap();
        assert_eq!((changed.created, changed.updated, &changed.uri), (0, 1, &out.uri));
        let record = snapshots(&author).await.into_iter().find(|(uri, _)| *uri == out.uri).unwrap().1;
        let secret = changed.link.unwrap().secret;
        let opened = Snapshot::open(tiles::SNAPSHOT, record.clone(), secret.as_ref()).unwrap();
        assert_eq!(tiles::read(&opened, "x").held.len(), 1);
        if family == Family::TilesPrivate {
            let old = Snapshot::open(tiles::SNAPSHOT, record, link.secret.as_ref());
            assert!(matches!(old, Err(onrecord_record::Error::WrongKey)));
        }

        // The ledger and the repository agree, until someone changes the record by other means.
        let publications = author.workspace.publications().unwrap();
        let publication = publications.iter().find(|p| p.family == family).unwrap();
        let target = author.target();
        assert!(Drift::of(&author.workspace, &target, publication).await.unwrap().is_empty());
        let key = publication.rkey.to_string();
        let body = json!({"repo": account.did, "collection": tiles::SNAPSHOT, "rkey": key, "record": other["record"]});
        pds.post("com.atproto.repo.putRecord", Some(&token), &body).await;
        let drift = Drift::of(&author.workspace, &target, publication).await.unwrap();
        assert_eq!((drift.changed.len(), drift.missing.len(), drift.unknown.len()), (1, 0, 0));
        let mended = publish_as(&mut author, family, &talk, &decisions).await.unwrap();
        assert_eq!((mended.created, mended.updated), (0, 1));
        let body = json!({"repo": account.did, "collection": tiles::SNAPSHOT, "rkey": key});
        pds.post("com.atproto.repo.deleteRecord", Some(&token), &body).await;
        assert_eq!(Drift::of(&author.workspace, &target, publication).await.unwrap().missing.len(), 1);
        publish_as(&mut author, family, &talk, &decisions).await.unwrap();

        // Back.
        let rkey = Rkey::parse(&key).unwrap();
        let take_back = TakeBack::prepare(&author.workspace, &target, &rkey).await.unwrap();
        assert_eq!(take_back.execute(&mut author.workspace, &target, &mut |_| {}).await.unwrap(), 1);
        assert_eq!(snapshots(&author).await.len(), 1);
        assert!(author.workspace.is_gone(&author.session.did(), &rkey).unwrap());
        assert!(author.workspace.publications().unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_record_as_large_as_it_may_be_is_taken() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let mut talk = conversation("talk", 2);
    for (family, room) in [(Family::Tiles, 990_000), (Family::TilesPrivate, 740_000)] {
        talk.turns[0].text = "word ".repeat(room / 5);
        let out = publish_as(&mut author, family, &talk, &Decisions::default()).await.unwrap();
        assert_eq!(out.created, 1);
        talk.turns[0].text.push_str(&"word ".repeat(20_000));
        let refused = publish_as(&mut author, family, &talk, &Decisions::default()).await;
        assert!(matches!(refused, Err(Error::Record(onrecord_record::Error::TooLarge { .. }))), "{refused:?}");
    }
}
