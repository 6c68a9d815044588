//! What is written, and read back.

use onrecord_lexicon::{Catalog, data};
use serde_json::json;

use super::*;

fn talk() -> Draft {
    let mut agent = turn(2, Role::Assistant, "Because the map was not flattened.");
    agent.steps =
        vec![step("Bash", "Run the tests", true), step("Read", "src/lib.rs", false), step("TodoWrite", "", false)];
    draft(vec![turn(1, Role::User, "Why?"), agent, turn(3, Role::User, "I see."), turn(4, Role::Assistant, "Good.")])
}

#[test]
fn a_conversation_is_one_record_that_its_lexicon_allows() {
    let encoded = encode(&sealed(&talk(), &Decisions::default()), uri(Family::Tiles)).unwrap();
    let value = value(&encoded);
    let violations = Catalog::bundled().validate_record(SNAPSHOT, &value, Some(encoded.record.rkey.as_str())).unwrap();
    assert_eq!(violations, []);
    assert_eq!(data::record_cid(&value).unwrap().1, encoded.record.cid);
    assert_eq!(value["name"], "Why the parser drops a field");
    assert_eq!(value["createdAt"], "2026-03-04T05:06:07.089Z");
    // Not what the transcript is called.
    assert_eq!(value["sessionId"], encoded.record.rkey.as_str());
    assert_eq!(value["turns"].as_array().unwrap().len(), 2);
    let first = &value["turns"][0];
    assert_eq!((&first["provider"], &first["model"]), (&json!("anthropic"), &json!("claude-opus-4-5")));
    assert!(first.get("api").is_none());
    assert_eq!(first["messages"][0]["content"], json!([{"type": "text", "text": "Why?"}]));
    assert_eq!(first["messages"][0]["timestamp"], start().as_millisecond());
    let answer = &first["messages"][1]["content"];
    assert_eq!(
        answer[1],
        json!({"type": "toolCall", "id": "call-1", "name": "Bash", "arguments": "{\"summary\":\"Run the tests\"}"})
    );
    assert_eq!(answer[3]["arguments"], "{}");
    // A failed call says so, and nothing of what it gave back.
    assert_eq!(first["messages"].as_array().unwrap().len(), 3);
    assert_eq!(first["messages"][2]["isError"], true);
    assert_eq!(first["messages"][2]["toolCallId"], "call-1");
    assert_eq!(first["messages"][2]["content"], json!([{"type": "text", "text": "failed"}]));
}

#[test]
fn a_record_read_back_says_the_same() {
    let mut decisions = Decisions::default();
    decisions.withhold("turn-3");
    let draft = talk();
    let encoded = encode(&sealed(&draft, &decisions), uri(Family::Tiles)).unwrap();
    let (_, reading) = open(value(&encoded));
    let back = &reading.conversation;
    assert_eq!(back.title, draft.title);
    assert_eq!(back.created_at, draft.created_at);
    assert_eq!(back.turns.len(), 4);
    for (turn, original) in back.turns.iter().zip(&draft.turns) {
        let held = original.id == "turn-3";
        assert_eq!(reading.held.contains(&turn.id), held);
        assert_eq!(turn.text, if held { "" } else { original.text.as_str() });
        assert_eq!((turn.index, turn.created_at, &turn.model), (original.index, original.created_at, &original.model));
        let steps: Vec<_> = turn.steps().iter().map(|s| step(&s.tool, &s.summary, s.failed)).collect();
        assert_eq!(steps, original.steps);
    }
    assert_eq!(back.warnings.len(), 1);
}

// Invariant 7.
#[test]
fn a_turn_held_back_is_a_hole_and_no_empty_text() {
    let mut decisions = Decisions::default();
    decisions.withhold("turn-2");
    decisions.withhold("turn-3");
    let value = value(&encode(&sealed(&talk(), &decisions), uri(Family::Tiles)).unwrap());
    let hole = json!([{"type": "withheld"}]);
    let first = &value["turns"][0];
    assert_eq!(first["messages"].as_array().unwrap().len(), 2);
    assert_eq!(first["messages"][1]["content"], hole);
    let mut fields: Vec<_> = first["messages"][1].as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["content", "role", "timestamp"]);
    // And nobody is told which model it was.
    assert_eq!((&first["provider"], &first["model"]), (&json!("unknown"), &json!("unknown")));
    assert_eq!(value["turns"][1]["messages"][0]["content"], hole);
    assert!(!value.to_string().contains("flattened"));
}

