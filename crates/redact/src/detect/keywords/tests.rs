//! The same as an automaton would find.

use aho_corasick::AhoCorasick;
use proptest::prelude::*;

use super::{KeywordHit, Keywords};

fn found(words: &[String], text: &[u8]) -> Vec<KeywordHit> {
    let mut hits = Vec::new();
    Keywords::new(words).find(text, &mut hits);
    hits
}

fn expected(words: &[String], text: &[u8]) -> Vec<KeywordHit> {
    let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(words).unwrap();
    let hit = |m: aho_corasick::Match| KeywordHit { start: m.start(), end: m.end(), index: m.pattern().as_usize() };
    let mut hits: Vec<_> = automaton.find_overlapping_iter(text).map(hit).collect();
    hits.sort_unstable();
    hits
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_word_is_found_wherever_it_stands(
        words in proptest::collection::hash_set("[ab_\\-é]{1,6}", 1..12),
        text in "[abAB_\\-Éé@`]{0,60}",
    ) {
        let words: Vec<String> = words.into_iter().collect();
        prop_assert_eq!(found(&words, text.as_bytes()), expected(&words, text.as_bytes()));
    }
}

#[test]
fn words_at_the_ends_of_short_texts_are_found() {
    let words = ["abc", "bcd", "cd", "d"].map(str::to_owned);
    for text in ["", "a", "ab", "abc", "abcd", "xABC", "ABCx"] {
        assert_eq!(found(&words, text.as_bytes()), expected(&words, text.as_bytes()), "{text}");
    }
}
