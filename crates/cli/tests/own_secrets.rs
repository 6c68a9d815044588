//! `scan --sources` says where the person's own secrets are collected from, and never what they are.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use common::{Machine, claude_code, finished, github_token, refused};
use serde_json::{Value, json};

/// Not a token of any service.
fn secret(n: usize) -> String {
    ["q7", "Zr", "Lm3", "vT9", "wK", "x5B", "nP", "2h"].iter().cycle().skip(n).take(12).copied().collect()
}

/// A machine on which secrets lie about, and what they are.
fn machine() -> (Machine, Vec<String>) {
    let machine = Machine::new();
    let secrets: Vec<String> = (0..5).map(secret).collect();
    machine.file("home/.aws/credentials", format!("[default]\naws_secret_access_key = {}\n", secrets[0]));
    machine
        .file("home/.netrc", format!("machine h login x password {}\nmachine i password {}\n", secrets[1], secrets[2]));
    machine.file("home/.bashrc", format!("export MY_TOKEN='{}'\nexport EDITOR=vim\n", secrets[3]));
    machine.file("home/code/app/.env", format!("APP_SECRET={}\nNODE_ENV=production\n", secrets[4]));
    (machine, secrets)
}

fn source<'a>(sources: &'a Value, id: &str) -> &'a Value {
    sources.as_array().unwrap().iter().find(|source| source["id"] == id).unwrap()
}

#[test]
fn every_source_is_listed_with_its_place_and_count() {
    let (machine, secrets) = machine();
    let run = machine.ok(&["scan", "--sources", "--json"]);
    let sources = run.json();
    for source in sources.as_array().unwrap() {
        let keys: Vec<&String> = source.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 6);
        assert!(["id", "name", "place", "count", "off", "notice"].iter().all(|key| source.get(key).is_some()));
    }
    let aws = json!({"id": "aws", "name": "AWS credentials", "place": "~/.aws/credentials", "count": 1, "off": false, "notice": null});
    assert_eq!(source(&sources, "aws"), &aws);
    assert_eq!(source(&sources, "netrc")["count"], 2);
    assert_eq!(source(&sources, "shell")["count"], 1);
    assert_eq!(source(&sources, "dotenv")["count"], 0, "no project is named");
    assert_eq!(source(&sources, "env")["count"], 0);

    let text = machine.ok(&["scan", "--sources"]);
    let line = text.out.lines().find(|line| line.starts_with("aws ")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["aws", "~/.aws/credentials", "1", "on"]);
    assert_eq!(text.out.lines().count(), sources.as_array().unwrap().len());
    assert!(
        !secrets.iter().any(|s| [&run.out, &run.err, &text.out, &text.err].iter().any(|o| o.contains(s))),
        "a value is printed"
    );
}

#[test]
fn the_environment_is_a_source() {
    let machine = Machine::new();
    let mut command = machine.command(&["scan", "--sources", "--json"]);
    command.env("SOME_API_KEY", secret(1)).env("OTHER", github_token()).env("LANG", "C.UTF-8");
    let run = finished(&mut command).ends_with(0);
    assert_eq!(source(&run.json(), "env")["count"], 2);
    assert!(!run.out.contains(&secret(1)) && !run.out.contains(&github_token()), "a value is printed");
}

#[test]
fn a_source_is_switched_off_and_on_again_for_good() {
    let (machine, _) = machine();
    let sources = machine.ok(&["scan", "--sources", "--off", "aws", "--off", "netrc", "--json"]).json();
    assert_eq!((&source(&sources, "aws")["off"], &source(&sources, "aws")["count"]), (&json!(true), &json!(0)));
    let line = machine.ok(&["scan", "--sources"]).out;
    assert!(line.lines().any(|line| line.starts_with("netrc ") && line.ends_with("off")), "{line}");
    let sources = machine.ok(&["scan", "--sources", "--on", "aws", "--json"]).json();
    assert_eq!((&source(&sources, "aws")["off"], &source(&sources, "aws")["count"]), (&json!(false), &json!(1)));
    assert_eq!(source(&sources, "netrc")["off"], true);
}

#[test]
fn an_unknown_source_is_a_wrong_usage() {
    let machine = Machine::new();
    let said = refused(machine.run(&["scan", "--sources", "--off", "nonsense"]), 2, "no source \"nonsense\"");
    assert!(said.contains("aws, "), "{said}");
    machine.run(&["scan", "--off", "aws"]).ends_with(2);
    machine.run(&["scan"]).ends_with(2);
}

#[test]
fn with_a_conversation_its_project_counts_too() {
    let (machine, secrets) = machine();
    let folder = machine.path("home/code/app");
    let transcript =
        |cwd: &str| claude_code("t", &[("user", "Go on."), ("assistant", "Going on.")]).replace("/srv/harbour", cwd);
    let file = machine.file("t.jsonl", transcript(folder.to_str().unwrap()));
    let run = machine.ok(&["scan", &file, "--sources", "--json"]);
    assert_eq!(source(&run.json(), "dotenv")["count"], 1);
    assert_eq!(source(&run.json(), "dotenv")["place"], "~/code/app/.env");
    assert!(!secrets.iter().any(|s| run.out.contains(s)), "a value is printed");

    // A transcript may name any folder; only the person's are looked into.
    let outside = machine.file("elsewhere/.env", format!("APP_SECRET={}\n", secret(7)));
    for cwd in [outside.trim_end_matches("/.env"), "/", "/etc", "relative", ""] {
        let file = machine.file("u.jsonl", transcript(cwd));
        let sources = machine.ok(&["scan", &file, "--sources", "--json"]).json();
        assert_eq!(source(&sources, "dotenv")["count"], 0, "{cwd}");
    }
}

#[test]
fn a_file_that_is_not_read_is_said_so() {
    let machine = Machine::new();
    machine.file("home/.npmrc", "x".repeat(2 * 1024 * 1024));
    let sources = machine.ok(&["scan", "--sources", "--json"]).json();
    assert_eq!(source(&sources, "npmrc")["notice"], "~/.npmrc: is over 1 MB");
}
