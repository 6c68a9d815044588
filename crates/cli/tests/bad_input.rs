//! What goes wrong: a clear sentence, the right exit code, nothing lost, nothing that must not be seen.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::fs::{self, File, OpenOptions};

use common::{Machine, SESSION, claude_code, contains, files, finished, harmless, refused, text, with_secret};
use serde_json::json;

/// The commands that take a conversation.
const WITH_SESSION: [&str; 5] = ["show", "scan", "decide", "preview", "publish"];

#[track_caller]
fn refused_by_all(machine: &Machine, file: &str, why: &str) {
    for command in WITH_SESSION {
        refused(machine.run(&[command, file]), 1, why);
    }
}

// Files.

#[test]
fn a_missing_file() {
    let machine = Machine::new();
    refused_by_all(&machine, "no/such/file.jsonl", "no/such/file.jsonl: No such file or directory");
    refused_by_all(&machine, "./file.jsonl", "./file.jsonl: No such file or directory");
}

#[test]
fn a_file_that_cannot_be_read() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    }
    if File::open(&file).is_ok() {
        eprintln!("skipped: this user may read every file");
        return;
    }
    refused_by_all(&machine, &file, "Permission denied");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_whose_reading_fails() {
    let machine = Machine::new();
    refused_by_all(&machine, "/proc/self/mem", "/proc/self/mem: Input/output error");
    let run = machine.run(&["show", "/proc/self/mem", "--harness", "codex"]);
    refused(run, 1, "could not be read: Input/output error");
}

#[test]
fn an_empty_file() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", "");
    refused_by_all(&machine, &file, "session.jsonl is empty");
    for harness in ["claude-code", "codex", "pi"] {
        machine.run(&["show", &file, "--harness", harness]).ends_with(1);
    }
}

