//! Laws that every real and foreign-made sample of Codex and pi must keep. The samples are not part
//! of the repository; without them these tests say so and pass.
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
    io::Cursor,
    path::{Path, PathBuf},
};

use onrecord_transcript::{Conversation, Error, Grain, Harness, ParseOptions, Part, Role, detect::detect, parse};
use serde_json::Value;

fn samples() -> Option<PathBuf> {
    let shared = std::env::var_os("ONRECORD_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let samples = shared.join("samples");
    if samples.is_dir() {
        return Some(samples);
    }
    eprintln!("skipped: shared data not present");
    None
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

/// The transcripts in these folders: not the expectations beside them, not Codex's prompt history.
fn transcripts(samples: &Path, folders: &[&str]) -> Vec<PathBuf> {
    let all = folders.iter().flat_map(|folder| files(&samples.join(folder)));
    all.filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.ends_with(".jsonl") && !name.ends_with("history.jsonl")
    })
    .collect()
}

fn read(harness: Harness, path: &Path) -> Result<Conversation, Error> {
    let options = ParseOptions {
        grain: Grain::Turn,
        fallback_id: "fallback".to_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: None,
        home: None,
        branch: None,
        conversation: None,
    };
    let mut parsed = parse(harness, &mut Cursor::new(fs::read(path).unwrap()), &options)?;
    assert_eq!(parsed.conversations.len(), 1);
    Ok(parsed.conversations.remove(0))
}

fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn laws(conversation: &Conversation, path: &Path) {
    let at = path.display();
    assert!(!conversation.turns.is_empty(), "{at}");
    assert_eq!(conversation.created_at, conversation.turns[0].created_at, "{at}");
    let mut ids = BTreeSet::new();
    for (index, turn) in conversation.turns.iter().enumerate() {
        assert_eq!(turn.index, index + 1, "{at}");
        assert!(ids.insert(&turn.id), "{at}: two turns are named {}", turn.id);
        assert!(!turn.text.is_empty() || !turn.parts.is_empty(), "{at}: turn {} is empty", turn.index);
        if turn.role == Role::User {
            assert!(turn.model.is_none(), "{at}");
            for envelope in
                ["<environment_context>", "# AGENTS.md instructions", "<user_instructions>", "My request for Codex:"]
            {
                assert!(!turn.text.contains(envelope), "{at}: {envelope} in a prompt");
            }
        } else {
            let calls = turn.parts.iter().filter(|part| matches!(part, Part::ToolCall { .. })).count();
            assert_eq!(turn.steps().len(), calls, "{at}");
        }
    }
}

fn tool_calls(conversation: &Conversation) -> usize {
    let parts = conversation.turns.iter().filter(|turn| turn.role == Role::Assistant).flat_map(|turn| &turn.parts);
    parts.filter(|part| matches!(part, Part::ToolCall { .. })).count()
}

#[test]
fn every_codex_sample_keeps_the_laws() {
    let Some(samples) = samples() else { return };
    let paths = transcripts(&samples, &["codex"]);
    assert!(paths.len() > 8);
    for path in paths {
        assert_eq!(detect(&fs::read(&path).unwrap()), Some(Harness::Codex), "{}", path.display());
        let conversation = read(Harness::Codex, &path).unwrap();
        laws(&conversation, &path);
        let rows = rows(&path);
        let calls: BTreeSet<String> = rows
            .iter()
            .map(|row| &row["payload"])
            .filter(|payload| matches!(payload["type"].as_str(), Some("function_call" | "custom_tool_call")))
            .map(|payload| {
                format!("{} {} {} {}", payload["call_id"], payload["name"], payload["arguments"], payload["input"])
            })
            .collect();
        assert_eq!(tool_calls(&conversation), calls.len(), "{}", path.display());
        if rows.iter().any(|row| row["type"] == "turn_context" && row["payload"]["model"].is_string()) {
            for turn in conversation.turns.iter().filter(|turn| turn.role == Role::Assistant) {
                assert!(turn.model.is_some(), "{}: turn {} has no model", path.display(), turn.index);
            }
        }
    }
}

