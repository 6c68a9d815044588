//! What a host hides, from the shell.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod common;

use common::{Machine, PUBLIC_DID, PUBLIC_RKEY, an_export, refused};
use serde_json::json;

fn machine() -> Machine {
    let machine = Machine::new();
    let file = machine.file("export.ndjson", an_export());
    machine.ok(&["index", "import", &file]);
    machine
}

#[test]
fn what_is_hidden_is_listed_logged_and_shown_again() {
    let machine = machine();
    let uri = format!("at://{PUBLIC_DID}/click.aligned.chat.session/{PUBLIC_RKEY}");
    let hide = ["moderate", "hide", &uri, "--reason", " an advertisement ", "--by", "Ada", "--json"];
    let done = machine.ok(&hide).json();
    assert_eq!((&done["isHere"], &done["hidden"]), (&json!(true), &json!({"by": "host"})));
    let decision = &done["decision"];
    assert_eq!((&decision["subject"], &decision["hide"]), (&json!(uri), &json!(true)));
    assert_eq!((&decision["reason"], &decision["by"]), (&json!("an advertisement"), &json!("Ada")));
    assert_eq!(machine.ok(&["index", "stats", "--json"]).json()["status"]["conversations"], 0);
    assert_eq!(machine.ok(&["moderate", "list", "--json"]).json()["hidden"][0]["decision"], *decision);
    assert!(machine.ok(&["moderate", "list"]).out.contains("an advertisement, since 20"));

    let again = machine.ok(&["moderate", "unhide", &uri, "--by", "Ada"]);
    assert_eq!(again.out, format!("shown again {uri}\n"));
    assert_eq!(machine.ok(&["index", "stats", "--json"]).json()["status"]["conversations"], 1);
    assert_eq!(machine.ok(&["moderate", "list", "--json"]).json(), json!({"hidden": []}));
    let log = machine.ok(&["moderate", "log", "--json"]).out;
    let acts: Vec<bool> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["hide"].as_bool().unwrap())
        .collect();
    assert_eq!(acts, [false, true]);
    assert!(machine.ok(&["moderate", "log"]).out.contains("hidden by Ada"));
}

#[test]
fn a_page_s_address_names_what_it_shows() {
    let machine = machine();
    let at = |collection: &str, rkey: &str| format!("at://{PUBLIC_DID}/{collection}/{rkey}");
    let conversation = at("click.aligned.chat.session", PUBLIC_RKEY);
    let turn = at("click.aligned.chat.message", "3lb2kpm6swt2k");
    let site = "https://record.example";
    for (what, subject) in [
        (format!("{site}/@potter.example/{PUBLIC_RKEY}.json?page=2#x"), &conversation),
        (format!("{site}/at/{PUBLIC_DID}/click.aligned.chat.session/{PUBLIC_RKEY}"), &conversation),
        (format!("{site}/@potter.example/{PUBLIC_RKEY}/3lb2kpm6swt2k"), &turn),
        (format!("{site}/at/{PUBLIC_DID}/click.aligned.chat.session/{PUBLIC_RKEY}/3lb2kpm6swt2k.md"), &turn),
        (format!("{site}/@potter.example/3lb2kpm6swv2k"), &at("run.tiles.chat.sessionSnapshot", "3lb2kpm6swv2k")),
        ("at://potter.example/click.aligned.chat.message/3lb2kpm6swt2k".to_owned(), &turn),
        (format!("{site}/@potter.example"), &PUBLIC_DID.to_owned()),
        ("potter.example".to_owned(), &PUBLIC_DID.to_owned()),
        (PUBLIC_DID.to_owned(), &PUBLIC_DID.to_owned()),
        (format!("at://{PUBLIC_DID}"), &PUBLIC_DID.to_owned()),
    ] {
        let done = machine.ok(&["moderate", "hide", &what, "--reason", "x", "--json"]).json();
        assert_eq!(done["decision"]["subject"], json!(subject), "{what}");
        machine.ok(&["moderate", "unhide", &what]);
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let empty = Machine::new();
    let none = empty.run(&["moderate", "hide", PUBLIC_DID, "--reason", "x"]);
    refused(none, 2, "there is no index at");
    let machine = machine();
    refused(machine.run(&["moderate", "hide", "not/a/thing", "--reason", "x"]), 2, "is none of these");
    refused(
        machine.run(&["moderate", "hide", "https://record.example/search", "--reason", "x"]),
        2,
        "is none of these",
    );
    refused(machine.run(&["moderate", "hide", PUBLIC_DID]), 2, "--reason");
    refused(machine.run(&["moderate", "unhide", PUBLIC_DID]), 1, "is not hidden by a decision");
    let unknown = machine.ok(&["moderate", "hide", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", "--reason", "x", "--json"]);
    assert_eq!(unknown.json()["decision"]["by"], "unknown");
    let forgotten = machine.ok(&["moderate", "forget-labeler", PUBLIC_DID, "--json"]).json();
    assert_eq!(forgotten, json!({"labeler": PUBLIC_DID, "labels": 0}));
}
