//! What must hold for every conversation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::sync::LazyLock;

use common::{everything, key, reopened, step, turn};
use onrecord_redact::{BAR, Decision, Decisions, Draft, Engine, Error, PREFIX_CHARS, Reviewed, scan, seal};
use proptest::prelude::*;

static RULES: LazyLock<Engine> = LazyLock::new(|| Engine::builtin().unwrap());

const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648, written for the tests alone.
fn base64(bytes: &[u8], url: bool) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0_usize, |n, b| n << 8 | usize::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            out.push(if i <= chunk.len() { char::from(DIGITS[n >> (18 - 6 * i) & 63]) } else { '=' });
        }
    }
    if url { out.replace('+', "-").replace('/', "_").replace('=', "") } else { out }
}

fn percent(word: &str) -> String {
    word.bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || b"-._~".contains(&b) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

fn wrapped(word: &str, width: usize, with: &str) -> String {
    let chars: Vec<char> = word.chars().collect();
    chars.chunks(width).map(|c| c.iter().collect::<String>()).collect::<Vec<_>>().join(with)
}

/// The ways in which a word may stand in a text.
#[derive(Debug, Clone)]
enum Way {
    Plain,
    Json,
    Percent,
    Hex(bool),
    Base64 { before: String, after: String, url: bool },
    WrappedBase64(usize),
    Wrapped(usize, &'static str),
    Prefix(usize),
}

impl Way {
    fn write(&self, word: &str) -> String {
        match self {
            Self::Plain => word.to_owned(),
            Self::Json => serde_json::to_string(word).unwrap(),
            Self::Percent => percent(word),
            Self::Hex(upper) => {
                word.bytes().map(|b| if *upper { format!("{b:02X}") } else { format!("{b:02x}") }).collect()
            }
            Self::Base64 { before, after, url } => base64(format!("{before}{word}{after}").as_bytes(), *url),
            Self::WrappedBase64(width) => wrapped(&base64(word.as_bytes(), false), *width, "\n"),
            Self::Wrapped(width, with) => wrapped(word, *width, with),
            Self::Prefix(more) => word.chars().take(PREFIX_CHARS + more).collect(),
        }
    }
}

fn ways() -> impl Strategy<Value = Way> {
    let around = "[a-z:=@ ]{0,4}";
    prop_oneof![
        Just(Way::Plain),
        Just(Way::Json),
        Just(Way::Percent),
        any::<bool>().prop_map(Way::Hex),
        (around, around, any::<bool>()).prop_map(|(before, after, url)| Way::Base64 { before, after, url }),
        (4..20_usize).prop_map(Way::WrappedBase64),
        (3..20_usize, prop_oneof![Just("\n"), Just("\r\n"), Just("\n    "), Just("  \n")])
            .prop_map(|(width, with)| Way::Wrapped(width, with)),
        (0..6_usize).prop_map(Way::Prefix),
    ]
}

/// Words as authors cover them, and values as rules find them.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9_-]{8,40}",
        "[A-Z][a-z]{4,8} [A-Z][a-z]{4,8}( [a-z]{3,6})?",
        "[a-zA-Z0-9/+\"\\\\&=%$!]{8,24}".prop_filter("not blank", |w| w.trim() == w),
        "[a-zé漢🦀ß]{6,12}",
    ]
}

fn fillers() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ,.\n]{0,30}", "\\PC{0,12}", Just("█".to_owned()), Just(String::new()), "[A-Za-z0-9+/=]{0,30}"]
}

/// A conversation with `word` in some of its places, and the places as they were written.
fn conversations(word: String) -> impl Strategy<Value = (Draft, Vec<String>)> {
    let place = (fillers(), proptest::option::of(ways()), fillers());
    proptest::collection::vec(place, 6).prop_map(move |places| {
        let mut written = Vec::new();
        let mut texts: Vec<String> = places
            .iter()
            .map(|(before, way, after)| {
                let form = way.as_ref().map(|w| w.write(&word)).unwrap_or_default();
                written.extend(way.as_ref().map(|_| form.clone()));
                // A delimiter keeps the filler from changing the form itself.
                format!("{before} ({form}) {after}")
            })
            .collect();
        let mut conversation = Draft {
            title: texts.pop(),
            description: texts.pop(),
            created_at: "2026-01-02T03:04:05Z".parse().unwrap(),
            turns: vec![turn(1, &texts[0]), turn(2, &texts[1])],
        };
        conversation.turns[1].steps.push(step(&texts[2], &texts[3]));
        (conversation, written)
    })
}

/// Seals with all findings covered.
fn seal_covered(draft: &Draft, decisions: &mut Decisions) -> Result<Reviewed, Error> {
    for finding in scan(draft, &RULES, decisions, &key())?.findings {
        decisions.decide(&finding, Decision::Cover, None)?;
    }
    seal(draft, &RULES, decisions, &key())
}

