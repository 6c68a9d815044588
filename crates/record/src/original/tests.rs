use onrecord_lexicon::{AtUri, Catalog, Did};
use onrecord_redact::{Decisions, Engine, FingerprintKey, Reviewed, seal};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::{Reasoning, project_with};

const SESSION: &str = "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/click.aligned.chat.session/3mf2k5aaaaa22";

fn key() -> FingerprintKey {
    FingerprintKey::from_bytes([7; 32])
}

fn at(uri: &str, value: Value) -> RecordAt {
    RecordAt::new(AtUri::parse(uri).unwrap(), value).unwrap()
}

fn message(n: usize, value: Value) -> RecordAt {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
    let uri = format!(
        "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/click.aligned.chat.message/3mf2k5b{}{}2222",
        letter(n / 26),
        letter(n)
    );
    at(&uri, value)
}

fn record(role: &str, minute: usize, text: &str) -> Value {
    json!({"$type": "click.aligned.chat.message", "session": SESSION, "role": role, "text": text,
           "createdAt": format!("2026-03-04T05:{minute:02}:00.000Z")})
}

fn aligned(session: Value, messages: Vec<Value>) -> Original {
    let repo = Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap();
    let messages = messages.into_iter().enumerate().map(|(n, value)| message(n, value)).collect();
    Original::aligned(&repo, None, at(SESSION, session), messages).unwrap().0
}

fn head(title: &str) -> Value {
    json!({"$type": "click.aligned.chat.session", "createdAt": "2026-03-04T05:00:00.000Z", "title": title, "mood": {"a": [1]}})
}

fn review(original: &Original, mut decisions: Decisions) -> Option<Reviewed> {
    for id in original.held() {
        decisions.withhold(&id);
    }
    let draft = project_with(&original.conversation(), Reasoning::Kept).0;
    seal(&draft, &Engine::builtin().unwrap(), &decisions, &key()).ok()
}

fn document(original: &Original) -> Value {
    let Original::Aligned { records, .. } = original else { panic!() };
    Original::to_document(records)
}

#[test]
fn a_list_of_records_is_read_back() {
    let mut answer = record("assistant", 1, "Because.");
    answer["model"] = "anthropic/claude-opus-4-5".into();
    answer["steps"] = json!([{"tool": "Bash", "failed": true, "seconds": 3}]);
    let original = aligned(head("Why"), vec![record("user", 0, "Why?"), answer]);
    let document = document(&original);
    let back = Original::parse(&document, "x", Catalog::bundled()).unwrap().unwrap();
    let conversation = back.conversation();
    assert_eq!(conversation, original.conversation());
    assert_eq!(conversation.source.id, SESSION);
    assert_eq!(conversation.turns.len(), 2);
    assert!(conversation.turns[1].steps()[0].failed);
    // A single record, of any kind, and what is no record at all.
    let note = json!({"$type": "com.example.note", "text": "A note"});
    let note = Original::parse(&note, "x", Catalog::bundled()).unwrap().unwrap();
    assert_eq!(note.conversation().turns[0].text, "A note");
    assert!(Original::parse(&json!({"a": 1}), "x", Catalog::bundled()).is_none());
    for other in [json!({"records": []}), json!({"records": [3, {"id": 1}]})] {
        assert!(Original::parse(&other, "x", Catalog::bundled()).is_none(), "{other}");
    }
    let note = json!({"uri": "at://did:web:x.example/com.example.note/k", "value": {}});
    for broken in [json!({"records": [note]}), json!({"records": [{"uri": "x", "value": {}}]})] {
        assert!(Original::parse(&broken, "x", Catalog::bundled()).unwrap().is_err(), "{broken}");
    }
}

