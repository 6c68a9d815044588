use jiff::{Timestamp, ToSpan};
use onrecord_lexicon::{AtUri, Catalog, Cid, Did, data};
use onrecord_redact::{Decisions, Draft, DraftStep, DraftTurn, Engine, FingerprintKey, Role, seal};
use proptest::prelude::*;
use serde_json::Value;

use super::{Encoded, KnownKeys, MESSAGE, SESSION, conversation, encode, published, session_uri};
use crate::{About, Existing, StrongRef, TurnAbout, plan};

const SOURCE: &str = "0196c0de-session";

fn start() -> Timestamp {
    "2026-03-04T05:06:07.089Z".parse().unwrap()
}

fn now() -> Timestamp {
    "2026-03-05T00:00:00Z".parse().unwrap()
}

fn repo() -> Did {
    Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap()
}

fn turn(index: usize, role: Role, text: &str) -> DraftTurn {
    DraftTurn {
        id: format!("turn-{index}"),
        index,
        role,
        created_at: start().checked_add(i64::try_from(index - 1).unwrap().minutes()).unwrap(),
        model: (role == Role::Assistant).then(|| "anthropic/claude-opus-4-5".to_owned()),
        text: text.to_owned(),
        reasoning: Vec::new(),
        steps: Vec::new(),
    }
}

fn step(tool: &str, summary: &str, failed: bool) -> DraftStep {
    DraftStep { tool: tool.to_owned(), summary: summary.to_owned(), failed }
}

fn draft(turns: Vec<DraftTurn>) -> Draft {
    Draft { title: Some("Why the parser drops a field".to_owned()), description: None, created_at: start(), turns }
}

fn key() -> FingerprintKey {
    FingerprintKey::from_bytes([7; 32])
}

fn records(draft: &Draft, decisions: &Decisions) -> Encoded {
    with_keys(draft, decisions, &KnownKeys::default())
}

fn with_keys(draft: &Draft, decisions: &Decisions, known: &KnownKeys) -> Encoded {
    let reviewed = seal(draft, &Engine::builtin().unwrap(), decisions, &key()).unwrap();
    let uri = session_uri(&repo(), SOURCE, draft.created_at, known, now(), |_| false).unwrap();
    encode(&reviewed, uri, SOURCE, known, &About::default(), now(), |_| false).unwrap()
}

fn values(encoded: &Encoded) -> Vec<Value> {
    encoded.records.iter().map(|r| serde_json::from_str(r.json.get()).unwrap()).collect()
}

fn keys_of(encoded: &Encoded) -> KnownKeys {
    let mut known = KnownKeys::default();
    for record in &encoded.records {
        let tid = record.rkey.as_str().parse().unwrap();
        match &record.turn {
            None => known.session = Some(tid),
            Some(turn) => {
                known.turns.insert((turn.clone(), record.part), tid);
            }
        }
    }
    known
}

fn existing(encoded: &Encoded) -> Existing {
    encoded.records.iter().map(|r| ((r.collection.to_owned(), r.rkey.clone()), r.cid.clone())).collect()
}

/// Every record is what its lexicon says, under a key that its lexicon allows, with the CID of its own bytes.
fn assert_valid(encoded: &Encoded) {
    for record in &encoded.records {
        let value: Value = serde_json::from_str(record.json.get()).unwrap();
        let violations =
            Catalog::bundled().validate_record(record.collection, &value, Some(record.rkey.as_str())).unwrap();
        assert_eq!(violations, [], "{}", record.json);
        assert_eq!(data::record_cid(&value).unwrap().1, record.cid);
    }
}

#[test]
fn a_conversation_is_one_session_and_a_message_for_every_turn_in_order() {
    let encoded = records(
        &draft(vec![turn(1, Role::User, "Why?"), turn(2, Role::Assistant, "Because."), turn(3, Role::User, "I see.")]),
        &Decisions::default(),
    );
    assert_valid(&encoded);
    let collections: Vec<_> = encoded.records.iter().map(|r| r.collection).collect();
    assert_eq!(collections, [SESSION, MESSAGE, MESSAGE, MESSAGE]);
    assert!(encoded.records[1..].windows(2).all(|w| w[0].rkey.as_str() < w[1].rkey.as_str()));
    let values = values(&encoded);
    assert_eq!(values[0]["title"], "Why the parser drops a field");
    assert_eq!(values[0]["createdAt"], "2026-03-04T05:06:07.089Z");
    assert_eq!(values[2]["text"], "Because.");
    assert_eq!(values[2]["createdAt"], "2026-03-04T05:07:07.089Z");
    for message in &values[1..] {
        assert_eq!(message["session"], encoded.uri.as_str());
    }
}

