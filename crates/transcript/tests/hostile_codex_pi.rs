//! Whatever the bytes, the importers of Codex and pi neither panic nor loop, and damage costs itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

use std::{
    fs,
    io::{BufReader, Cursor},
    path::{Path, PathBuf},
};

use onrecord_transcript::{Error, Grain, Harness, ParseOptions, Parsed, Part, detect::detect, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

fn options() -> ParseOptions {
    ParseOptions {
        grain: Grain::Turn,
        fallback_id: "fallback".to_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: None,
        home: None,
        branch: None,
        conversation: None,
    }
}

fn read(harness: Harness, bytes: &[u8], capacity: usize) -> Result<Parsed, Error> {
    parse(harness, &mut BufReader::with_capacity(capacity, Cursor::new(bytes)), &options())
}

/// Everything but the warnings.
fn said(parsed: &Parsed) -> Value {
    let mut conversations = json!(parsed.conversations);
    for conversation in conversations.as_array_mut().unwrap() {
        conversation["warnings"] = Value::Null;
    }
    conversations
}

fn inputs(harness: Harness) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(harness.as_str());
    let mut inputs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|case| case.unwrap().path().join("input.jsonl"))
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect();
    inputs.sort();
    inputs
}

fn any_fixture() -> impl Strategy<Value = (Harness, Vec<u8>)> {
    let all: Vec<(Harness, Vec<u8>)> = [Harness::Codex, Harness::Pi]
        .into_iter()
        .flat_map(|harness| inputs(harness).into_iter().map(move |(_, bytes)| (harness, bytes)))
        .collect();
    prop::sample::select(all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2048), packed: bool) {
        let mut bytes = bytes;
        if packed {
            bytes.splice(0..0, [0x28, 0xB5, 0x2F, 0xFD]);
        }
        let _ = detect(&bytes);
        for harness in [Harness::Codex, Harness::Pi] {
            let _ = read(harness, &bytes, 64);
        }
    }

    #[test]
    fn arbitrary_json_never_panics(text in "(\\{\"type\":\"(session_meta|response_item|event_msg|message|session|compacted)\",\"(payload|message|id)\":(\\{\"type\":\"[a-z_]{0,12}\",\"(role|content|call_id|item)\":(\"[a-z<>#]{0,9}\"|\\[\\]|null|3)\\}|\"x\"|\\[1\\])\\}\n?){0,6}") {
        let _ = detect(text.as_bytes());
        for harness in [Harness::Codex, Harness::Pi] {
            let _ = read(harness, text.as_bytes(), 64);
        }
    }

    #[test]
    fn mutated_fixtures_never_panic(
        (harness, bytes) in any_fixture(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..12),
        capacity in 1_usize..300,
    ) {
        let mut bytes = bytes;
        for (place, byte, kind) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => { bytes.remove(at); }
                _ => bytes.truncate(at),
            }
        }
        let _ = detect(&bytes);
        let _ = read(Harness::Codex, &bytes, capacity);
        let _ = read(Harness::Pi, &bytes, capacity);
        let _ = harness;
    }

    #[test]
    fn a_garbage_line_changes_nothing_but_warnings(
        (harness, bytes) in any_fixture(),
        place in any::<prop::sample::Index>(),
        garbage in prop::sample::select(vec!["not json", "{\"type\":\"mess", "\0\0\0\0", "[1,2]", "}{", "{\"timestamp\":\"x\",\"type\":\"nobody\"}", "null", "\u{2028}"]),
    ) {
        let Ok(before) = read(harness, &bytes, 4096) else { return Ok(()) };
        // After a whole line: in front of an unfinished last one it would be glued to nothing.
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        let at = ends[place.index(ends.len())];
        let mut damaged = bytes[..at].to_vec();
        damaged.extend_from_slice(garbage.as_bytes());
        damaged.push(b'\n');
        damaged.extend_from_slice(&bytes[at..]);
        let after = read(harness, &damaged, 4096).unwrap();
        prop_assert_eq!(said(&before), said(&after));
    }

    /// The reader's buffer is no part of the transcript.
    #[test]
    fn the_size_of_the_buffer_changes_nothing((harness, bytes) in any_fixture(), capacity in 1_usize..400) {
        let whole = read(harness, &bytes, 1 << 20).map(|parsed| json!([parsed.conversations, parsed.warnings]));
        let pieces = read(harness, &bytes, capacity).map(|parsed| json!([parsed.conversations, parsed.warnings]));
        prop_assert_eq!(whole.ok(), pieces.ok());
    }

    #[test]
    fn a_rollout_reads_the_same_compressed((harness, bytes) in any_fixture(), level in 1_i32..9) {
        prop_assume!(harness == Harness::Codex);
        let packed = zstd::encode_all(bytes.as_slice(), level).unwrap();
        let plain = read(harness, &bytes, 4096).map(|parsed| json!([parsed.conversations, parsed.warnings]));
        let unpacked = read(harness, &packed, 100).map(|parsed| json!([parsed.conversations, parsed.warnings]));
        prop_assert_eq!(plain.ok(), unpacked.ok());
    }
}

