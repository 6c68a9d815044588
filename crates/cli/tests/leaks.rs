//! What must not be seen is in no output, file or record.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use common::{Machine, claude_code, contains, files, finished, github_token, with_secret};
use serde_json::{Value, json};

#[test]
fn what_was_found_in_the_title_is_covered_wherever_the_title_is_printed() {
    let machine = Machine::new();
    let token = github_token();
    let file =
        machine.file("t.jsonl", claude_code("t", &[("user", &format!("Take {token} now")), ("assistant", "Done.")]));
    for args in [
        &["decide", &file, "--json"][..],
        &["decide", &file],
        &["decide", &file, "--cover-findings"],
        &["decide", &file, "--json"],
        &["publish", &file, "--local", "--dry-run"],
        &["publish", &file, "--local", "--yes"],
        &["published"],
        &["published", "--json"],
    ] {
        let run = machine.ok(args);
        assert!(!run.out.contains(&token) && !run.err.contains(&token), "{args:?}: {}", run.out);
    }
    assert_eq!(machine.ok(&["published", "--json"]).json()["published"][0]["title"], "Take ███ now");
}

#[test]
fn a_secret_at_the_end_of_a_made_title_leaves_no_beginning_of_itself() {
    let token = github_token();
    for before in (40..104).step_by(3) {
        let machine = Machine::new();
        let prompt = format!("{}{token} is the token, do not show it to anyone", "ab ".repeat(before / 3));
        let file = machine.file("t.jsonl", claude_code("t", &[("user", &prompt), ("assistant", "I will not.")]));
        machine.ok(&["decide", &file, "--cover-findings"]);
        let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json"]);
        assert!(!plan.out.contains(&token[..6]), "{before} bytes before it: {}", plan.json()["writes"][0]);
    }
}

#[test]
fn a_secret_at_the_end_of_a_cut_summary_leaves_no_beginning_of_itself() {
    let token = github_token();
    let machine = Machine::new();
    let mut cut = 0;
    for before in (150..260).step_by(5) {
        let id = format!("s{before}");
        let transcript = claude_code(&id, &[("user", "Go on."), ("assistant", "Going on.")]);
        let command = format!("echo {}--token {token} --verbose and more of it", "ab ".repeat(before / 3));
        let call = json!({
            "type": "assistant",
            "uuid": "00000000-0000-4000-8000-000000000099",
            "parentUuid": "00000000-0000-4000-8000-000000000001",
            "sessionId": id,
            "version": "2.1.42",
            "cwd": "/srv/harbour",
            "timestamp": "2026-01-02T03:00:02.678Z",
            "message": {
                "role": "assistant", "id": "msg_99", "type": "message", "model": "claude-opus-4-5",
                "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}],
            },
        });
        let file = machine.file("s.jsonl", format!("{transcript}{call}\n"));
        machine.ok(&["decide", &file, "--cover-findings"]);
        let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json"]);
        let summary = plan.json()["writes"][2]["record"]["steps"][0]["summary"].as_str().unwrap().to_owned();
        assert!(!plan.out.contains(&token[..6]), "{before} bytes before it: {summary}");
        cut += usize::from(summary.ends_with('…') && !summary.contains('█'));
    }
    assert!(cut > 0, "some summaries end where the secret was");
}

#[test]
fn covered_words_are_gone_from_everything_that_comes_out() {
    let machine = Machine::new();
    let word = "Halvorsen & \"Sons\"";
    let transcript = claude_code(
        "firm",
        &[
            ("user", &format!("Write to {word} about the ship.")),
            (
                "assistant",
                &format!("Dear {word},\n\nthe ship is late. https://x.example/?q=Halvorsen%20%26%20%22Sons%22"),
            ),
        ],
    );
    let file = machine.file("firm.jsonl", transcript);
    let out = machine.path("out");
    for args in [
        &["decide", &file, "--cover", word][..],
        &["decide", &file, "--json"],
        &["preview", &file, "--out", out.to_str().unwrap()],
        &["publish", &file, "--local", "--dry-run", "--json"],
        &["publish", &file, "--local", "--yes"],
        &["published", "--json"],
    ] {
        let run = machine.ok(args);
        assert!(!run.out.contains("Halvorsen") && !run.err.contains("Halvorsen"), "{args:?}: {}", run.out);
    }
    for (path, bytes) in files(&out) {
        assert!(!contains(&bytes, "Halvorsen"), "{}", path.display());
    }
}

