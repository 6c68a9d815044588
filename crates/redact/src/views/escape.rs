//! Escapes of programming languages, URLs and mark-up.

/// A character as it was written, and what it says.
pub(crate) struct Escape {
    /// Bytes of the text.
    pub(crate) length: usize,
    /// What it says, in UTF-8.
    pub(crate) says: char,
}

/// The escape that `text` begins with, if any: `\u0041`, `\u{41}`, `\x41`, `\101`, `\/`, `\_`, `%41`, `%u0041`, `&#65;`, `&#x41;`, `&amp;`.
///
/// Backslashes may be doubled, once for each string the string stands in.
pub(crate) fn escape(text: &[u8]) -> Option<Escape> {
    match text {
        [b'%', b'u' | b'U', rest @ ..] => {
            let code = digits(rest.get(..4)?, 16)?;
            Some(Escape { length: 6, says: char::from_u32(code)? })
        }
        [b'%', rest @ ..] => {
            let code = digits(rest.get(..2)?, 16)?;
            // Bytes of UTF-8 beyond ASCII stay as they are: no secret is made of them.
            (code < 0x80).then_some(())?;
            Some(Escape { length: 3, says: char::from_u32(code)? })
        }
        [b'&', rest @ ..] => entity(rest),
        [b'\\', ..] => backslash(text),
        _ => None,
    }
}

fn backslash(text: &[u8]) -> Option<Escape> {
    let slashes = text.iter().take(8).take_while(|b| **b == b'\\').count();
    let rest = text.get(slashes..)?;
    let (length, code) = match rest {
        [b'u' | b'x', b'{', rest @ ..] => {
            let length = rest.iter().take(7).position(|b| *b == b'}')?;
            (length + 3, digits(rest.get(..length)?, 16)?)
        }
        [b'u', rest @ ..] => (5, digits(rest.get(..4)?, 16)?),
        [b'U', rest @ ..] => (9, digits(rest.get(..8)?, 16)?),
        [b'x', rest @ ..] => (3, digits(rest.get(..2)?, 16)?),
        // JSON's solidus, and what Markdown would take for its own.
        [mark @ (b'/' | b'_' | b'-'), ..] => (1, u32::from(*mark)),
        [b'0'..=b'1', ..] => (3, digits(rest.get(..3)?, 8)?),
        _ => return None,
    };
    Some(Escape { length: slashes + length, says: char::from_u32(code)? })
}

/// A character reference of HTML, without its `&`.
fn entity(rest: &[u8]) -> Option<Escape> {
    let end = rest.iter().take(10).position(|b| *b == b';')?;
    let code = match rest.get(..end)? {
        [b'#', b'x' | b'X', hex @ ..] => digits(hex, 16)?,
        [b'#', decimal @ ..] => digits(decimal, 10)?,
        b"amp" => u32::from(b'&'),
        b"lt" => u32::from(b'<'),
        b"gt" => u32::from(b'>'),
        b"quot" => u32::from(b'"'),
        b"apos" => u32::from(b'\''),
        b"sol" => u32::from(b'/'),
        b"colon" => u32::from(b':'),
        b"equals" => u32::from(b'='),
        b"lowbar" => u32::from(b'_'),
        b"period" => u32::from(b'.'),
        b"plus" => u32::from(b'+'),
        b"commat" => u32::from(b'@'),
        b"hyphen" | b"dash" => u32::from(b'-'),
        _ => return None,
    };
    Some(Escape { length: end + 2, says: char::from_u32(code)? })
}

fn digits(text: &[u8], radix: u32) -> Option<u32> {
    let digit = |b: &u8| char::from(*b).to_digit(radix);
    if text.is_empty() {
        None
    } else {
        text.iter().try_fold(0_u32, |n, b| n.checked_mul(radix)?.checked_add(digit(b)?))
    }
}
