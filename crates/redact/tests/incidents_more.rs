//! What happened to others and must not happen here: secrets that were seen and covered wrongly, and covers put over what
//! was none.
//!
//! One test for each public incident; see `incidents.rs`.
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
    draft, everything, key, reopened, scanned, sealed, step,
    story::{ALNUM, HEX, body, github, hides, made, stopped, told, told_with},
    texts,
};
use onrecord_redact::{BAR, Decisions, Engine, Error, RulesFile, Tier};
use serde_json::{Value, json};

/// paperclip #11037: the mask took the backslash of the quotation mark behind the token with it, so three of four lines with
/// a secret in them were no JSON any more and were dropped by their readers.
#[test]
fn covering_a_token_takes_no_escape_with_it() {
    let (token, token_body) = github(1);
    let mut line = json!({"command": format!("curl -s -H \"Authorization: Bearer {token}\" \"http://x.example/\"")});
    for depth in 0..4 {
        let said = line.to_string();
        let reviewed = told(&draft(&["Show the log.", &said]), &[&token_body]);
        let mut shown: Value = serde_json::from_str(texts(&reviewed)[1]).unwrap();
        for _ in 0..depth {
            shown = serde_json::from_str(shown["line"].as_str().unwrap()).unwrap();
        }
        assert_eq!(shown["command"], "curl -s -H \"Authorization: Bearer ███\" \"http://x.example/\"", "{depth} deep");
        line = json!({"line": said});
    }
}

/// openclaw #113709: the finished document was searched as text, so that masks ran over its quotation marks and brackets.
#[test]
fn what_is_sealed_and_written_as_json_reads_back_as_it_was_sealed() {
    let (token, token_body) = github(2);
    let plain = "echo \"=== deploy token ===\" && echo 'the password: \"' \\";
    let mut draft = draft(&[plain, &format!("TOKEN=\"{token}\"}}]}}, \"next\": \"\\\\\"")]);
    draft.turns[1].steps.push(step("Bash", &format!("printf '{{\"token\":\"{token}\"}}\\n' | jq .")));
    let reviewed = told(&draft, &[&token_body]);
    assert_eq!(texts(&reviewed), [plain, "TOKEN=\"███\"}]}, \"next\": \"\\\\\""]);
    assert_eq!(reviewed.turns()[1].content().unwrap().steps()[0].summary, "printf '{\"token\":\"███\"}\\n' | jq .");
    for said in everything(&reviewed) {
        let read: Value = serde_json::from_slice(&body(&said)).unwrap();
        assert_eq!(read["text"], said.as_str());
    }
}

/// secretless-ai #133: the pattern knew the length that a token had until then, and what a longer one had beyond it was
/// printed behind the mask.
#[test]
fn a_token_longer_than_its_kind_used_to_be_leaves_no_tail() {
    let longest = made(3, ALNUM, 120);
    for (prefix, usual) in [("ghp_", 36), ("npm_", 36), ("AIza", 35), ("dckr_pat_", 27), ("glpat-", 20)] {
        for more in (0..12).chain([24, 48]) {
            let tail = &longest[..usual + more];
            let said = format!("{{\"token\": \"{prefix}{tail}\", \"n\": 1}}");
            let reviewed = told(&draft(&["Show it.", &said]), &[tail]);
            assert_eq!(texts(&reviewed)[1], "{\"token\": \"███\", \"n\": 1}", "{prefix} and {more} more");
        }
    }
}

/// lgtmaybe #547: the first occurrence of the secret's text within the match was replaced, which was the name of the user,
/// and the password behind it stayed.
#[test]
fn the_password_of_an_address_is_covered_where_it_stands_not_where_its_letters_stand_first() {
    let same = ["sw0rd", "-Tr1ck-9"].concat();
    for (said, shown) in [
        (format!("url = postgres://{same}:{same}@db.example.com/app"), "url = postgres://███:███@db.example.com/app"),
        (format!("url = https://{same}.example/{same}:{same}@"), "url = https://███.example/███:███@"),
    ] {
        let first = format!("https://dana:{same}@forge.example/x.git");
        let reviewed = told(&draft(&[&first, &said]), &[&same]);
        assert_eq!(texts(&reviewed), ["https://dana:███@forge.example/x.git", shown]);
    }
}

/// The same incident: the value's letters stand in the name of the key before it.
/// KiroCrew #5582: texts were cut to the length of a preview first and searched afterwards, when no pattern knew the half of
/// a key any more.
#[test]
fn a_secret_cut_in_two_at_the_end_of_a_shortened_text_shows_nothing() {
    let access = ["AK", "IA", &made(4, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 16)].concat();
    let (token, _) = github(4);
    for secret in [&access, &token] {
        for kept in 5..secret.len() {
            let mut draft = draft(&[&format!("Take {secret} for it."), "Done."]);
            draft.title = Some(format!("Take {}…", &secret[..kept]));
            draft.turns[1].steps.push(step("Bash", &format!("deploy --with {}…", &secret[..kept])));
            let reviewed = told(&draft, &[&secret[4..]]);
            let shown = [reviewed.title().unwrap(), &reviewed.turns()[1].content().unwrap().steps()[0].summary];
            for text in shown {
                let rest = text.trim_end_matches('…').replace(BAR, "");
                assert!(rest == "Take " || rest == "deploy --with ", "{kept} characters of it were there: some show");
            }
        }
    }
}

