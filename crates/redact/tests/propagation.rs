//! What is covered once is covered in whatever form it stands: one form after the other, on words too short or too odd for
//! anything else to find them there.
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
    cover_all, draft, github_token, key, scanned, sealed,
    story::{base64, base64url, body},
    texts,
};
use onrecord_redact::{Decision, Decisions, seal};

fn covering(words: &[&str]) -> Decisions {
    let mut decisions = Decisions::default();
    for word in words {
        decisions.cover_word(&key(), word).unwrap();
    }
    decisions
}

/// Each of `forms` is covered whole, and the gate stops it.
#[track_caller]
fn covered_whole(word: &str, forms: &[String]) {
    for form in forms {
        let reviewed = sealed(&draft(&[&format!("got ({form}) here")]), &covering(&[word]));
        assert_eq!(texts(&reviewed), ["got (███) here"], "{form}");
        assert!(reviewed.gate(format!("{{\"text\":\"({form})\"}}").as_bytes()).is_err(), "{form}");
    }
}

fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

#[test]
fn a_covered_word_is_covered_as_json_writes_it() {
    let word = "pa\"s\\7x";
    let once = json(word);
    covered_whole(word, &[once.clone(), json(&once)]);
    let both = "pa\"s/é7";
    covered_whole(both, &[json(both)]);
    let solidus = "key/é7/x";
    covered_whole(solidus, &[solidus.replace('/', "\\/"), solidus.replace('é', "\\u00e9"), json(&json(solidus))]);
}

#[test]
fn a_covered_word_is_covered_as_urls_write_it() {
    let word = "Ab7 c/d&é";
    let forms =
        ["Ab7+c%2Fd%26%C3%A9", "Ab7%20c%2Fd%26%C3%A9", "Ab7%20c%2fd%26%c3%a9", "%41%62%37%20%63%2F%64%26%C3%A9"];
    covered_whole(word, &forms.map(str::to_owned));
}

#[test]
fn a_short_covered_word_is_covered_in_base64_and_hexadecimal() {
    let word = "q>>?~8w";
    let mut forms = Vec::new();
    for before in ["", "a", "ab"] {
        let plain = format!("{before}{word}");
        forms.extend([base64(plain.as_bytes()), base64url(plain.as_bytes())]);
        forms.push(plain.bytes().map(|b| format!("{b:02x}")).collect());
        forms.push(plain.bytes().map(|b| format!("{b:02X}")).collect());
    }
    assert!(forms.iter().any(|f| f.contains('+')) && forms.iter().any(|f| f.contains('-')), "the alphabets differ");
    covered_whole(word, &forms);
}

#[test]
fn the_beginning_of_a_covered_word_is_covered_to_the_end_of_its_token() {
    let word = "Zq7Kx2Vb9Tn4Lm8Wc3Rd";
    covered_whole(word, &[word[..12].to_owned(), word[..15].to_owned(), format!("{}-other", &word[..14])]);
}

#[test]
fn a_covered_word_within_a_longer_one_leaves_no_end_of_it() {
    let decisions = covering(&["Northwind Traders", "wind", "Nor"]);
    let said = ["ask Northwind Traders, the Northwind Traders!", "north wind", "Northwind"];
    assert_eq!(texts(&sealed(&draft(&said), &decisions)), ["ask ███, the ███!", "north ███", "North███"]);
}

#[test]
fn a_short_covered_word_is_not_covered_within_a_longer_one() {
    let decisions = covering(&["Al", "李"]);
    let said = ["Also, Al said: al, AL-2, toAl, \u{c5}l.", "Val, Also\nAlso ALSO", "小李说"];
    let shown = ["Also, ███ said: al, AL-2, to███, \u{c5}l.", "Val, Also\nAlso ALSO", "小███说"];
    let reviewed = sealed(&draft(&said), &decisions);
    assert_eq!(texts(&reviewed), shown);
    for text in shown {
        reviewed.gate(&body(text)).unwrap();
    }
    // The letter of an escape is no part of the word, and a secret is covered wherever it stands.
    assert!(reviewed.gate(b"{\"text\":\"so\\nAl said\"}").is_err());
}

#[test]
fn a_covered_word_is_covered_with_its_letters_apart_and_turned_round() {
    let word = "Zq7Kx2Vb9";
    let apart = word.chars().map(String::from).collect::<Vec<_>>().join(" ");
    let turned: String = word.chars().rev().collect();
    covered_whole(word, &[apart, turned]);
}

#[test]
fn covered_words_side_by_side_are_one_bar() {
    let decisions = covering(&["north", "wind"]);
    assert_eq!(texts(&sealed(&draft(&["a northwind, a north wind"]), &decisions)), ["a ███, a ███ ███"]);
}

#[test]
fn the_first_word_of_a_covered_phrase_is_covered_where_a_title_was_shortened() {
    let mut shortened = draft(&["We work for Halvorsen Shipping Company."]);
    shortened.title = Some("The invoices of Halvorsen…".to_owned());
    let reviewed = sealed(&shortened, &covering(&["Halvorsen Shipping Company"]));
    assert_eq!(reviewed.title(), Some("The invoices of ███…"));
}

#[test]
fn a_covered_word_in_disguise_is_covered() {
    let word = "Nightingale";
    let letters = |with: &str| word.chars().map(String::from).collect::<Vec<_>>().join(with);
    let forms = [
        letters("\u{200b}"),
        letters("\u{1b}[0m"),
        word.replace('i', "і"),
        word.replace('g', "\\u0067"),
        word.replace('a', "&#97;"),
        "Ｎｉｇｈｔｉｎｇａｌｅ".to_owned(),
        base64(format!("we call it {word} among us").as_bytes()),
    ];
    covered_whole(word, &forms);
}

#[test]
fn every_secret_of_one_encoded_text_is_a_finding_of_its_own() {
    let password = ["Tr1ck", "-sw0rd!9"].concat();
    let both = base64(format!("TOKEN={}\nDB_PASSWORD={password}\n", github_token()).as_bytes());
    let draft = draft(&[&format!("output: {both}"), &format!("then try {password} there")]);
    let found = scanned(&draft, &Decisions::default()).findings;
    let rules: Vec<_> = found.iter().filter(|f| f.turn == Some(1)).map(|f| f.rule.as_str()).collect();
    assert!(rules.contains(&"github-token") && rules.contains(&"named-password"), "{rules:?}");

    // Covering what is encoded covers both wherever else they stand.
    let mut covered = Decisions::default();
    cover_all(&draft, &mut covered);
    assert_eq!(texts(&sealed(&draft, &covered))[1], "then try ███ there");

    // To allow the one is not to allow the other.
    let mut allowed = Decisions::default();
    let token = found.iter().find(|f| f.rule == "github-token").unwrap();
    allowed.decide(token, Decision::Allow, Some("made up")).unwrap();
    assert!(scanned(&draft, &allowed).undecided() > 0);
    assert!(seal(&draft, &common::rules(), &allowed, &key()).is_err());
}
