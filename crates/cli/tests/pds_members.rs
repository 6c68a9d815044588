//! A group's list of members against the reference PDS.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod pds_support;

use onrecord_lexicon::Catalog;
use onrecord_testkit::{FaultProxy, Pds, PdsOptions};
use pds_support::Machine;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn pds_members_are_added_once_listed_for_anyone_and_removed() {
    let pds = Pds::start(PdsOptions::default()).await;
    let group = pds.create_account("circle.test").await;
    let erin = pds.create_account("erin.test").await;
    let frank = pds.create_account("frank.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    assert_eq!(machine.run(&["members", "add", "erin.test", "--yes"]).status.code(), Some(4));
    machine.sign_in(&group, &group.app_password);

    // A plan, no write without a yes, then two members, by handle and by DID.
    let plan = machine.json(&["members", "add", "@erin.test", "--dry-run", "--json"]);
    let write = &plan["writes"][0];
    assert_eq!((&write["action"], &write["rkey"]), (&json!("create"), &json!(erin.did)));
    let violations =
        Catalog::bundled().validate_record("click.aligned.chat.member", &write["record"], Some(erin.did.as_str()));
    assert_eq!(violations.unwrap(), []);
    assert_eq!(machine.run(&["members", "add", "@erin.test"]).status.code(), Some(2));
    assert_eq!(machine.json(&["members", "list", "--json"])["members"], json!([]));
    let people = ["members", "add", "@erin.test", frank.did.as_str(), "erin.test", "--yes", "--json"];
    let done = machine.json(&people);
    assert_eq!((&done["created"], &done["updated"]), (&json!(2), &json!(0)));
    let again = machine.json(&people);
    assert_eq!((&again["created"], &again["updated"], &again["deleted"]), (&json!(0), &json!(0), &json!(0)));
    assert_eq!(machine.run(&["members", "add", "nobody.test", "--yes"]).status.code(), Some(1));

    // Anyone can read the list.
    let stranger = Machine::new(proxy.url());
    let list = stranger.json(&["members", "list", "circle.test", "--json"]);
    assert_eq!(list["account"], json!(group.did));
    let mut listed: Vec<&Value> = list["members"].as_array().unwrap().iter().map(|m| &m["handle"]).collect();
    listed.sort_by_key(|h| h.as_str());
    assert_eq!(listed, [&json!("erin.test"), &json!("frank.test")]);
    assert!(machine.ok(&["members", "list"]).contains("@erin.test"));

    // Another handle of today is noted; the day and what others wrote into the record stay.
    let body = json!({"identifier": group.handle, "password": group.password});
    let token = pds.post("com.atproto.server.createSession", None, &body).await["accessJwt"].clone();
    let record = json!({"$type": "click.aligned.chat.member", "subject": erin.did, "handle": "old.test",
                        "addedAt": "2026-01-01T00:00:00Z", "note": "kept"});
    let body =
        json!({"repo": group.did, "collection": "click.aligned.chat.member", "rkey": erin.did, "record": record});
    pds.post("com.atproto.repo.putRecord", token.as_str(), &body).await;
    let plan = machine.json(&["members", "add", "erin.test", "--dry-run", "--json"]);
    let record = &plan["writes"][0]["record"];
    assert_eq!((&record["handle"], &record["addedAt"]), (&json!("erin.test"), &json!("2026-01-01T00:00:00Z")));
    assert_eq!(record["note"], "kept");

    // Removed, one of them by the handle that only the list knows.
    let gone = machine.json(&["members", "remove", "old.test", frank.did.as_str(), "--yes", "--json"]);
    assert_eq!(gone["deleted"], 2);
    assert_eq!(machine.json(&["members", "remove", "erin.test", "--yes", "--json"])["deleted"], 0);
    assert_eq!(machine.json(&["members", "list", "--json"])["members"], json!([]));
}
