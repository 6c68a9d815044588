//! Authors at work on a real PDS, and what readers see of them.

use std::collections::BTreeMap;

use onrecord_atproto::{Client, Config};
use onrecord_index::{Index, Kept, Recent};
use onrecord_testkit::{Account, FaultProxy, Pds};
use serde_json::{Value, json};

use super::{MESSAGE, SESSION};

/// The network, with `url` as its directory of identities and to resolve handles with.
pub fn client_of(url: &str) -> Client {
    let (plc_url, resolver_url) = (url.parse().unwrap(), Some(url.parse().unwrap()));
    Client::new(Config { plc_url, resolver_url, allow_local: true, ..Config::default() }).unwrap()
}

/// The network behind a proxy.
pub fn client(proxy: &FaultProxy) -> Client {
    client_of(proxy.url())
}

/// An author at work.
pub struct Author {
    pub account: Account,
    pub token: String,
}

impl Author {
    pub async fn new(pds: &Pds, name: &str) -> Self {
        let account = pds.create_account(name).await;
        let body = json!({ "identifier": account.handle.as_str(), "password": account.password });
        let session = pds.post("com.atproto.server.createSession", None, &body).await;
        Self { token: session["accessJwt"].as_str().unwrap().to_owned(), account }
    }

    pub async fn put(&self, pds: &Pds, collection: &str, rkey: &str, mut record: Value) {
        record["$type"] = collection.into();
        let body = json!({ "repo": self.account.did.as_str(), "collection": collection, "rkey": rkey,
            "validate": false, "record": record });
        pds.post("com.atproto.repo.putRecord", Some(&self.token), &body).await;
    }

    pub async fn delete(&self, pds: &Pds, collection: &str, rkey: &str) {
        let body = json!({ "repo": self.account.did.as_str(), "collection": collection, "rkey": rkey });
        pds.post("com.atproto.repo.deleteRecord", Some(&self.token), &body).await;
    }

    pub async fn conversation(&self, pds: &Pds, key: &str, title: &str) {
        let at = "2026-01-02T03:04:05.678Z";
        self.put(pds, SESSION, key, json!({ "createdAt": at, "title": title })).await;
    }

    pub async fn turn(&self, pds: &Pds, session: &str, key: &str, text: &str) {
        let session = format!("at://{}/{SESSION}/{session}", self.account.did);
        let record =
            json!({ "session": session, "role": "user", "text": text, "createdAt": "2026-01-02T03:04:05.678Z" });
        self.put(pds, MESSAGE, key, record).await;
    }

    pub async fn member(&self, pds: &Pds, member: &Author) {
        let did = member.account.did.as_str();
        let record = json!({ "subject": did, "addedAt": "2026-01-02T03:04:05.678Z" });
        self.put(pds, "click.aligned.chat.member", did, record).await;
    }

    /// A conversation of one turn, named after the author.
    pub async fn rename(&self, pds: &Pds, handle: &str) {
        pds.post("com.atproto.identity.updateHandle", Some(&self.token), &json!({ "handle": handle })).await;
    }

    pub async fn publish(&self, pds: &Pds) {
        self.conversation(pds, &key(1), "One").await;
        self.turn(pds, &key(1), &key(2), "first").await;
    }
}

/// Authors who each put a conversation on record.
pub async fn authors(pds: &Pds, names: &[&str]) -> Vec<Author> {
    let mut authors = Vec::new();
    for name in names {
        let author = Author::new(pds, &format!("{name}.test")).await;
        author.publish(pds).await;
        authors.push(author);
    }
    authors
}

pub fn key(n: u64) -> String {
    onrecord_lexicon::Tid::from_micros(1_767_225_600_000_000 + n * 1_000_000, 3).unwrap().to_string()
}

/// All that a reader can see: title by author and key, and the turns' texts.
pub async fn seen(index: &dyn Index) -> BTreeMap<String, Vec<String>> {
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

pub fn expected(entries: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
    entries.iter().map(|(name, texts)| ((*name).to_owned(), texts.iter().map(|t| (*t).to_owned()).collect())).collect()
}
