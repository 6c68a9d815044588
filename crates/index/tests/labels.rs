//! Following a labeler that signs with a real key, and one that means harm.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests fail loudly")]

mod support;

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use onrecord_atproto::{Client, Config, stream::LabelFlaw};
use onrecord_index::{
    Hidden, Index, Kept, SqliteIndex, Subject,
    follow::{LabelFollower, LabelProgress},
    stream_of,
};
use onrecord_lexicon::Did;
use onrecord_testkit::{Labeler, repo::SigningKey};
use serde_json::json;
use support::{
    apply,
    cases::{kiln, read},
    did,
};
use tempfile::TempDir;

const AT: &str = "2026-01-01T00:00:00.000Z";

struct Followed {
    index: Arc<dyn Index>,
    labeler: Labeler,
    told: Arc<Mutex<Vec<String>>>,
    following: Option<tokio::task::JoinHandle<()>>,
    _folder: TempDir,
}

impl Followed {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index: Arc<dyn Index> = Arc::new(SqliteIndex::open(folder.path().join("index.db")).await.unwrap());
        apply(&*index, [kiln(1, 10), kiln(2, 20)].concat()).await;
        let labeler = Labeler::start(SigningKey::k256(1));
        let mut followed = Self { index, labeler, told: Arc::default(), following: None, _folder: folder };
        followed.follow();
        followed
    }

    fn follow(&mut self) {
        let told = Arc::clone(&self.told);
        let follower = LabelFollower {
            index: Arc::clone(&self.index),
            client: Client::new(Config { allow_local: true, ..Config::default() }).unwrap(),
            labeler: self.labeler.did(),
            on_progress: Arc::new(move |progress: LabelProgress| told.lock().unwrap().push(format!("{progress:?}"))),
        };
        self.following = Some(tokio::spawn(async move {
            let ended = follower.run().await;
            panic!("{ended:?}");
        }));
    }

    async fn stop(&mut self) {
        let following = self.following.take().unwrap();
        following.abort();
        let _ = following.await;
    }

    async fn until(&self, what: &str, is_so: impl AsyncFn() -> bool) {
        let start = Instant::now();
        while !is_so().await {
            assert!(start.elapsed() < Duration::from_secs(60), "{what}: {:?}", self.told.lock().unwrap());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn hides(&self, n: usize, expected: Option<Hidden>) {
        self.until(&format!("{expected:?}"), async || {
            self.index.hides(&Subject::Account(did(n))).await.unwrap() == expected
        })
        .await;
    }

    fn told(&self, what: &str) -> bool {
        self.told.lock().unwrap().iter().any(|told| told.contains(what))
    }

    fn by_labeler(&self) -> Option<Hidden> {
        Some(Hidden::Labeler { did: Did::parse(&self.labeler.did()).unwrap() })
    }
}

#[tokio::test]
async fn what_a_labeler_says_hides_until_it_is_taken_back() {
    let mut followed = Followed::start().await;
    let (one, two) = (did(1).to_string(), did(2).to_string());
    let labeler = &followed.labeler;
    labeler.say(&[labeler.label(&one, "!takedown", AT, &json!({})), labeler.label(&two, "spam", AT, &json!({}))]);
    followed.hides(1, followed.by_labeler()).await;
    assert_eq!(read(&*followed.index, 1, 10).await, Kept::Hidden(followed.by_labeler().unwrap()));
    let told = followed.index.labels(&[Subject::Account(did(2))]).await.unwrap();
    assert_eq!(told[0].value, "spam");
    followed.hides(2, None).await;
    // The connection breaks, and the process ends: nothing is missed, and nothing is told twice.
    followed.labeler.cut();
    let negated = followed.labeler.label(&one, "!takedown", "2026-01-01T00:00:01Z", &json!({"neg": true}));
    followed.labeler.say(&[negated]);
    followed.hides(1, None).await;
    followed.stop().await;
    followed.labeler.say(&[followed.labeler.label(&two, "!no-unauthenticated", AT, &json!({}))]);
    followed.follow();
    followed.hides(2, Some(Hidden::SignedInOnly)).await;
    followed
        .until("the cursor", async || {
            let cursor =
                followed.index.cursor(&stream_of(&Did::parse(&followed.labeler.did()).unwrap())).await.unwrap();
            cursor.is_some_and(|at| at.cursor == "3")
        })
        .await;
    followed.stop().await;
}

#[tokio::test]
async fn a_frame_too_large_to_be_read_is_passed_over() {
    let mut followed = Followed::start().await;
    let labeler = &followed.labeler;
    let hide = |n| labeler.label(did(n).as_str(), "!hide", AT, &json!({}));
    labeler.say(&[hide(1)]);
    labeler.send(vec![0; 7_000_000]);
    labeler.say(&[hide(2)]);
    followed.hides(1, followed.by_labeler()).await;
    followed.hides(2, followed.by_labeler()).await;
    let rejected = followed.index.rejections().await.unwrap();
    assert_eq!(rejected.iter().map(|r| (r.reason.as_str(), r.count)).collect::<Vec<_>>(), [("frame:too-large", 1)]);
    followed.stop().await;
}

#[tokio::test]
async fn what_a_labeler_did_not_sign_hides_nothing() {
    let mut followed = Followed::start().await;
    let (one, two) = (did(1).to_string(), did(2).to_string());
    let labeler = &followed.labeler;
    let mut other = labeler.label(&one, "!hide", AT, &json!({}));
    other["src"] = json!(did(9).as_str());
    let mut changed = labeler.label(&one, "!hide", AT, &json!({}));
    changed["uri"] = json!(two);
    labeler.say(&[
        labeler.forged(&SigningKey::k256(2), &one, "!hide", AT),
        other,
        changed,
        labeler.label(&one, "!hide", "2999-01-01T00:00:00Z", &json!({})),
        labeler.label(&one, &"x".repeat(200), AT, &json!({})),
        labeler.label("https://example.org/picture", "!hide", AT, &json!({})),
    ]);
    labeler.send(vec![0xff; 100]);
    labeler.say(&[labeler.label(&two, "!hide", AT, &json!({}))]);
    labeler.send(vec![0; 7_000_000]);
    // What is too large ends the connection, and nothing else.
    followed.hides(2, followed.by_labeler()).await;
    followed.until("the end", async || followed.told("Lost")).await;
    followed.until("the flaws", async || followed.told("Future")).await;
    for flaw in [LabelFlaw::Form, LabelFlaw::Source, LabelFlaw::Signature, LabelFlaw::Future] {
        assert!(followed.told(&format!("Refused({flaw:?})")), "{flaw:?}");
    }
    followed.until("the frame", async || followed.told("Unreadable")).await;
    assert_eq!(followed.index.hides(&Subject::Account(did(1))).await.unwrap(), None);
    followed.stop().await;
}

#[tokio::test]
async fn a_labeler_is_asked_of_accounts_that_came_later() {
    let mut followed = Followed::start().await;
    followed.stop().await;
    let label = followed.labeler.label(did(1).as_str(), "rude", AT, &json!({}));
    followed.labeler.answer(vec![label]);
    followed.follow();
    followed
        .until("the answer", async || !followed.index.labels(&[Subject::Account(did(1))]).await.unwrap().is_empty())
        .await;
    followed.until("the sweep", async || followed.told("Swept { accounts: 2 }")).await;
    followed.stop().await;
}
