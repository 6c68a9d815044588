//! What is on record, looked at from both sides: drift, a ledger that is lost, a transcript that is gone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod pds_support;

use onrecord_testkit::{Account, FaultProxy, Pds, PdsOptions};
use pds_support::{Machine, said, transcript};
use serde_json::{Value, json};

const SESSION: &str = "click.aligned.chat.session";
const MESSAGE: &str = "click.aligned.chat.message";

struct Author {
    pds: Pds,
    account: Account,
    token: Value,
}

impl Author {
    async fn new() -> Self {
        let pds = Pds::start(PdsOptions::default()).await;
        let account = pds.create_account("dana.test").await;
        let body = json!({"identifier": account.handle, "password": account.password});
        let token = pds.post("com.atproto.server.createSession", None, &body).await["accessJwt"].clone();
        Self { pds, account, token }
    }

    async fn write(&self, method: &str, mut body: Value) {
        body["repo"] = json!(self.account.did);
        self.pds.post(&format!("com.atproto.repo.{method}"), self.token.as_str(), &body).await;
    }

    async fn records(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for collection in [SESSION, MESSAGE, "run.tiles.chat.sessionSnapshot"] {
            let url = format!(
                "{}/xrpc/com.atproto.repo.listRecords?repo={}&collection={collection}&limit=100&reverse=true",
                self.pds.url(),
                self.account.did
            );
            let page: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
            all.extend(page["records"].as_array().unwrap().clone());
        }
        all
    }
}

