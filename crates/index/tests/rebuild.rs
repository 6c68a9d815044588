//! What follows from the records, made anew after it was damaged, is what it was.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use onrecord_index::{Index, NameOf, PostgresIndex, Recent, Search, SqliteIndex, check};
use onrecord_testkit::Postgres;
use serde_json::{Value, json};
use support::{apply, delete, did, message, put, rkey, session};
use tokio_postgres::NoTls;

/// Conversations of two authors, with all that is counted and found.
async fn publish(index: &dyn Index) {
    for n in 1..=2 {
        let d = did(n);
        let mut changes = Vec::new();
        for talk in 0..30_u64 {
            let key = 100 + talk * 10;
            changes.push(session(&d, key, 5_000, (talk % 3 > 0).then_some("A title")));
            changes.push(message(
                &d,
                key,
                key + 1,
                5_000,
                "user",
                &format!("question{talk} about the sky"),
                &json!({}),
            ));
            let more = json!({ "model": format!("a/model{}", talk % 4),
                "steps": [{ "tool": "Bash", "summary": "Run it", "failed": talk % 2 == 0 }, { "tool": "Read" }] });
            changes.push(message(&d, key, key + 2, 5_000, "assistant", "An answer", &more));
            changes.push(message(&d, key, key + 3, 5_000, "user", "", &json!({ "withheld": true })));
        }
        // Of a conversation whose record never came, and of one that went.
        changes.push(message(&d, 9_000, 9_001, 5_000, "user", "waits", &json!({})));
        changes.push(delete(&d, support::SESSION, 100, 5_001));
        let profile = json!({ "$type": "app.bsky.actor.profile", "displayName": format!("Author {n}") });
        let at = onrecord_lexicon::Rkey::parse("self").unwrap();
        changes.push(put(&d, "app.bsky.actor.profile", &at, 5_000, &profile));
        let note = json!({ "$type": "network.comind.thought", "text": "a thought of its own" });
        changes.push(put(&d, "network.comind.thought", &rkey(7_000), 5_000, &note));
        apply(index, changes).await;
        // Written over later: its place in time is another then, as it says no time of its own.
        let again = json!({ "$type": "network.comind.thought", "text": "another thought of its own" });
        apply(index, vec![put(&d, "network.comind.thought", &rkey(7_000), 90_000, &again)]).await;
    }
}

/// All that readers are told.
async fn told(index: &dyn Index) -> Value {
    let heads = index.recent(&Recent::All, None, 1_000).await.unwrap().items;
    let mut found = Vec::new();
    for text in ["question7", "sky", "title", "thought", "model2", "answer"] {
        let search = Search { text: text.to_owned(), ..Search::default() };
        let mut uris: Vec<String> =
            index.search(&search, None, 1_000).await.unwrap().items.iter().map(|hit| hit.address.uri()).collect();
        uris.sort();
        found.push(uris);
    }
    let failed = Search { failed: true, ..Search::default() };
    let failed = index.search(&failed, None, 1_000).await.unwrap().items.len();
    let names = [index.names(NameOf::Model, 100).await.unwrap(), index.names(NameOf::Tool, 100).await.unwrap()];
    let mut turns = Vec::new();
    for head in &heads {
        turns.push(serde_json::to_value(index.conversation(&head.address, None, 100).await.unwrap()).unwrap());
    }
    let status = index.status().await.unwrap();
    json!({ "heads": heads, "found": found, "failed": failed, "names": names, "turns": turns,
        "waiting": status.waiting, "records": status.records })
}

/// Without what says that something was written.
fn without_versions(mut told: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| name != "version");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut told);
    told
}

async fn is_made_anew(index: &dyn Index, damage: impl AsyncFnOnce()) {
    publish(index).await;
    let before = without_versions(told(index).await);
    assert_eq!(before["names"][0].as_array().unwrap().len(), 4);
    damage().await;
    assert!(!check(index).await.unwrap().faults.is_empty(), "the damage is found");
    assert_ne!(without_versions(told(index).await), before);
    let counted = Arc::new(AtomicU64::new(0));
    let tell = Arc::clone(&counted);
    let rebuilt = index.rebuild(Arc::new(move |n| tell.store(n, Ordering::Relaxed))).await.unwrap();
    assert_eq!((rebuilt.records, rebuilt.conversations, rebuilt.dropped), (2 * (29 + 90 + 1 + 1 + 1), 2 * 29, 0));
    assert_eq!(counted.load(Ordering::Relaxed), rebuilt.records);
    assert_eq!(without_versions(told(index).await), before);
    assert_eq!(check(index).await.unwrap().faults, Vec::<String>::new());
    // And once more, of what is whole.
    index.rebuild(Arc::new(|_| {})).await.unwrap();
    assert_eq!(without_versions(told(index).await), before);
    // It can be written to as before.
    apply(index, vec![delete(&did(1), support::MESSAGE, 112, 100_000)]).await;
    assert_eq!(check(index).await.unwrap().faults, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_damaged_in_sqlite_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    let index = SqliteIndex::open(path.clone()).await.unwrap();
    is_made_anew(&index, async || {
        let db = rusqlite::Connection::open(&path).unwrap();
        db.execute_batch(
            "UPDATE conversation SET turns = 99, failed = 7, title = 'x'; DELETE FROM name_use;
             UPDATE account SET profile = NULL; UPDATE record SET opens = 0, conversation = NULL;
             INSERT INTO search (search) VALUES ('delete-all');",
        )
        .unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_what_was_damaged_is_made_anew() {
    let server = Postgres::start();
    let index = PostgresIndex::open(server.url(), None).await.unwrap();
    is_made_anew(&index, async || {
        let (client, connection) = tokio_postgres::connect(server.url(), NoTls).await.unwrap();
        tokio::spawn(connection);
        client
            .batch_execute(
                "UPDATE conversation SET turns = 99, failed = 7, title = 'x'; DELETE FROM name_use;
                 UPDATE account SET profile = NULL; UPDATE record SET opens = FALSE, conversation = NULL, terms = NULL;",
            )
            .await
            .unwrap();
    })
    .await;
}