/// Bars are exactly three blocks long, but for what stood in the text before.
fn bars_are_three_blocks(before: &str, after: &str) -> bool {
    let runs =
        |text: &str| text.split(|c| c != '█').map(|run| run.chars().count()).filter(|n| *n > 0 && *n != 3).count();
    runs(after) <= runs(before)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // Invariant 4.
    #[test]
    fn no_covered_word_survives_in_any_form((word, (draft, written)) in words().prop_flat_map(|w| (Just(w.clone()), conversations(w)))) {
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), &word).unwrap();
        let reviewed = seal_covered(&draft, &mut decisions).unwrap();
        for text in everything(&reviewed) {
            prop_assert!(!text.contains(&word));
            for form in &written {
                prop_assert!(!text.contains(form.as_str()), "{form:?} survives in {text:?}");
            }
        }
    }

    #[test]
    fn no_value_of_a_finding_survives_in_any_form((token, (mut draft, written)) in "[a-zA-Z]{2}7[a-zA-Z0-9]{33}".prop_map(|t| ["gh", "p_", &t].concat()).prop_flat_map(|w| (Just(w.clone()), conversations(w)))) {
        draft.turns.push(turn(3, &format!("the token: {token}")));
        let mut decisions = Decisions::default();
        let reviewed = seal_covered(&draft, &mut decisions).unwrap();
        for text in everything(&reviewed) {
            prop_assert!(!text.contains(&token));
            for form in &written {
                prop_assert!(!text.contains(form.as_str()), "{form:?} survives in {text:?}");
            }
        }
    }

    #[test]
    fn sealing_what_was_sealed_changes_nothing((word, (draft, _)) in words().prop_flat_map(|w| (Just(w.clone()), conversations(w)))) {
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), &word).unwrap();
        let once = seal_covered(&draft, &mut decisions).unwrap();
        let again = seal(&reopened(&once), &RULES, &decisions, &key()).unwrap();
        prop_assert_eq!(reopened(&again), reopened(&once));
    }

    // Invariant 5.
    #[test]
    fn bars_are_exactly_three_blocks_and_never_touch(text in "[12 █\n]{0,40}", word in "[12]{1,3}") {
        let draft = common::draft(&[&text]);
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), &word).unwrap();
        let reviewed = seal(&draft, &RULES, &decisions, &key()).unwrap();
        let after = everything(&reviewed).concat();
        prop_assert!(bars_are_three_blocks(&text, &after), "{after:?}");
        prop_assert!(!after.contains(&word));
        prop_assert!(!text.contains(&word) || after != text);
    }

    #[test]
    fn a_text_without_findings_passes_byte_for_byte(text in "\\PC{0,60}([a-z █\r\n\t]{0,30})") {
        let draft = common::draft(&[&text]);
        prop_assume!(scan(&draft, &RULES, &Decisions::default(), &key()).unwrap().findings.is_empty());
        let reviewed = seal(&draft, &RULES, &Decisions::default(), &key()).unwrap();
        prop_assert_eq!(reopened(&reviewed), draft);
    }

    #[test]
    fn findings_stand_on_boundaries_and_block_sealing(before in "\\PC{0,20}", after in "\\PC{0,20}", token in "[a-zA-Z]{2}7[a-zA-Z0-9]{33}") {
        let text = format!("{before}{}{after}", ["gh", "p_", &token].concat());
        let draft = common::draft(&[&text]);
        let scan = scan(&draft, &RULES, &Decisions::default(), &key()).unwrap();
        prop_assert!(scan.undecided() > 0);
        for finding in &scan.findings {
            prop_assert!(text.is_char_boundary(finding.start) && text.is_char_boundary(finding.end));
            prop_assert!(finding.start < finding.end);
        }
        let refused = seal(&draft, &RULES, &Decisions::default(), &key());
        let told = refused.map(|_| 0).or_else(|e| if let Error::Undecided { count, .. } = e { Ok(count) } else { Err(e) });
        prop_assert_eq!(told.unwrap(), scan.undecided());
    }

    #[test]
    fn a_withheld_turn_exposes_nothing(secret in "[a-z]{12}", held in 0..3_usize) {
        let mut draft = common::draft(&["one", "two", "three"]);
        draft.turns[held].text = format!("about {secret}");
        draft.turns[held].steps.push(step(&secret, &secret));
        draft.turns[held].model = Some(secret.clone());
        let mut decisions = Decisions::default();
        decisions.withhold(&draft.turns[held].id);
        let reviewed = seal(&draft, &RULES, &decisions, &key()).unwrap();
        prop_assert!(reviewed.turns()[held].content().is_none());
        let shown = format!("{reviewed:?}");
        prop_assert!(!shown.contains(&secret));
        prop_assert_eq!(reviewed.turns().len(), 3);
    }

    #[test]
    fn the_gate_refuses_a_covered_word_wherever_it_stands(word in "[A-Za-z0-9]{9,30}", way in ways(), before in "[a-z ]{0,20}") {
        let draft = common::draft(&["x"]);
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), &word).unwrap();
        let reviewed = seal(&draft, &RULES, &decisions, &key()).unwrap();
        let body = format!("{{\"text\":\"{before} ({}) \"}}", way.write(&word));
        prop_assert!(reviewed.gate(body.as_bytes()).is_err());
        let clean = format!("{{\"text\":\"{before} {BAR}\"}}");
        prop_assume!(!before.contains(&word));
        prop_assert!(reviewed.gate(clean.as_bytes()).is_ok());
    }
}
