//! Authors at work on a real PDS.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use onrecord_lexicon::{Did, Tid};
use onrecord_testkit::Pds;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::Rng;

pub const SESSION: &str = "click.aligned.chat.session";
pub const MESSAGE: &str = "click.aligned.chat.message";
pub const PROFILE: &str = "app.bsky.actor.profile";
const OTHER: &str = "app.bsky.feed.post";
/// How many write at once.
const WORKERS: usize = 6;
/// Of hundred accounts, how many may be deleted.
const DELETED: usize = 8;

/// A place in a repository: collection and key.
pub type Place = (String, String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Active,
    Deactivated,
    TakenDown,
    Deleted,
}

/// Somebody who writes.
#[derive(Debug)]
pub struct Author {
    pub number: usize,
    pub did: Did,
    token: String,
    state: State,
    /// Conversations, as their sessions' keys, with the keys of their messages.
    talks: BTreeMap<String, BTreeSet<String>>,
    /// Keys of sessions that were deleted.
    ended: Vec<String>,
    clock: u64,
    renamed: usize,
    rng: Rng,
    /// Everything it ever put anywhere.
    pub places: BTreeSet<Place>,
    /// Every word it ever wrote that nobody else did.
    pub words: BTreeSet<String>,
}

/// All of them.
pub struct Authors {
    pub pds: Arc<Pds>,
    pub all: Vec<Arc<tokio::sync::Mutex<Author>>>,
    http: Client,
    /// What was done, by its name.
    pub done: Mutex<BTreeMap<&'static str, usize>>,
    deleted: AtomicUsize,
}

impl Authors {
    /// Makes the accounts.
    pub async fn new(pds: Arc<Pds>, count: usize, rng: &Rng) -> Arc<Self> {
        let http = Client::new();
        let mut all: Vec<Option<Author>> = (0..count).map(|_| None).collect();
        let mut making = JoinSet::new();
        for number in 0..count {
            if making.len() >= 4 {
                let author: Author = making.join_next().await.unwrap().unwrap();
                let at = author.number;
                all[at] = Some(author);
            }
            let (pds, http, rng) = (Arc::clone(&pds), http.clone(), rng.fork(number as u64));
            making.spawn(async move {
                let handle = format!("author-{number}.test");
                let body = json!({ "handle": handle, "email": format!("{handle}@example.com"), "password": handle });
                let made = call(&http, &pds, "com.atproto.server.createAccount", None, Some(&body)).await;
                Author {
                    number,
                    did: Did::parse(made["did"].as_str().unwrap()).unwrap(),
                    token: made["accessJwt"].as_str().unwrap().to_owned(),
                    state: State::Active,
                    talks: BTreeMap::new(),
                    ended: Vec::new(),
                    clock: 0,
                    renamed: 0,
                    rng,
                    places: BTreeSet::new(),
                    words: BTreeSet::new(),
                }
            });
        }
        while let Some(author) = making.join_next().await {
            let author = author.unwrap();
            let at = author.number;
            all[at] = Some(author);
        }
        let all = all.into_iter().map(|author| Arc::new(tokio::sync::Mutex::new(author.unwrap()))).collect();
        Arc::new(Self { pds, all, http, done: Mutex::default(), deleted: AtomicUsize::new(0) })
    }