#[test]
fn a_model_that_changes_begins_a_turn_of_tiles() {
    let mut other = turn(3, Role::Assistant, "From another one.");
    other.model = Some("openrouter/qwen/qwen3".to_owned());
    let mut nameless = turn(5, Role::Assistant, "From nobody knows whom.");
    nameless.model = None;
    let turns = vec![
        turn(1, Role::User, "Why?"),
        turn(2, Role::Assistant, "So."),
        other,
        turn(4, Role::User, "And?"),
        nameless,
    ];
    let encoded = encode(&sealed(&draft(turns), &Decisions::default()), uri(Family::Tiles)).unwrap();
    let value = value(&encoded);
    let models: Vec<_> = value["turns"].as_array().unwrap().iter().map(|t| (&t["provider"], &t["model"])).collect();
    assert_eq!(
        models,
        [
            (&json!("anthropic"), &json!("claude-opus-4-5")),
            (&json!("openrouter"), &json!("qwen/qwen3")),
            (&json!("unknown"), &json!("unknown"))
        ]
    );
    assert!(encoded.lost.iter().any(|loss| loss.what.starts_with("name of a model")));
    let (_, reading) = open(value);
    let last = reading.conversation.turns.last().unwrap();
    assert_eq!(last.model, None);
}

#[test]
fn reasoning_goes_along_where_it_was_sealed() {
    let mut talk = talk();
    talk.turns[1].reasoning = vec!["First the map.".to_owned(), "Then the field.".to_owned()];
    let value = value(&encode(&sealed(&talk, &Decisions::default()), uri(Family::Tiles)).unwrap());
    let answer = &value["turns"][0]["messages"][1]["content"];
    assert_eq!(answer[0], json!({"type": "thinking", "thinking": "First the map."}));
    assert_eq!(answer[2]["type"], "text");
}

#[test]
fn what_is_covered_is_covered_in_reasoning_too() {
    let mut talk = talk();
    talk.turns[1].reasoning = vec!["Acme Industries would want the map.".to_owned()];
    talk.turns[0].text = "Why does Acme Industries ask?".to_owned();
    let mut decisions = Decisions::default();
    decisions.cover_word(&FingerprintKey::from_bytes([7; 32]), "Acme Industries").unwrap();
    let reviewed = sealed(&talk, &decisions);
    let value = value(&encode(&reviewed, uri(Family::Tiles)).unwrap());
    assert_eq!(value["turns"][0]["messages"][1]["content"][0]["thinking"], "███ would want the map.");
    assert!(!value.to_string().contains("Acme"));
    reviewed.gate(value.to_string().as_bytes()).unwrap();
}

#[test]
fn what_is_left_out_is_said() {
    let mut talk = talk();
    talk.description = Some("For the record".to_owned());
    let encoded = encode(&sealed(&talk, &Decisions::default()), uri(Family::Tiles)).unwrap();
    let lost: Vec<_> = encoded.lost.iter().map(|l| (l.what, l.count)).collect();
    assert_eq!(lost, [("description", 1), ("tool arguments (one line on each call is kept)", 3)]);
}

#[test]
fn a_conversation_that_no_server_takes_is_refused_with_what_to_do() {
    let long = turn(1, Role::User, &"A word and another. ".repeat(60_000));
    let Err(error) = encode(&sealed(&draft(vec![long]), &Decisions::default()), uri(Family::Tiles)) else { panic!() };
    let text = error.to_string();
    assert!(matches!(error, Error::TooLarge { .. }) && text.contains("click.aligned"), "{text}");
    // Encrypted, a third less fits.
    let long = turn(1, Role::User, &"A word and another. ".repeat(40_000));
    let reviewed = sealed(&draft(vec![long]), &Decisions::default());
    assert!(encode(&reviewed, uri(Family::Tiles)).is_ok());
    let secret = LinkSecret::new([1; 32], [2; 24]);
    assert!(matches!(encode_private(&reviewed, uri(Family::TilesPrivate), &secret), Err(Error::TooLarge { .. })));
}

// Invariant 6.
#[test]
fn the_key_is_the_same_in_every_run_and_another_in_every_family() {
    assert_eq!(uri(Family::Tiles), uri(Family::Tiles));
    assert_ne!(uri(Family::Tiles), uri(Family::TilesPrivate));
    let known = uri(Family::Tiles).rkey().unwrap().parse().unwrap();
    let later = now().checked_add(1.hour()).unwrap();
    let again = record_uri(&repo(), Family::Tiles, "renamed", later, Some(known), later, |_| false).unwrap();
    assert_eq!(again, uri(Family::Tiles));
    let own = uri(Family::Tiles);
    let beside =
        record_uri(&repo(), Family::Tiles, SOURCE, start(), None, now(), |tid| own.rkey() == Some(tid.as_str()));
    assert_ne!(beside.unwrap(), own);
}
