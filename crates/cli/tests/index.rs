//! The index from the command line: what goes in comes out, and can be held against itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod common;

use common::{Machine, PUBLIC_DID, PUBLIC_RKEY, an_export};
use onrecord_testkit::Postgres;
use rusqlite::Connection;
use serde_json::{Value, json};

fn lines(text: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.sort_by_key(ToString::to_string);
    lines
}

#[test]
fn what_is_imported_is_counted_checked_and_exported() {
    let machine = Machine::new();
    let file = machine.file("export.ndjson", an_export());
    let done = machine.ok(&["index", "import", &file, "--json"]).json();
    assert_eq!(done, json!({"stored": 4, "removed": 0, "stale": 0, "ignored": 0, "rejected": 0}));
    let again = machine.ok(&["index", "import", &file, "--json"]).json();
    assert_eq!((&again["stored"], &again["stale"]), (&json!(0), &json!(4)));

    let stats = machine.ok(&["index", "stats", "--json"]).json();
    assert_eq!(stats["status"]["conversations"], 1);
    assert_eq!(stats["status"]["records"][0], json!(["click.aligned.chat.message", 2]));
    assert_eq!(stats["status"]["cursors"][0]["cursor"], "17");
    assert_eq!(stats["rejected"], json!([]));
    let text = machine.ok(&["index", "stats"]).out;
    assert!(text.contains("records of click.aligned.chat.message      2\n"), "{text}");

    let checked = machine.ok(&["index", "check", "--json"]).json();
    assert_eq!((&checked["conversations"], &checked["faults"]), (&json!(1), &json!([])));
    let exported = machine.ok(&["index", "export"]).out;
    let to_file = machine.path("again.ndjson");
    machine.ok(&["index", "export", "--out", to_file.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&to_file).unwrap(), exported);
    let other = machine.path("other.db");
    machine
        .run_with_input(&["index", "import", "-", "--db", other.to_str().unwrap()], exported.as_bytes())
        .ends_with(0);
    let from_other = machine.ok(&["index", "export", "--db", other.to_str().unwrap()]).out;
    assert_eq!(lines(&from_other), lines(&exported));
}

#[test]
fn a_fault_in_the_index_is_found() {
    let machine = Machine::new();
    let file = machine.file("export.ndjson", an_export());
    machine.ok(&["index", "import", &file]);
    let db = Connection::open(machine.data().join("index.db")).unwrap();
    db.execute("UPDATE conversation SET turns = turns + 1", []).unwrap();
    let found = machine.run(&["index", "check"]).ends_with(3);
    let place = format!("at://{PUBLIC_DID}/click.aligned.chat.session/{PUBLIC_RKEY}");
    assert!(found.out.contains(&place), "{}", found.out);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let machine = Machine::new();
    let broken = an_export().replace("\"cid\":", "\"sid\":");
    let file = machine.file("broken.ndjson", broken);
    let refused = machine.run(&["index", "import", &file]).ends_with(1);
    assert!(refused.err.contains("line 2"), "{}", refused.err);
    let no_database = machine.run(&["index", "stats", "--db", "mysql://host/name"]).ends_with(2);
    assert!(no_database.err.contains("postgres://"), "{}", no_database.err);
    // A record that breaks its lexicon is counted, and the rest is in.
    let file = machine.file("invalid.ndjson", an_export().replace("\"role\":\"user\"", "\"role\":7"));
    let done = machine.run(&["index", "import", &file, "--json"]).ends_with(3).json();
    assert_eq!((&done["stored"], &done["rejected"]), (&json!(3), &json!(1)));
    let stats = machine.ok(&["index", "stats", "--json"]).json();
    assert_eq!(stats["rejected"][0]["reason"], "lexicon:type");
}

#[test]
fn postgres_takes_what_sqlite_gives() {
    let server = Postgres::start();
    let machine = Machine::new();
    let file = machine.file("export.ndjson", an_export());
    machine.ok(&["index", "import", &file]);
    let exported = machine.ok(&["index", "export"]).out;
    machine.run_with_input(&["index", "import", "-", "--db", server.url()], exported.as_bytes()).ends_with(0);
    machine.ok(&["index", "check", "--db", server.url()]);
    assert_eq!(lines(&machine.ok(&["index", "export", "--db", server.url()]).out), lines(&exported));
}