#[test]
fn a_file_of_something_else() {
    let machine = Machine::new();
    for (name, content) in [
        ("notes.md", &b"# Notes\n\nNothing here.\n"[..]),
        ("data.json", br#"{"messages":[{"role":"user","content":"hello"}]}"#),
        ("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("newlines.jsonl", b"\n\n\n"),
        ("zeros.jsonl", &[0; 4096]),
    ] {
        let file = machine.file(name, content);
        for command in WITH_SESSION {
            let err = refused(machine.run(&[command, &file]), 1, "is not a transcript that onrecord knows");
            assert!(err.contains("--harness claude-code | codex | pi"), "what to do next: {err}");
        }
        let err = refused(machine.run(&["show", &file, "--harness", "pi"]), 1, "this is not a transcript of pi");
        assert!(err.contains(name), "{err}");
    }
}

#[test]
fn a_folder() {
    let machine = Machine::new();
    let folder = text(&machine.path("home"));
    refused_by_all(&machine, &folder, "is a directory");
    refused(machine.run(&["show", &folder, "--harness", "pi"]), 1, "is a directory");
}

#[test]
fn a_half_written_file_is_read_up_to_the_damage() {
    let machine = Machine::new();
    let whole = harmless();
    // The last row is cut in the middle, as while the agent writes.
    let file = machine.file("session.jsonl", &whole[..whole.len() - 40]);
    let run = machine.ok(&["show", &file, "--json"]);
    let shown = run.json();
    assert_eq!(shown["turns"].as_array().unwrap().len(), 3);
    assert_eq!(shown["warnings"][0]["line"], 4);
    assert_eq!(shown["warnings"][0]["code"], "partial-tail");
    assert!(run.err.contains("line 4"), "the person is told: {}", run.err);
    machine.ok(&["publish", &file, "--local", "--yes"]);

    // Later it is whole: the rest is added and nothing else is touched.
    fs::write(&file, whole).unwrap();
    let done = machine.ok(&["publish", &file, "--local", "--yes", "--json"]).stream().pop().unwrap();
    assert_eq!((&done["created"], &done["updated"], &done["deleted"]), (&json!(1), &json!(0), &json!(0)));
}

#[test]
fn a_file_in_which_nobody_said_anything() {
    let machine = Machine::new();
    let row = json!({"type": "summary", "summary": "Nothing", "leafUuid": "00000000-0000-4000-8000-000000000000"});
    let file = machine.file("session.jsonl", format!("{row}\n"));
    refused_by_all(&machine, &file, "there is no conversation in this transcript");
}

// Standard input.

#[test]
fn standard_input_needs_a_harness_only_where_its_content_does_not_tell() {
    let machine = Machine::new();
    let transcript = harmless();
    let told = machine.run_with_input(&["show", "-", "--json"], transcript.as_bytes()).ends_with(0).json();
    assert_eq!(told["source"]["harness"], "claude-code");
    assert!(told["source"].get("path").is_none(), "standard input has no path");
    let named = ["show", "-", "--harness", "claude-code", "--json"];
    assert_eq!(machine.run_with_input(&named, transcript.as_bytes()).ends_with(0).json(), told);

    refused(machine.run_with_input(&["show", "-"], b"hello\n"), 1, "--harness");
    refused(machine.run_with_input(&["show", "-"], b""), 1, "standard input is empty");
    let wrong = ["show", "-", "--harness", "codex"];
    refused(machine.run_with_input(&wrong, transcript.as_bytes()), 1, "this is not a transcript of Codex");
    machine.run_with_input(&["show", "-", "--harness", "nobody"], transcript.as_bytes()).ends_with(2);
}

#[test]
fn standard_input_can_be_scanned_and_published() {
    let machine = Machine::new();
    let transcript = with_secret();
    machine.run_with_input(&["scan", "-"], transcript.as_bytes()).ends_with(3);
    machine.run_with_input(&["decide", "-", "--cover-findings"], transcript.as_bytes()).ends_with(0);
    machine.run_with_input(&["publish", "-", "--local", "--yes"], transcript.as_bytes()).ends_with(0);
    let published = machine.ok(&["published", "--json"]).json();
    assert_eq!(published["published"][0]["session"], SESSION);
    machine.ok(&["unpublish", SESSION, "--yes"]);
}

// Ids.

#[test]
fn an_unknown_id() {
    let machine = Machine::new();
    for command in WITH_SESSION {
        let err = refused(machine.run(&[command, "deadbeef"]), 1, "no conversation \"deadbeef\" was found");
        assert!(err.contains("onrecord sessions"), "what to do next: {err}");
    }
    refused(machine.run(&["unpublish", "deadbeef", "--yes"]), 1, "nothing of deadbeef is on record");
}

#[test]
fn an_ambiguous_id_lists_what_it_could_be() {
    let machine = Machine::new();
    let ids = ["7f6f2f0e-0000-4000-8000-000000000001", "7f6f2f0e-0000-4000-8000-000000000002"];
    for id in ids {
        let transcript = claude_code(id, &[("user", "Hello."), ("assistant", "Hello.")]);
        machine.file(&format!("home/.claude/projects/-work/{id}.jsonl"), transcript);
    }
    for command in WITH_SESSION {
        let err = refused(machine.run(&[command, "7f6f"]), 2, "could be any of these");
        assert!(ids.iter().all(|id| err.contains(id)), "{err}");
    }
    machine.ok(&["show", ids[0]]);
    for id in ids {
        machine.ok(&["publish", id, "--local", "--yes"]);
    }
    refused(machine.run(&["unpublish", "7f6f", "--yes"]), 2, "could be any of these");
    assert_eq!(machine.ok(&["published", "--json"]).json()["published"].as_array().unwrap().len(), 2);
}

#[test]
fn a_whole_id_wins_over_a_longer_one() {
    let machine = Machine::new();
    for id in ["ship", "ship-2"] {
        let file = machine.file(&format!("{id}.jsonl"), claude_code(id, &[("user", id), ("assistant", "Done.")]));
        machine.ok(&["scan", &file]);
    }
    assert_eq!(machine.ok(&["show", "ship", "--json"]).json()["source"]["id"], "ship");
    refused(machine.run(&["show", "shi"]), 2, "could be any of these");
}

#[test]
fn an_empty_id_is_no_id() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    machine.ok(&["publish", &file, "--local", "--yes"]);
    for command in WITH_SESSION {
        refused(machine.run(&[command, ""]), 2, "a value is required");
    }
    // As from a script whose variable is not set: it must not take anything back.
    refused(machine.run(&["unpublish", "", "--yes"]), 2, "a value is required");
    assert_eq!(machine.ok(&["published", "--json"]).json()["published"].as_array().unwrap().len(), 1);
}

#[test]
fn links_and_uris_that_lead_nowhere() {
    let machine = Machine::new();
    refused(machine.run(&["show", "https://example.com/"]), 1, "is a link that onrecord cannot read");
    refused(machine.run(&["show", "at://"]), 1, "at:// is a link that onrecord cannot read");
    let post = "at://did:web:localhost/app.bsky.feed.post/3mbfvo2mfxkfk";
    refused(machine.run(&["show", post]), 1, "is on record");
    refused(machine.run(&["unpublish", post, "--yes"]), 1, "are conversations");
    refused(machine.run(&["show", "at://did:web:localhost"]), 1, "it names no record");
    refused(machine.run(&["show", "https://chat.tiles.run/none"]), 1, "the Tiles link leads nowhere");
    refused(machine.run(&["convert", post, "--to", "pi"]), 1, "is on record");
    let missing = "at://did:web:localhost/click.aligned.chat.session/3mbfvo2mfxkfk";
    refused(machine.run(&["unpublish", missing, "--yes"]), 1, "is on record");
    refused(machine.run(&["publish", missing, "--local", "--yes"]), 2, "name its transcript");
}

// Decisions.

#[test]
fn a_turn_that_is_not_there() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    for turn in ["0", "5", "99", "18446744073709551615"] {
        refused(machine.run(&["show", &file, "--turn", turn]), 2, &format!("has 4 turns; there is no turn {turn}"));
    }
    for turn in ["x", "-1", "1.5", "18446744073709551616", ""] {
        refused(machine.run(&["show", &file, &format!("--turn={turn}")]), 2, "--turn");
    }
    for turns in ["99", "1,99", "1-99", "3-18446744073709551615"] {
        refused(machine.run(&["decide", &file, "--withhold", turns]), 2, "has 4 turns; there is no turn");
        refused(machine.run(&["decide", &file, "--publish", turns]), 2, "has 4 turns; there is no turn");
    }
    for turns in ["0", "3-1", "a", "1,,2", ""] {
        refused(machine.run(&["decide", &file, &format!("--withhold={turns}")]), 2, "--withhold");
    }
    assert_eq!(machine.ok(&["decide", &file, "--json"]).json()["withheld"], json!([]), "nothing was decided by it");
}

