//! How fast a Jetstream's frames are read, and those that are not wanted passed over.

use std::time::Duration;

use onrecord_atproto::stream::{Frame, Pattern, Reader};
use onrecord_index::follow::WANTED;
use serde_json::{Value, json};

use crate::{
    corpus::{Dice, MESSAGE, did, tid, time},
    machine::cpu,
};

const START_US: u64 = 1_760_000_000_000_000;
const CID: &str = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a";
/// Frames of one kind.
const FRAMES: u64 = 20_000;
/// What else there is on the network, in about these parts.
const OTHERS: [&str; 5] =
    ["app.bsky.feed.like", "app.bsky.feed.like", "app.bsky.feed.post", "app.bsky.graph.follow", "app.bsky.feed.repost"];

/// A write of the first version's shape; of every so many one is wanted.
fn event(n: u64, one_of: u64) -> Value {
    let mut dice = Dice(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let us = START_US + n * 1_000;
    let (author, other) = (did(dice.below(100_000)), did(dice.below(100_000)));
    let collection = if n.is_multiple_of(one_of) { MESSAGE } else { OTHERS[usize::try_from(dice.below(5)).unwrap()] };
    let mut record = json!({"$type": collection, "createdAt": time(us)});
    match collection {
        MESSAGE => {
            record["session"] = json!(format!("at://{author}/click.aligned.chat.session/{}", tid(us)));
            record["role"] = json!("assistant");
            record["model"] = json!("anthropic/claude-opus-4-5");
            record["text"] = json!(dice.words(110));
            record["steps"] = (0..3).map(|_| json!({"tool": "Bash", "summary": dice.words(8)})).collect();
        }
        "app.bsky.feed.post" => {
            record["langs"] = json!(["en"]);
            record["text"] = json!(dice.words(25));
        }
        "app.bsky.graph.follow" => record["subject"] = json!(other.as_str()),
        _ => record["subject"] = json!({"cid": CID, "uri": format!("at://{other}/app.bsky.feed.post/{}", tid(us))}),
    }
    json!({"did": author.as_str(), "time_us": us, "kind": "commit", "commit": {"rev": tid(us).to_string(),
        "operation": "create", "collection": collection, "rkey": tid(us).to_string(), "record": record, "cid": CID}})
}

/// The same in the second version's shape.
fn second(event: &Value) -> Value {
    let mut payload = event["commit"].clone();
    payload["$type"] = json!("network.bsky.jetstream.subscribeEvents#commit");
    // From 1,000,000,000,000,000 on it would be a time, not a number of the server's.
    payload["seq"] = json!(event["time_us"].as_i64().unwrap() % 1_000_000_000_000_000);
    payload["did"] = event["did"].clone();
    payload["time"] = event["commit"]["record"]["createdAt"].clone();
    json!({"$type": "message", "payload": payload})
}

fn pack(dictionary: &[u8], text: &str) -> Vec<u8> {
    let mut packer = zstd::bulk::Compressor::with_dictionary(3, dictionary).unwrap();
    packer.compress(text.as_bytes()).unwrap()
}

/// Prints frames a second of one core's time, of each kind, where few are wanted and where all are.
pub fn print() {
    println!("\n| Jetstream frames/s per core | 1 in 20 wanted | all wanted |\n|---|---|---|");
    for (name, is_second, is_packed) in [
        ("version 1", false, false),
        ("version 1, zstd", false, true),
        ("version 2", true, false),
        ("version 2, zstd", true, true),
    ] {
        let rates = [20, 1].map(|one_of| {
            let texts: Vec<String> = (0..FRAMES)
                .map(|n| event(n, one_of))
                .map(|event| if is_second { second(&event).to_string() } else { event.to_string() })
                .collect();
            let dictionary = zstd::dict::from_samples(&texts[..2_000], 100_000).unwrap();
            let frames: Vec<Vec<u8>> =
                if is_packed { texts.iter().map(|text| pack(&dictionary, text)).collect() } else { Vec::new() };
            let wanted = WANTED.iter().map(|name| Pattern::parse(name).unwrap()).collect();
            let reader = Reader::new(is_second, Some(&dictionary), wanted).unwrap();
            let (mut read, before) = (0, cpu());
            let mut events = 0_u64;
            // Long enough for a clock of hundredths.
            while cpu() - before < Duration::from_secs(1) {
                if is_packed {
                    events += frames.iter().map(|frame| reader.packed(frame)).filter(is_event).count() as u64;
                } else {
                    events += texts.iter().map(|text| reader.text(text)).filter(is_event).count() as u64;
                }
                read += FRAMES;
            }
            assert_eq!(events, read / one_of, "those that are wanted, and no others");
            read as f64 / (cpu() - before).as_secs_f64()
        });
        println!("| {name} | {:.0} | {:.0} |", rates[0], rates[1]);
    }
}

fn is_event(frame: &Frame) -> bool {
    assert!(!matches!(frame, Frame::Unreadable { .. }), "{frame:?}");
    matches!(frame, Frame::Event { .. })
}
