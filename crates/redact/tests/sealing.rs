//! What a sealed conversation shows, and what it does not.
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
    cover_all, draft, everything, github_token, key, other_token, private_key, reopened, rules, scanned, sealed, step,
    texts,
};
use onrecord_redact::{BAR, Decision, Decisions, Error, Field, seal};

// Invariant 3.
#[test]
fn nothing_is_sealed_while_a_finding_is_undecided() {
    let mut draft = draft(&["fine", &github_token()]);
    draft.title = Some("A title".to_owned());
    let error = seal(&draft, &rules(), &Decisions::default(), &key()).unwrap_err();
    let Error::Undecided { count, first } = &error else { panic!("{error}") };
    assert_eq!((*count, first[0].turn, first[0].field), (1, Some(2), Field::Text));
    assert_eq!(error.to_string(), "1 findings are undecided; the first: turn 2, text (github-token)");
    assert!(!format!("{error:?}").contains(&github_token()[4..]));
}

#[test]
fn a_conversation_without_findings_passes_byte_for_byte() {
    let mut draft = draft(&["Hello\r\n\tworld █ ███ 👩‍👩‍👧 שלום", "[████████░░] 80%"]);
    draft.title = Some("Title".to_owned());
    draft.turns[1].steps.push(step("Bash", "cargo test"));
    let reviewed = sealed(&draft, &Decisions::default());
    assert_eq!(reopened(&reviewed), draft);
}

#[test]
fn a_covered_value_is_covered_in_every_field() {
    let token = github_token();
    let mut draft = draft(&[&format!("use {token}."), &format!("I used {token}")]);
    draft.title = Some(format!("How {token} leaked"));
    draft.description = Some(token.clone());
    draft.turns[1].model = Some(format!("x/{token}"));
    draft.turns[1].steps.push(step(&token, &format!("curl -H {token}")));
    let mut decisions = Decisions::default();
    cover_all(&draft, &mut decisions);
    let reviewed = sealed(&draft, &decisions);
    assert_eq!(texts(&reviewed), ["use ███.", "I used ███"]);
    assert_eq!(reviewed.title(), Some("How ███ leaked"));
    assert_eq!(reviewed.description(), Some(BAR));
    let content = reviewed.turns()[1].content().unwrap();
    assert_eq!(content.model(), Some("x/███"));
    assert_eq!((content.steps()[0].tool.as_str(), content.steps()[0].summary.as_str()), (BAR, "curl -H ███"));
}

#[test]
fn a_covered_value_is_covered_in_every_form() {
    let token = github_token();
    let base64 = |before: &str, after: &str| encode_base64(format!("{before}{token}{after}").as_bytes());
    let hex: String = token.bytes().map(|b| format!("{b:02x}")).collect();
    let percent: String = token.bytes().map(|b| format!("%{b:02X}")).collect();
    let unicode: String = token.bytes().map(|b| format!("\\u{b:04x}")).collect();
    let wrapped = format!("{}\n    {}", &token[..17], &token[17..]);
    let forms = [
        base64("", ""),
        base64("a", "z"),
        base64("ab", "yz"),
        base64("user:", "@host"),
        base64("", "").replace('+', "-").replace('/', "_"),
        format!("{}\r\n{}", &base64("", "")[..20], &base64("", "")[20..]),
        hex.clone(),
        hex.to_uppercase(),
        percent,
        unicode,
        wrapped,
        token[..12].to_owned(),
        format!("{}…", &token[..25]),
    ];
    for form in &forms {
        let draft = draft(&[&token, &format!("here: {form} :end")]);
        let mut decisions = Decisions::default();
        cover_all(&draft, &mut decisions);
        let reviewed = sealed(&draft, &decisions);
        let text = texts(&reviewed)[1].replace('…', "");
        assert_eq!(text, "here: ███ :end", "{form}");
    }
}

/// Plain base64, for the tests.
fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0_usize, |n, b| n << 8 | usize::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            out.push(if i <= chunk.len() { char::from(DIGITS[n >> (18 - 6 * i) & 63]) } else { '=' });
        }
    }
    out
}

#[test]
fn lines_of_a_covered_key_are_covered_by_themselves() {
    let block = private_key();
    let line = block.lines().nth(1).unwrap();
    let draft = draft(&[&block, &format!("the first line is {line}, ok"), "-----BEGIN RSA PUBLIC KEY-----"]);
    let mut decisions = Decisions::default();
    cover_all(&draft, &mut decisions);
    assert_eq!(
        texts(&sealed(&draft, &decisions)),
        [BAR, "the first line is ███, ok", "-----BEGIN RSA PUBLIC KEY-----"]
    );
}

