//! What the protocol itself puts into the bytes that are sent.
//!
//! An author may cover a word that is also a name of the protocol: "user", "chat", "text". The name then stands in every
//! request and is not the author's word, so the last gate passes it, but only where it is exactly the protocol's: a whole
//! string of JSON or DAG-CBOR that no conversation can bring in, since there the word was covered. Secrets that rules found
//! are never excused.

/// Names in records and requests of the families we write.
const NAMES: [&str; 45] = [
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
    "unknown/unknown",
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
    NAMES.contains(&string) || is_identifier(string) || is_time(string)
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

/// Where the strings of a JSON document are, and the escapes in them.
pub(crate) struct Document {
    /// What stands between the quotes, in order.
    strings: Vec<(usize, usize)>,
    escapes: Vec<(usize, usize)>,
}

/// How a hit lies in a [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lies {
    /// In what a string says.
    Within,
    /// On quotes, colons, commas and brackets of the document itself.
    Outside,
    /// In this string, but it begins or ends in the middle of an escape: the `n` of `\n` is no letter of any word. Whether
    /// the string says the word, its content tells.
    Halving(usize, usize),
}

impl Document {
    /// `None` where the bytes are no object or array of JSON, or end within a string.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        if !matches!(bytes.first(), Some(b'{' | b'[')) {
            return None;
        }
        let (mut strings, mut escapes) = (Vec::new(), Vec::new());
        let (mut open, mut at) = (None, 0);
        while let Some(byte) = bytes.get(at) {
            let mut length = 1;
            match (byte, open) {
                (b'"', None) => open = Some(at + 1),
                (b'"', Some(start)) => {
                    strings.push((start, at));
                    open = None;
                }
                (b'\\', Some(_)) => {
                    length = if bytes.get(at + 1) == Some(&b'u') { 6 } else { 2 };
                    escapes.push((at, at + length));
                }
                _ => {}
            }
            at += length;
        }
        open.is_none().then_some(Self { strings, escapes })
    }

    pub(crate) fn lies(&self, bytes: &[u8], start: usize, end: usize) -> Lies {
        let holder = |ranges: &[(usize, usize)], at: usize| {
            let before = ranges.partition_point(|r| r.0 <= at);
            before.checked_sub(1).and_then(|i| ranges.get(i)).copied()
        };
        let Some((from, to)) = holder(&self.strings, start).filter(|s| end <= s.1) else {
            let first = self.strings.partition_point(|s| s.1 <= start);
            let strings = self.strings.get(first..).unwrap_or_default().iter().take_while(|s| s.0 < end);
            let mut at = start;
            let mut own = true;
            for &(from, to) in strings.chain([&(end, end)]) {
                own &= bytes.get(at..from.max(at)).is_some_and(|b| b.iter().all(|b| b"{}[]:,\"truefalsn".contains(b)));
                at = to;
            }
            return if own { Lies::Outside } else { Lies::Within };
        };
        let halves = |at: usize| holder(&self.escapes, at).is_some_and(|(s, e)| s < at && at < e);
        if halves(start) || halves(end) { Lies::Halving(from, to) } else { Lies::Within }
    }
}

/// What the bytes of a JSON string say. A surrogate without its other half is left as it is.
pub(crate) fn decoded(string: &[u8]) -> Vec<u8> {
    let unit = |at: usize| -> Option<u16> {
        let digits = string.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut out = Vec::with_capacity(string.len());
    let mut at = 0;
    while let Some(byte) = string.get(at) {
        let next = string.get(at + 1).copied();
        if *byte != b'\\' {
            out.push(*byte);
            at += 1;
        } else if next == Some(b'u') {
            let units = [unit(at), unit(at + 6)];
            let known = units.iter().map_while(|u| *u);
            match char::decode_utf16(known).next() {
                Some(Ok(c)) => {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    at += 6 * c.len_utf16();
                }
                _ => {
                    out.push(*byte);
                    at += 1;
                }
            }
        } else {
            out.extend(next.map(|b| match b {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'b' => 8,
                b'f' => 12,
                other => other,
            }));
            at += 2;
        }
    }
    out
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
