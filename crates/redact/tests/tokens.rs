//! Tokens in places that make them hard to see.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use common::{
    cover_all, draft, scanned, sealed,
    story::{ALNUM, base64, github, made},
    texts,
};
use onrecord_redact::{Decisions, Finding, Tier};

fn findings(text: &str) -> Vec<Finding> {
    scanned(&draft(&[text]), &Decisions::default()).findings
}

/// Whether findings that block cover all of `part`, which stands once in `text`.
fn is_covered(text: &str, part: &str) -> bool {
    let start = text.find(part).unwrap();
    let blocking = |f: &Finding| f.blocking && f.start <= start && start + part.len() <= f.end;
    findings(text).iter().any(blocking)
}

#[test]
fn a_token_is_found_after_many_that_are_none() {
    let (token, _) = github(1);
    for many in [63, 64, 65, 500] {
        let text = format!("{}{token}", "ghp_no ".repeat(many));
        assert!(is_covered(&text, &token), "after {many}");
        // By its own rule, and not by what it looks like besides.
        assert!(findings(&text).iter().any(|f| f.tier == Tier::B && f.end == text.len()), "after {many}");
    }
}

#[test]
fn the_beginning_of_a_token_before_an_ellipsis_is_found() {
    let (token, _) = github(2);
    for ellipsis in ["...", "…", "***", "[truncated]"] {
        let text = format!("It is {}{ellipsis} as before", &token[..16]);
        assert!(is_covered(&text, &token[..16]), "{ellipsis}");
    }
    assert!(findings(&format!("It is {} as before", &token[..16])).is_empty(), "too little of it without");
}

#[test]
fn a_run_after_an_escaped_line_end_begins_after_it() {
    let token = ["s", "k", &made(3, ALNUM, 178)].concat();
    for before in ["", "\\n", "\\t", "\\r\\n"] {
        let text = format!("{{\"out\": \"{before}{token}\"}}");
        let at = text.find(&token).unwrap();
        let found = findings(&text);
        assert!(found.iter().any(|f| f.rule == "sanity-token" && f.start == at), "{before:?}");
    }
}

#[test]
fn a_token_cut_in_two_within_its_prefix_is_found() {
    let (token, body) = github(4);
    for at in 1..4 {
        for wrap in ["\n", "\" + \"", "\r\n    "] {
            let text = format!("(\"{}{wrap}{}\")", &token[..at], &token[at..]);
            assert!(is_covered(&text, &body), "{wrap:?} at {at}");
        }
    }
}

/// CRC-32 as in ISO-HDLC in six digits of base 62, as GitHub's tokens end; written for the tests alone.
fn checksum(body: &str) -> String {
    let crc = !body.bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    });
    let digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".as_bytes();
    let digit = |place: u32| char::from(digits[usize::try_from(crc / 62_u32.pow(place) % 62).unwrap()]);
    (0..6).rev().map(digit).collect()
}

#[test]
fn a_token_whose_checksum_holds_is_real_whatever_it_looks_like() {
    let body = format!("{}example{}7", made(5, ALNUM, 11), made(6, ALNUM, 11));
    let real = ["gh", "p_", &body, &checksum(&body)].concat();
    let other = ["gh", "p_", &body, "000000"].concat();
    assert_ne!(real, other);
    assert!(findings(&format!("use {real}")).iter().any(|f| f.rule == "github-token"));
    assert!(
        findings(&format!("use {other}")).iter().all(|f| f.rule != "github-token"),
        "it says that it is an example"
    );
}

#[test]
fn an_encoded_token_is_found_with_all_of_its_digits() {
    let (token, _) = github(7);
    let hex: String = token.bytes().map(|b| format!("{b:02x}")).collect();
    for form in [base64(format!("token is {token} now").as_bytes()), hex] {
        let text = format!("some words before it: {form}, and after");
        let start = text.find(&form).unwrap();
        let found = findings(&text);
        let places: Vec<_> = found.iter().filter(|f| f.blocking).map(|f| (f.start, f.end)).collect();
        assert_eq!(places, [(start, start + form.len())]);
    }
}

#[test]
fn an_encoded_token_is_the_same_value_as_the_token() {
    let (token, body) = github(8);
    let encoded = draft(&[&format!("it was {}", base64(format!("token is {token} now").as_bytes()))]);
    let mut decisions = Decisions::default();
    cover_all(&encoded, &mut decisions);
    let both = draft(&[&encoded.turns[0].text, &format!("use {token}")]);
    assert_eq!(scanned(&both, &decisions).undecided(), 0, "one decision for one value");
    let reviewed = sealed(&both, &decisions);
    assert!(!texts(&reviewed).concat().contains(&body));
}

#[test]
fn a_token_behind_a_terminal_code_that_ends_in_a_letter_is_found() {
    let key = ["AK", "IA", &made(11, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)].concat();
    for code in ["\u{1b}[K", "\u{1b}(B", "\u{1b}[2J", "\u{1b}[0m", "\0", "\u{8}"] {
        let text = format!("done{code}{key} and");
        assert!(is_covered(&text, &key), "{code:?}");
    }
}

#[test]
fn a_token_encoded_twice_is_found() {
    let (token, _) = github(9);
    let twice = base64(base64(format!("token is {token} now").as_bytes()).as_bytes());
    assert!(is_covered(&format!("it was {twice}"), &twice));
}

#[test]
fn a_long_token_with_one_invisible_character_is_found_whole() {
    let long = made(10, ALNUM, 6000);
    let text = format!("use gh\u{200b}p_{long} for it");
    assert!(is_covered(&text, &long));
}
