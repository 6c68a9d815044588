//! Tiles records from the command line, against the reference PDS: out, read by link, and back.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod pds_support;

use std::process::Output;

use onrecord_testkit::{FaultProxy, Pds, PdsOptions};
use pds_support::{Machine, transcript};
use serde_json::{Value, json};

const SNAPSHOT: &str = "run.tiles.chat.sessionSnapshot";

async fn get(url: &str) -> Value {
    reqwest::get(url).await.unwrap().json().await.unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_link_is_all_a_reader_needs() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    let stranger = Machine::new(proxy.url());
    assert!(machine.sign_in(&account, &account.app_password).status.success());
    let file = machine.file("talk.jsonl", &transcript("tiles-1", 12));
    let file = file.to_str().unwrap();
    machine.ok(&["decide", file, "--withhold", "3", "--cover", "second part"]);
    let list = format!("{}/xrpc/com.atproto.repo.listRecords?repo={}&collection={SNAPSHOT}", pds.url(), account.did);

    // The plan of a public one is what is written then.
    let plan = machine.json(&["publish", file, "--as", "tiles", "--dry-run", "--json"]);
    assert_eq!((&plan["family"], plan["writes"].as_array().unwrap().len()), (&json!("tiles"), 1));
    let done = machine.json(&["publish", file, "--as", "tiles", "--yes", "--json"]);
    let there = get(&list).await;
    assert_eq!(there["records"][0]["value"], plan["writes"][0]["record"]);
    assert_eq!(there["records"][0]["cid"], plan["writes"][0]["cid"]);
    let link = done["url"].as_str().unwrap();
    assert!(link.starts_with("https://chat.tiles.run/") && done["link"] == link, "{done}");
    for name in [link, done["uri"].as_str().unwrap(), &link.replace("chat.tiles.run/", "tiles.run/share/")] {
        let shown = stranger.json(&["show", name, "--format", "json"]);
        assert_eq!(shown["turns"].as_array().unwrap().len(), 12, "{name}");
        assert_eq!((&shown["turns"][2]["text"], &shown["source"]["harness"]), (&json!(""), &json!("atproto")));
        assert!(!shown.to_string().contains("second part"));
        assert_eq!(shown["turns"][1]["steps"][1]["failed"], true);
    }
    assert!(stranger.ok(&["show", link]).contains("held back by the author"));
    // Written again by a stranger it is the record that is there.
    assert_eq!(
        serde_json::from_str::<Value>(&stranger.ok(&["convert", link, "--to", "tiles"])).unwrap(),
        there["records"][0]["value"]
    );

    // A private one.
    let done = machine.json(&["publish", file, "--as", "tiles-private", "--yes", "--json"]);
    let secret_link = done["url"].as_str().unwrap().to_owned();
    let (bare, key) = secret_link.split_once('#').unwrap();
    let uri = done["uri"].as_str().unwrap();
    let shown = stranger.json(&["show", &secret_link, "--format", "json"]);
    assert_eq!(shown["turns"].as_array().unwrap().len(), 12);
    for name in [bare, uri] {
        let refused = stranger.run(&["show", name]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(err(&refused).contains("encrypted"), "{}", err(&refused));
    }
    let refused = stranger.run(&["show", &format!("{bare}#{}", key.get(..key.len() - 8).unwrap())]);
    assert!(
        err(&refused).contains("incomplete") && !err(&refused).contains(key.get(..20).unwrap()),
        "{}",
        err(&refused)
    );
    // Its author needs no link, and is given it on request only.
    assert_eq!(machine.json(&["show", uri, "--format", "json"])["turns"].as_array().unwrap().len(), 12);
    let listed = machine.ok(&["published"]);
    assert!(listed.contains("(encrypted)") && !listed.contains(key));
    assert!(machine.ok(&["published", "--links"]).contains(&secret_link));
    let again = machine.ok(&["publish", file, "--as", "tiles-private", "--yes"]);
    assert!(again.contains("nothing to write") && !again.contains(key), "{again}");

    // Changed it has a new link, and the old one says why it opens nothing.
    machine.ok(&["decide", file, "--title", "Another title"]);
    let done = machine.json(&["publish", file, "--as", "tiles-private", "--yes", "--json"]);
    assert_eq!((&done["updated"], &done["uri"]), (&json!(1), &json!(uri)));
    let new_link = done["url"].as_str().unwrap();
    assert_ne!(new_link, secret_link);
    let refused = stranger.run(&["show", &secret_link]);
    assert!(err(&refused).contains("published anew"), "{}", err(&refused));
    assert_eq!(stranger.json(&["show", new_link, "--format", "json"])["title"], "Another title");
    assert!(!get(&list).await.to_string().contains("Another title"));

    // Both agree with the ledger; one taken back by its link, the other by the conversation's id.
    assert_eq!(machine.ok(&["published", "--check"]).matches("as in the repository").count(), 2);
    assert_eq!(machine.json(&["unpublish", new_link, "--yes", "--json"])["deleted"], 1);
    assert_eq!(machine.json(&["unpublish", "tiles-1", "--yes", "--json"])["deleted"], 1);
    assert_eq!(get(&list).await["records"], json!([]));
    assert_eq!(stranger.run(&["show", new_link]).status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_records_that_others_write_are_read() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    let session = pds
        .post(
            "com.atproto.server.createSession",
            None,
            &json!({"identifier": account.did, "password": account.password}),
        )
        .await;
    let token = session["accessJwt"].as_str().unwrap().to_owned();
    let put = async |collection: &str, rkey: &str, mut record: Value| {
        record["$type"] = collection.into();
        let body =
            json!({"repo": account.did, "collection": collection, "rkey": rkey, "record": record, "validate": false});
        pds.post("com.atproto.repo.putRecord", Some(&token), &body).await;
        format!("at://{}/{collection}/{rkey}", account.did)
    };

    // Attempts at a reply, ordered by number.
    let chat = "network.sharedcomputer.chat.message";
    let said = |role: &str, text: &str| {
        json!({"role": role, "createdAt": "2026-03-04T05:06:07.000Z", "content": {
            "$type": "network.sharedcomputer.chat.defs#plainContent",
            "parts": [{"$type": "network.sharedcomputer.chat.defs#textPart", "text": text}]}})
    };
    let first = put(chat, "3mf2k5aaaaa22", said("user", "Why?")).await;
    for attempt in [2, 10] {
        let mut reply = said("assistant", &format!("attempt {attempt}"));
        reply["parent"] = "3mf2k5aaaaa22".into();
        put(chat, &format!("3mf2k5aaaaa22.r{attempt}"), reply).await;
    }
    let shown = machine.json(&["show", &first, "--format", "json"]);
    let texts: Vec<_> = shown["turns"].as_array().unwrap().iter().map(|t| &t["text"]).collect();
    assert_eq!(texts, ["Why?", "attempt 10"]);

    // The older form of Tiles, and its link.
    let legacy = json!({"session_id": "1", "name": "An old one", "created_at": "2025-11-04T05:06:07Z", "models_used": ["Qwen3"],
        "contents": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because."}]});
    let uri = put("run.tiles.session", "3mf2k5aaaaa23", legacy).await;
    let shown = machine.json(&["show", &uri, "--format", "json"]);
    assert_eq!((&shown["title"], &shown["turns"][1]["text"]), (&json!("An old one"), &json!("Because.")));
    let refused = machine.run(&["convert", &uri, "--to", "tiles"]);
    assert!(refused.status.success(), "{}", err(&refused));

    // Any other record.
    let note = json!({"thought": "The map is not flattened.", "createdAt": "2026-03-04T05:06:07.000Z", "mood": "calm"});
    let uri = put("stream.thought.memory", "3mf2k5aaaaa24", note).await;
    let shown = machine.ok(&["show", &uri]);
    assert!(shown.contains("The map is not flattened.") && shown.contains("- mood: calm"), "{shown}");
    let converted = machine.ok(&["convert", &uri, "--to", "sts"]);
    assert!(converted.contains("The map is not flattened."), "{converted}");

    // One message of a conversation leads to all of it.
    let file = machine.file("talk.jsonl", &transcript("aligned-1", 4));
    assert!(machine.sign_in(&account, &account.app_password).status.success());
    machine.ok(&["publish", file.to_str().unwrap(), "--yes"]);
    let list = format!(
        "{}/xrpc/com.atproto.repo.listRecords?repo={}&collection=click.aligned.chat.message",
        pds.url(),
        account.did
    );
    let message = get(&list).await["records"][0]["uri"].as_str().unwrap().to_owned();
    let stranger = Machine::new(proxy.url());
    let shown = stranger.json(&["show", &message, "--format", "json"]);
    assert_eq!(shown["turns"].as_array().unwrap().len(), 4);
    // And converted to its own family it is what listRecords gives, in key order.
    let document: Value = serde_json::from_str(&stranger.ok(&["convert", &message, "--to", "click.aligned"])).unwrap();
    let mut theirs = get(&list).await["records"].as_array().unwrap().clone();
    theirs.reverse();
    assert_eq!(document["records"].as_array().unwrap()[1..], theirs);
    // The transcript gone, its records are converted.
    std::fs::remove_file(&file).unwrap();
    let gone = machine.run(&["convert", "aligned-1", "--to", "markdown"]);
    assert!(gone.status.success() && err(&gone).contains("transcript is gone"), "{}", err(&gone));
    assert!(String::from_utf8_lossy(&gone.stdout).contains("Question 0"));
}
