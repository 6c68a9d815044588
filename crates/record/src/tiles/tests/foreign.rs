//! What others wrote.

use onrecord_transcript::Part;
use serde_json::json;

use super::*;

#[allow(clippy::needless_pass_by_value, reason = "made where they are used")]
fn snapshot_of(turns: Value) -> Value {
    json!({"$type": SNAPSHOT, "name": "", "sessionId": "5f0c", "createdAt": "2026-03-04T06:00:00Z", "turns": turns})
}

#[allow(clippy::needless_pass_by_value, reason = "made where they are used")]
fn message(role: &str, content: Value, timestamp: i64) -> Value {
    json!({"role": role, "content": content, "timestamp": timestamp})
}

#[test]
fn a_record_of_the_app_is_read_with_all_its_parts() {
    let call = |name: &str, arguments: &str| json!({"type": "toolCall", "name": name, "arguments": arguments});
    let result = |name: &str, text: &str| json!({"role": "toolResult", "toolName": name, "content": [item("text", "text", text)], "timestamp": 1_772_600_769_000_i64});
    let (_, reading) = open(snapshot_of(json!([{
        "api": null, "provider": "tiles", "model": "Qwen3:Q4_K_M",
        "messages": [
            message("system", json!([item("text", "text", "You are helpful.")]), 1_772_600_766_000),
            message("user", json!([item("text", "text", "List the files"), {"type": "image"}]), 1_772_600_767_089),
            message("assistant", json!([
                item("thinking", "thinking", "A list, then."),
                call("bash", "{\"command\":\"ls -la\"}"), call("read", "{\"path\":\"a.txt\"}"), call("bash", "not json"),
            ]), 1_772_600_768_000),
            result("read", "the file"), result("bash", "the list"), result("other", "nobody's"),
            message("assistant", json!([item("text", "text", "There are two.")]), 1_772_600_770_000),
            message("narrator", json!([]), 0),
            message("assistant", json!([{"type": "hologram", "x": 1}, item("text", "text", "Done.")]), 1_772_600_771_000),
        ]
    }])));
    let conversation = &reading.conversation;
    assert_eq!(conversation.title, None);
    assert_eq!(conversation.created_at.to_string(), "2026-03-04T05:06:07.089Z");
    let [asked, answered] = conversation.turns.as_slice() else { panic!("{conversation:?}") };
    assert_eq!(asked.text, "List the files");
    assert!(matches!(asked.parts[1], Part::Image { .. }));
    assert_eq!(answered.text, "There are two.\n\nDone.");
    assert_eq!(answered.model.as_deref(), Some("tiles/Qwen3:Q4_K_M"));
    let calls: Vec<_> = (answered.parts.iter())
        .filter_map(|part| match part {
            Part::ToolCall { name, input, output, .. } => Some((name.as_str(), input, output.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("bash", &json!({"command": "ls -la"}), Some("the list")),
            ("read", &json!({"path": "a.txt"}), Some("the file")),
            ("bash", &json!("not json"), None),
        ]
    );
    assert_eq!(answered.steps()[0].summary, "ls -la");
    assert!(matches!(&answered.parts[0], Part::Reasoning { text } if text == "A list, then."));
    let codes: Vec<_> = conversation.warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, ["unknown-part", "unknown-role", "system-prompt"]);
}

#[test]
fn a_resumed_chat_and_a_skill_say_what_the_person_said() {
    let resumed = "user_chat_history:\nUser: old\nAssistant: old answer.\nUse the history as context.\n[Followup question] - and now?";
    let skill = "<skill name=\"plan\" location=\"/x\">\nA long text\n</skill>\n\nfor Friday";
    let (_, reading) = open(snapshot_of(json!([
        {"provider": "tiles", "model": "m", "messages": [message("user", json!([item("text", "text", resumed)]), 1)]},
        {"provider": "tiles", "model": "m", "messages": [message("user", json!([item("text", "text", skill)]), 2)]},
    ])));
    let texts: Vec<_> = reading.conversation.turns.iter().map(|t| t.text.as_str()).collect();
    assert_eq!(texts, ["and now?", "for Friday"]);
}

#[test]
fn nulls_are_read_and_never_written() {
    let value = snapshot_of(json!([
        {"api": null, "provider": null, "model": "m", "messages": [message("assistant", json!([item("text", "text", "Hi")]), 1)]},
        {"api": "open-responses", "provider": "tiles", "model": null, "messages": []},
    ]));
    let (snapshot, reading) = open(value);
    assert_eq!(reading.conversation.turns[0].model.as_deref(), Some("unknown/m"));
    let again = reissue(&review(&reading, &Decisions::default()), &snapshot, &reading).unwrap();
    assert_eq!(again["turns"][0].get("api"), None);
    assert_eq!((&again["turns"][0]["provider"], &again["turns"][1]["model"]), (&json!("unknown"), &json!("unknown")));
    assert_eq!(again["turns"][1]["api"], "open-responses");
    assert!(!again.to_string().contains("null"));
}

#[test]
fn seconds_are_not_taken_for_milliseconds() {
    let (_, reading) = open(snapshot_of(json!([{"provider": "p", "model": "m", "messages": [
        message("user", json!([item("text", "text", "in seconds")]), 1_772_600_767),
        {"role": "assistant", "content": "as text", "timestamp": 1_772_600_768_500.25},
        {"role": "user", "content": [item("text", "text", "without")]},
    ]}])));
    let times: Vec<_> = reading.conversation.turns.iter().map(|t| t.created_at.to_string()).collect();
    assert_eq!(times, ["2026-03-04T05:06:07Z", "2026-03-04T05:06:08.5Z", "2026-03-04T05:06:08.5Z"]);
    assert_eq!(reading.conversation.turns[1].text, "as text");
}

#[test]
fn the_older_form_is_read_in_both_its_ways() {
    let contents = json!([
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "**[Reasoning]** Let me think.\n---\n**[Answer]** Because."},
        {"user": "And then?", "assistant": "**[Answer]**Then nothing."},
        {"role": "assistant", "content": "**[Reasoning]** It broke off"},
        {"something": "else"}
    ]);
    let value = json!({"$type": LEGACY, "session_id": "1", "name": "An old one", "contents": contents,
        "created_at": "2025-11-04T05:06:07Z", "models_used": ["Qwen3"]});
    let snapshot = Snapshot::open(LEGACY, value, None).unwrap();
    let conversation = read(&snapshot, "x").conversation;
    assert_eq!(conversation.title.as_deref(), Some("An old one"));
    assert_eq!(conversation.created_at.to_string(), "2025-11-04T05:06:07Z");
    let said: Vec<_> = conversation.turns.iter().map(|t| (t.role, t.text.as_str(), t.model.as_deref())).collect();
    let (user, agent) = (onrecord_transcript::Role::User, onrecord_transcript::Role::Assistant);
    assert_eq!(
        said,
        [
            (user, "Why?", None),
            (agent, "Because.", Some("tiles/Qwen3")),
            (user, "And then?", None),
            (agent, "Then nothing.", Some("tiles/Qwen3")),
        ]
    );
    assert!(matches!(&conversation.turns[1].parts[0], Part::Reasoning { text } if text == "Let me think."));
    let reading = read(&snapshot, "x");
    assert!(reissue(&review(&reading, &Decisions::default()), &snapshot, &reading).is_err());
    assert!(matches!(Snapshot::open(LEGACY, json!({}), None), Err(Error::NotASnapshot { .. })));
}

