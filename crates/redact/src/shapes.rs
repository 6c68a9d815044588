//! Shapes of secrets that a pattern cannot describe, and where those begin that are known by their end.

use serde::Deserialize;

use crate::{
    checks::{contains, entropy, secretish},
    detect::surprise,
    text::part,
};

/// How a secret is found that ends, not begins, where the pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Back {
    /// The lines of a key that stand before its last line; the match is part of it.
    KeyLines,
    /// The password of the `user:password` before the match.
    Userinfo,
    /// The whole URL that the match is in: what stands before the match is known to everyone.
    Url,
}

/// More than this before the part of a URL that tells what it is, is none of it.
const URL: usize = 160;

/// A longer user and password are none.
const USERINFO: usize = 200;

impl Back {
    /// The span of the secret, where the pattern matched `start..end`.
    pub(crate) fn span(self, bytes: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
        match self {
            Self::KeyLines => key_lines(bytes, start).map(|from| (from, end)),
            Self::Userinfo => {
                let before = part(bytes, start.saturating_sub(USERINFO), start);
                let stop = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'=' | b'/' | b'<');
                let length = before.iter().rev().take_while(|b| !stop(b)).count();
                let colon = part(bytes, start - length, start).iter().position(|b| *b == b':')?;
                (colon + 1 < length).then_some((start - length + colon + 1, start))
            }
            Self::Url => Some((url_start(bytes, start), end)),
        }
    }
}

/// Where the URL begins that goes on at `at`: at its scheme, or at its host where it has none.
fn url_start(bytes: &[u8], at: usize) -> usize {
    let before = part(bytes, at.saturating_sub(URL), at);
    let joins = |b: &u8| b.is_ascii_alphanumeric() || b"-._~:/?#@!$&+,;=%\\{}".contains(b);
    let length = before.iter().rev().take_while(|b| joins(b)).count();
    let url = part(before, before.len() - length, before.len());
    let scheme = [&b"://"[..], b":\\/\\/", b"%3A%2F%2F", b"%3a%2f%2f"];
    let Some(colon) = scheme.iter().filter_map(|mark| memchr::memmem::rfind(url, mark)).max() else {
        let host = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'/' | b'\\');
        let path = url.iter().rev().take_while(|b| host(b)).count();
        let path = part(url, url.len() - path, url.len());
        // The letter of an escape (`\n`) is no part of a host.
        let escape =
            path.windows(2).rposition(|pair| matches!(pair, [b'\\', b'n' | b'r' | b't'])).map_or(0, |at| at + 2);
        let host = part(path, escape, path.len());
        return at - host.len() + host.iter().position(u8::is_ascii_alphanumeric).unwrap_or_default();
    };
    let before = part(url, 0, colon);
    let scheme = [&b"https"[..], b"http"].into_iter().find(|name| before.ends_with(name)).map_or(0, <[u8]>::len);
    at - url.len() + colon - scheme
}

/// A line of a key is at least this long, unless it is the last one.
const KEY_LINE: usize = 16;
/// More than this between two lines of a key is no decoration.
const DECORATION: usize = 64;

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Where the lines of base64 begin that end at `end`, whatever decorates them; none where there are none.
///
/// It reads only what belongs to the key, so that many ends in one text cost no more than the text.
fn key_lines(bytes: &[u8], end: usize) -> Option<usize> {
    let mut found = None;
    let mut at = end;
    let mut last = true;
    loop {
        let gap = part(bytes, 0, at).iter().rev().take(DECORATION + 1).take_while(|b| !is_base64(**b)).count();
        let decoration = part(bytes, at - gap, at);
        let decorates = |b: &u8| b.is_ascii_whitespace() || b"\\\"',;:>|#*-`".contains(b) || !b.is_ascii();
        if gap > DECORATION || !decoration.iter().all(decorates) {
            return found;
        }
        at -= gap;
        let from = at - part(bytes, 0, at).iter().rev().take_while(|b| is_base64(**b)).count();
        // The letter of an escaped line end is no part of the line.
        let escape = from > 0 && part(bytes, from - 1, from) == b"\\" && matches!(bytes.get(from), Some(b'n' | b'r'));
        let line = part(bytes, from + usize::from(escape && from < at), at);
        let number = (1..=6).contains(&line.len()) && line.iter().all(u8::is_ascii_digit);
        if line.len() >= KEY_LINE {
            found = Some(at - line.len());
        } else if !(number || (line.is_empty() && escape) || (last && !line.is_empty())) {
            return found;
        }
        last &= line.is_empty();
        at = from;
    }
}

