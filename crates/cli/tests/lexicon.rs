//! `onrecord lexicon`: each tool on documents of invented publishers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod common;

use std::fs;

use common::{Machine, expect_file, refused, root, text};
use onrecord_lexicon::{compare::CompatRule, lint::LintRule};
use serde_json::{Value, json};

/// A record schema of a publisher, with whatever its properties are.
fn lexicon(properties: &Value) -> String {
    json!({"lexicon": 1, "id": "com.example.note", "defs": {"main": {"type": "record", "description": "A note.", "key": "tid",
        "record": {"type": "object", "properties": properties}}}})
    .to_string()
}

#[test]
fn lint_says_what_where_and_what_to_do_and_how_bad_it_is() {
    let machine = Machine::new();
    let good = machine.file("good.json", lexicon(&json!({})));
    let run = machine.ok(&["lexicon", "lint", &good]);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", "0 errors, 0 warnings, 0 pieces of advice in 1 lexicon\n"));

    let warned = machine.file("warned.json", lexicon(&json!({"x": {"type": "string"}})));
    let run = machine.ok(&["lexicon", "lint", &warned]);
    assert!(run.out.starts_with("warning unlimited-string at "), "{}", run.out);
    assert!(
        run.out.contains(
            "warned.json: $.defs.main.record.properties.x\n  the text may be of any length\n  set `maxLength`"
        )
    );
    machine.run(&["lexicon", "lint", &warned, "--strict"]).ends_with(3);
    assert_eq!(machine.ok(&["lexicon", "lint", &warned, "--level", "error"]).out, "");

    let wrong = machine.file("folder/a/wrong.json", lexicon(&json!({"x": {"type": "number"}})));
    machine.run(&["lexicon", "lint", &wrong]).ends_with(3);
    let linted = machine.run(&["lexicon", "lint", &good, &text(&machine.path("folder")), "--json"]).ends_with(3).json();
    assert_eq!((&linted["errors"], &linted["warnings"], &linted["advice"]), (&json!(1), &json!(0), &json!(0)));
    let problem = &linted["files"][1]["problems"][0];
    assert_eq!(problem["path"], "$.defs.main.record.properties.x");
    assert_eq!((&problem["level"], &problem["rule"]), (&json!("error"), &json!("unknown-type")));
    assert!(problem["message"].is_string() && problem["todo"].is_string());

    refused(machine.run(&["lexicon", "lint", &machine.file("broken.json", "{")]), 1, "broken.json: not JSON");
    refused(machine.run(&["lexicon", "lint", "missing.json"]), 1, "missing.json: No such file");
    machine.run(&["lexicon", "lint"]).ends_with(2);
}

#[test]
fn what_changed_is_told_and_what_breaks_somebody_fails() {
    let machine = Machine::new();
    let old =
        machine.file("old.json", lexicon(&json!({"x": {"type": "string", "maxLength": 9}, "y": {"type": "boolean"}})));
    let longer = machine
        .file("longer.json", lexicon(&json!({"x": {"type": "string", "maxLength": 10}, "y": {"type": "boolean"}})));
    let other = machine.file("other.json", lexicon(&json!({"x": {"type": "integer"}, "z": {"type": "boolean"}})));

    let run = machine.ok(&["lexicon", "breaking", &old, &old]);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", "0 errors, 0 warnings\n"));
    let run = machine.ok(&["lexicon", "breaking", &old, &longer]);
    assert_eq!(
        run.out,
        "warning string-length at $.defs.main.record.properties.x.maxLength\n  `maxLength` is 10, was 9\n"
    );
    machine.run(&["lexicon", "breaking", &old, &longer, "--strict"]).ends_with(3);
    let found = machine.run(&["lexicon", "breaking", &old, &other, "--json"]).ends_with(3).json();
    assert_eq!(
        found,
        json!({"nsid": "com.example.note", "errors": 1, "warnings": 0, "changes": [{"def": "main",
            "path": "$.defs.main.record.properties.x", "message": "the type is \"integer\", was \"string\"",
            "level": "error", "rule": "type-change"}]})
    );

    let run = machine.ok(&["lexicon", "diff", &old, &other]);
    assert_eq!(
        run.out,
        "main\n! record.properties.x: the type is \"integer\", was \"string\"\n  record.properties.y: \"y\" (boolean) is gone\n  \
         record.properties.z: \"z\" (boolean, optional) is new\n"
    );
    assert_eq!(machine.ok(&["lexicon", "diff", &old, &other, "--json"]).json()["changes"].as_array().unwrap().len(), 3);
    assert_eq!(machine.ok(&["lexicon", "diff", &old, &old]).err, "nothing changed\n");

    let invalid = machine.file("invalid.json", "{}");
    refused(machine.run(&["lexicon", "diff", &old, &invalid]), 1, "invalid.json is not a valid lexicon");
}

