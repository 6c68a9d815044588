//! Accounts with keys of their own, what they write, and the frames that tell of it.

use std::collections::BTreeMap;

use onrecord_lexicon::{
    Cid, Tid,
    data::{Object, Value},
};
use onrecord_testkit::repo::{Block, Parts, Repository, SigningKey, car, signed, tree, unsigned_commit};
use serde_json::{Value as Json, json};
use tokio_tungstenite::tungstenite::Message;

use crate::network::{Answer, Network};

pub const SESSION: &str = "click.aligned.chat.session";
pub const MESSAGE: &str = "click.aligned.chat.message";
/// When all this happens: 2026-01-01, in microseconds.
const START_US: u64 = 1_767_225_600_000_000;

/// The `n`th key or revision.
pub fn tid(n: u64) -> Tid {
    Tid::from_micros(START_US + n * 1_000_000, 7).unwrap()
}

/// An account.
pub struct Author {
    pub did: String,
    pub key: SigningKey,
    /// The revision of its repository.
    pub rev: String,
    /// What its repository holds, by path; right blocks or not.
    pub records: BTreeMap<String, Block>,
    /// How many revisions it had.
    revs: u64,
}

/// A commit as a firehose tells it, to be changed before it is told.
#[derive(Clone)]
pub struct Told {
    pub did: String,
    pub rev: String,
    pub since: Option<String>,
    pub commit: Block,
    pub blocks: Vec<Block>,
    pub prev_data: Option<Cid>,
    pub ops: Vec<Op>,
    /// Instead of that of the blocks.
    pub car: Option<Vec<u8>>,
    /// Whether the event is said to be too large to be told.
    pub too_big: bool,
}

#[derive(Clone)]
pub struct Op {
    pub action: &'static str,
    pub path: String,
    pub cid: Option<Cid>,
    pub prev: Option<Cid>,
}

impl Author {
    /// The `n`th account. Its document and its repository are on the network.
    pub fn new(network: &Network, n: usize) -> Self {
        let name: String = format!("{n:024}")
            .chars()
            .map(|c| if matches!(c, '0' | '1' | '8' | '9') { (b'a' + (c as u8 - b'0')) as char } else { c })
            .collect();
        let did = format!("did:plc:{name}");
        let key = SigningKey::k256(u8::try_from(n % 200).unwrap() + 1);
        let author = Self { did, key, rev: tid(0).to_string(), records: BTreeMap::new(), revs: 0 };
        author.publish_document(network, &network.url());
        author
    }

    /// Puts its document on the network, with its repository at `pds`.
    pub fn publish_document(&self, network: &Network, pds: &str) {
        network.answer(&format!("/{}", self.did), Answer::Json(self.document(pds).to_string()));
    }

    pub fn document(&self, pds: &str) -> Json {
        let key = self.key.did_key();
        json!({
            "id": self.did, "alsoKnownAs": [],
            "verificationMethod": [{ "id": format!("{}#atproto", self.did), "type": "Multikey", "controller": self.did,
                "publicKeyMultibase": key.strip_prefix("did:key:").unwrap() }],
            "service": [{ "id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": pds }],
        })
    }

    /// Where its whole repository is asked for.
    pub fn repository_target(&self) -> String {
        format!("/xrpc/com.atproto.sync.getRepo?did={}", self.did.replace(':', "%3A"))
    }

    /// Puts its repository on the network as it is now.
    pub fn publish_repository(&self, network: &Network) {
        network.answer(&self.repository_target(), Answer::Bytes("", self.parts().car()));
    }

    /// Its repository as it is now.
    pub fn parts(&self) -> Parts {
        let repository = Repository { rev: self.rev.clone(), ..Repository::new(&self.did, self.key.clone()) };
        repository.parts_of(&self.records)
    }

    /// The root of its tree.
    pub fn root(&self) -> Cid {
        tree(&self.records.iter().map(|(path, block)| (path.clone(), block.cid.clone())).collect()).root
    }

    /// Writes a record and tells of it.
    pub fn put(&mut self, path: &str, record: &Json) -> Told {
        self.put_block(path, Block::record(record))
    }

