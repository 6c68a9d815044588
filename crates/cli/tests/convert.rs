//! `onrecord convert`: decided about, sealed and looked at like publishing; read back, it says the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::fs;

use common::{EXAMPLES, Machine, contains, example, github_token, harmless, with_secret};
use onrecord_lexicon::{Catalog, data};
use serde_json::{Value, json};

const FORMATS: [&str; 6] = ["click.aligned", "tiles", "pi", "markdown", "atif", "sts"];
const SNAPSHOT: &str = "run.tiles.chat.sessionSnapshot";

/// What a reader sees of each turn: who, when, what, with which calls.
fn said(shown: &Value) -> Vec<Value> {
    let turns = shown["turns"].as_array().unwrap();
    turns.iter().map(|t| json!([t["role"], t["createdAt"], t["text"], t.get("model"), t.get("steps")])).collect()
}

// Invariant 3.
#[test]
fn what_is_undecided_is_not_converted() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    for format in FORMATS {
        let run = machine.run(&["convert", &file, "--to", format]).ends_with(3);
        assert!(run.out.is_empty() && run.err.contains("undecided"), "{format}: {}", run.err);
        let target = machine.path("out").to_string_lossy().into_owned();
        machine.run(&["convert", &file, "--to", format, "--out", &target]).ends_with(3);
        assert!(!machine.path("out").exists());
    }
    machine.ok(&["decide", &file, "--cover-findings"]);
    for format in FORMATS {
        let run = machine.ok(&["convert", &file, "--to", format]);
        assert!(!run.out.contains(&github_token()) && run.out.contains("███"), "{format}");
    }
}

#[test]
fn the_formats_that_are_read_too_say_the_same_when_read_back() {
    for name in EXAMPLES {
        let machine = Machine::new();
        let file = &example(name);
        machine.ok(&["decide", file, "--cover-findings"]);
        let records = machine.ok(&["convert", file, "--to", "click.aligned"]).out;
        let path = machine.file("records.json", &records);
        let original = machine.ok(&["show", &path, "--format", "json"]).json();
        // A title that is only the first prompt's beginning is made anew by whoever reads.
        let (title, original) = (original["title"].clone(), said(&original));
        let transcript = machine.ok(&["show", file, "--format", "json"]).json();
        assert_eq!(original.len(), transcript["turns"].as_array().unwrap().len());
        for format in ["tiles", "pi"] {
            let converted = machine.ok(&["convert", file, "--to", format]).out;
            let path = machine.file(&format!("{format}.json"), &converted);
            let shown = machine.ok(&["show", &path, "--format", "json"]).json();
            let shown_turns = said(&shown);
            assert_eq!(shown_turns.len(), original.len());
            for (n, (a, b)) in shown_turns.iter().zip(&original).enumerate() {
                assert!(
                    a == b,
                    "{name} as {format}, turn {}: {:.300}\nis not\n{:.300}",
                    n + 1,
                    a.to_string(),
                    b.to_string()
                );
            }
            assert!(title.is_null() || shown["title"] == title, "{name} as {format}");
        }
    }
}

#[test]
fn records_are_what_their_lexicons_say() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let records = machine.ok(&["convert", &file, "--to", "click.aligned"]).json();
    for record in records["records"].as_array().unwrap() {
        let mut parts = record["uri"].as_str().unwrap().rsplit('/');
        let (rkey, collection) = (parts.next().unwrap(), parts.next().unwrap());
        let value = &record["value"];
        assert_eq!(Catalog::bundled().validate_record(collection, value, Some(rkey)).unwrap(), []);
        assert_eq!(data::record_cid(value).unwrap().1.as_str(), record["cid"]);
    }
    let snapshot = machine.ok(&["convert", &file, "--to", "tiles"]).json();
    assert_eq!(Catalog::bundled().validate_record(SNAPSHOT, &snapshot, None).unwrap(), []);
    machine.ok(&["lexicon", "validate", &machine.file("tiles.json", snapshot.to_string())]);
}

