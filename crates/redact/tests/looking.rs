//! What an author is shown while deciding: texts as they will be, and what is marked in them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use common::{draft, github_token, key, rules, scanned, sealed, step};
use onrecord_redact::{
    Cause, Decision, Decisions, Draft, Error, Field, HomeStyle, Look, Marked, Seen, Shown, causes, look, scan,
};
use proptest::prelude::*;

fn looked(draft: &Draft, decisions: &Decisions) -> Look {
    look(draft, &rules(), decisions, &key(), &mut Seen::default(), |_| true).unwrap()
}

fn text_of(look: &Look, turn: usize) -> &Shown {
    look.texts.iter().find(|t| t.turn == Some(turn) && t.field == Field::Text).unwrap()
}

/// What the marks stand on, in the shown text and in the text as it was.
fn marked<'a>(shown: &'a Shown, before: &'a str) -> Vec<(Marked, &'a str, &'a str)> {
    shown.marks.iter().map(|m| (m.what, &shown.text[m.start..m.end], &before[m.from..m.to])).collect()
}

fn why(draft: &Draft, decisions: &Decisions, turn: usize, span: (usize, usize)) -> Vec<Cause> {
    let of = (draft, &rules(), decisions, &key());
    causes(of, &mut Seen::default(), (Some(turn), Field::Text), span).unwrap()
}

#[test]
fn what_is_found_is_marked_until_it_is_covered_and_then_its_bar_is() {
    let text = format!("Öl 🧭 Take {} for it, and then rest.", github_token());
    let draft = draft(&[&text]);
    let mut decisions = Decisions::default();
    let open = looked(&draft, &decisions);
    let shown = text_of(&open, 1);
    assert_eq!(shown.text, text);
    assert_eq!(marked(shown, &text), [(Marked::Found(1), github_token().as_str(), github_token().as_str())]);
    decisions.decide(&open.scan.findings[0], Decision::Cover, None).unwrap();
    let covered = looked(&draft, &decisions);
    let shown = text_of(&covered, 1);
    assert_eq!(shown.text, text.replace(&github_token(), "███"));
    assert_eq!(marked(shown, &text), [(Marked::Covered, "███", github_token().as_str())]);
    let (start, _) = (shown.marks[0].start, shown.marks[0].end);
    assert_eq!(why(&draft, &decisions, 1, (start, start + 3)), [Cause::Finding(1)]);
}

#[test]
fn a_passage_is_covered_where_it_is_and_nowhere_else() {
    let draft = draft(&["Ada met Bob. Ada left.", "Ada and Bob."]);
    let mut decisions = Decisions::default();
    let id = decisions.cover_passage(&key(), &draft, 1, Field::Text, (13, 16)).unwrap();
    let out = sealed(&draft, &decisions);
    assert_eq!(out.turns()[0].content().unwrap().text(), "Ada met Bob. ███ left.");
    assert_eq!(out.turns()[1].content().unwrap().text(), "Ada and Bob.");
    assert_eq!(text_of(&looked(&draft, &decisions), 1).text, "Ada met Bob. ███ left.");
    assert_eq!(why(&draft, &decisions, 1, (13, 16)), [Cause::Passage(id)]);
    let kept = serde_json::to_string(&decisions).unwrap();
    assert!(!kept.contains("Ada"), "the words are not kept");
    assert_eq!(serde_json::from_str::<Decisions>(&kept).unwrap(), decisions);
    assert!(decisions.uncover_passage(&id) && !decisions.uncover_passage(&id));
    assert_eq!(sealed(&draft, &decisions).turns()[0].content().unwrap().text(), "Ada met Bob. Ada left.");
}

// Invariant 4.
#[test]
fn a_passage_that_is_not_where_it_was_is_covered_wherever_it_stands() {
    let before = draft(&["one", "Say it to Wintergreen then. And rest."]);
    let mut decisions = Decisions::default();
    decisions.cover_passage(&key(), &before, 2, Field::Text, (10, 21)).unwrap();
    // The turn is cut into messages, of which only the first has its name.
    let mut after = draft(&["one", "Say it.", "To Wintergreen then. Wintergreen!"]);
    after.turns[2].id = "another".to_owned();
    let out = sealed(&after, &decisions);
    assert_eq!(out.turns()[2].content().unwrap().text(), "To ███ then. ███!");
}

