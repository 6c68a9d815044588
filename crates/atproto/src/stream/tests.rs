//! Frames as the servers' published formats have them, and as hostile ones may.

use onrecord_lexicon::data::{Value, cid_of};
use proptest::prelude::*;
use serde_json::json;

use super::{
    jetstream::{decode_one, decode_two},
    *,
};
use crate::Action;

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const REV: &str = "3l3qo2vutsw2b";
const MESSAGE: &str = "click.aligned.chat.message";

fn wanted() -> Vec<Pattern> {
    vec![Pattern::parse(MESSAGE).unwrap()]
}

fn cid() -> String {
    cid_of(b"a block").to_string()
}

fn write(operation: &str) -> serde_json::Value {
    let mut write = json!({ "rev": REV, "operation": operation, "collection": MESSAGE, "rkey": "3l3qo2vutsw2b" });
    if operation != "delete" {
        write["record"] = json!({ "$type": MESSAGE, "text": "a \"word\"" });
        write["cid"] = cid().into();
    }
    write
}

fn one(kind: &str, content: &serde_json::Value) -> String {
    json!({ "did": DID, "time_us": 1_725_911_162_329_308_i64, "kind": kind, kind: content }).to_string()
}

fn two(kind: &str, content: serde_json::Value) -> String {
    let mut payload = json!({
        "$type": format!("network.bsky.jetstream.subscribeEvents#{kind}"), "seq": 41, "did": DID,
        "time": "2026-11-30T10:00:00.000001Z",
    });
    match kind {
        "commit" => payload.as_object_mut().unwrap().extend(content.as_object().unwrap().clone()),
        _ => payload[kind] = content,
    }
    json!({ "$type": "message", "payload": payload }).to_string()
}

fn event(frame: Frame) -> (Event, Option<Cursor>) {
    match frame {
        Frame::Event { event, cursor, .. } => (event, cursor),
        other => panic!("no event: {other:?}"),
    }
}

fn is_unreadable(frame: &Frame) -> bool {
    matches!(frame, Frame::Unreadable { .. })
}

#[test]
fn both_versions_of_jetstream_tell_the_same_events() {
    let cases = [
        ("commit", write("create")),
        ("commit", write("update")),
        ("commit", write("delete")),
        ("identity", json!({ "did": DID, "handle": "dana.example.com", "seq": 7, "time": "2026-11-30T10:00:00Z" })),
        (
            "account",
            json!({ "active": false, "did": DID, "seq": 7, "status": "takendown", "time": "2026-11-30T10:00:00Z" }),
        ),
    ];
    for (kind, content) in cases {
        let (first, time) = event(decode_one(&one(kind, &content), &wanted()));
        let (second, sequence) = event(decode_two(&two(kind, content), &wanted()));
        assert_eq!(first, second, "{kind}");
        assert_eq!(time, Some(Cursor::Time(1_725_911_162_329_308)));
        // What was seen is not sent again.
        assert_eq!(sequence, Some(Cursor::Sequence(42)));
    }
}

#[test]
fn a_commit_holds_the_record_as_it_came_and_debug_output_does_not() {
    let (event, _) = event(decode_one(&one("commit", &write("create")), &wanted()));
    assert!(!format!("{event:?}").contains("word"), "{event:?}");
    let Event::Commit(commit) = event else { panic!("no commit") };
    let [operation] = commit.operations.as_slice() else { panic!("one operation") };
    assert_eq!((operation.action, operation.collection.as_str()), (Action::Create, MESSAGE));
    let body = operation.record.as_ref().unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(body.json()).unwrap()["text"], "a \"word\"");
}

#[test]
fn a_record_is_what_its_cid_names_or_it_is_not() {
    let (event, _) = event(decode_one(&one("commit", &write("create")), &wanted()));
    let Event::Commit(commit) = event else { panic!("no commit") };
    let operation = &commit.operations[0];
    let body = operation.record.as_ref().unwrap();
    assert!(!body.is(operation.cid.as_ref().unwrap()).unwrap());
    let value = serde_json::from_str::<serde_json::Value>(body.json()).unwrap();
    let (_, right) = onrecord_lexicon::data::record_cid(&value).unwrap();
    assert!(body.is(&right).unwrap());
}

