//! `onrecord verify` against the reference PDS: what was published, what was changed since, and servers that lie.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod pds_support;

use std::sync::Arc;

use onrecord_testkit::{Account, Fault, FaultProxy, Pds, PdsOptions};
use pds_support::{Machine, transcript};
use serde_json::{Value, json};

const GET_RECORD: &str = "com.atproto.sync.getRecord";
const LIST_RECORDS: &str = "com.atproto.repo.listRecords";
const MESSAGE: &str = "click.aligned.chat.message";

/// What `verify --json` says, and how it ends.
fn verify(machine: &Machine, args: &[&str]) -> (i32, Value) {
    let output = machine.run(&[&["verify"], args, &["--json"]].concat());
    let said = || format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said())))
}

#[track_caller]
fn holds(machine: &Machine, args: &[&str]) -> Value {
    let (code, report) = verify(machine, args);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(
        (&report["ok"], &report["authentic"], &report["complete"]),
        (&true.into(), &true.into(), &"proven".into())
    );
    report
}

#[track_caller]
fn fails(machine: &Machine, args: &[&str], failure: &str) -> Value {
    let (code, report) = verify(machine, args);
    assert_eq!(code, 3, "{report:#}");
    assert!(report["failures"].as_array().unwrap().iter().any(|f| f["code"] == failure), "{report:#}");
    report
}

async fn token(pds: &Pds, account: &Account) -> String {
    let body = json!({"identifier": account.did, "password": account.password});
    let session = pds.post("com.atproto.server.createSession", None, &body).await;
    session["accessJwt"].as_str().unwrap().to_owned()
}

async fn put(pds: &Pds, account: &Account, path: &str, record: &Value) -> String {
    let (collection, rkey) = path.split_once('/').unwrap();
    let body =
        json!({"repo": account.did, "collection": collection, "rkey": rkey, "record": record, "validate": false});
    let done = pds.post("com.atproto.repo.putRecord", Some(&token(pds, account).await), &body).await;
    done["cid"].as_str().unwrap().to_owned()
}