#[test]
fn what_is_lost_is_told_on_standard_error() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    machine.ok(&["decide", &file, "--description", "For the record"]);
    let run = machine.ok(&["convert", &file, "--to", "pi"]);
    assert!(run.err.contains("lost: ") && run.err.contains("1 description"), "{}", run.err);
    let run = machine.ok(&["convert", &file, "--to", "pi", "--json"]);
    let lost: Value = serde_json::from_str(run.err.lines().last().unwrap()).unwrap();
    assert!(lost["lost"].as_array().unwrap().iter().any(|l| l["what"] == "description" && l["count"] == 1), "{lost}");
    // The document is the same.
    assert_eq!(run.stream().len(), machine.ok(&["convert", &file, "--to", "pi", "--quiet"]).stream().len());
    assert!(machine.ok(&["convert", &file, "--to", "pi", "--quiet"]).err.is_empty());
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let target = machine.file("out/talk.json", "what was there");
    let run = machine.ok(&["convert", &file, "--to", "tiles", "--out", &target]);
    assert!(run.out.is_empty());
    let written: Value = serde_json::from_slice(&fs::read(&target).unwrap()).unwrap();
    assert_eq!(written["$type"], SNAPSHOT);
    // Refused, what was there stays, and nothing lies beside it.
    let secret = machine.file("secret.jsonl", with_secret());
    machine.run(&["convert", &secret, "--to", "tiles", "--out", &target]).ends_with(3);
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&target).unwrap()).unwrap(), written);
    assert_eq!(fs::read_dir(machine.path("out")).unwrap().count(), 1);
    let folder = machine.path("out").to_string_lossy().into_owned();
    machine.run(&["convert", &file, "--to", "tiles", "--out", &folder]).ends_with(1);
    let nowhere = machine.path("no/such/folder/x").to_string_lossy().into_owned();
    machine.run(&["convert", &file, "--to", "tiles", "--out", &nowhere]).ends_with(1);
    machine.run(&["convert", &file, "--to", "nothing"]).ends_with(2);
}

#[test]
fn a_turn_held_back_is_a_hole_in_every_format() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let shown = machine.ok(&["show", &file, "--format", "json"]).json();
    let words = shown["turns"][1]["text"].as_str().unwrap().split('\n').next().unwrap().to_owned();
    machine.ok(&["decide", &file, "--withhold", "2"]);
    let hole = [
        ("click.aligned", "\"withheld\": true"),
        ("tiles", "\"type\": \"withheld\""),
        ("pi", "onrecord.withheld"),
        ("markdown", "Off the record"),
        ("atif", "\"withheld\": true"),
        ("sts", "\"withheld\":true"),
    ];
    for (format, mark) in hole {
        let run = machine.ok(&["convert", &file, "--to", format]);
        assert!(run.out.contains(mark) && !run.out.contains(&words), "{format}: {}", run.out);
    }
    // And it stays one when the records are converted again.
    let records = machine.file("records.json", machine.ok(&["convert", &file, "--to", "click.aligned"]).out);
    for (format, mark) in hole {
        assert!(machine.ok(&["convert", &records, "--to", format]).out.contains(mark), "{format}");
    }
    let all = machine.ok(&["show", &file, "--format", "json"]).json()["turns"].as_array().unwrap().len();
    machine.ok(&["decide", &file, "--withhold", &format!("1-{all}")]);
    machine.run(&["convert", &file, "--to", "pi"]).ends_with(1);
}

/// A Tiles record of another program's making, with fields that nobody knows.
fn foreign() -> Value {
    json!({"$type": SNAPSHOT, "name": "Two maps", "sessionId": "5f0c", "createdAt": "2026-03-04T06:00:00Z", "mood": {"a": [1, null]},
        "turns": [{"api": "open-responses", "provider": "tiles", "model": "Qwen3:Q4", "cost": 3, "messages": [
            {"role": "user", "timestamp": 1_772_600_767_089_i64, "content": [{"type": "text", "text": "Which map?", "lang": "en"}]},
            {"role": "assistant", "timestamp": 1_772_600_768_000_i64, "stopReason": "toolUse", "content": [
                {"type": "thinking", "thinking": "The second, then."},
                {"type": "toolCall", "name": "bash", "arguments": "{ \"command\": \"ls\" }"}]},
            {"role": "toolResult", "toolName": "bash", "content": [{"type": "text", "text": "map-a map-b"}]},
            {"role": "assistant", "timestamp": 1_772_600_770_000_i64, "content": [{"type": "text", "text": "The second."}]}]}]})
}

