//! The shapes that other programs rely on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::path::PathBuf;

use common::{EXAMPLES, Machine, SESSION, contains, example, expect_file, github_token, harmless, with_secret};
use jiff::Timestamp;
use onrecord_lexicon::{Cid, Tid};
use serde_json::{Map, Value, json};

/// The value is an object that has all the required names and none but those and the optional ones.
#[track_caller]
fn object<'a>(value: &'a Value, required: &[&str], optional: &[&str]) -> &'a Map<String, Value> {
    let object = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    for name in required {
        assert!(object.contains_key(*name), "{name} is missing in {value}");
    }
    for name in object.keys() {
        assert!(
            required.contains(&name.as_str()) || optional.contains(&name.as_str()),
            "{name} is too much in {value}"
        );
    }
    object
}

/// RFC 3339 in UTC with milliseconds.
#[track_caller]
fn time(value: &Value) -> Timestamp {
    let text = value.as_str().unwrap_or_else(|| panic!("no time: {value}"));
    assert_eq!(text.len(), "2026-01-02T03:04:05.678Z".len(), "{text}");
    assert!(text.ends_with('Z') && text.as_bytes()[19] == b'.', "{text}");
    text.parse().unwrap()
}

#[track_caller]
fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

#[track_caller]
fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))).unwrap()
}

fn conversation(shown: &Value) {
    let top = object(shown, &["source", "title", "createdAt", "turns", "warnings"], &[]);
    let source = object(&top["source"], &["harness", "id"], &["path", "version"]);
    assert!(source.values().all(Value::is_string), "{shown}");
    assert!(top["title"].is_string() || top["title"].is_null());
    time(&top["createdAt"]);
    for (n, turn) in list(&top["turns"]).iter().enumerate() {
        assert_eq!(turn["index"], n + 1);
        match turn["role"].as_str() {
            Some("user") => object(turn, &["index", "role", "createdAt", "text"], &["steps", "parts"]),
            Some("assistant") => object(turn, &["index", "role", "createdAt", "text", "steps", "parts"], &["model"]),
            role => panic!("{role:?}"),
        };
        time(&turn["createdAt"]);
        assert!(turn["text"].is_string());
        if let Some(model) = turn.get("model") {
            assert!(model.as_str().unwrap().split_once('/').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty()));
        }
        for step in turn.get("steps").map(list).into_iter().flatten() {
            let step = object(step, &["tool", "failed"], &["summary"]);
            assert!(step["tool"].is_string() && step["failed"].is_boolean());
            assert!(step.get("summary").is_none_or(|s| s.is_string() && !s.as_str().unwrap().contains('\n')));
        }
        for part in turn.get("parts").map(list).into_iter().flatten() {
            match part["type"].as_str() {
                Some("text" | "reasoning") => {
                    assert!(object(part, &["type", "text"], &[])["text"].is_string());
                }
                Some("toolCall") => {
                    let call = object(part, &["type", "id", "name", "input", "failed"], &["output"]);
                    assert!(call["id"].is_string() && call["name"].is_string() && call["failed"].is_boolean());
                    assert!(call.get("output").is_none_or(Value::is_string));
                }
                Some("image") => {
                    let image = object(part, &["type", "mimeType", "bytes"], &[]);
                    assert!(image["mimeType"].is_string() && image["bytes"].is_u64());
                }
                other => panic!("{other:?}"),
            }
        }
    }
    for warning in list(&top["warnings"]) {
        let warning = object(warning, &["code", "message"], &["line"]);
        assert!(warning["code"].is_string() && warning["message"].is_string());
        assert!(warning.get("line").is_none_or(Value::is_u64));
    }
}

