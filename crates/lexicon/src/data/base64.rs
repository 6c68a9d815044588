//! Base64 as `$bytes` has it: the standard alphabet, written without padding. Read leniently, as the
//! network does: padding or none, and whatever bits are left over at the end.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `bytes` in the standard alphabet, without padding.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            let digit = usize::try_from(bits >> (18 - 6 * place) & 63).ok().and_then(|i| ALPHABET.get(i));
            text.push(digit.map_or('A', |b| char::from(*b)));
        }
    }
    text
}

/// What `text` encodes, with padding or without; `None` if it is not base64.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text).as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for chunk in digits.chunks(4) {
        if chunk.len() == 1 {
            return None;
        }
        let mut bits = 0u32;
        for b in chunk {
            bits = bits << 6 | u32::from(value(*b)?);
        }
        let [_, decoded @ ..] = (bits << (6 * (4 - chunk.len()))).to_be_bytes();
        bytes.extend(decoded.iter().take(chunk.len() - 1));
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}
