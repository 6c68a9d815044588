//! Repositories that were tampered with, each found out for its own reason. Where it takes the author's key to hide the
//! change from the hashes, the commit is signed anew: then only the rules of the tree can tell.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail loudly")]

use std::collections::BTreeMap;

use onrecord_lexicon::{
    Cid, Did,
    data::{Object, Value},
};
use onrecord_repo::{Car, Checked, Expected, PublicKey, Rule, check};
use onrecord_testkit::repo::{self, Block, Entry, Parts, Repository, SigningKey, layer};
use serde_json::json;

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const NOTE: &str = "app.example.note";

fn key() -> SigningKey {
    SigningKey::k256(1)
}

fn repository() -> Repository {
    let mut repository = Repository::new(DID, key());
    for n in 0..60 {
        repository.put(&format!("{NOTE}/3k{n:02}"), json!({"$type": NOTE, "text": format!("note {n}")}));
    }
    repository
}

fn read(car: Vec<u8>) -> Checked {
    let did = Did::parse(DID).unwrap();
    let key = PublicKey::parse(&key().did_key()).unwrap();
    let expected = Expected { did: Some(&did), key: Some(&key), partial: false };
    check(&mut Car::from_bytes(car), &expected, |_| {}).unwrap()
}

fn rules(checked: &Checked) -> Vec<Rule> {
    let mut rules: Vec<Rule> = checked.faults.listed().iter().map(|fault| fault.rule).collect();
    rules.dedup();
    rules
}

/// The file has these faults and no others.
#[track_caller]
fn found(car: Vec<u8>, expected: &[Rule]) -> Checked {
    let checked = read(car);
    assert_eq!(rules(&checked), expected, "{:#?}", checked.faults.listed());
    checked
}

/// A tree of the author's own making, signed.
fn resigned(root: &Cid, blocks: Vec<Block>) -> Vec<u8> {
    Parts { commit: repository().commit(root), blocks }.car()
}

/// A record, the entry that names it in full, and its key.
fn entry(rkey: &str) -> (Block, Entry) {
    let record = Block::record(&json!({"$type": NOTE, "text": rkey}));
    let entry =
        Entry { prefix: 0, suffix: format!("{NOTE}/{rkey}").into_bytes(), value: record.cid.clone(), right: None };
    (record, entry)
}

/// Keys of a layer, in order.
fn keys_in(wanted: u32) -> impl Iterator<Item = String> {
    (0..).map(|n| format!("3m{n:05}")).filter(move |rkey| layer(&format!("{NOTE}/{rkey}")) == wanted)
}

fn is_node(block: &Block) -> bool {
    Value::from_dag_cbor(&block.bytes).unwrap().as_object().unwrap().get("e").is_some()
}

// Invariant 17.
#[test]
fn nothing_is_wrong_with_it_untouched() {
    let checked = found(repository().car(), &[]);
    assert!(checked.is_signed && checked.is_whole && checked.notices.is_empty());
}

#[test]
fn a_flipped_byte_in_a_record() {
    let mut parts = repository().parts();
    let record = parts.blocks.iter_mut().find(|block| !is_node(block)).unwrap();
    *record.bytes.last_mut().unwrap() ^= 1;
    let checked = found(parts.car(), &[Rule::BlockHash]);
    assert!(checked.faults.listed()[0].at.starts_with(NOTE));
}

#[test]
fn a_flipped_byte_in_a_node() {
    let mut parts = repository().parts();
    *parts.blocks[0].bytes.last_mut().unwrap() ^= 1;
    found(parts.car(), &[Rule::BlockHash]);
}

#[test]
fn a_flipped_byte_in_the_commit() {
    let mut parts = repository().parts();
    *parts.commit.bytes.last_mut().unwrap() ^= 1;
    found(parts.car(), &[Rule::BlockHash]);
}

#[test]
fn a_record_under_the_name_of_another() {
    let repository = repository();
    let mut blocks = repository.record_blocks();
    let other = blocks[&format!("{NOTE}/3k01")].bytes.clone();
    blocks.get_mut(&format!("{NOTE}/3k02")).unwrap().bytes = other;
    found(repository.parts_of(&blocks).car(), &[Rule::BlockHash]);
}

#[test]
fn a_signature_by_another_key() {
    let mut other = repository();
    other.key = SigningKey::k256(2);
    found(other.car(), &[Rule::Signature]);
    other.key = SigningKey::p256(1);
    found(other.car(), &[Rule::Signature]);
}