#[test]
fn every_sample_of_pi_and_its_kin_keeps_the_laws() {
    let Some(samples) = samples() else { return };
    let paths = transcripts(&samples, &["pi", "omp", "openclaw"]);
    assert!(paths.len() > 6);
    for path in paths {
        assert_eq!(detect(&fs::read(&path).unwrap()), Some(Harness::Pi), "{}", path.display());
        let conversation = read(Harness::Pi, &path).unwrap();
        laws(&conversation, &path);
        for turn in conversation.turns.iter().filter(|turn| turn.role == Role::Assistant) {
            let no_model_known =
                !rows(&path).iter().any(|row| row["message"]["model"].is_string() || row["type"] == "model_change");
            assert!(turn.model.is_some() || no_model_known, "{}: turn {} has no model", path.display(), turn.index);
        }
    }
}

/// A real session of the first version, in which everything is on one line: its messages, counted
/// without our code, are what we give.
#[test]
fn a_large_pi_session_has_as_many_of_everything_as_its_file() {
    let Some(samples) = samples() else { return };
    let path = samples.join("pi/pi-mono__packages_coding-agent_test_fixtures_large-session.jsonl");
    let conversation = read(Harness::Pi, &path).unwrap();
    let rows = rows(&path);
    let messages: Vec<&Value> =
        rows.iter().map(|row| &row["message"]).filter(|message| message["role"].is_string()).collect();
    let prompts = messages.iter().filter(|message| message["role"] == "user").count();
    // Runs of assistant messages that hold anything, ended by a prompt.
    let (mut answers, mut in_answer, mut calls) = (0, false, 0);
    for message in &messages {
        match message["role"].as_str().unwrap() {
            "user" => in_answer = false,
            "assistant" => {
                let blocks = message["content"].as_array().unwrap();
                calls += blocks.iter().filter(|block| block["type"] == "toolCall").count();
                let says = blocks.iter().any(|block| {
                    block["type"] == "toolCall"
                        || ["text", "thinking"]
                            .iter()
                            .any(|key| block[key].as_str().is_some_and(|text| !text.trim().is_empty()))
                });
                if says && !in_answer {
                    answers += 1;
                    in_answer = true;
                }
            }
            _ => {}
        }
    }
    let count = |role| conversation.turns.iter().filter(|turn| turn.role == role).count();
    assert_eq!(prompts, 88);
    assert_eq!(count(Role::User), prompts);
    assert_eq!(count(Role::Assistant), answers);
    assert_eq!(tool_calls(&conversation), calls);
    let failed = messages.iter().filter(|message| message["isError"] == true).count();
    let ours = conversation.turns.iter().flat_map(onrecord_transcript::Turn::steps).filter(|step| step.failed).count();
    assert!(ours >= failed, "{ours} failed calls of {failed}");
    let models: BTreeSet<&str> = conversation.turns.iter().filter_map(|turn| turn.model.as_deref()).collect();
    assert_eq!(models.into_iter().collect::<Vec<_>>(), ["anthropic/claude-sonnet-4-5"]);
}

/// No transcript of another program is taken for one of ours.
#[test]
fn other_harnesses_are_not_detected() {
    let Some(samples) = samples() else { return };
    let ours = ["codex", "pi", "omp", "openclaw", "claude-code"];
    let mut seen = 0;
    for folder in fs::read_dir(&samples).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if ours.contains(&name.as_str()) || name == "hostile" {
            continue;
        }
        for path in files(&folder) {
            seen += 1;
            let found = detect(&fs::read(&path).unwrap());
            let taken = matches!(found, Some(Harness::ClaudeCode | Harness::Codex | Harness::Pi));
            assert!(!taken, "{}: {found:?}", path.display());
        }
    }
    assert!(seen > 20);
}

#[test]
fn codex_prompt_history_is_no_session() {
    let Some(samples) = samples() else { return };
    for path in files(&samples.join("codex")).iter().filter(|path| path.to_str().unwrap().ends_with("history.jsonl")) {
        assert!(matches!(read(Harness::Codex, path), Err(Error::NotThisFormat { .. })));
    }
}
