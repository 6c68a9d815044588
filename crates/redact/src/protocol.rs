//! What the protocol itself puts into the bytes that are sent.
//!
//! An author may cover a word that is also a name of the protocol: "user", "chat", "text". The name then stands in every
//! request and is not the author's word, so the last gate passes it, but only where it is exactly the protocol's: a whole
//! string of JSON or DAG-CBOR that no conversation can bring in, since there the word was covered. Secrets that rules found
//! are never excused.

/// Names in records and requests of the families we write.
const NAMES: [&str; 44] = [
    "$type",
    "session",
    "role",
    "user",
    "assistant",
    "withheld",
    "text",
    "model",
    "steps",
    "tool",
    "summary",
    "failed",
    "refs",
    "uri",
    "cid",
    "mentions",
    "createdAt",
    "title",
    "description",
    "discussion",
    "repo",
    "collection",
    "rkey",
    "record",
    "validate",
    "writes",
    "value",
    "action",
    "swapCommit",
    "create",
    "update",
    "delete",
    "com.atproto.repo.applyWrites#create",
    "com.atproto.repo.applyWrites#update",
    "com.atproto.repo.applyWrites#delete",
    "com.atproto.repo.strongRef",
    "swapRecord",
    "tools",
    "click.aligned.chat.session",
    "click.aligned.chat.message",
    "click.aligned.chat.message#step",
    "click.aligned.chat.defs",
    "name",
    "$link",
];

/// How far a string may reach from a hit.
const REACH: usize = 320;

/// Whether the hit lies within a string that is the protocol's own.
pub(crate) fn excuses(bytes: &[u8], start: usize, end: usize) -> bool {
    in_json(bytes, start, end) || in_cbor(bytes, start, end)
}

fn in_json(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = bytes.get(start.saturating_sub(REACH)..start).unwrap_or_default();
    let after = bytes.get(end..end.saturating_add(REACH).min(bytes.len())).unwrap_or_default();
    let left = before.iter().rev().position(|b| *b == b'"');
    let right = after.iter().position(|b| *b == b'"');
    match (left, right) {
        (Some(left), Some(right)) => bytes.get(start - left..end + right).is_some_and(is_protocol),
        _ => false,
    }
}

/// A text string of CBOR (RFC 8949, major type 3) of up to 255 bytes around the hit.
fn in_cbor(bytes: &[u8], start: usize, end: usize) -> bool {
    (start.saturating_sub(REACH)..=start).any(|from| {
        let length = match bytes.get(from.saturating_sub(2)..from) {
            Some([0x78, length]) => usize::from(*length),
            Some([.., short]) if (0x61..=0x77).contains(short) => usize::from(short - 0x60),
            _ => return false,
        };
        from + length >= end && bytes.get(from..from + length).is_some_and(is_protocol)
    })
}

fn is_protocol(string: &[u8]) -> bool {
    let Ok(string) = str::from_utf8(string) else { return false };
    NAMES.contains(&string) || is_identifier(string) || is_time(string) || is_between(string)
}

/// An at-uri, a DID, a CID or a TID.
fn is_identifier(s: &str) -> bool {
    let plain = |s: &str| s.bytes().all(|b| b.is_ascii_alphanumeric() || b"/:._-#~".contains(&b));
    let tid = s.len() == 13 && s.bytes().all(|b| b"234567abcdefghijklmnopqrstuvwxyz".contains(&b));
    let cid = s.len() == 59
        && s.starts_with("bafy")
        && s.bytes().all(|b| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b));
    let did = |s: &str| s.starts_with("did:plc:") || s.starts_with("did:web:");
    tid || cid || (plain(s) && (did(s) || s.strip_prefix("at://").is_some_and(did)))
}

/// RFC 3339, as records have it.
fn is_time(s: &str) -> bool {
    let shape: Vec<u8> = s.bytes().map(|b| if b.is_ascii_digit() { b'0' } else { b }).collect();
    shape.starts_with(b"0000-00-00T00:00:00") && s.bytes().all(|b| b.is_ascii_digit() || b"-:.TZ+".contains(&b))
}

/// What stands between two strings of JSON.
fn is_between(s: &str) -> bool {
    let mut rest = s;
    while !rest.is_empty() {
        let literal = ["true", "false", "null"].iter().find_map(|word| rest.strip_prefix(word));
        let Some(next) = literal.or_else(|| rest.strip_prefix([':', ',', '{', '}', '[', ']'])) else { return false };
        rest = next;
    }
    true
}

/// The bytes of a JSON string without its simple escapes, to know an allowed value again.
pub(crate) fn unescaped(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut bytes = value.iter();
    while let Some(byte) = bytes.next() {
        match (byte, byte == &b'\\') {
            (_, true) => out.extend(bytes.next().map(|b| match b {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                other => *other,
            })),
            (other, false) => out.push(*other),
        }
    }
    out
}
