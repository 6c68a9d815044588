//! An author's way through the program against the reference PDS: sign in, publish, look, take back, sign out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod pds_support;

use onrecord_testkit::{FaultProxy, Pds, PdsOptions};
use pds_support::{Machine, transcript};
use serde_json::Value;

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";

// Invariant 1.
#[tokio::test(flavor = "multi_thread")]
async fn pds_an_author_publishes_reads_and_takes_back() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    let file = machine.file("talk.jsonl", &transcript("journey-1", 12));
    let file = file.to_str().unwrap();

    // Not signed in, wrong password, unknown handle.
    assert_eq!(machine.run(&["publish", file, "--yes"]).status.code(), Some(4));
    let refused = machine.sign_in(&account, "wrong");
    assert_eq!(refused.status.code(), Some(4));
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(words.contains("wrong handle or app password"), "{words}");
    let unknown = machine.run(&["login", "nobody.test", "--app-password"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("nobody.test"));

    // Signed in; the tokens are where it says, and in no output.
    let signed_in = machine.sign_in(&account, &account.app_password);
    assert!(signed_in.status.success(), "{}", String::from_utf8_lossy(&signed_in.stderr));
    assert!(String::from_utf8_lossy(&signed_in.stdout).contains("Signed in as dana.test"));
    assert!(!String::from_utf8_lossy(&signed_in.stderr).contains("eyJ"));

    // The plan is what is written then.
    machine.ok(&["decide", file, "--withhold", "3", "--cover", "second part"]);
    let plan = machine.json(&["publish", file, "--dry-run", "--json"]);
    assert_eq!(plan["repo"], account.did.as_str());
    assert_eq!(plan["writes"].as_array().unwrap().len(), 13);
    assert_eq!(proxy.count(APPLY_WRITES), 0);
    let done = machine.json(&["publish", file, "--yes", "--json"]);
    assert_eq!((&done["done"], &done["created"]), (&Value::Bool(true), &13.into()));
    let uri = done["uri"].as_str().unwrap();
    let list = format!(
        "{}/xrpc/com.atproto.repo.listRecords?repo={}&collection=click.aligned.chat.message&limit=100&reverse=true",
        pds.url(),
        account.did
    );
    let there: Value = reqwest_json(&list).await;
    let planned: Vec<_> = plan["writes"].as_array().unwrap()[1..].iter().map(|w| (&w["cid"], &w["record"])).collect();
    let written: Vec<_> = there["records"].as_array().unwrap().iter().map(|r| (&r["cid"], &r["value"])).collect();
    assert_eq!(written, planned);
    assert!(!there.to_string().contains("second part"));

    // Read by its address, from another machine too.
    let stranger = Machine::new(proxy.url());
    for reader in [&machine, &stranger] {
        let shown = reader.json(&["show", uri, "--format", "json"]);
        assert_eq!(shown["turns"].as_array().unwrap().len(), 12);
        assert_eq!(shown["turns"][2]["text"], "");
        assert_eq!(shown["source"]["harness"], "atproto");
    }
    assert!(machine.ok(&["published", "--check"]).contains("as in the repository"));

    // A server that cannot be read is said to be, and is no reason to stop.
    let list_records = "com.atproto.repo.listRecords";
    proxy.script(list_records, std::iter::repeat_n(onrecord_testkit::Fault::html(), 1));
    let checked = machine.run(&["published", "--check"]);
    assert_eq!(checked.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("not checked: "), "{checked:?}");
    proxy.reset();

    // An expired token is renewed, and the new one kept.
    proxy.script(APPLY_WRITES, [onrecord_testkit::Fault::expired_token()]);
    machine.ok(&["decide", file, "--title", "Another title"]);
    let done = machine.json(&["publish", file, "--yes", "--json"]);
    assert_eq!((&done["created"], &done["updated"]), (&0.into(), &1.into()));
    assert_eq!(machine.json(&["publish", file, "--yes", "--json"])["updated"], 0);

    // Back, by its at-uri; the stranger cannot.
    assert_eq!(stranger.run(&["unpublish", uri, "--yes"]).status.code(), Some(4));
    assert_eq!(machine.json(&["unpublish", uri, "--yes", "--json"])["deleted"], 13);
    let there: Value = reqwest_json(&list).await;
    assert_eq!(there["records"].as_array().unwrap().len(), 0);
    assert_eq!(machine.run(&["unpublish", uri, "--yes"]).status.code(), Some(1));
    assert_eq!(machine.run(&["show", uri]).status.code(), Some(1));

    // A PDS that is down.
    machine.ok(&["logout"]);
    drop(proxy);
    let down = machine.run(&["login", "dana.test", "--app-password"]);
    assert_eq!(down.status.code(), Some(1));
    assert!(!String::from_utf8_lossy(&down.stderr).contains("panicked"));
}

async fn reqwest_json(url: &str) -> Value {
    reqwest::get(url).await.unwrap().json().await.unwrap()
}