#[test]
fn a_finding_that_is_not_there() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    for id in ["0", "3", "99"] {
        let run = machine.run(&["decide", &file, "--allow", id, "--withhold", "1"]);
        refused(run, 2, &format!("there is no finding {id}; `scan` lists 2"));
    }
    let stand = machine.ok(&["decide", &file, "--json"]).json();
    assert_eq!((&stand["undecided"], &stand["withheld"]), (&json!(2), &json!([])), "all of it or nothing");
    machine.run(&["decide", &file, "--because", "why not"]).ends_with(2);
}

#[test]
fn a_text_to_cover_that_is_not_there() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    for text in ["quite another", "", "OLDER"] {
        let err =
            refused(machine.run(&["decide", &file, "--cover", text]), 1, "nothing in this conversation reads like");
        assert!(text.is_empty() || !err.contains(text), "what is to be covered is not repeated: {err}");
    }
    assert_eq!(machine.ok(&["decide", &file, "--json"]).json()["coveredWords"], 0);
    assert_eq!(machine.ok(&["decide", &file, "--cover", "older", "--json"]).json()["coveredWords"], 1);
}

#[test]
fn holding_everything_back_publishes_nothing() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    machine.ok(&["decide", &file, "--withhold", "1-4"]);
    let err = refused(machine.run(&["publish", &file, "--local", "--yes"]), 1, "every turn is held back");
    assert!(err.contains("--publish"), "what to do next: {err}");
    assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}));
}

