//! The person's own secrets: never allowed, never shown, and what the last gate makes of values in odd places.
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
    draft, key, scanned, sealed,
    story::{ALNUM, base64, github, hides, made},
};
use onrecord_redact::{Decision, Decisions, Engine, Error, OwnSecret, Tier, scan, seal};

fn engine(value: &str) -> Engine {
    Engine::builder().own_secrets([OwnSecret::new("~/.netrc", "password", value)]).build().unwrap()
}

#[test]
fn an_own_secret_is_found_in_its_forms() {
    let own = "Blue7horses-run";
    let engine = engine(own);
    let hex: String = own.bytes().map(|b| format!("{b:02x}")).collect();
    for form in [own.to_owned(), base64(format!("dana:{own}").as_bytes()), hex, format!("{}\n{}", &own[..6], &own[6..])]
    {
        let found =
            scan(&draft(&[&format!("it says ({form}) there")]), &engine, &Decisions::default(), &key()).unwrap();
        assert!(found.findings.iter().any(|f| f.tier == Tier::A && f.start <= 9 && 9 + form.len() <= f.end), "{form}");
    }
}

#[test]
fn an_own_secret_that_a_rule_knows_too_is_never_allowable() {
    let (token, _) = github(1);
    let found = scan(&draft(&[&format!("use {token}")]), &engine(&token), &Decisions::default(), &key()).unwrap();
    let [finding] = found.findings.as_slice() else { panic!("{} findings", found.findings.len()) };
    assert_eq!((finding.tier, finding.blocking, finding.allowable), (Tier::A, true, false));
    let refused = Decisions::default().decide(finding, Decision::Allow, Some("it is old"));
    assert!(matches!(refused, Err(Error::NotAllowable { .. })));
}

/// What an edited file of decisions says.
fn allowed_by_hand(rule: &str, finding: &onrecord_redact::Finding) -> Decisions {
    let stored = serde_json::json!({"version": 2, "findings": [{
        "rule": rule, "fingerprint": finding.fingerprint.to_string(), "decision": "allow", "reason": "so there",
        "definition": "0".repeat(16), "places": "0".repeat(16),
    }]});
    serde_json::from_value(stored).unwrap()
}

#[test]
fn a_stored_decision_to_allow_an_own_secret_decides_nothing() {
    let own = "Blue7horses-run";
    let (engine, said) = (engine(own), draft(&[&format!("it says {own} there")]));
    let finding = scan(&said, &engine, &Decisions::default(), &key()).unwrap().findings.remove(0);
    let decisions = allowed_by_hand(&finding.rule, &finding);
    assert_eq!(scan(&said, &engine, &decisions, &key()).unwrap().undecided(), 1);
    assert!(matches!(seal(&said, &engine, &decisions, &key()), Err(Error::Undecided { .. })));
    let reviewed = seal(&draft(&["nothing"]), &engine, &decisions, &key()).unwrap();
    assert_eq!(reviewed.gate(own.as_bytes()).unwrap_err().rule, "own-secret");
}

#[test]
fn nothing_shows_an_own_secret() {
    let own = made(2, ALNUM, 24);
    let secret = OwnSecret::new("~/.netrc", "password", own.clone());
    hides("Debug", &format!("{secret:?}"), &[&own]);
    let engine = Engine::builder().own_secrets([secret]).build().unwrap();
    let found = scan(&draft(&[&format!("it is {own}.")]), &engine, &Decisions::default(), &key()).unwrap();
    assert_eq!(found.undecided(), 1);
    hides("Debug of the engine", &format!("{engine:?}"), &[&own]);
    hides("Debug of the findings", &format!("{found:?}"), &[&own]);
    hides("the hash of the rules", engine.rules_hash(), &[&own]);
    assert_eq!(engine.rules_hash(), Engine::builtin().unwrap().rules_hash(), "nor that there is one");
}

#[test]
fn the_gate_excuses_no_secret_for_looking_like_the_protocols_own_words() {
    // As long as a record's key, and of its letters.
    let password = made(3, "234567abcdefghijklmnopqrstuvwxyz", 13);
    let said = draft(&[&format!("postgres://app:{password}@db.corp.net/x")]);
    let mut decisions = Decisions::default();
    common::cover_all(&said, &mut decisions);
    let reviewed = sealed(&said, &decisions);
    let body = format!("{{\"text\":\"{password}\"}}");
    assert_eq!(reviewed.gate(body.as_bytes()).unwrap_err().rule, "url-password");
}

#[test]
fn the_gate_passes_an_allowed_value_that_json_escapes() {
    let said = draft(&[
        "mysql --password='Zk7\\Qp2vXw\\9Ty' x, and \"postgres://app:Zk7\tQp\"; Cookie: sid=Zk7Qp2vXw9; a=\"b7c8d9e0f1g2\"",
    ]);
    let mut decisions = Decisions::default();
    let findings = scanned(&said, &decisions).findings;
    assert!(findings.iter().any(|f| said.turns[0].text[f.start..f.end].contains(['\\', '"'])), "one needs escapes");
    for finding in &findings {
        decisions.decide(finding, Decision::Allow, Some("made up")).unwrap();
    }
    let reviewed = sealed(&said, &decisions);
    assert_eq!(reviewed.gate(&common::story::body(&said.turns[0].text)), Ok(()));
}