fn finding(finding: &Value) {
    let f = object(
        finding,
        &["id", "rule", "name", "tier", "blocking", "turn", "field", "start", "end", "preview", "decision"],
        &[],
    );
    assert!(f["id"].is_u64() && f["rule"].is_string() && f["name"].is_string() && f["preview"].is_string());
    assert!(f["blocking"].is_boolean());
    assert_eq!(f["tier"].as_str().unwrap().len(), 1);
    assert!(f["turn"].is_null() || f["turn"].as_u64().unwrap() > 0);
    assert!(f["start"].as_u64().unwrap() < f["end"].as_u64().unwrap());
    assert!(f["decision"].is_null() || matches!(f["decision"].as_str(), Some("cover" | "allow" | "withhold")));
    let field = f["field"].as_str().unwrap();
    let step = field.strip_prefix("steps[").and_then(|rest| rest.split_once(']'));
    let step = step.is_some_and(|(n, name)| n.parse::<usize>().is_ok() && matches!(name, ".summary" | ".tool"));
    assert!(step || matches!(field, "text" | "title" | "description"), "{field}");
}

fn dry_run(plan: &Value) {
    let plan = object(plan, &["repo", "family", "writes", "findings", "lost"], &[]);
    assert!(plan["repo"].as_str().unwrap().starts_with("did:"));
    assert_eq!(plan["family"], "click.aligned");
    for write in list(&plan["writes"]) {
        let action = write["action"].as_str().unwrap();
        match action {
            "create" | "update" => {
                object(write, &["action", "collection", "rkey", "cid", "record"], &[]);
                Cid::parse(write["cid"].as_str().unwrap()).unwrap();
                assert_eq!(write["record"]["$type"], write["collection"]);
                time(&write["record"]["createdAt"]);
            }
            "delete" => {
                object(write, &["action", "collection", "rkey"], &[]);
            }
            other => panic!("{other}"),
        }
        Tid::parse(write["rkey"].as_str().unwrap()).unwrap();
        assert!(matches!(
            write["collection"].as_str(),
            Some("click.aligned.chat.session" | "click.aligned.chat.message")
        ));
    }
    list(&plan["findings"]).iter().for_each(finding);
    for loss in list(&plan["lost"]) {
        let loss = object(loss, &["what", "count"], &[]);
        assert!(loss["what"].is_string() && loss["count"].as_u64().unwrap() > 0);
    }
}

/// Very long texts are shortened to their beginning, their length and a sum over all of them.
fn abridged(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > 1500 => {
            let sum = text
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            let start: String = text.chars().take(200).collect();
            *text = format!("{start}… ({} bytes, FNV-1a {sum:016x})", text.len());
        }
        Value::Array(values) => values.iter_mut().for_each(abridged),
        Value::Object(members) => members.values_mut().for_each(abridged),
        _ => {}
    }
}

fn expected(name: &str) -> PathBuf {
    common::root().join("crates/cli/tests/expected").join(name)
}

#[track_caller]
fn expect_json(name: &str, mut value: Value) {
    abridged(&mut value);
    expect_file(&expected(name), &(serde_json::to_string_pretty(&value).unwrap() + "\n"));
}

#[test]
fn show_json_has_the_promised_shape() {
    let machine = Machine::new();
    for name in EXAMPLES {
        let run = machine.ok(&["show", &example(name), "--format", "json"]);
        let shown = run.json();
        conversation(&shown);
        assert_eq!(shown["source"]["harness"], name);
        assert_eq!(run.out.lines().count(), 1, "one document");
        assert_eq!(machine.ok(&["show", &example(name), "--json"]).out, run.out, "--json is --format json");
        assert_eq!(machine.ok(&["--json", "show", &example(name)]).out, run.out, "--json may stand first");
        expect_json(&format!("show-{name}.json"), shown);
    }
}

#[test]
fn show_text_and_markdown_of_the_examples() {
    let machine = Machine::new();
    for name in EXAMPLES {
        for (format, suffix) in [("text", "txt"), ("markdown", "md")] {
            let shown = machine.ok(&["show", &example(name), "--format", format]).out;
            // The pi example has an answer of 60,000 bytes, which need not stand here twice.
            let lines = shown.lines().filter(|line| !line.contains("E1") && !line.contains("The customer sees:"));
            let mut shown = String::new();
            for line in lines.filter(|line| !line.is_empty()) {
                shown.push_str(line);
                shown.push('\n');
            }
            expect_file(&expected(&format!("show-{name}.{suffix}")), &shown);
        }
    }
}

