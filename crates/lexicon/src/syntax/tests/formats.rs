//! What each format takes and what it refuses.

use crate::syntax::*;

/// Asserts that every string of `good` passes and none of `bad`, by the function and by the type's door.
fn judge(name: &str, is_valid: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
    for s in good {
        assert!(is_valid(s), "{name}: {s:?} was refused");
    }
    for s in bad {
        assert!(!is_valid(s), "{name}: {s:?} was accepted");
    }
}

#[test]
fn dids() {
    let longest = format!("did:web:{}", "a".repeat(2040));
    let too_long = format!("{longest}a");
    judge(
        "did",
        is_valid_did,
        &["did:plc:k2z6", "did:web:site.example%3A8080", "did:x:::y", "did:key:A_b-C.d", &longest],
        &[
            "",
            "did:",
            "did:plc",
            "did:plc:",
            "did::x",
            "did:Plc:x",
            "did:p1c:x",
            "Did:plc:x",
            "did:plc:x:",
            "did:plc:x%",
            "did:plc:x/y",
            "did:plc:x#y",
            "did:plc:é",
            "did:plc:x ",
            &too_long,
        ],
    );
}

#[test]
fn handles() {
    let longest_label = format!("{}.example", "a".repeat(63));
    let too_long_label = format!("{}.example", "a".repeat(64));
    let longest = format!("{}example1", "abcd.".repeat(49));
    let too_long = format!("a{longest}");
    assert_eq!((longest.len(), too_long.len()), (253, 254));
    judge(
        "handle",
        is_valid_handle,
        &["dana.example.com", "D4na.Example", "a.b", "1.2.c", "x--y.example", &longest_label, &longest],
        &[
            "",
            "example",
            ".example",
            "dana.",
            "dana..example",
            "-a.example",
            "a-.example",
            "a_b.example",
            "10.0.0.1",
            "dana.1com",
            "dana.example ",
            "dána.example",
            &too_long_label,
            &too_long,
        ],
    );
}

#[test]
fn at_identifiers() {
    judge(
        "at-identifier",
        is_valid_at_identifier,
        &["did:plc:k2z6", "dana.example"],
        &["", "dana", "did:plc", "did:plc:x%", "@dana.example", "at://dana.example"],
    );
    assert!(AtIdentifier::parse("did:plc:k2z6").unwrap().as_did().is_some());
    assert!(AtIdentifier::parse("dana.example").unwrap().as_handle().is_some());
}

#[test]
fn nsids() {
    let longest_name = format!("a.b.{}", "n".repeat(63));
    let too_long_name = format!("a.b.{}", "n".repeat(64));
    let longest = format!("a{}.n", ".abcdefg-9".repeat(31)) + "ames";
    let too_long = format!("{longest}d");
    assert_eq!((longest.len(), too_long.len()), (317, 318));
    judge(
        "nsid",
        is_valid_nsid,
        &["a.b.c", "click.aligned.chat.message", "org.4x.fooBar2", "com.My-Site.x", &longest_name, &longest],
        &[
            "",
            "a",
            "a.b",
            "a..c",
            ".a.b.c",
            "a.b.c.",
            "a.b.2c",
            "a.b.c-d",
            "a.b.c_d",
            "4x.b.c",
            "-a.b.c",
            "a.b-.c",
            "a.b.*",
            "a.b.c#main",
            "a.é.c",
            &too_long_name,
            &too_long,
        ],
    );
}

#[test]
fn record_keys() {
    let longest = "k".repeat(512);
    let too_long = "k".repeat(513);
    judge(
        "record-key",
        is_valid_record_key,
        &["self", "3k2a.r1", "did:plc:abc", "~-_:.", "...", &longest],
        &["", ".", "..", "a/b", "a b", "a+b", "a%20", "a=", "ключ", &too_long],
    );
}

#[test]
fn tids() {
    judge(
        "tid",
        is_valid_tid,
        &["2222222222222", "jzzzzzzzzzzzz", "3lcx4ymkb2c2v"],
        &["", "222222222222", "22222222222222", "k222222222222", "3lcx4ymkb2c21", "3LCX4YMKB2C2V", "3lcx-ymkb2c2v"],
    );
}