#[test]
fn a_word_covered_and_a_turn_held_back_are_so_when_it_is_written_again() {
    let (snapshot, reading) = open(snapshot_of(json!([
        {"provider": "tiles", "model": "m", "mood": "for Acme Industries", "messages": [
            message("user", json!([item("text", "text", "For Acme Industries: why?")]), 1_772_600_767_089),
            message("assistant", json!([
                {"type": "toolCall", "name": "bash", "arguments": "{\"command\":\"grep \\\"Acme Industries\\\" x\"}"},
            ]), 1_772_600_768_000),
            json!({"role": "toolResult", "toolName": "bash", "content": [item("text", "text", "Acme Industries")]}),
        ]},
        {"api": "open-responses", "provider": "tiles", "model": "secret-model", "messages": [
            message("user", json!([item("text", "text", "Go on")]), 1_772_600_769_000),
            json!({"role": "assistant", "content": [item("text", "text", "The answer nobody sees")],
                   "timestamp": 1_772_600_770_000_i64, "stopReason": "stop", "usage": {"input": 1}}),
            json!({"role": "toolResult", "toolName": "bash", "content": []}),
        ]}
    ])));
    let mut decisions = Decisions::default();
    decisions.cover_word(&FingerprintKey::from_bytes([7; 32]), "Acme Industries").unwrap();
    decisions.withhold(&reading.conversation.turns[3].id);
    let again = reissue(&review(&reading, &decisions), &snapshot, &reading).unwrap();
    let text = again.to_string();
    assert!(!text.contains("Acme") && !text.contains("nobody sees") && !text.contains("secret-model"), "{text}");
    assert_eq!(again["turns"][0]["mood"], "for ███");
    let arguments = again["turns"][0]["messages"][1]["content"][0]["arguments"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(arguments).unwrap(), json!({"command": "grep \"███\" x"}));
    let last = &again["turns"][1];
    assert_eq!(last["messages"].as_array().unwrap().len(), 2);
    assert_eq!(
        last["messages"][1],
        json!({"role": "assistant", "content": [{"type": "withheld"}], "timestamp": 1_772_600_770_000_i64})
    );
    assert_eq!((&last["provider"], last.get("api")), (&json!("unknown"), None));
    // And read again it is the same conversation, with the hole.
    let (_, reading) = open(again);
    assert_eq!(reading.conversation.turns.len(), 4);
    assert_eq!(reading.held.len(), 1);
}

#[test]
fn nothing_foreign_breaks_it() {
    for value in [
        json!({"turns": []}),
        json!({"turns": [null, 3, "x", {"messages": 3}, {"messages": [null, [], {"role": 3}, {"role": "user"}]}]}),
        json!({"turns": [{"messages": [{"role": "toolResult", "content": [null]}, {"role": "assistant", "content": {}}]}]}),
        json!({"name": 3, "createdAt": "never", "turns": [{"messages": [{"role": "user", "content": [{"type": "text"}], "timestamp": 9.0e300}]}]}),
        json!({"turns": [{"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}], "timestamp": i64::MAX}]}]}),
    ] {
        let (snapshot, reading) = open(value);
        let reviewed = review(&reading, &Decisions::default());
        reissue(&reviewed, &snapshot, &reading).unwrap();
    }
    for value in [json!(null), json!([]), json!({}), json!({"turns": 3})] {
        assert!(Snapshot::open(SNAPSHOT, value, None).is_err());
    }
}