#[test]
fn show_one_turn_keeps_its_number() {
    let machine = Machine::new();
    let shown = machine.ok(&["show", &example("codex"), "--turn", "4", "--json"]).json();
    let turns = list(&shown["turns"]);
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0]["index"], 4);
}

#[test]
fn scan_json_lists_findings_and_counts_the_undecided() {
    let machine = Machine::new();
    for name in EXAMPLES {
        let run = machine.run(&["scan", &example(name), "--json"]).ends_with(3);
        let scanned = run.json();
        let scan = object(&scanned, &["findings", "undecided"], &[]);
        let findings = list(&scan["findings"]);
        findings.iter().for_each(finding);
        let undecided = findings.iter().filter(|f| f["blocking"] == true && f["decision"].is_null()).count();
        assert!(undecided > 0, "something is planted in every example");
        assert_eq!(scan["undecided"], undecided);
        let ids: Vec<_> = findings.iter().map(|f| f["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>());
        expect_json(&format!("scan-{name}.json"), scanned);
    }
}

#[test]
fn every_planted_key_of_the_examples_is_found() {
    let machine = Machine::new();
    for (name, wanted) in [
        ("claude-code", &["github-token", "home-path"][..]),
        ("codex", &["aws-access-key-id", "aws-secret-access-key"]),
        ("pi", &["gitlab-token"]),
    ] {
        let scan = machine.run(&["scan", &example(name), "--json"]).ends_with(3).json();
        let found: Vec<_> = list(&scan["findings"]).iter().map(|f| f["rule"].as_str().unwrap()).collect();
        for rule in wanted {
            assert!(found.contains(rule), "{name}: {rule} is not among {found:?}");
        }
    }
}

#[test]
fn a_finding_points_at_bytes_of_the_text_that_show_prints() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    let shown = machine.ok(&["show", &file, "--json"]).json();
    let scan = machine.run(&["scan", &file, "--json"]).ends_with(3);
    assert!(!scan.out.contains(&github_token()));
    let scan = scan.json();
    let mut turns = Vec::new();
    for finding in list(&scan["findings"]) {
        let turn = number(&finding["turn"]);
        let text = shown["turns"][turn - 1][finding["field"].as_str().unwrap()].as_str().unwrap();
        let span = number(&finding["start"])..number(&finding["end"]);
        assert_eq!(&text[span], github_token());
        turns.push(turn);
    }
    assert_eq!(turns, [3, 4]);
}

#[test]
fn decide_json_tells_how_the_decisions_stand() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    let run = machine.ok(&["decide", &file, "--withhold", "1", "--cover", "token", "--title", "A push", "--json"]);
    let decided = run.json();
    let stand = object(
        &decided,
        &[
            "session",
            "title",
            "description",
            "turns",
            "withheld",
            "coveredWords",
            "words",
            "home",
            "findings",
            "undecided",
        ],
        &[],
    );
    list(&stand["findings"]).iter().for_each(finding);
    assert_eq!(stand["session"], SESSION);
    assert_eq!(stand["title"], "A push");
    assert_eq!(stand["description"], Value::Null);
    assert_eq!(stand["turns"], 4);
    assert_eq!(stand["withheld"], json!([1]));
    assert_eq!(stand["coveredWords"], 1);
    assert_eq!(stand["undecided"], 2);

    // Said once, it stands; a second call adds to it.
    let decided = machine.ok(&["decide", &file, "--publish", "1", "--withhold", "3-4", "--json"]).json();
    assert_eq!(decided["withheld"], json!([3, 4]));
    assert_eq!(decided["coveredWords"], 1);
    assert_eq!(decided["undecided"], 0, "what is held back needs no other decision");
    let decided = machine.ok(&["decide", &file, "--publish", "3-4", "--allow", "1", "--because", "revoked", "--json"]);
    let decided = decided.json();
    assert_eq!(decided["undecided"], 0, "one value is decided once: {decided}");
    assert!(list(&decided["findings"]).iter().all(|f| f["decision"] == "allow"));
}

