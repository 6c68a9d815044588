//! `onrecord index` with a real network: what was put on record before is fetched, and what could not be is said.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]
#![cfg(unix)]

mod pds_support;

use std::process::Output;

use onrecord_testkit::{Account, Fault, FaultProxy, Pds, PdsOptions};
use pds_support::Machine;
use serde_json::{Value, json};

const SESSION: &str = "click.aligned.chat.session";
const GET_REPO: &str = "com.atproto.sync.getRepo";

/// An account with one conversation.
async fn author(pds: &Pds, name: &str) -> Account {
    let account = pds.create_account(name).await;
    let body = json!({"identifier": account.handle.as_str(), "password": account.password});
    let session = pds.post("com.atproto.server.createSession", None, &body).await;
    let record = json!({"$type": SESSION, "createdAt": "2026-01-02T03:04:05.678Z", "title": format!("Of {name}")});
    let body = json!({"repo": account.did, "collection": SESSION, "rkey": "3lztestkey22a", "record": record,
        "validate": false});
    pds.post("com.atproto.repo.putRecord", Some(session["accessJwt"].as_str().unwrap()), &body).await;
    account
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{text}"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_what_was_on_record_before_is_fetched_and_the_rest_said() {
    let pds = Pds::start(PdsOptions::default()).await;
    let proxy = FaultProxy::start(&pds).await;
    let (dana, erin) = (author(&pds, "dana.test").await, author(&pds, "erin.test").await);
    let machine = Machine::new(proxy.url());
    proxy.script(&format!("/{}", erin.did), [Fault::Pass, Fault::refusal(404, "NotFound", "gone")]);
    let backfill = ["index", "backfill", "--repo", "dana.test", "--repo", erin.did.as_str()];
    let first = machine.run(&[&backfill[..], &["--json"]].concat());
    assert_eq!(first.status.code(), Some(1), "{}", String::from_utf8_lossy(&first.stderr));
    let said = lines(&first);
    assert_eq!(said.last().unwrap(), &json!({"done": true, "fetched": 1, "before": 0, "failed": 1}));
    let fetched = said.iter().find(|line| line.get("fetched").is_some_and(Value::is_string)).unwrap();
    assert_eq!((&fetched["fetched"], &fetched["records"]), (&json!(dana.did), &json!(1)));
    assert_eq!(fetched["proven"], true);
    let failed = said.iter().find(|line| line.get("why").is_some()).unwrap();
    assert_eq!(failed["failed"], json!(erin.did));

    // Only the one that is missing.
    let again = machine.run(&backfill);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(String::from_utf8_lossy(&again.stdout), "1 repository fetched\n");
    assert_eq!(proxy.count(GET_REPO), 2);
    let stats = machine.json(&["index", "stats", "--json"]);
    assert_eq!(stats["status"]["conversations"], 2);

    let nobody = machine.run(&["index", "backfill", "--repo", "nobody.test"]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nobody.stdout).contains("nobody.test could not be fetched"));
    assert_eq!(machine.run(&["index", "backfill"]).status.code(), Some(2));
}
