//! Accepts the usual forms of the commonest formats at a glance.
//!
//! Half the work of validating a typical record is in its identifiers, and nearly all of those have one form: a
//! `did:plc`, a CID in base32, an at-uri of both. Each function here says yes to some valid strings, and no to the
//! others and to all that are not valid: then the full check decides. Their tests hold them against it.

/// Whether every byte is in lower-case base32. Looks at all of them, so that it is done many at a time.
#[inline]
fn is_base32(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |so_far, b| so_far & matches!(b, b'a'..=b'z' | b'2'..=b'7'))
}

/// The identifier of a `did:plc`.
type Plc = [u8; 24];

#[inline]
pub(super) fn is_did(s: &str) -> bool {
    let plc = s.as_bytes().strip_prefix(b"did:plc:").and_then(|id| <&Plc>::try_from(id).ok());
    plc.is_some_and(|id| is_base32(id))
}

/// `at://did:plc:…[/COLLECTION[/RKEY]]`
#[inline]
pub(super) fn is_at_uri(s: &str) -> bool {
    let Some((plc, rest)) = s.as_bytes().strip_prefix(b"at://did:plc:").and_then(<[u8]>::split_first_chunk::<24>)
    else {
        return false;
    };
    if !is_base32(plc) {
        return false;
    }
    let [b'/', path @ ..] = rest else { return rest.is_empty() };
    let len = path.iter().position(|&b| b == b'/').unwrap_or(path.len());
    let Some((collection, rest)) = path.split_at_checked(len) else { return false };
    is_nsid(collection)
        && match rest {
            [b'/', key @ ..] => is_rkey(key),
            _ => true,
        }
}

/// An NSID without hyphens.
fn is_nsid(bytes: &[u8]) -> bool {
    let (mut labels, mut len, mut is_plain) = (0, 0, true);
    for &b in bytes {
        if b == b'.' {
            if len == 0 || len > 63 {
                return false;
            }
            labels += 1;
            len = 0;
        } else {
            is_plain &= b.is_ascii_alphanumeric();
            len += 1;
        }
    }
    let begins_with_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    is_plain
        && labels >= 2
        && (1..=63).contains(&len)
        && bytes.len() <= 253
        && begins_with_letter(0)
        && begins_with_letter(bytes.len() - len)
}

/// A record key of letters and digits alone, as TIDs are.
fn is_rkey(bytes: &[u8]) -> bool {
    (1..=512).contains(&bytes.len()) && bytes.iter().fold(true, |so_far, b| so_far & b.is_ascii_alphanumeric())
}

/// `de` or `de-CH`
#[inline]
pub(super) fn is_language(s: &str) -> bool {
    matches!(s.as_bytes(), [b'a'..=b'z', b'a'..=b'z'] | [b'a'..=b'z', b'a'..=b'z', b'-', b'A'..=b'Z', b'A'..=b'Z'])
}

/// A CID as [`crate::Cid`] has it; here, yes and no are both final. The first four bytes (version, codec, SHA-256,
/// length) make the first six characters and two bits of the seventh, which are zero; the last two bits of the last
/// character are beyond the digest, and zero.
#[inline]
pub(super) fn is_cid(s: &str) -> bool {
    let bytes = s.as_bytes();
    let digest = bytes.strip_prefix(b"bafyrei").or_else(|| bytes.strip_prefix(b"bafkrei"));
    let Some(digest) = digest.and_then(|digest| <&[u8; 52]>::try_from(digest).ok()) else { return false };
    is_base32(digest) && matches!(digest, [b'a'..=b'h', .., b'a' | b'e' | b'i' | b'm' | b'q' | b'u' | b'y' | b'4'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Cid, syntax};

    const PLC: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

    #[test]
    fn the_usual_forms_are_accepted() {
        assert!(is_did(PLC));
        assert!(is_at_uri(&format!("at://{PLC}")));
        assert!(is_at_uri(&format!("at://{PLC}/com.example.aB1")));
        assert!(is_at_uri(&format!("at://{PLC}/com.example.note/3jzfcijpj2z2a")));
        assert!(is_language("de") && is_language("de-CH"));
    }

    /// What the short cut takes, the check takes.
    fn implies(short: bool, full: bool, s: &str) {
        assert!(!short || full, "{s:?} is taken, and should not be");
    }

    #[test]
    fn names_at_their_limits_are_not_taken_for_valid() {
        let (l63, l64) = ("a".repeat(63), "a".repeat(64));
        for nsid in [
            "a.b.c",
            "a.b",
            "a..b",
            ".a.b.c",
            "a.b.c.",
            "1a.b.c",
            "a.1b.c",
            "a.b.1c",
            "a-.b.c",
            "a.-b.c",
            "a.b-c.d",
            "a.b.c-d",
            "a.b.c-",
            "a.b.ä",
            "a.b.c_",
            "",
            ".",
            "..",
            &format!("{l63}.{l63}.{l63}"),
            &format!("{l64}.b.c"),
            &format!("a.{l64}.c"),
            &format!("a.b.{l64}"),
            &format!("{l63}.{l63}.{l63}.{l63}.c"),
        ] {
            implies(is_nsid(nsid.as_bytes()), syntax::is_valid_nsid(nsid), nsid);
            for key in ["", "/", "/a", "/.", "/a/", "/a/b", "/ä", &format!("/{}", "a".repeat(513))] {
                let uri = format!("at://{PLC}/{nsid}{key}");
                implies(is_at_uri(&uri), syntax::is_valid_at_uri(&uri), &uri);
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_is_taken_that_the_full_check_refuses(s in "[a-zA-Z0-9.:/_~%-]{0,40}", plc in "[a-z2-71]{23,25}") {
            let uri = format!("at://did:plc:{plc}/{s}");
            let did = format!("did:plc:{plc}");
            implies(is_nsid(s.as_bytes()), syntax::is_valid_nsid(&s), &s);
            implies(is_rkey(s.as_bytes()), syntax::is_valid_record_key(&s), &s);
            implies(is_at_uri(&uri), syntax::is_valid_at_uri(&uri), &uri);
            implies(is_did(&did), syntax::is_valid_did(&did), &did);
        }

        #[test]
        fn dotted_names_are_judged_as_by_the_full_check(s in "[a-c1A]{0,3}(\\.[a-c1A]{0,3}){0,4}") {
            prop_assert_eq!(is_nsid(s.as_bytes()), syntax::is_valid_nsid(&s), "{}", s);
        }

        #[test]
        fn short_languages_are_valid(s in "[a-zA-Z-]{0,6}") {
            implies(is_language(&s), syntax::is_valid_language(&s), &s);
        }

        #[test]
        fn cids_are_judged_as_by_their_type(digest: [u8; 32], raw: bool, at in 0..59_usize, with in "[a-z0-9]") {
            let cid = if raw { Cid::of_raw_digest(&digest) } else { Cid::of_dag_cbor_digest(&digest) };
            prop_assert!(is_cid(cid.as_str()));
            prop_assert!(syntax::is_valid_cid(cid.as_str()));
            let mut other = cid.as_str().to_owned();
            other.replace_range(at..=at, &with);
            prop_assert_eq!(is_cid(&other), Cid::parse(&other).is_ok(), "{}", other);
        }
    }
}