#[test]
fn what_is_covered_and_held_back_is_so_in_the_records_again() {
    let mut long = record("assistant", 1, "The first half for Acme Industries. ");
    long["aside"] = "Acme Industries again".into();
    let mut messages =
        vec![record("user", 0, "Why?"), long, record("assistant", 1, "The second half."), record("user", 2, "A name")];
    messages
        .push(json!({"$type": "click.aligned.chat.message", "session": SESSION, "role": "assistant", "withheld": true,
        "text": "", "createdAt": "2026-03-04T05:03:00.000Z"}));
    let original = aligned(head("For Acme Industries"), messages);
    assert_eq!(original.conversation().turns.len(), 4);
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "Acme Industries").unwrap();
    decisions.withhold(&original.conversation().turns[2].id);
    let again = original.reissue(&review(&original, decisions).unwrap()).unwrap().unwrap();
    let records = again["records"].as_array().unwrap();
    assert_eq!(records.len(), 6);
    assert_eq!(records[0]["value"]["title"], "For ███");
    assert_eq!(
        (&records[2]["value"]["text"], &records[2]["value"]["aside"]),
        (&json!("The first half for ███. "), &json!("███ again"))
    );
    assert_eq!(
        records[4]["value"],
        json!({"$type": "click.aligned.chat.message", "session": SESSION, "role": "user", "withheld": true, "text": "",
               "createdAt": "2026-03-04T05:02:00.000Z"})
    );
    // Under the same keys, each with the CID of what it is now.
    for (old, new) in document(&original)["records"].as_array().unwrap().iter().zip(records) {
        assert_eq!(old["uri"], new["uri"]);
        assert_eq!(new["cid"], data::record_cid(&new["value"]).unwrap().1.as_str());
    }
    assert!(!again.to_string().contains("Acme"));
    // A turn of several records that is held back is one record.
    let mut decisions = Decisions::default();
    decisions.withhold(&original.conversation().turns[1].id);
    let again = original.reissue(&review(&original, decisions).unwrap()).unwrap().unwrap();
    assert_eq!(again["records"].as_array().unwrap().len(), 5);
    assert!(!again.to_string().contains("half"));
}

fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    let value = prop_oneof![
        any::<bool>().prop_map(Value::from),
        "[a-z ]{0,12}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from)
    ];
    prop::collection::btree_map("x[a-zA-Z]{1,8}", value, 0..3).prop_map(Map::from_iter)
}

fn any_message() -> impl Strategy<Value = Value> {
    let step = ("[A-Z][a-z]{1,8}", prop::option::of("[a-z ]{1,20}"), any::<bool>(), unknown());
    let steps = prop::collection::vec(step, 0..3);
    (any::<bool>(), r"(\PC|\n){0,60}", 0..50_usize, steps, unknown(), 0..4_u8).prop_map(|(user, text, minute, steps, extra, kind)| {
        let mut value = record(if user { "user" } else { "assistant" }, minute, &text);
        if kind == 0 {
            value["withheld"] = true.into();
            value["text"] = "".into();
        } else if kind == 1 {
            // What an encoder of ours never writes.
            value["withheld"] = false.into();
            value["refs"] = json!([{"uri": "at://did:web:x.example/a.b.c/k", "cid": "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a", "why": "x"}]);
        }
        if !user && kind != 0 {
            value["model"] = "anthropic/claude-opus-4-5".into();
            value["steps"] = steps.into_iter().map(|(tool, summary, failed, extra)| {
                let mut step = json!({"tool": tool, "failed": failed});
                if let Some(summary) = summary {
                    step["summary"] = summary.into();
                }
                step.as_object_mut().unwrap().extend(extra);
                step
            }).collect();
        }
        value.as_object_mut().unwrap().extend(extra);
        value
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn records_read_and_written_again_are_themselves_unknown_fields_and_all(
        title in r"\PC{0,20}", messages in prop::collection::vec(any_message(), 1..10)
    ) {
        let original = aligned(head(&title), messages);
        let reviewed = review(&original, Decisions::default());
        // Whatever chance made a finding of is for the tests of redaction.
        prop_assume!(reviewed.is_some());
        prop_assert_eq!(original.reissue(&reviewed.unwrap()).unwrap().unwrap(), document(&original));
    }
}
