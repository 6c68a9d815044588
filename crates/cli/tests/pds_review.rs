//! The whole way through the author's pages against the reference PDS: from the list to what is published, changed, and taken back.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]
#![cfg(unix)]

mod pds_support;
mod reviewing;

use onrecord_testkit::{Chromium, FaultProxy, Pds, PdsOptions, View};
use pds_support::{Machine, transcript};
use reviewing::{Look as _, Reviewing};
use serde_json::Value;

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";

async fn messages(pds: &Pds, did: &str) -> Vec<Value> {
    let list = format!(
        "{}/xrpc/com.atproto.repo.listRecords?repo={did}&collection=click.aligned.chat.message&limit=100&reverse=true",
        pds.url()
    );
    let there: Value = reqwest::get(&list).await.unwrap().json().await.unwrap();
    there["records"].as_array().unwrap().clone()
}

// Invariant 1.
#[tokio::test(flavor = "multi_thread")]
async fn pds_an_author_publishes_changes_and_takes_back_in_the_browser() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    assert!(machine.sign_in(&account, &account.app_password).status.success());
    let file = machine.file("talk.jsonl", &transcript("review-1", 12));
    let reviewing = Reviewing::start(machine.command(&["review", file.to_str().unwrap(), "--json", "--no-open"]));
    let url = reviewing.url.clone();
    let mut browser = tokio::task::spawn_blocking(move || {
        let mut browser = Chromium::start(View { width: 1400, height: 900, ..View::default() });
        browser.open(&url);
        browser.wait_for_words("#panel", "Publish as @dana.test");
        browser.click("#t3 .switch", "");
        browser.wait_until("document.querySelector('#t3.held')");
        browser.choose(("#t2 .words", "second part", 0), ("#t2 .words", "second part", 11));
        browser.click("#choose button", "Cover it everywhere");
        browser.wait_until("document.querySelector('#t2 .bar.cover')");
        // Looking wrote nothing; the plan neither.
        browser.click("#panel a.button", "");
        browser.wait_for_words(".plan-counts", "13 records to create, 0 to update, 0 to delete");
        browser
    })
    .await
    .unwrap();
    assert_eq!(proxy.count(APPLY_WRITES), 0);
    assert!(messages(&pds, account.did.as_str()).await.is_empty());

    let mut browser = tokio::task::spawn_blocking(move || {
        assert!(browser.text("main").contains("the network copies these records within seconds"));
        browser.click("#go", "");
        browser.wait_for_words("#job", "13 created, 0 updated, 0 deleted");
        assert!(browser.text(".links").contains("at://"));
        assert_eq!(browser.count(".links [data-copy]:not([hidden])"), 2);
        browser
    })
    .await
    .unwrap();
    let there = messages(&pds, account.did.as_str()).await;
    assert_eq!(there.len(), 12);
    assert_eq!(there[2]["value"]["withheld"], true);
    assert!(!Value::from(there.clone()).to_string().contains("second part"));

    // What was agreed to is what is written: a plan that is not that any more writes nothing.
    let session = file.to_str().unwrap().to_owned();
    let writes = proxy.count(APPLY_WRITES);
    let desk = browser_path(&mut browser);
    let origin = reviewing.origin.clone();
    let mut browser = {
        let (origin, desk) = (origin.clone(), desk.clone());
        tokio::task::spawn_blocking(move || {
            browser.open(&format!("{origin}{desk}"));
            browser.wait_for_words("#head", "on record");
            browser.click("#t3 .switch", "");
            browser.wait_until("!document.querySelector('#t3.held')");
            browser.open(&format!("{origin}{desk}/publish"));
            browser.wait_for_words(".plan-counts", "0 records to create, 1 to update, 0 to delete");
            // The change stands there, line by line.
            let diff = browser.text(".diff");
            assert!(diff.contains("-(held back)") && diff.contains("+Question 2"), "{diff}");
            browser
        })
        .await
        .unwrap()
    };
    machine.ok(&["decide", &session, "--withhold", "5"]);
    let mut browser = tokio::task::spawn_blocking(move || {
        browser.click("#go", "");
        browser.wait_for_words("main", "not what was shown");
        browser
    })
    .await
    .unwrap();
    assert_eq!(proxy.count(APPLY_WRITES), writes);

    let mut browser = {
        let (origin, desk) = (origin.clone(), desk.clone());
        tokio::task::spawn_blocking(move || {
            browser.open(&format!("{origin}{desk}/publish"));
            browser.wait_for_words(".plan-counts", "2 to update");
            browser.click("#go", "");
            browser.wait_for_words("#job", "0 created, 2 updated, 0 deleted");
            // Compared with the repository, from the list.
            browser.open(&format!("{origin}/"));
            browser.click(".check button", "");
            browser.wait_for_words(".check", "Everything on record is in its repository");
            browser
        })
        .await
        .unwrap()
    };
    let there = messages(&pds, account.did.as_str()).await;
    assert_eq!((&there[2]["value"]["withheld"], &there[4]["value"]["withheld"]), (&Value::Null, &Value::Bool(true)));

    let browser = tokio::task::spawn_blocking(move || {
        browser.open(&format!("{origin}{desk}/take-back"));
        browser.wait_for_words("h1", "Take it back, whole?");
        browser.click(".place button", "Take it back");
        browser.wait_for_words("#job", "Taken back: 13 records deleted");
        browser.open(&format!("{origin}{desk}"));
        browser.wait_for_words("#head", "nothing is public yet");
        browser
    })
    .await
    .unwrap();
    drop(browser);
    assert!(messages(&pds, account.did.as_str()).await.is_empty());
}

fn browser_path(browser: &mut Chromium) -> String {
    let path = tokio::task::block_in_place(|| browser.evaluate("location.pathname.replace('/run', '')"));
    path.as_str().unwrap().to_owned()
}
