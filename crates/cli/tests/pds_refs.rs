//! References and mentions from the command line, against the reference PDS: seen before they go out, refused, pinned anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod pds_support;

use onrecord_testkit::{Fault, FaultProxy, Pds, PdsOptions};
use pds_support::{Machine, said};
use serde_json::{Value, json};

// Invariant 18.
#[tokio::test(flavor = "multi_thread")]
async fn pds_what_a_turn_refers_to_is_seen_decided_and_pinned() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let erin = pds.create_account("erin.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    let body = json!({"identifier": erin.handle, "password": erin.password});
    let token = pds.post("com.atproto.server.createSession", None, &body).await["accessJwt"].clone();
    let write = async |text: &str| {
        let record = json!({"$type": "com.example.note", "text": text});
        let body = json!({"repo": erin.did, "collection": "com.example.note", "rkey": "one", "record": record});
        pds.post("com.atproto.repo.putRecord", token.as_str(), &body).await["cid"].as_str().unwrap().to_owned()
    };
    let first = write("first").await;
    let uri = format!("at://{}/com.example.note/one", erin.did);
    let text = format!("See {uri}, and ask @erin.test or @nobody.test.");
    let file = machine.file("talk.jsonl", &said("refs-1", &["Where is it?", &text, "Thanks, @erin.test."]));
    let file = file.to_str().unwrap();
    assert!(machine.sign_in(&account, &account.app_password).status.success());

    // Named before anything is asked; looked up for the plan; what leads nowhere is told.
    let decided = machine.json(&["decide", file, "--json"]);
    let names: Vec<_> = decided["pointers"].as_array().unwrap().iter().map(|p| (&p["name"], &p["state"])).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names.iter().all(|(_, state)| *state == "unasked"), "{names:?}");
    let plan = machine.run(&["publish", file, "--dry-run"]);
    let (out, err) = (String::from_utf8_lossy(&plan.stdout), String::from_utf8_lossy(&plan.stderr));
    assert!(out.contains(&format!("turn 2 refers to {uri}, @erin.test")), "{out}");
    assert!(err.contains("@nobody.test (turn 2) leads nowhere"), "{err}");
    let plan = machine.json(&["publish", file, "--dry-run", "--json"]);
    let wanted = json!([{"uri": uri, "cid": first}]);
    assert_eq!(plan["writes"][2]["record"]["refs"], wanted);
    assert_eq!(plan["pointers"][0]["ref"], wanted[0]);

    // What goes out is what was planned; a change of the record changes nothing, until it is wished.
    machine.ok(&["publish", file, "--yes"]);
    let second = write("second").await;
    let updated = |args: &[&str]| machine.json(args)["updated"].clone();
    assert_eq!(updated(&["publish", file, "--yes", "--json"]), 0);
    // What cannot be looked up just now stays as it was, too.
    proxy.script("com.atproto.repo.getRecord", [Fault::html()]);
    assert_eq!(updated(&["publish", file, "--yes", "--json", "--repin"]), 0);
    assert_eq!(updated(&["publish", file, "--yes", "--json", "--repin"]), 1);
    let shown = machine.json(&["publish", file, "--dry-run", "--json"]);
    assert_eq!(shown["pointers"][0]["ref"]["cid"], second.as_str());

    // Dropped in one turn, by the account's DID; then all of them; then as before.
    assert_eq!(machine.run(&["decide", file, "--drop-mention", "frank.test"]).status.code(), Some(2));
    machine.ok(&["decide", file, "--drop-mention", erin.did.as_str(), "--turn", "3"]);
    let plan = machine.json(&["publish", file, "--dry-run", "--json"]);
    let states: Vec<_> = plan["pointers"].as_array().unwrap().iter().map(|p| p["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["ref", "mention", "absent", "refused"]);
    assert_eq!(updated(&["publish", file, "--yes", "--json"]), 1);
    machine.ok(&["decide", file, "--refs", "none"]);
    assert_eq!(updated(&["publish", file, "--yes", "--json"]), 1);
    assert_eq!(machine.json(&["publish", file, "--dry-run", "--json"])["writes"], Value::Array(vec![]));
    machine.ok(&["decide", file, "--refs", "all"]);
    assert_eq!(updated(&["publish", file, "--yes", "--json"]), 2);

    // On the shelf without a network: told, and done all the same.
    drop(proxy);
    let text = format!("at://{}/com.example.note/two", erin.did);
    let other = machine.file("other.jsonl", &said("refs-2", &["Where is it?", &text]));
    let local = machine.run(&["publish", other.to_str().unwrap(), "--local", "--yes"]);
    assert!(local.status.success(), "{local:?}");
    assert!(String::from_utf8_lossy(&local.stderr).contains("could not be looked up"), "{local:?}");
}
