//! Following a real PDS through what goes wrong: commits that were missed, and keys that are slow to come.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use onrecord_atproto::{
    Client,
    stream::{Cursor, Event, Frame, Options},
};
use onrecord_index::{
    Admitted, Batch, Index, Note, OwedState, PostgresIndex, SourceCursor, SqliteIndex, Trust, admit,
    follow::{Follower, Progress},
};
use onrecord_testkit::{Fault, FaultProxy, Pds, PdsOptions, Postgres};
use serde_json::json;
use support::network::{Author, client, expected, key, seen};

struct Running {
    task: tokio::task::JoinHandle<()>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Running {
    /// Starts a follower; ended when dropped.
    fn start(index: &Arc<dyn Index>, client: &Client, source: &str) -> Self {
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
        Self { task, heard }
    }

    fn has_heard(&self, start: &str) -> bool {
        self.heard.lock().unwrap().iter().any(|word| word.starts_with(start))
    }

    async fn wait_until_heard(&self, start: &str) {
        let began = Instant::now();
        while !self.has_heard(start) {
            assert!(began.elapsed() < Duration::from_secs(120), "no {start} in {:#?}", self.heard.lock().unwrap());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn end(self) {
        self.task.abort();
        // The lease passes on once nothing of it is left.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Seen = BTreeMap<String, Vec<String>>;

/// Waits until a reader sees what is expected.
async fn wait_for(index: &dyn Index, expected: &Seen, running: &Running) {
    let began = Instant::now();
    loop {
        let now = seen(index).await;
        if now == *expected {
            return;
        }
        let heard = running.heard.lock().unwrap().clone();
        assert!(began.elapsed() < Duration::from_secs(120), "expected {expected:#?}\nseen {now:#?}\nheard {heard:#?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn world() -> (Pds, FaultProxy, Client, String) {
    let pds = Pds::start(PdsOptions { firehose_poll_ms: Some(20), ..PdsOptions::default() }).await;
    let proxy = FaultProxy::start(&pds).await;
    let client = client(&proxy);
    let source = format!("firehose:{}", pds.url().replace("http://", "ws://"));
    (pds, proxy, client, source)
}

/// Moves the place from which a source is followed to the commit that wrote this turn, as if it had been read.
async fn pass_over(index: &dyn Index, client: &Client, source: &str, turn: &str) {
    let options = Options { cursor: Some(Cursor::Sequence(0)), ..Options::default() };
    let mut stream = client.follow(&source.parse().unwrap(), &options).await.unwrap();
    let place = loop {
        if let Frame::Event { event: Event::Commit(commit), cursor, .. } = stream.next().await.unwrap()
            && commit.operations.iter().any(|operation| operation.rkey.as_str() == turn)
        {
            break cursor.unwrap();
        }
    };
    let cursor = Some(SourceCursor { source: source.to_owned(), cursor: place.number().to_string() });
    let batch = Batch { cursor, ..Batch::default() };
    index.apply(admit(batch, Trust::Nothing, support::now())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_gap_in_a_chain_is_noticed_and_filled() {
    let folder = tempfile::tempdir().unwrap();
    gap(Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_pds_a_gap_in_a_chain_is_noticed_and_filled() {
    let server = Postgres::start();
    gap(Arc::new(PostgresIndex::open(server.url(), None).await.unwrap())).await;
}

/// The commit that shows the gap touches nothing that is kept; and the follower is another process than before.
async fn gap(index: Arc<dyn Index>) {
    let (pds, proxy, client, source) = world().await;
    let dana = Author::new(&pds, "dana.test").await;
    let finn = Author::new(&pds, "finn.test").await;
    let running = Running::start(&index, &client, &source);
    running.wait_until_heard("Connected").await;
    dana.publish(&pds).await;
    let one = expected(&[("dana.test One", &["first"])]);
    wait_for(&*index, &one, &running).await;
    assert!(!running.has_heard("Missed"));
    running.end().await;

    // What was missed nobody tells again.
    dana.turn(&pds, &key(1), &key(3), "second").await;
    pass_over(&*index, &client, &source, &key(3)).await;
    let running = Running::start(&index, &client, &source);
    running.wait_until_heard("Connected").await;
    let note = json!({ "text": "of no interest" });
    finn.put(&pds, "com.example.note", "one", note.clone()).await;
    dana.put(&pds, "com.example.note", "one", note.clone()).await;
    let two = expected(&[("dana.test One", &["first", "second"])]);
    wait_for(&*index, &two, &running).await;
    assert!(running.has_heard("Missed"), "{:?}", running.heard);
    running.wait_until_heard("Fetched").await;
    assert_eq!(proxy.count("com.atproto.sync.getRepo"), 1, "of those who are nobody's here nothing is fetched");

    // From there on the chain is whole again.
    dana.put(&pds, "com.example.note", "two", note).await;
    dana.turn(&pds, &key(1), &key(4), "third").await;
    let three = expected(&[("dana.test One", &["first", "second", "third"])]);
    wait_for(&*index, &three, &running).await;
    assert_eq!(proxy.count("com.atproto.sync.getRepo"), 1, "{:#?}", running.heard.lock().unwrap());
    let owed = index.run(&format!("follow:{source}")).await.unwrap();
    assert_eq!((owed.waiting, owed.given_up), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_key_that_is_slow_to_come_holds_up_nobody_else_and_loses_nothing() {
    let (pds, proxy, client, source) = world().await;
    let folder = tempfile::tempdir().unwrap();
    let index: Arc<dyn Index> = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
    let (dana, erin) = (Author::new(&pds, "dana.test").await, Author::new(&pds, "erin.test").await);
    let slow = format!("/{}", dana.account.did);
    proxy.script(&slow, std::iter::repeat_n(Fault::DelayBefore(Duration::from_secs(300)), 50));
    let running = Running::start(&index, &client, &source);
    running.wait_until_heard("Connected").await;
    dana.publish(&pds).await;
    dana.delete(&pds, support::MESSAGE, &key(2)).await;
    dana.turn(&pds, &key(1), &key(3), "second").await;
    erin.publish(&pds).await;
    let hers = expected(&[("erin.test One", &["first"])]);
    wait_for(&*index, &hers, &running).await;
    assert!(proxy.count(&slow) > 0);
    erin.turn(&pds, &key(1), &key(3), "second").await;
    let more = expected(&[("erin.test One", &["first", "second"])]);
    wait_for(&*index, &more, &running).await;

    // Who ends now has not passed over what waits.
    running.end().await;
    proxy.reset();
    let running = Running::start(&index, &client, &source);
    let both = expected(&[("dana.test One", &["second"]), ("erin.test One", &["first", "second"])]);
    wait_for(&*index, &both, &running).await;
    assert_eq!(proxy.count("com.atproto.sync.getRepo"), 0, "all of it came by the stream");
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_a_commit_whose_key_cannot_be_had_is_owed_until_its_repository_is_fetched() {
    let (pds, proxy, client, source) = world().await;
    let folder = tempfile::tempdir().unwrap();
    let index: Arc<dyn Index> = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
    let dana = Author::new(&pds, "dana.test").await;
    let running = Running::start(&index, &client, &source);
    running.wait_until_heard("Connected").await;
    proxy
        .script(&format!("/{}", dana.account.did), std::iter::repeat_n(Fault::refusal(404, "NotFound", "not yet"), 50));
    dana.publish(&pds).await;
    running.wait_until_heard("FetchFailed").await;
    let run = format!("follow:{source}");
    let owed = index.owed(&run, OwedState::Waiting, None, 10).await.unwrap();
    assert_eq!(owed.len(), 1);
    assert_eq!(owed[0].did, dana.account.did);
    running.end().await;

    // The next process does what this one owes, as soon as it is due.
    proxy.reset();
    let due = Note::Owed { run: run.clone(), dids: vec![dana.account.did.clone()], afresh: true };
    index.apply(Admitted::of_notes(vec![due], None)).await.unwrap();
    let running = Running::start(&index, &client, &source);
    wait_for(&*index, &expected(&[("dana.test One", &["first"])]), &running).await;
    running.wait_until_heard("Fetched").await;
    let began = Instant::now();
    while index.run(&run).await.unwrap().waiting > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "it is still owed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_who_an_account_is_stays_owed_until_it_was_looked_up() {
    let (pds, proxy, client, source) = world().await;
    let folder = tempfile::tempdir().unwrap();
    let index: Arc<dyn Index> = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
    let dana = Author::new(&pds, "dana.test").await;
    let running = Running::start(&index, &client, &source);
    running.wait_until_heard("Connected").await;
    let slow = "com.atproto.sync.getLatestCommit";
    proxy.script(slow, std::iter::repeat_n(Fault::DelayBefore(Duration::from_secs(300)), 50));
    dana.publish(&pds).await;
    let who = format!("who:follow:{source}");
    let began = Instant::now();
    while proxy.count(slow) == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "{:#?}", running.heard.lock().unwrap());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.end().await;
    let owed = index.owed(&who, OwedState::Waiting, None, 10).await.unwrap();
    assert_eq!(owed.iter().map(|owed| &owed.did).collect::<Vec<_>>(), [&dana.account.did]);

    // Nothing more is said of it: the next process knows.
    proxy.reset();
    let running = Running::start(&index, &client, &source);
    wait_for(&*index, &expected(&[("dana.test One", &["first"])]), &running).await;
    let began = Instant::now();
    while index.run(&who).await.unwrap().waiting > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "it is still owed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pds_who_was_away_when_it_was_looked_up_is_looked_up_when_it_is_back() {
    let (pds, _proxy, client, source) = world().await;
    let folder = tempfile::tempdir().unwrap();
    let index: Arc<dyn Index> = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
    let dana = Author::new(&pds, "dana.test").await;
    let running = Running::start(&index, &client, &source);
    running.wait_until_heard("Connected").await;
    dana.publish(&pds).await;
    wait_for(&*index, &expected(&[("dana.test One", &["first"])]), &running).await;
    running.end().await;

    // Renamed and taken down while nobody follows: who looks then is shown nothing.
    dana.rename(&pds, "dana-two.test").await;
    pds.take_down(&dana.account.did).await;
    let running = Running::start(&index, &client, &source);
    running.wait_until_heard("FetchFailed").await;
    pds.set_taken_down(&dana.account.did, false).await;
    wait_for(&*index, &expected(&[("dana-two.test One", &["first"])]), &running).await;
}
