//! Base64 (RFC 4648), both alphabets: as much of it as finding values in it takes.

/// Which of the two alphabets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alphabet {
    Standard,
    Url,
}

const COMMON: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn digit(bits: u32, alphabet: Alphabet) -> u8 {
    let index = usize::try_from(bits & 63).unwrap_or_default();
    match (COMMON.get(index), alphabet) {
        (Some(digit), _) => *digit,
        (None, Alphabet::Standard) => {
            if index == 62 {
                b'+'
            } else {
                b'/'
            }
        }
        (None, Alphabet::Url) => {
            if index == 62 {
                b'-'
            } else {
                b'_'
            }
        }
    }
}

/// The digits that depend on `value` alone when `before` (0 to 2) bytes stand before it in its group of three.
pub(crate) fn core(value: &[u8], before: usize, alphabet: Alphabet) -> Vec<u8> {
    // Six bits a digit; the first one that holds no bit of what stands before, to the last whole one.
    let skip_bits = [0, 4, 2].get(before).copied().unwrap_or_default();
    let mut out = Vec::with_capacity(value.len() * 4 / 3 + 1);
    let (mut held, mut count, mut skip) = (0_u32, 0_u32, skip_bits);
    for byte in value {
        held = held << 8 | u32::from(*byte);
        count += 8;
        if skip > 0 {
            count -= skip;
            held &= (1 << count) - 1;
            skip = 0;
        }
        while count >= 6 {
            count -= 6;
            out.push(digit(held >> count, alphabet));
            held &= (1 << count) - 1;
        }
    }
    out
}

/// The bytes of either alphabet; anything else is passed over.
pub(crate) fn decode_lossy(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut held, mut count) = (0_u32, 0_u32);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        held = (held << 6 | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(held >> count & 0xff).unwrap_or_default());
        }
    }
    out
}
