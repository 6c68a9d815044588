//! What a Jetstream may send.

use onrecord_lexicon::data::record_cid;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    author::{SESSION, session},
    json::{cid_of_nothing, frame, text, write, write_of},
    stage::{Plays, Stage},
};

pub async fn frames_that_are_none(stage: &Stage) {
    let mut author = stage.author();
    let good = write(&mut author, "never");
    let number = stage.next_frame();
    let whole = text(stage.plays, number, &good);
    let broken = [
        "".to_owned(),
        "{".to_owned(),
        whole.strip_suffix('}').unwrap().to_owned(),
        whole.replace("never", "\u{1}"),
        format!("{whole}{whole}"),
    ];
    stage.refuses("no JSON", broken.map(Message::text), &[("frame:encoding", 5)]).await;
    let changed = |field: &str, value: Value| {
        let mut write = good.clone();
        write[field] = value;
        frame(stage.plays, stage.next_frame(), &write)
    };
    let fields = ["null", "[]", "7", "{}"].map(Message::text).into_iter().chain([
        changed("rev", json!(7)),
        changed("operation", json!("upsert")),
        changed("cid", json!(null)),
        changed("record", json!(null)),
        changed("collection", json!(null)),
    ]);
    stage.refuses("other fields", fields.collect::<Vec<_>>(), &[("frame:fields", 9)]).await;
    let names = [
        changed("rev", json!("0")),
        changed("rkey", json!("..")),
        changed("rkey", json!("a b")),
        changed("did", json!("dana")),
        changed("cid", json!("bafy")),
    ];
    stage.refuses("names that are none", names, &[("frame:identifier", 5)]).await;
    let flaw = if stage.plays == Plays::Tap { "frame:encoding" } else { "frame:packing" };
    let binary = Message::binary(vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0]);
    stage.refuses("packed without being asked", [binary], &[(flaw, 1)]).await;
    let later = text(stage.plays, stage.next_frame(), &good)
        .replace(r#""kind":"commit""#, r#""kind":"ceremony""#)
        .replace("subscribeEvents#commit", "subscribeEvents#ceremony")
        .replace(r#""type":"record""#, r#""type":"ceremony""#);
    let later = [Message::text(later), changed("operation", json!("delete"))];
    stage.refuses("kinds to come, and a deletion of what is not there", later, &[]).await;
}

/// A frame whose record is this text.
fn with_record(stage: &Stage, collection: &str, record: &str) -> Message {
    let mut author = stage.author();
    let write = write_of(&mut author, collection, &json!({ "$type": "place.for.it" }));
    let number = stage.next_frame();
    let text = text(stage.plays, number, &write);
    Message::text(text.replace(r#"{"$type":"place.for.it"}"#, record))
}

pub async fn records_outside_the_data_model(stage: &Stage) {
    let of = |field: &str| format!(r#"{{"$type":"{SESSION}","createdAt":"2026-01-01T00:00:00Z","x":{field}}}"#);
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    for (what, record, reason) in [
        ("a float", of("1.5"), "data-model"),
        ("an integer beyond 53 bits", of("9007199254740992"), "data-model"),
        ("an integer beyond 64 bits", of("99999999999999999999999"), "data-model"),
        ("nesting of 64", of(&deep(64)), "data-model"),
        ("nesting of a million", of(&deep(1_000_000)), "no-object"),
        ("a link that is none", of(r#"{"$link":"bafy"}"#), "data-model"),
        ("bytes that are none", of(r#"{"$bytes":"*"}"#), "data-model"),
        ("a blob that is none", of(r#"{"$type":"blob"}"#), "data-model"),
        ("half a surrogate", of(r#""\ud800""#), "no-object"),
        ("an array", "[]".to_owned(), "no-object"),
        ("a text", "\"record\"".to_owned(), "no-object"),
    ] {
        let frame = with_record(stage, SESSION, &record);
        stage.refuses(what, [frame], &[(&format!("{reason} {SESSION}"), 1)]).await;
    }
}

pub async fn records_under_other_names(stage: &Stage) {
    let mut author = stage.author();
    let mut other = write(&mut author, "never");
    other["cid"] = cid_of_nothing().into();
    let mut changed = write(&mut author, "never");
    changed["record"]["title"] = "another".into();
    let number = stage.next_frame();
    let frames = [frame(stage.plays, number, &other), frame(stage.plays, number, &changed)];
    stage.refuses("other CIDs", frames, &[(&format!("cid-mismatch {SESSION}"), 2)]).await;
    // A name twice: what was looked at is what is kept.
    let mut twice = write(&mut author, "looked at");
    twice["cid"] = record_cid(&session("looked at")).unwrap().1.to_string().into();
    let text = text(stage.plays, stage.next_frame(), &twice);
    let text = text.replace(r#""title":"looked at""#, r#""title":"hidden","title":"looked at""#);
    assert!(text.contains("hidden"));
    stage.shows("a name twice", [Message::text(text)], &[], &["looked at"]).await;
    let mut soon = write(&mut author, "never");
    soon["rev"] = "jzzzzzzzzzzzz".into();
    let number = stage.next_frame();
    stage.refuses("the future", [frame(stage.plays, number, &soon)], &[(&format!("future-rev {SESSION}"), 1)]).await;
    let mut nobody = write(&mut author, "never");
    nobody["did"] = "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme".into();
    let number = stage.next_frame();
    let unknown = [(&*format!("unknown-did {SESSION}"), 1)];
    stage.refuses("no account's", [frame(stage.plays, number, &nobody)], &unknown).await;
}

pub async fn records_larger_than_allowed(stage: &Stage) {
    let note = "stream.thought.blip";
    let of = |content: &str| format!(r#"{{"$type":"{note}","content":{content}}}"#);
    let too_large = [("too-large stream.thought.", 1)];
    for (what, content) in [
        ("a megabyte and more", format!("\"{}\"", "x".repeat(1_000_000))),
        ("a megabyte and more of control characters", format!("\"{}\"", "\\u0001".repeat(1_000_000))),
        ("millions of numbers", format!("[0{}]", ",0".repeat(5_000_000))),
        ("spaces", format!("\"x\"{}", " ".repeat(7_000_000))),
    ] {
        let frame = with_record(stage, note, &of(&content));
        stage.refuses(what, [frame], &too_large).await;
    }
    // What its author could write is taken, however much room it takes as JSON.
    let mut author = stage.author();
    let write = write_of(&mut author, note, &json!({ "$type": note, "content": "\u{1}".repeat(999_900) }));
    let path = format!("{note}/{}", write["rkey"].as_str().unwrap());
    let number = stage.next_frame();
    stage.refuses("a megabyte of control characters", [frame(stage.plays, number, &write)], &[]).await;
    assert!(stage.is_stored(&author, &path).await);
    // No such frame is read at all; what comes after it is.
    stage.loses_connection(Message::text(" ".repeat(12_500_001))).await;
}

pub async fn times_in_the_future_are_no_place(stage: &Stage) {
    let mut author = stage.author();
    let write = write(&mut author, "from the future");
    let number = stage.next_frame();
    let text = text(stage.plays, number, &write);
    let time = crate::stage::time_us(number).to_string();
    let future = text.replace(&time, "99999999999999999");
    stage.shows("a time in the future", [Message::text(future)], &[("frame:place", 1)], &["from the future"]).await;
    assert_eq!(stage.cursor().await, crate::stage::time_us(stage.last_frame()));
}

pub async fn an_account_of_many_collections_makes_few_reasons(stage: &Stage) {
    let mut author = stage.author();
    let mut frames = Vec::new();
    for n in 0..300 {
        let collection = format!("stream.thought.x{n}");
        let mut write = write_of(&mut author, &collection, &json!({ "$type": collection }));
        write["cid"] = cid_of_nothing().into();
        let number = stage.next_frame();
        frames.push(frame(stage.plays, number, &write));
    }
    stage.refuses("many collections", frames, &[("cid-mismatch stream.thought.", 300)]).await;
}

pub async fn what_was_refused_is_acknowledged(stage: &Stage) {
    // The first came in no form in which it has a number.
    let numbers: Vec<String> = (2..=stage.last_frame()).map(|n| format!(r#"{{"type":"ack","id":{n}}}"#)).collect();
    stage
        .until("all acknowledged", async |stage| {
            let heard = stage.network.heard();
            numbers.iter().all(|number| heard.contains(number))
        })
        .await;
}
