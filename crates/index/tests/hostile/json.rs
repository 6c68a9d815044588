//! What servers tell in JSON, right and wrong.

use onrecord_lexicon::data::record_cid;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    author::{Author, SESSION, session, tid},
    stage::{Plays, time_us},
};

/// A write of a conversation, as Jetstream and Tap have it.
pub fn write(author: &mut Author, title: &str) -> Value {
    write_of(author, SESSION, &session(title))
}

/// A write of any record.
pub fn write_of(author: &mut Author, collection: &str, record: &Value) -> Value {
    let rev = author.next_rev();
    let cid = record_cid(record).map_or_else(|_| cid_of_nothing(), |(_, cid)| cid.to_string());
    json!({ "did": author.did, "rev": rev, "operation": "create", "collection": collection, "rkey": rev, "record": record,
        "cid": cid })
}

/// A CID that names nothing.
pub fn cid_of_nothing() -> String {
    onrecord_lexicon::data::cid_of(b"nothing").to_string()
}

/// The frame of a write.
pub fn frame(plays: Plays, number: i64, write: &Value) -> Message {
    Message::text(text(plays, number, write))
}

/// Its text.
pub fn text(plays: Plays, number: i64, write: &Value) -> String {
    let mut write = write.clone();
    let fields = write.as_object_mut().unwrap();
    match plays {
        Plays::Firehose => panic!("a firehose sends no JSON"),
        Plays::One => {
            let did = fields.remove("did").unwrap();
            json!({ "did": did, "time_us": time_us(number), "kind": "commit", "commit": write }).to_string()
        }
        Plays::Two => {
            fields.insert("$type".into(), "network.bsky.jetstream.subscribeEvents#commit".into());
            fields.insert("seq".into(), number.into());
            fields.insert("time".into(), "2026-01-01T00:00:00Z".into());
            json!({ "$type": "message", "payload": write }).to_string()
        }
        Plays::Tap => {
            let action = fields.remove("operation").unwrap();
            fields.insert("action".into(), action);
            fields.insert("live".into(), true.into());
            json!({ "id": number, "type": "record", "record": write }).to_string()
        }
    }
}

/// A turn that says `text`, of a conversation that need not be there.
pub fn message(author: &Author, text: &str) -> Value {
    json!({ "$type": crate::author::MESSAGE, "session": format!("at://{}/{SESSION}/{}", author.did, tid(1)), "role": "user",
        "text": text, "createdAt": "2026-01-01T00:00:00Z" })
}
