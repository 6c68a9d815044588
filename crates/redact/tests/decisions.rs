//! What the author decides: how long it holds, and what is kept of it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use common::{cover_all, draft, github_token, key, rules, scanned, sealed, step, try_sealed};
use onrecord_redact::{Decision, Decisions, Draft, Engine, Error, Field, FingerprintKey, RulesFile, Scan, scan, seal};
use serde_json::Value;

fn allow_all(draft: &Draft, engine: &Engine) -> Decisions {
    let mut decisions = Decisions::default();
    for finding in &scan(draft, engine, &decisions, &key()).unwrap().findings {
        decisions.decide(finding, Decision::Allow, Some("made up")).unwrap();
    }
    decisions
}

fn with_rule(pattern: &str) -> Engine {
    let text = format!("[[rule]]\nid = 'ticket'\nname = 'Ticket'\npattern = '{pattern}'\n");
    Engine::builder().rules(RulesFile::parse(&text).unwrap()).build().unwrap()
}

fn scan_with(draft: &Draft, engine: &Engine, decisions: &Decisions) -> Scan {
    scan(draft, engine, decisions, &key()).unwrap()
}

#[test]
fn an_allow_holds_while_rule_text_and_value_stay() {
    let text = format!("one {} line\n\nanother paragraph", github_token());
    let decisions = allow_all(&draft(&[&text]), &rules());
    assert_eq!(scanned(&draft(&[&text]), &decisions).undecided(), 0);
    assert!(seal(&draft(&[&text]), &rules(), &decisions, &key()).is_ok());
    // What it is not bound to: other paragraphs, and which turn it is.
    let grown = text.replace("another paragraph", "another one\n\nand more");
    assert_eq!(scanned(&draft(&["new", &grown]), &decisions).undecided(), 0);
}

#[test]
fn an_allow_ends_when_its_rule_changes() {
    let draft = draft(&["see T-1234"]);
    let decisions = allow_all(&draft, &with_rule("T-[0-9]{4}"));
    assert_eq!(scan_with(&draft, &with_rule("T-[0-9]{4}"), &decisions).undecided(), 0);
    assert_eq!(scan_with(&draft, &with_rule("T-[0-9]{4,5}"), &decisions).undecided(), 1);
    assert!(matches!(seal(&draft, &with_rule("T-[0-9]{4,5}"), &decisions, &key()), Err(Error::Undecided { .. })));
}

#[test]
fn a_cover_stays_when_its_rule_changes() {
    let draft = draft(&["see T-1234"]);
    let mut decisions = Decisions::default();
    let finding = scan_with(&draft, &with_rule("T-[0-9]{4}"), &decisions).findings.remove(0);
    decisions.decide(&finding, Decision::Cover, None).unwrap();
    assert_eq!(scan_with(&draft, &with_rule("T-[0-9]{4,5}"), &decisions).undecided(), 0);
}

#[test]
fn an_allow_ends_when_its_paragraph_or_its_value_changes() {
    let token = github_token();
    let decisions = allow_all(&draft(&[&format!("one {token} line\n\nanother")]), &rules());
    for changed in [format!("one {token} line!\n\nanother"), format!("one {token}x line\n\nanother"), token.clone()] {
        assert_eq!(scanned(&draft(&[&changed]), &decisions).undecided(), 1);
    }
}

#[test]
fn an_allow_does_not_hold_for_new_places_of_its_value() {
    let token = github_token();
    let text = format!("one {token} line");
    let decisions = allow_all(&draft(&[&text]), &rules());
    let mut more = draft(&[&text, &format!("again {token}")]);
    more.turns[0].steps.push(step("Bash", &text));
    let open: Vec<_> =
        scanned(&more, &decisions).findings.into_iter().filter(onrecord_redact::Finding::undecided).collect();
    assert_eq!(
        open.iter().map(|f| (f.turn, f.field)).collect::<Vec<_>>(),
        [(Some(1), Field::StepSummary(0)), (Some(2), Field::Text)]
    );
    assert!(matches!(seal(&more, &rules(), &decisions, &key()), Err(Error::Undecided { count: 2, .. })));
    let again = allow_all(&more, &rules());
    assert!(seal(&more, &rules(), &again, &key()).is_ok());
}

#[test]
fn an_allow_that_no_longer_holds_is_no_pass_at_the_gate() {
    let token = github_token();
    let decisions = allow_all(&draft(&[&format!("one {token} line")]), &rules());
    let reviewed = seal(&draft(&["gone"]), &rules(), &decisions, &key()).unwrap();
    assert!(reviewed.gate(format!("{{\"x\":\"{token}\"}}").as_bytes()).is_err());
}

