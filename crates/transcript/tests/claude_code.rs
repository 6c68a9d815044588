//! Claude Code's transcripts: branches, growth, samples, and the laws of damage. What each rule gives
//! stands in `fixtures/claude-code`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly"
)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use onrecord_transcript::{
    Conversation, Error, Grain, Harness, ParseOptions, Parsed, Part, Role, Turn, detect::detect, parse,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn options() -> ParseOptions {
    ParseOptions {
        grain: Grain::Turn,
        fallback_id: "file-stem".to_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: None,
        home: Some("/home/mira".to_owned()),
        branch: None,
        conversation: None,
    }
}

fn read(bytes: &[u8], options: &ParseOptions) -> Result<Parsed, Error> {
    parse(Harness::ClaudeCode, &mut &bytes[..], options)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude-code")
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(folder().join(name).join("input.jsonl")).unwrap()
}

fn texts(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.text.as_str()).collect()
}

/// Every fixture against its `expected.json`; with `UPDATE_EXPECTED=1` that file is written instead,
/// to be read by a person before it is committed.
#[test]
fn fixtures_give_what_is_expected() {
    let mut failures = Vec::new();
    let mut count = 0;
    for case in fs::read_dir(folder()).unwrap() {
        let case = case.unwrap().path();
        let input = fs::read(case.join("input.jsonl")).unwrap();
        let given = match read(&input, &options()) {
            Ok(parsed) => {
                assert_eq!(detect(&input), Some(Harness::ClaudeCode), "{}", case.display());
                json!({ "conversations": parsed.conversations })
            }
            Err(error) => json!({ "error": error.to_string() }),
        };
        let path = case.join("expected.json");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&path, format!("{given:#}\n")).unwrap();
        }
        let expected: Value = serde_json::from_slice(&fs::read(&path).unwrap_or_default()).unwrap_or_default();
        if given != expected {
            failures.push(format!("{}:\n{given:#}", case.display()));
        }
        count += 1;
    }
    assert!(count > 40, "{count} fixtures");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_replaced_prompt_is_reached_by_the_branch_that_the_warning_names() {
    let input = fixture("rewound-prompt");
    let active = read(&input, &options()).unwrap().conversations.remove(0);
    assert_eq!(texts(&active.turns), ["One", "Two", "A better prompt", "A better answer"]);
    let warning = active.warnings.iter().find(|warning| warning.code == "other-branch").unwrap();
    let branch = warning.message.rsplit(' ').next().unwrap().to_owned();
    let other = read(&input, &ParseOptions { branch: Some(branch), ..options() }).unwrap().conversations.remove(0);
    assert_eq!(
        texts(&other.turns),
        ["One", "Two", "A prompt that was a mistake", "A mistaken answer", "queued on the branch that was left"]
    );
}

#[test]
fn a_branch_that_no_row_has_is_refused() {
    let options = ParseOptions { branch: Some("nowhere".to_owned()), ..options() };
    assert!(matches!(read(&fixture("rewound-prompt"), &options), Err(Error::UnknownBranch(_))));
}

#[test]
fn with_grain_message_every_message_is_a_turn() {
    let options = ParseOptions { grain: Grain::Message, ..options() };
    let conversation = read(&fixture("failed-tools"), &options).unwrap().conversations.remove(0);
    assert_eq!(conversation.turns.len(), 5);
    assert!(conversation.turns[1..].iter().all(|turn| turn.steps().len() == 1));
}

#[test]
fn a_conversation_that_grows_keeps_the_ids_of_its_turns() {
    for name in ["queued-prompts", "queued-while-the-agent-works", "parallel-tools", "growing-snapshots", "compaction"]
    {
        let input = fixture(name);
        let ids = |bytes: &[u8]| -> Vec<String> {
            let parsed = read(bytes, &options());
            parsed
                .map_or_else(|_| Vec::new(), |p| p.conversations[0].turns.iter().map(|turn| turn.id.clone()).collect())
        };
        let whole = ids(&input);
        let rows: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
        for length in 1..rows.len() {
            let part = ids(&rows[..length].concat());
            assert!(whole.starts_with(&part), "{name}, {length} rows: {part:?} {whole:?}");
        }
    }
}

fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("ONRECORD_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let there = folder.join("samples").is_dir();
    if !there {
        eprintln!("skipped: shared data not present");
    }
    there.then_some(folder)
}

/// The rows of a sample, read without any of our own code.
fn plain_rows(text: &str) -> Vec<Value> {
    let rows: Vec<Value> = text.split('\n').filter_map(|line| serde_json::from_str(line).ok()).collect();
    if let Ok(Value::Object(whole)) = serde_json::from_str::<Value>(text)
        && let Some(Value::Array(rows)) = whole.get("loglines")
    {
        return rows.clone();
    }
    rows
}