    /// Lets them write until `is_over`; then most of those who are hidden come back.
    pub async fn write_until(self: &Arc<Self>, is_over: Arc<AtomicBool>, rng: &Rng) {
        let mut workers = JoinSet::new();
        for worker in 0..WORKERS {
            let (authors, is_over, mut rng) = (Arc::clone(self), Arc::clone(&is_over), rng.fork(worker as u64));
            workers.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    // Each worker has its own, so that nobody waits.
                    let own = authors.all.len().saturating_sub(worker).div_ceil(WORKERS);
                    if own == 0 {
                        break;
                    }
                    let author = &authors.all[worker + rng.place(own) * WORKERS];
                    let what = authors.act(&mut *author.lock().await).await;
                    *authors.done.lock().unwrap().entry(what).or_default() += 1;
                }
            });
        }
        while let Some(worker) = workers.join_next().await {
            worker.unwrap();
        }
        for author in &self.all {
            let mut author = author.lock().await;
            if author.state != State::Deleted && author.number % 3 != 0 {
                self.come_back(&mut author).await;
            }
        }
    }

    /// Something that streams tell, and that is in no index yet: a profile of somebody who put nothing else on record.
    pub async fn beacon(&self) {
        self.present(&mut *self.all[0].lock().await).await;
    }

    /// One thing that somebody does.
    async fn act(&self, author: &mut Author) -> &'static str {
        if author.state != State::Active {
            if author.state != State::Deleted && author.rng.is(30) {
                self.come_back(author).await;
                return "come back";
            }
            return "stay away";
        }
        match author.rng.below(100) {
            0..25 => self.publish(author).await,
            25..50 => self.say(author).await,
            50..60 => self.edit(author).await,
            60..67 => self.withhold(author).await,
            67..74 => self.unsay(author).await,
            74..78 => self.end(author).await,
            78..82 => self.take_back(author).await,
            82..85 => self.name(author).await,
            85..88 => self.present(author).await,
            88..91 => self.chat(author).await,
            91..93 => self.err(author).await,
            93..96 => {
                self.post(author, "com.atproto.server.deactivateAccount", Some(&json!({}))).await;
                author.state = State::Deactivated;
                "deactivate"
            }
            96..97 => {
                self.pds.set_taken_down(&author.did, true).await;
                author.state = State::TakenDown;
                "be taken down"
            }
            97..99 => {
                author.renamed += 1;
                let handle = format!("author-{}-{}.test", author.number, author.renamed);
                self.post(author, "com.atproto.identity.updateHandle", Some(&json!({ "handle": handle }))).await;
                "rename"
            }
            _ => {
                // The first stays, for who waits for beacons.
                if author.number == 0 || self.deleted.load(Ordering::Relaxed) * 100 >= self.all.len() * DELETED {
                    return "stay";
                }
                self.deleted.fetch_add(1, Ordering::Relaxed);
                self.pds.delete_account(&author.did).await;
                author.state = State::Deleted;
                "delete the account"
            }
        }
    }

    async fn come_back(&self, author: &mut Author) {
        match author.state {
            State::Deactivated => self.post(author, "com.atproto.server.activateAccount", None).await,
            State::TakenDown => self.pds.set_taken_down(&author.did, false).await,
            State::Active | State::Deleted => return,
        }
        author.state = State::Active;
    }

    /// A conversation of some turns, in one commit; or the turns first, and what they belong to later.
    async fn publish(&self, author: &mut Author) -> &'static str {
        let key = author.key();
        let turns: Vec<(String, Value)> = (0..author.rng.below(4)).map(|_| author.turn(&key)).collect();
        let session = author.session();
        author.talks.insert(key.clone(), turns.iter().map(|(key, _)| key.clone()).collect());
        let mut writes = vec![author.write("create", SESSION, &key, Some(session))];
        let messages: Vec<Value> =
            turns.into_iter().map(|(key, turn)| author.write("create", MESSAGE, &key, Some(turn))).collect();
        if author.rng.is(15) && !messages.is_empty() {
            self.apply(author, messages).await;
            self.apply(author, writes).await;
            return "publish, turns first";
        }
        writes.extend(messages);
        self.apply(author, writes).await;
        "publish"
    }

    async fn say(&self, author: &mut Author) -> &'static str {
        let Some(session) = author.a_session() else { return self.publish(author).await };
        let (key, turn) = author.turn(&session);
        author.talks.get_mut(&session).unwrap().insert(key.clone());
        let write = author.write("create", MESSAGE, &key, Some(turn));
        self.apply(author, vec![write]).await;
        "say"
    }

    async fn edit(&self, author: &mut Author) -> &'static str {
        let Some((session, key)) = author.a_turn() else { return self.publish(author).await };
        let (_, turn) = author.turn(&session);
        let write = author.write("update", MESSAGE, &key, Some(turn));
        self.apply(author, vec![write]).await;
        "edit"
    }

    async fn withhold(&self, author: &mut Author) -> &'static str {
        let Some((session, key)) = author.a_turn() else { return self.publish(author).await };
        let session = format!("at://{}/{SESSION}/{session}", author.did);
        let turn = json!({ "$type": MESSAGE, "session": session, "role": "user", "text": "", "withheld": true,
            "createdAt": "2026-01-02T03:04:05.678Z" });
        let write = author.write("update", MESSAGE, &key, Some(turn));
        self.apply(author, vec![write]).await;
        "withhold"
    }

    async fn unsay(&self, author: &mut Author) -> &'static str {
        let Some((session, key)) = author.a_turn() else { return self.publish(author).await };
        author.talks.get_mut(&session).unwrap().remove(&key);
        let write = author.write("delete", MESSAGE, &key, None);
        self.apply(author, vec![write]).await;
        "delete a turn"
    }

    /// Deletes a session and leaves its messages; or puts one back.
    async fn end(&self, author: &mut Author) -> &'static str {
        if author.rng.is(40) && !author.ended.is_empty() {
            let at = author.rng.place(author.ended.len());
            let key = author.ended.swap_remove(at);
            let session = author.session();
            author.talks.insert(key.clone(), BTreeSet::new());
            let write = author.write("create", SESSION, &key, Some(session));
            self.apply(author, vec![write]).await;
            return "put a session back";
        }
        let Some(session) = author.a_session() else { return self.publish(author).await };
        author.talks.remove(&session);
        let write = author.write("delete", SESSION, &session, None);
        author.ended.push(session);
        self.apply(author, vec![write]).await;
        "delete a session"
    }

    async fn take_back(&self, author: &mut Author) -> &'static str {
        let Some(session) = author.a_session() else { return self.publish(author).await };
        let keys = author.talks.remove(&session).unwrap();
        let mut writes: Vec<Value> = keys.iter().map(|key| author.write("delete", MESSAGE, key, None)).collect();
        writes.push(author.write("delete", SESSION, &session, None));
        self.apply(author, writes).await;
        "take back"
    }

    async fn name(&self, author: &mut Author) -> &'static str {
        let Some(session) = author.a_session() else { return self.publish(author).await };
        let record = author.session();
        let write = author.write("update", SESSION, &session, Some(record));
        self.apply(author, vec![write]).await;
        "change a title"
    }

    async fn present(&self, author: &mut Author) -> &'static str {
        let place = (PROFILE.to_owned(), "self".to_owned());
        if author.places.contains(&place) && author.rng.is(20) {
            let body = json!({ "repo": author.did.as_str(), "collection": PROFILE, "rkey": "self" });
            self.post(author, "com.atproto.repo.deleteRecord", Some(&body)).await;
            return "delete the profile";
        }
        author.places.insert(place);
        let record = json!({ "$type": PROFILE, "displayName": format!("Author {}", author.rng.below(1_000)) });
        let body = json!({ "repo": author.did.as_str(), "collection": PROFILE, "rkey": "self", "record": record });
        self.post(author, "com.atproto.repo.putRecord", Some(&body)).await;
        "write a profile"
    }

    /// What no index of conversations is about.
    async fn chat(&self, author: &mut Author) -> &'static str {
        let key = author.key();
        let record = json!({ "$type": OTHER, "text": author.word(), "createdAt": "2026-01-02T03:04:05.678Z" });
        let write = author.write("create", OTHER, &key, Some(record));
        self.apply(author, vec![write]).await;
        "post something else"
    }

    /// A record that breaks its lexicon, sometimes over one that does not.
    async fn err(&self, author: &mut Author) -> &'static str {
        let word = author.word();
        let record = |session: &str| json!({ "$type": MESSAGE, "session": session, "role": 7, "text": word, "createdAt": "2026-01-02T03:04:05.678Z" });
        let write = match author.a_turn() {
            Some((session, key)) if author.rng.is(50) => {
                let session = format!("at://{}/{SESSION}/{session}", author.did);
                author.write("update", MESSAGE, &key, Some(record(&session)))
            }
            _ => {
                let key = author.key();
                let session = format!("at://{}/{SESSION}/{key}", author.did);
                author.write("create", MESSAGE, &key, Some(record(&session)))
            }
        };
        self.apply(author, vec![write]).await;
        "err"
    }

    async fn apply(&self, author: &Author, writes: Vec<Value>) {
        let body = json!({ "repo": author.did.as_str(), "validate": false, "writes": writes });
        self.post(author, "com.atproto.repo.applyWrites", Some(&body)).await;
    }

    async fn post(&self, author: &Author, method: &str, body: Option<&Value>) {
        call(&self.http, &self.pds, method, Some(&author.token), body).await;
    }
}

