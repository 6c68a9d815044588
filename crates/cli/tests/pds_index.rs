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
use rusqlite::Connection;
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

#[tokio::test(flavor = "multi_thread")]
async fn pds_an_index_that_is_not_what_its_authors_wrote_is_found_and_repaired() {
    let pds = Pds::start(PdsOptions::default()).await;
    let (dana, erin, finn) =
        (author(&pds, "dana.test").await, author(&pds, "erin.test").await, author(&pds, "finn.test").await);
    let machine = Machine::on(pds.plc_url(), pds.url());
    machine.ok(&["index", "backfill", "--repo", "dana.test", "--repo", "erin.test", "--repo", "finn.test"]);
    machine.ok(&["index", "check", "--network"]);
    let exported = machine.ok(&["index", "export"]);

    // One record is lost, one has another key, and one is an older version.
    let db = Connection::open(machine.path("data/index.db")).unwrap();
    let of = |account: &Account| format!("account = (SELECT id FROM account WHERE did = '{}')", account.did);
    db.execute(&format!("DELETE FROM record WHERE {}", of(&dana)), []).unwrap();
    db.execute(&format!("UPDATE record SET rkey = '3lzotherkey22' WHERE {}", of(&erin)), []).unwrap();
    db.execute(
        &format!("UPDATE record SET cid = (SELECT cid FROM record WHERE {}) WHERE {}", of(&erin), of(&finn)),
        [],
    )
    .unwrap();
    drop(db);

    let found = machine.run(&["index", "check", "--network", "--json"]);
    assert_eq!(found.status.code(), Some(3), "{}", String::from_utf8_lossy(&found.stderr));
    let said = lines(&found);
    let differs = |account: &Account| said.iter().find(|line| line["differs"] == json!(account.did)).unwrap();
    let counts = |line: &Value| ["missing", "stale", "extra"].map(|of| line[of].as_array().unwrap().len());
    assert_eq!(counts(differs(&dana)), [1, 0, 0]);
    assert_eq!(counts(differs(&erin)), [1, 0, 1]);
    assert_eq!(counts(differs(&finn)), [0, 1, 0]);
    let of_network = json!({"accounts": 3, "differing": 3, "repaired": 0, "failed": 0});
    assert_eq!(said.last().unwrap()["network"], of_network);
    let drawn = lines(&machine.run(&["index", "check", "--network", "--sample", "1", "--json"]));
    assert_eq!(drawn.last().unwrap()["network"]["accounts"], 1);

    let repaired = machine.run(&["index", "check", "--network", "--repair"]);
    let text = String::from_utf8_lossy(&repaired.stdout).into_owned();
    assert_eq!(repaired.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&repaired.stderr));
    assert!(text.contains("1 missing (at://") && text.contains("; fetched again"), "{text}");
    machine.ok(&["index", "check", "--network"]);
    let records = |text: &str| {
        let mut records: Vec<String> =
            text.lines().filter(|line| line.starts_with("{\"record\"")).map(str::to_owned).collect();
        records.sort();
        records
    };
    assert_eq!(records(&machine.ok(&["index", "export"])), records(&exported));
    let stats = machine.json(&["index", "stats", "--json"]);
    assert_eq!(stats["status"]["conversations"], 3);

    machine.ok(&["index", "rebuild"]);
    assert_eq!(records(&machine.ok(&["index", "export"])), records(&exported));
}
