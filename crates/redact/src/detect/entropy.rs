//! Tier E: randomness alone. Suggestions, never blocking.

mod surprise;

pub(crate) use self::surprise::{Shape, surprise};
use super::Hit;
use crate::{
    Tier, base64,
    checks::entropy,
    engine::{Kind, definition},
    text::{after_last_below, part},
};

/// Changes with whatever decides what this tier finds.
const VERSION: &str = "1";

/// Shorter tokens are too often words, longer ones data.
const SHORTEST: usize = 20;
const LONGEST: usize = 200;
/// How far back the context of a token is looked for.
const CONTEXT: usize = 40;

/// Looks for tokens that are too random to be words.
pub(crate) struct Entropy {
    kind: usize,
    /// By byte: whether tokens have it.
    alphabet: [bool; 256],
}

impl Entropy {
    pub(crate) fn new(kinds: &mut Vec<Kind>) -> Self {
        kinds.push(Kind {
            id: "random-token".to_owned().into(),
            name: "Random token".to_owned().into(),
            tier: Tier::E,
            blocking: false,
            allowable: true,
            definition: definition(["random-token", VERSION]),
        });
        let mut alphabet = [false; 256];
        for (byte, flag) in (0_u8..=255).zip(&mut alphabet) {
            *flag = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
        }
        Self { kind: kinds.len() - 1, alphabet }
    }

    /// Appends the hits in `text`, in order.
    pub(crate) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        let is_token = |byte: &u8| self.alphabet.get(usize::from(*byte)).copied().unwrap_or_default();
        let mut start = 0;
        // A byte that no token has rules out every run across it: most text is passed in great steps.
        while let Some(window) = text.get(start..start + SHORTEST) {
            let other = || window.iter().rposition(|b| !is_token(b)).map(|at| start + at + 1);
            if let Some(after) = after_last_below::<b'+'>(text, start, start + SHORTEST).or_else(other) {
                start = after;
                continue;
            }
            let rest = text.get(start + SHORTEST..).unwrap_or_default();
            let end = start + SHORTEST + rest.iter().take_while(|b| is_token(b)).count();
            self.look(text, start, end, hits);
            start = end + 1;
        }
    }

    /// Looks at the run of token characters at `start..end`.
    fn look(&self, text: &[u8], start: usize, end: usize, hits: &mut Vec<Hit>) {
        if end - start > LONGEST {
            return;
        }
        let mut from = start;
        for part_of in part(text, start, end).split_inclusive(|b| *b == b'=') {
            let to = from + part_of.len();
            let name_ends = part_of.ends_with(b"=") && to < end && text.get(to) != Some(&b'=');
            // The escape of a line end, a flag's dashes, a path's root are no part of it.
            let escape = usize::from(
                text.get(from.wrapping_sub(1)) == Some(&b'\\') && matches!(part_of.first(), Some(b'n' | b't' | b'r')),
            );
            let lead =
                part_of.iter().skip(escape).take_while(|b| matches!(b, b'-' | b'/' | b'=' | b'+' | b'_')).count();
            let trail = part_of.iter().rev().take_while(|b| matches!(b, b'-' | b'/' | b'_' | b'=')).count();
            let (token_start, token_end) = (from + escape + lead, to - trail);
            if !name_ends && token_end >= token_start + SHORTEST && stands_free(text, token_start, token_end) {
                let token = part(text, token_start, token_end);
                if is_random(token) && !is_explained(text, token_start) {
                    let padding = part(text, token_end, end).iter().take(2).take_while(|b| **b == b'=').count();
                    hits.push(Hit::new(self.kind, token_start, token_end + padding));
                }
            }
            from = to;
        }
    }
}

/// Whether a token is neither part of a path or a host, nor one line of many.
fn stands_free(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|i| text.get(i)).copied().unwrap_or(b' ');
    !matches!(before, b'/' | b'.' | b'\\' | b'@' | b'#' | b'%' | b'~' | b'$' | 0x80..)
        && !goes_on(part(text, end, end + 2))
        && !is_one_of_many_lines(text, start, end)
}

/// Whether a path, a host, a call or a word of another script goes on after a token; a sentence or an escape ends it.
fn goes_on(after: &[u8]) -> bool {
    match after {
        [b'(' | b'/', ..] => true,
        [b'.', next] => next.is_ascii_alphanumeric(),
        [b'\\', next] => !matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'u' | b'\\'),
        // What begins so is mostly punctuation.
        [0xc2 | 0xe2 | 0xe3, ..] => false,
        [first, ..] => !first.is_ascii(),
        [] => false,
    }
}

