//! A follower at work between a hostile network and a store.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use onrecord_atproto::{Client, Config};
use onrecord_index::{
    Address, Index, Kept, Recent,
    follow::{Follower, Progress},
};
use onrecord_lexicon::{Did, Nsid, Rkey};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    author::{Author, tid},
    network::Network,
};

/// Which server the network plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plays {
    Firehose,
    /// The first version of Jetstream.
    One,
    /// The second version.
    Two,
    Tap,
}

pub struct Stage {
    pub network: Network,
    pub index: Arc<dyn Index>,
    pub plays: Plays,
    pub heard: Arc<Mutex<Vec<String>>>,
    follower: tokio::task::JoinHandle<()>,
    authors: AtomicUsize,
    frames: AtomicI64,
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

pub fn client(network: &Network) -> Client {
    Client::new(Config {
        plc_url: network.url().parse().unwrap(),
        resolver_url: Some(network.url().parse().unwrap()),
        allow_local: true,
        timeout: Duration::from_secs(60),
        hosts: (0..40).map(|n| (format!("h{n}.localhost"), network.address())).collect(),
        ..Config::default()
    })
    .unwrap()
}

impl Stage {
    pub async fn new(index: Arc<dyn Index>, network: Network, plays: Plays, dictionary: Option<Vec<u8>>) -> Self {
        let kind = match plays {
            Plays::Firehose => "firehose",
            Plays::One | Plays::Two => "jetstream",
            Plays::Tap => "tap",
        };
        let path = if plays == Plays::One { "/subscribe" } else { "" };
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let tell = Arc::clone(&heard);
        let follower = Follower {
            index: Arc::clone(&index),
            client: client(&network),
            source: format!("{kind}:{}{path}", network.socket()).parse().unwrap(),
            dictionary,
            on_progress: Arc::new(move |progress| {
                if !matches!(progress, Progress::Applied(_)) {
                    tell.lock().unwrap().push(format!("{progress:?}"));
                }
            }),
        };
        let follower = tokio::spawn(async move {
            let error = follower.run().await.unwrap_err();
            panic!("the follower ended: {error}");
        });
        Self { network, index, plays, heard, follower, authors: AtomicUsize::new(0), frames: AtomicI64::new(0) }
    }

    /// An account that nobody heard of.
    pub fn author(&self) -> Author {
        Author::new(&self.network, self.authors.fetch_add(1, Ordering::Relaxed))
    }

    /// The number of the next frame.
    pub fn next_frame(&self) -> i64 {
        self.frames.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of the last.
    pub fn last_frame(&self) -> i64 {
        self.frames.load(Ordering::Relaxed)
    }

    /// The place in the stream that is kept.
    pub async fn cursor(&self) -> i64 {
        let status = self.index.status().await.unwrap();
        status.cursors[0].cursor.parse().unwrap()
    }

    /// Whether a record of an author is stored.
    pub async fn is_stored(&self, author: &Author, path: &str) -> bool {
        let (collection, rkey) = path.split_once('/').unwrap();
        let address = Address {
            did: Did::parse(&author.did).unwrap(),
            collection: Nsid::parse(collection).unwrap(),
            rkey: Rkey::parse(rkey).unwrap(),
        };
        matches!(self.index.record(&address).await.unwrap(), Kept::Here(_))
    }

    /// What was refused so far, by reason and collection.
    pub async fn refused(&self) -> BTreeMap<String, u64> {
        let rejections = self.index.rejections().await.unwrap();
        rejections.into_iter().map(|r| (format!("{} {}", r.reason, r.collection).trim().to_owned(), r.count)).collect()
    }

    /// The titles of all conversations that a reader sees.
    pub async fn titles(&self) -> Vec<String> {
        let mut titles = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.index.recent(&Recent::All, cursor.as_ref(), 100).await.unwrap();
            titles.extend(page.items.into_iter().map(|head| head.title.unwrap_or_default()));
            match page.cursor {
                Some(next) => cursor = Some(next),
                None => return titles,
            }
        }
    }

    pub async fn until(&self, what: &str, mut is_so: impl AsyncFnMut(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self).await {
            let heard = self.heard.lock().unwrap().clone();
            let last = &heard[heard.len().saturating_sub(20)..];
            assert!(!self.follower.is_finished(), "{what}: the follower ended; heard {last:#?}");
            assert!(began.elapsed() < Duration::from_secs(60), "{what} did not happen; heard {last:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sends frames, and after them a good conversation of somebody else. That one is stored; of the others nothing is, and
    /// the refusals are counted as `expected`.
    pub async fn refuses(&self, what: &str, frames: impl IntoIterator<Item = Message>, expected: &[(&str, u64)]) {
        self.shows(what, frames, expected, &[]).await;
    }

    /// The same where also conversations of the given titles are to be seen then.
    pub async fn shows(
        &self,
        what: &str,
        frames: impl IntoIterator<Item = Message>,
        expected: &[(&str, u64)],
        titles: &[&str],
    ) {
        let (mut before, mut seen) = (self.refused().await, self.titles().await);
        self.network.send(frames);
        let mark = format!("good after {what}");
        let mut witness = self.author();
        let good = self.good(&mut witness, &mark);
        self.network.send([good]);
        seen.extend(titles.iter().map(|title| (*title).to_owned()).chain([mark.clone()]));
        seen.sort();
        self.until(&mark, async |stage| stage.titles().await.contains(&mark)).await;
        for (reason, count) in expected {
            *before.entry((*reason).to_owned()).or_default() += count;
        }
        // What is fetched beside the stream may be refused a moment later.
        self.until(&format!("{what}: {before:?}"), async |stage| stage.refused().await == before).await;
        let mut now = self.titles().await;
        now.sort();
        assert_eq!(now, seen, "{what}");
    }

    /// Sends a frame too large to be read: the connection ends, another begins, and goes on. Gives what it was asked for with.
    pub async fn loses_connection(&self, frame: Message) -> String {
        let (mut expected, connections) = (self.refused().await, self.network.followed().len());
        self.network.send([frame]);
        self.until("another connection", async |stage| stage.network.followed().len() > connections).await;
        *expected.entry("frame:too-large".to_owned()).or_default() += 1;
        assert_eq!(self.refused().await, expected);
        self.refuses("a frame too large to be read", [], &[]).await;
        self.network.followed().pop().unwrap()
    }

    /// A frame that tells of a conversation, in the words of the server that is played.
    pub fn good(&self, author: &mut Author, title: &str) -> Message {
        let number = self.next_frame();
        match self.plays {
            Plays::Firehose => author.good(title).frame(number),
            Plays::One | Plays::Two | Plays::Tap => {
                let told = crate::json::write(author, title);
                crate::json::frame(self.plays, number, &told)
            }
        }
    }
}

/// When a frame of a Jetstream was sent, in microseconds.
pub fn time_us(number: i64) -> i64 {
    i64::try_from(tid(0).micros()).unwrap() + number
}
