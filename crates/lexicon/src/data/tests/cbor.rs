use super::super::*;
use super::{CID, hex};

#[test]
fn the_canonical_bytes_of_values() {
    for (value, bytes) in [
        (Value::Null, "f6"),
        (Value::Bool(false), "f4"),
        (Value::Bool(true), "f5"),
        (Value::Integer(0), "00"),
        (Value::Integer(23), "17"),
        (Value::Integer(24), "1818"),
        (Value::Integer(255), "18ff"),
        (Value::Integer(256), "190100"),
        (Value::Integer(65_536), "1a00010000"),
        (Value::Integer(1 << 32), "1b0000000100000000"),
        (Value::Integer(-1), "20"),
        (Value::Integer(-25), "3818"),
        (Value::Integer(-MAX_INTEGER), "3b001ffffffffffffe"),
        (Value::String("é".into()), "62c3a9"),
        (Value::Bytes(vec![1, 2].into()), "420102"),
        (Value::Array(vec![Value::Null, Value::Integer(1)]), "82f601"),
    ] {
        assert_eq!(value.to_dag_cbor(), hex(bytes), "{value:?}");
        assert_eq!(Value::from_dag_cbor(&hex(bytes)).unwrap(), value);
    }
}

#[test]
fn a_link_is_tag_42_with_a_leading_zero() {
    let cid = Cid::parse(CID).unwrap();
    let block = Value::Link(cid.clone()).to_dag_cbor();
    assert_eq!(block, [&hex("d82a 5825 00")[..], &cid.to_bytes()].concat());
    assert_eq!(Value::from_dag_cbor(&block).unwrap().as_link(), Some(&cid));
}

#[test]
fn keys_are_sorted_by_length_then_bytes() {
    let json = serde_json::json!({"b": 1, "aa": 2, "a": 3, "ba": 4, "é": 5});
    let block = Value::from_json(&json).unwrap().to_dag_cbor();
    assert_eq!(block, hex("a5 6161 03 6162 01 626161 02 626261 04 62c3a9 05"));
}

#[test]
fn anything_but_the_canonical_encoding_is_refused() {
    let link = |cid: &str| format!("d82a 5825 00 {cid} {}", "07".repeat(32));
    for (bytes, why) in [
        ("", "ends early"),
        ("18", "ends early"),
        ("6261", "ends early"),
        ("8201", "ends early"),
        ("9a7fffffff", "ends early"),
        ("bb7fffffffffffffff", "ends early"),
        ("5b7fffffffffffffff00", "ends early"),
        ("a161", "ends early"),
        ("0000", "something follows"),
        ("1817", "longer than it needs"),
        ("1900ff", "longer than it needs"),
        ("1a0000ffff", "longer than it needs"),
        ("1b00000000ffffffff", "longer than it needs"),
        ("7801 61", "longer than it needs"),
        ("9801 00", "longer than it needs"),
        ("b801 6161 00", "longer than it needs"),
        ("d9002a 40", "longer than it needs"),
        ("9f00ff", "indefinite"),
        ("bf616100ff", "indefinite"),
        ("7f6161ff", "indefinite"),
        ("5f4101ff", "indefinite"),
        ("1c", "does not know"),
        ("f97e00", "floats"),
        ("fa3f800000", "floats"),
        ("fb3ff0000000000000", "floats"),
        ("f7", "simple value"),
        ("e0", "simple value"),
        ("f814", "simple value"),
        ("ff", "simple value"),
        ("1b0020000000000000", "2^53"),
        ("3b001fffffffffffff", "2^53"),
        ("1bffffffffffffffff", "2^53"),
        ("3bffffffffffffffff", "2^53"),
        ("61ff", "UTF-8"),
        ("a1 61ff 00", "UTF-8"),
        ("a1 00 00", "key that is not text"),
        ("a1 4161 00", "key that is not text"),
        ("a2 6162 00 6161 00", "out of order"),
        ("a2 626161 00 6162 00", "out of order"),
        ("a2 6161 00 6161 00", "given twice"),
        ("c0 6161", "tag other than 42"),
        ("d82b 40", "tag other than 42"),
        ("d82a 6161", "not bytes"),
        ("d82a 40", "begin with 0"),
        ("d82a 4101", "begin with 0"),
        ("d82a 4100", "CID"),
        (&link("01 71 12 20").replace(" 00 ", " 01 "), "begin with 0"),
        (&link("00 71 12 20"), "CID"),
        (&link("01 70 12 20"), "CID"),
        (&link("01 71 1e 20"), "CID"),
        ("a1 65 2474797065 f6", "$type"),
        ("a1 65 246c696e6b 6161", "$link"),
        ("a1 66 246279746573 6161", "$bytes"),
        ("a1 65 2474797065 64 626c6f62", "blob"),
    ] {
        let error = Value::from_dag_cbor(&hex(bytes)).expect_err(bytes);
        assert!(error.to_string().contains(why), "{bytes}: {error}");
    }
    assert!(Value::from_dag_cbor(&hex(&link("01 71 12 20"))).is_ok());
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| [vec![0x81; depth - 1], vec![0x80]].concat();
    assert!(Value::from_dag_cbor(&nested(MAX_DEPTH)).is_ok());
    for depth in [MAX_DEPTH + 1, 1_000_000] {
        assert_eq!(Value::from_dag_cbor(&nested(depth)).unwrap_err().fault, Fault::TooDeep);
    }
    let objects = "a16161".repeat(MAX_DEPTH + 1);
    assert_eq!(Value::from_dag_cbor(&hex(&objects)).unwrap_err().fault, Fault::TooDeep);
}

#[test]
fn text_and_bytes_are_borrowed_from_the_block() {
    use std::borrow::Cow::Borrowed;
    let block = hex("82 6161 4101");
    let value = Value::from_dag_cbor(&block).unwrap();
    assert!(matches!(value.as_array(), Some([Value::String(Borrowed(_)), Value::Bytes(Borrowed(_))])));
}
