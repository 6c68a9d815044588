//! The protocol's own data model vectors, where they are present.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly, and say what they skip"
)]

use std::{env, fs, path::PathBuf};

use onrecord_lexicon::data::{DataError, Value, cid_of, record_cid};
use serde_json::Value as Json;

fn vectors(file: &str) -> Option<Vec<Json>> {
    let shared = env::var_os("ONRECORD_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from);
    let folder = shared.join("interop/data-model");
    if !folder.is_dir() {
        eprintln!("skipped: shared data not present");
        return None;
    }
    let vectors: Vec<Json> = serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap();
    assert!(!vectors.is_empty());
    Some(vectors)
}

/// A record by the other door.
fn parse_record(text: &str) -> Result<(), DataError> {
    Value::parse_json(text)?.into_object().map(|_| ())
}

#[test]
fn the_fixtures_have_their_bytes_and_cids() {
    for vector in vectors("data-model-fixtures.json").into_iter().flatten() {
        let (block, cid) = record_cid(&vector["json"]).unwrap();
        // Base64 without padding: what our own `$bytes` reads.
        let bytes = serde_json::json!({"$bytes": vector["cbor_base64"]});
        assert_eq!(Value::from_json(&bytes).unwrap().as_bytes(), Some(&block[..]));
        assert_eq!(cid.as_str(), vector["cid"]);
        let back = Value::from_dag_cbor(&block).unwrap();
        assert_eq!(back.to_json(), vector["json"]);
        assert_eq!(cid_of(&back.to_dag_cbor()), cid);
    }
}

#[test]
fn the_valid_are_accepted() {
    for vector in vectors("data-model-valid.json").into_iter().flatten() {
        let (block, _) = record_cid(&vector["json"]).unwrap_or_else(|error| panic!("{}: {error}", vector["note"]));
        assert!(Value::from_dag_cbor(&block).is_ok());
        assert_eq!(parse_record(&vector["json"].to_string()), Ok(()));
    }
}

#[test]
fn the_invalid_are_refused() {
    for vector in vectors("data-model-invalid.json").into_iter().flatten() {
        assert!(record_cid(&vector["json"]).is_err(), "{}", vector["note"]);
        assert!(parse_record(&vector["json"].to_string()).is_err(), "{}", vector["note"]);
    }
}
