//! Following a real PDS, by its firehose and by stand-ins for Jetstream and Tap, with a follower that is ended at random.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use onrecord_atproto::{Client, Config};
use onrecord_index::{
    Address, Index, Kept, Recent, SqliteIndex,
    follow::{Follower, Progress, fetch},
};
use onrecord_lexicon::{Nsid, Rkey};
use onrecord_testkit::{Account, Pds, PdsOptions, Streams};
use serde_json::{Value, json};

const SESSION: &str = "click.aligned.chat.session";
const MESSAGE: &str = "click.aligned.chat.message";

fn client(pds: &Pds) -> Client {
    Client::new(Config {
        plc_url: pds.plc_url().parse().unwrap(),
        resolver_url: Some(pds.url().parse().unwrap()),
        allow_local: true,
        ..Config::default()
    })
    .unwrap()
}

/// An author at work.
struct Author {
    account: Account,
    token: String,
}

impl Author {
    async fn new(pds: &Pds, name: &str) -> Self {
        let account = pds.create_account(name).await;
        let body = json!({ "identifier": account.handle.as_str(), "password": account.password });
        let session = pds.post("com.atproto.server.createSession", None, &body).await;
        Self { token: session["accessJwt"].as_str().unwrap().to_owned(), account }
    }

    async fn put(&self, pds: &Pds, collection: &str, rkey: &str, mut record: Value) {
        record["$type"] = collection.into();
        let body = json!({ "repo": self.account.did.as_str(), "collection": collection, "rkey": rkey,
            "validate": false, "record": record });
        pds.post("com.atproto.repo.putRecord", Some(&self.token), &body).await;
    }

    async fn delete(&self, pds: &Pds, collection: &str, rkey: &str) {
        let body = json!({ "repo": self.account.did.as_str(), "collection": collection, "rkey": rkey });
        pds.post("com.atproto.repo.deleteRecord", Some(&self.token), &body).await;
    }

    async fn conversation(&self, pds: &Pds, key: &str, title: &str) {
        let at = "2026-01-02T03:04:05.678Z";
        self.put(pds, SESSION, key, json!({ "createdAt": at, "title": title })).await;
    }

    async fn turn(&self, pds: &Pds, session: &str, key: &str, text: &str) {
        let session = format!("at://{}/{SESSION}/{session}", self.account.did);
        let record =
            json!({ "session": session, "role": "user", "text": text, "createdAt": "2026-01-02T03:04:05.678Z" });
        self.put(pds, MESSAGE, key, record).await;
    }

    async fn call(&self, pds: &Pds, method: &str, body: Option<Value>) {
        let mut request = reqwest::Client::new().post(format!("{}/xrpc/{method}", pds.url())).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{method}: {}", answer.text().await.unwrap());
    }
}

fn key(n: u64) -> String {
    onrecord_lexicon::Tid::from_micros(1_767_225_600_000_000 + n * 1_000_000, 3).unwrap().to_string()
}

/// All that a reader can see: title by author and key, and the turns' texts.
async fn seen(index: &dyn Index) -> BTreeMap<String, Vec<String>> {
    let mut seen = BTreeMap::new();
    let heads = index.recent(&Recent::All, None, 100).await.unwrap().items;
    for head in heads {
        let Kept::Here(whole) = index.conversation(&head.address, None, 100).await.unwrap() else { continue };
        let texts = whole.turns.items.iter().map(|turn| {
            let record: Value = serde_json::from_str(turn.turn().unwrap().record.get()).unwrap();
            record["text"].as_str().unwrap().to_owned()
        });
        let handle = head.author.handle.as_ref().map(ToString::to_string).unwrap_or_default();
        seen.insert(format!("{handle} {}", head.title.unwrap_or_default()), texts.collect());
    }
    seen
}

struct Running {
    task: tokio::task::JoinHandle<()>,
    heard: Arc<Mutex<Vec<String>>>,
}

/// Starts a follower; ended when dropped.
fn start(index: &Arc<dyn Index>, client: &Client, source: &str) -> Running {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&heard);
    let follower = Follower {
        index: Arc::clone(index),
        client: client.clone(),
        source: source.parse().unwrap(),
        dictionary: None,
        on_progress: Arc::new(move |progress: Progress| {
            if !matches!(progress, Progress::Applied(_)) {
                tell.lock().unwrap().push(format!("{progress:?}"));
            }
        }),
    };
    let task = tokio::spawn(async move {
        let error = follower.run().await.unwrap_err();
        panic!("the follower ended: {error}");
    });
    Running { task, heard }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits until a reader sees what is expected.