#[test]
fn what_is_not_wanted_moves_the_cursor_on() {
    let wanted = [Pattern::parse("click.aligned.chat.session").unwrap()];
    let passed = Frame::Passed { cursor: Some(Cursor::Sequence(42)), acknowledge: None };
    assert_eq!(decode_two(&two("commit", write("create")), &wanted), passed);
    // Kinds to come, too.
    assert_eq!(decode_two(&two("ceremony", json!({})), &wanted), passed);
    // All is wanted where nothing is named.
    assert!(matches!(decode_two(&two("commit", write("create")), &[]), Frame::Event { .. }));
}

#[test]
fn the_second_version_of_jetstream_says_when_something_may_be_missed_or_ends() {
    let payload = json!({ "$type": "network.bsky.jetstream.subscribeEvents#info", "name": "OutdatedCursor", "message": "from 7" });
    let info = decode_two(&json!({ "$type": "message", "payload": payload }).to_string(), &[]);
    assert_eq!(info, Frame::Notice { name: "OutdatedCursor".into(), message: "from 7".into() });
    let error =
        decode_two(&json!({ "$type": "error", "error": "ConsumerTooSlow", "message": "read on" }).to_string(), &[]);
    assert_eq!(error, Frame::Ended { name: "ConsumerTooSlow".into(), message: "read on".into() });
    let (sync, _) = event(decode_two(&two("sync", json!({ "did": DID, "rev": REV, "seq": 3 })), &[]));
    assert!(matches!(sync, Event::Sync { rev: Some(_), .. }));
}

