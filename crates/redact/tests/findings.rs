//! What is found, where, and what is not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use common::{cover_all, draft, github_token, key, other_token, private_key, rules, scanned, step};
use onrecord_redact::{Decision, Decisions, Error, Field, Tier, scan};

fn rules_in(text: &str) -> Vec<String> {
    scanned(&draft(&[text]), &Decisions::default()).findings.into_iter().map(|f| f.rule.to_string()).collect()
}

#[test]
fn a_finding_tells_its_place_and_a_hint_but_never_the_value() {
    let token = github_token();
    let text = format!("é my token is {token}, keep it");
    let findings = scanned(&draft(&["hello", &text]), &Decisions::default()).findings;
    let [finding] = findings.as_slice() else { panic!("{}", findings.len()) };
    assert_eq!(&text[finding.start..finding.end], token);
    assert_eq!((finding.id, finding.turn, finding.field), (1, Some(2), Field::Text));
    assert_eq!((finding.tier, finding.blocking, finding.decision), (Tier::B, true, None));
    assert_eq!(finding.preview, "ghp_…");
    let json = serde_json::to_value(finding).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected =
        vec!["id", "rule", "name", "tier", "blocking", "turn", "field", "start", "end", "preview", "decision"];
    expected.sort_unstable();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    assert_eq!(json["tier"], "B");
    assert_eq!(json["field"], "text");
    assert!(json["decision"].is_null());
    for shown in [json.to_string(), format!("{finding:?}")] {
        assert!(!shown.contains(&token[4..10]), "the value shows");
    }
}

#[test]
fn findings_stand_in_reading_order_over_all_fields() {
    let token = github_token();
    let mut draft = draft(&[&token, &token]);
    draft.title = Some(format!("about {token}"));
    draft.description = Some(token.clone());
    draft.turns[1].steps.push(step(&token, "x"));
    draft.turns[1].steps.push(step("Bash", &format!("echo {token}")));
    let findings = scanned(&draft, &Decisions::default()).findings;
    let places: Vec<(u32, Option<usize>, String)> =
        findings.iter().map(|f| (f.id, f.turn, f.field.to_string())).collect();
    let expected = [
        (1, None, "title"),
        (2, None, "description"),
        (3, Some(1), "text"),
        (4, Some(2), "text"),
        (5, Some(2), "steps[0].tool"),
        (6, Some(2), "steps[1].summary"),
    ];
    let expected: Vec<_> = expected.into_iter().map(|(id, turn, field)| (id, turn, field.to_owned())).collect();
    assert_eq!(places, expected);
    assert!(findings.iter().all(|f| f.fingerprint == findings[0].fingerprint), "one value, one fingerprint");
}