    /// The same of any block.
    pub fn put_block(&mut self, path: &str, block: Block) -> Told {
        let (before, rev) = (self.root(), self.next_rev());
        let since = std::mem::replace(&mut self.rev, rev);
        let cid = block.cid.clone();
        let prev = self.records.insert(path.to_owned(), block).map(|old| old.cid);
        let action = if prev.is_some() { "update" } else { "create" };
        self.tell(since, before, Op { action, path: path.to_owned(), cid: Some(cid), prev })
    }

    fn tell(&self, since: String, before: Cid, op: Op) -> Told {
        let mut parts = self.parts();
        // The whole tree, and of the records the one that was written.
        parts.blocks.retain(|b| Some(&b.cid) == op.cid.as_ref() || self.records.values().all(|r| r.cid != b.cid));
        Told {
            did: self.did.clone(),
            rev: self.rev.clone(),
            since: Some(since),
            commit: parts.commit,
            blocks: parts.blocks,
            prev_data: Some(before),
            ops: vec![op],
            car: None,
            too_big: false,
        }
    }

    pub fn next_rev(&mut self) -> String {
        self.revs += 1;
        tid(self.revs).to_string()
    }

    /// A conversation of one record, which is good.
    pub fn good(&mut self, title: &str) -> Told {
        let path = self.next_path(SESSION);
        self.put(&path, &session(title))
    }

    /// Where it writes next.
    pub fn next_path(&self, collection: &str) -> String {
        format!("{collection}/{}", tid(self.revs + 1))
    }

    /// The commit of what its repository holds now, signed in another way.
    pub fn sign(&self, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> Block {
        signed(unsigned_commit(&self.did, &self.root(), &self.rev), sign)
    }
}

pub fn session(title: &str) -> Json {
    json!({ "$type": SESSION, "createdAt": "2026-01-01T00:00:00Z", "title": title })
}

impl Told {
    /// The blocks as they are sent.
    pub fn car(&self) -> Vec<u8> {
        let blocks: Vec<Block> = [self.commit.clone()].into_iter().chain(self.blocks.iter().cloned()).collect();
        self.car.clone().unwrap_or_else(|| car(std::slice::from_ref(&self.commit.cid), &blocks))
    }

    /// The body of the frame.
    pub fn body(&self, seq: i64) -> Object<'static> {
        let text = |text: &str| Value::String(text.to_owned().into());
        let link = |cid: &Option<Cid>| cid.clone().map_or(Value::Null, Value::Link);
        let ops = self.ops.iter().map(|op| {
            let mut fields = vec![("action", text(op.action)), ("path", text(&op.path)), ("cid", link(&op.cid))];
            fields.extend(op.prev.as_ref().map(|cid| ("prev", Value::Link(cid.clone()))));
            Value::Object(Object::from_iter(fields))
        });
        let mut fields = vec![
            ("seq", Value::Integer(seq)),
            ("rebase", Value::Bool(false)),
            ("tooBig", Value::Bool(self.too_big)),
            ("repo", text(&self.did)),
            ("commit", Value::Link(self.commit.cid.clone())),
            ("rev", text(&self.rev)),
            ("since", self.since.as_deref().map_or(Value::Null, text)),
            ("blocks", Value::Bytes(self.car().into())),
            ("ops", Value::Array(ops.collect())),
            ("blobs", Value::Array(Vec::new())),
            ("time", text("2026-01-01T00:00:00Z")),
        ];
        fields.extend(self.prev_data.as_ref().map(|cid| ("prevData", Value::Link(cid.clone()))));
        Object::from_iter(fields)
    }

    /// The frame.
    pub fn frame(&self, seq: i64) -> Message {
        frame("#commit", self.body(seq))
    }
}

/// A frame of a firehose.
pub fn frame(kind: &str, body: Object<'static>) -> Message {
    Message::binary([head(kind), Value::Object(body).to_dag_cbor()].concat())
}

/// The head of one.
pub fn head(kind: &str) -> Vec<u8> {
    let kind = Value::String(kind.to_owned().into());
    Value::Object(Object::from_iter([("op", Value::Integer(1)), ("t", kind)])).to_dag_cbor()
}