#[test]
fn a_secret_that_is_covered_in_one_place_is_to_be_decided_in_the_others() {
    let draft = draft(&[&format!("Take {} now", github_token()), &format!("or {} then", github_token())]);
    let mut decisions = Decisions::default();
    assert_eq!(scanned(&draft, &decisions).undecided(), 2);
    decisions.cover_passage(&key(), &draft, 1, Field::Text, (5, 5 + github_token().len())).unwrap();
    let found = scanned(&draft, &decisions);
    assert_eq!(found.findings.iter().map(|f| f.decision).collect::<Vec<_>>(), [Some(Decision::Cover), None]);
}

#[test]
fn a_passage_is_of_whole_characters_and_not_of_white_space() {
    let family = "👨\u{200d}👩\u{200d}👧";
    let text = format!("a {family} b e\u{301}x  ");
    let draft = draft(&[&text]);
    let mut decisions = Decisions::default();
    // Within the family, within the accented letter.
    decisions.cover_passage(&key(), &draft, 1, Field::Text, (6, 8)).unwrap();
    let accent = text.find('\u{301}').unwrap();
    decisions.cover_passage(&key(), &draft, 1, Field::Text, (accent, accent + 2)).unwrap();
    assert_eq!(sealed(&draft, &decisions).turns()[0].content().unwrap().text(), "a ███ b ███x  ");
    let mut cover = |field, span| decisions.cover_passage(&key(), &draft, 1, field, span);
    assert!(matches!(cover(Field::Text, (text.len() - 2, text.len())), Err(Error::EmptyWord)));
    assert!(matches!(cover(Field::Text, (900, 901)), Err(Error::EmptyWord)));
    assert!(matches!(cover(Field::Title, (0, 1)), Err(Error::NoSuchPassage)));
    assert!(matches!(cover(Field::StepSummary(0), (0, 1)), Err(Error::NoSuchPassage)));
}

#[test]
fn the_author_may_say_otherwise_what_a_tool_was_called_for() {
    let mut draft = draft(&["one", "two"]);
    draft.turns[1].steps = vec![step("Bash", "ssh dana@wintergreen.example"), step("Bash", "ls")];
    let mut decisions = Decisions::default();
    assert!(!decisions.set_summary(&key(), &draft, "turn-2", 2, Some("no such step".to_owned())));
    assert!(decisions.set_summary(&key(), &draft, "turn-2", 0, Some("Log in".to_owned())));
    assert!(decisions.has_summary("turn-2", 0) && !decisions.has_summary("turn-2", 1));
    let summaries = |draft: &Draft, decisions: &Decisions| -> Vec<String> {
        let sealed = sealed(draft, decisions);
        let steps = sealed.turns().iter().filter_map(|t| t.content()).flat_map(|c| c.steps().to_vec());
        steps.map(|s| s.summary).collect()
    };
    assert_eq!(summaries(&draft, &decisions), ["Log in", "ls"]);
    // What is written is looked at like everything else.
    let mut leaky = decisions.clone();
    leaky.set_summary(&key(), &draft, "turn-2", 1, Some(format!("use {}", github_token())));
    assert_eq!(scanned(&draft, &leaky).undecided(), 1);
    assert!(matches!(leaky.cover_own_texts(&draft, &rules(), &key()), Err(Error::InOwnText { .. })));
    let found = scan(&draft, &rules(), &leaky, &key()).unwrap().findings.remove(0);
    leaky.decide(&found, Decision::Cover, None).unwrap();
    leaky.cover_own_texts(&draft, &rules(), &key()).unwrap();
    assert!(!serde_json::to_string(&leaky).unwrap().contains(&github_token()));
    assert_eq!(summaries(&draft, &leaky), ["Log in", "use ███"]);
    // A turn cut into messages: the same call stands in another.
    let mut cut = draft.clone();
    cut.turns[1].id = "another".to_owned();
    assert_eq!(summaries(&cut, &decisions), ["Log in", "ls"]);
    assert!(decisions.set_summary(&key(), &draft, "turn-2", 0, None));
    assert_eq!(decisions, Decisions::default());
}