#[test]
fn a_document_is_a_page_in_three_formats() {
    let machine = Machine::new();
    let file =
        machine.file("note.json", lexicon(&json!({"x": {"type": "string", "maxLength": 9, "description": "An <x>."}})));
    let markdown = machine.ok(&["lexicon", "doc", &file]).out;
    assert!(
        markdown.starts_with("# com.example.note\n") && markdown.contains("| `x` | `string` | No | maxLength: 9 |"),
        "{markdown}"
    );
    assert!(markdown.contains("\"$type\": \"com.example.note\""), "an example is made");
    let html = machine.ok(&["lexicon", "doc", &file, "--format", "html"]).out;
    assert!(html.starts_with("<article") && html.contains("An &lt;x&gt;."), "{html}");
    for args in [&["--format", "json"][..], &["--json"]] {
        let page = machine.ok(&[&["lexicon", "doc", &file], args].concat()).json();
        assert_eq!(
            (&page["nsid"], &page["kind"], &page["recordKey"]),
            (&json!("com.example.note"), &json!("record"), &json!("tid"))
        );
        assert_eq!(
            page["definitions"][0]["tables"][0]["rows"][0]["limits"],
            json!([{"name": "maxLength", "value": 9}])
        );
    }
    // What is no valid lexicon is shown too, with what is wrong.
    let wrong = machine.file("wrong.json", lexicon(&json!({"x": {"type": "array"}, "y": {"type": "boolean"}})));
    let page = machine.ok(&["lexicon", "doc", &wrong]).out;
    assert!(page.contains("## Not valid Lexicon") && page.contains("| `y` |"), "{page}");
    refused(machine.run(&["lexicon", "doc", &machine.file("nothing.json", "{}")]), 1, "is not a valid lexicon");
}

#[test]
fn what_is_close_is_found_by_name_by_file_and_by_sentence() {
    let machine = Machine::new();
    let first = |what: &str, args: &[&str]| {
        machine.ok(&[&["lexicon", "similar", what, "--json"], args].concat()).json()["matches"][0]["nsid"].clone()
    };
    assert_eq!(first("somebody whose conversations a collective vouches for", &[]), "click.aligned.chat.member");
    let found = machine.ok(&["lexicon", "similar", "click.aligned.chat.message", "--most", "3"]).out;
    assert!(found.contains("network.sharedcomputer.chat.message") && found.contains("same meaning: "), "{found}");
    let file = machine.file("note.json", lexicon(&json!({"x": {"type": "boolean"}})));
    machine
        .file("folder/memo.json", lexicon(&json!({"x": {"type": "boolean"}})).replace("example.note", "example.memo"));
    machine.file("folder/broken.json", "{");
    let folder = text(&machine.path("folder"));
    assert_eq!(first(&file, &["--in", &folder]), "com.example.memo");
    let run = machine.ok(&["lexicon", "similar", "zzz", "--in", &folder]);
    assert!(
        run.out.is_empty() && run.err.contains("left out: ") && run.err.contains("none of 1 lexicon has"),
        "{}",
        run.err
    );
    refused(machine.run(&["lexicon", "similar", "com.example.unheard"]), 1, "say in words what it is for");
    machine.run(&["lexicon", "similar", ""]).ends_with(2);
}

#[test]
fn a_new_lexicon_is_valid_and_overwrites_nothing() {
    let machine = Machine::new();
    let document = machine.ok(&["lexicon", "new", "com.example.listNotes"]).out;
    let file = machine.file("new.json", &document);
    assert_eq!(machine.ok(&["lexicon", "lint", &file, "--strict"]).out, "");
    assert_eq!(serde_json::from_str::<Value>(&document).unwrap()["defs"]["main"]["type"], "query");
    let path = text(&machine.path("made.json"));
    machine.ok(&["lexicon", "new", "com.example.thing", "--kind", "procedure", "--out", &path]);
    let made = fs::read_to_string(&path).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&made).unwrap()["defs"]["main"]["type"], "procedure");
    refused(machine.run(&["lexicon", "new", "com.example.thing", "--out", &path]), 1, "made.json: File exists");
    assert_eq!(fs::read_to_string(&path).unwrap(), made);
    machine.run(&["lexicon", "new", "example"]).ends_with(2);
}

#[test]
fn a_record_is_checked_against_the_lexicon_of_a_file() {
    let machine = Machine::new();
    let file = machine.file("note.json", lexicon(&json!({"x": {"type": "integer"}})));
    let record = machine.file("record.json", r#"{"$type": "com.example.note", "x": "1"}"#);
    let checked = machine.run(&["lexicon", "validate", &record, "--lexicons", &file, "--json"]).ends_with(3).json();
    assert_eq!(checked["violations"][0]["path"], "$.x");
}

/// Every rule, for people and for links.
#[test]
fn the_list_of_rules_is_what_the_rules_say() {
    let mut page = String::from(
        "<!-- Made from the rules themselves by crates/cli/tests/lexicon.rs; UPDATE_EXPECTED=1 writes it anew. -->\n\n\
         # Rules for lexicons\n\n\
         `onrecord lexicon lint` holds documents against the [language](https://atproto.com/specs/lexicon), against what experience\n\
         warns of, and against the [style guide](https://atproto.com/guides/lexicon-style-guide). An **error** is not what the language\n\
         allows; a **warning** works, and somebody will regret it; **advice** is what the style guide would have otherwise. The first\n\
         twenty have the names that `goat lex lint` gives them.\n\n\
         | rule | level | what to do |\n|---|---|---|\n",
    );
    for rule in LintRule::ALL {
        page.push_str(&format!("| `{rule}` | {} | {} |\n", rule.level(), rule.advice()));
    }
    page.push_str(
        "\n`onrecord lexicon breaking` compares two versions. All that was written for the one must be valid for the other, in both\n\
         directions. An **error** breaks somebody; a **warning** may. The first eighteen have the names that `goat lex breaking` gives\n\
         them.\n\n| rule | level |\n|---|---|\n",
    );
    for rule in CompatRule::ALL {
        page.push_str(&format!("| `{rule}` | {} |\n", rule.level()));
    }
    expect_file(&root().join("docs/lexicons/rules.md"), &page);
}
