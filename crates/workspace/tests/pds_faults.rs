//! Publishing when the network or the PDS fails: the end state is right, or the error says what is and what to do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use std::time::Duration;

use onrecord_redact::Decisions;
use onrecord_testkit::{Fault, FaultProxy, Pds, PdsOptions};
use onrecord_workspace::{
    Error,
    publish::{Drift, Event},
};
use support::{Author, conversation, wanted};

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";
const LIST_RECORDS: &str = "com.atproto.repo.listRecords";

/// Two batches.
const TURNS: usize = 230;

#[tokio::test(flavor = "multi_thread")]
async fn pds_every_fault_of_a_batch_ends_with_the_planned_records() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let none = Decisions::default();
    let faults: Vec<(&str, Fault)> = vec![
        ("429 with headers", Fault::rate_limited(2)),
        ("429 without", Fault::rate_limited_bare()),
        ("500", Fault::server_error()),
        ("502", Fault::bad_gateway()),
        ("a page", Fault::html()),
        ("cut before", Fault::CutBefore),
        ("cut after", Fault::CutAfter),
        ("cut midway", Fault::CutMidway),
        ("expired token", Fault::expired_token()),
        ("slow answer", Fault::DelayAfter(Duration::from_secs(2))),
        ("no answer in time", Fault::DelayAfter(Duration::from_secs(17))),
    ];
    for (n, (name, fault)) in faults.into_iter().enumerate() {
        let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;
        let talk = conversation(&format!("talk-{n}"), TURNS);
        let plan = author.plan(&talk, &none).await.unwrap();
        // On the first batch for every other fault, else on the second.
        let script = if n % 2 == 0 { vec![fault] } else { vec![Fault::Pass, fault] };
        proxy.script(APPLY_WRITES, script);
        let mut events = Vec::new();
        let outcome = author.publish_watched(&talk, &none, &mut |e| events.push(e)).await;
        let outcome = outcome.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(proxy.pending(APPLY_WRITES), 0, "{name} did not happen");
        assert_eq!(outcome.created, TURNS + 1, "{name}");
        assert_eq!(author.records().await, wanted(&plan), "{name}");
        assert!(matches!(events.last(), Some(Event::Progress { done, total }) if done == total), "{name}");
        let [publication] = author.workspace.publications().unwrap().try_into().unwrap();
        assert_eq!(publication.records, u64::try_from(TURNS).unwrap() + 1, "{name}: the ledger");
        // The way back meets the same fault at the same place.
        assert_eq!(author.unpublish(&outcome.uri).await.unwrap(), TURNS + 1, "{name}");
        assert_eq!(author.records().await, [], "{name}");
    }

    // Taking back, cut after the first batch took effect.
    let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let outcome = author.publish(&conversation("back", TURNS), &none).await.unwrap();
    proxy.script(APPLY_WRITES, [Fault::CutAfter, Fault::server_error()]);
    author.unpublish(&outcome.uri).await.unwrap();
    assert_eq!(author.records().await, []);

    // Listing fails for a moment: the read is repeated.
    proxy.script(LIST_RECORDS, [Fault::bad_gateway(), Fault::CutAfter]);
    let outcome = author.publish(&conversation("listed", 5), &none).await.unwrap();
    assert_eq!(outcome.created, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_deletion_whose_answer_was_lost_is_gone_from_the_ledger_too() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let mut decisions = Decisions::default();
    let mut talk = conversation("long", 4);
    talk.turns[1].text = "A paragraph of an answer that is too long for one record.\n\n".repeat(2_500);
    author.publish(&talk, &decisions).await.unwrap();
    let [publication] = author.workspace.publications().unwrap().try_into().unwrap();
    assert!(publication.records > 5);

    // Held back: one record is updated, the other pieces are deleted; the answer is lost.
    decisions.withhold("m1");
    proxy.script(APPLY_WRITES, [Fault::CutAfter]);
    author.publish(&talk, &decisions).await.unwrap();
    let shown = author.workspace.published(&publication).unwrap().unwrap();
    assert_eq!(shown.messages.len(), 4);
    assert!(shown.messages[1].record.withheld);

    // The same where another hand deletes a piece, and the turn needs it no more.
    decisions.publish("m1");
    author.publish(&talk, &decisions).await.unwrap();
    let token = author.session.tokens().access_jwt.expose().to_owned();
    let pieces = author.workspace.published(&publication).unwrap().unwrap().messages;
    let body = serde_json::json!({
        "repo": account.did, "collection": "click.aligned.chat.message", "rkey": pieces[2].rkey.as_str()
    });
    pds.post("com.atproto.repo.deleteRecord", Some(&token), &body).await;
    decisions.withhold("m1");
    author.publish(&talk, &decisions).await.unwrap();
    assert_eq!(author.workspace.published(&publication).unwrap().unwrap().messages.len(), 4);
    let drift = Drift::of(&author.workspace, &author.target(), &publication).await.unwrap();
    assert!(drift.is_empty(), "{drift:?}");
    assert_eq!(author.records().await.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_what_cannot_be_mended_is_said() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let none = Decisions::default();

    // A server that keeps something else than it was given.
    proxy.script(APPLY_WRITES, [Fault::lying_cids()]);
    let error = author.publish(&conversation("lied", 5), &none).await.unwrap_err();
    assert!(matches!(error, Error::LyingServer { .. }), "{error}");

    // A server that fails every time: it says how far it came, and a second run finishes.
    let talk = conversation("down", TURNS);
    let plan = author.plan(&talk, &none).await.unwrap();
    proxy.script(APPLY_WRITES, std::iter::once(Fault::Pass).chain(std::iter::repeat_n(Fault::server_error(), 7)));
    let error = author.publish(&talk, &none).await.unwrap_err();
    assert!(matches!(error, Error::Interrupted { written: 200, total: 231, .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.starts_with("200 of 231 writes are done") && message.ends_with("to finish the rest"), "{message}");
    let token = author.session.tokens().access_jwt.expose().to_owned();
    assert!(!message.contains(&token));
    let outcome = author.publish(&talk, &none).await.unwrap();
    assert_eq!(outcome.created, 31);
    let uri = &outcome.uri;
    let ours: Vec<_> = (author.records().await.into_iter())
        .filter(|r| r.2["session"] == **uri || uri.ends_with(&r.0) && r.2.get("session").is_none())
        .collect();
    assert_eq!(ours, wanted(&plan));

    // A covered phrase that stands there only when the encoder has shortened the title: the last gate stops the whole of it before anything is sent.
    let before = proxy.count(APPLY_WRITES);
    let mut covered = Decisions::default();
    covered.cover_word(&author.workspace.fingerprint_key().unwrap(), "Mandalay…").unwrap();
    let mut talk = conversation("gate", 5);
    talk.title = Some(format!("{}Mandalay and more", "a".repeat(119)));
    let error = author.publish(&talk, &covered).await.unwrap_err();
    assert!(matches!(error, Error::Gate(_)) && !error.to_string().contains("Mandalay"), "{error}");
    assert_eq!(proxy.count(APPLY_WRITES), before);

    // A refusal that no repetition would change is not repeated.
    let before = proxy.count(APPLY_WRITES);
    proxy.script(APPLY_WRITES, [Fault::refusal(400, "InvalidRequest", "no such thing")]);
    let error = author.publish(&conversation("refused", 5), &none).await.unwrap_err();
    assert!(error.to_string().contains("no such thing"), "{error}");
    assert_eq!(proxy.count(APPLY_WRITES), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_limit_that_is_over_by_this_clock_is_waited_for_all_the_same() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let mut over = Fault::rate_limited(0);
    if let Fault::Answer { headers, .. } = &mut over {
        headers.retain(|(name, _)| name != "retry-after");
        headers.iter_mut().filter(|(name, _)| name == "ratelimit-reset").for_each(|h| h.1 = "1700000000".into());
    }
    proxy.script(APPLY_WRITES, std::iter::repeat_n(over, 50));
    let talk = conversation("clock", 5);
    let asked = tokio::time::timeout(Duration::from_secs(4), author.publish(&talk, &Decisions::default())).await;
    assert!(asked.is_err(), "it waits");
    assert_eq!(proxy.count(APPLY_WRITES), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_the_hourly_budget_is_used_to_the_last_point_and_never_overdrawn() {
    let pds = Pds::start(PdsOptions { rate_limits: true, ..PdsOptions::default() }).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let mut author = Author::sign_in(&account, proxy.url(), proxy.url()).await;
    let (talk, none) = (conversation("long", 1_700), Decisions::default());
    // 5,000 points an hour are 1,666 creations; the rest waits for the next hour, which is where this ends.
    let waiting = std::sync::Arc::new(tokio::sync::Notify::new());
    let said = std::sync::Arc::clone(&waiting);
    let mut seconds_to_wait = 0;
    let mut on_event = |event| {
        if let Event::Waiting { seconds } = event {
            seconds_to_wait = seconds;
            said.notify_one();
        }
    };
    tokio::select! {
        outcome = author.publish_watched(&talk, &none, &mut on_event) => panic!("not limited: {outcome:?}"),
        () = waiting.notified() => {}
    }
    assert!((3_000..=3_601).contains(&seconds_to_wait), "{seconds_to_wait}");
    let there = author.records().await.len();
    assert_eq!(there, 1_666);
    // Batches of 200, a smaller last one, and none that was refused.
    assert_eq!(proxy.count(APPLY_WRITES), 9);
}