#[test]
fn at_uris() {
    judge(
        "at-uri",
        is_valid_at_uri,
        &[
            "at://did:plc:k2z6",
            "at://dana.example",
            "at://dana.example/a.b.c",
            "at://did:plc:k2z6/a.b.c/self",
            "at://did:web:h%3A1/a.b.c/x:y",
        ],
        &[
            "",
            "at://",
            "at:///a.b.c",
            "at://dana",
            "At://dana.example",
            "at://dana.example/",
            "at://dana.example/a.b",
            "at://dana.example/a.b.c/",
            "at://dana.example/a.b.c/.",
            "at://dana.example/a.b.c/k/",
            "at://dana.example#x",
            "at://dana.example/a.b.c/k/l",
            "at://dana.example/a.b.c?k",
            "at://dana.example/a.b.c/k#f",
            " at://dana.example",
            "at://dana.example//k",
        ],
    );
}

#[test]
fn uris() {
    let longest = format!("https://example.com/{}", "p".repeat(8172));
    let too_long = format!("{longest}p");
    judge(
        "uri",
        is_valid_uri,
        &[
            "https://example.com",
            "HTTPS://example.com",
            "mailto:dana@example.com",
            "file:///etc/hosts",
            "urn:isbn:1",
            "git+ssh://example.com/x",
            "https://example.com/größe",
            &longest,
        ],
        &[
            "",
            "example.com",
            ":x",
            "https:",
            "https://",
            "1http://x",
            "ht tp://x",
            "https://a b",
            "https://a\n",
            "https://a\u{a0}b",
            "https://a\u{7}",
            &too_long,
        ],
    );
}

#[test]
fn cids_as_a_string_format() {
    judge(
        "cid",
        is_valid_cid,
        &["bafyreiclp443lavogvhj3d2ob2cxbfuscni2k5jk7bebjzg7khl3esabwq", "zdj7Wabcdef", "f01711220"],
        &[
            "",
            "bafyrei",
            "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKtFuA",
            "bafyrei claim",
            "bafyrei/claim",
            "cid:bafyreiclp",
            "example.com",
        ],
    );
}

#[test]
fn datetimes() {
    judge(
        "datetime",
        is_valid_datetime,
        &[
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.6Z",
            "2026-01-02T03:04:05.678901234567Z",
            "2026-01-02T03:04:05+05:45",
            "2024-02-29T00:00:00Z",
            "2000-02-29T00:00:00-11:30",
            "9999-12-31T23:59:59.999Z",
            "0000-01-01T01:00:00+01:00",
        ],
        &[
            "",
            "2026-01-02",
            "2026-01-02T03:04Z",
            "2026-01-02T03:04:05",
            "2026-01-02t03:04:05Z",
            "2026-01-02T03:04:05z",
            "2026-01-02 03:04:05Z",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04:05,6Z",
            "2026-01-02T03:04:05-00:00",
            "2026-01-02T03:04:05+0100",
            "2026-01-02T03:04:05+01",
            "2026-01-02T03:04:05+24:00",
            "2026-01-02T03:04:05+01:60",
            "2026-00-02T03:04:05Z",
            "2026-13-02T03:04:05Z",
            "2026-01-00T03:04:05Z",
            "2026-01-32T03:04:05Z",
            "2026-04-31T03:04:05Z",
            "2025-02-29T03:04:05Z",
            "1900-02-29T03:04:05Z",
            "2200-02-29T03:04:05Z",
            "2026-01-02T24:00:00Z",
            "2026-01-02T03:60:05Z",
            "2026-01-02T03:04:60Z",
            "0000-01-01T00:59:59+01:00",
            "9999-12-31T23:59:59-00:01",
            "+2026-01-02T03:04:05Z",
            "２026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.1111111111111111111111111111111111111111111111Z",
        ],
    );
}

#[test]
fn languages() {
    judge(
        "language",
        is_valid_language,
        &[
            "de",
            "fil",
            "pt-BR",
            "zh-Hant-TW",
            "zh-cmn-Hans-CN",
            "sl-rozaj-biske-1994",
            "de-CH-x-phonebk",
            "x-whatever",
            "i-klingon",
            "en-GB-oed",
            "es-419",
            "en-a-bbb-x-a",
        ],
        &[
            "",
            "d",
            "DE",
            "deut",
            "deutsch",
            "de-",
            "-de",
            "de--DE",
            "de_DE",
            "de-419-DE",
            "de-1901-1901",
            "en-a-bb-a-cc",
            "de-a",
            "de-x",
            "x",
            "i-nope",
            "de-toolonggg",
            "de-é",
        ],
    );
}
