//! What each type tells of itself.

use jiff::Timestamp;

use super::encode_base32;
use crate::syntax::*;

#[test]
fn a_did_has_a_method_and_an_identifier() {
    let did = Did::parse("did:web:localhost%3A1:x").unwrap();
    assert_eq!((did.method(), did.identifier()), ("web", "localhost%3A1:x"));
}

#[test]
fn a_handle_keeps_its_case_until_normalized() {
    let handle = Handle::parse("Dana.Example").unwrap();
    assert_eq!(handle.as_str(), "Dana.Example");
    assert_eq!(handle.normalized().as_str(), "dana.example");
}

#[test]
fn an_nsid_has_an_authority_a_domain_and_a_name() {
    let nsid = Nsid::parse("click.Aligned.chat.sessionEnd").unwrap();
    assert_eq!(nsid.authority(), "click.Aligned.chat");
    assert_eq!(nsid.domain(), "chat.aligned.click");
    assert_eq!(nsid.name(), "sessionEnd");
}

#[test]
fn a_tid_is_made_of_time_and_clock() {
    // 1 in the last place of each part: 10 bits of clock are two characters.
    assert_eq!(Tid::from_micros(0, 1).unwrap().as_str(), "2222222222223");
    assert_eq!(Tid::from_micros(1, 0).unwrap().as_str(), "2222222222322");
    assert_eq!(Tid::from_micros((1 << 53) - 1, 1023).unwrap().as_str(), "bzzzzzzzzzzzz");
    assert_eq!(Tid::from_micros(1 << 53, 0), None);
    assert_eq!(Tid::from_micros(0, 1024), None);
}

#[test]
fn an_at_uri_has_up_to_three_parts() {
    let uri = AtUri::parse("at://dana.example/a.b.c/k:1").unwrap();
    assert_eq!((uri.authority(), uri.collection(), uri.rkey()), ("dana.example", Some("a.b.c"), Some("k:1")));
    let uri = AtUri::parse("at://did:plc:k2z6").unwrap();
    assert_eq!((uri.authority(), uri.collection(), uri.rkey()), ("did:plc:k2z6", None, None));
    let made = AtUri::of_record(
        &Did::parse("did:plc:k2z6").unwrap(),
        &Nsid::parse("a.b.c").unwrap(),
        &Rkey::parse("self").unwrap(),
    );
    assert_eq!(made, AtUri::parse("at://did:plc:k2z6/a.b.c/self").unwrap());
}

#[test]
fn cids_as_records_use_them() {
    let good = "bafyreiclp443lavogvhj3d2ob2cxbfuscni2k5jk7bebjzg7khl3esabwq";
    assert!(Cid::parse(good).is_ok());
    let upper = good.to_uppercase();
    let cut = good.strip_suffix('q').unwrap();
    // The last character carries two bits that must be 0.
    let loose = good.replace("abwq", "abwr");
    // An identity hash, a DAG-PB block, version 0 in base32, and another base.
    let dag_pb = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
    let identity: &str = &encode_base32(&[&[1, 0x71, 0, 32][..], &[7; 32]].concat());
    let version_0: &str = &encode_base32(&[&[0, 0x71, 0x12, 32][..], &[7; 32]].concat());
    for bad in
        ["", "b", &upper, cut, &loose, dag_pb, identity, version_0, "zdj7WWeQ43G6JJvLWQWZpyHuAMq6uYWRjkBXFad11vE2LHhQ7"]
    {
        assert!(Cid::parse(bad).is_err(), "{bad:?} was accepted");
    }
}

#[test]
fn cids_convert_to_those_of_the_ipld_crates() {
    let ours = Cid::of_raw_digest(&[9; 32]);
    let theirs = ::cid::Cid::from(&ours);
    assert_eq!(theirs.to_string(), ours.as_str());
    assert_eq!((theirs.codec(), theirs.hash().code(), theirs.hash().digest()), (0x55, 0x12, &[9; 32][..]));
    assert_eq!(Cid::try_from(&theirs), Ok(ours.clone()));
    assert!(ours.is_raw());
    assert_eq!(ours.digest(), [9; 32]);
    assert!(!Cid::of_dag_cbor_digest(&[9; 32]).is_raw());
    let pb: ::cid::Cid = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi".parse().unwrap();
    assert!(Cid::try_from(&pb).is_err());
}

#[test]
fn a_datetime_is_an_instant() {
    for (text, instant) in [
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
        ("2026-01-02T03:04:05.6789012345+01:30", "2026-01-02T01:34:05.678901234Z"),
        ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ] {
        assert_eq!(Datetime::parse(text).unwrap().timestamp(), instant.parse::<Timestamp>().unwrap(), "{text}");
    }
    assert_eq!(Datetime::parse("9999-12-31T23:59:59Z").unwrap().timestamp(), Timestamp::MAX);
}

#[test]
fn a_datetime_from_an_instant_has_milliseconds() {
    for (instant, text) in [
        ("2026-01-02T03:04:05.678999Z", "2026-01-02T03:04:05.678Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z"),
        ("1969-12-31T23:59:59.0009Z", "1969-12-31T23:59:59.000Z"),
    ] {
        assert_eq!(Datetime::from_timestamp(instant.parse().unwrap()).as_str(), text);
    }
    assert_eq!(Datetime::from_timestamp(Timestamp::MIN).as_str(), "0000-01-01T00:00:00.000Z");
}

#[test]
fn datetimes_order_by_instant() {
    let later = Datetime::parse("2026-01-02T00:00:00-02:00").unwrap();
    let earlier = Datetime::parse("2026-01-02T01:00:00Z").unwrap();
    assert!(earlier < later, "though its text is greater");
}

#[test]
fn errors_name_the_kind_and_the_rule() {
    let error = Nsid::parse("a.b").unwrap_err();
    assert_eq!(error.to_string(), "not a valid NSID: it has fewer than three segments");
}

#[test]
fn identifiers_pass_through_json_and_are_checked_there() {
    let key: Rkey = serde_json::from_str("\"a~b\"").unwrap();
    assert_eq!(serde_json::to_string(&key).unwrap(), "\"a~b\"");
    assert!(serde_json::from_str::<Rkey>("\"a b\"").is_err());
    assert!(serde_json::from_str::<Rkey>("7").is_err());
    // An escape makes the parser hand over an owned string.
    assert_eq!(serde_json::from_str::<Rkey>("\"\\u0061\"").unwrap().as_str(), "a");
}
