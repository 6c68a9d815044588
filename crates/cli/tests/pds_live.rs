//! Following a conversation that is being written, into the repository of the reference PDS.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests fail loudly, and say by which seed"
)]

mod agent;
mod pds_support;

use std::{collections::BTreeSet, thread, time::Duration};

use agent::{Dice, Following, write_slowly, writing_time};
use onrecord_testkit::{Fault, FaultProxy, Pds, PdsOptions};
use pds_support::{Machine, transcript};
use serde_json::Value;

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";

type Records = BTreeSet<(String, String)>;

/// At-uri and CID of everything in the repository.
async fn records(pds: &Pds, did: &str) -> Records {
    let mut all = BTreeSet::new();
    for collection in ["click.aligned.chat.session", "click.aligned.chat.message"] {
        let url =
            format!("{}/xrpc/com.atproto.repo.listRecords?repo={did}&collection={collection}&limit=100", pds.url());
        let page: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        let field = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
        all.extend(page["records"].as_array().unwrap().iter().map(|r| (field(r, "uri"), field(r, "cid"))));
    }
    all
}

async fn killed_at_random(time: Duration) {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    machine.sign_in(&account, &account.app_password);
    let rows = transcript("live-1", 41);

    // What a plain publish would write, while there is nothing.
    let other = Machine::new(proxy.url());
    other.sign_in(&account, &account.app_password);
    let whole = other.file("whole.jsonl", &rows);
    let plan = other.json(&["publish", whole.to_str().unwrap(), "--dry-run", "--json"]);
    let field = |write: &Value, name: &str| write[name].as_str().unwrap().to_owned();
    let uri = |write: &Value| format!("at://{}/{}/{}", account.did, field(write, "collection"), field(write, "rkey"));
    let expected: Records = plan["writes"].as_array().unwrap().iter().map(|w| (uri(w), field(w, "cid"))).collect();
    assert_eq!(expected.len(), 42);

    let path = machine.file("talk.jsonl", "");
    let args = ["live", path.to_str().unwrap(), "--yes", "--json", "--hold", "200ms"];
    let writing = write_slowly(&path, &rows, time);
    let mut dice = Dice::new();
    let mut before = Records::new();
    while !writing.is_finished() {
        let mut child = machine.spawn(&args);
        // Some answers are lost on the way.
        if dice.below(3) == 0 {
            proxy.script(APPLY_WRITES, [Fault::CutAfter]);
        }
        tokio::time::sleep(Duration::from_millis(100 + dice.below(2500))).await;
        child.kill().unwrap();
        child.wait().unwrap();
        proxy.reset();
        let there = records(&pds, account.did.as_str()).await;
        assert!(there.is_subset(&expected), "{:?}", there.difference(&expected).collect::<Vec<_>>());
        assert!(before.is_subset(&there), "taken away: {:?}", before.difference(&there).collect::<Vec<_>>());
        before = there;
    }
    writing.join().unwrap();
    let following = Following::start(&mut machine.command(&args));
    for _ in 0..600 {
        if records(&pds, account.did.as_str()).await == expected {
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(following.end("-INT").1, 0);
    assert_eq!(records(&pds, account.did.as_str()).await, expected);
    let done = machine.json(&["publish", path.to_str().unwrap(), "--yes", "--json"]);
    assert_eq!((&done["created"], &done["updated"], &done["deleted"]), (&0.into(), &0.into(), &0.into()));
    assert!(machine.ok(&["published", "--check"]).contains("as in the repository"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_live_killed_at_random_the_records_are_those_of_a_plain_publish() {
    killed_at_random(writing_time()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes two minutes"]
async fn pds_live_killed_at_random_for_two_minutes() {
    killed_at_random(Duration::from_secs(120)).await;
}