#[test]
fn what_a_turn_is_about_stands_on_its_first_record_up_to_the_limit_and_on_no_withheld_one() {
    let did = |n: usize| Did::parse(&format!("did:web:n{n}.example.com")).unwrap();
    let reference = |n: usize| StrongRef {
        uri: AtUri::parse(&format!("at://{}/app.bsky.feed.post/3k", did(n))).unwrap(),
        cid: Cid::parse("bafyreib2rxk3rybk3aobmv5cjuql3bm2twh4jo5uxgf5kpqcsgz7soitae").unwrap(),
    };
    let about =
        |count: usize| TurnAbout { refs: (0..count).map(reference).collect(), mentions: (0..count).map(did).collect() };
    let about: About =
        [("turn-1", 2), ("turn-2", 2), ("turn-3", 53)].map(|(id, count)| (id.to_owned(), about(count))).into();
    let mut decisions = Decisions::default();
    decisions.withhold("turn-2");
    let long = "A sentence of some length. ".repeat(4000);
    let draft = draft(vec![turn(1, Role::User, "Why?"), turn(2, Role::Assistant, "No."), turn(3, Role::User, &long)]);
    let reviewed = seal(&draft, &Engine::builtin().unwrap(), &decisions, &key()).unwrap();
    let known = KnownKeys::default();
    let uri = session_uri(&repo(), SOURCE, draft.created_at, &known, now(), |_| false).unwrap();
    let encoded = encode(&reviewed, uri, SOURCE, &known, &about, now(), |_| false).unwrap();
    assert_valid(&encoded);
    let values = values(&encoded);
    let count = |n: usize, field: &str| values[n].get(field).map(|list| list.as_array().unwrap().len());
    assert!(values.len() > 4);
    assert_eq!((count(1, "refs"), count(1, "mentions")), (Some(2), Some(2)));
    assert_eq!(values[1]["mentions"][0], "did:web:n0.example.com");
    assert_eq!((count(2, "refs"), count(2, "mentions")), (None, None));
    assert_eq!((count(3, "refs"), count(3, "mentions")), (Some(50), Some(50)));
    assert_eq!((count(4, "refs"), count(4, "mentions")), (None, None));
    let lost: Vec<_> = encoded.lost.iter().map(|l| (l.what, l.count)).collect();
    assert_eq!(
        lost,
        [("reference over the 50 that a turn can have", 3), ("mention over the 50 that a turn can have", 3)]
    );
}

// Invariant 7.
#[test]
fn a_withheld_turn_is_bare() {
    let mut long = turn(2, Role::Assistant, "The customer's name is in here.");
    long.steps.push(step("Bash", "ls", false));
    let mut decisions = Decisions::default();
    decisions.withhold("turn-2");
    let encoded = records(&draft(vec![turn(1, Role::User, "Why?"), long]), &decisions);
    assert_valid(&encoded);
    let held = &values(&encoded)[2];
    let mut fields: Vec<_> = held.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["$type", "createdAt", "role", "session", "text", "withheld"]);
    assert_eq!((&held["text"], &held["withheld"], &held["role"]), (&"".into(), &true.into(), &"assistant".into()));
}

#[test]
fn a_withheld_turn_over_the_limits_is_one_record() {
    let mut decisions = Decisions::default();
    decisions.withhold("turn-1");
    let encoded =
        records(&draft(vec![turn(1, Role::User, &"word ".repeat(30_000)), turn(2, Role::User, "x")]), &decisions);
    assert_eq!(encoded.records.len(), 3);
}

#[test]
fn the_model_stands_on_every_agent_turn_and_on_no_other() {
    let mut nameless = turn(3, Role::Assistant, "Yes.");
    nameless.model = None;
    let turns = vec![turn(1, Role::User, "Why?"), turn(2, Role::Assistant, "Because."), nameless];
    let encoded = records(&draft(turns), &Decisions::default());
    let values = values(&encoded);
    assert_eq!(values[1].get("model"), None);
    assert_eq!(values[2]["model"], "anthropic/claude-opus-4-5");
    assert_eq!(values[3]["model"], "unknown/unknown");
    assert_eq!(encoded.lost.len(), 1);
}

#[test]
fn failed_steps_are_said_to_have_failed_and_summaries_may_be_missing() {
    let mut agent = turn(1, Role::Assistant, "");
    agent.steps = vec![step("Bash", "cargo test", true), step("TodoWrite", "", false)];
    let values = values(&records(&draft(vec![agent]), &Decisions::default()));
    assert_eq!(
        values[1]["steps"],
        serde_json::json!([{"tool": "Bash", "summary": "cargo test", "failed": true}, {"tool": "TodoWrite"}])
    );
}

