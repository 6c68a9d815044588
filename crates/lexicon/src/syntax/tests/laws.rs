//! Laws that hold for all input.

use jiff::Timestamp;
use proptest::prelude::*;

use super::encode_base32;
use crate::syntax::*;

/// Near misses: strings made of the pieces identifiers are made of.
fn shaped() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("did:"),
        Just("plc"),
        Just(":"),
        Just("."),
        Just("/"),
        Just("at://"),
        Just("a"),
        Just("-"),
        Just("x"),
        Just("2026-01-02T03:04:05"),
        Just("Z"),
        Just("+01:00"),
        Just("9"),
        Just("%"),
        Just("é"),
        Just("b"),
        Just("bafyrei"),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_string_makes_a_parser_panic(s in prop_oneof![any::<String>(), shaped()]) {
        let _ = (Did::parse(&s), Handle::parse(&s), AtIdentifier::parse(&s), Nsid::parse(&s), Rkey::parse(&s));
        let _ = (Tid::parse(&s), Cid::parse(&s), Language::parse(&s), is_valid_uri(&s), is_valid_cid(&s));
        if let Ok(uri) = AtUri::parse(&s) {
            prop_assert!(is_valid_at_identifier(uri.authority()));
        }
        if let Ok(datetime) = Datetime::parse(&s) {
            let _ = datetime.timestamp();
        }
    }

    #[test]
    fn tids_round_trip_and_order_by_time_then_clock(
        a in (0u64..1 << 53, 0u16..1024), b in (0u64..1 << 53, 0u16..1024),
    ) {
        let (x, y) = (Tid::from_micros(a.0, a.1).unwrap(), Tid::from_micros(b.0, b.1).unwrap());
        prop_assert_eq!((x.micros(), x.clock_id()), a);
        prop_assert_eq!(Tid::parse(x.as_str()), Ok(x.clone()));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        prop_assert_eq!(Rkey::from(&x).as_str().cmp(Rkey::from(&y).as_str()), a.cmp(&b));
    }

    #[test]
    fn datetimes_agree_with_jiff(second in -62_167_219_200i64..253_402_207_200, nano in 0i32..1_000_000_000) {
        let instant = Timestamp::new(second, nano).unwrap();
        let text = instant.to_string();
        let datetime = Datetime::parse(&text).unwrap();
        prop_assert_eq!(datetime.timestamp(), instant);
        let cut = Datetime::from_timestamp(instant);
        prop_assert_eq!(Datetime::parse(cut.as_str()), Ok(cut.clone()));
        prop_assert_eq!(cut.timestamp().as_nanosecond(), instant.as_nanosecond().div_euclid(1_000_000) * 1_000_000);
    }

    #[test]
    fn cids_round_trip_and_agree_with_multibase(digest in any::<[u8; 32]>(), raw in any::<bool>()) {
        let cid = if raw { Cid::of_raw_digest(&digest) } else { Cid::of_dag_cbor_digest(&digest) };
        let bytes = cid.to_bytes();
        prop_assert_eq!(encode_base32(&bytes), cid.as_str());
        prop_assert_eq!(Cid::from_bytes(&bytes), Ok(cid.clone()));
        prop_assert_eq!(Cid::parse(cid.as_str()), Ok(cid.clone()));
    }
}
