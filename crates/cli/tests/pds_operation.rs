//! A host that watches its own serving: metrics, a log without anybody's words, and a labeler it follows.
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
    fs::{self, File},
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use onrecord_testkit::{Labeler, Pds, PdsOptions, repo::SigningKey};
use pds_support::Machine;
use serde_json::{Value, json};

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn wait_for(url: &str, status: u16) -> String {
    let began = Instant::now();
    loop {
        let answer = reqwest::get(url).await.unwrap();
        let (found, text) = (answer.status().as_u16(), answer.text().await.unwrap());
        if found == status {
            return text;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{url}: {found}, not {status}: {text}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Invariant 15: what people say stays out of the log, however much of it is asked for.
#[tokio::test(flavor = "multi_thread")]
async fn pds_a_host_counts_and_logs_and_repeats_nobody_s_words() {
    let words = ["zwetschgen", "kompott"].concat();
    let pds = Pds::start(PdsOptions { firehose_poll_ms: Some(20), ..PdsOptions::default() }).await;
    let dana = pds.create_account("dana.test").await;
    let (author, host) = (Machine::on(pds.plc_url(), pds.url()), Machine::on(pds.plc_url(), pds.url()));
    assert!(author.sign_in(&dana, &dana.app_password).status.success());
    let labeler = Labeler::start(SigningKey::k256(1));
    let firehose = format!("firehose:{}", pds.url().replace("http://", "ws://"));
    let did = labeler.did();
    let args = ["serve", "--listen", "127.0.0.1:0", "--json", "--metrics-listen", "127.0.0.1:0"];
    let args = [&args[..], &["--follow", &firehose, "--labeler", &did]].concat();
    let log = host.path("log");
    let mut command = host.command(&args);
    command.env("ONRECORD_LOG", "trace").env("ONRECORD_LOG_FORMAT", "json");
    command.stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
    let mut server = Running(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();

    // What is valid, and what is not and is refused.
    let talk = author.file("talk.jsonl", &pds_support::said("talk", &[&format!("How is {words} made?"), &words]));
    let done = author.json(&["publish", talk.to_str().unwrap(), "--yes", "--json"]);
    let rkey = done["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let session = json!({"identifier": "dana.test", "password": dana.password});
    let session = pds.post("com.atproto.server.createSession", None, &session).await;
    let bad = json!({"$type": "click.aligned.chat.message", "session": words, "role": words, "text": [words], "createdAt": words});
    let bad = json!({"repo": dana.did.as_str(), "collection": "click.aligned.chat.message", "validate": false, "record": bad});
    pds.post("com.atproto.repo.createRecord", session["accessJwt"].as_str(), &bad).await;
    let page = format!("{url}/@dana.test/{rkey}");
    assert!(wait_for(&page, 200).await.contains(&words));

    let told = fs::read_to_string(&log).unwrap();
    let metrics = told.split("Metrics are at ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let began = Instant::now();
    let text = loop {
        let text = reqwest::get(&metrics).await.unwrap().text().await.unwrap();
        if text.contains("onrecord_index_rejections_total{reason=\"lexicon:") {
            break text;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{text}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let source = format!("{{source=\"{firehose}\"}}");
    for line in [
        format!("onrecord_follow_connected{source} 1"),
        format!("onrecord_follow_lease_held{source} 1"),
        format!("onrecord_labeler_connected{{labeler=\"{did}\"}} 1"),
        "onrecord_http_requests_total{route=\"/{owner}/{rkey}\",status=\"2xx\"}".to_owned(),
        format!("onrecord_follow_lag_seconds{source} "),
        "process_resident_memory_bytes ".to_owned(),
    ] {
        assert!(text.contains(&line), "{line}: {text}");
    }
    assert!(!text.contains(&words) && !text.contains(dana.did.as_str()) && !text.contains(&rkey), "{text}");
    // The site itself has no such page.
    assert_eq!(reqwest::get(format!("{url}/metrics")).await.unwrap().status().as_u16(), 404);

    labeler.say(&[labeler.label(dana.did.as_str(), "!takedown", "2026-01-01T00:00:00Z", &json!({}))]);
    let text = wait_for(&page, 410).await;
    assert!(text.contains("follows the labeler") && !text.contains(&words), "{text}");

    drop(server);
    let told = fs::read_to_string(&log).unwrap();
    assert!(
        told.lines().any(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line["level"].is_string())),
        "{told}"
    );
    if let Some(line) = told.lines().find(|line| line.contains(&words)) {
        panic!("the log repeats what was said: {line}");
    }
}