#[test]
fn home_folders_show_their_tilde_and_say_that_it_is_theirs() {
    let text = "see /home/dana/notes.txt there";
    let draft = draft(&[text]);
    let engine = onrecord_redact::Engine::builder().build().unwrap();
    let mut decisions = Decisions::default();
    decisions.set_home(Some(HomeStyle::Tilde));
    let seen = &mut Seen::default();
    let look = look(&draft, &engine, &decisions, &key(), seen, |_| true).unwrap();
    let shown = text_of(&look, 1);
    assert_eq!(shown.text, "see ~/notes.txt there");
    assert_eq!(marked(shown, text), [(Marked::Covered, "~", "/home/dana")]);
    let of = (&draft, &engine, &decisions, &key());
    assert_eq!(causes(of, seen, (Some(1), Field::Text), (5, 6)).unwrap(), [Cause::Home]);
}

#[test]
fn words_and_their_other_forms_say_why_they_are_covered() {
    let draft = draft(&["Wintergreen", "V2ludGVyZ3JlZW4= is it too"]);
    let mut decisions = Decisions::default();
    let word = decisions.cover_word(&key(), "Wintergreen").unwrap();
    assert_eq!(why(&draft, &decisions, 1, (0, 11)), [Cause::Word(word)]);
    assert_eq!(why(&draft, &decisions, 2, (0, 16)), [Cause::Word(word)]);
}

#[test]
fn what_was_seen_is_not_looked_for_again_unless_it_changed() {
    let text = format!("Take {}", github_token());
    let mut draft = draft(&[&text, "nothing"]);
    let (seen, engine) = (&mut Seen::default(), rules());
    let mut decisions = Decisions::default();
    for _ in 0..2 {
        let look = look(&draft, &engine, &decisions, &key(), seen, |_| false).unwrap();
        assert_eq!(look.scan, scanned(&draft, &decisions));
        decisions.withhold("turn-1");
    }
    draft.turns[1].text = text;
    let look = look(&draft, &engine, &decisions, &key(), seen, |turn| turn == 2).unwrap();
    assert_eq!(look.scan, scanned(&draft, &decisions));
    assert_eq!(look.texts.iter().map(|t| t.turn).collect::<Vec<_>>(), [None, None, Some(2)]);
}

#[test]
fn fields_are_read_as_they_are_written() {
    let all = [
        Field::Title,
        Field::Description,
        Field::Text,
        Field::StepTool(3),
        Field::StepSummary(0),
        Field::Reasoning(12),
    ];
    for field in all {
        assert_eq!(field.to_string().parse(), Ok(field));
    }
    for wrong in ["", "steps[].tool", "steps[-1].tool", "steps[1]", "Title"] {
        assert!(wrong.parse::<Field>().is_err(), "{wrong}");
    }
}

proptest! {
    /// Whatever is covered, places in the shown text lead back to the same characters.
    #[test]
    fn places_lead_back(pieces in prop::collection::vec("[a-zäéא🧭 ]{0,6}|Wintergreen|Ada", 0..12)) {
        let text = pieces.concat();
        let draft = draft(&[&text]);
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), "Wintergreen").unwrap();
        decisions.cover_word(&key(), "Ada").unwrap();
        let look = looked(&draft, &decisions);
        let shown = text_of(&look, 1);
        for (at, c) in shown.text.char_indices() {
            let covered = shown.marks.iter().find(|m| m.start <= at && at < m.end);
            match covered {
                Some(mark) => prop_assert_eq!(shown.span_before(at, at + c.len_utf8()), (mark.from, mark.to)),
                None => prop_assert!(text[shown.before(at)..].starts_with(c)),
            }
        }
        prop_assert_eq!(shown.before(shown.text.len()), text.len());
    }
}
