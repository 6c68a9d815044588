//! Repositories written right are read as right, in whatever order their blocks stand.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::{collections::BTreeMap, io::Write as _};

use onrecord_lexicon::Did;
use onrecord_repo::{Car, Checked, Expected, PublicKey, check, join, layer};
use onrecord_testkit::repo::{Block, Parts, Repository, SigningKey, layer as layer_of};
use proptest::prelude::*;
use serde_json::json;

const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

fn repository(paths: impl IntoIterator<Item = String>, key: SigningKey) -> Repository {
    let mut repository = Repository::new(DID, key);
    for (n, path) in paths.into_iter().enumerate() {
        // Some records are alike: one block for two paths.
        let record = json!({"$type": path.split('/').next().unwrap(), "text": "words ".repeat(n % 40), "n": n / 2});
        repository.put(&path, record);
    }
    repository
}

fn checked(car: &mut Car<'_>, key: &SigningKey) -> (Checked, Vec<(String, String)>) {
    let did = Did::parse(DID).unwrap();
    let key = PublicKey::parse(&key.did_key()).unwrap();
    let mut records = Vec::new();
    let expected = Expected { did: Some(&did), key: Some(&key), partial: false };
    let checked = check(car, &expected, |record| {
        assert!(record.link.is_of(record.block.unwrap()));
        records.push((record.path(), record.link.to_string()));
    })
    .unwrap();
    (checked, records)
}

fn expected(repository: &Repository) -> Vec<(String, String)> {
    repository.record_blocks().into_iter().map(|(path, block)| (path, block.cid.to_string())).collect()
}

fn paths() -> impl Strategy<Value = Vec<String>> {
    let path = ("(app\\.example\\.[a-c]|click\\.aligned\\.chat\\.message)", "3[a-d2-7]{1,12}");
    prop::collection::btree_set(path.prop_map(|(collection, rkey)| format!("{collection}/{rkey}")), 0..120)
        .prop_map(|paths| paths.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_written_is_read(paths in paths(), p256 in any::<bool>(), seed in any::<u64>()) {
        let key = if p256 { SigningKey::p256(3) } else { SigningKey::k256(4) };
        let repository = repository(paths, key.clone());
        let parts = repository.parts();
        let (in_order, records) = checked(&mut Car::from_bytes(parts.car()), &key);
        prop_assert!(in_order.faults.is_empty(), "{:?}", in_order.faults);
        prop_assert!(in_order.is_signed && in_order.is_whole && in_order.notices.is_empty());
        prop_assert_eq!(&records, &expected(&repository));
        prop_assert_eq!(in_order.counts.records, records.len() as u64);
        prop_assert_eq!(in_order.counts.blocks, parts.blocks.len() as u64 + 1);

        // In any other order the same.
        let shuffled = shuffled(parts, seed);
        let mut car = Car::from_bytes(shuffled.car());
        let (in_no_order, again) = checked(&mut car, &key);
        prop_assert!(in_no_order.faults.is_empty(), "{:?}", in_no_order.faults);
        prop_assert_eq!(again, records);
        prop_assert_eq!(in_no_order.counts, in_order.counts);
    }

    #[test]
    fn layers_are_those_of_the_writer(key in "[a-z./0-9]{0,40}") {
        prop_assert_eq!(layer(key.as_bytes()), layer_of(&key));
    }

    #[test]
    fn arbitrary_bytes_are_refused_in_words(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (checked, records) = checked(&mut Car::from_bytes(bytes), &SigningKey::k256(1));
        prop_assert!(!checked.faults.is_empty() && records.is_empty() && !checked.is_signed);
    }

    #[test]
    fn every_changed_byte_is_found(place in any::<prop::sample::Index>(), change in 1u8.., shuffle in any::<bool>()) {
        let key = SigningKey::p256(5);
        let repository = repository((0..12).map(|n| format!("app.example.a/3k{n:02}")), key.clone());
        let mut parts = repository.parts();
        if shuffle {
            parts = shuffled(parts, 9);
        }
        let mut car = parts.car();
        let place = place.index(car.len());
        car[place] ^= change;
        let (checked, _) = {
            let did = Did::parse(DID).unwrap();
            let key = PublicKey::parse(&key.did_key()).unwrap();
            let expected = Expected { did: Some(&did), key: Some(&key), partial: false };
            (check(&mut Car::from_bytes(car), &expected, |_| {}).unwrap(), ())
        };
        prop_assert!(!checked.faults.is_empty(), "byte {}", place);
    }

    #[test]
    fn a_file_cut_short_is_found(place in any::<prop::sample::Index>()) {
        let key = SigningKey::p256(5);
        let car = repository((0..12).map(|n| format!("app.example.a/3k{n:02}")), key.clone()).car();
        let place = place.index(car.len());
        let did = Did::parse(DID).unwrap();
        let key = PublicKey::parse(&key.did_key()).unwrap();
        let expected = Expected { did: Some(&did), key: Some(&key), partial: false };
        let checked = check(&mut Car::from_bytes(&car[..place]), &expected, |_| {}).unwrap();
        prop_assert!(!checked.faults.is_empty(), "{} bytes", place);
    }

    #[test]
    fn nodes_of_any_bytes_do_no_harm(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..30),
                Just(b"\xa2\x61e\x81\xa4\x61kX\x0aaaaaaaaa/b\x61p\x00\x61t\xf6\x61v\xd8\x2a\x58\x25\x00\x01\x71\x12\x20".to_vec()),
                Just(b"\x61l\xf6".to_vec()),
                Just(vec![7; 32]),
                Just(b"\xa2\x61e\x80".to_vec()),
            ],
            0..6,
        ),
    ) {
        let repository = Repository::new(DID, SigningKey::k256(1));
        let root = Block::new(pieces.concat());
        let parts = Parts { commit: repository.commit(&root.cid), blocks: vec![root] };
        let (checked, _) = {
            let expected = Expected { partial: true, ..Expected::default() };
            (check(&mut Car::from_bytes(parts.car()), &expected, |_| {}).unwrap(), ())
        };
        prop_assert!(checked.commit.is_some());
    }
}

