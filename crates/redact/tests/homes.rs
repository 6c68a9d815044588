//! Home folders: decided on once, for all of them.
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

use common::{draft, everything, github_token, key, reopened, step, texts};
use onrecord_redact::{Decision, Decisions, Draft, Engine, HomeStyle, Person, Reviewed, scan, seal};
use proptest::prelude::*;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let person = Person { homes: vec!["/srv/people/dvik".to_owned()], ..Person::default() };
    Engine::builder().person(person).build().unwrap()
});

fn decided(home: HomeStyle) -> Decisions {
    let mut decisions = Decisions::default();
    decisions.set_home(Some(home));
    decisions
}

fn sealed(draft: &Draft, decisions: &Decisions) -> Reviewed {
    seal(draft, &ENGINE, decisions, &key()).unwrap()
}

fn written(text: &str, decisions: &Decisions) -> String {
    texts(&sealed(&draft(&[text]), decisions))[0].to_owned()
}

#[test]
fn one_decision_writes_a_tilde_for_every_home_folder() {
    let mut draft = draft(&["cd /home/dana/x && ls /Users/lin", "see `/srv/people/dvik/notes`"]);
    draft.title = Some("In /home/dana/x".to_owned());
    draft.description = Some("/home/dana".to_owned());
    draft.turns[1].steps.push(step("Read", "/home/dana/x/y.rs"));
    let reviewed = sealed(&draft, &decided(HomeStyle::Tilde));
    assert_eq!(texts(&reviewed), ["cd ~/x && ls ~", "see `~/notes`"]);
    assert_eq!((reviewed.title(), reviewed.description()), (Some("In ~/x"), Some("~")));
    assert_eq!(reviewed.turns()[1].content().unwrap().steps()[0].summary, "~/x/y.rs");
}

#[test]
fn one_decision_puts_a_bar_over_every_home_folder() {
    assert_eq!(written("cd /home/dana/x && ls /srv/people/dvik", &decided(HomeStyle::Bar)), "cd ███/x && ls ███");
}

#[test]
fn a_home_folder_blocks_until_it_is_decided() {
    let draft = draft(&["cd /home/dana/x"]);
    assert_eq!(scan(&draft, &ENGINE, &Decisions::default(), &key()).unwrap().undecided(), 1);
    for home in [HomeStyle::Tilde, HomeStyle::Bar] {
        let scan = scan(&draft, &ENGINE, &decided(home), &key()).unwrap();
        assert_eq!(scan.findings[0].decision, Some(Decision::Cover));
    }
}

#[test]
fn a_decision_of_its_own_goes_first() {
    let text = "cp /home/dana/x /home/kim/x";
    let mut decisions = decided(HomeStyle::Tilde);
    let findings = scan(&draft(&[text]), &ENGINE, &decisions, &key()).unwrap().findings;
    decisions.decide(&findings[0], Decision::Allow, Some("it is a bot's")).unwrap();
    assert_eq!(written(text, &decisions), "cp /home/dana/x ~/x");
}

#[test]
fn other_findings_stay_undecided() {
    let text = format!("/home/dana/x {}", github_token());
    let scan = scan(&draft(&[&text]), &ENGINE, &decided(HomeStyle::Tilde), &key()).unwrap();
    assert_eq!(scan.undecided(), 1);
}

#[test]
fn a_home_folder_in_another_form_gets_a_bar_or_a_tilde_but_never_stands() {
    let text =
        "/home/dana, https://example.org/home/dana/x, %2Fhome%2Fdana%2Fx, L2hvbWUvZGFuYQ==, 2f686f6d652f64616e61";
    let after = written(text, &decided(HomeStyle::Tilde));
    assert_eq!(after, "~, https://example.org███/x, ~%2Fx, ███, ███");
}