/// Whether its letters change between upper and lower case more often than those of words put together do.
fn is_restless(value: &[u8]) -> bool {
    let letters = || value.iter().filter(|b| b.is_ascii_alphabetic());
    let changes = letters().zip(letters().skip(1)).filter(|(a, b)| a.is_ascii_uppercase() != b.is_ascii_uppercase());
    value.len() >= 12 && letters().count() == value.len() && changes.count() * 20 >= value.len() * 9
}

/// Whether letters alone, in both cases, are in an order that no words have.
pub(crate) fn is_letters_at_random(value: &[u8]) -> bool {
    let joins = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-');
    (16..=64).contains(&value.len())
        && value.iter().all(joins)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_lowercase)
        // Chance says more the longer it is.
        && surprise(value) >= if value.len() < 24 { 6 } else { 2 }
}

/// Whether it looks random: neither a name in a program, nor words, nor a version.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let kind = |b: &u8| match b {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let length = value.len();
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let changes = value.iter().zip(value.iter().skip(1)).filter(|(a, b)| kind(a) != kind(b) && kind(a) * kind(b) > 0);
    let changes = changes.count();
    let mixed = digits >= 2.max(length / 16) && changes * 6 >= length;
    let restless = length >= 16 && changes * 20 >= length * 9;
    secretish(value) && (mixed || restless) && entropy(value) >= if length < 16 { 2.5 } else { 3.0 }
}

/// Beginnings of expressions that stand where a password would.
const EXPRESSIONS: [&str; 16] = [
    "process.",
    "os.",
    "env.",
    "config.",
    "self.",
    "this.",
    "args.",
    "opts.",
    "options.",
    "settings.",
    "secrets.",
    "var.",
    "local.",
    "data.",
    "params.",
    "!",
];