impl Author {
    /// The next key. They rise through the days before the test.
    fn key(&mut self) -> String {
        self.clock += 1 + self.rng.below(50);
        Tid::from_micros(1_767_225_600_000_000 + self.clock * 1_000_000, 3).unwrap().to_string()
    }

    /// A word that is nowhere else.
    fn word(&mut self) -> String {
        let mut word = String::from("w");
        let mut n = self.rng.next() >> 8;
        while n > 0 {
            word.push(char::from(b'a' + u8::try_from(n % 26).unwrap()));
            n /= 26;
        }
        self.words.insert(word.clone());
        word
    }

    fn a_session(&mut self) -> Option<String> {
        let at = (!self.talks.is_empty()).then(|| self.rng.place(self.talks.len()))?;
        self.talks.keys().nth(at).cloned()
    }

    fn a_turn(&mut self) -> Option<(String, String)> {
        let session = self.a_session()?;
        let keys = &self.talks[&session];
        let at = (!keys.is_empty()).then(|| self.rng.place(keys.len()))?;
        let key = keys.iter().nth(at).cloned()?;
        Some((session, key))
    }

    fn session(&mut self) -> Value {
        let mut record = json!({ "$type": SESSION, "createdAt": "2026-01-02T03:04:05.678Z" });
        if self.rng.is(80) {
            record["title"] = format!("About {}", self.word()).into();
        }
        record
    }

