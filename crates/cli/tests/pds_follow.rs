//! `onrecord serve` following a real PDS: what an author publishes elsewhere is a page here, and is gone when they take it
//! back; the process may be killed at any moment.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]
#![cfg(unix)]

mod pds_support;

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use onrecord_testkit::{Pds, PdsOptions};
use pds_support::Machine;
use serde_json::Value;

/// A host's server.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(machine: &Machine, more: &[&str]) -> Self {
        let args = [&["serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
        let mut child = machine.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).expect("the first line is JSON");
        Self { child, url: first["url"].as_str().unwrap().to_owned() }
    }

    /// Waits until a page answers with a status, and gives its text.
    async fn wait_for(&self, path: &str, status: u16) -> String {
        let began = Instant::now();
        loop {
            let answer = reqwest::get(format!("{}{path}", self.url)).await.unwrap();
            let (found, text) = (answer.status().as_u16(), answer.text().await.unwrap());
            if found == status {
                return text;
            }
            assert!(began.elapsed() < Duration::from_secs(40), "{path}: {found}, not {status}: {text}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGKILL: nothing is finished in peace.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TALK: &str = concat!(
    r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"talk","timestamp":"2026-01-02T03:04:05.000Z","#,
    r#""message":{"role":"user","content":"Why is the sky blue?"},"version":"2.1.42","cwd":"/w"}"#,
    "\n",
    r#"{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"talk","timestamp":"2026-01-02T03:04:09.000Z","#,
    r#""message":{"role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"Rayleigh scattering."}]},"#,
    r#""version":"2.1.42","cwd":"/w"}"#,
    "\n"
);

#[tokio::test(flavor = "multi_thread")]
async fn pds_what_is_published_elsewhere_is_a_page_until_it_is_taken_back() {
    let pds = Pds::start(PdsOptions { firehose_poll_ms: Some(20), ..PdsOptions::default() }).await;
    let dana = pds.create_account("dana.test").await;
    let (author, host) = (Machine::on(pds.plc_url(), pds.url()), Machine::on(pds.plc_url(), pds.url()));
    assert!(author.sign_in(&dana, &dana.app_password).status.success());
    let firehose = format!("firehose:{}", pds.url().replace("http://", "ws://"));
    let follow = ["--follow", firehose.as_str()];

    let server = Server::start(&host, &follow);
    let talk = author.file("talk.jsonl", TALK);
    let done = author.json(&["publish", talk.to_str().unwrap(), "--yes", "--json"]);
    let rkey = done["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let page = format!("/@dana.test/{rkey}");
    let text = server.wait_for(&page, 200).await;
    assert!(text.contains("Why is the sky blue?") && text.contains("Rayleigh scattering."), "{text}");
    drop(server);

    // What happens while nobody follows is caught up with.
    author.ok(&["unpublish", talk.to_str().unwrap(), "--yes"]);
    let server = Server::start(&host, &follow);
    server.wait_for(&page, 410).await;
    drop(server);

    // A host that begins later fetches what is there.
    let done = author.json(&["publish", talk.to_str().unwrap(), "--yes", "--json"]);
    let rkey = done["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let late = Machine::on(pds.plc_url(), pds.url());
    let server = Server::start(&late, &["--repo", "dana.test"]);
    let text = server.wait_for(&format!("/@dana.test/{rkey}"), 200).await;
    assert!(text.contains("Rayleigh scattering."), "{text}");
}

#[test]
fn a_source_that_is_none_is_refused_without_its_password() {
    let machine = Machine::on("http://127.0.0.1:1", "http://127.0.0.1:1");
    for source in ["firehose:wss://admin:hush7@relay.example", "taps:ws://admin:hush7@relay.example", "relay.example"] {
        let output = machine.run(&["serve", "--listen", "127.0.0.1:0", "--follow", source]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("wss://HOST") || said.contains("Tap"), "{said}");
        assert!(!said.contains("hush7"), "{said}");
    }
}