#[test]
fn allows_of_the_first_version_are_open_again_and_covers_stay() {
    let draft = draft(&[&format!("{} and T-1234", github_token())]);
    let engine = with_rule("T-[0-9]{4}");
    let all = scan_with(&draft, &engine, &Decisions::default()).findings;
    let mut decisions = Decisions::default();
    decisions.decide(&all[0], Decision::Cover, None).unwrap();
    decisions.decide(&all[1], Decision::Allow, Some("made up")).unwrap();
    decisions.cover_word(&key(), "and").unwrap();
    decisions.withhold("turn-9");
    let mut stored = serde_json::to_value(&decisions).unwrap();
    assert_eq!(stored["version"], 2);
    assert_eq!(serde_json::from_value::<Decisions>(stored.clone()).unwrap(), decisions);
    stored["version"] = Value::from(1);
    for finding in stored["findings"].as_array_mut().unwrap() {
        finding.as_object_mut().unwrap().retain(|name, _| name != "definition" && name != "places");
    }
    let read: Decisions = serde_json::from_value(stored.clone()).unwrap();
    let after = scan_with(&draft, &engine, &read);
    assert_eq!(after.findings[0].decision, Some(Decision::Cover));
    assert_eq!((after.findings[1].decision, after.undecided()), (None, 1));
    assert!(read.is_withheld("turn-9") && read.covered_words().count() == 1);
    stored["version"] = Value::from(3);
    assert!(serde_json::from_value::<Decisions>(stored.clone()).is_err());
    stored["version"] = Value::from(2);
    stored["findings"][0]["definition"] = Value::from("zz");
    stored["findings"][0]["places"] = Value::from("");
    assert!(serde_json::from_value::<Decisions>(stored).is_err());
}

#[test]
fn what_an_allow_is_bound_to_is_small_and_keyed() {
    let text = format!("one {} line", github_token());
    let stored = serde_json::to_value(allow_all(&draft(&[&text, &text]), &rules())).unwrap();
    assert_eq!(stored["findings"][0]["places"].as_str().unwrap().len(), 16, "one paragraph, eight bytes");
    let other = FingerprintKey::from_bytes([8; 32]);
    let mut decisions = Decisions::default();
    let finding = scan(&draft(&[&text]), &rules(), &decisions, &other).unwrap().findings.remove(0);
    decisions.decide(&finding, Decision::Allow, Some("made up")).unwrap();
    let under_other = serde_json::to_value(decisions).unwrap();
    for field in ["definition", "places", "fingerprint"] {
        assert_ne!(stored["findings"][0][field], under_other["findings"][0][field], "{field}");
    }
}

#[test]
fn a_pattern_covers_each_of_its_matches_everywhere() {
    let mut decisions = Decisions::default();
    let mut draft = draft(&["ticket AC-17, AC-18 and AC-17", "no. AC-18 or QUMtMTc4OTk="]);
    draft.title = Some("On AC-19".to_owned());
    assert_eq!(decisions.cover_pattern(&key(), &draft, "AC-[0-9]+").unwrap(), 3);
    let reviewed = seal(&draft, &rules(), &decisions, &key()).unwrap();
    assert_eq!(reviewed.title(), Some("On ███"));
    assert_eq!(common::texts(&reviewed)[0], "ticket ███, ███ and ███");
    let stored = serde_json::to_string(&decisions).unwrap();
    assert!(!stored.contains("AC-"), "neither the pattern nor what it matched is kept");
    assert_eq!(decisions.cover_pattern(&key(), &draft, "nothing here").unwrap(), 0);
    assert!(matches!(decisions.cover_pattern(&key(), &draft, "a("), Err(Error::Pattern(_))));
    let many: String = (0..1100).map(|n| format!("n{n} ")).collect();
    assert!(matches!(decisions.cover_pattern(&key(), &common::draft(&[&many]), "n[0-9]+"), Err(Error::Pattern(_))));
}

#[test]
fn places_of_covered_words_are_counted_in_every_form() {
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "Halvorsen & Sons").unwrap();
    decisions.cover_word(&key(), "nowhere at all").unwrap();
    let mut draft = draft(&["Halvorsen & Sons, Halvorsen &\nSons", "?q=Halvorsen%20%26%20Sons"]);
    draft.turns[1].steps.push(step("Bash", "echo Halvorsen & Sons"));
    let counts: Vec<_> = decisions.word_places(&key(), &draft).into_iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [4, 0]);
}

