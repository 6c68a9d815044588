//! The sessions in `examples/` hold what `examples/README.md` says they do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

use std::{collections::BTreeSet, fs, io::Cursor, path::Path};

use onrecord_transcript::{Conversation, Grain, ParseOptions, Part, Role, detect::detect, parse};

fn example(name: &str) -> Conversation {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let bytes = fs::read(&path).unwrap();
    let harness = detect(&bytes).unwrap();
    assert_eq!(name.strip_suffix(".jsonl"), Some(harness.as_str()));
    let options = ParseOptions {
        grain: Grain::Turn,
        fallback_id: "fallback".to_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: Some(path),
        home: Some("/home/dana".to_owned()),
        branch: None,
        conversation: None,
    };
    let mut parsed = parse(harness, &mut Cursor::new(bytes), &options).unwrap();
    assert_eq!(parsed.conversations.len(), 1, "{name}");
    let conversation = parsed.conversations.remove(0);
    assert!((8..=30).contains(&conversation.turns.len()), "{name}: {} turns", conversation.turns.len());
    assert!(conversation.turns.iter().flat_map(onrecord_transcript::Turn::steps).any(|step| step.failed), "{name}");
    assert!(conversation.turns.is_sorted_by_key(|turn| turn.created_at), "{name}");
    for turn in &conversation.turns {
        assert_eq!(turn.model.is_some(), turn.role == Role::Assistant, "{name}: turn {}", turn.index);
        for envelope in ["<command-name>", "<local-command", "AGENTS.md", "<environment_context>"] {
            assert!(!turn.text.contains(envelope), "{name}: {envelope}");
        }
        for step in turn.steps() {
            assert!(!step.summary.contains("/home/"), "{name}: a home path in a step: {}", step.summary);
        }
    }
    conversation
}

fn said(conversation: &Conversation, role: Role, what: &str) -> bool {
    conversation.turns.iter().any(|turn| turn.role == role && turn.text.contains(what))
}

fn models(conversation: &Conversation) -> BTreeSet<&str> {
    conversation.turns.iter().filter_map(|turn| turn.model.as_deref()).collect()
}

#[test]
fn the_claude_code_example() {
    let conversation = example("claude-code.jsonl");
    assert_eq!(conversation.title.as_deref(), Some("Reminders an hour late since the clocks changed"));
    assert_eq!(models(&conversation).into_iter().collect::<Vec<_>>(), ["anthropic/claude-opus-4-5"]);
    assert_eq!(conversation.turns.len(), 16);
    assert!(said(&conversation, Role::User, "ghp_") && said(&conversation, Role::Assistant, "ghp_"));
    assert!(
        conversation.turns.iter().flat_map(|turn| &turn.parts).any(
            |part| matches!(part, Part::ToolCall { input, .. } if input.to_string().contains("https://dana:ghp_"))
        )
    );
    assert!(
        said(&conversation, Role::User, "/home/dana/")
            && said(&conversation, Role::User, "\u{1f469}\u{1f3fd}\u{200d}\u{1f4bb}")
    );
    assert_eq!(
        conversation.turns.iter().flat_map(onrecord_transcript::Turn::steps).filter(|step| step.failed).count(),
        3
    );
}

#[test]
fn the_codex_example() {
    let conversation = example("codex.jsonl");
    assert_eq!(models(&conversation).into_iter().collect::<Vec<_>>(), ["openai/gpt-5-codex"]);
    assert_eq!(conversation.turns.len(), 12);
    assert!(said(&conversation, Role::User, "AKIA") && said(&conversation, Role::User, "השכונה"));
    assert!(said(&conversation, Role::Assistant, "مرحباً"));
    assert_eq!(
        conversation.turns.iter().flat_map(onrecord_transcript::Turn::steps).filter(|step| step.failed).count(),
        2
    );
    assert_eq!(conversation.warnings, []);
}

#[test]
fn the_pi_example() {
    let conversation = example("pi.jsonl");
    assert_eq!(conversation.title.as_deref(), Some("Docs build from nine minutes to forty seconds"));
    assert_eq!(
        models(&conversation).into_iter().collect::<Vec<_>>(),
        ["anthropic/claude-opus-4-5", "openai/gpt-5-codex"]
    );
    let longest = conversation.turns.iter().map(|turn| turn.text.len()).max().unwrap();
    assert!(longest > 60_000, "{longest}");
    assert!(said(&conversation, Role::Assistant, "glpat-"));
    assert!(!said(&conversation, Role::Assistant, "port it to Go"), "the abandoned branch is shown");
    assert!(
        conversation
            .turns
            .iter()
            .any(|turn| turn.role == Role::User && turn.text.is_empty() && turn.steps().len() == 1)
    );
    assert_eq!(conversation.warnings, []);
}