// The data folder.

#[test]
fn a_data_folder_that_cannot_be_written() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let in_the_way = machine.file("in-the-way", "a file");
    for home in [in_the_way.clone(), format!("{in_the_way}/below")] {
        for args in [&["scan", &file][..], &["published"], &["accounts"], &["serve", "--listen", "127.0.0.1:0"]] {
            let run = finished(machine.command(args).env("ONRECORD_HOME", &home));
            refused(run, 1, &format!("the data folder {home} cannot be used"));
        }
        // To look at a file takes no store.
        finished(machine.command(&["show", &file]).env("ONRECORD_HOME", &home)).ends_with(0);
    }
}

#[test]
fn without_a_data_folder_the_platforms_is_used() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    finished(machine.command(&["scan", &file]).env_remove("ONRECORD_HOME")).ends_with(0);
    let database = files(&machine.path("home")).into_iter().any(|(path, _)| path.ends_with("onrecord/onrecord.db"));
    assert!(database, "{:?}", files(&machine.path("home")).iter().map(|(p, _)| p).collect::<Vec<_>>());
}

#[test]
fn a_database_that_another_process_holds() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    machine.ok(&["decide", &file, "--cover-findings"]);
    let other = rusqlite::Connection::open(machine.data().join("onrecord.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let locked = "the database is locked by another process";
    let err = refused(machine.run(&["publish", &file, "--local", "--yes"]), 1, locked);
    assert!(err.contains("run this again"), "what to do next: {err}");
    // Looking on is no writing.
    machine.ok(&["published"]);
    other.execute_batch("ROLLBACK").unwrap();
    machine.ok(&["publish", &file, "--local", "--yes"]);
    assert_eq!(machine.ok(&["published", "--json"]).json()["published"][0]["records"], 5);
}

#[test]
fn a_database_that_is_none() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    machine.file("data/onrecord.db", "this is no database, and it is longer than the header of one: ".repeat(20));
    let before = fs::read(machine.data().join("onrecord.db")).unwrap();
    refused(machine.run(&["scan", &file]), 1, "database");
    assert_eq!(fs::read(machine.data().join("onrecord.db")).unwrap(), before, "it is not touched");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_under_the_output() {
    let machine = Machine::new();
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in [&["show", "examples/pi.jsonl"][..], &["completions", "bash"], &["accounts", "--json"]] {
        let output = machine.command(args).stdout(full()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains("cannot write the output: No space left on device"), "{err}");
    }
}

#[test]
fn a_preview_folder_that_cannot_be_written() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let in_the_way = machine.file("in-the-way", "a file");
    refused(machine.run(&["preview", &file, "--out", &in_the_way]), 1, "in-the-way");
}

#[test]
fn an_older_preview_does_not_shine_through() {
    let machine = Machine::new();
    let long = format!("Start. {}", "All about Halvorsen. ".repeat(5000));
    let file = machine.file("t.jsonl", claude_code("t", &[("user", "Tell me."), ("assistant", &long)]));
    let own = machine.file("out/notes.txt", "about Halvorsen, by the author");
    let out = machine.path("out");
    let preview = || machine.ok(&["preview", &file, "--out", out.to_str().unwrap(), "--json"]).json();
    let before = preview();
    assert!(before["records"].as_u64().unwrap() > 3, "the answer takes several records");
    machine.ok(&["decide", &file, "--withhold", "2"]);
    let after = preview();
    assert_eq!(after["records"], 3);
    let left: Vec<_> = files(&out).into_iter().filter(|(path, _)| text(path) != own).collect();
    assert_eq!(after["files"], left.len());
    for (path, bytes) in left {
        assert!(!contains(&bytes, "Halvorsen"), "{}", path.display());
    }
    assert!(fs::metadata(&own).is_ok(), "what is not ours stays");
}