#[test]
fn what_everyone_knows_of_a_token_stays_readable() {
    let token = ["sk-", "ant-oat01-", &"x7_Q".repeat(20)].concat();
    let draft = draft(&[&format!("{token} begins with sk-ant-oat01- like all of them")]);
    let mut decisions = Decisions::default();
    cover_all(&draft, &mut decisions);
    assert_eq!(texts(&sealed(&draft, &decisions)), ["███ begins with sk-ant-oat01- like all of them"]);
}

#[test]
fn a_word_is_covered_without_being_a_finding() {
    let mut draft = draft(&["Acme pays", "we told\nAcme: AcmeCorp, ACME"]);
    draft.title = Some("For Acme".to_owned());
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "Acme").unwrap();
    let reviewed = sealed(&draft, &decisions);
    assert_eq!(reviewed.title(), Some("For ███"));
    assert_eq!(texts(&reviewed), ["███ pays", "we told\n███: ███Corp, ███"], "whatever its case");
}

#[test]
fn a_phrase_is_covered_where_its_lines_are_wrapped() {
    let draft = draft(&["ask Dana Weiss", "ask Dana\nWeiss or Dana  Weiss, not DanaWeiss", "Da\nna\nWeiss"]);
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "Dana Weiss").unwrap();
    let reviewed = sealed(&draft, &decisions);
    assert_eq!(texts(&reviewed), ["ask ███", "ask ███ or ███, not DanaWeiss", BAR]);
}

#[test]
fn words_are_not_found_across_spaces() {
    let draft = draft(&["a cat a log", "catalog"]);
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "catalog").unwrap();
    assert_eq!(texts(&sealed(&draft, &decisions)), ["a cat a log", BAR]);
}

#[test]
fn touching_and_overlapping_spans_become_one_bar() {
    let draft = draft(&["123456", "123 456", "123█456", "x 1234 y"]);
    let mut decisions = Decisions::default();
    for word in ["123", "456", "234"] {
        decisions.cover_word(&key(), word).unwrap();
    }
    assert_eq!(texts(&sealed(&draft, &decisions)), [BAR, "███ ███", BAR, "x ███ y"]);
}

#[test]
fn bars_cover_whole_graphemes() {
    let draft = draft(&["cafe\u{301} society", "👩\u{200d}👧 x"]);
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "cafe").unwrap();
    decisions.cover_word(&key(), "👩").unwrap();
    assert_eq!(texts(&sealed(&draft, &decisions)), ["███ society", "███ x"]);
}

#[test]
fn a_withheld_turn_shows_nothing_but_its_place() {
    let mut draft = draft(&["keep", "drop this", "keep too"]);
    draft.turns[1].steps.push(step("Bash", "rm"));
    let mut decisions = Decisions::default();
    decisions.withhold("turn-2");
    let reviewed = sealed(&draft, &decisions);
    let turn = &reviewed.turns()[1];
    assert!(turn.content().is_none());
    assert_eq!((turn.id(), turn.index(), turn.role()), ("turn-2", 2, draft.turns[1].role));
    assert_eq!(turn.created_at(), draft.turns[1].created_at);
    assert!(!format!("{reviewed:?}").contains("drop this"));
}

#[test]
fn a_secret_in_a_withheld_turn_is_covered_elsewhere_too() {
    let token = github_token();
    let draft = draft(&[&token, &format!("you said {token}")]);
    let mut decisions = Decisions::default();
    decisions.withhold("turn-1");
    assert_eq!(texts(&sealed(&draft, &decisions)), ["(withheld)", "you said ███"]);
}

#[test]
fn an_allowed_value_is_published_as_it_is_and_passes_the_gate() {
    let draft = draft(&[&format!("fake: {}", github_token())]);
    let mut decisions = Decisions::default();
    let finding = scanned(&draft, &decisions).findings.remove(0);
    decisions.decide(&finding, Decision::Allow, Some("made up")).unwrap();
    let reviewed = sealed(&draft, &decisions);
    assert_eq!(texts(&reviewed), [draft.turns[0].text.as_str()]);
    reviewed.gate(format!("{{\"text\":\"fake:\\n{}\"}}", github_token()).as_bytes()).unwrap();
    assert!(reviewed.gate(other_token().as_bytes()).is_err());
}

#[test]
fn a_token_that_covering_sets_free_is_covered_too() {
    let token = ["sk-", "proj-", &"x7_Q".repeat(20)].concat();
    let draft = draft(&[&format!("Acme{token}")]);
    assert!(scanned(&draft, &Decisions::default()).findings.is_empty(), "it hides in a longer word");
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "Acme").unwrap();
    assert_eq!(texts(&sealed(&draft, &decisions)), [BAR]);
}

