use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::{Limits, shorten, split};

const SMALL: Limits = Limits { bytes: 40, graphemes: 20 };

#[test]
fn a_text_within_the_limits_is_one_piece() {
    assert_eq!(split("short", SMALL), ["short"]);
    assert_eq!(split("", SMALL), [""]);
}

#[test]
fn paragraphs_are_cut_before_sentences() {
    let text = "One is here.\n\nTwo is longer. Three.";
    assert_eq!(split(text, SMALL), ["One is here.\n\n", "Two is longer. ", "Three."]);
}

#[test]
fn sentences_are_cut_before_words() {
    assert_eq!(split("It was late. Then came rain.", SMALL), ["It was late. ", "Then came rain."]);
}

#[test]
fn words_are_cut_before_letters() {
    assert_eq!(split("no sentence ends before this", SMALL), ["no sentence ends ", "before this"]);
    assert_eq!(split(&"x".repeat(30), SMALL), ["x".repeat(20), "x".repeat(10)]);
}

#[test]
fn a_blank_line_within_a_code_fence_is_the_second_choice() {
    let text = "First part.\n\n```\na\n\nb\n```\nand a tail that goes on";
    let limits = Limits { bytes: 30, graphemes: 30 };
    assert_eq!(split(text, limits)[0], "First part.\n\n");
}

#[test]
fn a_bar_is_never_cut() {
    let text = format!("{}███ and so on and on", "x".repeat(18));
    assert_eq!(split(&text, SMALL)[0], "x".repeat(18));
}

#[test]
fn a_joined_emoji_is_never_cut() {
    let family = "👨‍👩‍👧‍👦";
    let text = family.repeat(5);
    for piece in split(&text, SMALL) {
        assert!(piece.graphemes(true).all(|g| g == family));
    }
}

#[test]
fn one_grapheme_over_the_limit_is_still_cut_and_nothing_is_lost() {
    let text = format!("a{}", "\u{301}".repeat(60));
    let pieces = split(&text, SMALL);
    assert_eq!(pieces.concat(), text);
    assert!(pieces.iter().all(|p| p.len() <= SMALL.bytes));
}

#[test]
fn shortening_ends_in_an_ellipsis_within_the_limits() {
    assert_eq!(shorten("tiny", SMALL), ("tiny".to_owned(), false));
    let (short, was_longer) = shorten(&"word ".repeat(10), SMALL);
    assert!(was_longer);
    assert_eq!(short, "word word word word…");
}

proptest! {
    #[test]
    fn pieces_are_the_text_and_within_the_limits(text in r"(\PC|\n|█| |\. |👨‍👩‍👧){0,200}") {
        let pieces = split(&text, SMALL);
        prop_assert_eq!(pieces.concat(), text.clone());
        for piece in &pieces {
            prop_assert!(piece.len() <= SMALL.bytes);
            prop_assert!(piece.graphemes(true).count() <= SMALL.graphemes);
        }
        prop_assert!(text.is_empty() || pieces.iter().all(|p| !p.is_empty()));
    }
}