/// A conversation that grows keeps its turns: what was read of a beginning is the beginning of what
/// is read of the whole, but for the last turn, which may have grown.
#[test]
fn turns_keep_their_names_while_a_conversation_grows() {
    for (harness, case) in [
        (Harness::Codex, "every-message-twice"),
        (Harness::Codex, "schema-0.153"),
        (Harness::Pi, "own-command"),
        (Harness::Pi, "names-and-models"),
    ] {
        let (_, bytes) = inputs(harness).into_iter().find(|(path, _)| path.to_str().unwrap().contains(case)).unwrap();
        let whole = read(harness, &bytes, 4096).unwrap().conversations.remove(0);
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            let Ok(mut part) = read(harness, &bytes[..=at], 4096) else { continue };
            let part = part.conversations.remove(0);
            // An item that no event confirms yet may stand for a prompt for as long as none has come.
            for (early, late) in part.turns.iter().zip(&whole.turns) {
                assert_eq!(
                    (early.role, early.created_at, &early.id),
                    (late.role, late.created_at, &late.id),
                    "{case} up to byte {at}"
                );
            }
        }
    }
}

/// A row that is skipped is not held in memory either, however long it is.
#[test]
fn a_compacted_row_beyond_the_row_limit_costs_nothing() {
    let mut bytes = b"{\"timestamp\":\"2026-03-02T10:00:00Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":\"before\"}}\n".to_vec();
    bytes.extend_from_slice(b"{\"timestamp\":\"2026-03-02T10:00:01Z\",\"type\":\"compacted\",\"payload\":{\"message\":\"\",\"replacement_history\":\"");
    bytes.resize(bytes.len() + 70 * 1024 * 1024, b'x');
    bytes.extend_from_slice(b"\"}}\n{\"timestamp\":\"2026-03-02T10:00:02Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"after\"}}\n");
    let parsed = read(Harness::Codex, &bytes, 64 * 1024).unwrap();
    assert_eq!(parsed.warnings, []);
    let texts: Vec<&str> = parsed.conversations[0].turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!(texts, ["before", "after"]);
}

/// One thing a hundred thousand times costs a hundred thousand times one thing.
#[test]
fn repetition_takes_no_more_time_than_variety() {
    const TIMES: usize = 40_000;
    let row =
        |payload: Value| json!({"timestamp": "2026-03-02T10:00:00Z", "type": "response_item", "payload": payload});
    let text = |_| row(json!({"type": "message", "role": "assistant", "content": "same"}));
    let call = |n| row(json!({"type": "function_call", "name": "n", "call_id": "same", "arguments": format!("[{n}]")}));
    let nameless = |n| row(json!({"type": "function_call", "name": "n", "arguments": format!("[{n}]")}));
    let output = |n| row(json!({"type": "function_call_output", "call_id": "same", "output": format!("out {n}")}));
    let plan = |n| {
        json!({"timestamp": "2026-03-02T10:00:00Z", "type": "event_msg",
        "payload": {"type": "item_completed", "item": {"type": "Plan", "id": "p", "text": format!("plan {n}")}}})
    };
    let entry = |message: Value| json!({"type": "message", "message": message});
    let pi_call = |_| entry(json!({"role": "assistant", "content": [{"type": "toolCall", "id": "same", "name": "n"}]}));
    let pi_output = |n| entry(json!({"role": "toolResult", "toolCallId": "same", "content": format!("out {n}")}));
    let parts_of = |harness, rows: Vec<Value>| {
        let bytes: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let started = std::time::Instant::now();
        let mut parsed = read(harness, bytes.as_bytes(), 64 * 1024).unwrap();
        assert!(started.elapsed().as_secs() < 15, "{} rows in {:?}", rows.len(), started.elapsed());
        parsed.conversations.remove(0).turns.remove(0).parts
    };
    for rows in
        [(0..TIMES).map(text).collect::<Vec<_>>(), (0..TIMES).map(nameless).collect(), (0..TIMES).map(plan).collect()]
    {
        assert_eq!(parts_of(Harness::Codex, rows).len(), TIMES);
    }
    for (harness, rows) in [
        (Harness::Codex, (0..TIMES).map(call).chain((0..TIMES).map(output)).collect::<Vec<_>>()),
        (Harness::Pi, (0..TIMES).map(pi_call).chain((0..TIMES).map(pi_output)).collect()),
    ] {
        let parts = parts_of(harness, rows);
        assert_eq!(parts.len(), TIMES);
        for (n, part) in parts.iter().enumerate() {
            let Part::ToolCall { output, .. } = part else { panic!("{part:?}") };
            assert_eq!(output.as_deref(), Some(format!("out {n}").as_str()));
        }
    }
}

#[test]
fn a_file_without_a_byte_is_empty_and_of_no_other_make() {
    for harness in Harness::ALL {
        assert!(matches!(read(harness, b"", 64), Err(Error::Empty)), "{harness}");
        assert!(matches!(read(harness, b"{}\n", 64), Err(Error::NotThisFormat { .. })), "{harness}");
    }
}
