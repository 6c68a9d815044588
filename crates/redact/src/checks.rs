//! What a pattern cannot say about a value.

use serde::Deserialize;

use crate::{base64, shapes};

/// A condition on a match beyond its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Check {
    /// A digit stands in it, or it is letters in no order: one of thirty random tokens of 20 characters has no digit.
    Digit,
    /// Both cases of letters stand in it.
    MixedCase,
    /// It is not as long as 32 or 64 bytes in base64url: what may be a prefix may be chance.
    NotKeySize,
    /// It is not all hexadecimal.
    NotHex,
    /// Key material follows the first line of a key block.
    PemBody,
    /// It is a private key block in base64.
    Base64PrivateKey,
    /// It is the password of a URL, and neither a placeholder nor part of a DID.
    Userinfo,
    /// It is no word that stands where a password would.
    Secretish,
    /// It is more than a word in lower case.
    NotWord,
    /// It is `user:password` in base64.
    Base64Userinfo,
    /// It is a list of cookies, and one of them opens something.
    Cookie,
    /// It looks random: neither a name in a program nor words.
    Random,
    /// It could be a password that someone chose: more than letters, and no expression.
    Passwordish,
    /// It could be a password after a noun and a verb: digits or signs, and no file, version or date.
    PasswordInSentence,
    /// Its first twelve words could be those of a recovery phrase.
    Mnemonic,
    /// It is a list of codes: half of them at least have digits.
    DigitsThroughout,
    /// The folder is a person's, not a machine's or an example's.
    HomeName,
    /// Not a condition: white space and the sentence's punctuation at its end are no part of it.
    Trim,
}

/// A checksum that a token carries in itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Checksum {
    /// The last six characters are the CRC-32 of what stands before them and after the first underscore, in base 62.
    Crc32Base62,
}

impl Checksum {
    pub(crate) fn holds(self, token: &[u8]) -> bool {
        match self {
            Self::Crc32Base62 => crc32_base62(token),
        }
    }
}

fn crc32_base62(token: &[u8]) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let Some(prefix) = token.iter().position(|b| *b == b'_') else { return false };
    let body = token.get(prefix + 1..).unwrap_or_default();
    let Some((payload, sum)) = body.split_last_chunk::<6>() else { return false };
    let value = sum.iter().try_fold(0_u64, |n, digit| {
        let digit = DIGITS.iter().position(|d| d == digit)?;
        Some(n * 62 + u64::try_from(digit).ok()?)
    });
    value == Some(u64::from(crc32(payload)))
}

/// CRC-32 as in ISO-HDLC.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    })
}

/// Shannon entropy in bits a byte.
pub(crate) fn entropy(bytes: &[u8]) -> f32 {
    let mut counts = [0_u16; 256];
    let bytes = bytes.get(..bytes.len().min(usize::from(u16::MAX))).unwrap_or_default();
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = f32::from(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
    counts.iter().filter(|c| **c > 0).map(|c| f32::from(*c) / total).map(|p| -p * p.log2()).sum()
}

/// What a check looks at.
pub(crate) struct Candidate<'a> {
    /// All of the match.
    pub(crate) whole: &'a [u8],
    /// The secret.
    pub(crate) value: &'a [u8],
    /// The secret after the prefix everyone knows.
    pub(crate) body: &'a [u8],
}

impl Check {
    pub(crate) fn holds(self, on: &Candidate<'_>) -> bool {
        match self {
            Self::Digit => on.body.iter().any(u8::is_ascii_digit) || shapes::is_letters_at_random(on.body),
            Self::MixedCase => on.body.iter().any(u8::is_ascii_uppercase) && on.body.iter().any(u8::is_ascii_lowercase),
            Self::NotKeySize => !matches!(on.value.len(), 43 | 86),
            Self::NotHex => on.body.iter().any(|b| b.is_ascii_alphabetic() && !b.is_ascii_hexdigit()),
            Self::PemBody => has_pem_body(on.value),
            Self::Base64PrivateKey => {
                let head = on.value.get(..on.value.len().min(80)).unwrap_or_default();
                contains(&base64::decode_lossy(head), b"PRIVATE KEY")
            }
            Self::Userinfo => {
                !shapes::is_did(on.whole)
                    && !shapes::is_default_login(on.whole, on.value)
                    && !shapes::is_example_url(on.whole, on.value)
                    && secretish(on.value)
            }
            Self::Secretish => secretish(on.value),
            Self::NotWord => on.body.iter().any(|b| !b.is_ascii_lowercase()),
            Self::Base64Userinfo => {
                let plain = base64::decode_lossy(on.value);
                plain.len() >= 5 && plain.contains(&b':') && plain.iter().all(|b| (b' '..0x7f).contains(b))
            }
            Self::Cookie => shapes::has_secret_cookie(on.value),
            Self::Random => shapes::is_random(on.value),
            Self::Passwordish => shapes::is_passwordish(on.value),
            Self::PasswordInSentence => shapes::is_password_in_sentence(on.value),
            Self::Mnemonic => shapes::is_mnemonic(on.value),
            Self::DigitsThroughout => shapes::has_digits_throughout(on.value),
            Self::HomeName => is_persons(on.value),
            Self::Trim => true,
        }
    }
}

