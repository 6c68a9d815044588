use onrecord_lexicon::Catalog;
use serde_json::json;

use super::*;

fn record(role: &str, minute: u32, parent: Option<&str>, parts: &Value) -> Value {
    let mut value = json!({
        "$type": MESSAGE, "role": role, "createdAt": format!("2026-03-04T05:{minute:02}:00.000Z"),
        "content": {"$type": "network.sharedcomputer.chat.defs#plainContent", "parts": parts},
    });
    if let Some(parent) = parent {
        value["parent"] = parent.into();
    }
    if role == "assistant" {
        value["model"] = json!({"provider": "anthropic", "id": "claude-opus-4-5"});
    }
    value
}

#[allow(clippy::needless_pass_by_value, reason = "made where they are used")]
fn part(kind: &str, fields: Value) -> Value {
    let mut part = json!({"$type": format!("network.sharedcomputer.chat.defs#{kind}")});
    part.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    part
}

fn said(words: &str) -> Value {
    json!([part("textPart", json!({"text": words}))])
}

fn messages(records: Vec<(&str, Value)>) -> Vec<(Rkey, Value)> {
    records.into_iter().map(|(key, value)| (Rkey::parse(key).unwrap(), value)).collect()
}

fn texts(reading: &Reading) -> Vec<&str> {
    reading.conversation.turns.iter().map(|turn| turn.text.as_str()).collect()
}

fn key(key: &str) -> Rkey {
    Rkey::parse(key).unwrap()
}

#[test]
fn attempts_are_ordered_by_their_number() {
    let mut all = vec![("3k", record("user", 1, None, &said("Why?")))];
    let keys: Vec<String> = (0..12).map(|n| format!("3k.r{n}")).collect();
    // By letters .r9 is the last; and their times run backwards.
    for (n, key) in (0..).zip(&keys) {
        all.push((key, record("assistant", 20 - n, Some("3k"), &said(&format!("attempt {n}")))));
    }
    let all = messages(all);
    for (_, value) in &all {
        assert_eq!(Catalog::bundled().validate_record(MESSAGE, value, None).unwrap(), []);
    }
    let reading = read(&all, &key("3k"), "x").unwrap();
    assert_eq!(texts(&reading), ["Why?", "attempt 11"]);
    assert_eq!(reading.conversation.turns[1].model.as_deref(), Some("anthropic/claude-opus-4-5"));
    assert!(reading.conversation.warnings.iter().any(|w| w.code == "other-attempts" && w.message.contains("12")));
    // One that is named is the one that is meant.
    assert_eq!(texts(&read(&all, &key("3k.r2"), "x").unwrap()), ["Why?", "attempt 2"]);
    assert!(read(&all, &key("3zzz"), "x").is_none());
}

#[test]
fn the_branch_goes_from_the_first_message_through_the_one_asked_for_to_the_last() {
    let all = messages(vec![
        ("3a", record("user", 1, None, &said("one"))),
        ("3a.r0", record("assistant", 2, Some("3a"), &said("two"))),
        ("3b", record("user", 3, Some("3a.r0"), &said("three"))),
        // The same prompt, edited.
        ("3c", record("user", 4, Some("3a.r0"), &said("three again"))),
        ("3c.r0", record("assistant", 5, None, &said("four"))),
        ("3x", record("user", 6, None, &said("another conversation"))),
        // Each other's parent.
        ("3y", record("user", 7, Some("3z"), &said("y"))),
        ("3z", record("user", 8, Some("3y"), &said("z"))),
        ("3s", record("user", 9, Some("3s"), &said("its own"))),
        ("3o", record("user", 10, Some("3gone"), &said("an orphan"))),
    ]);
    assert_eq!(texts(&read(&all, &key("3a.r0"), "x").unwrap()), ["one", "two", "three again", "four"]);
    assert_eq!(texts(&read(&all, &key("3b"), "x").unwrap()), ["one", "two", "three"]);
    assert_eq!(texts(&read(&all, &key("3x"), "x").unwrap()), ["another conversation"]);
    assert_eq!(read(&all, &key("3y"), "x").unwrap().conversation.turns.len(), 2);
    assert_eq!(texts(&read(&all, &key("3s"), "x").unwrap()), ["its own"]);
    assert_eq!(texts(&read(&all, &key("3o"), "x").unwrap()), ["an orphan"]);
}