#[test]
fn a_log_never_holds_what_was_said() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    for args in [&["scan", &file][..], &["decide", &file, "--cover-findings"], &["publish", &file, "--local", "--yes"]]
    {
        let run = finished(machine.command(args).env("ONRECORD_LOG", "trace"));
        assert!(!run.err.contains(&github_token()), "{}", run.err);
        assert!(!run.err.contains("Push the branch"), "{}", run.err);
    }
}

#[test]
fn a_turn_held_back_is_not_in_the_title_either() {
    let machine = Machine::new();
    let mut transcript = claude_code(
        "t",
        &[
            ("user", "A private\tquestion about money"),
            ("assistant", "An answer."),
            ("user", "Thank you."),
            ("assistant", "Gladly."),
        ],
    );
    // A title made of the first prompt is not published at all; this is one that the harness made of it.
    let file = machine.file("untitled.jsonl", &transcript);
    assert_eq!(machine.ok(&["decide", &file, "--json"]).json()["title"], Value::Null);
    transcript.push_str(
        "{\"type\":\"custom-title\",\"customTitle\":\"A private question about money\",\"sessionId\":\"t\"}\n",
    );
    let file = machine.file("t.jsonl", transcript);
    assert_eq!(machine.ok(&["decide", &file, "--json"]).json()["title"], "A private question about money");
    let held = machine.ok(&["decide", &file, "--withhold", "1", "--json"]);
    assert!(!held.out.contains("private"), "{}", held.out);
    for grain in ["turn", "message"] {
        let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json", "--grain", grain]);
        assert!(!plan.out.contains("private"), "{}", plan.out);
    }
    machine.ok(&["decide", &file, "--title", "On money"]);
    let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json"]).json();
    assert_eq!(plan["writes"][0]["record"]["title"], "On money");
    let back = machine.ok(&["decide", &file, "--publish", "1", "--title", "", "--json"]).json();
    assert_eq!(back["title"], Value::Null, "an empty title is none");
}

#[test]
fn undecided_findings_stop_everything_and_are_not_printed() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    let out = machine.path("out");
    let out = out.to_str().unwrap();
    for args in [
        &["scan", &file][..],
        &["scan", &file, "--json"],
        &["preview", &file, "--out", out],
        &["publish", &file, "--local", "--yes"],
        &["publish", &file, "--local", "--yes", "--json"],
        &["publish", &file, "--local", "--dry-run"],
        &["publish", &file, "--local", "--dry-run", "--json"],
        &["publish", &file, "--dry-run"],
    ] {
        let run = machine.run(args).ends_with(3);
        for text in [&run.out, &run.err] {
            assert!(!text.contains(&github_token()), "{args:?}: {text}");
            assert!(!text.contains(&github_token()[8..20]), "{args:?}: nor the middle of it: {text}");
        }
    }
    assert!(files(machine.path("out").as_path()).is_empty(), "nothing was written");
    assert_eq!(machine.ok(&["published", "--json"]).json(), json!({"published": []}));
    for (path, bytes) in machine.stored() {
        assert!(!contains(&bytes, &github_token()), "{}", path.display());
    }

    // One of two values decided is not enough.
    let token = github_token();
    let other = format!("{}Zz", &token[..token.len() - 2]);
    let two = claude_code("two", &[("user", &format!("{token} and {other}")), ("assistant", "Two.")]);
    let two = machine.file("two.jsonl", two);
    machine.ok(&["decide", &two, "--allow", "1", "--because", "revoked"]);
    machine.run(&["publish", &two, "--local", "--yes"]).ends_with(3);
}

#[test]
fn a_plan_that_the_last_gate_stops_is_not_shown_either() {
    let machine = Machine::new();
    // What stands there only when the record's title is shortened.
    let file = machine.file("t.jsonl", claude_code("t", &[("user", "Off to Mandalay…"), ("assistant", "Good.")]));
    let title = format!("{}Mandalay and more", "a".repeat(119));
    machine.ok(&["decide", &file, "--cover", "Mandalay…", "--title", &title]);
    for args in [
        &["publish", &file, "--local", "--dry-run", "--json"][..],
        &["publish", &file, "--local", "--dry-run"],
        &["publish", &file, "--local", "--yes"],
        &["preview", &file],
    ] {
        let run = machine.run(args);
        assert_eq!(run.code, 3, "{args:?}: {} {}", run.out, run.err);
        assert!(!run.out.contains("Mandalay") && !run.err.contains("Mandalay"), "{args:?}: {}", run.out);
    }
}
