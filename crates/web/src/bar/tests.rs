use proptest::prelude::*;

use super::{BAR, Segment, count, segments};

fn cut(text: &str) -> Vec<Segment<'_>> {
    segments(text).collect()
}

#[test]
fn three_full_blocks_are_a_bar() {
    assert_eq!(cut("to ███."), [Segment::Text("to "), Segment::Bar, Segment::Text(".")]);
    assert_eq!(cut("███"), [Segment::Bar]);
}

#[test]
fn runs_of_other_lengths_stay_text() {
    for text in ["█", "██", "████", "██████", "a █████ b"] {
        assert_eq!(cut(text), [Segment::Text(text)], "{text}");
    }
}

#[test]
fn three_full_blocks_in_a_drawn_progress_bar_stay_text() {
    for text in ["███░░░░░░░ 30%", "▕███▏", "███▌"] {
        assert_eq!(cut(text), [Segment::Text(text)], "{text}");
    }
}

#[test]
fn bars_with_words_between_them_are_two() {
    assert_eq!(count("███ and ███\n███"), 3);
}

#[test]
fn a_bar_after_a_progress_bar_is_found() {
    assert_eq!(cut("█████ ███"), [Segment::Text("█████ "), Segment::Bar]);
}

proptest! {
    #[test]
    fn pieces_add_up_to_the_text(text in "[a█░ \n]{0,40}") {
        let joined: String = segments(&text)
            .map(|s| match s { Segment::Text(t) => t, Segment::Bar => BAR })
            .collect();
        prop_assert_eq!(joined, text.clone());
        let texts_are_not_empty = segments(&text).all(|s| s != Segment::Text(""));
        prop_assert!(texts_are_not_empty);
    }
}
