//! What lies beside a session of Claude Code: subagents' transcripts, and outputs of tools too large for a row.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use onrecord_transcript::{
    Conversation, Harness, Parent, Part,
    discover::{Roots, discover},
};
use serde_json::json;
use support::options;

const SESSION: &str = "5f0c7a2e-9d41-4c7b-8a55-0d6f2b1e9c01";

fn put(path: PathBuf, content: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude-code");
    fs::read_to_string(root.join(name).join("input.jsonl")).unwrap()
}

fn read(path: &Path) -> Conversation {
    support::read(Harness::ClaudeCode, path, &options(Some(path))).unwrap().conversations.remove(0)
}

fn outputs(conversation: &Conversation) -> Vec<String> {
    let parts = conversation.turns.iter().flat_map(|turn| &turn.parts);
    parts.filter_map(|part| if let Part::ToolCall { output, .. } = part { output.clone() } else { None }).collect()
}

/// A session whose one tool's output is said to lie at `saved`.
fn session(saved: &str) -> String {
    let row = |kind: &str, uuid: &str, message: serde_json::Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": SESSION, "timestamp": "2026-03-02T09:00:01.000Z", "message": message}).to_string()
    };
    let output = format!(
        "<persisted-output>\nOutput too large (80KB). Full output saved to: {saved}\n\nPreview (first 2KB):\nfirst\n</persisted-output>"
    );
    [
        row("user", "u1", json!({"role": "user", "content": "Show the log"})),
        row("assistant", "a1", json!({"id": "m1", "role": "assistant", "model": "claude-opus-4-5", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat log"}}]})),
        row("user", "r1", json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": output}]})),
    ]
    .join("\n")
        + "\n"
}

#[test]
fn a_persisted_output_is_read_from_the_sessions_own_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path().join(format!("{SESSION}.jsonl")), &session("/somewhere/else/tool-results/t1.txt"));
    let before = read(&path);
    assert!(before.warnings.iter().any(|warning| warning.code == "persisted-output"));
    assert!(outputs(&before)[0].contains("Preview"));
    put(folder.path().join(SESSION).join("tool-results/t1.txt"), "the whole output");
    let after = read(&path);
    assert_eq!(outputs(&after), ["the whole output"]);
    assert!(!after.warnings.iter().any(|warning| warning.code == "persisted-output"));
}

#[test]
fn a_transcript_cannot_name_a_file_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let secret = put(folder.path().join("secret.txt"), "what nobody should see");
    for saved in [secret.to_str().unwrap(), "../../secret.txt", "..", "tool-results/../../secret.txt"] {
        let path = put(folder.path().join(format!("{SESSION}.jsonl")), &session(saved));
        assert!(!outputs(&read(&path)).concat().contains("nobody"), "{saved}");
    }
}

#[test]
fn a_subagent_is_a_conversation_of_its_own_that_names_the_call_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let subagents = folder.path().join(SESSION).join("subagents");
    let path = put(subagents.join("agent-a1.jsonl"), &fixture("subagent-file"));
    let alone = read(&path);
    assert_eq!(alone.source.id, "agent-a1");
    assert_eq!(alone.source.parent, Some(Parent { id: SESSION.to_owned(), call: None }));
    let meta = json!({"agentType": "Explore", "description": "Find the kiln", "toolUseId": "toolu_9"});
    put(subagents.join("agent-a1.meta.json"), &meta.to_string());
    let described = read(&path);
    assert_eq!(described.source.parent, Some(Parent { id: SESSION.to_owned(), call: Some("toolu_9".to_owned()) }));
    assert_eq!(described.title.as_deref(), Some("Find the kiln"));
}

#[test]
fn subagents_are_found_and_not_listed() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".claude/projects/-x");
    put(project.join(format!("{SESSION}.jsonl")), &session("x"));
    put(project.join(SESSION).join("subagents/agent-a1.jsonl"), &fixture("subagent-file"));
    put(project.join("agent-b2.jsonl"), &fixture("subagent-file"));
    let discovery = discover(&Roots { home: Some(home.path().to_path_buf()), ..Roots::default() });
    assert_eq!(discovery.sessions.len(), 1);
    let mut ids: Vec<&str> = discovery.subagents.iter().map(|found| found.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["agent-a1", "agent-b2"]);
}
