//! Laws.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

/// Some field that no version knows, deep inside too.
fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z ]{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..3).prop_map(|m| Value::from(Map::from_iter(m))),
        ]
    });
    prop::collection::btree_map("x[a-zA-Z]{1,8}", value, 0..3).prop_map(Map::from_iter)
}

fn with(mut value: Value, extra: Map<String, Value>) -> Value {
    value.as_object_mut().unwrap().extend(extra);
    value
}

fn any_item() -> impl Strategy<Value = Value> {
    let words = r"(\PC|\n){0,40}";
    let known = prop_oneof![
        words.prop_map(|text| item("text", "text", &text)),
        words.prop_map(|text| item("thinking", "thinking", &text)),
        ("[a-z]{1,8}", "[a-z ]{0,12}").prop_map(|(name, say)| json!({
            "type": "toolCall", "name": name, "arguments": json!({"command": say}).to_string()
        })),
        Just(json!({"type": "image"})),
        Just(json!({"type": "withheld"})),
        "[a-z]{1,8}".prop_map(|kind| json!({"type": kind})),
    ];
    (known, unknown()).prop_map(|(item, extra)| with(item, extra))
}

fn any_message() -> impl Strategy<Value = Value> {
    let role = prop_oneof![Just("user"), Just("assistant"), Just("toolResult"), Just("system"), Just("other")];
    (role, prop::collection::vec(any_item(), 0..4), any::<i32>(), unknown()).prop_map(|(role, content, time, extra)| {
        let message = json!({"role": role, "content": content, "timestamp": 1_772_600_767_089 + i64::from(time), "toolName": "bash"});
        with(message, extra)
    })
}

fn any_snapshot() -> impl Strategy<Value = Value> {
    let turn = ("[a-z]{1,8}", "[a-zA-Z0-9:]{1,12}", prop::collection::vec(any_message(), 0..5), unknown()).prop_map(
        |(provider, model, messages, extra)| {
            with(json!({"provider": provider, "model": model, "messages": messages}), extra)
        },
    );
    (r"\PC{0,20}", prop::collection::vec(turn, 0..4), unknown()).prop_map(|(name, turns, extra)| {
        let record = json!({"$type": SNAPSHOT, "name": name, "sessionId": "s", "createdAt": "2026-03-04T05:06:07Z", "turns": turns});
        with(record, extra)
    })
}

fn any_turn() -> impl Strategy<Value = (bool, String, Vec<(String, bool)>, bool)> {
    // Few names, so that calls of one tool stand side by side.
    let step = ("[AB]", any::<bool>());
    (any::<bool>(), "[a-zA-Z0-9 .,\n🧭é]{0,80}", prop::collection::vec(step, 0..4), prop::bool::weighted(0.3))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_snapshot_read_and_written_again_is_itself_unknown_fields_and_all(value in any_snapshot()) {
        let (snapshot, reading) = open(value.clone());
        let draft = project_with(&reading.conversation, Reasoning::Kept).0;
        let key = FingerprintKey::from_bytes([7; 32]);
        // Whatever chance made a finding of is for the tests of redaction.
        let sealed = seal(&draft, &Engine::builtin().unwrap(), &Decisions::default(), &key);
        prop_assume!(sealed.is_ok());
        prop_assert_eq!(reissue(&sealed.unwrap(), &snapshot, &reading).unwrap(), value);
    }

    #[test]
    fn what_is_written_is_read_back_with_its_holes(turns in prop::collection::vec(any_turn(), 1..10)) {
        let mut decisions = Decisions::default();
        let mut role = Role::Assistant;
        let turns: Vec<_> = turns.into_iter().enumerate().map(|(n, (_, text, steps, held))| {
            role = if role == Role::User { Role::Assistant } else { Role::User };
            let mut turn = turn(n + 1, role, text.trim());
            if held {
                decisions.withhold(&turn.id);
            }
            if role == Role::Assistant {
                turn.steps = steps.into_iter().map(|(tool, failed)| step(&tool, "does it", failed)).collect();
            }
            turn
        }).collect();
        let draft = draft(turns);
        let key = FingerprintKey::from_bytes([7; 32]);
        let sealed = seal(&draft, &Engine::builtin().unwrap(), &decisions, &key);
        prop_assume!(sealed.is_ok());
        let encoded = encode(&sealed.unwrap(), uri(Family::Tiles)).unwrap();
        let (_, reading) = open(value(&encoded));
        prop_assert_eq!(reading.conversation.turns.len(), draft.turns.len());
        for (turn, original) in reading.conversation.turns.iter().zip(&draft.turns) {
            let held = decisions.is_withheld(&original.id);
            prop_assert_eq!(reading.held.contains(&turn.id), held);
            prop_assert_eq!(turn.created_at, original.created_at);
            if !held {
                prop_assert_eq!(&turn.text, &original.text);
                prop_assert_eq!(&turn.model, &original.model);
                let steps: Vec<_> = turn.steps().iter().map(|s| step(&s.tool, &s.summary, s.failed)).collect();
                prop_assert_eq!(&steps, &original.steps);
            }
        }
    }

    #[test]
    fn every_secret_opens_what_it_sealed_and_comes_back_from_its_link(
        key in any::<[u8; 32]>(), nonce in any::<[u8; 24]>(), clear in prop::collection::vec(any::<u8>(), 0..200)
    ) {
        let secret = LinkSecret::new(key, nonce);
        let sealed = secret.seal(&clear).unwrap();
        let back = LinkSecret::parse(&secret.fragment()).unwrap();
        let opened = back.open(&sealed).unwrap();
        prop_assert_eq!(opened.as_slice(), clear.as_slice());
    }
}
