use proptest::prelude::*;

use super::super::*;

/// Any value the model can hold.
fn value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-MAX_INTEGER..=MAX_INTEGER).prop_map(Value::Integer),
        (-300i64..300).prop_map(Value::Integer),
        any::<String>().prop_map(|s| Value::String(s.into())),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(|b| Value::Bytes(b.into())),
        (any::<[u8; 32]>(), any::<bool>()).prop_map(|(digest, raw)| {
            Value::Link(if raw { Cid::of_raw_digest(&digest) } else { Cid::of_dag_cbor_digest(&digest) })
        }),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        // Keys that the model reserves have rules of their own.
        let key = any::<String>().prop_map(|key| key.replacen('$', "S", 1));
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..8).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Bytes that are nearly CBOR: heads of every kind with little after them.
fn nearly_cbor() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|b| vec![b]),
        (0u8..8, 0u8..28).prop_map(|(major, info)| vec![major << 5 | info]),
        Just(vec![0xd8, 0x2a, 0x58, 0x25, 0x00, 0x01, 0x71, 0x12, 0x20]),
        Just(b"\x65$type".to_vec()),
        Just(b"\x64blob".to_vec()),
        Just(b"\x65$link".to_vec()),
        Just(vec![0xa1, 0x61, 0x61]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn cbor_decodes_to_what_was_encoded(value in value()) {
        let block = value.to_dag_cbor();
        prop_assert_eq!(Value::from_dag_cbor(&block).unwrap(), value);
    }

    #[test]
    fn json_reads_back_as_what_was_written(value in value()) {
        let json = value.to_json();
        prop_assert_eq!(&Value::from_json(&json).unwrap(), &value);
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(Value::parse_json(&text).unwrap(), value);
    }

    #[test]
    fn bytes_that_decode_are_the_encoding_of_what_they_decode_to(
        bytes in prop_oneof![nearly_cbor(), prop::collection::vec(any::<u8>(), 0..200)],
    ) {
        // Never a panic, and one encoding for each value.
        if let Ok(value) = Value::from_dag_cbor(&bytes) {
            prop_assert_eq!(value.to_dag_cbor(), bytes);
        }
    }

    #[test]
    fn the_quick_check_says_what_decoding_says(
        bytes in prop_oneof![
            nearly_cbor(),
            value().prop_map(|value| value.to_dag_cbor()),
            (value(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(value, place, byte)| {
                let mut block = value.to_dag_cbor();
                let place = place.index(block.len());
                block[place] = byte;
                block
            }),
        ],
    ) {
        let decoded = Value::from_dag_cbor(&bytes).and_then(Value::into_object).map(drop);
        prop_assert_eq!(check_dag_cbor_object(&bytes), decoded);
    }

    #[test]
    fn a_changed_byte_is_another_value_or_refused(value in value(), place in any::<prop::sample::Index>(), change in 1u8..) {
        let block = value.to_dag_cbor();
        let mut changed = block.clone();
        let place = place.index(block.len());
        changed[place] ^= change;
        if let Ok(other) = Value::from_dag_cbor(&changed) {
            prop_assert_ne!(other, value);
        }
        prop_assert!(Value::from_dag_cbor(&block[..place]).is_err());
    }

    #[test]
    fn keys_stand_in_canonical_order_whatever_order_they_came_in(keys in prop::collection::vec("[a-c]{0,3}", 0..20)) {
        let object: Object = keys.iter().map(|key| (key.as_str(), Value::Null)).collect();
        let ours: Vec<&str> = object.iter().map(|(key, _)| key).collect();
        let mut expected: Vec<&str> = keys.iter().map(String::as_str).collect();
        expected.sort_by_key(|key| (key.len(), *key));
        expected.dedup();
        prop_assert_eq!(ours, expected);
    }

    #[test]
    fn no_text_makes_the_json_parser_panic(text in prop_oneof![any::<String>(), "[\\[\\]{}\",:0-9.eE$a-z-]{0,60}"]) {
        let _ = Value::parse_json(&text);
    }

    #[test]
    fn base64_reads_back(bytes in prop::collection::vec(any::<u8>(), 0..100), text in any::<String>()) {
        let written = base64::encode(&bytes);
        let another = multibase::encode(multibase::Base::Base64, &bytes);
        prop_assert_eq!(Some(written.as_str()), another.strip_prefix('m'));
        prop_assert_eq!(base64::decode(&written), Some(bytes));
        let _ = base64::decode(&text);
    }
}