async fn delete(pds: &Pds, account: &Account, path: &str) {
    let (collection, rkey) = path.split_once('/').unwrap();
    let body = json!({"repo": account.did, "collection": collection, "rkey": rkey});
    pds.post("com.atproto.repo.deleteRecord", Some(&token(pds, account).await), &body).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_verify_what_was_published() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    let file = machine.file("talk.jsonl", &transcript("verify-1", 12));
    let file = file.to_str().unwrap();
    assert!(machine.sign_in(&account, &account.app_password).status.success());
    machine.ok(&["decide", file, "--withhold", "3", "--cover", "second part"]);
    let uri = machine.json(&["publish", file, "--yes", "--json"])["uri"].as_str().unwrap().to_owned();

    // The conversation, by a stranger: message by message.
    let stranger = Machine::new(proxy.url());
    let report = holds(&stranger, &[&uri]);
    assert_eq!((&report["scope"], &report["way"]), (&"session".into(), &"proofs".into()));
    assert_eq!((&report["did"], &report["handle"]), (&account.did.as_str().into(), &"dana.test".into()));
    assert_eq!((&report["counts"]["messages"], &report["counts"]["withheld"]), (&12.into(), &1.into()));
    assert!(report["counts"]["bars"].as_u64().unwrap() > 3);
    assert_eq!(report["records"].as_array().unwrap().len(), 13);
    assert_eq!(report["keySource"], "did-document");
    let key = report["key"].as_str().unwrap().to_owned();
    let words = stranger.ok(&["verify", &uri]);
    assert!(words.contains(": verified\n") && words.contains("dana.test"), "{words}");

    // By the handle's address, the link of a page, and one message.
    let rkey = uri.rsplit('/').next().unwrap();
    holds(&stranger, &[&uri.replace(account.did.as_str(), "dana.test")]);
    holds(&stranger, &[&format!("http://127.0.0.1:8787/@dana.test/{rkey}")]);
    let message = report["records"][0]["uri"].as_str().unwrap().to_owned();
    assert!(message.contains(MESSAGE));
    let one = holds(&stranger, &[&message]);
    assert_eq!((&one["scope"], &one["counts"]["records"]), (&"record".into(), &1.into()));

    // The whole account; and a file of it, with the key and without.
    let whole = holds(&stranger, &["@dana.test"]);
    assert_eq!((&whole["scope"], &whole["way"]), (&"repository".into(), &"repository".into()));
    assert_eq!(whole["counts"]["records"], 13);
    holds(&stranger, &[account.did.as_str()]);
    let export = format!("{}/xrpc/com.atproto.sync.getRepo?did={}", pds.url(), account.did);
    let mut car = reqwest::get(&export).await.unwrap().bytes().await.unwrap().to_vec();
    let path = stranger.file("dana.car", "");
    std::fs::write(&path, &car).unwrap();
    let path = path.to_str().unwrap();
    let asked = proxy.count("com.atproto.sync.getRepo");
    let offline = holds(&stranger, &[path, "--key", &key]);
    assert_eq!((&offline["way"], &offline["counts"]["blocks"]), (&"file".into(), &whole["counts"]["blocks"]));
    holds(&stranger, &[path]);
    assert_eq!(proxy.count("com.atproto.sync.getRepo"), asked);
    let middle = car.len() / 2;
    car[middle] ^= 1;
    std::fs::write(path, &car).unwrap();
    let (code, report) = verify(&stranger, &[path, "--key", &key]);
    assert_eq!((code, &report["authentic"]), (3, &false.into()));

    // Another's key, what is not there, who is not there.
    let other = "did:key:zDnaembgSGUhZULN2Caob4HLJPaxBh92N7rtH21TErzqf8HQo";
    assert_eq!(fails(&stranger, &[&uri, "--key", other], "signature")["keySource"], "given");
    fails(&stranger, &[&message.replace(MESSAGE, "app.example.note")], "not-on-record");
    let gone = uri.replace(rkey, "3k2aaaaaaaa2a");
    let report = fails(&stranger, &[&gone], "not-on-record");
    assert_eq!(report["authentic"], false);
    assert_eq!(stranger.run(&["verify", "nobody.test"]).status.code(), Some(1));
    assert_eq!(stranger.run(&["verify", "at://dana.test/app.example.note"]).status.code(), Some(1));

    // A second conversation, so long that proofs one by one cost more than the repository.
    let long = machine.file("long.jsonl", &transcript("verify-2", 70));
    let second =
        machine.json(&["publish", long.to_str().unwrap(), "--yes", "--json"])["uri"].as_str().unwrap().to_owned();
    let report = holds(&stranger, &[&second]);
    assert_eq!((&report["way"], &report["counts"]["messages"]), (&"repository".into(), &70.into()));
    assert_eq!(holds(&stranger, &[&uri])["counts"]["messages"], 12);

    // Taken back, nothing is there any more.
    machine.ok(&["unpublish", &uri, "--yes"]);
    fails(&stranger, &[&uri], "not-on-record");
    fails(&stranger, &[&message], "not-on-record");
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_verify_pins_and_what_was_written_by_other_hands() {
    let pds = Pds::start(PdsOptions::default()).await;
    let (author, other) = (pds.create_account("dana.test").await, pds.create_account("erin.test").await);
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    let note = json!({"$type": "app.example.note", "text": "as it was"});
    let cid = put(&pds, &other, "app.example.note/one", &note).await;
    let pinned = format!("at://{}/app.example.note/one", other.did);
    let session = format!("at://{}/click.aligned.chat.session/3m2aaaaaaaa2a", author.did);
    let created = "2026-01-02T03:04:05.678Z";
    let session_record = json!({"$type": "click.aligned.chat.session", "createdAt": created});
    put(&pds, &author, "click.aligned.chat.session/3m2aaaaaaaa2a", &session_record).await;
    let nowhere = "at://did:web:localhost%3A1/app.example.note/one";
    let message = |text: &str, refs: Value| json!({"$type": MESSAGE, "session": session, "role": "user", "text": text, "refs": refs, "createdAt": created});
    let refs = json!([{"uri": pinned, "cid": cid}, {"uri": nowhere, "cid": cid}]);
    let path = format!("{MESSAGE}/3m2aaaaaaab2a");
    put(&pds, &author, &path, &message("about a note", refs)).await;

    // The same; and one whose server cannot be reached, which is told and no failure.
    let report = holds(&machine, &[&session]);
    assert_eq!(
        (&report["counts"]["pins"]["same"], &report["counts"]["pins"]["unreachable"]),
        (&1.into(), &1.into()),
        "{report:#}"
    );
    assert_eq!(report["notices"][0]["code"], "pin-unreachable");
    let by_message = holds(&machine, &[&format!("at://{}/{path}", author.did)]);
    assert_eq!(by_message["counts"]["pins"]["same"], 1);
    let file = machine.file("dana.car", "");
    let export = format!("{}/xrpc/com.atproto.sync.getRepo?did={}", pds.url(), author.did);
    std::fs::write(&file, reqwest::get(&export).await.unwrap().bytes().await.unwrap()).unwrap();
    let offline = holds(&machine, &[file.to_str().unwrap(), "--key", report["key"].as_str().unwrap()]);
    assert_eq!(offline["counts"]["pins"]["unchecked"], 2);

    // Changed, then deleted: still the author's, and no longer what the author saw.
    put(&pds, &other, "app.example.note/one", &json!({"$type": "app.example.note", "text": "edited"})).await;
    let report = fails(&machine, &[&session], "pin-changed");
    assert_eq!((&report["authentic"], &report["counts"]["pins"]["changed"]), (&true.into(), &1.into()));
    delete(&pds, &other, "app.example.note/one").await;
    fails(&machine, &[&session], "pin-deleted");

    // A message by another hand that tells how long a covered word is.
    put(&pds, &author, &path, &message("under █████", json!([]))).await;
    let report = fails(&machine, &[&session], "bar-width");
    assert!(report["failures"][0]["at"].as_str().unwrap().starts_with(&path));
    // Its session is gone: it belongs to none.
    delete(&pds, &author, "click.aligned.chat.session/3m2aaaaaaaa2a").await;
    fails(&machine, &[&format!("at://{}/{path}", author.did)], "session-missing");
    fails(&machine, &["dana.test"], "session-missing");
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_verify_finds_out_servers_that_lie() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    let file = machine.file("talk.jsonl", &transcript("lies", 6));
    assert!(machine.sign_in(&account, &account.app_password).status.success());
    let done = machine.json(&["publish", file.to_str().unwrap(), "--yes", "--json"]);
    let uri = done["uri"].as_str().unwrap().to_owned();
    let records = holds(&machine, &[&uri])["records"].clone();
    let message = records[2]["uri"].as_str().unwrap().to_owned();

    // Another text than the signed one.
    let tamper: Fault = Fault::Tamper(Arc::new(|car: &mut Vec<u8>| {
        let at = car.windows(8).rposition(|bytes| bytes == b"Question").expect("the message's text");
        car[at] = b'q';
    }));
    proxy.script(GET_RECORD, [tamper]);
    let report = fails(&machine, &[&message], "block-hash");
    assert_eq!(report["authentic"], false);

    // A page instead of a proof; no proof at all; half of one.
    proxy.reset();
    proxy.script(GET_RECORD, [Fault::html()]);
    fails(&machine, &[&message], "car-header");
    proxy.script(GET_RECORD, [Fault::refusal(400, "InvalidRequest", "no proofs here")]);
    assert_eq!(machine.run(&["verify", &message]).status.code(), Some(1));
    proxy.reset();
    proxy.script(GET_RECORD, [Fault::Tamper(Arc::new(|car: &mut Vec<u8>| car.truncate(car.len() / 2)))]);
    fails(&machine, &[&message], "car-truncated");

    // A message left out of the list is in the signed tree.
    proxy.reset();
    let hide = || {
        Fault::Rewrite(Arc::new(|answer: &mut Value| {
            if let Some(records) = answer["records"].as_array_mut().filter(|records| records.len() > 3) {
                records.remove(2);
            }
        }))
    };
    proxy.script(LIST_RECORDS, std::iter::repeat_with(hide).take(20));
    let report = fails(&machine, &[&uri], "message-hidden");
    assert_eq!(report["counts"]["messages"], 6, "it was found all the same");

    // A message put into the list is not.
    proxy.reset();
    let add = || {
        Fault::Rewrite(Arc::new(|answer: &mut Value| {
            if let Some(records) = answer["records"].as_array_mut().filter(|records| records.len() > 3) {
                let mut more = records[0].clone();
                let uri = more["uri"].as_str().unwrap().to_owned();
                more["uri"] = format!("{}3m2aaaaaaaa2a", &uri[..uri.len() - 13]).into();
                records.push(more);
            }
        }))
    };
    proxy.script(LIST_RECORDS, std::iter::repeat_with(add).take(20));
    let report = fails(&machine, &[&uri], "message-unsigned");
    assert_eq!(report["authentic"], false);
}