fn shuffled(mut parts: Parts, seed: u64) -> Parts {
    // By hash, as servers that export straight from a table do.
    parts.blocks.sort_by_key(|block| {
        let digest = block.cid.digest();
        u64::from_le_bytes(*digest.first_chunk().unwrap()) ^ seed
    });
    parts
}

#[test]
fn a_file_on_disk_is_read_as_one_in_memory() {
    let key = SigningKey::k256(8);
    let repository = repository((0..3_000).map(|n| format!("app.example.note/3k{n:05}")), key.clone());
    for parts in [repository.parts(), shuffled(repository.parts(), 1)] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&parts.car()).unwrap();
        let (checked, records) = checked(&mut Car::open(file).unwrap(), &key);
        assert!(checked.faults.is_empty(), "{:?}", checked.faults);
        assert_eq!(records, expected(&repository));
    }
}

#[test]
fn one_block_for_two_records_is_found_again() {
    let key = SigningKey::k256(8);
    let mut repository = Repository::new(DID, key.clone());
    for n in 0..40 {
        repository.put(&format!("app.example.note/3k{n:02}"), json!({"$type": "app.example.note", "text": "same"}));
    }
    let parts = repository.parts();
    let (checked, records) = checked(&mut Car::from_bytes(parts.car()), &key);
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
    assert_eq!(records.len(), 40);
}

#[test]
fn proofs_show_what_is_there_and_what_is_not() {
    let key = SigningKey::p256(2);
    let repository = repository((0..200).map(|n| format!("app.example.note/3k{n:03}")), key.clone());
    let parts = repository.parts();
    let records = repository.record_blocks();
    // Only what leads to one record, and the record.
    let wanted = "app.example.note/3k117";
    let proof = proof(&parts, &records, wanted);
    let expected = Expected { partial: true, ..Expected::default() };
    let mut found = BTreeMap::new();
    let checked = check(&mut Car::from_bytes(&proof[..]), &expected, |record| {
        found.insert(record.path(), record.block.map(<[u8]>::to_vec));
    })
    .unwrap();
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
    assert_eq!(found[wanted].as_deref(), Some(&records[wanted].bytes[..]));
    assert!(!checked.is_whole && !checked.gaps.is_empty());
    assert!(checked.gaps.iter().all(|gap| !gap.may_hold(wanted)));
    assert!(checked.gaps.iter().any(|gap| gap.may_hold_of("app.example.note")));
    assert!(checked.gaps.iter().all(|gap| !gap.may_hold(&format!("{wanted}!"))), "behind the record, its node goes on");

    // All of them together are the repository.
    let all: Vec<_> = records.keys().map(|path| self::proof(&parts, &records, path)).collect();
    let checked = check(&mut Car::from_bytes(join(&all)), &expected, |_| {}).unwrap();
    assert!(checked.faults.is_empty() && checked.is_whole);
    assert_eq!(checked.counts.records, 200);
    assert!(checked.notices.count() > 0, "blocks of several proofs stand twice");
}

/// What a server would prove a record with: every node that may lead to it.
fn proof(parts: &Parts, records: &BTreeMap<String, Block>, path: &str) -> Vec<u8> {
    let cids: BTreeMap<String, _> = records.iter().map(|(path, block)| (path.clone(), block.cid.clone())).collect();
    // Nodes on the way are those that change when the record does.
    let mut without = cids.clone();
    without.insert(path.to_owned(), parts.commit.cid.clone());
    let kept: std::collections::BTreeSet<_> =
        onrecord_testkit::repo::tree(&without).nodes.into_iter().map(|node| node.cid).collect();
    let on_the_way = onrecord_testkit::repo::tree(&cids).nodes.into_iter().filter(|node| !kept.contains(&node.cid));
    let blocks = on_the_way.chain([records[path].clone()]).collect();
    Parts { commit: parts.commit.clone(), blocks }.car()
}