#[test]
fn samples_obey_the_laws() {
    let Some(shared) = shared() else { return };
    let mut count = 0;
    for folder in ["claude-code", "hostile"] {
        for sample in fs::read_dir(shared.join("samples").join(folder)).unwrap() {
            let sample = sample.unwrap().path();
            let name = sample.file_name().unwrap().to_string_lossy().into_owned();
            if name.contains("expected") {
                continue;
            }
            let bytes = fs::read(&sample).unwrap();
            let rows = plain_rows(&String::from_utf8_lossy(&bytes));
            let parsed = read(&bytes, &options()).unwrap_or_else(|error| panic!("{name}: {error}"));
            for conversation in &parsed.conversations {
                check_laws(&name, conversation);
            }
            let calls: Vec<&str> = parsed
                .conversations
                .iter()
                .flat_map(|c| &c.turns)
                .flat_map(|turn| &turn.parts)
                .filter_map(|part| match part {
                    Part::ToolCall { id, .. } => Some(id.as_str()),
                    _ => None,
                })
                .collect();
            let is_left = parsed.conversations.iter().flat_map(|c| &c.warnings).any(|w| w.code == "other-branch");
            if !is_left {
                let all_side = rows.iter().all(|row| row["isSidechain"] == true || row["message"].is_null());
                let wanted: BTreeSet<&str> = rows
                    .iter()
                    .filter(|row| all_side || row["isSidechain"] != true)
                    .filter_map(|row| row["message"]["content"].as_array())
                    .flatten()
                    .filter(|block| block["type"] == "tool_use")
                    .filter_map(|block| block["id"].as_str())
                    .collect();
                assert_eq!(calls.iter().copied().collect::<BTreeSet<_>>(), wanted, "{name}");
            }
            assert_eq!(calls.len(), calls.iter().collect::<BTreeSet<_>>().len(), "{name}: a call twice");
            count += 1;
        }
    }
    assert!(count >= 20, "{count} samples");
}

fn check_laws(name: &str, conversation: &Conversation) {
    assert!(!conversation.turns.is_empty(), "{name}");
    for (at, turn) in conversation.turns.iter().enumerate() {
        assert_eq!(turn.index, at + 1, "{name}");
        assert_eq!(turn.steps.is_some(), turn.role == Role::Assistant, "{name}");
        assert_ne!(turn.model.as_deref(), Some("<synthetic>"), "{name}");
        assert!(turn.model.as_deref().is_none_or(|model| model.contains('/')), "{name}");
        assert!(turn.role == Role::Assistant || turn.model.is_none(), "{name}");
        for step in turn.steps() {
            assert!(!step.summary.contains("/Users/") && !step.summary.contains("/home/"), "{name}: {}", step.summary);
        }
        if turn.role == Role::User {
            for envelope in [
                "<system-reminder>",
                "<command-name>",
                "<local-command",
                "<ide_",
                "<task-notification>",
                "[Request interrupted",
            ] {
                assert!(!turn.text.contains(envelope), "{name}: {envelope}");
            }
        }
    }
}

/// Turns without what damage may change: nothing.
fn turns(bytes: &[u8]) -> Value {
    match read(bytes, &options()) {
        Ok(parsed) => parsed.conversations.iter().map(|c| json!(c.turns)).collect(),
        Err(_) => Value::Null,
    }
}

fn inputs() -> Vec<Vec<u8>> {
    [
        "parallel-tools",
        "queued-prompts",
        "rewound-prompt",
        "compaction",
        "growing-snapshots",
        "screenshots",
        "two-sessions",
    ]
    .map(fixture)
    .to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = read(&bytes, &options());
    }

    #[test]
    fn a_mutated_transcript_never_panics(
        which in 0usize..7,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4, 0usize..200), 1..12),
    ) {
        let mut bytes = inputs()[which].clone();
        for (at, byte, what, length) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => { bytes.drain(at..end); }
                _ => { let again = bytes[at..end].to_vec(); bytes.splice(at..at, again); }
            }
        }
        if let Ok(parsed) = read(&bytes, &options()) {
            for conversation in &parsed.conversations {
                prop_assert!(!conversation.turns.is_empty());
                prop_assert!(conversation.turns.iter().enumerate().all(|(at, turn)| turn.index == at + 1));
            }
        }
    }

    // Invariant 12.
    #[test]
    fn a_damaged_line_costs_only_itself(
        which in 0usize..7,
        garbage in prop_oneof![
            "[^\n]{1,60}".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>().prop_filter("a line", |b| *b != b'\n'), 1..60),
            "\\{\"type\":\"user\",\"message\":\\{\"content\":\"[a-z{}\\[\\]]{0,20}".prop_map(String::into_bytes),
        ],
        at in any::<prop::sample::Index>(),
    ) {
        let whole = inputs()[which].clone();
        let mut rows: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        let mut line = garbage.clone();
        line.push(b'\n');
        rows.insert(at.index(rows.len() + 1), &line);
        let damaged = rows.concat();
        prop_assert_eq!(turns(&damaged), turns(&whole));
        let blank = String::from_utf8_lossy(&garbage).chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\u{1e}' | '\u{feff}'));
        let before = read(&whole, &options()).unwrap().warnings.len();
        let after = read(&damaged, &options()).unwrap().warnings.len();
        prop_assert!(blank || after > before);
    }

    #[test]
    fn a_transcript_without_one_of_its_rows_never_panics(which in 0usize..7, at in any::<prop::sample::Index>()) {
        let whole = inputs()[which].clone();
        let mut rows: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        rows.remove(at.index(rows.len()));
        let _ = read(&rows.concat(), &options());
    }
}
