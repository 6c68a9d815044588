//! A 5,000-turn conversation through the program, against the same batches sent raw, on one PDS by turns.
//!
//! `cargo bench -p onrecord-cli --bench publish` prints each round's records per second, their ratio, and the program's peak
//! memory. The program's time is that of the whole process: reading the transcript, scanning, sealing, listing, writing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a bench fails loudly and prints"
)]

#[path = "../tests/pds_support/mod.rs"]
mod pds_support;

use std::{
    process::Child,
    thread,
    time::{Duration, Instant},
};

use onrecord_testkit::{Account, Pds, PdsOptions};
use pds_support::{Machine, transcript};
use serde_json::{Value, json};

const TURNS: usize = 5_000;
const ROUNDS: usize = 3;

#[tokio::main]
async fn main() {
    let pds = Pds::start(PdsOptions::default()).await;
    let transcript = transcript("bench", TURNS);
    println!("{TURNS} turns, a transcript of {:.1} MB", transcript.len() as f64 / 1e6);
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let machine = |account: &Account| {
            let machine = Machine::on(pds.plc_url(), pds.url());
            let file = machine.file("talk.jsonl", &transcript).to_str().unwrap().to_owned();
            assert!(machine.sign_in(account, &account.app_password).status.success());
            (machine, file)
        };
        let raw_account = pds.create_account(&format!("raw{round}.test")).await;
        let (raw_machine, file) = machine(&raw_account);
        let planned = raw_machine.json(&["publish", &file, "--dry-run", "--json"]);
        let batches = batches(&planned);

        let account = pds.create_account(&format!("ours{round}.test")).await;
        let (ours, file) = machine(&account);
        // By turns first and second, so that neither always finds the PDS warmer.
        let (raw, (program, peak)) = if round % 2 == 0 {
            let raw = send_raw(&pds, &raw_account, &batches).await;
            (raw, publish(&ours, &file))
        } else {
            let program = publish(&ours, &file);
            (send_raw(&pds, &raw_account, &batches).await, program)
        };
        let rate = |time: Duration| (TURNS + 1) as f64 / time.as_secs_f64();
        let ratio = rate(program) / rate(raw);
        ratios.push(ratio);
        println!(
            "round {}: raw {:.0} records/s, onrecord {:.0} records/s ({:.2} s), ratio {ratio:.3}, peak memory {:.1} MB",
            round + 1,
            rate(raw),
            rate(program),
            program.as_secs_f64(),
            peak as f64 / 1e3,
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}", ratios[ratios.len() / 2]);
}

/// The batches that the program sends: 200 writes and 1,000,000 bytes at most.
fn batches(planned: &Value) -> Vec<String> {
    let mut batches = Vec::new();
    let mut writes: Vec<Value> = Vec::new();
    let mut bytes = 0;
    let body = |writes: &[Value]| json!({"repo": planned["repo"], "writes": writes}).to_string();
    for write in planned["writes"].as_array().unwrap() {
        let wire = json!({"$type": "com.atproto.repo.applyWrites#create", "collection": write["collection"],
                          "rkey": write["rkey"], "value": write["record"]});
        let size = wire.to_string().len() + 1;
        if writes.len() == 200 || bytes + size > 990_000 {
            batches.push(body(&writes));
            (writes, bytes) = (Vec::new(), 0);
        }
        bytes += size;
        writes.push(wire);
    }
    batches.push(body(&writes));
    batches
}

async fn send_raw(pds: &Pds, account: &Account, batches: &[String]) -> Duration {
    let login = json!({"identifier": account.handle, "password": account.app_password});
    let session = pds.post("com.atproto.server.createSession", None, &login).await;
    let token = session["accessJwt"].as_str().unwrap();
    let client = reqwest::Client::new();
    let url = format!("{}/xrpc/com.atproto.repo.applyWrites", pds.url());
    let start = Instant::now();
    for batch in batches {
        let request =
            client.post(&url).bearer_auth(token).header("content-type", "application/json").body(batch.clone());
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
        answer.bytes().await.unwrap();
    }
    start.elapsed()
}

/// The time of the whole process and its peak memory in kB.
fn publish(machine: &Machine, file: &str) -> (Duration, u64) {
    let start = Instant::now();
    let mut child = machine.spawn(&["publish", file, "--yes"]);
    let mut peak = 0;
    let status = loop {
        peak = peak.max(high_water(&child));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success());
    (start.elapsed(), peak)
}

/// VmHWM of a running process, in kB; 0 where the system does not say.
fn high_water(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
