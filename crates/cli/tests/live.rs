//! Following a conversation that is being written, onto the shelf of this machine.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests fail loudly, and say by which seed"
)]

mod agent;
mod common;
mod pds_support;

use std::{
    collections::BTreeSet,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use agent::{Dice, Following, until, write_slowly, writing_time};
use common::{Machine, SESSION, claude_code, github_token, refused, text};
use serde_json::{Value, json};

/// Collection, key and CID of everything on the shelf.
fn shelf(machine: &Machine) -> BTreeSet<(String, String, String)> {
    let path = machine.data().join("onrecord.db");
    let Ok(db) = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY) else {
        return BTreeSet::new();
    };
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    let Ok(mut query) = db.prepare("SELECT collection, rkey, cid FROM record WHERE cid IS NOT NULL") else {
        return BTreeSet::new();
    };
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// What a plain publish of `file` would put there, on a machine that knows nothing of it.
fn plain(file: &str, decide: &[&str]) -> BTreeSet<(String, String, String)> {
    let machine = Machine::new();
    if !decide.is_empty() {
        machine.ok(&[&["decide", file], decide].concat());
    }
    let plan = machine.ok(&["publish", file, "--local", "--dry-run", "--json"]).json();
    let field = |write: &Value, name: &str| write[name].as_str().unwrap().to_owned();
    let writes = plan["writes"].as_array().unwrap();
    writes.iter().map(|w| (field(w, "collection"), field(w, "rkey"), field(w, "cid"))).collect()
}

fn command(machine: &Machine, file: &str, hold: &str) -> Command {
    machine.command(&["live", file, "--local", "--yes", "--json", "--hold", hold])
}

/// An agent writes, the follower is killed again and again, and what stands there is always a part of what a plain
/// publish puts there, and in the end all of it.
fn killed_at_random(time: Duration) {
    let machine = Machine::new();
    let rows = pds_support::transcript("live-1", 41);
    let whole = machine.file("whole.jsonl", &rows);
    let expected = plain(&whole, &[]);
    let path = machine.path("talk.jsonl");
    let file = text(&path);
    let writing = write_slowly(&path, &rows, time);
    until("the transcript", || path.exists());
    let mut dice = Dice::new();
    let mut before = BTreeSet::new();
    while !writing.is_finished() {
        let mut command = command(&machine, &file, "200ms");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(100 + dice.below(1500)));
        child.kill().unwrap();
        child.wait().unwrap();
        let there = shelf(&machine);
        assert!(there.is_subset(&expected), "{:?}", there.difference(&expected).collect::<Vec<_>>());
        assert!(before.is_subset(&there), "taken away: {:?}", before.difference(&there).collect::<Vec<_>>());
        // No hole: what is there are the first of them.
        let keys: Vec<_> = expected.iter().filter(|(c, ..)| c.ends_with(".message")).collect();
        let count = there.iter().filter(|(c, ..)| c.ends_with(".message")).count();
        assert!(keys.iter().take(count).all(|record| there.contains(*record)));
        before = there;
    }
    writing.join().unwrap();
    let following = Following::start(&mut command(&machine, &file, "200ms"));
    until("the last turn", || shelf(&machine) == expected);
    assert_eq!(following.end("-TERM").1, 0);
    let done = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream();
    let done = done.last().unwrap();
    assert_eq!((&done["created"], &done["updated"], &done["deleted"]), (&json!(0), &json!(0), &json!(0)));
}

#[test]
fn killed_at_random_the_records_are_those_of_a_plain_publish() {
    killed_at_random(writing_time());
}

#[test]
#[ignore = "takes two minutes"]
fn killed_at_random_for_two_minutes_the_records_are_those_of_a_plain_publish() {
    killed_at_random(Duration::from_secs(120));
}

