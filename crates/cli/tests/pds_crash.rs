//! The program is killed at every point where it matters; running it again ends with exactly the planned records in order.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod pds_support;

use std::{
    process::Child,
    sync::{Arc, Mutex},
    time::Duration,
};

use onrecord_testkit::{Fault, FaultProxy, Pds, PdsOptions};
use pds_support::{Machine, transcript};
use serde_json::Value;

const APPLY_WRITES: &str = "com.atproto.repo.applyWrites";
/// With the session record three batches.
const TURNS: usize = 450;
const BATCHES: usize = 3;

/// Where in its run the program is killed.
#[derive(Debug, Clone, Copy)]
enum Point {
    /// The request was sent; the PDS has not begun with it, and will while the next run is on its way.
    Sent,
    /// The PDS has written the batch; the answer is not heard, the ledger not written.
    Written,
    /// The answer was heard and the ledger written, or is being.
    Answered,
}

/// Runs the program and kills it at `point` of its batch number `batch`, from 1.
async fn killed(machine: &Machine, proxy: &FaultProxy, args: &[&str], batch: usize, point: Point) {
    proxy.reset();
    let child: Arc<Mutex<Option<Child>>> = Arc::default();
    let kill = {
        let child = Arc::clone(&child);
        move || {
            if let Some(child) = child.lock().unwrap().as_mut() {
                child.kill().unwrap();
            }
        }
    };
    let fault = match point {
        Point::Sent => Fault::DelayBefore(Duration::from_millis(300)),
        Point::Written => Fault::After(Arc::new(kill.clone())),
        Point::Answered => Fault::Pass,
    };
    proxy.script(APPLY_WRITES, std::iter::repeat_n(Fault::Pass, batch - 1).chain([fault]));
    *child.lock().unwrap() = Some(machine.spawn(args));
    match point {
        Point::Sent => proxy.wait_for(APPLY_WRITES, batch).await,
        // The next request comes when the ledger is written; after the last there is none, and the program ends.
        Point::Answered if batch < BATCHES => proxy.wait_for(APPLY_WRITES, batch + 1).await,
        Point::Written | Point::Answered => proxy.wait_for(APPLY_WRITES, batch).await,
    }
    if !matches!(point, Point::Written) {
        kill();
    }
    let mut child = child.lock().unwrap().take().unwrap();
    let _ = child.wait().unwrap();
}

// Invariant 9.
#[tokio::test(flavor = "multi_thread")]
async fn pds_a_killed_run_is_finished_by_the_next() {
    let pds = Pds::start(PdsOptions::default()).await;
    let account = pds.create_account("dana.test").await;
    let proxy = FaultProxy::start(&pds).await;
    let machine = Machine::new(proxy.url());
    assert!(machine.sign_in(&account, &account.app_password).status.success());
    let file = machine.file("talk.jsonl", &transcript("crash", TURNS));
    let file = file.to_str().unwrap();
    machine.ok(&["decide", file, "--withhold", "7,200-201,450"]);
    let planned = machine.json(&["publish", file, "--dry-run", "--json"]);
    let planned: Vec<_> = planned["writes"].as_array().unwrap().iter().map(summary).collect();
    assert_eq!(planned.len(), TURNS + 1);

    for point in [Point::Sent, Point::Written, Point::Answered] {
        for batch in 1..=BATCHES {
            killed(&machine, &proxy, &["publish", file, "--yes"], batch, point).await;
            proxy.reset();
            let done = machine.json(&["publish", file, "--yes", "--json"]);
            assert_eq!(done["done"], true, "{point:?} {batch}");
            assert_eq!(listed(&pds, &account.did).await, planned, "{point:?} {batch}");
            assert!(machine.ok(&["published", "--check"]).contains("as in the repository"), "{point:?} {batch}");
            // The way back is killed at the same point.
            let uri = done["uri"].as_str().unwrap();
            killed(&machine, &proxy, &["unpublish", uri, "--yes"], batch, point).await;
            proxy.reset();
            let again = machine.run(&["unpublish", uri, "--yes"]);
            // Killed after its very last word it had nothing left to do.
            assert!(matches!(again.status.code(), Some(0 | 1)), "{point:?} {batch}");
            assert_eq!(listed(&pds, &account.did).await, Vec::<String>::new(), "{point:?} {batch}");
        }
    }

    // Killed again and again at no particular point, until a run gets through.
    for wait_ms in (20..).step_by(35) {
        let mut child = machine.spawn(&["publish", file, "--yes"]);
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        if child.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(listed(&pds, &account.did).await, planned);
}

fn summary(write: &Value) -> String {
    format!(
        "{}/{} {}",
        write["collection"].as_str().unwrap(),
        write["rkey"].as_str().unwrap(),
        write["cid"].as_str().unwrap()
    )
}

/// What the repository holds, in key order, the session first.
async fn listed(pds: &Pds, did: &onrecord_lexicon::Did) -> Vec<String> {
    let mut records = Vec::new();
    for collection in ["click.aligned.chat.session", "click.aligned.chat.message"] {
        let mut cursor = String::new();
        loop {
            let url = format!(
                "{}/xrpc/com.atproto.repo.listRecords?repo={did}&collection={collection}&limit=100&reverse=true{cursor}",
                pds.url()
            );
            let page: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
            records.extend(page["records"].as_array().unwrap().iter().map(|r| {
                let place = r["uri"].as_str().unwrap().split('/').skip(3).collect::<Vec<_>>().join("/");
                format!("{place} {}", r["cid"].as_str().unwrap())
            }));
            match page["cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
    }
    records
}
