//! Signed in through the browser: an author's whole way, by several processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod pds_support;

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Output, Stdio},
    time::Duration,
};

use onrecord_testkit::{Account, Answer, Fault, FaultProxy, Pds, PdsOptions, authorize};
use pds_support::{Machine, transcript};
use serde_json::{Value, json};

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";
const GET_SESSION: &str = "com.atproto.server.getSession";
const TOKEN: &str = "/oauth/token";

/// What the server answers an access token that has run out.
fn run_out() -> Fault {
    Fault::Answer {
        status: 401,
        headers: vec![
            ("content-type".into(), "application/json".into()),
            ("www-authenticate".into(), "DPoP error=\"invalid_token\"".into()),
        ],
        body: json!({"error": "invalid_token", "message": "Token expired"}).to_string(),
    }
}

/// `onrecord login … --json`, with somebody at a browser.
async fn login(machine: &Machine, account: &Account, answer: Answer, args: &[&str]) -> Output {
    let args = [&["login", account.handle.as_str(), "--json"], args].concat();
    let mut child = machine.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    if let Ok(line) = serde_json::from_str::<Value>(&first) {
        let back = authorize(line["url"].as_str().unwrap(), account, answer).await.unwrap();
        assert!(reqwest::get(back).await.unwrap().text().await.unwrap().contains("close this window"));
    }
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let mut output = child.wait_with_output().unwrap();
    output.stdout = rest.into_bytes();
    output
}

