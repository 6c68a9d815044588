use onrecord_testkit::repo::SigningKey;
use serde_json::{Value as Json, json};

use super::*;

const LABELER: &str = "did:plc:ar7c4by46qjdydhdevvrndac";

fn labeler(key: &SigningKey) -> Labeler {
    Labeler {
        did: Did::parse(LABELER).unwrap(),
        url: Url::parse("https://labels.example").unwrap(),
        key: PublicKey::parse(&key.did_key()).unwrap(),
    }
}

fn label() -> Json {
    json!({"ver": 1, "src": LABELER, "uri": "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "val": "!hide", "cts": "2026-01-01T00:00:00.000Z"})
}

fn now() -> Timestamp {
    "2026-01-02T00:00:00Z".parse().unwrap()
}

/// The block of a label with this signature.
fn signed(mut label: Json, sign: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let signature = sign(&Value::from_json(&label).unwrap().to_dag_cbor());
    label["sig"] = json!({"$bytes": onrecord_lexicon::data::base64::encode(&signature)});
    Value::from_json(&label).unwrap().to_dag_cbor()
}

fn checked(label: Json) -> Result<SignedLabel, LabelFlaw> {
    let key = SigningKey::k256(1);
    check(&signed(label, |bytes| key.sign(bytes)), &labeler(&key), now())
}

fn with(field: &str, value: Json) -> Json {
    let mut label = label();
    label[field] = value;
    label
}

#[test]
fn what_a_labeler_signed_is_believed() {
    for key in [SigningKey::k256(1), SigningKey::p256(2)] {
        let cid = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a";
        let mut label = with("cid", json!(cid));
        (label["neg"], label["exp"]) = (json!(true), json!("2027-01-01T00:00:00Z"));
        // A field that this version does not know is signed too.
        label["more"] = json!("x");
        let found = check(&signed(label, |bytes| key.sign(bytes)), &labeler(&key), now()).unwrap();
        assert_eq!((found.value.as_str(), found.negated, found.cid.unwrap().as_str()), ("!hide", true, cid));
        assert_eq!(found.expires_at, Some("2027-01-01T00:00:00Z".parse().unwrap()));
    }
    assert!(checked(with("neg", json!(false))).is_ok());
}

#[test]
fn the_type_is_no_part_of_what_is_signed() {
    let key = SigningKey::k256(1);
    let mut block = label();
    let signature = key.sign(&Value::from_json(&block).unwrap().to_dag_cbor());
    block["sig"] = json!({"$bytes": onrecord_lexicon::data::base64::encode(&signature)});
    block["$type"] = json!("com.atproto.label.defs#label");
    let block = Value::from_json(&block).unwrap().to_dag_cbor();
    assert!(check(&block, &labeler(&key), now()).is_ok());
}

#[test]
fn what_is_forged_is_not() {
    let (key, other) = (SigningKey::k256(1), SigningKey::k256(2));
    let forged = |block: &[u8]| check(block, &labeler(&key), now()).unwrap_err();
    assert_eq!(forged(&signed(label(), |bytes| other.sign(bytes))), LabelFlaw::Signature);
    assert_eq!(forged(&signed(label(), |bytes| key.sign_high_s(bytes))), LabelFlaw::Signature);
    assert_eq!(forged(&signed(label(), |_| vec![0; 64])), LabelFlaw::Signature);
    assert_eq!(forged(&Value::from_json(&label()).unwrap().to_dag_cbor()), LabelFlaw::Signature, "not signed at all");
    // Changed after it was signed.
    let block = signed(label(), |bytes| key.sign(bytes));
    let mut changed = Value::from_dag_cbor(&block).unwrap().into_object().unwrap();
    changed.insert("val", Value::String("!warn".into()));
    assert_eq!(forged(&Value::Object(changed).to_dag_cbor()), LabelFlaw::Signature);
    assert_eq!(checked(with("src", json!("did:plc:ewvi7nxzyoun6zhxrhs64oiz"))).unwrap_err(), LabelFlaw::Source);
    assert_eq!(checked(with("cts", json!("2026-01-02T00:06:00Z"))).unwrap_err(), LabelFlaw::Future);
    assert!(checked(with("cts", json!("2026-01-02T00:04:00Z"))).is_ok(), "clocks differ");
}

#[test]
fn what_is_no_label_is_refused() {
    for (field, value) in [
        ("ver", json!(2)),
        ("ver", json!("1")),
        ("uri", json!(7)),
        ("uri", json!("at://".to_owned() + &"x".repeat(9_000))),
        ("val", json!("")),
        ("val", json!("x".repeat(129))),
        ("val", json!(null)),
        ("cts", json!("yesterday")),
        ("cts", json!(1)),
        ("exp", json!("never")),
        ("cid", json!("bafy")),
        ("cid", json!(1)),
        ("neg", json!("yes")),
    ] {
        assert_eq!(checked(with(field, value.clone())).unwrap_err(), LabelFlaw::Form, "{field} {value}");
    }
    let mut unversioned = label();
    unversioned.as_object_mut().unwrap().remove("ver");
    assert_eq!(checked(unversioned).unwrap_err(), LabelFlaw::Form);
    let labeler = labeler(&SigningKey::k256(1));
    for block in [&b""[..], b"\xa0", b"\x80", b"\xff\xff", b"\xbf\x00"] {
        assert!(check(block, &labeler, now()).is_err());
    }
}

fn frame(head: &Json, body: &Json) -> Vec<u8> {
    [head, body].iter().flat_map(|part| Value::from_json(part).unwrap().to_dag_cbor()).collect()
}

#[test]
fn frames_are_read_and_others_refused_in_words() {
    let labels = json!({"op": 1, "t": "#labels"});
    match read(&frame(&labels, &json!({"seq": 7, "labels": [label(), 5]}))) {
        Ok(Read::Frame(LabelFrame::Labels { labels, cursor: 7 })) => assert_eq!(labels.len(), 2),
        _ => panic!("labels"),
    }
    let info = frame(&json!({"op": 1, "t": "#info"}), &json!({"name": "OutdatedCursor", "message": "late"}));
    assert!(matches!(read(&info), Ok(Read::Frame(LabelFrame::Notice { name, .. })) if name == "OutdatedCursor"));
    let error = frame(&json!({"op": -1}), &json!({"error": "FutureCursor"}));
    assert!(matches!(read(&error), Ok(Read::Ended { name, .. }) if name == "FutureCursor"));
    let many = json!({"seq": 7, "labels": vec![0; MAX_LABELS + 1]});
    for bytes in [
        frame(&labels, &json!({"labels": []})),
        frame(&labels, &json!({"seq": -1, "labels": []})),
        frame(&labels, &json!({"seq": 7})),
        frame(&labels, &many),
        frame(&json!({"op": 1, "t": "#other"}), &json!({})),
        frame(&json!({"op": 2, "t": "#labels"}), &json!({})),
        b"\x00".to_vec(),
        Vec::new(),
    ] {
        assert!(read(&bytes).is_err());
    }
}