    fn turn(&mut self, session: &str) -> (String, Value) {
        let key = self.key();
        let session = format!("at://{}/{SESSION}/{session}", self.did);
        let text = format!("All say this, and {} is said once. ", self.word()).repeat(1 + self.rng.place(20));
        let mut record = json!({ "$type": MESSAGE, "session": session, "text": text, "role": "user",
            "createdAt": "2026-01-02T03:04:05.678Z" });
        if self.rng.is(50) {
            record["role"] = "assistant".into();
            record["model"] = "anthropic/claude-opus-4-5".into();
            let steps = self.rng.below(3);
            let step = |n| json!({ "tool": "Bash", "summary": format!("Run number {n}"), "failed": n == 1 });
            record["steps"] = (0..steps).map(step).collect();
        }
        (key, record)
    }

    fn write(&mut self, action: &str, collection: &str, key: &str, value: Option<Value>) -> Value {
        self.places.insert((collection.to_owned(), key.to_owned()));
        let mut write = json!({ "$type": format!("com.atproto.repo.applyWrites#{action}"), "collection": collection,
            "rkey": key });
        if let Some(value) = value {
            write["value"] = value;
        }
        write
    }
}

async fn call(http: &Client, pds: &Pds, method: &str, token: Option<&str>, body: Option<&Value>) -> Value {
    let mut request = http.post(format!("{}/xrpc/{method}", pds.url()));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    if let Some(body) = body {
        request = request.json(body);
    }
    let answer = request.send().await.expect("the PDS answers");
    let (status, text) = (answer.status(), answer.text().await.expect("the PDS answers in full"));
    assert!(status.is_success(), "{method} {body:?}: {status} {text}");
    serde_json::from_str(&text).unwrap_or(Value::Null)
}