async fn wait_for(index: &dyn Index, expected: &BTreeMap<String, Vec<String>>, running: &Running) {
    let began = Instant::now();
    loop {
        let now = seen(index).await;
        if now == *expected {
            return;
        }
        let heard = running.heard.lock().unwrap().clone();
        assert!(began.elapsed() < Duration::from_secs(40), "expected {expected:#?}\nseen {now:#?}\nheard {heard:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn expected(entries: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
    entries.iter().map(|(name, texts)| ((*name).to_owned(), texts.iter().map(|t| (*t).to_owned()).collect())).collect()
}

async fn store(folder: &tempfile::TempDir, name: &str) -> Arc<dyn Index> {
    Arc::new(SqliteIndex::open(folder.path().join(name)).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_what_authors_do_is_what_readers_see_whatever_the_stream() {
    let pds = Pds::start(PdsOptions { firehose_poll_ms: Some(20), ..PdsOptions::default() }).await;
    let streams = Streams::start(&pds).await;
    let client = client(&pds);
    let folder = tempfile::tempdir().unwrap();
    let socket = pds.url().replace("http://", "ws://");
    let dana = Author::new(&pds, "dana.test").await;
    let erin = Author::new(&pds, "erin.test").await;
    let add = json!({ "dids": [dana.account.did.as_str(), erin.account.did.as_str()] });
    let added = reqwest::Client::new().post(streams.url().replace("ws://", "http://") + "/repos/add").json(&add).send();
    assert!(added.await.unwrap().status().is_success());

    let sources = [
        format!("firehose:{socket}"),
        format!("jetstream:{}", streams.url()),
        format!("jetstream:{}/subscribe", streams.url()),
        format!("tap:{}", streams.url()),
    ];
    let mut followed = Vec::new();
    for (n, source) in sources.iter().enumerate() {
        let index = store(&folder, &format!("{n}.db")).await;
        let running = start(&index, &client, source);
        followed.push((index, running));
    }
    for (_, running) in &followed {
        while !running.heard.lock().unwrap().iter().any(|word| word == "Connected") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    // A turn may come before its session, and wait for it.
    dana.turn(&pds, &key(1), &key(2), "first").await;
    dana.conversation(&pds, &key(1), "One").await;
    dana.turn(&pds, &key(1), &key(3), "second").await;
    erin.conversation(&pds, &key(1), "Hers").await;
    erin.turn(&pds, &key(1), &key(2), "hello").await;
    let both = expected(&[("dana.test One", &["first", "second"]), ("erin.test Hers", &["hello"])]);
    for (index, running) in &followed {
        wait_for(&**index, &both, running).await;
    }

    // Followers that are ended go on where they were.
    for (_, running) in &followed {
        running.task.abort();
    }
    dana.turn(&pds, &key(1), &key(2), "first, mended").await;
    dana.delete(&pds, MESSAGE, &key(3)).await;
    dana.turn(&pds, &key(1), &key(4), "third").await;
    erin.call(&pds, "com.atproto.server.deactivateAccount", Some(json!({}))).await;
    let without_erin = expected(&[("dana.test One", &["first, mended", "third"])]);
    for (n, source) in sources.iter().enumerate() {
        followed[n].1 = start(&followed[n].0, &client, source);
        wait_for(&*followed[n].0, &without_erin, &followed[n].1).await;
    }

    erin.call(&pds, "com.atproto.server.activateAccount", None).await;
    dana.call(&pds, "com.atproto.identity.updateHandle", Some(json!({ "handle": "dana-two.test" }))).await;
    let back = expected(&[("dana-two.test One", &["first, mended", "third"]), ("erin.test Hers", &["hello"])]);
    for (index, running) in &followed {
        wait_for(&**index, &back, running).await;
    }
    dana.delete(&pds, SESSION, &key(1)).await;
    let only_erin = expected(&[("erin.test Hers", &["hello"])]);
    for (index, running) in &followed {
        wait_for(&**index, &only_erin, running).await;
        let gone = Address {
            did: dana.account.did.clone(),
            collection: Nsid::parse(SESSION).unwrap(),
            rkey: Rkey::parse(&key(1)).unwrap(),
        };
        assert!(matches!(index.conversation(&gone, None, 10).await.unwrap(), Kept::Gone));
        let heard = running.heard.lock().unwrap().clone();
        assert!(!heard.iter().any(|word| word.starts_with("NotBelieved")), "{heard:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_repository_that_is_fetched_replaces_what_was_known_of_it() {
    let pds = Pds::start(PdsOptions::default()).await;
    let client = client(&pds);
    let folder = tempfile::tempdir().unwrap();
    let index = store(&folder, "index.db").await;
    let dana = Author::new(&pds, "dana.test").await;
    dana.conversation(&pds, &key(1), "One").await;
    dana.turn(&pds, &key(1), &key(2), "first").await;
    dana.turn(&pds, &key(1), &key(3), "second").await;
    let fetched = fetch(&*index, &client, &dana.account.did, None).await.unwrap();
    assert_eq!(fetched.records, 3);
    assert_eq!(seen(&*index).await, expected(&[("dana.test One", &["first", "second"])]));

    dana.delete(&pds, MESSAGE, &key(2)).await;
    dana.turn(&pds, &key(1), &key(3), "second, mended").await;
    fetch(&*index, &client, &dana.account.did, None).await.unwrap();
    assert_eq!(seen(&*index).await, expected(&[("dana.test One", &["second, mended"])]));
}
