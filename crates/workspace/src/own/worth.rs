//! What is worth searching: which values may be covered wherever they stand.
//!
//! What is found here can never be allowed by the author, so a value that people also write by chance (`development`,
//! `us-east-1`, `postgres`) must not get in: every conversation would be full of bars.

use std::collections::HashSet;

use super::names::each;

/// How sure the place is that what stands there is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// Its name may mean one: it must look random by itself.
    Hinted,
    /// Its name says so, among settings of every kind.
    Named,
    /// Its name says so, and the file holds nothing but credentials.
    Credential,
}

/// Values that are words of every project, alone, joined to one another, or with a number behind.
const COMMON: &str = "\
    password passwd pass passw0rd p4ssw0rd secret secrets supersecret token tokens key keys apikey api auth admin \
    administrator root toor user username guest test tests testing tester dev devel develop developer development \
    prod production stage staging local localhost default example sample demo dummy fake mock changeme change me \
    change_me replaceme replace insert enter your my the here this value values string placeholder redacted hidden \
    masked none null nil undefined unset empty true false yes no on off enabled disabled enable disable required \
    optional public private internal external basic bearer digest oauth oauth2 openid saml jwt session sessions \
    cookie cookies postgres postgresql mysql mariadb mongodb mongo redis rabbitmq minio minioadmin elastic grafana \
    database db server client service app web welcome letmein qwerty qwertyuiop iloveyou monkey dragon hunter foobar \
    foo bar baz abc keychain osxkeychain libsecret wincred desktop file env environment vault memory debug info \
    warning error trace todo fixme tbd na xxx not real a is for only use with in super long random";

/// How the tokens of widely used services begin.
const TOKEN_STARTS: &str = "\
    sk- sk_live_ sk_test_ rk_live_ pk-lf- ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xoxp- xoxa- xoxs- xapp- \
    AKIA ASIA AIza ya29. npm_ pypi- hf_ eyJ dop_v1_ fm1_ fm2_ fo1_ hvs. SG. shpat_ lin_api_ figd_ tskey- gsk_ xai- \
    r8_ pplx- nvapi-";

/// Whether a value says by itself that it is a secret.
pub(crate) fn value_says_secret(value: &str) -> bool {
    value.len() >= 20
        && value.len() <= 4096
        && !value.contains(char::is_whitespace)
        && each(TOKEN_STARTS).any(|start| value.starts_with(start))
        && is_random(value)
}

/// Whether a value is worth searching, that is, whether it is a secret and never written by chance.
///
/// Kept are values of at least eight characters, six where the file holds nothing but credentials, with enough different
/// characters. Not kept, whoever names them:
/// - placeholders (`<token>`, `your-key`, `xxxxxxxx`, `${TOKEN}`) and documentation's examples;
/// - [words of every project](COMMON) and combinations of them, also with a number behind;
/// - paths, addresses without a secret in them, dates, versions, short numbers, runs such as `12345678`.
///
/// Words alone are kept only where they are passwords beyond doubt: twelve letters where the file holds nothing but
/// credentials, sixteen without a break or four words and more elsewhere; the four groups of an app password always.
/// What only [may](Certainty::Hinted) be a secret must look random.
pub(crate) fn is_worth(value: &str, sure: Certainty) -> bool {
    let credential = sure == Certainty::Credential;
    let length = value.chars().count();
    let distinct = value.chars().collect::<HashSet<_>>().len();
    if length < if credential { 6 } else { 8 }
        || distinct < if length < 8 { 4 } else { 5 }
        || value.chars().any(char::is_control)
        || is_placeholder(value)
        || is_common(value)
        || is_run(value)
        || is_path(value)
        || is_address(value, sure)
    {
        return false;
    }
    if sure == Certainty::Hinted {
        return is_random(value);
    }
    if is_groups_of_four(value) {
        return true;
    }
    if value.contains(char::is_whitespace) {
        return is_phrase(value, credential);
    }
    if value.chars().all(|c| c.is_ascii_digit()) {
        return length >= 8;
    }
    if value.chars().all(|c| c.is_ascii_digit() || ".:-/+,TZ".contains(c)) {
        return credential && !value.contains(['.', ':', 'T']);
    }
    match wordy(value) {
        None => true,
        Some(words) => {
            let letters: usize = words.iter().map(|word| word.len()).sum();
            match words.len() {
                1 => letters >= if credential { 12 } else { 16 },
                2 | 3 => credential && letters >= 12,
                _ => letters >= 16,
            }
        }
    }
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let within =
        ["example", "placeholder", "changeme", "change_me", "change-me", "redacted", "replace_", "replace-", "███"];
    value.starts_with(['<', '$', '%']) && value.ends_with(['>', '}', '%'])
        || value.starts_with("${")
        || value.starts_with("$(")
        || value.contains("{{")
        || lower.starts_with("your_")
        || lower.starts_with("your-")
        || lower.starts_with("yourapi")
        || ["xxxx", "****", "...", "…", "____"].iter().any(|run| lower.contains(run))
        || within.iter().any(|word| lower.contains(word))
}

fn is_common_word(word: &str) -> bool {
    each(COMMON).any(|common| common == word)
}

/// Whether every word of it is a common one; numbers of up to four digits count as such.
fn is_common(value: &str) -> bool {
    let lower = value.to_lowercase();
    let mut parts = lower.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.all(|part| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        part.len() - word.len() <= 4 && (word.is_empty() && part.len() <= 4 || is_common_word(word))
            || is_common_word(part)
    })
}