/// Whether it could be a password that someone chose or made: more than letters, and no expression, path or constant.
pub(crate) fn is_passwordish(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let telling = value.iter().any(|b| b.is_ascii_digit() || b"!@#%^&*?~+".contains(b)) || is_restless(value);
    let constant = value.iter().all(|b| b.is_ascii_uppercase() || *b == b'_')
        || (text.contains('_') && value.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_'));
    let path = text.starts_with(['/', '.', '~', '-', '@', ',', ':', '|', '%', '&']);
    let number = value.len() < 8 && value.iter().all(u8::is_ascii_digit);
    let code = text.contains(['(', '[', '{']) || EXPRESSIONS.iter().any(|e| text.starts_with(e)) || text.contains("::");
    telling && !constant && !path && !number && !code && secretish(value)
}

/// Whether a word could be the password that a sentence tells of: not a date, a number, a version or the name of a file.
pub(crate) fn is_password_in_sentence(value: &[u8]) -> bool {
    let letters = value.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let name =
        value.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-' | b'/'));
    let worded = name && digits < 3 && !is_random(value);
    letters >= 3 && digits > 0 && !worded && !value.contains(&b'=') && is_passwordish(value)
}

/// Beginnings of the names of cookies that hold preferences and statistics.
const HARMLESS_COOKIES: [&str; 34] = [
    "_ga",
    "_gid",
    "_gat",
    "_gcl",
    "_fbp",
    "_fbc",
    "__utm",
    "_hj",
    "_uet",
    "_clck",
    "_clsk",
    "_pk_",
    "_dc_gtm",
    "ajs_",
    "amplitude",
    "mp_",
    "optanon",
    "cookie",
    "consent",
    "euconsent",
    "didomi",
    "cky",
    "theme",
    "lang",
    "locale",
    "tz",
    "timezone",
    "color",
    "next_locale",
    "i18n",
    "_octo",
    "preferred",
    "ph_phc",
    "visitor",
];

/// What a `Set-Cookie` says of a cookie.
const COOKIE_ATTRIBUTES: [&str; 8] =
    ["path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "priority"];

/// Parts of the names of cookies that open something.
const SESSION_COOKIES: [&str; 12] =
    ["sess", "sid", "auth", "token", "jwt", "login", "remember", "csrf", "xsrf", "cf_clearance", "sso", "account"];

/// Whether one of the cookies in a header opens something, or could.
pub(crate) fn has_secret_cookie(header: &[u8]) -> bool {
    header.split(|b| *b == b';').any(|pair| {
        let mut sides = pair.splitn(2, |b| *b == b'=');
        let name = String::from_utf8_lossy(sides.next().unwrap_or_default()).trim().to_ascii_lowercase();
        let value = sides.next().unwrap_or_default();
        if HARMLESS_COOKIES.iter().any(|n| name.starts_with(n)) || COOKIE_ATTRIBUTES.contains(&name.as_str()) {
            return false;
        }
        let session = SESSION_COOKIES.iter().any(|n| name.contains(n));
        let digit = value.iter().any(u8::is_ascii_digit);
        let constant =
            value.contains(&b'_') && value.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
        secretish(value)
            && !constant
            && ((session && value.len() >= 8 && digit) || (value.len() >= 12 && is_random(value)))
    })
}

/// Common English words that no word list for recovery phrases has (BIP 39, English).
const NOT_IN_PHRASES: [&str; 32] = [
    "the", "and", "for", "with", "from", "are", "was", "were", "has", "had", "which", "would", "could", "should",
    "does", "did", "not", "but", "its", "his", "her", "our", "your", "their", "than", "them", "these", "those", "been",
    "also", "words", "phrase",
];

/// Whether the first twelve words could be those of a recovery phrase.
pub(crate) fn is_mnemonic(value: &[u8]) -> bool {
    let words: Vec<&[u8]> =
        value.split(|b| !b.is_ascii_lowercase()).filter(|w| (3..=8).contains(&w.len())).take(12).collect();
    let mut distinct = words.clone();
    distinct.sort_unstable();
    distinct.dedup();
    words.len() == 12
        && distinct.len() >= 8
        && !words.iter().any(|word| NOT_IN_PHRASES.iter().any(|other| other.as_bytes() == *word))
}

/// Whether half of the words of a list at least have digits, as codes do.
pub(crate) fn has_digits_throughout(list: &[u8]) -> bool {
    let words = || list.split(|b| !(b.is_ascii_alphanumeric() || *b == b'-')).filter(|w| w.len() >= 4);
    let with_digits = words().filter(|w| w.iter().any(u8::is_ascii_digit)).count();
    with_digits >= 2 && with_digits * 2 >= words().count()
}

/// Whether the user and the password of a URL are the same plain word, as in the default settings of services.
///
/// `url` begins with the colon of `://`.
pub(crate) fn is_default_login(url: &[u8], password: &[u8]) -> bool {
    let rest = url.get(url.iter().take_while(|b| matches!(b, b':' | b'/' | b'\\')).count()..).unwrap_or_default();
    let user = rest.split(|b| *b == b':').next().unwrap_or_default();
    user == password && password.iter().all(|b| b.is_ascii_lowercase() || *b == b'_')
}

/// Whether the match is an example with nothing in it to hide: a DID where a user would stand.
pub(crate) fn is_did(url: &[u8]) -> bool {
    contains(part(url, 0, 9), b"//did:") || contains(part(url, 0, 12), b"\\/did:")
}

/// Words that stand in made-up URLs, where a password would.
const EXAMPLE_PASSWORDS: [&str; 14] =
    ["abc", "xyz", "pass", "foo", "foobar", "bar", "baz", "qux", "quux", "word", "pw", "pwd", "auth", "passwd"];

/// Hosts of made-up URLs, by their first label; so are those of one letter.
const EXAMPLE_HOSTS: [&str; 8] = ["foo", "bar", "baz", "example", "foodomain", "host", "hostname", "foobar"];

/// Whether a URL is made up to show what may stand in one, not to open something: its password holds no letter or digit, or
/// it is a common word, and its host is one too. `url` ends with the host.
pub(crate) fn is_example_url(url: &[u8], password: &[u8]) -> bool {
    let mut plain = Vec::with_capacity(password.len());
    let mut rest = password;
    while let [first, after @ ..] = rest {
        let escaped = *first == b'%' && after.iter().take(2).filter(|b| b.is_ascii_hexdigit()).count() == 2;
        plain.push(if escaped { b'%' } else { *first });
        rest = if escaped { after.get(2..).unwrap_or_default() } else { after };
    }
    let words: Vec<&[u8]> = plain.split(|b| !b.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let host = url.rsplit(|b| *b == b'@').next().unwrap_or_default();
    let label = host.split(|b| !(b.is_ascii_alphanumeric() || *b == b'-')).next().unwrap_or_default();
    let listed = |list: &[&str], word: &[u8]| list.iter().any(|w| w.as_bytes() == word.to_ascii_lowercase());
    let example_host = label.len() == 1 || listed(&EXAMPLE_HOSTS, label);
    let example = |word: &&[u8]| word.len() == 1 || listed(&EXAMPLE_PASSWORDS, word);
    !String::from_utf8_lossy(&plain).chars().any(char::is_alphanumeric)
        || (example_host && words.first().is_some_and(example))
}