#[test]
fn a_token_is_found_whatever_follows_it() {
    let alnum = "a1Bc".repeat(12);
    let hex = "0a9f".repeat(20);
    let url = "x7_Q".repeat(30);
    let upper = "Q7XA".repeat(20);
    let tokens = [
        ["gh", "p_", &alnum[..36]].concat(),
        ["github", "_pat_", &alnum[..22], "_", &alnum[..44]].concat(),
        ["gl", "pat-", &alnum[..20]].concat(),
        ["sk-", "ant-api03-", &url[..93]].concat(),
        ["sk-", "ant-oat01-", &url[..95]].concat(),
        ["sk-", "proj-", &url[..80]].concat(),
        ["sk-", &alnum[..20], "T3Blbk", "FJ", &alnum[..20]].concat(),
        ["AK", "IA", &upper[..16]].concat(),
        ["AI", "za", &url[..35]].concat(),
        ["ya", "29.", &url[..100]].concat(),
        ["xo", "xb-123456789012-1234567890123-", &alnum[..24]].concat(),
        ["sk", "_live_", &alnum[..24]].concat(),
        ["SG", ".", &url[..22], ".", &url[..43]].concat(),
        ["npm", "_", &alnum[..36]].concat(),
        ["py", "pi-AgEIcHlwaS5vcmc", &url[..80]].concat(),
        ["dop", "_v1_", &hex[..64]].concat(),
        ["hf", "_", &alnum[..34]].concat(),
        ["eyJ", &alnum[..30], ".eyJ", &alnum[..40], ".", &url[..43]].concat(),
        ["dapi", &hex[..32]].concat(),
        ["1234567890:AA", &url[..33]].concat(),
    ];
    let following = [
        ",", ".", ")", "]", "}", ">", "&", "|", ":", ";", "\"", "'", "`", "\\", "\n", "\t", " ", "**", "</b>", "?",
        "!", "#", "@", "/x", "%20", "…", "。", "\u{200b}", "\\n",
    ];
    assert_eq!((tokens.len(), following.len()), (20, 29));
    let (rules, key, decisions) = (rules(), key(), Decisions::default());
    let mut failures = Vec::new();
    for (kind, token) in tokens.iter().enumerate() {
        for next in following {
            let text = format!("it is {token}{next}");
            let findings = scan(&draft(&[&text]), &rules, &decisions, &key).unwrap().findings;
            if !findings.iter().any(|f| f.start <= 6 && f.end >= 6 + token.len()) {
                failures.push(format!("token {kind} before {next:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
fn known_traps_are_no_findings() {
    let traps = [
        "GHSA-jfh8-c2jp-5v3q, also ghsa-jfh8-c2jp-5v3q",
        "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3lau462otfam5",
        "did:plc:ewvi7nxzyoun6zhxrhs64oiz@pds.example.org",
        "https://did:plc:ewvi7nxzyoun6zhxrhs64oiz@pds.example.org/",
        "let key = PrivateKey::from_slice(&bytes)?;",
        "\"cid\":\"bafyreihffx5a2e7k5uwrmmgofbvzujc5cmw5h4espouwuxt3liqoflx3ee\"",
        "commit 1920157c366a195c6a46d4ee19206a19e5cee4b2",
        "\"integrity\": \"sha512-Q7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7==\"",
        "toolu_01A09q90qw90lq917835lq9 and call_abcDEF1234567890abcdef12 and msg_01XFDUDYJgAACzvnptvVoYEL",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGd0dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRl dana@host",
        "\"password\": \"Enter your password\"",
        "[███████████░░░░] 73%",
        "████",
        "use the full-text-only-mode flag",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
        "http://localhost:8080/@handle and user@example.org:22",
        "git clone git@github.com:acme/repo.git",
        "task-0123456789abcdefghijklmnopqrstuvwxyzABCD",
        "/home/runner/work and /Users/Shared/x",
    ];
    for trap in traps {
        assert_eq!(rules_in(trap), Vec::<String>::new(), "{trap}");
    }
}

#[test]
fn a_comment_in_the_text_changes_nothing() {
    let token = github_token();
    for comment in ["# gitleaks:allow", "// pragma: allowlist secret", "<!-- nosecret -->", "onrecord:allow"] {
        assert_eq!(rules_in(&format!("{token} {comment}")), ["github-token"], "{comment}");
    }
}

#[test]
fn a_token_after_an_escape_or_a_colour_code_is_found() {
    let token = ["sk-", "proj-", &"x7_Q".repeat(20)].concat();
    for before in ["\\n", "\\t", "%20", "\u{1b}[31m", "\u{1b}[0;1m", "密钥", "x=", "(", "\"", "`"] {
        assert_eq!(rules_in(&format!("{before}{token}")), ["openai-key"], "{before:?}");
    }
    assert!(rules_in(&format!("ri{token}")).is_empty());
}

#[test]
fn a_tail_beyond_the_usual_length_belongs_to_the_finding() {
    let long = format!("{}tail_and-more", ["AK", "IA", &"Q7XA".repeat(4)].concat());
    let findings = scanned(&draft(&[&format!("{long}. Next")]), &Decisions::default()).findings;
    assert_eq!((findings[0].start, findings[0].end), (0, long.len()));
}

#[test]
fn a_key_block_cut_short_is_found_with_all_that_is_left_of_it() {
    let block = private_key();
    let cut = &block[..block.find("c2hv").unwrap()];
    let findings = scanned(&draft(&[&format!("$ head -3\n{cut}\nDone, exit code 0.")]), &Decisions::default()).findings;
    let [finding] = findings.as_slice() else { panic!("{}", findings.len()) };
    assert_eq!(finding.rule, "private-key");
    assert_eq!(finding.start, 10);
    assert_eq!(finding.end, 10 + cut.trim_end().len());
}

#[test]
fn a_private_key_may_be_covered_or_withheld_but_never_allowed() {
    let draft = draft(&[&private_key()]);
    let mut decisions = Decisions::default();
    let finding = scanned(&draft, &decisions).findings.remove(0);
    assert!(!finding.allowable);
    let refused = decisions.decide(&finding, Decision::Allow, Some("it is a test key"));
    assert!(matches!(refused, Err(Error::NotAllowable { .. })));
    decisions.decide(&finding, Decision::Cover, None).unwrap();
    assert_eq!(scanned(&draft, &decisions).undecided(), 0);
}

#[test]
fn allowing_needs_a_reason() {
    let draft = draft(&[&github_token()]);
    let mut decisions = Decisions::default();
    let finding = scanned(&draft, &decisions).findings.remove(0);
    assert!(matches!(decisions.decide(&finding, Decision::Allow, Some("  ")), Err(Error::NoReason)));
    assert!(matches!(decisions.decide(&finding, Decision::Allow, None), Err(Error::NoReason)));
    decisions.decide(&finding, Decision::Allow, Some("revoked yesterday")).unwrap();
    assert_eq!(scanned(&draft, &decisions).findings[0].decision, Some(Decision::Allow));
    assert_eq!(decisions.reason(&finding.rule, &finding.fingerprint), Some("revoked yesterday"));
}

#[test]
fn one_decision_settles_all_findings_of_a_value_and_no_other() {
    let (one, other) = (github_token(), other_token());
    let draft = draft(&[&one, &format!("{one} {other}")]);
    let mut decisions = Decisions::default();
    let scan = scanned(&draft, &decisions);
    assert_eq!(scan.undecided(), 3);
    decisions.decide(&scan.findings[0], Decision::Cover, None).unwrap();
    let decided: Vec<_> = scanned(&draft, &decisions).findings.iter().map(|f| f.decision).collect();
    assert_eq!(decided, [Some(Decision::Cover), Some(Decision::Cover), None]);
    assert!(decisions.reopen(&scan.findings[0]));
    assert_eq!(scanned(&draft, &decisions).undecided(), 3);
}

#[test]
fn a_changed_value_is_open_again() {
    let mut decisions = Decisions::default();
    cover_all(&draft(&[&github_token()]), &mut decisions);
    assert_eq!(scanned(&draft(&[&other_token()]), &decisions).undecided(), 1);
}

#[test]
fn withholding_a_finding_holds_back_its_turn() {
    let draft = draft(&["x", &github_token()]);
    let mut decisions = Decisions::default();
    let finding = scanned(&draft, &decisions).findings.remove(0);
    decisions.decide(&finding, Decision::Withhold, None).unwrap();
    assert!(decisions.is_withheld("turn-2"));
    assert_eq!(scanned(&draft, &decisions).findings[0].decision, Some(Decision::Withhold));
    decisions.publish("turn-2");
    assert_eq!(scanned(&draft, &decisions).findings[0].decision, None);
}

#[test]
fn a_title_cannot_be_withheld() {
    let mut draft = draft(&[]);
    draft.title = Some(github_token());
    let finding = scanned(&draft, &Decisions::default()).findings.remove(0);
    let refused = Decisions::default().decide(&finding, Decision::Withhold, None);
    assert!(matches!(refused, Err(Error::NotInTurn(Field::Title))));
}

#[test]
fn a_finding_within_a_covered_word_is_covered() {
    let token = github_token();
    let draft = draft(&[&format!("log in as dana:{token} please"), &token]);
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), &format!("dana:{token}")).unwrap();
    let decided: Vec<_> = scanned(&draft, &decisions).findings.iter().map(|f| f.decision).collect();
    assert_eq!(decided, [Some(Decision::Cover), Some(Decision::Cover)], "and then wherever it stands");
}

#[test]
fn home_folders_are_one_decision_for_each_person() {
    let draft = draft(&["cd /home/dana/a and /home/dana/b", "open /Users/lin/x, then /home/dana."]);
    let mut decisions = Decisions::default();
    let scan = scanned(&draft, &decisions);
    assert_eq!(scan.findings.iter().map(|f| f.tier).collect::<Vec<_>>(), [Tier::F; 4]);
    decisions.decide(&scan.findings[0], Decision::Allow, Some("it is my public name")).unwrap();
    assert_eq!(scanned(&draft, &decisions).undecided(), 1);
}

#[test]
fn the_authors_own_title_is_scanned_instead_of_the_conversations() {
    let mut draft = draft(&[]);
    draft.title = Some(github_token());
    let mut decisions = Decisions::default();
    decisions.set_title(Some("A quiet title".to_owned()));
    assert!(scanned(&draft, &decisions).findings.is_empty());
    decisions.set_title(Some(other_token()));
    assert_eq!(scanned(&draft, &decisions).findings.len(), 1);
}

#[test]
fn words_that_cannot_be_covered_are_refused() {
    let mut decisions = Decisions::default();
    assert!(matches!(decisions.cover_word(&key(), " \n"), Err(Error::EmptyWord)));
    assert!(matches!(decisions.cover_word(&key(), "a███"), Err(Error::BarInWord)));
    assert_eq!(decisions, Decisions::default());
}

#[test]
fn decisions_are_stored_without_any_value_and_come_back_equal() {
    let token = github_token();
    let draft = draft(&[&token, "Nightingale"]);
    let mut decisions = Decisions::default();
    cover_all(&draft, &mut decisions);
    let id = decisions.cover_word(&key(), "Project Nightingale").unwrap();
    decisions.withhold("turn-2");
    decisions.set_title(Some("A title".to_owned()));
    let stored = serde_json::to_string(&decisions).unwrap();
    for secret in [&token[4..], "Nightingale", "Project", "TmlnaHRpbmdhbGU", "4e696768"] {
        assert!(!stored.contains(secret), "a value is stored");
    }
    let back: Decisions = serde_json::from_str(&stored).unwrap();
    assert_eq!(back, decisions);
    let mut back = back;
    assert_eq!(back.covered_words().collect::<Vec<_>>(), [&id]);
    assert!(back.uncover_word(&key(), "Project Nightingale"));
    assert!(!back.uncover(&id));
}

#[test]
fn decisions_of_an_unknown_version_are_refused() {
    assert!(serde_json::from_str::<Decisions>(r#"{"version":3}"#).is_err());
    assert!(serde_json::from_str::<Decisions>(r#"{"version":1,"future":true}"#).is_err());
}

#[test]
fn fingerprints_depend_on_the_key_and_are_written_as_hex() {
    let other = onrecord_redact::FingerprintKey::from_bytes([8; 32]);
    let print = key().fingerprint(b"value");
    assert_ne!(print, other.fingerprint(b"value"));
    assert_eq!(print.to_string().parse(), Ok(print));
    assert!("abc".parse::<onrecord_redact::Fingerprint>().is_err());
    assert_eq!(format!("{:?}", key()), "FingerprintKey(…)");
}

#[test]
fn text_made_to_slow_the_rules_down_does_not() {
    let started = std::time::Instant::now();
    let hostile = [
        "eyJ".repeat(100_000),
        "-----BEGIN ".repeat(30_000),
        "\"d\":\"".repeat(60_000),
        "://a:".repeat(60_000),
        "cookie: ".repeat(40_000),
        "password=".repeat(40_000),
        "a2cd-".repeat(60_000),
        "machine a login b password ".repeat(12_000),
        "sk-ant-".repeat(40_000),
        ["gh", "p_"].concat().repeat(60_000),
        "-----BEGIN PRIVATE KEY-----".repeat(10_000),
    ];
    for text in &hostile {
        let _ = scanned(&draft(&[text]), &Decisions::default());
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
