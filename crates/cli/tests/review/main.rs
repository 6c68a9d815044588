//! The author's pages, in a real browser, served by the real binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "tests fail loudly, and leave pictures in the folder ONRECORD_PICTURES if somebody wants to look"
)]
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../reviewing/mod.rs"]
mod reviewing;

mod door;
mod findings;
mod hostile;
mod library;
mod pages;
mod texts;

use common::{Machine, SESSION};
use onrecord_testkit::{Chromium, View};
use reviewing::Reviewing;
use serde_json::Value;

/// A machine on which an agent left this session, and its review.
struct Stage {
    machine: Machine,
    path: String,
    reviewing: Reviewing,
}

fn review(machine: &Machine, args: &[&str]) -> Reviewing {
    Reviewing::start(machine.command(&[&["review", "--json", "--listen", "127.0.0.1:0"], args].concat()))
}

/// Where Claude Code keeps a session.
fn kept(machine: &Machine, id: &str, rows: &str) -> String {
    machine.file(&format!("home/.claude/projects/-srv-harbour/{id}.jsonl"), rows)
}

impl Stage {
    fn new(rows: &str) -> Self {
        let machine = Machine::new();
        let path = kept(&machine, SESSION, rows);
        let reviewing = review(&machine, &[&path]);
        Self { machine, path, reviewing }
    }

    /// The records that would go out.
    fn records(&self) -> Vec<Value> {
        let plan = self.machine.ok(&["publish", &self.path, "--local", "--dry-run", "--json"]).json();
        plan["writes"].as_array().unwrap().iter().map(|w| w["record"].clone()).collect()
    }

    /// What the turns of the records say.
    fn texts(&self) -> Vec<String> {
        self.records().iter().filter_map(|r| Some(r.get("text")?.as_str()?.to_owned())).collect()
    }

    fn decisions(&self) -> Value {
        self.machine.ok(&["decide", &self.path, "--json"]).json()
    }

    fn open(&self, view: View) -> Chromium {
        let mut browser = Chromium::start(view);
        browser.open(&self.reviewing.url);
        browser
    }
}

fn desktop() -> View {
    View { width: 1400, height: 900, ..View::default() }
}
