mod cbor;
mod json;
mod laws;

use super::*;

const CID: &str = "bafyreiclp443lavogvhj3d2ob2cxbfuscni2k5jk7bebjzg7khl3esabwq";

/// The bytes that hexadecimal text (with spaces) spells.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn an_object_finds_inserts_and_removes_in_canonical_order() {
    let mut object: Object = [("bb", Value::Null), ("c", Value::Null), ("aa", Value::Null)].into_iter().collect();
    assert_eq!(object.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["c", "aa", "bb"]);
    assert_eq!(object.insert("aa", Value::Integer(1)), Some(Value::Null));
    assert_eq!(object.get("aa"), Some(&Value::Integer(1)));
    assert_eq!(object.remove("aa"), Some(Value::Integer(1)));
    assert_eq!(object.remove("aa"), None);
    assert_eq!((object.get("aa"), object.len()), (None, 2));
}

#[test]
fn a_blob_is_recognised() {
    let json =
        serde_json::json!({"$type": "blob", "ref": {"$link": CID}, "mimeType": "image/png", "size": 7, "alt": "x"});
    let value = Value::from_json(&json).unwrap();
    let cid = Cid::parse(CID).unwrap();
    assert_eq!(value.as_blob(), Some(BlobRef { cid: &cid, mime_type: "image/png", size: 7 }));
    assert_eq!(Value::from_json(&serde_json::json!({"$type": "a.b.c"})).unwrap().as_blob(), None);
}

#[test]
fn owned_values_equal_what_they_were() {
    let json = serde_json::json!({"a": ["x", {"$bytes": "AAEC"}, {"$link": CID}, null, true, 3]});
    let value = Value::from_json(&json).unwrap();
    assert_eq!(value.clone().into_owned(), value);
}

#[test]
fn cids_are_those_of_the_field() {
    // The empty object and the empty blob: known everywhere.
    assert_eq!(cid_of(&hex("a0")).as_str(), "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua");
    assert_eq!(cid_of_blob(b"").as_str(), "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku");
}

#[test]
fn a_record_must_be_an_object() {
    let (block, cid) = record_cid(&serde_json::json!({"b": 1, "a": 2})).unwrap();
    assert_eq!(block, hex("a2 6161 02 6162 01"));
    assert_eq!(cid, cid_of(&block));
    assert_eq!(record_cid(&serde_json::json!("blah")).unwrap_err().fault, Fault::NotAnObject);
}

#[test]
fn errors_say_where() {
    let json = serde_json::json!({"steps": [{}, {"n": [1, 0.5]}]});
    let error = Value::from_json(&json).unwrap_err();
    assert_eq!(error.to_string(), "steps[1].n[1]: floats are not allowed");
    assert_eq!(Value::parse_json(&json.to_string()).unwrap_err(), error);
    let cbor = hex("a1 6161 81 a1 6162 f97e00");
    assert_eq!(Value::from_dag_cbor(&cbor).unwrap_err().to_string(), "a[0].b: floats are not allowed");
}