#[test]
fn where_more_is_covered_the_bar_wins() {
    let mut decisions = decided(HomeStyle::Tilde);
    decisions.cover_word(&key(), "dana/northwind").unwrap();
    assert_eq!(written("cd /home/dana/northwind/x; ls /home/dana/y", &decisions), "cd ███/x; ls ~/y");
}

#[test]
fn a_bar_that_stood_there_before_is_no_tilde() {
    assert_eq!(written("█/home/dana/x", &decided(HomeStyle::Tilde)), "███/x");
}

#[test]
fn a_tilde_never_makes_a_covered_word() {
    let mut decisions = decided(HomeStyle::Tilde);
    decisions.cover_word(&key(), "~/northwind").unwrap();
    let reviewed = sealed(&draft(&["cd /home/dana/northwind", "ls /home/dana/y"]), &decisions);
    assert_eq!(texts(&reviewed), ["cd ███/northwind", "ls ~/y"]);
    assert!(everything(&reviewed).iter().all(|text| reviewed.gate(text.as_bytes()).is_ok()));
}

#[test]
fn the_gate_lets_a_tilde_pass_and_refuses_the_folder() {
    let reviewed = sealed(&draft(&["cd /home/dana/x"]), &decided(HomeStyle::Tilde));
    assert!(reviewed.gate(br#"{"text":"cd ~/x"}"#).is_ok());
    for body in [r#"{"text":"cd /home/dana/x"}"#, r#"{"text":"%2Fhome%2Fdana"}"#, r#"{"text":"\/home\/dana"}"#] {
        assert!(reviewed.gate(body.as_bytes()).is_err(), "{body}");
    }
}

#[test]
fn a_shortened_summary_leaves_no_beginning_of_a_home_folder() {
    let mut draft = draft(&["cd /home/dana/x", "ok"]);
    draft.turns[1].steps.push(step("Bash", "ls /home/dana/x /home/da…"));
    let reviewed = sealed(&draft, &decided(HomeStyle::Tilde));
    assert_eq!(reviewed.turns()[1].content().unwrap().steps()[0].summary, "ls ~/x ~…");
}

#[test]
fn a_home_folder_in_the_models_name_gets_a_bar() {
    let mut draft = draft(&["/home/dana/x", "ok"]);
    draft.turns[1].model = Some("local//home/dana/model".to_owned());
    let reviewed = sealed(&draft, &decided(HomeStyle::Tilde));
    assert_eq!(reviewed.turns()[1].content().unwrap().model(), Some("local/███/model"));
}

#[test]
fn the_decision_is_kept_and_older_decisions_read_as_before() {
    let decisions = decided(HomeStyle::Tilde);
    let stored = serde_json::to_string(&decisions).unwrap();
    assert_eq!(stored, r#"{"version":2,"home":"tilde"}"#);
    assert_eq!(serde_json::from_str::<Decisions>(&stored).unwrap(), decisions);
    assert_eq!(serde_json::from_str::<Decisions>(r#"{"version":1}"#).unwrap().home(), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // Invariant 4.
    #[test]
    fn no_home_folder_survives_and_its_length_does_not_show(
        places in proptest::collection::vec(("[ a-z\"'`(=:,\n]{0,8}", "(/[a-z.]{1,6})?[ ,)\n]"), 1..6),
        name in "[a-z]{5}q[a-z0-9]{0,6}", other in "[a-z]{2}q[0-9]{3}", tilde in any::<bool>(),
    ) {
        let style = if tilde { HomeStyle::Tilde } else { HomeStyle::Bar };
        let text = |name: &str| places.iter().map(|(a, b)| format!("{a} /home/{name}{b}")).collect::<String>();
        let after = written(&text(&name), &decided(style));
        prop_assert!(!after.contains(&name), "{:?}", after);
        prop_assert_eq!(&after, &written(&text(&other), &decided(style)));
        let again = sealed(&reopened(&sealed(&draft(&[&text(&name)]), &decided(style))), &decided(style));
        prop_assert_eq!(texts(&again)[0], after.as_str());
    }
}