fn words(output: &Output) -> String {
    [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat()
}

fn sessions(pds: &Pds) -> usize {
    pds.sql("SELECT id FROM token").len()
}

/// The tokens and the key that are kept for an account.
fn kept_secrets(machine: &Machine, account: &Account) -> [String; 3] {
    let kept: Value = serde_json::from_slice(&std::fs::read(machine.path("data/tokens.json")).unwrap()).unwrap();
    let kept: Value = serde_json::from_str(kept[account.did.as_str()].as_str().unwrap()).unwrap();
    [&kept["access"], &kept["refresh"], &kept["oauth"]["key"]].map(|secret| secret.as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_oauth_an_author_signs_in_publishes_takes_back_and_signs_out() {
    let (pds, proxy) = FaultProxy::start_with_pds(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let machine = Machine::new(proxy.url());
    let file = machine.file("talk.jsonl", &transcript("oauth-1", 250));
    let file = file.to_str().unwrap();

    // Denied, and nobody there.
    let denied = login(&machine, &account, Answer::Deny, &[]).await;
    assert_eq!(denied.status.code(), Some(4));
    assert!(words(&denied).contains("access to dana.test was not given in the browser"), "{}", words(&denied));
    let late = machine.run(&["login", "dana.test", "--timeout", "0"]);
    assert_eq!(late.status.code(), Some(4));
    // Without a terminal the address is printed all the same, also when nothing else is to be.
    for quiet in [&["login", "dana.test", "--timeout", "0"][..], &["login", "dana.test", "--timeout", "0", "--quiet"]] {
        let words = words(&machine.run(quiet));
        assert!(words.contains(&format!("{}/oauth/authorize?client_id=", proxy.url())), "{words}");
    }
    assert_eq!(machine.json(&["accounts", "--json"]), json!({"accounts": []}));

    // In, for Tiles alone: what else is to be written is refused before anything is sent, with the way to change that.
    let signed_in = login(&machine, &account, Answer::Allow, &["--as", "tiles"]).await;
    assert!(signed_in.status.success(), "{}", words(&signed_in));
    let done: Value = serde_json::from_slice(&signed_in.stdout).unwrap();
    assert_eq!((&done["did"], &done["signedInBy"]), (&json!(account.did), &json!("browser")));
    assert_eq!(done["scope"], "atproto repo:run.tiles.chat.sessionSnapshot");
    assert!(done["tokens"].as_str().unwrap().contains("tokens.json"), "{done}");
    // Before it is asked for a yes, which could be given to nothing.
    let refused = machine.run(&["publish", file]);
    assert_eq!(refused.status.code(), Some(4));
    let words_of_refusal = words(&refused);
    let hint = "onrecord login dana.test --as tiles --as click.aligned";
    assert!(words_of_refusal.contains(&format!("`{hint}`")), "{words_of_refusal}");
    assert!(words_of_refusal.contains("may not write repo:click.aligned.chat.message repo:click.aligned.chat.session"));
    assert_eq!(proxy.count(APPLY_WRITES), 0);
    // What it may write it does, and takes back.
    let tiles = machine.json(&["publish", file, "--as", "tiles", "--yes", "--json"]);
    assert_eq!(tiles["created"], 1);
    assert_eq!(machine.json(&["unpublish", tiles["uri"].as_str().unwrap(), "--yes", "--json"])["deleted"], 1);
    // Looking at what would be written needs no more than before.
    machine.ok(&["publish", file, "--dry-run"]);

    // As it says. The session from before is ended.
    let hint: Vec<_> = hint.split(' ').skip(3).collect();
    let signed_in = login(&machine, &account, Answer::Allow, &hint).await;
    assert!(signed_in.status.success(), "{}", words(&signed_in));
    assert_eq!(sessions(&pds), 1);
    let listed = machine.ok(&["accounts"]);
    assert!(listed.contains("in the browser: click.aligned, tiles"), "{listed}");

    // Out, in two batches. The first request is refused for its nonce, and between the batches the token runs out: renewed,
    // kept, and the batch sent again.
    proxy.reset();
    proxy.script(APPLY_WRITES, [Fault::Pass, Fault::Pass, run_out()]);
    let published = machine.json(&["publish", file, "--yes", "--json"]);
    assert_eq!(published["created"], 251);
    assert_eq!((proxy.count(APPLY_WRITES), sessions(&pds)), (4, 1));
    // One renewal; the server's nonce is known by then.
    assert_eq!(proxy.count(TOKEN), 1);
    let uri = published["uri"].as_str().unwrap();
    assert!(machine.ok(&["published", "--check"]).contains("as in the repository"));

    // The renewed tokens serve the next process; so does a session whose nonce nobody knows any more.
    machine.ok(&["decide", file, "--title", "Another title"]);
    assert_eq!(machine.json(&["publish", file, "--yes", "--json"])["updated"], 1);
    let checked = machine.json(&["accounts", "--check", "--json"]);
    assert_eq!(checked["accounts"][0]["state"], "signed-in");

    // Back, by the same session.
    assert_eq!(machine.json(&["unpublish", uri, "--yes", "--json"])["deleted"], 251);

    // Invariant 15. No token and no key is in any output, also not in the log of a renewal.
    let before = kept_secrets(&machine, &account);
    proxy.script(GET_SESSION, [run_out()]);
    let loud = machine.command(&["accounts", "--check"]).env("ONRECORD_LOG", "trace").output().unwrap();
    assert!(loud.status.success() && words(&loud).contains("TRACE"), "{}", words(&loud));
    let after = kept_secrets(&machine, &account);
    assert_ne!(before, after);
    for output in [words(&signed_in), words(&loud), machine.ok(&["accounts", "--json"])] {
        assert!(before.iter().chain(&after).all(|secret| !output.contains(secret)), "{output}");
    }

    // Ended at the server, and forgotten here.
    assert_eq!(machine.json(&["logout", "--json"])["revoked"], true);
    assert_eq!(sessions(&pds), 0);
    assert!(!std::fs::read_to_string(machine.path("data/tokens.json")).unwrap().contains("ref-"));
    assert_eq!(machine.run(&["publish", file, "--yes"]).status.code(), Some(4));

    // A server that cannot be told: it is said, and forgotten all the same.
    login(&machine, &account, Answer::Allow, &[]).await;
    proxy.script("/oauth/revoke", [Fault::server_error()]);
    let out = machine.run(&["logout"]);
    assert!(out.status.success() && words(&out).contains("The server could not be told"), "{}", words(&out));
    assert_eq!(machine.json(&["accounts", "--json"]), json!({"accounts": []}));

    // A server that knows no narrow access: nothing is kept, and the wider one is named, not taken.
    let only_base = Fault::Rewrite(std::sync::Arc::new(|answer| answer["scope"] = "atproto".into()));
    proxy.reset();
    pds.sql("DELETE FROM token");
    proxy.script(TOKEN, [only_base]);
    let narrow = login(&machine, &account, Answer::Allow, &[]).await;
    assert_eq!(narrow.status.code(), Some(4));
    assert!(words(&narrow).contains("`onrecord login dana.test --full-access`"), "{}", words(&narrow));
    assert_eq!(sessions(&pds), 0);
    let wide = login(&machine, &account, Answer::Allow, &["--full-access"]).await;
    assert!(wide.status.success(), "{}", words(&wide));
    assert!(machine.ok(&["accounts"]).contains("in the browser: everything"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_oauth_two_processes_renew_at_the_same_moment() {
    let (pds, proxy) = FaultProxy::start_with_pds(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let erin = pds.create_account("erin.test").await;
    let machine = Machine::new(proxy.url());
    for account in [&account, &erin] {
        assert!(login(&machine, account, Answer::Allow, &[]).await.status.success());
    }
    machine.ok(&["logout", "erin.test"]);

    // Both find the token run out at once. One renews, slowly, and the other takes what it got.
    proxy.reset();
    proxy.script(GET_SESSION, [run_out(), run_out()]);
    proxy.script(TOKEN, [Fault::Pass, Fault::DelayBefore(Duration::from_millis(1500))]);
    let children = [0, 1].map(|_| machine.command(&["accounts", "--check"]).stdout(Stdio::piped()).spawn().unwrap());
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    }
    // One renewal: refused once for its nonce.
    assert_eq!(proxy.count(TOKEN), 2);
    assert_eq!(sessions(&pds), 1);
    assert_eq!(machine.json(&["accounts", "--check", "--json"])["accounts"][0]["state"], "signed-in");

    // A session that has ended is said to have, with what to do.
    pds.sql("DELETE FROM token");
    let ended = machine.run(&["accounts", "--check", "--json"]);
    assert_eq!(ended.status.code(), Some(3));
    assert!(words(&ended).contains("\"state\":\"ended\""), "{}", words(&ended));
    let file = machine.file("talk.jsonl", &transcript("oauth-2", 4));
    let refused = machine.run(&["publish", file.to_str().unwrap(), "--yes"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(words(&refused).contains("run `onrecord login dana.test`"), "{}", words(&refused));
}