/// Whether the line before or after ends or begins with as long a token: a block of data.
fn is_one_of_many_lines(text: &[u8], start: usize, end: usize) -> bool {
    const LINE: usize = 44;
    const DECORATION: usize = 24;
    let is_data = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_');
    let is_around = |b: &&u8| !b.is_ascii_alphanumeric();
    let above = part(text, start.saturating_sub(LINE + 2 * DECORATION), start);
    let mut gap = above.iter().rev().take(DECORATION).take_while(is_around);
    let breaks = gap.clone().any(|b| *b == b'\n');
    if breaks && above.iter().rev().skip(gap.by_ref().count()).take_while(is_data).count() >= LINE - DECORATION {
        return true;
    }
    let below = part(text, end, end + LINE + DECORATION);
    let gap = below.iter().take(DECORATION).take_while(is_around).count();
    part(below, 0, gap).contains(&b'\n') && below.iter().skip(gap).take_while(is_data).count() >= LINE - DECORATION
}

/// Whether `token` looks made by a machine, and is none of the shapes that identifiers, hashes and data have.
fn is_random(token: &[u8]) -> bool {
    let shape = Shape::of(token);
    if shape.digits < 2 || shape.letters() < 4 || shape.is_hex() || shape.separators * 10 > token.len() {
        return false;
    }
    let cased = shape.lower > 2 && shape.upper > 2;
    let score = surprise(token);
    let random = if cased { score >= 1 } else { shape.digits >= 4 && score >= 8 };
    random && entropy(token) >= 3.6 && !is_known_shape(token) && !holds_words(token) && !is_data(token)
}

/// Identifiers of known systems, keys that are public, images, fonts, certificates.
fn is_known_shape(token: &[u8]) -> bool {
    const STARTS: &str = "bafy bafk Qm zDnae zQ3sh z6Mk did AAAA MII eyJ iVBORw R0lGOD UklGR d09GM /9j/ PHN2 H4sI UEsD JVBER LS0tLS \
         bc1q 0x toolu call msg req chatcmpl resp run thread asst item file evt sess gAAAA pk_ rs_ fc_ srvtoolu \
         zdj7";
    if STARTS.split_ascii_whitespace().any(|start| token.starts_with(start.as_bytes())) {
        return true;
    }
    // `cus_…`, `pi_…`: identifiers, unless the prefix says otherwise.
    let prefix = token.iter().position(|b| *b == b'_' || *b == b'-').unwrap_or_default();
    let word = part(token, 0, prefix);
    let secretive = [&b"sk"[..], b"key", b"secret", b"token", b"pat", b"api", b"live", b"auth"];
    (2..=8).contains(&prefix)
        && word.iter().all(u8::is_ascii_lowercase)
        && !secretive.iter().any(|s| word.windows(s.len()).any(|w| w == *s))
}

/// A long part of it is words: an identifier with a suffix, a path.
fn holds_words(token: &[u8]) -> bool {
    let words = token.split(|b| !b.is_ascii_alphabetic());
    let mut read = 0;
    for word in words {
        let mut run = 0;
        let mut before = 0_u8;
        // Runs of small letters that read like words, with the capital they begin with.
        for (at, byte) in word.iter().enumerate() {
            let goes_on = byte.is_ascii_lowercase() || (byte.is_ascii_uppercase() && before.is_ascii_uppercase());
            if !goes_on {
                read += if run >= 5 && surprise(part(word, at - run, at)) < -7 { run } else { 0 };
                run = 0;
            }
            run += 1;
            before = *byte;
        }
        read += if run >= 5 && surprise(part(word, word.len() - run, word.len())) < -7 { run } else { 0 };
    }
    read * 4 > token.len()
}

/// Base64 of something that reads as text, or of DER; or an alphabet, which has each character once.
fn is_data(token: &[u8]) -> bool {
    let plain = base64::decode_lossy(token);
    let der = matches!(plain.as_slice(), [0x30, length, ..] if usize::from(*length) + 2 == plain.len() || matches!(length, 0x81 | 0x82));
    let mut sorted = token.to_vec();
    sorted.sort_unstable();
    let alphabet = sorted.windows(2).all(|w| matches!(w, [a, b] if a != b));
    if der || alphabet {
        return true;
    }
    plain.len() >= 12
        && plain.iter().filter(|b| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t')).count() * 20 >= plain.len() * 19
}

/// What stands before it says what it is, and that is nothing secret.
fn is_explained(text: &[u8], start: usize) -> bool {
    const SAYS: &str = "sha1 sha256 sha384 sha512 sha- integrity digest etag md5 checksum hash commit cid did: base64, ssh- \
         ecdsa- fingerprint nonce uuid publickey public_key multibase signature encrypted_content thoughtsignature \
         tool_use _id id\" id: id= :// \"sig\" \"x\": \"y\": \"n\": kid\"";
    let before = part(text, start.saturating_sub(CONTEXT), start);
    let line = before.iter().rposition(|b| *b == b'\n').map_or(before, |i| part(before, i + 1, before.len()));
    let folded = line.to_ascii_lowercase();
    SAYS.split_ascii_whitespace().any(|says| folded.windows(says.len()).any(|w| w == says.as_bytes()))
}
