//! The exact bytes of a batch, and what fits into one.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail loudly")]

use onrecord_atproto::{EncodedWrites, Error, MAX_WRITES_BYTES, Room, Write, fill_batch};
use onrecord_lexicon::{Cid, Did, Nsid, Rkey};
use serde_json::value::RawValue;

const CID: &str = "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua";

fn did() -> Did {
    Did::parse("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa").unwrap()
}

fn create(rkey: usize, json: &str) -> Write {
    Write::Create {
        collection: Nsid::parse("click.aligned.chat.message").unwrap(),
        rkey: Rkey::parse(&format!("k{rkey}")).unwrap(),
        value: RawValue::from_string(json.into()).unwrap(),
    }
}

fn delete() -> Write {
    Write::Delete { collection: Nsid::parse("click.aligned.chat.message").unwrap(), rkey: Rkey::parse("gone").unwrap() }
}

#[test]
fn records_are_sent_byte_for_byte() {
    let value = r#"{ "b":1,"a": "\u00e9" }"#;
    let encoded = EncodedWrites::new(&did(), &[create(1, value), delete()], Some(false), None).unwrap();
    let body = std::str::from_utf8(encoded.as_bytes()).unwrap();
    assert_eq!(
        body,
        format!(
            r##"{{"repo":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa","validate":false,"writes":[{{"$type":"com.atproto.repo.applyWrites#create","collection":"click.aligned.chat.message","rkey":"k1","value":{value}}},{{"$type":"com.atproto.repo.applyWrites#delete","collection":"click.aligned.chat.message","rkey":"gone"}}]}}"##
        )
    );
    assert_eq!(encoded.count(), 2);
}

#[test]
fn a_swap_commit_is_named() {
    let cid = Cid::parse(CID).unwrap();
    let encoded = EncodedWrites::new(&did(), &[delete()], None, Some(&cid)).unwrap();
    let json: serde_json::Value = serde_json::from_slice(encoded.as_bytes()).unwrap();
    assert_eq!(json["swapCommit"], CID);
    assert!(json.get("validate").is_none());
}

#[test]
fn more_than_200_writes_are_refused() {
    let writes: Vec<_> = (0..201).map(|rkey| create(rkey, "{}")).collect();
    assert!(matches!(EncodedWrites::new(&did(), &writes, None, None), Err(Error::TooManyWrites { count: 201 })));
    assert!(EncodedWrites::new(&did(), &writes[..200], None, None).is_ok());
}

#[test]
fn more_than_a_million_bytes_are_refused() {
    let write = create(1, &format!("\"{}\"", "x".repeat(MAX_WRITES_BYTES)));
    assert!(matches!(EncodedWrites::new(&did(), &[write], None, None), Err(Error::BatchTooLarge { .. })));
}

#[test]
fn what_is_said_to_fit_fits_and_one_more_does_not() {
    let cid = Cid::parse(CID).unwrap();
    for size in [10, 4_900, 4_950, 60_000, 333_000] {
        let writes: Vec<_> =
            (0..300).map(|rkey| create(rkey, &format!("{{\"text\":\"{}\"}}", "x".repeat(size)))).collect();
        let fit = fill_batch(&did(), &writes, Room::default()).unwrap();
        assert!(fit > 0, "{size}");
        let encode = |count: usize| EncodedWrites::new(&did(), &writes[..count], Some(false), Some(&cid));
        assert!(encode(fit).is_ok(), "{size}: {fit}");
        assert!(encode(fit + 1).is_err(), "{size}: {fit}");
    }
}

#[test]
fn room_is_counted_to_the_byte() {
    let cid = Cid::parse(CID).unwrap();
    let writes: Vec<_> = (0..5).map(|rkey| create(rkey, "{}")).chain([delete()]).collect();
    for count in 1..=writes.len() {
        let exact = EncodedWrites::new(&did(), &writes[..count], Some(false), Some(&cid)).unwrap().as_bytes().len();
        let fit = |bytes| fill_batch(&did(), &writes, Room { bytes, ..Room::default() }).unwrap();
        assert_eq!((fit(exact), fit(exact - 1)), (count, count - 1));
    }
}

#[test]
fn a_batch_fits_the_points_that_are_left() {
    let writes = [create(1, "{}"), create(2, "{}"), delete(), delete()];
    let fit = |points| fill_batch(&did(), &writes, Room { points: Some(points), ..Room::default() }).unwrap();
    assert_eq!([0, 2, 3, 5, 6, 7, 8, 100].map(fit), [0, 0, 1, 1, 2, 3, 4, 4]);
}

#[test]
fn a_first_write_that_is_too_large_does_not_fit_and_an_empty_list_is_nothing() {
    let large = create(1, &format!("\"{}\"", "x".repeat(MAX_WRITES_BYTES)));
    assert_eq!(fill_batch(&did(), &[large], Room::default()).unwrap(), 0);
    assert_eq!(fill_batch(&did(), &[], Room::default()).unwrap(), 0);
}
