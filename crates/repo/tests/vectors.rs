//! The protocol's own vectors of keys, signatures and trees, where they are present.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly, and say what they skip"
)]

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use onrecord_lexicon::{Cid, data::Value};
use onrecord_repo::{Car, Expected, PublicKey, SignatureError, check, common_prefix, layer};
use onrecord_testkit::repo::{self, Block, Repository, SigningKey};
use serde_json::{Value as Json, json};

fn shared(file: &str) -> Option<Vec<u8>> {
    let shared = env::var_os("ONRECORD_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from);
    if !shared.join("interop").is_dir() {
        eprintln!("skipped: shared data not present");
        return None;
    }
    Some(fs::read(shared.join(file)).unwrap())
}

fn vectors(file: &str) -> Vec<Json> {
    let Some(bytes) = shared(file) else { return Vec::new() };
    let vectors: Vec<Json> = serde_json::from_slice(&bytes).unwrap();
    assert!(!vectors.is_empty());
    vectors
}

fn base64(text: &Json) -> Vec<u8> {
    Value::from_json(&json!({"$bytes": text})).unwrap().as_bytes().unwrap().to_vec()
}

#[test]
fn signatures_hold_or_not_for_the_reason_given() {
    for vector in vectors("interop/crypto/signature-fixtures.json") {
        let key = PublicKey::parse(vector["publicKeyDid"].as_str().unwrap()).unwrap();
        assert_eq!(key.curve(), if vector["algorithm"] == "ES256" { "P-256" } else { "secp256k1" });
        let found = key.verify(&base64(&vector["messageBase64"]), &base64(&vector["signatureBase64"]));
        let expected = match vector["tags"][0].as_str() {
            None => Ok(()),
            Some("high-s") => Err(SignatureError::HighS),
            Some("der-encoded") => Err(SignatureError::Form),
            Some(other) => panic!("a new kind of vector: {other}"),
        };
        assert_eq!(found, expected, "{}", vector["comment"]);
        assert_eq!(found.is_ok(), vector["validSignature"] == true);
        assert_ne!(key.verify(b"another message", &base64(&vector["signatureBase64"])), Ok(()));
    }
}

#[test]
fn keys_are_those_of_their_secrets() {
    let k256 = vectors("interop/crypto/w3c_didkey_K256.json").into_iter().map(|vector| {
        let hex = vector["privateKeyBytesHex"].as_str().unwrap();
        let secret: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        (SigningKey::K256(k256::ecdsa::SigningKey::from_slice(&secret).unwrap()), vector)
    });
    let p256 = vectors("interop/crypto/w3c_didkey_P256.json").into_iter().map(|vector| {
        let (_, secret) = multibase::decode(format!("z{}", vector["privateKeyBytesBase58"].as_str().unwrap())).unwrap();
        (SigningKey::P256(p256::ecdsa::SigningKey::from_slice(&secret).unwrap()), vector)
    });
    for (secret, vector) in k256.chain(p256) {
        assert_eq!(secret.did_key(), vector["publicDidKey"].as_str().unwrap());
        let key = PublicKey::parse(&secret.did_key()).unwrap();
        assert_eq!(key.verify(b"message", &secret.sign(b"message")), Ok(()));
        assert_eq!(key.verify(b"message", &secret.sign_high_s(b"message")), Err(SignatureError::HighS));
    }
}

#[test]
fn layers_and_prefixes() {
    for vector in vectors("interop/mst/key_heights.json") {
        assert_eq!(u64::from(layer(vector["key"].as_str().unwrap().as_bytes())), vector["height"], "{vector}");
    }
    for vector in vectors("interop/mst/common_prefix.json") {
        let side = |side: &str| vector[side].as_str().unwrap().as_bytes().to_vec();
        assert_eq!(common_prefix(&side("left"), &side("right")) as u64, vector["len"], "{vector}");
    }
    // Keys named after their own layers: "A0/374913" is of layer 0.
    let Some(keys) = shared("interop/mst/example_keys.txt") else { return };
    for key in String::from_utf8(keys).unwrap().lines() {
        assert_eq!(layer(key.as_bytes()).to_string(), key[1..2], "{key}");
    }
}

/// The trees of the vectors are those of the tests' writer, and the blocks they list prove what was added and removed.
#[test]
fn trees_and_proofs() {
    for vector in vectors("interop/firehose/commit-proof-fixtures.json") {
        let leaf = Cid::parse(vector["leafValue"].as_str().unwrap()).unwrap();
        let list = |name: &str| -> Vec<String> {
            vector[name].as_array().unwrap().iter().map(|key| key.as_str().unwrap().to_owned()).collect()
        };
        let mut records: BTreeMap<String, Cid> = list("keys").into_iter().map(|key| (key, leaf.clone())).collect();
        assert_eq!(repo::tree(&records).root.as_str(), vector["rootBeforeCommit"], "{}", vector["comment"]);
        for key in list("adds") {
            records.insert(key, leaf.clone());
        }
        for key in list("dels") {
            records.remove(&key);
        }
        let tree = repo::tree(&records);
        assert_eq!(tree.root.as_str(), vector["rootAfterCommit"], "{}", vector["comment"]);

        let listed = list("blocksInProof");
        let blocks: Vec<Block> = tree.nodes.into_iter().filter(|node| listed.contains(&node.cid.to_string())).collect();
        let commit = Repository::new("did:plc:ewvi7nxzyoun6zhxrhs64oiz", SigningKey::k256(1)).commit(&tree.root);
        let parts = repo::Parts { commit, blocks };
        // Most of the vectors' keys are no record paths, which is the one thing wrong with them.
        let mut car = Car::from_bytes(parts.car());
        let mut paths = Vec::new();
        let expected = Expected { partial: true, ..Expected::default() };
        let checked = check(&mut car, &expected, |record| paths.push(record.path())).unwrap();
        paths.extend(checked.faults.listed().iter().map(|fault| fault.at.clone()));
        assert!(checked.faults.listed().iter().all(|fault| fault.rule.as_str() == "key-form"), "{:?}", checked.faults);
        for key in list("adds") {
            assert!(paths.contains(&key), "{key} is proven");
        }
        for key in list("dels") {
            assert!(!paths.contains(&key), "{key} is gone");
            assert!(checked.gaps.iter().all(|gap| !gap.may_hold(&key)), "{key} is nowhere");
        }
    }
}

#[test]
fn the_signed_repository_is_whole() {
    let Some(bytes) = shared("bench-data/car/mix2k.car") else { return };
    let about: Json = serde_json::from_slice(&shared("bench-data/car/mix2k.car.json").unwrap()).unwrap();
    let key = PublicKey::parse(about["key"].as_str().unwrap()).unwrap();
    let mut car = Car::from_bytes(&bytes[..]);
    let checked = check(&mut car, &Expected { key: Some(&key), ..Expected::default() }, |_| {}).unwrap();
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
    assert!(checked.is_signed && checked.is_whole);
    assert_eq!(checked.counts.records, about["records"]);
    assert_eq!(checked.root.unwrap().to_string(), about["commit"]);
    let other = PublicKey::parse(&SigningKey::k256(1).did_key()).unwrap();
    let mut car = Car::from_bytes(&bytes[..]);
    let checked = check(&mut car, &Expected { key: Some(&other), ..Expected::default() }, |_| {}).unwrap();
    assert_eq!(checked.faults.listed()[0].rule.as_str(), "signature");
}

#[test]
fn what_is_no_key_is_refused_in_words() {
    let key = SigningKey::p256(9).did_key();
    let base58 = |bytes: &[u8]| format!("did:key:{}", multibase::encode(multibase::Base::Base58Btc, bytes));
    let (_, bytes) = multibase::decode(key.strip_prefix("did:key:").unwrap()).unwrap();
    let ed25519 = base58(&[&[0xed, 0x01][..], &[7; 32]].concat());
    let uncompressed = base58(&[&bytes[..2], &[4; 65]].concat());
    let off_curve = base58(&[&bytes[..2], &[2], &[0xff; 32]].concat());
    let base64 = format!("did:key:{}", multibase::encode(multibase::Base::Base64Url, &bytes));
    let (short, long) = (key[..key.len() - 1].to_owned(), format!("{key}{}", "a".repeat(300)));
    for wrong in [
        "",
        "did:key:",
        "did:plc:abc",
        "zDnaembgSGUhZULN2",
        &ed25519,
        &uncompressed,
        &off_curve,
        &base64,
        &short,
        &long,
    ] {
        let error = PublicKey::parse(wrong).unwrap_err().to_string();
        assert!(error.contains("is not a did:key"), "{wrong}: {error}");
        assert!(error.len() < 250);
    }
}