#[test]
fn publish_dry_run_json_is_the_plan() {
    for name in EXAMPLES {
        let machine = Machine::new();
        machine.ok(&["decide", &example(name), "--cover-findings", "--withhold", "3", "--description", "An example."]);
        let plan = machine.ok(&["publish", &example(name), "--dry-run", "--json"]).json();
        dry_run(&plan);
        let writes = list(&plan["writes"]);
        assert!(writes.iter().all(|w| w["action"] == "create"));
        assert_eq!(writes[0]["collection"], "click.aligned.chat.session", "the session comes first");
        assert!(writes[1..].iter().all(|w| w["collection"] == "click.aligned.chat.message"));
        expect_json(&format!("plan-{name}.json"), plan);
        assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}), "nothing was written");
    }
}

#[test]
fn a_plan_with_undecided_findings_holds_no_records() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    let plan = machine.run(&["publish", &file, "--dry-run", "--json"]).ends_with(3).json();
    dry_run(&plan);
    assert_eq!(plan["writes"], json!([]));
    assert_eq!(list(&plan["findings"]).len(), 2);
}

#[test]
fn publish_json_is_a_stream_that_ends_with_done() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let stream = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream();
    let (done, steps) = stream.split_last().unwrap();
    for step in steps {
        let step = object(step, &["step", "written", "total"], &[]);
        assert_eq!((&step["step"], &step["total"]), (&json!("write"), &json!(5)));
    }
    let done = object(done, &["done", "uri", "url", "created", "updated", "deleted"], &[]);
    assert_eq!(done["done"], true);
    assert_eq!((&done["created"], &done["updated"], &done["deleted"]), (&json!(5), &json!(0), &json!(0)));
    let uri = done["uri"].as_str().unwrap();
    let rkey = uri.strip_prefix("at://did:web:localhost/click.aligned.chat.session/").unwrap();
    Tid::parse(rkey).unwrap();
    assert_eq!(done["url"], format!("http://127.0.0.1:8787/at/did:web:localhost/click.aligned.chat.session/{rkey}"));

    let again = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream();
    let done = again.last().unwrap();
    assert_eq!((&done["created"], &done["updated"], &done["deleted"]), (&json!(0), &json!(0), &json!(0)));
    assert_eq!(done["uri"], uri);

    machine.ok(&["decide", &file, "--withhold", "2"]);
    let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json"]).json();
    dry_run(&plan);
    assert_eq!(list(&plan["writes"]).len(), 1);
    assert_eq!(plan["writes"][0]["action"], "update");
    let changed = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream();
    assert_eq!(changed.last().unwrap()["updated"], 1);
    assert_eq!(changed.last().unwrap()["created"], 0);
}

#[test]
fn links_lead_to_the_site_that_is_named() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let site = "https://read.example/";
    let stream = machine.ok(&["publish", &file, "--local", "--yes", "--json", "--site", site]).stream();
    assert!(stream.last().unwrap()["url"].as_str().unwrap().starts_with("https://read.example/at/did:web:localhost/"));
}

#[test]
fn published_json_lists_what_is_on_record() {
    let machine = Machine::new();
    assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}));
    let file = machine.file("session.jsonl", harmless());
    machine.ok(&["publish", &file, "--local", "--yes"]);
    for (args, state) in
        [(&["published", "--json"][..], Value::Null), (&["published", "--check", "--json"], json!("same"))]
    {
        let published = machine.ok(args).json();
        let entries = list(&object(&published, &["published"], &[])["published"]);
        assert_eq!(entries.len(), 1);
        let names =
            ["uri", "family", "session", "handle", "title", "publishedAt", "records", "takingBack", "state", "drift"];
        let entry = object(&entries[0], &names, &[]);
        time(&entry["publishedAt"]);
        assert_eq!(entry["session"], SESSION);
        assert_eq!(entry["title"], "Which of the two is older?");
        assert_eq!(entry["records"], 5);
        assert_eq!(entry["takingBack"], false);
        assert_eq!(entry["state"], state);
        assert_eq!(entry["drift"], Value::Null);
    }
}