#[test]
fn every_part_is_shown_or_kept() {
    let parts = json!([
        part("reasoningPart", json!({"text": "A list, then."})),
        part("textPart", json!({"text": "Here it is."})),
        part("toolCallPart", json!({"callId": "a", "tool": "bash", "input": "{\"command\":\"ls\"}"})),
        part("toolCallPart", json!({"callId": "b", "tool": "bash", "input": "not json"})),
        part("toolResultPart", json!({"callId": "b", "output": "boom", "isError": true})),
        part("toolResultPart", json!({"callId": "nobody's", "output": "x"})),
        part("sourcePart", json!({"url": "https://example.com/a", "title": "A page"})),
        part("imagePart", json!({"image": {"$type": "blob", "mimeType": "image/png", "size": 1234}})),
        part("hologramPart", json!({"depth": 3})),
    ]);
    let all = messages(vec![("3k", record("assistant", 1, None, &parts))]);
    let reading = read(&all, &key("3k"), "x").unwrap();
    let turn = &reading.conversation.turns[0];
    assert_eq!(turn.text, "Here it is.\n\nA page: https://example.com/a");
    let steps: Vec<_> = turn.steps().iter().map(|s| (s.summary.as_str(), s.failed)).collect();
    assert_eq!(steps[0], ("ls", false));
    assert!(steps[1].1);
    assert!(matches!(&turn.parts[0], Part::Reasoning { text } if text == "A list, then."));
    assert!(turn.parts.iter().any(|p| matches!(p, Part::Image { bytes: 1234, .. })));
    let unknown: Vec<_> = reading.unknown.iter().map(|(_, part)| part["$type"].as_str().unwrap()).collect();
    assert_eq!(
        unknown,
        ["network.sharedcomputer.chat.defs#toolResultPart", "network.sharedcomputer.chat.defs#hologramPart"]
    );
    assert_eq!(reading.unknown[1].1["depth"], 3);
}

#[test]
fn what_is_encrypted_or_unfinished_is_said_to_be() {
    let mut shut = record("assistant", 2, Some("3k"), &json!([]));
    shut["content"] = json!({"$type": "network.sharedcomputer.chat.defs#encryptedContent", "scheme": "x", "keyId": "k",
        "nonce": {"$bytes": "AAAA"}, "ciphertext": {"$bytes": "AAAA"}});
    let mut broken = record("assistant", 4, Some("3l"), &said("It br"));
    broken["status"] = "cancelled".into();
    let all = messages(vec![
        ("3k", record("user", 1, None, &said("Why?"))),
        ("3k.r0", shut),
        ("3l", record("user", 3, Some("3k.r0"), &said("And?"))),
        ("3l.r0", broken),
    ]);
    let reading = read(&all, &key("3k"), "x").unwrap();
    assert_eq!(texts(&reading), ["Why?", "", "And?", "It br"]);
    assert_eq!(reading.shut.iter().collect::<Vec<_>>(), ["3k.r0"]);
    let codes: Vec<_> = reading.conversation.warnings.iter().map(|w| (w.code, w.message.as_str())).collect();
    assert_eq!(
        codes,
        [("encrypted", "turn 2 is encrypted and cannot be read"), ("unfinished", "turn 4 was broken off")]
    );
}

#[test]
fn nothing_foreign_breaks_it() {
    for value in [json!(null), json!({}), json!({"content": 3}), json!({"content": {"parts": [null, 3, {"$type": 3}]}})]
    {
        let all = messages(vec![("3k.r99999999999999999999999", value)]);
        assert_eq!(read(&all, &all[0].0.clone(), "x").unwrap().conversation.turns.len(), 1);
    }
}
