use serde_json::{Value, json};

use super::*;

fn record(nsid: &str, description: &str, properties: &Value) -> Lexicon {
    let document = json!({"lexicon": 1, "id": nsid, "defs": {"main": {"type": "record", "description": description, "key": "tid",
        "record": {"type": "object", "properties": properties}}}});
    Lexicon::read(nsid, &document).unwrap()
}

fn names(found: &[Match]) -> Vec<&str> {
    found.iter().map(|m| m.nsid.as_str()).collect()
}

fn index() -> (Vec<Lexicon>, Similar) {
    let text = json!({"text": {"type": "string"}});
    let lexicons = vec![
        record("com.example.a.utterance", "Something an assistant said in a dialogue.", &text),
        record("com.example.b.message", "One message of a conversation.", &text),
        record(
            "com.example.c.recipe",
            "How to cook a dish.",
            &json!({"ingredients": {"type": "array", "items": {"type": "string"}}}),
        ),
    ];
    let index = Similar::new(&lexicons);
    (lexicons, index)
}

#[test]
fn words_that_stand_for_the_same_are_found_and_named() {
    let (_, index) = index();
    let found = index.to_nsid("com.example.b.message", 5).unwrap();
    assert_eq!(found[0].nsid, "com.example.a.utterance");
    let meaning = found[0].why.iter().find(|reason| reason.kind == Shared::Meaning).unwrap();
    assert!(meaning.shared.contains(&"conversation".to_owned()), "{meaning:?}");
    assert!(!names(&found).contains(&"com.example.b.message"));
}

#[test]
fn what_is_unknown_is_not_found() {
    let (_, index) = index();
    assert_eq!(index.to_nsid("com.example.d.other", 5), None);
    assert_eq!(index.to_sentence("zzz qqq", 5), []);
    assert_eq!(index.to_sentence("", 5), []);
    let empty = Similar::new([]);
    assert!(empty.is_empty());
    assert_eq!(empty.to_sentence("message", 5), []);
}

#[test]
fn no_more_is_found_than_was_asked_for() {
    let (_, index) = index();
    assert_eq!(index.to_sentence("cook a dish", 1).len(), 1);
    assert_eq!(index.to_sentence("cook a dish", 0), []);
    assert_eq!(index.to_sentence("cook a dish", 1)[0].nsid, "com.example.c.recipe");
}

#[test]
fn the_same_twice_counts_once_and_the_order_does_not_matter() {
    let (lexicons, index) = index();
    let again = Similar::new(lexicons.iter().rev().chain(&lexicons));
    assert_eq!(again.len(), 3);
    assert_eq!(
        names(&again.to_sentence("message in a dialogue", 3)),
        names(&index.to_sentence("message in a dialogue", 3))
    );
}

#[test]
fn a_property_is_shared_if_its_type_is_the_same() {
    let a = record(
        "com.example.a.note",
        "x",
        &json!({"createdAt": {"type": "string", "format": "datetime"}, "n": {"type": "integer"}}),
    );
    let b = record(
        "org.example.b.memo",
        "y",
        &json!({"createdAt": {"type": "string", "format": "datetime"}, "n": {"type": "string"}}),
    );
    let index = Similar::new([&a, &b]);
    let found = index.to_nsid("com.example.a.note", 1).unwrap();
    let properties = found[0].why.iter().find(|reason| reason.kind == Shared::Properties).unwrap();
    assert_eq!(properties.shared, ["createdAt (datetime)"]);
}

#[test]
fn a_definition_that_both_refer_to_is_a_reason() {
    let refs = json!({"subject": {"type": "ref", "ref": "com.atproto.repo.strongRef"}});
    let (a, b) = (record("com.example.a.like", "x", &refs), record("org.example.b.boost", "y", &refs));
    let index = Similar::new([&a, &b]);
    let found = index.to_nsid("com.example.a.like", 1).unwrap();
    let refs = found[0].why.iter().find(|reason| reason.kind == Shared::Refs).unwrap();
    assert_eq!(refs.shared, ["com.atproto.repo.strongRef"]);
    assert_eq!(refs.to_string(), "same references: com.atproto.repo.strongRef");
}
