//! Who the person is: read from the machine, found in the conversation, and home folders decided on once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::process::Command;

use common::{Machine, Run, claude_code, contains, finished};
use serde_json::Value;

const TEXT: &str = "dvik ran make in ~/x as Dana Vik <dana@nordlys.no>";

/// Dana's account on the machine.
fn as_dana(machine: &Machine, args: &[&str]) -> Run {
    machine.file("people/dvik/.gitconfig", "[user]\n\tname = Dana Vik\n\temail = dana@nordlys.no\n");
    let mut command: Command = machine.command(args);
    command.env("HOME", machine.path("people/dvik")).env("USER", "dvik").env("HOSTNAME", "nordlys-x1");
    finished(&mut command)
}

fn rules(scan: &Value) -> Vec<&str> {
    let mut rules: Vec<&str> =
        scan["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn account_machine_and_gits_user_are_known() {
    let machine = Machine::new();
    let home = machine.path("people/dvik");
    let text = format!("{TEXT}, on nordlys-x1, in {}/notes", home.display());
    let file = machine.file("t.jsonl", claude_code("t", &[("user", "Who?"), ("assistant", &text)]));
    let scan = as_dana(&machine, &["scan", &file, "--json"]).ends_with(3).json();
    assert_eq!(rules(&scan), ["own-email", "own-full-name", "own-home", "own-host", "own-user-name"]);
    let stranger = machine.run(&["scan", &file, "--json"]).ends_with(3).json();
    assert_eq!(rules(&stranger), ["email"], "nobody else's machine knows them");
}

#[test]
fn home_folders_are_decided_on_once() {
    let machine = Machine::new();
    let talk = [("user", "cd /home/kim/x"), ("assistant", "Done in /home/kim/x and /Users/lin/y.")];
    let file = machine.file("t.jsonl", claude_code("t", &talk));
    machine.run(&["scan", &file]).ends_with(3);
    for (style, expected) in [("tilde", "Done in ~/x and ~/y."), ("bar", "Done in ███/x and ███/y.")] {
        let stand = machine.ok(&["decide", &file, "--home", style, "--json"]).json();
        assert_eq!((&stand["home"], &stand["undecided"]), (&Value::from(style), &Value::from(0)));
        let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json"]);
        let writes = plan.json()["writes"].clone();
        assert!(writes.as_array().unwrap().iter().any(|w| w["record"]["text"] == expected), "{writes}");
        assert!(!plan.out.contains("/home/kim") && !plan.out.contains("/Users/lin"));
    }
    let stand = machine.ok(&["decide", &file, "--home", "none", "--json"]).json();
    assert!(stand["undecided"].as_u64().unwrap() > 0);
}

#[test]
fn what_is_known_of_the_person_is_not_kept() {
    let machine = Machine::new();
    let file = machine.file("t.jsonl", claude_code("t", &[("user", "Hello"), ("assistant", "Hello.")]));
    as_dana(&machine, &["scan", &file]).ends_with(0);
    for (path, bytes) in machine.stored() {
        assert!(!contains(&bytes, "dana@nordlys.no"), "{}", path.display());
    }
}