// Publishing.

#[test]
fn without_an_account_it_says_how_to_sign_in() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let err = refused(machine.run(&["publish", &file, "--yes"]), 4, "no account is signed in");
    assert!(err.contains("onrecord login HANDLE`"), "{err}");
    let run = machine.run(&["publish", &file, "--account", "dana.example", "--yes"]);
    let err = refused(run, 4, "dana.example is not signed in");
    assert!(err.contains("onrecord login dana.example"), "{err}");
    refused(machine.run(&["logout"]), 4, "no account is signed in");
    let at = "at://dana.example/click.aligned.chat.session/3mbfvo2mfxkfk";
    refused(machine.run(&["unpublish", at, "--yes"]), 4, "dana.example is not signed in");
    machine.run(&["publish", &file, "--local", "--account", "dana.example"]).ends_with(2);
}

#[test]
fn without_a_terminal_it_asks_nothing_and_names_the_flag() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    // Somebody's `yes |` is no answer to a question that was never asked.
    for input in [&b""[..], b"y\ny\ny\n"] {
        let run = machine.run_with_input(&["publish", &file, "--local"], input).ends_with(2);
        assert!(run.err.contains("standard input is no terminal") && run.err.contains("add --yes"), "{}", run.err);
        assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}));
    }
    machine.ok(&["publish", &file, "--local", "--yes"]);
    for input in [&b""[..], b"y\n"] {
        let run = machine.run_with_input(&["unpublish", SESSION], input).ends_with(2);
        assert!(run.err.contains("add --yes"), "{}", run.err);
        assert_eq!(machine.ok(&["published", "--json"]).json()["published"].as_array().unwrap().len(), 1);
    }
}

// Records and the log.

#[test]
fn records_that_cannot_be_validated() {
    let machine = Machine::new();
    refused(machine.run(&["lexicon", "validate", "missing.json"]), 1, "missing.json: No such file");
    let broken = machine.file("broken.json", "{\"$type\": ");
    refused(machine.run(&["lexicon", "validate", &broken]), 1, "broken.json");
    let unknown = machine.file("unknown.json", r#"{"$type": "com.example.nothing"}"#);
    refused(machine.run(&["lexicon", "validate", &unknown]), 1, "com.example.nothing");
    let empty = machine.path("empty");
    fs::create_dir(&empty).unwrap();
    let args = ["lexicon", "validate", &unknown, "--lexicons", empty.to_str().unwrap()];
    refused(machine.run(&args), 1, "there is no lexicon in this folder");
    let lexicon = json!({"lexicon": 1, "id": "com.example.nothing", "defs": {"main": {
        "type": "record", "key": "tid", "record": {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
    }}});
    machine.file("lexicons/nothing.json", lexicon.to_string());
    let folder = text(&machine.path("lexicons"));
    let checked = machine.run(&["lexicon", "validate", &unknown, "--lexicons", &folder, "--json"]).ends_with(3).json();
    assert_eq!(checked["nsid"], "com.example.nothing");
    assert_eq!(checked["violations"].as_array().map(Vec::len), Some(1));
    let input = br#"{"$type": "com.example.nothing", "a": 1}"#;
    let valid = machine.run_with_input(&["lexicon", "validate", "-", "--lexicons", &folder], input).ends_with(0);
    assert_eq!(valid.out, "valid com.example.nothing\n");
}