#[test]
fn what_is_undecided_is_held_back_told_and_goes_out_once_decided() {
    let machine = Machine::new();
    let token = github_token();
    let turns = [
        ("user", "Push the branch, please."),
        ("assistant", &*format!("I take {token} for it.")),
        ("user", "Thanks."),
        ("assistant", "Gladly."),
    ];
    let path = machine.path("talk.jsonl");
    let file = machine.file("talk.jsonl", claude_code(SESSION, &turns[..3]));
    let mut following = Following::start(&mut command(&machine, &file, "100ms"));
    assert_eq!(following.next("withhold"), json!({"step": "withhold", "turn": 2, "undecided": 1}));
    until("the first turns", || shelf(&machine).len() == 4);

    // The conversation goes on, and the author decides meanwhile.
    std::fs::write(&path, claude_code(SESSION, &turns)).unwrap();
    until("the last turn", || shelf(&machine).len() == 5);
    machine.ok(&["decide", &file, "--cover-findings"]);
    let expected = plain(&file, &["--cover-findings"]);
    until("what was decided", || shelf(&machine) == expected);

    // And holds one back.
    machine.ok(&["decide", &file, "--withhold", "4"]);
    let expected = plain(&file, &["--cover-findings", "--withhold", "4"]);
    until("the turn held back", || shelf(&machine) == expected);
    let (done, code) = following.end("-INT");
    assert_eq!((&done["created"], &done["updated"], &done["waiting"]), (&json!(5), &json!(2), &json!(0)));
    assert_eq!(code, 0);
}

#[test]
fn nothing_is_told_of_what_was_found_and_the_end_says_that_something_is_to_decide() {
    let machine = Machine::new();
    let file = machine.file("talk.jsonl", common::with_secret());
    let mut child = command(&machine, &file, "0s");
    let output = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the conversation", || shelf(&machine).len() == 5);
    let pid = output.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let output = output.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = [output.stdout, output.stderr].concat();
    assert!(!common::contains(&said, &github_token()));
    assert!(common::contains(&said, "\"withheld\":[3,4]"), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn a_turn_waits_for_its_hold_and_stays_off_the_record_when_it_ends_before() {
    let machine = Machine::new();
    let turns = [("user", "Is it on?"), ("assistant", "It is."), ("user", "Good.")];
    let file = machine.file("talk.jsonl", claude_code(SESSION, &turns));
    let following = Following::start(&mut command(&machine, &file, "1h"));
    // The first two ended when the next began, long ago; the last a moment ago.
    until("the first turns", || shelf(&machine).len() == 3);
    thread::sleep(Duration::from_millis(700));
    let (done, code) = following.end("-TERM");
    assert_eq!((code, &done["created"], &done["waiting"]), (0, &json!(3), &json!(1)));
    assert_eq!(shelf(&machine).len(), 3);
}

#[test]
fn what_is_taken_back_meanwhile_stays_off_the_record() {
    let machine = Machine::new();
    let turns = [("user", "Is it on?"), ("assistant", "It is."), ("user", "Take it off."), ("assistant", "Off.")];
    let path = machine.path("talk.jsonl");
    let file = machine.file("talk.jsonl", claude_code(SESSION, &turns[..2]));
    let mut following = Following::start(&mut command(&machine, &file, "0s"));
    until("the first turns", || shelf(&machine).len() == 3);
    // It may be publishing at this very moment.
    until("the way back", || machine.run(&["unpublish", &file, "--yes"]).code == 0);
    std::fs::write(&path, claude_code(SESSION, &turns)).unwrap();
    assert_eq!(following.next("done")["created"], 3);
    assert!(shelf(&machine).is_empty());
}

#[test]
fn it_asks_once_and_not_without_a_terminal() {
    let machine = Machine::new();
    let file = machine.file("talk.jsonl", common::harmless());
    refused(machine.run(&["live", &file, "--local"]), 2, "standard input is no terminal");
    refused(machine.run(&["live", "-", "--local", "--yes"]), 2, "cannot be followed");
    refused(machine.run(&["live", &file, "--local", "--yes", "--hold", "soon"]), 2, "");
    refused(machine.run(&["live", &file, "--yes"]), 4, "no account is signed in");
    assert!(shelf(&machine).is_empty());
}