#[test]
fn with_json_the_question_says_what_is_agreed_to() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let asked = machine.run(&["publish", &file, "--local", "--json"]).ends_with(2);
    assert!(asked.err.contains("5 records to create, 0 to update, 0 to delete"), "{}", asked.err);
    let uri = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream().pop().unwrap()["uri"].to_string();
    let asked = machine.run(&["unpublish", SESSION, "--json"]).ends_with(2);
    assert!(asked.err.contains(uri.trim_matches('"')) && asked.err.contains("5 records"), "{}", asked.err);
}

#[test]
fn unpublish_json_ends_with_done() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let published = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream();
    let stream = machine.ok(&["unpublish", SESSION, "--yes", "--json"]).stream();
    let done = object(stream.last().unwrap(), &["done", "uri", "created", "updated", "deleted"], &[]);
    assert_eq!(done["done"], true);
    assert_eq!(done["uri"], published.last().unwrap()["uri"]);
    assert_eq!(done["deleted"], 5);
    assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}));

    let nothing = machine.ok(&["unpublish", "--all", "--yes", "--json"]).json();
    assert_eq!(nothing["done"], true);
    assert_eq!(nothing["deleted"], 0);
}

#[test]
fn preview_json_names_the_folder_and_its_files_are_there() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    machine.ok(&["decide", &file, "--cover-findings"]);
    let out = machine.path("preview");
    let preview = machine.ok(&["preview", &file, "--out", out.to_str().unwrap(), "--json"]).json();
    let preview = object(&preview, &["folder", "page", "files", "records"], &[]);
    assert_eq!(preview["folder"], out.to_str().unwrap());
    assert_eq!(preview["page"], out.join("index.html").to_str().unwrap());
    assert_eq!(preview["records"], 5);
    let files = common::files(&out);
    assert_eq!(preview["files"], files.len());
    for (path, bytes) in &files {
        assert!(!contains(bytes, &github_token()), "{}", path.display());
    }

    // The records are those of the plan, to the byte of their meaning.
    let plan = machine.ok(&["publish", &file, "--dry-run", "--json"]).json();
    for write in list(&plan["writes"]) {
        let path =
            format!("records/{}/{}.json", write["collection"].as_str().unwrap(), write["rkey"].as_str().unwrap());
        let record: Value = serde_json::from_slice(&std::fs::read(out.join(path)).unwrap()).unwrap();
        assert_eq!(record, write["record"]);
    }
}

#[test]
fn preview_goes_into_the_data_folder_unless_told_otherwise() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let preview = machine.ok(&["preview", &file, "--json"]).json();
    assert!(preview["folder"].as_str().unwrap().starts_with(machine.data().join("preview").to_str().unwrap()));
    assert_eq!(common::files(&machine.data().join("preview")).len(), number(&preview["files"]));
}

#[test]
fn lexicon_validate_json_lists_every_violation_with_its_path() {
    let machine = Machine::new();
    let good = json!({"$type": "click.aligned.chat.session", "createdAt": "2026-01-02T03:04:05.678Z"});
    let good = machine.file("good.json", good.to_string());
    let checked = machine.ok(&["lexicon", "validate", &good, "--json"]).json();
    let checked = object(&checked, &["nsid", "violations"], &[]);
    assert_eq!(checked["nsid"], "click.aligned.chat.session");
    assert_eq!(checked["violations"], json!([]));

    let bad = json!({"session": "at://did:web:localhost/x.y.z/1", "role": 7, "createdAt": "yesterday"});
    let bad = machine.file("bad.json", bad.to_string());
    let args = ["lexicon", "validate", &bad, "--nsid", "click.aligned.chat.message", "--json"];
    let checked = machine.run(&args).ends_with(3).json();
    assert_eq!(checked["nsid"], "click.aligned.chat.message");
    let violations = list(&checked["violations"]);
    for violation in violations {
        let violation = object(violation, &["path", "rule", "message"], &[]);
        assert!(violation.values().all(Value::is_string));
    }
    let all = checked.to_string();
    assert!(all.contains("role") && all.contains("createdAt"), "both are told, not only the first: {all}");

    machine.run(&["lexicon", "validate", &bad]).ends_with(2);
}

