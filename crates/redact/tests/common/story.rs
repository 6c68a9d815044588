//! The whole way of a conversation to its readers, and what must not show on it.

use onrecord_redact::{Decisions, Draft, Error, GateHit, Reviewed, Tier};

use super::{cover_all, everything, reopened, scanned, sealed, try_sealed};

pub const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
pub const DIGITS: &str = "0123456789";
pub const HEX: &str = "0123456789abcdef";
pub const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `length` made-up characters of `alphabet`, the same ones for the same `seed`; one of three is a digit where there are any.
pub fn made(seed: u64, alphabet: &str, length: usize) -> String {
    let all: Vec<char> = alphabet.chars().collect();
    let digits: Vec<char> = all.iter().copied().filter(char::is_ascii_digit).collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|n| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let from = if n % 3 == 1 && !digits.is_empty() { &digits } else { &all };
            from[usize::try_from(state >> 40).unwrap() % from.len()]
        })
        .collect()
}

/// A made-up GitHub token of the classic length.
pub fn github(seed: u64) -> (String, String) {
    let body = made(seed, ALNUM, 36);
    (["gh", "p_", &body].concat(), body)
}

/// RFC 4648 section 4, written for the tests alone.
pub fn base64(bytes: &[u8]) -> String {
    let digits = BASE64.as_bytes();
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0_usize, |n, b| n << 8 | usize::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            out.push(if i <= chunk.len() { char::from(digits[n >> (18 - 6 * i) & 63]) } else { '=' });
        }
    }
    out
}

/// RFC 4648 section 5, without padding.
pub fn base64url(bytes: &[u8]) -> String {
    base64(bytes).replace('+', "-").replace('/', "_").replace('=', "")
}

/// What a JSON writer sends of `text`.
pub fn body(text: &str) -> Vec<u8> {
    serde_json::to_vec(&serde_json::json!({"$type": "click.aligned.chat.message", "role": "user", "text": text}))
        .unwrap()
}

/// How many characters in a row give a secret away.
const TELLING: usize = 8;

/// Fails where eight characters in a row of a secret, or all of a shorter one, stand in `said`. Never prints either.
#[track_caller]
pub fn hides(place: &str, said: &str, secrets: &[&str]) {
    for (n, secret) in secrets.iter().enumerate() {
        let chars: Vec<char> = secret.chars().collect();
        let telling = chars.windows(TELLING.min(chars.len())).map(|w| w.iter().collect::<String>());
        let shown = telling.filter(|part| said.contains(part)).count();
        assert!(shown == 0, "secret {n} shows in {place}, {shown} parts of it");
    }
}

/// What an error says, to a person and to a programmer.
#[track_caller]
pub fn error_hides(place: &str, error: &Error, secrets: &[&str]) {
    hides(place, &format!("{error} {error:?}"), secrets);
}

/// The same of the last gate's.
#[track_caller]
pub fn hit_hides(place: &str, hit: &GateHit, secrets: &[&str]) {
    hides(place, &format!("{hit} {hit:?}"), secrets);
}

/// Takes `draft` from the scan to the last gate: while nothing is decided it is refused, then everything found is covered.
/// None of `secrets` shows in findings, errors, decisions, what is sealed, or what the gate says.
#[track_caller]
pub fn told(draft: &Draft, secrets: &[&str]) -> Reviewed {
    told_with(draft, Decisions::default(), secrets)
}

/// The same with decisions made before.
#[track_caller]
pub fn told_with(draft: &Draft, mut decisions: Decisions, secrets: &[&str]) -> Reviewed {
    let found = scanned(draft, &decisions);
    hides("the findings' Debug", &format!("{found:?}"), secrets);
    hides("the findings' JSON", &serde_json::to_string(&found.findings).unwrap(), secrets);
    if found.undecided() > 0 {
        let Err(error) = try_sealed(draft, &decisions) else { panic!("sealed while findings are undecided") };
        error_hides("the refusal", &error, secrets);
    }

    cover_all(draft, &mut decisions);
    hides("the decisions' Debug", &format!("{decisions:?}"), secrets);
    hides("the decisions' JSON", &serde_json::to_string(&decisions).unwrap(), secrets);

    let reviewed = sealed(draft, &decisions);
    hides("what is sealed, in Debug", &format!("{reviewed:?}"), secrets);
    for said in everything(&reviewed) {
        hides("what readers get", &said, secrets);
        let passed = reviewed.gate(&body(&said));
        assert!(passed.is_ok(), "the gate stops what was sealed: {}", passed.unwrap_err());
    }

    let again = scanned(&reopened(&reviewed), &Decisions::default());
    let left: Vec<&str> =
        again.findings.iter().filter(|f| f.blocking && f.tier < Tier::E).map(|f| f.rule.as_str()).collect();
    assert!(left.is_empty(), "still found in what was sealed: {left:?}");
    reviewed
}

/// The gate of `reviewed` stops each of `bodies`, and does not say what it found.
#[track_caller]
pub fn stopped(reviewed: &Reviewed, bodies: &[String], secrets: &[&str]) {
    for (n, said) in bodies.iter().enumerate() {
        let Err(hit) = reviewed.gate(&body(said)) else { panic!("the gate lets body {n} pass") };
        hit_hides("the gate's refusal", &hit, secrets);
    }
}
