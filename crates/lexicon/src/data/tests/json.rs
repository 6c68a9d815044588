use std::borrow::Cow;

use serde_json::{Value as Json, json};

use super::super::*;
use super::CID;

/// What both doors make of the same JSON.
fn read(json: &Json) -> Result<Value<'static>, Fault> {
    let parsed = Value::from_json(json);
    let text = json.to_string();
    assert_eq!(Value::parse_json(&text), parsed, "the two doors differ over {text}");
    parsed.map(Value::into_owned).map_err(|error| error.fault)
}

#[test]
fn values_of_every_kind() {
    for (json, value) in [
        (json!(null), Value::Null),
        (json!(true), Value::Bool(true)),
        (json!(-5), Value::Integer(-5)),
        (json!(9_007_199_254_740_991_i64), Value::Integer(MAX_INTEGER)),
        (json!(-9_007_199_254_740_991_i64), Value::Integer(-MAX_INTEGER)),
        (json!("a\n\u{1f600}"), Value::String("a\n\u{1f600}".into())),
        (json!({"$bytes": "AAEC"}), Value::Bytes(Cow::Borrowed(&[0, 1, 2]))),
        (json!({"$link": CID}), Value::Link(Cid::parse(CID).unwrap())),
        (json!([]), Value::Array(vec![])),
        (json!({}), Value::Object(Object::new())),
        (
            json!({"$type": "a.b.c#d"}),
            Value::Object([("$type", Value::String("a.b.c#d".into()))].into_iter().collect()),
        ),
    ] {
        assert_eq!(read(&json), Ok(value.clone()), "{json}");
        assert_eq!(value.to_json(), json);
        assert_eq!(serde_json::to_value(&value).unwrap(), json);
    }
}

#[test]
fn a_whole_number_written_as_a_float_is_an_integer() {
    assert_eq!(read(&json!(123.0)), Ok(Value::Integer(123)));
    assert_eq!(Value::parse_json("1e3"), Ok(Value::Integer(1000)));
    assert_eq!(Value::parse_json("-0.0"), Ok(Value::Integer(0)));
}

#[test]
fn base64_is_read_leniently_and_written_without_padding() {
    for (text, bytes, written) in [
        ("", &b""[..], ""),
        ("AA==", b"\0", "AA"),
        ("AAE=", b"\0\x01", "AAE"),
        ("+/+/", b"\xfb\xff\xbf", "+/+/"),
        ("123", b"\xd7\x6d", "120"),
    ] {
        let value = read(&json!({"$bytes": text})).unwrap();
        assert_eq!(value.as_bytes(), Some(bytes), "{text}");
        assert_eq!(value.to_json(), json!({"$bytes": written}));
    }
}

#[test]
fn what_the_model_cannot_hold_is_refused() {
    let blob = |field: &str, value: Json| {
        let mut blob = json!({"$type": "blob", "ref": {"$link": CID}, "mimeType": "a/b", "size": 1});
        blob[field] = value;
        blob
    };
    for (json, fault) in [
        (json!(0.5), Fault::Float),
        (json!(-0.5), Fault::Float),
        (json!(9_007_199_254_740_992_i64), Fault::IntegerRange),
        (json!(-9_007_199_254_740_992_i64), Fault::IntegerRange),
        (json!(u64::MAX), Fault::IntegerRange),
        (json!(1e300), Fault::IntegerRange),
        (json!({"$type": null}), Fault::Type),
        (json!({"$type": ""}), Fault::Type),
        (json!({"$type": 1}), Fault::Type),
        (json!({"$bytes": [1]}), Fault::Bytes),
        (json!({"$bytes": "A"}), Fault::Bytes),
        (json!({"$bytes": "AA==="}), Fault::Bytes),
        (json!({"$bytes": "A-_A"}), Fault::Bytes),
        (json!({"$bytes": "AAEC", "x": 1}), Fault::Bytes),
        (json!({"$link": 1}), Fault::Link),
        (json!({"$link": CID, "x": 1}), Fault::Link),
        (blob("ref", json!(CID)), Fault::Blob),
        (blob("mimeType", json!(null)), Fault::Blob),
        (blob("size", json!("1")), Fault::Blob),
        (blob("size", json!(-1)), Fault::Blob),
        (json!({"$type": "blob"}), Fault::Blob),
    ] {
        assert_eq!(read(&json), Err(fault), "{json}");
        assert!(read(&json!([{"deep": json}])).is_err());
    }
    assert!(matches!(read(&json!({"$link": "."})), Err(Fault::Cid(_))));
}

#[test]
fn a_key_given_twice_is_refused() {
    let error = Value::parse_json(r#"{"x": {"a": 1, "b": 2, "a": 3}}"#).unwrap_err();
    assert_eq!(error.to_string(), "x.a: the key is given twice");
}

#[test]
fn text_that_is_not_json_is_refused() {
    for text in ["", "{", "{\"a\":1} x", "\u{feff}{}", "[1,]", "nul", "\"\\ud800\"", "1e999"] {
        let error = Value::parse_json(text).unwrap_err();
        assert!(matches!(error.fault, Fault::Json(_)), "{text}: {error}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| (1..depth).fold(json!([]), |inner, _| json!([inner]));
    assert!(read(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(read(&nested(MAX_DEPTH + 1)), Err(Fault::TooDeep));
    let objects = (0..MAX_DEPTH).fold(json!({}), |inner, _| json!({"a": inner}));
    assert_eq!(read(&objects), Err(Fault::TooDeep));
    assert!(Value::parse_json(&"[".repeat(1_000_000)).is_err());
}

#[test]
fn text_without_escapes_is_borrowed() {
    let text = String::from(r#"{"plain": "x", "esc\u0061ped": "\n"}"#);
    let value = Value::parse_json(&text).unwrap();
    let object = value.as_object().unwrap();
    assert!(matches!(object.get("plain"), Some(Value::String(Cow::Borrowed("x")))));
    assert!(matches!(object.get("escaped"), Some(Value::String(Cow::Owned(_)))));
}