#[test]
fn a_record_of_its_own_family_comes_back_as_it_is() {
    let machine = Machine::new();
    let file = machine.file("foreign.json", foreign().to_string());
    let run = machine.ok(&["convert", &file, "--to", "tiles"]);
    assert_eq!(run.json(), foreign());
    assert!(!run.err.contains("lost"), "{}", run.err);
    // From standard input too.
    let run = machine.run_with_input(&["convert", "-", "--to", "tiles"], foreign().to_string().as_bytes()).ends_with(0);
    assert_eq!(run.json(), foreign());
    // Covered, it is covered wherever it stands; decided about like a transcript.
    machine.ok(&["decide", &file, "--cover", "map-a"]);
    machine.run(&["decide", &file, "--cover", "nowhere at all"]).ends_with(1);
    let covered = machine.ok(&["convert", &file, "--to", "tiles"]).json();
    assert_eq!(covered["turns"][0]["messages"][2]["content"][0]["text"], "███ map-b");
    let shown = machine.ok(&["show", &file, "--format", "json"]).json();
    assert_eq!(shown["turns"][1]["parts"][0], json!({"type": "reasoning", "text": "The second, then."}));
    // In another family reasoning goes along only where it is asked for.
    let plain = machine.ok(&["convert", &file, "--to", "pi"]);
    assert!(!plain.out.contains("The second, then.") && plain.err.contains("1 reasoning"), "{}", plain.err);
    let full = machine.ok(&["convert", &file, "--to", "pi", "--with-reasoning"]);
    assert!(full.out.contains("The second, then.") && !full.err.contains("reasoning"), "{}", full.err);
    // It is no transcript: publishing it would be publishing it twice.
    let refused = machine.run(&["publish", &file, "--local", "--yes"]).ends_with(2);
    assert!(refused.err.contains("convert"), "{}", refused.err);

    // And the other family.
    let session = machine.file("session.jsonl", harmless());
    let mut records = machine.ok(&["convert", &session, "--to", "click.aligned"]).json();
    records["records"][1]["value"]["mood"] = json!({"deep": [true]});
    records["records"][1]["cid"] = data::record_cid(&records["records"][1]["value"]).unwrap().1.as_str().into();
    let file = machine.file("records.json", records.to_string());
    assert_eq!(machine.ok(&["convert", &file, "--to", "click.aligned"]).json(), records);
}

#[test]
fn reasoning_is_scanned_where_it_goes_along() {
    let machine = Machine::new();
    let mut record = foreign();
    record["turns"][0]["messages"][1]["content"][0]["thinking"] = format!("The key is {}.", github_token()).into();
    let file = machine.file("foreign.json", record.to_string());
    machine.ok(&["scan", &file]);
    machine.ok(&["convert", &file, "--to", "pi"]);
    let found = machine.run(&["scan", &file, "--with-reasoning", "--json"]).ends_with(3).json();
    assert_eq!((&found["findings"][0]["field"], &found["findings"][0]["turn"]), (&json!("reasoning[0]"), &json!(2)));
    for args in [&["convert", &file, "--to", "pi", "--with-reasoning"][..], &["convert", &file, "--to", "tiles"]] {
        machine.run(args).ends_with(3);
    }
    machine.ok(&["decide", &file, "--with-reasoning", "--cover-findings"]);
    let run = machine.ok(&["convert", &file, "--to", "tiles"]);
    assert_eq!(run.json()["turns"][0]["messages"][1]["content"][0]["thinking"], "The key is ███.");
    assert!(!machine.stored().iter().any(|(_, bytes)| contains(bytes, &github_token())));
}

#[test]
fn what_hides_where_nobody_looked_stops_at_the_gate() {
    let machine = Machine::new();
    let mut record = foreign();
    record["turns"][0]["messages"][2]["content"][0]["text"] = github_token().into();
    let file = machine.file("foreign.json", record.to_string());
    // The output of a tool is in no draft; written again it would go along.
    let run = machine.run(&["convert", &file, "--to", "tiles"]).ends_with(3);
    assert!(run.out.is_empty() && run.err.contains("last gate") && !run.err.contains(&github_token()), "{}", run.err);
    assert!(!machine.ok(&["convert", &file, "--to", "pi"]).out.contains(&github_token()));
}

#[test]
fn a_preview_shows_the_record_of_a_family_that_has_one() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let out = machine.path("preview").to_string_lossy().into_owned();
    machine.ok(&["preview", &file, "--out", &out]);
    let shown = machine.ok(&["preview", &file, "--as", "tiles", "--out", &out, "--json"]).json();
    assert_eq!(shown["records"], 1);
    // What the other family would be is there no more.
    let folders: Vec<_> =
        fs::read_dir(machine.path("preview/records")).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(folders, [SNAPSHOT]);
    let plan = machine.ok(&["publish", &file, "--as", "tiles", "--local", "--dry-run", "--json"]).json();
    let rkey = plan["writes"][0]["rkey"].as_str().unwrap();
    let record = fs::read(machine.path(&format!("preview/records/{SNAPSHOT}/{rkey}.json"))).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&record).unwrap(), plan["writes"][0]["record"]);
    assert!(fs::read_to_string(machine.path(&format!("preview/{rkey}.html"))).unwrap().contains("Gladly."));
}