#[test]
fn the_gate_stops_every_form_of_what_was_covered() {
    let token = github_token();
    let draft = draft(&[&token, "Nightingale flies"]);
    let mut decisions = Decisions::default();
    cover_all(&draft, &mut decisions);
    decisions.cover_word(&key(), "Nightingale").unwrap();
    let reviewed = sealed(&draft, &decisions);
    reviewed.gate(b"{\"text\":\"nothing to see\"}").unwrap();
    let hex: String = token.bytes().map(|b| format!("{b:02x}")).collect();
    for leak in [token.clone(), encode_base64(token.as_bytes()), hex, token[..14].to_owned()] {
        let hit = reviewed.gate(format!("{{\"text\":\"{leak}\"}}").as_bytes()).unwrap_err();
        assert_eq!(hit.rule, "github-token");
        assert!(!format!("{hit:?} {hit}").contains(&leak), "the value shows");
    }
    let hit = reviewed.gate(b"{\"text\":\"The Nightingale\"}").unwrap_err();
    assert_eq!((hit.rule.as_str(), hit.start), ("word", 13));
}

#[test]
fn the_gate_stops_secrets_that_the_conversation_never_had() {
    let reviewed = sealed(&draft(&["hello"]), &Decisions::default());
    let hit = reviewed.gate(format!("{{\"text\":\"a\\n{}\"}}", other_token()).as_bytes()).unwrap_err();
    assert_eq!(hit.rule, "github-token");
    let block = private_key().replace('\n', "\\n");
    assert_eq!(reviewed.gate(block.as_bytes()).unwrap_err().rule, "private-key");
}

#[test]
fn the_gate_passes_the_protocols_own_names() {
    let draft = draft(&["the user and the chat and text and 2026"]);
    let mut decisions = Decisions::default();
    for word in ["user", "chat", "text", "2026", "did"] {
        decisions.cover_word(&key(), word).unwrap();
    }
    let reviewed = sealed(&draft, &decisions);
    let record = "{\"$type\":\"click.aligned.chat.message\",\"validate\":true,\"role\":\"user\",\"text\":\"the ███\",\
                  \"createdAt\":\"2026-01-02T03:04:05.000Z\",\"session\":\"at://did:plc:abc/click.aligned.chat.session/3k\"}";
    reviewed.gate(record.as_bytes()).unwrap();
    let cbor = b"\xa2\x64role\x64user\x64text\x63abc";
    reviewed.gate(cbor).unwrap();
    assert!(reviewed.gate(b"{\"text\":\"a user of it\"}").is_err());
    assert!(reviewed.gate(b"\xa1\x64text\x69the users").is_err());
}

#[test]
fn without_a_title_there_is_none() {
    let mut draft = draft(&[]);
    draft.title = Some("The conversation's".to_owned());
    let mut decisions = Decisions::default();
    decisions.set_title(Some(String::new()));
    decisions.set_description(Some("The author's".to_owned()));
    let reviewed = sealed(&draft, &decisions);
    assert_eq!((reviewed.title(), reviewed.description()), (None, Some("The author's")));
    assert!(everything(&reviewed).iter().all(|t| t == "The author's"));
}

#[test]
fn a_covered_phrase_cut_in_two_by_a_shortened_title_or_summary_is_covered() {
    let mut draft = draft(&["We work for Halvorsen Shipping Company."]);
    draft.title = Some("The invoices of Halvorsen Shipping…".into());
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "Halvorsen Shipping Company").unwrap();
    let reviewed = seal(&draft, &rules(), &decisions, &key()).unwrap();
    assert_eq!(reviewed.title(), Some("The invoices of ███…"));
}

/// What a JSON writer makes of a text.
fn quoted(text: &str) -> Vec<u8> {
    serde_json::to_vec(&serde_json::json!({"text": text, "failed": true, "steps": [{"tool": "x"}]})).unwrap()
}

#[test]
fn the_gate_takes_no_escape_and_no_bracket_of_json_for_a_covered_word() {
    let text = "C:\\temp\nother \"lines\"\tthe\r\u{8}\u{c}\u{1b}[31mred {x: [1, 2]} \u{1f9ed}";
    let said =
        ["not", "no", "n", "t", "r", "b", "f", "u", "0", "001", "u001b", "1b[", "tt", "\"", "\\", "{", "}", "[", ":"];
    for word in said.into_iter().chain([",", "\",\"", "\"failed\":true,\"", "{\"text\":\"", "text\":\"", "e,"]) {
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), word).unwrap();
        let reviewed = sealed(&draft(&[text]), &decisions);
        let clean = texts(&reviewed)[0].to_owned();
        assert_eq!(reviewed.gate(&quoted(&clean)), Ok(()), "{word}: {clean}");
        for around in ["{}", "\n{}", "\t{}\n", "\u{1b}{}", "\"{}\"", "\\{}", "a\\\"\n{}"] {
            let bad = around.replace("{}", word);
            assert!(reviewed.gate(&quoted(&bad)).is_err(), "{word}: {bad:?}");
        }
    }
}