/// go-logging #78: a mask of as many stars as the password has letters tells how many there are.
#[test]
fn nothing_that_is_published_depends_on_the_length_of_what_is_covered() {
    let mut seen = None;
    for length in [20, 36, 37, 60, 200, 3000] {
        let secret = made(5, ALNUM, length);
        let token = format!("ghp_{secret}");
        let mut draft = draft(&[&format!("It is {token}."), &format!("I took {token} and {token}")]);
        draft.title = Some(format!("Push with {token}"));
        draft.turns[1].steps.push(step("Bash", &format!("echo {token}")));
        let previews: Vec<String> =
            scanned(&draft, &Decisions::default()).findings.into_iter().map(|f| f.preview.to_string()).collect();
        let reviewed = told(&draft, &[&secret]);
        let told = (everything(&reviewed), format!("{reviewed:?}"), previews);
        assert_eq!(*seen.get_or_insert_with(|| told.clone()), told, "{length} characters");
    }
    // The same of a word that its author covers, from one character on.
    let mut seen = None;
    for length in [1, 2, 5, 12, 100] {
        let word = "ж".repeat(length);
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), &word).unwrap();
        let reviewed = told_with(&draft(&[&format!("({word})")]), decisions, &[&word]);
        let told = everything(&reviewed);
        assert_eq!(*seen.get_or_insert_with(|| told.clone()), told, "{length} characters");
    }
}

/// remoteclaw #3122: a mask that keeps the first six characters and the last four leaves one to guess of a short password.
#[test]
fn a_preview_shows_what_everyone_knows_and_next_to_nothing_more() {
    for length in 5..24 {
        let secret = made(6, ALNUM, length);
        let said = format!("DB_PASSWORD='{secret}' and https://dana:{secret}@forge.example/x.git");
        let findings = scanned(&draft(&[&said]), &Decisions::default()).findings;
        assert!(!findings.is_empty(), "{length} characters");
        for finding in &findings {
            let shown: Vec<char> = finding.preview.trim_end_matches('…').chars().collect();
            let most = if length >= 10 { 2 } else { 0 };
            assert!(shown.len() <= most, "{} of {length} characters show", shown.len());
            assert!(finding.preview.ends_with('…'), "that more follows is said, not how much");
        }
    }
    for (prefix, length) in [("ghp_", 36), ("sk-ant-api03-", 95), ("AKIA", 16), ("xoxb-", 24)] {
        let secret = made(7, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", length);
        for finding in scanned(&draft(&[&format!("use {prefix}{secret}")]), &Decisions::default()).findings {
            assert_eq!(finding.preview, format!("{prefix}…"));
            let said = serde_json::to_string(&finding).unwrap();
            assert!(!said.contains(&secret[..3]) && !said.contains(&secret[length - 3..]), "{prefix}");
        }
    }
}

/// agentcairn #168: fourteen things were masked for their randomness alone in fifty notes; none of them was a secret.
#[test]
fn names_paths_and_hashes_are_no_secrets_for_looking_random() {
    let names = [
        "openConnectionWithRetryAndBackoff",
        "collectVisibleAnnotationRanges",
        "maxParallelUploadsPerAccount",
        "errorDeviceNotCompatibleWithRuntime",
        "shouldRestoreScrollPositionOnReturn",
        "kSecAttrAccessibleAfterFirstUnlock",
        "SYSTEM_PROMPT_CACHE_TTL_SECONDS",
        "test_that_the_parser_survives_an_unterminated_string",
        "crates/transcript/src/import/claude_code/attachments.rs:1284:17",
        "2026-07-02-13-20-stage-b-draft-materialization.md",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter",
        "ghsa-7xqp-4wvv-h2cm",
        "did:plc:ewvi7nxzyoun6zhxrhs64oiz",
    ];
    let said = format!("They are:\n- {}\n\nIn code: `{}()`.", names.join("\n- "), names.join("()`, `"));
    let all = draft(&["Which names?", &said]);
    let found = scanned(&all, &Decisions::default());
    let alarms: Vec<(&str, Tier)> = found.findings.iter().map(|f| (f.rule.as_str(), f.tier)).collect();
    assert_eq!(alarms, [], "nothing is even suggested");
    assert_eq!(reopened(&sealed(&all, &Decisions::default())), all);
    // What randomness alone suggests stops nobody and covers nothing by itself.
    let hashes = format!("{} {} sha512-{}==", made(8, HEX, 40), made(9, HEX, 64), made(10, ALNUM, 86));
    let all = draft(&["Which commits?", &hashes, &made(11, ALNUM, 40)]);
    assert_eq!(scanned(&all, &Decisions::default()).undecided(), 0);
    assert_eq!(reopened(&sealed(&all, &Decisions::default())), all);
}

/// questdb PR #7532: a file of rules that held only exceptions replaced all rules by none, and the scan was green for four
/// months.
#[test]
fn rules_that_find_nothing_are_refused() {
    for empty in ["", "# nothing yet\n", "rule = []\n"] {
        assert!(matches!(RulesFile::parse(empty), Err(Error::NoRules)), "{empty:?}");
    }
    let exceptions = "title = \"ours\"\n[allowlist]\npaths = ['''src/test''']\n";
    assert!(RulesFile::parse(exceptions).is_err());
    assert!(Engine::builtin().unwrap().rule_count() > 100);
}

/// What the tests above stand on: a secret that is not covered fails them.
#[test]
fn a_secret_that_shows_is_noticed() {
    let (token, token_body) = github(12);
    let shows = |said: &str| std::panic::catch_unwind(|| hides("a text", said, &[&token_body])).is_err();
    assert!(shows(&format!("it is {token}")) && shows(&format!("it is …{}", &token_body[20..28])));
    assert!(!shows("it is ███") && !shows(&token_body[..7]));
    let reviewed = told(&draft(&[&token]), &[&token_body]);
    let passes = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        stopped(&reviewed, &["nothing in it".to_owned()], &[&token_body]);
    }));
    assert!(passes.is_err());
}