#[test]
fn a_title_of_the_authors_is_kept_with_its_bars() {
    let token = github_token();
    let draft = draft(&[&format!("Halvorsen has {token}")]);
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "Halvorsen").unwrap();
    decisions.set_title(Some("About Halvorsen".to_owned()));
    decisions.set_description(Some(format!("It has {token}")));
    let refused = decisions.clone().cover_own_texts(&draft, &rules(), &key()).unwrap_err();
    assert!(matches!(&refused, Error::InOwnText { field: Field::Description, rule, .. } if rule == "github-token"));
    assert!(!refused.to_string().contains(&token));
    let finding = scanned(&draft, &decisions).findings.remove(0);
    decisions.decide(&finding, Decision::Cover, None).unwrap();
    decisions.cover_own_texts(&draft, &rules(), &key()).unwrap();
    assert_eq!((decisions.title(), decisions.description()), (Some("About ███"), Some("It has ███")));
    let before = decisions.clone();
    decisions.cover_own_texts(&draft, &rules(), &key()).unwrap();
    assert_eq!(decisions, before, "covering twice changes nothing");
}

#[test]
fn a_title_may_hold_what_is_allowed_elsewhere_and_is_then_to_be_decided() {
    let draft = draft(&["see T-1234"]);
    let engine = with_rule("T-[0-9]{4}");
    let mut decisions = allow_all(&draft, &engine);
    decisions.set_title(Some("On T-1234".to_owned()));
    decisions.cover_own_texts(&draft, &engine, &key()).unwrap();
    assert_eq!(decisions.title(), Some("On T-1234"));
    assert_eq!(scan_with(&draft, &engine, &decisions).undecided(), 1);
}

#[test]
fn pointers_are_refused_by_turn_everywhere_or_all_and_kept_without_their_names() {
    let mut decisions = Decisions::default();
    let name = "at://dana.example.com/app.bsky.feed.post/3k";
    assert!(decisions.pointers() && !decisions.drops_pointer(&key(), "t1", name));
    decisions.drop_pointer(&key(), Some("t1"), name);
    assert!(decisions.drops_pointer(&key(), "t1", name) && !decisions.drops_pointer(&key(), "t2", name));
    decisions.drop_pointer(&key(), None, name);
    assert!(
        decisions.drops_pointer(&key(), "t2", name) && !decisions.drops_pointer(&key(), "t2", "at://other.example.com")
    );
    let stored = serde_json::to_string(&decisions).unwrap();
    assert!(!stored.contains("dana"), "{stored}");
    assert_eq!(serde_json::from_str::<Decisions>(&stored).unwrap(), decisions);
    assert!(decisions.keep_pointer(&key(), name) && !decisions.keep_pointer(&key(), name));
    assert!(!decisions.drops_pointer(&key(), "t1", name));
    decisions.drop_pointer(&key(), None, name);
    decisions.set_pointers(false);
    assert!(decisions.drops_pointer(&key(), "t1", "at://other.example.com"));
    let stored = serde_json::to_string(&decisions).unwrap();
    assert_eq!(serde_json::from_str::<Decisions>(&stored).unwrap(), decisions);
    decisions.set_pointers(true);
    assert_eq!(decisions, Decisions::default());
}

#[test]
fn reasoning_is_scanned_covered_and_held_back_like_what_was_said() {
    let mut draft = draft(&["Why?", "Because.", "And?", "So."]);
    draft.turns[1].reasoning = vec!["Nothing here.".to_owned(), format!("The key is {}.", github_token())];
    draft.turns[3].reasoning = vec![format!("Still {}.", github_token())];
    let mut decisions = Decisions::default();
    let found: Vec<_> = scanned(&draft, &decisions).findings.iter().map(|f| (f.turn, f.field.to_string())).collect();
    assert_eq!(found, [(Some(2), "reasoning[1]".to_owned()), (Some(4), "reasoning[0]".to_owned())]);
    assert!(try_sealed(&draft, &decisions).is_err());
    decisions.withhold("turn-4");
    cover_all(&draft, &mut decisions);
    let reviewed = sealed(&draft, &decisions);
    let content = reviewed.turns()[1].content().unwrap();
    assert_eq!(content.reasoning(), ["Nothing here.", "The key is ███."]);
    assert!(reviewed.turns()[3].content().is_none());
    // What was in no draft is covered too, once it is known.
    assert_eq!(reviewed.cover(&format!("{} again", github_token())), "███ again");
    assert!(reviewed.gate(github_token().as_bytes()).is_err());
}