#[test]
fn sessions_json_is_one_object_a_line_newest_first() {
    let machine = Machine::new();
    assert!(machine.ok(&["sessions", "--json"]).stream().is_empty());
    let text = std::fs::read_to_string(common::root().join(example("claude-code"))).unwrap();
    machine.file("home/.claude/projects/-work-tidewater/894af375-a52f-4d5a-a92d-9d9c279b1489.jsonl", text);
    machine.file("home/.claude/projects/-work-harbour/7f6f2f0e-0000-4000-8000-000000000001.jsonl", harmless());
    let sessions = machine.ok(&["sessions", "--json"]).stream();
    assert_eq!(sessions.len(), 2);
    for session in &sessions {
        let names = ["id", "harness", "path", "title", "createdAt", "modifiedAt", "turns", "bytes"];
        let session = object(session, &names, &[]);
        time(&session["createdAt"]);
        time(&session["modifiedAt"]);
        assert_eq!(session["harness"], "claude-code");
        assert!(session["turns"].is_u64() && session["bytes"].is_u64());
    }
    assert!(time(&sessions[0]["modifiedAt"]) >= time(&sessions[1]["modifiedAt"]));

    let found = |args: &[&str]| machine.ok(&[&["sessions", "--json"], args].concat()).stream().len();
    assert_eq!(found(&["older"]), 1, "what was said is searched");
    assert_eq!(found(&["OLDER?"]), 1, "in any case of letters");
    assert_eq!(found(&["neverSaid"]), 0);
    assert_eq!(found(&["--project", "harbour"]), 2, "both worked in a folder of that name");
    assert_eq!(found(&["--harness", "codex"]), 0);
    assert_eq!(found(&["--since", "2001-01-01"]), 2);
    assert_eq!(found(&["--since", "2999-01-01"]), 0);
}

#[test]
fn a_session_is_found_by_the_start_of_its_id() {
    let machine = Machine::new();
    machine.file("home/.claude/projects/-work-harbour/7f6f2f0e-0000-4000-8000-000000000001.jsonl", harmless());
    let shown = machine.ok(&["show", "7f6f", "--json"]).json();
    assert_eq!(shown["source"]["id"], SESSION);
    machine.ok(&["publish", "7f6f", "--local", "--yes"]);
    let published = machine.ok(&["published", "--json"]).json();
    let uri = published["published"][0]["uri"].as_str().unwrap();
    let read_back = machine.ok(&["show", uri, "--json"]).json();
    conversation(&read_back);
    assert_eq!(read_back["source"]["harness"], "atproto");
    let texts = |shown: &Value| list(&shown["turns"]).iter().map(|t| t["text"].clone()).collect::<Vec<_>>();
    assert_eq!(texts(&read_back), texts(&shown));
    let link = format!("http://127.0.0.1:8787/at/{}", uri.strip_prefix("at://").unwrap());
    assert_eq!(machine.ok(&["show", &link, "--json"]).out, machine.ok(&["show", uri, "--json"]).out);
    machine.ok(&["unpublish", &link, "--yes"]);
}

#[test]
fn accounts_json_is_a_list() {
    let machine = Machine::new();
    assert_eq!(machine.ok(&["accounts", "--json"]).json(), json!({"accounts": []}));
}

#[test]
fn the_grain_of_messages_makes_a_record_of_each() {
    let machine = Machine::new();
    machine.ok(&["decide", &example("claude-code"), "--cover-findings", "--withhold", "2"]);
    let plan = |grain| {
        let plan = machine.ok(&["publish", &example("claude-code"), "--dry-run", "--json", "--grain", grain]).json();
        dry_run(&plan);
        list(&plan["writes"]).iter().map(|w| w["record"].clone()).collect::<Vec<_>>()
    };
    let (turns, messages) = (plan("turn"), plan("message"));
    assert!(messages.len() > turns.len());
    assert_eq!(turns.iter().filter(|r| r["withheld"] == true).count(), 1);
    assert!(messages.iter().filter(|r| r["withheld"] == true).count() > 1, "every message of the turn is held back");
}
