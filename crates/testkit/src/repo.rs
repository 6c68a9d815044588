//! Writes repositories, right ones and wrong ones: the counterpart of the reader in `onrecord-repo`, and made apart from it.
//! Source: the protocol's repository specification.

use std::collections::BTreeMap;

use k256::ecdsa::signature::Signer as _;
use onrecord_lexicon::{
    Cid,
    data::{self, Object, Value},
};

/// A key to sign with. Made from a number, so that tests repeat.
#[derive(Debug, Clone)]
pub enum SigningKey {
    /// On P-256.
    P256(p256::ecdsa::SigningKey),
    /// On secp256k1.
    K256(k256::ecdsa::SigningKey),
}

impl SigningKey {
    /// A key on secp256k1.
    #[must_use]
    pub fn k256(seed: u8) -> Self {
        Self::K256(k256::ecdsa::SigningKey::from_slice(&secret(seed)).expect("a secret in range"))
    }

    /// A key on P-256.
    #[must_use]
    pub fn p256(seed: u8) -> Self {
        Self::P256(p256::ecdsa::SigningKey::from_slice(&secret(seed)).expect("a secret in range"))
    }

    /// The public key.
    #[must_use]
    pub fn did_key(&self) -> String {
        let (codec, point) = match self {
            Self::P256(key) => ([0x80, 0x24], key.verifying_key().to_encoded_point(true).as_bytes().to_vec()),
            Self::K256(key) => ([0xe7, 0x01], key.verifying_key().to_encoded_point(true).as_bytes().to_vec()),
        };
        format!("did:key:{}", multibase::encode(multibase::Base::Base58Btc, [&codec[..], &point].concat()))
    }

    /// A signature in the form the protocol wants.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(message);
                signature.normalize_s().unwrap_or(signature).to_vec()
            }
            Self::K256(key) => {
                let signature: k256::ecdsa::Signature = key.sign(message);
                signature.normalize_s().unwrap_or(signature).to_vec()
            }
        }
    }

    /// The same signature's other form, with a high s.
    #[must_use]
    pub fn sign_high_s(&self, message: &[u8]) -> Vec<u8> {
        let signature = self.sign(message);
        match self {
            Self::P256(_) => {
                let (r, s) = p256::ecdsa::Signature::from_slice(&signature).expect("ours").split_scalars();
                p256::ecdsa::Signature::from_scalars(r, -s).expect("the negative of a scalar").to_vec()
            }
            Self::K256(_) => {
                let (r, s) = k256::ecdsa::Signature::from_slice(&signature).expect("ours").split_scalars();
                k256::ecdsa::Signature::from_scalars(r, -s).expect("the negative of a scalar").to_vec()
            }
        }
    }
}

fn secret(seed: u8) -> [u8; 32] {
    let mut secret = [7; 32];
    secret[31] = seed;
    secret
}

/// A block and its CID; in wrong repositories not always its own.
#[derive(Debug, Clone)]
pub struct Block {
    /// What it is called.
    pub cid: Cid,
    /// What it is.
    pub bytes: Vec<u8>,
}

impl Block {
    /// A block of these bytes, under their CID.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { cid: data::cid_of(&bytes), bytes }
    }

    /// A record's block.
    #[must_use]
    pub fn record(json: &serde_json::Value) -> Self {
        let (bytes, cid) = data::record_cid(json).expect("a record");
        Self { cid, bytes }
    }
}

/// An entry of a node, as it is written.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Bytes shared with the key before.
    pub prefix: i64,
    /// The rest of the key.
    pub suffix: Vec<u8>,
    /// The record.
    pub value: Cid,
    /// The subtree behind it.
    pub right: Option<Cid>,
}

/// A node's block.
#[must_use]
pub fn node(left: Option<Cid>, entries: &[Entry]) -> Block {
    let link = |cid: Option<Cid>| cid.map_or(Value::Null, Value::Link);
    let entries = entries.iter().map(|entry| {
        Value::Object(Object::from_iter([
            ("k", Value::Bytes(entry.suffix.clone().into())),
            ("p", Value::Integer(entry.prefix)),
            ("t", link(entry.right.clone())),
            ("v", Value::Link(entry.value.clone())),
        ]))
    });
    let entries = Value::Array(entries.collect());
    Block::new(Value::Object(Object::from_iter([("e", entries), ("l", link(left))])).to_dag_cbor())
}

/// The layer of a key.
#[must_use]
pub fn layer(key: &str) -> u32 {
    let digest = data::cid_of(key.as_bytes()).digest();
    let zeros: u32 = match digest.iter().position(|byte| *byte != 0) {
        Some(at) => u32::try_from(at).unwrap() * 8 + digest[at].leading_zeros(),
        None => 256,
    };
    zeros / 2
}

/// A tree: its root, its nodes, and the CIDs of nodes and records in the order in which a reader comes to them.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The root.
    pub root: Cid,
    /// The nodes, root first.
    pub nodes: Vec<Block>,
    /// Nodes and records, root first.
    pub order: Vec<Cid>,
}

/// The one tree of these records.
#[must_use]
pub fn tree(records: &BTreeMap<String, Cid>) -> Tree {
    let records: Vec<(&str, &Cid)> = records.iter().map(|(key, cid)| (key.as_str(), cid)).collect();
    let top = records.iter().map(|(key, _)| layer(key)).max().unwrap_or(0);
    subtree(&records, top)
}