fn rkey(uri: &Value) -> &str {
    uri.as_str().unwrap().rsplit('/').next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_drift_is_found_in_both_directions_and_healed() {
    let author = Author::new().await;
    let proxy = FaultProxy::start(&author.pds).await;
    let machine = Machine::new(proxy.url());
    machine.sign_in(&author.account, &author.account.app_password);
    let file = machine.file("talk.jsonl", &transcript("drift-1", 8));
    let file = file.to_str().unwrap();
    let done = machine.json(&["publish", file, "--yes", "--json"]);
    assert_eq!(machine.run(&["published", "--check"]).status.code(), Some(0));

    // One record gone, one changed, one more than known; another conversation; a message without its session.
    let records = author.records().await;
    let message = |text: &str, session: &str| json!({"$type": MESSAGE, "session": session, "role": "user", "text": text, "createdAt": "2026-01-01T00:00:00Z"});
    let uri = done["uri"].as_str().unwrap();
    let (gone, changed) = (rkey(&records[3]["uri"]), rkey(&records[5]["uri"]));
    author.write("deleteRecord", json!({"collection": MESSAGE, "rkey": gone})).await;
    author
        .write("putRecord", json!({"collection": MESSAGE, "rkey": changed, "record": message("elsewhere", uri)}))
        .await;
    author.write("createRecord", json!({"collection": MESSAGE, "record": message("by another hand", uri)})).await;
    let other = json!({"$type": SESSION, "title": "Elsewhere", "createdAt": "2026-01-01T00:00:00Z"});
    author.write("putRecord", json!({"collection": SESSION, "rkey": "3aaaaaaaaaa2a", "record": other})).await;
    let other_uri = format!("at://{}/{SESSION}/3aaaaaaaaaa2a", author.account.did);
    author.write("createRecord", json!({"collection": MESSAGE, "record": message("hello", &other_uri)})).await;
    let nowhere = format!("at://{}/{SESSION}/3bbbbbbbbbb2b", author.account.did);
    author.write("createRecord", json!({"collection": MESSAGE, "record": message("lost", &nowhere)})).await;

    let checked = machine.run(&["published", "--check", "--json"]);
    assert_eq!(checked.status.code(), Some(3));
    let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let drift = &checked["published"][0]["drift"];
    let count = |what: &str| drift[what].as_array().unwrap().len();
    assert_eq!((count("missing"), count("changed"), count("unknown")), (1, 1, 1), "{drift}");
    assert!(drift["missing"][0].as_str().unwrap().ends_with(gone));
    assert_eq!(checked["unknown"], json!([{"uri": other_uri, "title": "Elsewhere", "records": 2}]));
    assert_eq!(checked["orphans"], json!([{"session": nowhere, "records": 1}]));

    // Published again, what is ours is as it was; what is not, is left alone.
    machine.ok(&["publish", file, "--yes"]);
    let checked: Value = serde_json::from_slice(&machine.run(&["published", "--check", "--json"]).stdout).unwrap();
    let drift = &checked["published"][0]["drift"];
    assert_eq!((&drift["missing"], &drift["changed"]), (&json!([]), &json!([])));
    assert_eq!(drift["unknown"].as_array().unwrap().len(), 1);

    // Everything means everything, of this account.
    let taken = machine.json(&["unpublish", "--all", "--account", "dana.test", "--yes", "--json"]);
    assert_eq!(taken["deleted"], 9 + 1 + 2 + 1);
    assert_eq!(author.records().await, Vec::<Value>::new());
    assert_eq!(machine.run(&["published", "--check"]).status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_machine_without_a_ledger_makes_one_from_the_repository() {
    let author = Author::new().await;
    let proxy = FaultProxy::start(&author.pds).await;
    let first = Machine::new(proxy.url());
    first.sign_in(&author.account, &author.account.app_password);
    let talk = said("ledger-1", &["Who was it?", "Ask @dana.test.", "Thanks."]);
    let file = first.file("talk.jsonl", &talk);
    first.ok(&["decide", file.to_str().unwrap(), "--title", "A question"]);
    let uri = first.json(&["publish", file.to_str().unwrap(), "--yes", "--json"])["uri"].clone();
    let uri = uri.as_str().unwrap();

    // In the Tiles families too, in the open and not.
    first.ok(&["publish", file.to_str().unwrap(), "--as", "tiles", "--yes"]);
    first.ok(&["publish", file.to_str().unwrap(), "--as", "tiles-private", "--yes"]);

    // Nobody is signed in here, and nothing is known.
    let second = Machine::new(proxy.url());
    assert_eq!(second.json(&["published", "--json"])["published"], json!([]));
    let checked = second.json(&["published", "--check", "--account", "dana.test", "--json"]);
    let mut found: Vec<_> = checked["published"].as_array().unwrap().iter().collect();
    found.sort_by_key(|p| p["family"].as_str());
    let families: Vec<_> = found.iter().map(|p| (&p["family"], &p["records"], &p["state"])).collect();
    let same = json!("same");
    let (aligned, tiles, private) = (json!("click.aligned"), json!("tiles"), json!("tiles-private"));
    assert_eq!(families, [(&aligned, &json!(4), &same), (&tiles, &json!(1), &same), (&private, &json!(1), &same)]);
    assert_eq!((&found[0]["uri"], &found[0]["title"]), (&json!(uri), &json!("A question")));
    assert_eq!((&found[1]["title"], &found[2]["title"]), (&json!("A question"), &Value::Null));
    second.ok(&["show", found[1]["uri"].as_str().unwrap()]);

    // With the transcript and the same decisions, publishing there changes nothing; a second time neither.
    second.sign_in(&author.account, &author.account.app_password);
    let file = second.file("talk.jsonl", &talk);
    let file = file.to_str().unwrap();
    second.ok(&["decide", file, "--title", "A question"]);
    for _ in 0..2 {
        let done = second.json(&["publish", file, "--yes", "--json"]);
        assert_eq!(
            (&done["uri"], &done["created"], &done["updated"], &done["deleted"]),
            (&json!(uri), &json!(0), &json!(0), &json!(0))
        );
    }
    let known = second.json(&["published", "--json"]);
    let sessions = known["published"].as_array().unwrap().iter().filter(|p| p["session"] == "ledger-1").count();
    assert_eq!((known["published"].as_array().unwrap().len(), sessions), (3, 1));
    // So it is with the snapshot, which keeps its place.
    let done = second.json(&["publish", file, "--as", "tiles", "--yes", "--json"]);
    assert_eq!((&done["uri"], &done["created"], &done["updated"]), (&found[1]["uri"], &json!(0), &json!(0)));

    // And a third, which never had the transcript, takes it back.
    let third = Machine::new(proxy.url());
    third.sign_in(&author.account, &author.account.app_password);
    third.ok(&["published", "--account", "dana.test"]);
    assert_eq!(third.json(&["unpublish", "--all", "--yes", "--json"])["deleted"], 4 + 1 + 1);
    assert_eq!(author.records().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_the_ledger_outlives_the_transcript() {
    let author = Author::new().await;
    let proxy = FaultProxy::start(&author.pds).await;
    let machine = Machine::new(proxy.url());
    machine.sign_in(&author.account, &author.account.app_password);
    let file = machine.file("talk.jsonl", &transcript("gone-1", 6));
    machine.ok(&["decide", file.to_str().unwrap(), "--withhold", "3", "--cover", "second part"]);
    let done = machine.json(&["publish", file.to_str().unwrap(), "--yes", "--json"]);
    let before = author.records().await;
    std::fs::remove_file(&file).unwrap();

    for name in [file.to_str().unwrap(), "gone-1"] {
        let refused = machine.run(&["decide", name, "--withhold", "1"]);
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1));
        assert!(words.contains("is gone from") && words.contains(done["uri"].as_str().unwrap()), "{words}");
        let shown = machine.json(&["show", name, "--format", "json"]);
        assert_eq!(shown["turns"].as_array().unwrap().len(), 6);
        // Nothing to do; then what someone deleted and changed is written again as it was.
        assert_eq!(machine.json(&["publish", name, "--yes", "--json"])["created"], 0);
        let (gone, changed) = (rkey(&before[2]["uri"]), &before[4]);
        author.write("deleteRecord", json!({"collection": MESSAGE, "rkey": gone})).await;
        let mut record = changed["value"].clone();
        record["text"] = "changed".into();
        author
            .write("putRecord", json!({"collection": MESSAGE, "rkey": rkey(&changed["uri"]), "record": record}))
            .await;
        let done = machine.json(&["publish", name, "--yes", "--json"]);
        assert_eq!((&done["created"], &done["updated"], &done["deleted"]), (&json!(1), &json!(1), &json!(0)));
        assert_eq!(author.records().await, before);
    }
    assert!(machine.ok(&["published", "--check"]).contains("as in the repository"));
    assert_eq!(machine.json(&["unpublish", file.to_str().unwrap(), "--yes", "--json"])["deleted"], 7);
    assert_eq!(author.records().await, Vec::<Value>::new());
    let refused = machine.run(&["publish", "gone-1", "--yes"]);
    assert_eq!(refused.status.code(), Some(1));
}