// Invariant 8.
#[test]
fn a_text_over_the_limit_becomes_several_records_that_together_are_it() {
    let paragraph = "A sentence of a long answer. ".repeat(50) + "\n\n";
    let text = paragraph.repeat(100);
    let mut long = turn(2, Role::Assistant, &text);
    long.steps.push(step("Read", "src/lib.rs", false));
    let encoded =
        records(&draft(vec![turn(1, Role::User, "Go on"), long, turn(3, Role::User, "Thanks")]), &Decisions::default());
    assert_valid(&encoded);
    let values = values(&encoded);
    let parts = &values[2..values.len() - 1];
    assert!(parts.len() > 1);
    let joined: String = parts.iter().map(|p| p["text"].as_str().unwrap()).collect();
    assert_eq!(joined, text);
    for part in parts {
        assert_eq!(part["createdAt"], parts[0]["createdAt"]);
        assert_eq!(part["model"], "anthropic/claude-opus-4-5");
    }
    // The steps stand where they stand in a turn of one record: after the text.
    assert!(parts[..parts.len() - 1].iter().all(|p| p.get("steps").is_none()));
    assert_eq!(parts.last().unwrap()["steps"][0]["tool"], "Read");
}

#[test]
fn more_than_a_hundred_steps_become_several_records() {
    let mut agent = turn(1, Role::Assistant, "Done.");
    agent.steps = (0..250).map(|n| step("Bash", &format!("step {n}"), n % 7 == 0)).collect();
    let encoded = records(&draft(vec![agent.clone()]), &Decisions::default());
    assert_valid(&encoded);
    let values = values(&encoded);
    let counts: Vec<_> = values[1..].iter().map(|v| v["steps"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [100, 100, 50]);
    let steps: Vec<_> = values[1..].iter().flat_map(|v| v["steps"].as_array().unwrap().clone()).collect();
    assert!(steps.iter().enumerate().all(|(n, s)| s["summary"] == format!("step {n}")));
}

#[test]
fn what_is_shortened_is_said() {
    let mut agent = turn(1, Role::Assistant, "Done.");
    agent.steps = vec![step(&"t".repeat(80), &"s".repeat(400), false)];
    let mut draft = draft(vec![agent]);
    draft.title = Some("é".repeat(200));
    let encoded = records(&draft, &Decisions::default());
    assert_valid(&encoded);
    let lost: Vec<_> = encoded.lost.iter().map(|l| l.what).collect();
    assert_eq!(lost, ["end of the title", "end of a step's summary", "end of a tool's name"]);
}

#[test]
fn a_new_title_touches_the_session_alone() {
    let mut draft = draft(vec![turn(1, Role::User, "Why?"), turn(2, Role::Assistant, "Because.")]);
    let before = records(&draft, &Decisions::default());
    draft.title = Some("Another title".to_owned());
    let after = with_keys(&draft, &Decisions::default(), &keys_of(&before));
    let writes = plan(&after.records, &existing(&before), &[]);
    assert_eq!(writes.len(), 1);
    assert_eq!(writes[0].collection, SESSION);
}

#[test]
fn appended_turns_are_the_only_writes() {
    let first = draft(vec![turn(1, Role::User, "Why?"), turn(2, Role::Assistant, "Because.")]);
    let before = records(&first, &Decisions::default());
    let mut grown = first;
    grown.turns.push(turn(3, Role::User, "And then?"));
    // With the keys remembered, and with the ledger lost.
    for known in [keys_of(&before), KnownKeys::default()] {
        let after = with_keys(&grown, &Decisions::default(), &known);
        let writes = plan(&after.records, &existing(&before), &[]);
        assert_eq!(writes.len(), 1);
        assert_eq!(writes[0].rkey, after.records[3].rkey);
    }
}

#[test]
fn a_turn_that_outgrows_its_record_keeps_its_key_and_stays_before_the_next() {
    let first = draft(vec![turn(1, Role::Assistant, "Short."), turn(2, Role::User, "Why?")]);
    let before = records(&first, &Decisions::default());
    let mut grown = first;
    grown.turns[0].text = "Long. ".repeat(12_000);
    let after = with_keys(&grown, &Decisions::default(), &keys_of(&before));
    assert_eq!(after.records[1].rkey, before.records[1].rkey);
    assert_eq!(after.records.last().unwrap().rkey, before.records[2].rkey);
    assert!(after.records[1..].windows(2).all(|w| w[0].rkey.as_str() < w[1].rkey.as_str()));
}

#[test]
fn a_conversation_read_back_says_the_same() {
    let mut agent = turn(2, Role::Assistant, &"Long answer. ".repeat(10_000));
    agent.steps = (0..120).map(|n| step("Bash", &format!("step {n}"), n == 3)).collect();
    let mut decisions = Decisions::default();
    decisions.withhold("turn-3");
    let draft =
        draft(vec![turn(1, Role::User, "Why?"), agent, turn(3, Role::User, "secret"), turn(4, Role::Assistant, "")]);
    let encoded = records(&draft, &decisions);
    let values = values(&encoded);
    let (session, messages) = encoded.records.split_first().unwrap();
    let (published, unreadable) = published(
        &repo(),
        None,
        (session.rkey.clone(), session.cid.clone(), &values[0]),
        messages.iter().zip(&values[1..]).rev().map(|(r, v)| (r.rkey.clone(), r.cid.clone(), v.clone())),
    )
    .unwrap();
    assert_eq!(unreadable, []);
    let back = conversation(&published);
    assert_eq!(back.turns.len(), 4);
    assert_eq!(back.title, draft.title);
    assert_eq!(back.created_at, draft.created_at);
    for (turn, original) in back.turns.iter().zip(&draft.turns) {
        let held = original.id == "turn-3";
        assert_eq!(turn.text, if held { "" } else { original.text.as_str() });
        assert_eq!(turn.created_at, original.created_at);
        assert_eq!(turn.steps().len(), original.steps.len());
    }
    assert!(back.turns[1].steps()[3].failed);
    assert_eq!(back.warnings.len(), 1);
}

#[test]
fn a_record_that_is_no_message_is_reported_and_the_rest_is_read() {
    let encoded = records(&draft(vec![turn(1, Role::User, "Why?")]), &Decisions::default());
    let values = values(&encoded);
    let place = |n: usize| (encoded.records[n].rkey.clone(), encoded.records[n].cid.clone());
    let ((session_key, session_cid), (key, cid)) = (place(0), place(1));
    let broken = (session_key.clone(), session_cid.clone(), serde_json::json!({"text": 3}));
    let (published, unreadable) =
        published(&repo(), None, (session_key, session_cid, &values[0]), [(key, cid, values[1].clone()), broken])
            .unwrap();
    assert_eq!((published.messages.len(), unreadable.len()), (1, 1));
}

#[test]
fn the_limits_are_those_of_the_lexicons() {
    use super::encode::{DESCRIPTION, STEPS, SUMMARY, TEXT, TITLE, TOOL};
    let lexicon = |nsid: &str| -> Value {
        let path = format!("{}/../../lexicons/{nsid}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    };
    let (session, message) = (lexicon(SESSION), lexicon(MESSAGE));
    let (session, turn) =
        (&session["defs"]["main"]["record"]["properties"], &message["defs"]["main"]["record"]["properties"]);
    let step = &message["defs"]["step"]["properties"];
    for (limits, field) in [
        (TITLE, &session["title"]),
        (DESCRIPTION, &session["description"]),
        (TEXT, &turn["text"]),
        (TOOL, &step["tool"]),
        (SUMMARY, &step["summary"]),
    ] {
        assert_eq!((&field["maxLength"], &field["maxGraphemes"]), (&limits.bytes.into(), &limits.graphemes.into()));
    }
    assert_eq!(turn["steps"]["maxLength"], STEPS);
}

fn any_turn() -> impl Strategy<Value = (bool, String, Vec<(String, bool)>, bool)> {
    let step = ("[a-zA-Z_]{1,20}", any::<bool>());
    (any::<bool>(), r"(\PC|\n){0,80}", prop::collection::vec(step, 0..4), prop::bool::weighted(0.3))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    // Invariant 13.
    #[test]
    fn records_are_valid_ordered_and_complete(turns in prop::collection::vec(any_turn(), 1..12)) {
        let mut decisions = Decisions::default();
        let turns: Vec<_> = turns.into_iter().enumerate().map(|(n, (user, text, steps, held))| {
            let role = if user { Role::User } else { Role::Assistant };
            let mut turn = turn(n + 1, role, &text);
            if held {
                decisions.withhold(&turn.id);
            }
            turn.steps = steps.into_iter().map(|(tool, failed)| step(&tool, "does it", failed)).collect();
            turn
        }).collect();
        let draft = draft(turns);
        let rules = Engine::builtin().unwrap();
        // Whatever chance made a finding of is for the tests of redaction.
        prop_assume!(seal(&draft, &rules, &decisions, &key()).is_ok());
        let encoded = records(&draft, &decisions);
        assert_valid(&encoded);
        prop_assert_eq!(encoded.records.len(), draft.turns.len() + 1);
        prop_assert!(encoded.records[1..].windows(2).all(|w| w[0].rkey.as_str() < w[1].rkey.as_str()));
        for (record, turn) in encoded.records[1..].iter().zip(&draft.turns) {
            prop_assert_eq!(record.turn.as_deref(), Some(turn.id.as_str()));
        }
        // The same again, and nothing to write.
        let again = with_keys(&draft, &decisions, &keys_of(&encoded));
        prop_assert!(plan(&again.records, &existing(&encoded), &[]).is_empty());
    }
}