fn subtree(records: &[(&str, &Cid)], at: u32) -> Tree {
    let own: Vec<usize> = (0..records.len()).filter(|n| layer(records[*n].0) == at).collect();
    let mut below: Vec<Option<Tree>> = Vec::new();
    let mut from = 0;
    for end in own.iter().copied().chain([records.len()]) {
        let between = &records[from..end];
        below.push((!between.is_empty()).then(|| subtree(between, at - 1)));
        from = end + 1;
    }
    let root_of = |tree: &Option<Tree>| tree.as_ref().map(|tree| tree.root.clone());
    let mut last = "";
    let mut entries = Vec::new();
    for (n, place) in own.iter().enumerate() {
        let (key, cid) = records[*place];
        let prefix = key.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
        entries.push(Entry {
            prefix: i64::try_from(prefix).unwrap(),
            suffix: key.as_bytes()[prefix..].to_vec(),
            value: cid.clone(),
            right: root_of(&below[n + 1]),
        });
        last = key;
    }
    let block = node(root_of(&below[0]), &entries);
    let (root, mut nodes, mut order) = (block.cid.clone(), vec![block.clone()], vec![block.cid]);
    for (n, tree) in below.into_iter().enumerate() {
        if n > 0 {
            order.push(records[own[n - 1]].1.clone());
        }
        if let Some(tree) = tree {
            nodes.extend(tree.nodes);
            order.extend(tree.order);
        }
    }
    Tree { root, nodes, order }
}

/// A commit without its signature.
#[must_use]
pub fn unsigned_commit(did: &str, root: &Cid, rev: &str) -> Object<'static> {
    Object::from_iter([
        ("did", Value::String(did.to_owned().into())),
        ("version", Value::Integer(3)),
        ("data", Value::Link(root.clone())),
        ("rev", Value::String(rev.to_owned().into())),
        ("prev", Value::Null),
    ])
}

/// A commit with its signature.
#[must_use]
pub fn signed(mut commit: Object<'static>, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> Block {
    let signature = sign(&Value::Object(commit.clone()).to_dag_cbor());
    commit.insert("sig", Value::Bytes(signature.into()));
    Block::new(Value::Object(commit).to_dag_cbor())
}

/// A CAR file.
#[must_use]
pub fn car(roots: &[Cid], blocks: &[Block]) -> Vec<u8> {
    let roots = Value::Array(roots.iter().cloned().map(Value::Link).collect());
    let header = Value::Object(Object::from_iter([("roots", roots), ("version", Value::Integer(1))])).to_dag_cbor();
    let mut car = varint(header.len());
    car.extend(header);
    for block in blocks {
        car.extend(section(&block.cid.to_bytes(), &block.bytes));
    }
    car
}

/// A section of a CAR file.
#[must_use]
pub fn section(cid: &[u8], bytes: &[u8]) -> Vec<u8> {
    [&varint(cid.len() + bytes.len())[..], cid, bytes].concat()
}

fn varint(mut n: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(n & 0x7f).unwrap();
        n >>= 7;
        if n == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// A repository to be written.
#[derive(Debug, Clone)]
pub struct Repository {
    /// Whose.
    pub did: String,
    /// Its revision.
    pub rev: String,
    /// Who signs.
    pub key: SigningKey,
    /// Records by their paths.
    pub records: BTreeMap<String, serde_json::Value>,
}

/// A repository's parts, to be changed before they are put together.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The commit.
    pub commit: Block,
    /// Nodes and records in the order in which a reader comes to them.
    pub blocks: Vec<Block>,
}

impl Parts {
    /// The CAR file.
    #[must_use]
    pub fn car(&self) -> Vec<u8> {
        let blocks: Vec<Block> = [self.commit.clone()].into_iter().chain(self.blocks.iter().cloned()).collect();
        car(std::slice::from_ref(&self.commit.cid), &blocks)
    }
}

impl Repository {
    /// A repository without records.
    #[must_use]
    pub fn new(did: &str, key: SigningKey) -> Self {
        Self { did: did.to_owned(), rev: "3m3aaaaaaaa2a".to_owned(), key, records: BTreeMap::new() }
    }

    /// Puts a record.
    pub fn put(&mut self, path: &str, record: serde_json::Value) {
        self.records.insert(path.to_owned(), record);
    }

    /// The blocks of the records by their paths.
    #[must_use]
    pub fn record_blocks(&self) -> BTreeMap<String, Block> {
        self.records.iter().map(|(path, json)| (path.clone(), Block::record(json))).collect()
    }

    /// The repository's parts.
    #[must_use]
    pub fn parts(&self) -> Parts {
        self.parts_of(&self.record_blocks())
    }

    /// The same with the blocks given, whatever their bytes.
    #[must_use]
    pub fn parts_of(&self, records: &BTreeMap<String, Block>) -> Parts {
        let tree = tree(&records.iter().map(|(path, block)| (path.clone(), block.cid.clone())).collect());
        let all: BTreeMap<&Cid, &Block> =
            tree.nodes.iter().chain(records.values()).map(|block| (&block.cid, block)).collect();
        let mut blocks: Vec<Block> = Vec::new();
        let mut written = std::collections::BTreeSet::new();
        for cid in &tree.order {
            if written.insert(cid) {
                blocks.push(all[cid].clone());
            }
        }
        Parts { commit: self.commit(&tree.root), blocks }
    }

    /// The signed commit of a tree.
    #[must_use]
    pub fn commit(&self, root: &Cid) -> Block {
        signed(unsigned_commit(&self.did, root, &self.rev), |message| self.key.sign(message))
    }

    /// The CAR file.
    #[must_use]
    pub fn car(&self) -> Vec<u8> {
        self.parts().car()
    }
}