pub(crate) fn contains(hay: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(hay, needle).is_some()
}

/// Length of the first line of a key block, which everyone knows; 0 where `value` is none.
pub(crate) fn pem_header(value: &[u8]) -> usize {
    let Some(rest) = value.strip_prefix(b"-----BEGIN ") else { return 0 };
    rest.windows(5).take(80).position(|w| w == b"-----").map_or(0, |at| at + 16)
}

fn has_pem_body(block: &[u8]) -> bool {
    let body = block.get(pem_header(block)..).unwrap_or_default();
    body.split(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))).any(|run| run.len() >= 16)
}

/// Words that stand where a password would, in examples and in code.
const NO_SECRETS: [&str; 34] = [
    "password",
    "passwd",
    "pass",
    "pwd",
    "secret",
    "token",
    "user",
    "username",
    "postgres",
    "mysql",
    "root",
    "admin",
    "test",
    "guest",
    "changeme",
    "change_me",
    "example",
    "xxx",
    "xxxx",
    "null",
    "none",
    "undefined",
    "true",
    "false",
    "string",
    "pw",
    "mypassword",
    "mysecretpassword",
    "hunter2",
    "foo",
    "bar",
    "redacted",
    "passphrase",
    "dev",
];

pub(crate) fn secretish(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    let code = text.starts_with(['$', '{', '<', '(', '[', '*', '…', ':'])
        || text.starts_with("%s")
        || text.starts_with("%(")
        || text.contains("${")
        || text.contains("{{")
        || text.ends_with(')');
    !code && !NO_SECRETS.contains(&text.as_str()) && !is_placeholder(value)
}

/// Names under `/home` and the like that are no person's.
const NO_PERSONS: &str = "\
    runner runneradmin root admin administrator ubuntu debian fedora centos alpine ec2-user azureuser vagrant \
    circleci gitpod vscode codespace node linuxbrew shared public default defaultuser0 guest user username users \
    name you your_name yourname your-name your-username yourusername me example someone somebody jovyan app \
    appuser sandbox nonroot nixbld www www-data git coder developer devuser postgres jenkins buildkite builder \
    build claude agent workspace all home nobody foo bar xxx someuser myuser youruser";

/// Whether `word` is one of the words in `list`.
pub(crate) fn listed(list: &str, word: &str) -> bool {
    let (list, word) = (list.as_bytes(), word.as_bytes());
    let is_apart = |at: Option<usize>| at.and_then(|i| list.get(i)).is_none_or(u8::is_ascii_whitespace);
    !word.is_empty()
        && !word.iter().any(u8::is_ascii_whitespace)
        && memchr::memmem::find_iter(list, word)
            .any(|at| is_apart(at.checked_sub(1)) && is_apart(Some(at + word.len())))
}

/// Whether the folder at the end of `path` is a person's.
pub(crate) fn is_persons(path: &[u8]) -> bool {
    let name = path.get(home_prefix(path)..).unwrap_or_default();
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    !name.is_empty() && !listed(NO_PERSONS, &name)
}

/// How many of a home folder's first bytes say nothing of its owner: all but the name at its end.
pub(crate) fn home_prefix(path: &[u8]) -> usize {
    let separator = |window: &[u8]| window.eq_ignore_ascii_case(b"%2f") || window.eq_ignore_ascii_case(b"%5c");
    let plain = path.iter().rposition(|b| matches!(b, b'/' | b'\\')).map_or(0, |at| at + 1);
    let encoded = path.windows(3).rposition(separator).map_or(0, |at| at + 3);
    match plain.max(encoded) {
        // The folder of an agent's project: `-home-name`.
        0 if path.first() == Some(&b'-') => path.iter().rposition(|b| *b == b'-').map_or(0, |at| at + 1),
        at => at,
    }
}

/// How many of the bytes of `path` are a home folder, with its name at the end: what ends a sentence is no part of it.
pub(crate) fn home_length(path: &[u8]) -> usize {
    let from = home_prefix(path);
    let name = path.get(from..).and_then(|name| name.utf8_chunks().next()).map_or("", |chunk| chunk.valid());
    let is_mark = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    let end = name.find(|c: char| !(c.is_alphanumeric() || is_mark(c) || matches!(c, '.' | '_' | '-')));
    let name = end.and_then(|end| name.get(..end)).unwrap_or(name);
    from + name.trim_end_matches(['.', '-']).len()
}

/// Whether people write this where the real value goes.
pub(crate) fn is_placeholder(body: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in body {
        if let Some(flag) = seen.get_mut(usize::from(*byte)) {
            *flag = true;
        }
    }
    if seen.iter().filter(|s| **s).count() <= 3.min(body.len() / 4) {
        return true;
    }
    let folded = body.to_ascii_lowercase();
    [
        &b"example"[..],
        b"placeholder",
        b"redacted",
        b"xxxxxx",
        b"changeme",
        b"your_",
        b"your-",
        b"dummy",
        b"insert_",
        b"......",
    ]
    .iter()
    .any(|word| contains(&folded, word))
}