/// `12345678`, `abcdefgh`, `87654321`: each character the next one's neighbour.
fn is_run(value: &str) -> bool {
    let codes: Vec<i64> = value.chars().map(|c| i64::from(u32::from(c))).collect();
    let step = |by: i64| codes.windows(2).filter(|pair| matches!(pair, [a, b] if b - a == by)).count();
    let most = step(1).max(step(-1)).max(step(0));
    // The zero after the nine, and a letter or two around it.
    most + 3 >= codes.len() && most >= 5
}

fn is_path(value: &str) -> bool {
    let drive = value.get(1..3).is_some_and(|s| s == ":\\" || s == ":/");
    let obvious = ["~/", "./", "../", "file:", "\\\\"].iter().any(|start| value.starts_with(start));
    // A random token may begin with a slash too.
    drive || obvious || (value.starts_with('/') && !value.split('/').any(is_random))
}

/// A URL, an email address, a host, an image with its version. A password may look like the latter.
fn is_address(value: &str, sure: Certainty) -> bool {
    if value.contains("://") {
        return true;
    }
    if sure == Certainty::Credential || value.contains(char::is_whitespace) {
        return false;
    }
    let host = |text: &str| {
        let text = text.split(['/', ':']).next().unwrap_or_default();
        let labels: Vec<_> = text.split('.').collect();
        let plain = |label: &&str| {
            !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        labels.len() > 1
            && labels.iter().all(plain)
            && labels.last().is_some_and(|tld| tld.len() >= 2 && tld.bytes().all(|b| b.is_ascii_lowercase()))
            && !labels.iter().any(|label| is_random(label))
    };
    match value.split_once('@') {
        Some((name, domain)) => host(domain) && !name.contains(['$', '!', '#', '*', '&', '^']),
        None => host(value),
    }
}

/// `abcd-efgh-ijkl-mnop`: how app passwords are given out.
fn is_groups_of_four(value: &str) -> bool {
    let groups: Vec<&str> = value.split(['-', ' ']).collect();
    groups.len() == 4
        && groups.iter().all(|g| g.len() == 4 && g.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
        && groups.iter().any(|g| !is_common_word(g))
}

/// A phrase of words that are no sentence: a mnemonic, dice words; or a password with spaces.
fn is_phrase(value: &str, credential: bool) -> bool {
    let words: Vec<&str> = value.split_whitespace().collect();
    let speech =
        ["the", "your", "of", "is", "a", "an", "for", "to", "and", "or", "in", "this", "that", "not", "with", "no"];
    let sentence =
        words.iter().any(|word| speech.contains(&word.to_ascii_lowercase().trim_end_matches(['.', ',', ':'])));
    let shortest = if credential { 4 } else { 6 };
    !sentence && (words.len() >= 4 || words.iter().any(|word| word.len() >= shortest && wordy(word).is_none()))
}

/// The words that a value consists of, if it does: runs of letters in one case or capitalised, joined by signs or by case,
/// with no digit but a short number behind.
fn wordy(value: &str) -> Option<Vec<&str>> {
    let trimmed = value.trim_end_matches(|c: char| c.is_ascii_digit());
    // A number behind a single word is a password people choose; behind several it is a name.
    let joined = value.contains(['-', '_', '.', ':', '/']);
    let value = if joined && value.len() - trimmed.len() <= 2 { trimmed } else { value };
    let mut words = Vec::new();
    for part in value.split(['-', '_', '.', ':', '/', ' ']).filter(|part| !part.is_empty()) {
        if !part.chars().all(char::is_alphabetic) {
            return None;
        }
        // Cut where a capital follows a small letter.
        let mut start = 0;
        let mut before = ' ';
        for (at, c) in part.char_indices() {
            if c.is_uppercase() && before.is_lowercase() {
                words.push(part.get(start..at)?);
                start = at;
            }
            before = c;
        }
        words.push(part.get(start..)?);
    }
    let letters: usize = words.iter().map(|word| word.len()).sum();
    let word = |word: &&str| {
        let mut rest = word.chars();
        let first = rest.next();
        rest.clone().all(char::is_lowercase) || (first.is_some_and(char::is_uppercase) && rest.all(char::is_uppercase))
    };
    // Words have three letters at least, on average: `aBcDeF` has none.
    (!words.is_empty() && letters >= 3 * words.len() && words.iter().all(word)).then_some(words)
}

/// Whether a value looks as if a machine had made it: a stretch of twelve or more letters and digits, well mixed.
pub(crate) fn is_random(value: &str) -> bool {
    if is_uuid(value) {
        return false;
    }
    let stretches = value.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '_' | '-')));
    stretches.filter(|s| s.len() >= 12).any(|stretch| {
        // Signs between words turn nothing.
        let bytes: Vec<u8> = stretch.bytes().filter(u8::is_ascii_alphanumeric).collect();
        let class = |b: u8| match b {
            b'0'..=b'9' => 0,
            b'a'..=b'z' => 1,
            _ => 2,
        };
        let turns = bytes.windows(2).filter(|pair| matches!(pair, [a, b] if class(*a) != class(*b))).count();
        let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
        let letters = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
        let distinct = bytes.iter().collect::<HashSet<_>>().len();
        let upper = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
        let both_cases = upper > 0 && upper < letters;
        // Words turn where they are joined, once in five letters or so, and few of their letters are capitals.
        let with_digits = letters >= 4 && digits >= if both_cases { 2 } else { 3 } && turns * 5 >= bytes.len();
        let without = upper * 7 >= letters * 2 && upper * 7 <= letters * 5 && turns * 3 >= bytes.len();
        distinct >= 8 && (with_digits || without)
    })
}

fn is_uuid(value: &str) -> bool {
    let groups: Vec<usize> = value.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}