#[test]
fn what_breaks_a_rule_is_unreadable_and_no_event() {
    let broken = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut frame: serde_json::Value = serde_json::from_str(&one("commit", &write("create"))).unwrap();
        change(&mut frame);
        decode_one(&frame.to_string(), &[])
    };
    assert!(!is_unreadable(&broken(&|_| {})));
    for (field, value) in [("did", json!("plc:none")), ("time_us", json!("late")), ("commit", json!(null))] {
        assert!(is_unreadable(&broken(&|frame| frame[field] = value.clone())), "{field}");
    }
    for (field, value) in [
        ("rev", json!("0")),
        ("operation", json!("upsert")),
        ("collection", json!("nothing")),
        ("rkey", json!("..")),
        ("cid", json!("bafy")),
        ("cid", json!(null)),
        ("record", json!(null)),
    ] {
        assert!(is_unreadable(&broken(&|frame| frame["commit"][field] = value.clone())), "{field}");
    }
    for text in ["", "{", "null", "[]", "{\"$type\":\"message\"}"] {
        assert!(is_unreadable(&decode_one(text, &[])) && is_unreadable(&decode_two(text, &[])), "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_frame_is_said_without_its_words() {
    let text = json!({ "did": DID, "time_us": "hush7", "kind": "commit", "id": "hush7", "$type": 7 }).to_string();
    let two = two("commit", json!({ "rev": 7, "operation": "hush7", "seq": "hush7" }));
    let frames =
        [decode_one(&text, &[]), decode_two(&text, &[]), decode_two(&two, &[]), tap::decode(text.as_bytes(), &[])];
    for frame in frames {
        let Frame::Unreadable { why, .. } = frame else { panic!("{frame:?}") };
        assert!(why.contains("fields") && !why.contains("hush7"), "{why}");
    }
}

#[test]
fn tap_tells_records_accounts_and_the_number_to_acknowledge() {
    let record = json!({ "id": 12, "type": "record", "record": {
        "live": false, "did": DID, "rev": REV, "collection": MESSAGE, "rkey": "a", "action": "create",
        "record": { "$type": MESSAGE }, "cid": cid() } });
    match tap::decode(record.to_string().as_bytes(), &wanted()) {
        Frame::Event { event: Event::Commit(commit), acknowledge: Some(12), .. } => assert!(commit.is_history),
        other => panic!("{other:?}"),
    }
    let identity = |active: bool, status: &str| {
        let message = json!({ "id": 13, "type": "identity",
            "identity": { "did": DID, "handle": "dana.example.com", "is_active": active, "status": status } });
        event(tap::decode(message.to_string().as_bytes(), &wanted())).0
    };
    assert!(matches!(identity(true, "active"), Event::Identity { handle: Some(_), .. }));
    assert!(matches!(identity(false, "deleted"), Event::Account { status: AccountStatus::Deleted, .. }));
}

#[test]
fn a_message_of_tap_that_cannot_be_understood_has_its_number_all_the_same() {
    for text in [r#"{"id":5,"type":"record"}"#, r#"{"id":5,"type":"record","record":{"did":7}}"#] {
        let frame = tap::decode(text.as_bytes(), &[]);
        assert!(matches!(frame, Frame::Unreadable { acknowledge: Some(5), .. }), "{text}: {frame:?}");
    }
    let unwanted = json!({ "id": 6, "type": "record", "record": {
        "did": DID, "rev": REV, "collection": "app.bsky.feed.like", "rkey": "a", "action": "delete" } });
    let passed = Frame::Passed { cursor: None, acknowledge: Some(6) };
    assert_eq!(tap::decode(unwanted.to_string().as_bytes(), &wanted()), passed);
}

/// A frame of the firehose.
fn frame(kind: &str, body: &serde_json::Value) -> Vec<u8> {
    let head = json!({ "op": 1, "t": kind });
    let mut bytes = Value::from_json(&head).unwrap().to_dag_cbor();
    bytes.extend(Value::from_json(body).unwrap().to_dag_cbor());
    bytes
}

fn commit_body(path: &str) -> serde_json::Value {
    json!({
        "seq": 9, "rebase": false, "tooBig": false, "repo": DID, "commit": { "$link": cid() }, "rev": REV, "since": null,
        "blocks": { "$bytes": "AAEC" }, "blobs": [], "time": "2026-11-30T10:00:00Z", "prevData": { "$link": cid() },
        "ops": [{ "action": "create", "path": path, "cid": { "$link": cid() } }],
    })
}

#[test]
fn a_firehose_tells_commits_with_their_proof() {
    let bytes = frame("#commit", &commit_body(&format!("{MESSAGE}/a")));
    let (event, cursor) = event(firehose::decode(&bytes, &wanted(), &Watched::default()));
    assert_eq!(cursor, Some(Cursor::Sequence(9)));
    let Event::Commit(commit) = event else { panic!("no commit") };
    let proof = commit.proof.unwrap();
    assert_eq!((proof.blocks.as_slice(), proof.since), (&[0, 1, 2][..], None));
    assert!(proof.prev_data.is_some());
    let passed = Frame::Passed { cursor: Some(Cursor::Sequence(9)), acknowledge: None };
    assert_eq!(
        firehose::decode(&frame("#commit", &commit_body("app.bsky.feed.like/a")), &wanted(), &Watched::default()),
        passed
    );
}

#[test]
fn a_commit_too_large_to_be_told_asks_for_the_repository() {
    let mut body = commit_body(&format!("{MESSAGE}/a"));
    body["tooBig"] = true.into();
    let (event, _) = event(firehose::decode(&frame("#commit", &body), &wanted(), &Watched::default()));
    assert!(matches!(event, Event::Sync { rev: Some(_), .. }));
}

#[test]
fn a_firehose_tells_accounts_and_ends_with_a_reason() {
    let body =
        json!({ "seq": 3, "did": DID, "time": "2026-11-30T10:00:00Z", "active": false, "status": "deactivated" });
    let (account, _) = event(firehose::decode(&frame("#account", &body), &[], &Watched::default()));
    assert!(matches!(account, Event::Account { status: AccountStatus::Deactivated, at: Some(_), .. }));
    let mut error = Value::from_json(&json!({ "op": -1 })).unwrap().to_dag_cbor();
    error.extend(Value::from_json(&json!({ "error": "FutureCursor", "message": "ahead" })).unwrap().to_dag_cbor());
    let ended = Frame::Ended { name: "FutureCursor".into(), message: "ahead".into() };
    assert_eq!(firehose::decode(&error, &[], &Watched::default()), ended);
}

#[test]
fn an_operation_must_fit_its_cid() {
    for (action, link) in [("create", json!(null)), ("update", json!(null)), ("delete", json!({ "$link": cid() }))] {
        let mut body = commit_body(&format!("{MESSAGE}/a"));
        body["ops"] = json!([{ "action": action, "path": format!("{MESSAGE}/a"), "cid": link }]);
        assert!(is_unreadable(&firehose::decode(&frame("#commit", &body), &wanted(), &Watched::default())), "{action}");
    }
}

#[test]
fn a_pattern_is_a_collection_or_the_beginning_of_some() {
    let all = Pattern::parse("stream.thought.*").unwrap();
    assert!(all.matches("stream.thought.blip") && all.matches("stream.thought.tool.call"));
    assert!(!all.matches("stream.thoughts") && !all.matches("stream.thought"));
    let one = Pattern::parse(MESSAGE).unwrap();
    assert!(one.matches(MESSAGE) && !one.matches("click.aligned.chat.messages"));
    for text in ["", "*", ".*", "one", "a.b.c*"] {
        assert!(Pattern::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_source_is_a_kind_and_an_address() {
    let source: Source = "jetstream:wss://jetstream.example.org/".parse().unwrap();
    assert_eq!(
        (source.kind(), source.to_string().as_str()),
        (Kind::Jetstream, "jetstream:wss://jetstream.example.org")
    );
    let tap: Source = "tap:ws://admin:pass%21word@localhost:2480".parse().unwrap();
    assert_eq!((tap.to_string().as_str(), tap.password().unwrap().expose()), ("tap:ws://localhost:2480", "pass!word"));
    assert!(!format!("{tap:?}").contains("pass!word"));
    for text in ["firehose:wss://admin:hush7@relay.example.org", "taps:ws://admin:hush7@localhost", "tap:ws://a:hush7@"]
    {
        let refused = text.parse::<Source>().unwrap_err();
        assert!(!refused.to_string().contains("hush7"), "{refused}");
    }
    for text in ["wss://relay.example.org", "relay:wss://relay.example.org", "firehose:", ""] {
        assert!(text.parse::<Source>().is_err(), "{text}");
    }
    for text in ["firehose:https://relay.example.org", "firehose:relay.example.org", "tap:ws://"] {
        assert!(matches!(text.parse::<Source>(), Err(BadSource::Address { .. })), "{text}");
    }
}

/// A dictionary and a text packed with it.
fn packed(text: &str) -> (Vec<u8>, Vec<u8>) {
    let samples: Vec<Vec<u8>> =
        (0..400).map(|n| one("commit", &write("create")).replace("word", &n.to_string()).into()).collect();
    let dictionary = zstd::dict::from_samples(&samples, 4_000).unwrap();
    let mut encoder = zstd::stream::Encoder::with_dictionary(Vec::new(), 3, &dictionary).unwrap();
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    (dictionary, encoder.finish().unwrap())
}

#[test]
fn frames_packed_with_a_dictionary_are_unpacked() {
    let text = one("commit", &write("create"));
    let (dictionary, frame) = packed(&text);
    assert!(frame.len() < text.len() / 2, "the dictionary is used");
    let unpack = jetstream::Unpack::new(&dictionary).unwrap();
    assert_eq!(unpack.frame(&frame).unwrap(), text);
    assert!(unpack.frame(&frame[..frame.len() - 3]).is_err());
    assert!(unpack.frame(b"no frame").is_err());
    assert!(jetstream::Unpack::new(b"no dictionary").is_err());
}

#[test]
fn a_frame_that_unpacks_to_too_much_is_refused() {
    let (dictionary, frame) = packed(&" ".repeat(13_000_000));
    assert!(frame.len() < 10_000);
    assert!(jetstream::Unpack::new(&dictionary).unwrap().frame(&frame).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = firehose::decode(&bytes, &wanted(), &Watched::default());
        let _ = tap::decode(&bytes, &wanted());
        let text = String::from_utf8_lossy(&bytes);
        let _ = (decode_one(&text, &wanted()), decode_two(&text, &wanted()));
    }

    #[test]
    fn a_damaged_frame_is_an_event_or_unreadable(at in 0_usize..400, byte in any::<u8>()) {
        let mut bytes = frame("#commit", &commit_body(&format!("{MESSAGE}/a")));
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = firehose::decode(&bytes, &wanted(), &Watched::default());
    }
}