#[test]
fn a_commit_changed_after_it_was_signed() {
    let mut parts = repository().parts();
    let mut commit = Value::from_dag_cbor(&parts.commit.bytes).unwrap().into_object().unwrap().into_owned();
    commit.insert("rev", Value::String("3m3aaaaaaab2a".into()));
    parts.commit = Block::new(Value::Object(commit).to_dag_cbor());
    found(parts.car(), &[Rule::Signature]);
}

/// A commit made of the repository's, changed before it is signed.
fn commit(change: impl FnOnce(&mut Object<'static>)) -> Vec<u8> {
    let mut parts = repository().parts();
    let mut commit = repo::unsigned_commit(DID, &parts.blocks[0].cid, "3m3aaaaaaaa2a");
    change(&mut commit);
    parts.commit = repo::signed(commit, |message| key().sign(message));
    parts.car()
}

#[test]
fn a_signature_in_its_other_form() {
    let mut parts = repository().parts();
    let unsigned = repo::unsigned_commit(DID, &parts.blocks[0].cid, "3m3aaaaaaaa2a");
    parts.commit = repo::signed(unsigned.clone(), |message| key().sign_high_s(message));
    found(parts.car(), &[Rule::SignatureHighS]);
    parts.commit = repo::signed(unsigned.clone(), |message| key().sign(message)[..63].to_vec());
    found(parts.car(), &[Rule::SignatureForm]);
    parts.commit = repo::signed(unsigned, |_| vec![0; 64]);
    found(parts.car(), &[Rule::SignatureForm]);
}

#[test]
fn a_commit_of_another_account() {
    found(
        commit(|commit| drop(commit.insert("did", Value::String("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa".into())))),
        &[Rule::CommitDid],
    );
}

#[test]
fn a_commit_that_says_too_little() {
    for field in ["did", "rev", "data", "version"] {
        found(commit(|commit| drop(commit.remove(field))), &[Rule::CommitForm]);
    }
    found(commit(|commit| drop(commit.insert("version", Value::Integer(2)))), &[Rule::CommitForm]);
    found(commit(|commit| drop(commit.insert("rev", Value::String("yesterday".into())))), &[Rule::CommitForm]);
    // What it says more is signed with the rest.
    found(commit(|commit| drop(commit.insert("note", Value::String("more".into())))), &[]);
}

#[test]
fn another_root() {
    let parts = repository().parts();
    let blocks: Vec<Block> = [vec![parts.commit.clone()], parts.blocks.clone()].concat();
    // A node is no commit.
    found(repo::car(std::slice::from_ref(&parts.blocks[0].cid), &blocks), &[Rule::CommitForm]);
    // A commit that is not there, two, none.
    let elsewhere = Block::new(b"elsewhere".to_vec()).cid;
    found(repo::car(std::slice::from_ref(&elsewhere), &blocks), &[Rule::Root]);
    found(repo::car(&[parts.commit.cid.clone(), elsewhere], &blocks), &[Rule::Root]);
    found(repo::car(&[], &blocks), &[Rule::Root]);
}

#[test]
fn a_missing_node() {
    let mut parts = repository().parts();
    let place = parts.blocks.iter().rposition(is_node).unwrap();
    parts.blocks.remove(place);
    let checked = found(parts.car(), &[Rule::NodeMissing]);
    assert!(!checked.is_whole && checked.counts.unreachable > 0);
}

#[test]
fn a_missing_record() {
    let mut parts = repository().parts();
    let place = parts.blocks.iter().position(|block| !is_node(block)).unwrap();
    parts.blocks.remove(place);
    found(parts.car(), &[Rule::RecordMissing]);
}

#[test]
fn an_unreachable_block() {
    let mut parts = repository().parts();
    parts.blocks.push(Block::record(&json!({"$type": NOTE, "text": "smuggled"})));
    assert_eq!(found(parts.car(), &[Rule::BlockUnreachable]).counts.unreachable, 1);
    parts.blocks.rotate_right(1);
    found(parts.car(), &[Rule::BlockUnreachable]);
}

#[test]
fn a_block_that_stands_twice_is_told() {
    let mut parts = repository().parts();
    parts.blocks.push(parts.blocks[9].clone());
    let checked = found(parts.car(), &[]);
    assert_eq!(checked.notices.listed()[0].rule, Rule::BlockDuplicate);
    // But not if the second one is another.
    parts.blocks.last_mut().unwrap().bytes.push(0);
    found(parts.car(), &[Rule::BlockHash]);
}

#[test]
fn a_truncated_file() {
    let car = repository().car();
    let checked = read(car[..car.len() - 3].to_vec());
    assert_eq!(checked.faults.listed()[0].rule, Rule::CarTruncated);
    assert!(rules(&checked).contains(&Rule::RecordMissing));
}

#[test]
fn something_behind_the_last_block() {
    let mut car = repository().car();
    car.push(0);
    found(car.clone(), &[Rule::CarSection]);
    car.pop();
    car.extend(repo::section(b"\x01\x70\x12\x20 not a CID of repositories 1234", b"x"));
    found(car, &[Rule::BlockCid]);
}

#[test]
fn a_header_that_is_none() {
    let car = repository().car();
    found(Vec::new(), &[Rule::CarHeader]);
    found(b"{\"not\": \"a CAR\"}".to_vec(), &[Rule::CarHeader]);
    let version = car.windows(8).position(|bytes| bytes == b"version\x01").unwrap() + 7;
    let mut second = car;
    second[version] = 2;
    found(second, &[Rule::CarHeader]);
}

#[test]
fn swapped_keys() {
    let mut keys = keys_in(0);
    let (a, b) = (entry(&keys.next().unwrap()), entry(&keys.next().unwrap()));
    // Written in the wrong order, shortened as it should be.
    let shared = a.1.suffix.iter().zip(&b.1.suffix).take_while(|(a, b)| a == b).count();
    let second = Entry { prefix: i64::try_from(shared).unwrap(), suffix: a.1.suffix[shared..].to_vec(), ..a.1.clone() };
    let node = repo::node(None, &[b.1.clone(), second]);
    found(resigned(&node.cid.clone(), vec![node, b.0, a.0]), &[Rule::KeyOrder]);
}

#[test]
fn keys_out_of_order_between_nodes() {
    let low: Vec<String> = keys_in(0).take(2).collect();
    let high = keys_in(1).find(|key| *key > low[1]).unwrap();
    let (left, own) = (entry(&low[0]), entry(&high));
    let subtree = repo::node(None, std::slice::from_ref(&left.1));
    // To the right of a greater key.
    let root = repo::node(None, &[Entry { right: Some(subtree.cid.clone()), ..own.1 }]);
    found(resigned(&root.cid.clone(), vec![root, own.0, subtree, left.0]), &[Rule::KeyOrder]);
}

#[test]
fn one_key_twice() {
    let (record, first) = entry(&keys_in(0).next().unwrap());
    let other = Block::record(&json!({"$type": NOTE, "text": "another"}));
    let len = i64::try_from(first.suffix.len()).unwrap();
    let second = Entry { prefix: len, suffix: Vec::new(), value: other.cid.clone(), right: None };
    let node = repo::node(None, &[first, second]);
    found(resigned(&node.cid.clone(), vec![node, record, other]), &[Rule::KeyDuplicate]);
}

#[test]
fn a_key_in_the_wrong_layer() {
    let mut keys: Vec<String> = keys_in(0).take(1).chain(keys_in(1).take(1)).collect();
    keys.sort();
    let (a, b) = (entry(&keys[0]), entry(&keys[1]));
    let shared = a.1.suffix.iter().zip(&b.1.suffix).take_while(|(a, b)| a == b).count();
    let second = Entry { prefix: i64::try_from(shared).unwrap(), suffix: b.1.suffix[shared..].to_vec(), ..b.1.clone() };
    let node = repo::node(None, &[a.1, second]);
    found(resigned(&node.cid.clone(), vec![node, a.0, b.0]), &[Rule::TreeLayer]);
}

#[test]
fn a_node_below_the_lowest_layer() {
    let (record, own) = entry(&keys_in(0).next().unwrap());
    let below = repo::node(None, &[]);
    let node = repo::node(Some(below.cid.clone()), &[own]);
    let checked = read(resigned(&node.cid.clone(), vec![node, below, record]));
    assert!(rules(&checked).contains(&Rule::TreeLayer), "{:?}", checked.faults);
}

#[test]
fn an_empty_node() {
    let (record, own) = entry(&keys_in(1).next().unwrap());
    let empty = repo::node(None, &[]);
    let node = repo::node(Some(empty.cid.clone()), &[own]);
    found(resigned(&node.cid.clone(), vec![node, empty.clone(), record]), &[Rule::NodeEmpty]);
    // The one place where it may stand.
    assert_eq!(found(resigned(&empty.cid.clone(), vec![empty]), &[]).counts.records, 0);
}

#[test]
fn a_root_without_a_key() {
    let (record, own) = entry(&keys_in(0).next().unwrap());
    let node = repo::node(None, &[own]);
    let root = repo::node(Some(node.cid.clone()), &[]);
    found(resigned(&root.cid.clone(), vec![root, node, record]), &[Rule::TreeRoot]);
}

#[test]
fn a_node_in_two_places() {
    let mut keys = keys_in(1);
    let (a, b) = (entry(&keys.next().unwrap()), entry(&keys.next().unwrap()));
    let low = keys_in(0).next().unwrap();
    let (record, lowest) = entry(&low);
    let shared_node = repo::node(None, &[lowest]);
    let prefix = a.1.suffix.iter().zip(&b.1.suffix).take_while(|(a, b)| a == b).count();
    let right = Some(shared_node.cid.clone());
    let second = Entry { prefix: i64::try_from(prefix).unwrap(), suffix: b.1.suffix[prefix..].to_vec(), right, ..b.1 };
    let root = repo::node(Some(shared_node.cid.clone()), &[a.1, second]);
    let checked = read(resigned(&root.cid.clone(), vec![root, shared_node, record, a.0, b.0]));
    assert!(rules(&checked).contains(&Rule::NodeTwice), "{:?}", checked.faults);
}

#[test]
fn a_key_shortened_wrongly() {
    let keys: Vec<String> = keys_in(0).take(2).collect();
    let (a, b) = (entry(&keys[0]), entry(&keys[1]));
    // Not shortened at all; and by more than there is.
    let node = repo::node(None, &[a.1.clone(), b.1.clone()]);
    found(resigned(&node.cid.clone(), vec![node, a.0.clone(), b.0.clone()]), &[Rule::NodePrefix]);
    let second = Entry { prefix: 999, suffix: b"x".to_vec(), ..b.1 };
    let node = repo::node(None, &[a.1, second]);
    found(resigned(&node.cid.clone(), vec![node, a.0]), &[Rule::NodePrefix]);
}

#[test]
fn a_first_key_that_continues_another() {
    let (record, own) = entry(&keys_in(0).next().unwrap());
    let node = repo::node(None, &[Entry { prefix: 3, ..own }]);
    assert_eq!(rules(&read(resigned(&node.cid.clone(), vec![node, record])))[0], Rule::NodePrefix);
}

#[test]
fn a_path_that_is_none() {
    for path in ["no-slash", "app.example.note/", "app.example.note/a/b", "not an nsid/abc", "app.example.note/sp ace"]
    {
        let record = Block::record(&json!({"$type": NOTE}));
        let own = Entry { prefix: 0, suffix: path.into(), value: record.cid.clone(), right: None };
        let node = repo::node(None, &[own]);
        // Its layer may be any: the root's is that of its first key.
        found(resigned(&node.cid.clone(), vec![node, record]), &[Rule::KeyForm]);
    }
}

#[test]
fn a_node_of_another_form() {
    let value = Value::Object(Object::from_iter([("e", Value::Array(vec![])), ("x", Value::Null)]));
    let node = Block::new(value.to_dag_cbor());
    found(resigned(&node.cid.clone(), vec![node]), &[Rule::NodeForm]);
    let node = Block::new(b"\xa2\x61e\x80\x61l\xf6\x00".to_vec());
    let checked = found(resigned(&node.cid.clone(), vec![node]), &[Rule::NodeForm]);
    assert!(checked.faults.listed()[0].message.contains("follows the value"));
    // The same in a longer encoding.
    let node = Block::new(b"\xa2\x61e\x98\x00\x61l\xf6".to_vec());
    found(resigned(&node.cid.clone(), vec![node]), &[Rule::NodeForm]);
}

/// A record of any bytes, in a tree that names it.
fn with_record(bytes: &[u8]) -> Vec<u8> {
    let repository = repository();
    let mut blocks: BTreeMap<String, Block> = repository.record_blocks();
    blocks.insert(format!("{NOTE}/3k30"), Block::new(bytes.to_vec()));
    repository.parts_of(&blocks).car()
}

#[test]
fn records_in_another_encoding() {
    for (bytes, why) in [
        (&b"\xa1\x61n\xfb\x3f\xf8\x00\x00\x00\x00\x00\x00"[..], "floats are not allowed"),
        (b"\xa1\x61n\xf9\x3c\x00", "floats are not allowed"),
        (b"\xa1\x61n\x18\x01", "longer than it needs to be"),
        (b"\xa2\x61b\x01\x61a\x02", "out of order"),
        (b"\xa2\x61a\x01\x61a\x02", "given twice"),
        (b"\xbf\x61a\x01\xff", "indefinite length"),
        (b"\xa1\x61a\x01\x00", "follows the value"),
        (b"\xa1\x61a\x1b\x00\x20\x00\x00\x00\x00\x00\x00", "2^53"),
        (b"\x80", "must be an object"),
        (b"\xa1\x65$type\x60", "$type"),
        (b"", "ends early"),
    ] {
        let checked = found(with_record(bytes), &[Rule::RecordForm]);
        let fault = &checked.faults.listed()[0];
        assert!(fault.message.contains(why), "{fault}");
        assert_eq!(fault.at, format!("{NOTE}/3k30"));
    }
}
