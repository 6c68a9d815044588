use std::io::Cursor;

use jiff::{Timestamp, ToSpan};
use onrecord_redact::{Decisions, Draft, DraftStep, DraftTurn, Engine, FingerprintKey, Reviewed, Role, seal};
use onrecord_transcript::{Conversation, Grain, Harness, ParseOptions, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const HEAD: Head<'_> = Head { id: "3mf2k5aaaaa22", harness: "claude-code", version: Some("2.1.42") };

fn start() -> Timestamp {
    "2026-03-04T05:06:07.089Z".parse().unwrap()
}

fn turn(index: usize, role: Role, text: &str) -> DraftTurn {
    DraftTurn {
        id: format!("turn-{index}"),
        index,
        role,
        created_at: start().checked_add(i64::try_from(index - 1).unwrap().minutes()).unwrap(),
        model: (role == Role::Assistant).then(|| "anthropic/claude-opus-4-5".to_owned()),
        text: text.to_owned(),
        steps: Vec::new(),
        reasoning: Vec::new(),
    }
}

fn step(tool: &str, summary: &str, failed: bool) -> DraftStep {
    DraftStep { tool: tool.to_owned(), summary: summary.to_owned(), failed }
}

fn sealed(draft: &Draft, decisions: &Decisions) -> Reviewed {
    seal(draft, &Engine::builtin().unwrap(), decisions, &FingerprintKey::from_bytes([7; 32])).unwrap()
}

/// Four turns: with steps of one tool that failed and did not, with reasoning, one held back.
fn talk() -> Reviewed {
    let mut agent = turn(2, Role::Assistant, "Because the map was not flattened.");
    agent.steps = vec![step("bash", "Run the tests", false), step("bash", "Run them again", true)];
    agent.reasoning = vec!["First the map.".to_owned()];
    let turns = vec![
        turn(1, Role::User, "Why?"),
        agent,
        turn(3, Role::User, "A customer's name"),
        turn(4, Role::Assistant, "Good."),
    ];
    let draft = Draft {
        title: Some("The dropped field".to_owned()),
        description: Some("For the record".to_owned()),
        created_at: start(),
        turns,
    };
    let mut decisions = Decisions::default();
    decisions.withhold("turn-3");
    sealed(&draft, &decisions)
}

fn import(text: &str) -> Conversation {
    let options = ParseOptions {
        grain: Grain::Turn,
        fallback_id: "x".to_owned(),
        fallback_time: start(),
        path: None,
        home: None,
        branch: None,
        conversation: None,
    };
    let parsed = parse(Harness::Pi, &mut Cursor::new(text), &options).unwrap();
    assert_eq!(parsed.warnings, []);
    parsed.conversations.into_iter().next().unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_session_of_pi_is_read_back_by_our_importer() {
    let document = pi(&talk(), &HEAD);
    let back = import(&document.text);
    assert_eq!((back.source.id.as_str(), back.title.as_deref()), (HEAD.id, Some("The dropped field")));
    assert!(!back.title_is_prompt);
    // All but the one held back, of which a note stands there.
    let said: Vec<_> = back.turns.iter().map(|t| (t.text.as_str(), t.created_at, t.model.as_deref())).collect();
    let time = |minutes: i64| start().checked_add(minutes.minutes()).unwrap();
    let model = Some("anthropic/claude-opus-4-5");
    assert_eq!(said, [("Why?", time(0), None), ("Because the map was not flattened.\n\nGood.", time(1), model)]);
    let steps: Vec<_> = back.turns[1].steps().iter().map(|s| step(&s.tool, &s.summary, s.failed)).collect();
    assert_eq!(steps, [step("bash", "Run the tests", false), step("bash", "Run them again", true)]);
    let note = &lines(&document.text)[6];
    assert_eq!((&note["type"], &note["display"]), (&json!("custom_message"), &json!(true)));
    assert!(!document.text.contains("customer"));
    let lost: Vec<_> = document.lost.iter().map(|l| (l.what, l.count)).collect();
    assert_eq!(
        lost,
        [
            ("tool arguments (one line on each call is kept)", 2),
            ("description", 1),
            ("place of a turn held back (a note stands there)", 1)
        ]
    );
}

#[test]
fn a_session_of_pi_has_what_pi_asks_for() {
    let entries = lines(&pi(&talk(), &HEAD).text);
    assert_eq!(
        (&entries[0]["type"], &entries[0]["version"], &entries[0]["cwd"]),
        (&json!("session"), &json!(3), &json!(""))
    );
    // A chain, each entry behind the one before.
    assert_eq!(entries[1]["parentId"], Value::Null);
    assert!(entries[1..].windows(2).all(|w| w[1]["parentId"] == w[0]["id"]));
    let answer = &entries[3]["message"];
    for field in ["api", "provider", "model", "usage", "stopReason", "timestamp", "content"] {
        assert!(!answer[field].is_null(), "{field}");
    }
    assert!(answer["usage"]["cost"]["total"].is_number() && answer["usage"]["totalTokens"].is_number());
    assert_eq!(answer["content"][0], json!({"type": "thinking", "thinking": "First the map."}));
    // Every call has a result under its id.
    let calls: Vec<_> = answer["content"].as_array().unwrap().iter().filter(|i| i["type"] == "toolCall").collect();
    for (call, result) in calls.iter().zip(&entries[4..6]) {
        assert_eq!(call["id"], result["message"]["toolCallId"]);
        assert!(call["arguments"].is_object());
    }
}

/// What the validating models of the format ask, field by field; they forbid all others.
#[test]
fn a_trajectory_is_what_the_format_allows() {
    let document = atif(&talk(), &HEAD);
    let trajectory: Value = serde_json::from_str(&document.text).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let within = |value: &Value, allowed: &[&str]| {
        for key in keys(value) {
            assert!(allowed.contains(&key.as_str()), "{key} in {value}");
        }
    };
    within(
        &trajectory,
        &["schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics", "extra"],
    );
    assert_eq!(trajectory["schema_version"], "ATIF-v1.7");
    within(&trajectory["agent"], &["name", "version", "model_name", "tool_definitions", "extra"]);
    assert_eq!(
        (&trajectory["agent"]["name"], &trajectory["agent"]["version"]),
        (&json!("claude-code"), &json!("2.1.42"))
    );
    let steps = trajectory["steps"].as_array().unwrap();
    for (n, step) in steps.iter().enumerate() {
        within(
            step,
            &[
                "step_id",
                "timestamp",
                "source",
                "model_name",
                "message",
                "reasoning_content",
                "tool_calls",
                "observation",
                "extra",
            ],
        );
        assert_eq!(step["step_id"], n + 1);
        assert!(step["message"].is_string());
        step["timestamp"].as_str().unwrap().parse::<Timestamp>().unwrap();
        let calls: Vec<_> = step["tool_calls"].as_array().into_iter().flatten().collect();
        for call in &calls {
            within(call, &["tool_call_id", "function_name", "arguments", "extra"]);
            assert!(call["arguments"].is_object());
        }
        for result in step["observation"]["results"].as_array().into_iter().flatten() {
            within(result, &["source_call_id", "content", "subagent_trajectory_ref", "extra"]);
            assert!(calls.iter().any(|call| call["tool_call_id"] == result["source_call_id"]));
        }
        if step["source"] != "agent" {
            for field in ["model_name", "reasoning_content", "tool_calls"] {
                assert!(step.get(field).is_none(), "{field}");
            }
        }
    }
    assert_eq!(steps[1]["observation"]["results"], json!([{"source_call_id": "call-2", "extra": {"failed": true}}]));
    assert_eq!((&steps[2]["extra"]["withheld"], &steps[2]["message"]), (&json!(true), &json!("")));
    assert_eq!(steps[1]["reasoning_content"], "First the map.");
}

#[test]
fn a_trace_is_a_header_and_messages() {
    let document = sts(&talk(), &HEAD);
    let lines = lines(&document.text);
    assert_eq!(
        lines[0],
        json!({"type": "session", "harness": "claude-code", "id": HEAD.id, "name": "The dropped field", "description": "For the record"})
    );
    let messages: Vec<_> = lines[1..].iter().map(|line| (line["type"].as_str().unwrap(), &line["message"])).collect();
    assert!(messages.iter().all(|(kind, message)| *kind == "message" && message["content"].is_string()));
    let roles: Vec<_> = messages.iter().map(|(_, m)| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user", "assistant"]);
    let answer = messages[1].1;
    assert_eq!(
        (&answer["reasoningContent"], &answer["model"]),
        (&json!("First the map."), &json!("anthropic/claude-opus-4-5"))
    );
    assert_eq!(
        answer["toolCalls"][1]["function"],
        json!({"name": "bash", "arguments": "{\"summary\":\"Run them again\"}"})
    );
    assert_eq!(messages[2].1["toolCallId"], answer["toolCalls"][1]["id"]);
    assert_eq!((&messages[3].1["withheld"], &messages[3].1["content"]), (&json!(true), &json!("")));
    assert_eq!(answer["timestamp"], start().checked_add(1.minute()).unwrap().as_millisecond());
}

/// The models of the format's reference implementation, where they are on this machine.
#[test]
fn a_trajectory_keeps_what_samples_have() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/samples/atif");
    let Ok(samples) = std::fs::read_dir(folder) else {
        eprintln!("skipped: there are no samples of the format on this machine");
        return;
    };
    let ours: Value = serde_json::from_str(&atif(&talk(), &HEAD).text).unwrap();
    for sample in samples.map(|s| s.unwrap().path()).filter(|p| p.to_string_lossy().contains("input")) {
        let theirs: Value = serde_json::from_slice(&std::fs::read(&sample).unwrap()).unwrap();
        assert_eq!(theirs["schema_version"], ours["schema_version"]);
        let shape = |value: &Value| {
            value
                .as_object()
                .unwrap()
                .iter()
                .map(|(k, v)| (k.clone(), v.is_string()))
                .collect::<std::collections::BTreeMap<_, _>>()
        };
        let (a, b) = (shape(&theirs["steps"][0]), shape(&ours["steps"][0]));
        for field in ["step_id", "source", "timestamp"] {
            assert_eq!(a.get(field), b.get(field), "{field}");
        }
    }
}

#[test]
fn what_a_person_ran_is_not_put_into_the_agents_mouth() {
    let mut person = turn(1, Role::User, "");
    person.steps = vec![step("bash", "git status", true)];
    let draft = Draft {
        title: None,
        description: None,
        created_at: start(),
        turns: vec![person, turn(2, Role::Assistant, "So.")],
    };
    let reviewed = sealed(&draft, &Decisions::default());
    let back = import(&pi(&reviewed, &HEAD).text);
    assert_eq!(back.turns[0].role, onrecord_transcript::Role::User);
    let ran = &back.turns[0].steps()[0];
    assert_eq!((ran.tool.as_str(), ran.summary.as_str(), ran.failed), ("bash", "git status", true));
    let trajectory: Value = serde_json::from_str(&atif(&reviewed, &HEAD).text).unwrap();
    assert_eq!(trajectory["steps"][0]["extra"]["ran"][0]["summary"], "git status");
    assert!(sts(&reviewed, &HEAD).lost.iter().any(|loss| loss.what == "command that the person ran"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_pi_is_given_comes_back(
        turns in prop::collection::vec(("[a-zA-Z0-9 .,\n🧭é]{1,60}", prop::collection::vec(("[AB]", "[a-z ]{1,20}", any::<bool>()), 0..4)), 1..8)
    ) {
        let mut role = Role::Assistant;
        let turns: Vec<_> = turns.into_iter().filter(|(text, _)| !text.trim().is_empty()).enumerate().map(|(n, (text, steps))| {
            role = if role == Role::User { Role::Assistant } else { Role::User };
            let mut turn = turn(n + 1, role, text.trim());
            if role == Role::Assistant {
                turn.steps = steps.into_iter().filter(|s| !s.1.trim().is_empty()).map(|(tool, what, failed)| {
                    step(&tool, &what.split_whitespace().collect::<Vec<_>>().join(" "), failed)
                }).collect();
            }
            turn
        }).collect();
        prop_assume!(!turns.is_empty());
        let draft = Draft { title: None, description: None, created_at: start(), turns };
        let key = FingerprintKey::from_bytes([7; 32]);
        let reviewed = seal(&draft, &Engine::builtin().unwrap(), &Decisions::default(), &key);
        prop_assume!(reviewed.is_ok());
        let back = import(&pi(&reviewed.unwrap(), &HEAD).text);
        prop_assert_eq!(back.turns.len(), draft.turns.len());
        for (turn, original) in back.turns.iter().zip(&draft.turns) {
            prop_assert_eq!(&turn.text, &original.text);
            prop_assert_eq!((turn.created_at, &turn.model), (original.created_at, &original.model));
            let steps: Vec<_> = turn.steps().iter().map(|s| step(&s.tool, &s.summary, s.failed)).collect();
            prop_assert_eq!(&steps, &original.steps);
        }
    }
}
