//! Values to canonical DAG-CBOR.

use super::Value;

/// The multibase prefix of a binary CID in CBOR: none.
const IDENTITY: u8 = 0;

pub(super) fn encode(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xf6),
        Value::Bool(b) => out.push(0xf4 | u8::from(*b)),
        // −1 − n is what CBOR writes for a negative number, and what `!` makes of it.
        Value::Integer(i) if *i < 0 => head(1, (!*i).unsigned_abs(), out),
        Value::Integer(i) => head(0, i.unsigned_abs(), out),
        Value::Bytes(bytes) => {
            length(2, bytes.len(), out);
            out.extend_from_slice(bytes);
        }
        Value::String(text) => string(text, out),
        Value::Array(values) => {
            length(4, values.len(), out);
            for value in values {
                encode(value, out);
            }
        }
        Value::Object(object) => {
            length(5, object.len(), out);
            for (key, value) in object.iter() {
                string(key, out);
                encode(value, out);
            }
        }
        Value::Link(cid) => {
            head(6, 42, out);
            let cid = cid.to_bytes();
            length(2, cid.len() + 1, out);
            out.push(IDENTITY);
            out.extend_from_slice(&cid);
        }
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    length(3, text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

fn length(major: u8, n: usize, out: &mut Vec<u8>) {
    // No usize is wider than 64 bits.
    head(major, u64::try_from(n).unwrap_or(u64::MAX), out);
}

/// The head of an item, as short as it can be.
fn head(major: u8, n: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    if let Ok(n) = u8::try_from(n) {
        if n < 24 {
            out.push(major | n);
        } else {
            out.extend_from_slice(&[major | 24, n]);
        }
    } else if let Ok(n) = u16::try_from(n) {
        out.push(major | 25);
        out.extend_from_slice(&n.to_be_bytes());
    } else if let Ok(n) = u32::try_from(n) {
        out.push(major | 26);
        out.extend_from_slice(&n.to_be_bytes());
    } else {
        out.push(major | 27);
        out.extend_from_slice(&n.to_be_bytes());
    }
}