#[test]
fn many_bars_stand_on_the_same_boundaries_as_few() {
    for around in ["e\u{301}{}\u{301}z", "🇩🇪{}🇫🇷", "👩\u{200d}{}\u{200d}👧 ", "█{}██ ", "\u{301}{}█\u{301} ", "שׁ{}ם "]
    {
        let one = around.replace("{}", "qx");
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), "qx").unwrap();
        // Line ends keep the repetitions apart.
        let reviewed = sealed(&draft(&[&format!("{one}\n"), &format!("{one}\n").repeat(300)]), &decisions);
        let texts = texts(&reviewed);
        assert_eq!(texts[1], texts[0].repeat(300), "{around:?}");
    }
}

#[test]
fn characters_as_long_as_the_text_do_not_slow_sealing_down() {
    let started = std::time::Instant::now();
    for (text, word) in [
        ("👩\u{200d}".repeat(40_000), "👩"),
        ("🇩🇪🇫🇷".repeat(20_000), "🇩"),
        (format!("e{}", "\u{301}".repeat(200_000)), "\u{301}"),
        ("█x".repeat(100_000), "x"),
        ("\u{600}x".repeat(100_000), "x"),
    ] {
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), word).unwrap();
        let reviewed = sealed(&draft(&[&text]), &decisions);
        assert!(!texts(&reviewed)[0].contains(word), "{word}");
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn a_covered_phrase_is_covered_to_its_last_word() {
    let phrase = "Halvorsen Shipping and Trading Limited";
    let all = draft(&[&format!("About {phrase}, briefly."), &format!("It is {phrase}.")]);
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), phrase).unwrap();
    assert_eq!(texts(&sealed(&all, &decisions)), ["About ███, briefly.", "It is ███."]);
}

#[test]
fn a_covered_value_is_covered_however_its_lines_are_wrapped() {
    let token = github_token();
    let word = "Halvorsen Shipping";
    let base64 = encode_base64(format!("user:{token}:{word}").as_bytes());
    let wraps = [
        "\\n", "\\r\\n", "\\\\n", "\\\n", "\\\n    ", "\n> ", "\n>", "\n> > ", "\n# ", "\n// ", "\n * ", "\n+ ",
        "\n- ", "\n| ", "\r\n│ ", "\\n> ",
    ];
    for wrap in wraps {
        for width in [5, 13, 17] {
            let wrapped = |value: &str| {
                let lines: Vec<_> = value.as_bytes().chunks(width).map(|l| str::from_utf8(l).unwrap()).collect();
                lines.join(wrap)
            };
            let phrase = word.replace(' ', &format!("{wrap} "));
            let mut all = draft(&[&format!("({token}) ({word})"), &format!("({})\n({})", wrapped(&token), phrase)]);
            all.turns[1].steps.push(step("x", &format!("({})", wrapped(&base64))));
            let mut decisions = Decisions::default();
            decisions.cover_word(&key(), word).unwrap();
            cover_all(&all, &mut decisions);
            let reviewed = sealed(&all, &decisions);
            assert_eq!(texts(&reviewed)[1], "(███)\n(███)", "{wrap:?} {width}");
            let summary = &reviewed.turns()[1].content().unwrap().steps()[0].summary;
            let core = base64.get(8..base64.len() - 4).unwrap();
            let left = core.as_bytes().windows(4).filter(|w| summary.contains(str::from_utf8(w).unwrap())).count();
            assert_eq!(left, 0, "{wrap:?} {width} {summary}");
            for said in everything(&reviewed) {
                assert_eq!(reviewed.gate(&quoted(&said)), Ok(()), "{wrap:?} {width}");
            }
        }
    }
}

#[test]
fn a_word_beyond_ascii_is_covered_however_it_is_escaped() {
    let mut decisions = Decisions::default();
    decisions.cover_word(&key(), "péché שלום").unwrap();
    let forms = [
        "p\\u00e9ch\\u00e9 \\u05e9\\u05dc\\u05d5\\u05dd",
        "p\\u00E9ch\\u00E9 \\u05E9\\u05DC\\u05D5\\u05DD",
        "p\\\\u00e9ch\\\\u00e9 \\\\u05e9\\\\u05dc\\\\u05d5\\\\u05dd",
    ];
    for form in forms {
        assert_eq!(texts(&sealed(&draft(&[&format!("({form})")]), &decisions)), ["(███)"], "{form}");
    }
}
