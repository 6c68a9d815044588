//! What each view makes of a text, and the way back.
#![allow(clippy::string_slice, reason = "tests fail loudly")]

use proptest::prelude::*;

use super::{decoded, joined, regions, run_end, split_words};

/// The text as it is read, and as it is with what is not seen as boundaries.
fn clean(text: &str) -> Option<(String, Option<String>)> {
    let mut all = Vec::new();
    regions(text.as_bytes(), &mut |region| {
        let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        all.push((string(&region.clean.bytes), region.apart.map(|a| string(&a.bytes))));
    });
    assert!(all.len() < 2, "one region");
    all.pop()
}

fn reads(text: &str) -> String {
    clean(text).map_or_else(|| text.to_owned(), |(clean, _)| clean)
}

fn plain(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    decoded(text.as_bytes(), &mut |plain, (start, end)| {
        all.push((String::from_utf8_lossy(plain).into_owned(), text[start..end].to_owned()));
    });
    all
}

fn put_together(text: &str, lengths: &[usize]) -> Option<String> {
    let joined = joined(text.as_bytes(), 0, run_end(text.as_bytes(), 0))?;
    let end = joined.end(lengths)?;
    Some(String::from_utf8(joined.view.bytes[..end].to_vec()).unwrap())
}

#[test]
fn terminal_codes_are_not_seen() {
    for code in [
        "\u{1b}[0m",
        "\u{1b}[1;31m",
        "\u{1b}[38;2;1;2;3m",
        "\u{1b}[K",
        "\u{1b}[2J",
        "\u{1b}(B",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]8;;https://example.org\u{1b}\\",
        "\u{1b}=",
        "\u{8}",
        "\0",
    ] {
        assert_eq!(reads(&format!("to{code}ken")), "token", "{code:?}");
        let apart = clean(&format!("to{code}ken")).unwrap().1.unwrap();
        assert_eq!(apart, format!("to{}ken", " ".repeat(code.len())), "{code:?}");
    }
}

#[test]
fn an_unfinished_terminal_code_hides_nothing() {
    assert_eq!(reads("a\u{1b}]0;never ends token"), "a0;never ends token");
    assert_eq!(reads("a\u{1b}["), "a");
    assert_eq!(reads("a\u{1b}"), "a");
}

#[test]
fn invisible_characters_are_not_seen_within_words_of_ascii() {
    for c in ['\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}', '\u{ad}', '\u{2060}', '\u{202e}', '\u{e0041}', '\u{fe0f}']
    {
        assert_eq!(reads(&format!("to{c}{c}ken")), "token", "{c:?}");
    }
    assert_eq!(clean("👩\u{200d}👧 می\u{200c}خواهم"), None, "there they belong");
}

#[test]
fn disguised_letters_read_as_what_they_look_like() {
    assert_eq!(reads("ｇｈｐ＿ａ１"), "ghp_a1");
    assert_eq!(reads("𝐠𝓱𝕡_𝟘𝟙"), "ghp_01");
    assert_eq!(reads("ⓖⓗⓟ"), "ghp");
    assert_eq!(reads("ｕ：ｐ＠ｈ"), "u:p@h", "signs too, after a letter in disguise");
    assert_eq!(reads("хохр-12"), "xoxp-12");
    assert_eq!(clean("密码：abc，def！"), None, "signs of East Asian text");
    assert_eq!(reads("gһр_аbс"), "ghp_abc", "Cyrillic");
    assert_eq!(reads("g\u{301}h\u{332}p_"), "ghp_");
    assert_eq!(clean("Привет, мир. Καλημέρα, école"), None, "languages are no disguise");
}

#[test]
fn escapes_read_as_what_they_say() {
    for (written, says) in [
        (r"\u0067hp", "ghp"),
        (r"\u{67}hp", "ghp"),
        (r"\x67hp", "ghp"),
        (r"\147hp", "ghp"),
        (r"\\u0067hp", "ghp"),
        ("%67hp%5F", "ghp_"),
        ("%u0067hp", "ghp"),
        ("&#103;hp", "ghp"),
        ("&#x67;hp", "ghp"),
        ("a&amp;b", "a&b"),
        (r"a\/b", "a/b"),
        ("%2567hp", "%67hp"),
    ] {
        assert_eq!(reads(written), says, "{written}");
    }
    for same in ["100% sure", "a & b", r"C:\new\user", "%zz", "&nope;", r"\u00", "50%"] {
        assert_eq!(reads(same), same);
    }
}

#[test]
fn bytes_are_read_in_every_way_they_are_listed() {
    let secret = "token=abcdefghijklmnopqrs";
    let hex = |between: &str| secret.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(between);
    let wide: Vec<u8> = secret.bytes().flat_map(|b| [b, 0]).collect();
    let wide_reversed: Vec<u8> = secret.bytes().flat_map(|b| [0, b]).collect();
    let dump = format!(
        "00000000  {}  {}  |{}|\n00000010  {}  {}  |{}|\n",
        &hex(" ")[..23],
        &hex(" ")[24..47],
        &secret[..16],
        &hex(" ")[48..71],
        &hex(" ")[72..],
        &secret[16..]
    );
    for written in
        [hex("-"), format!("0x{}", hex("")), format!("+0x{}", hex("")), encode(&wide), encode(&wide_reversed), dump]
    {
        assert!(plain(&written).iter().any(|(says, _)| says.contains(secret)), "{written}");
    }
    assert_eq!(plain("aa-bb-cc-dd-ee-ff-00-11-22-33-44-55-66-77-88-99"), [], "no text");
}

#[test]
fn marks_within_a_word_part_nothing() {
    for text in ["abc1<wbr>def2ghi3", "abc1</span><span>def2ghi3", "abc1**def2ghi3**"] {
        assert_eq!(put_together(text, &[]).as_deref(), Some("abc1def2ghi3"), "{text}");
    }
    assert_eq!(put_together("abc1</td><td>def2ghi3", &[]), None);
}

#[test]
fn far_changes_are_regions_of_their_own() {
    let text = format!("a\u{200b}b{}c\u{200b}d", " word".repeat(4000));
    let mut spans = Vec::new();
    regions(text.as_bytes(), &mut |region| spans.push(region.clean.span(0, region.clean.bytes.len())));
    assert_eq!(spans.len(), 2);
    assert!(spans[0].1 < spans[1].0);
}

fn encode(bytes: &[u8]) -> String {
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
fn base64_is_decoded_wherever_it_begins() {
    let secret = "the words that are hidden";
    let digits = encode(secret.as_bytes());
    for text in [format!("x: {digits}"), format!("\"{digits}\""), format!(r"line\n{digits}\n"), digits.replace('=', "")]
    {
        let found = plain(&text);
        assert!(found.iter().any(|(p, _)| p.contains(secret)), "{text}");
    }
}

#[test]
fn base64_over_lines_is_decoded_as_one() {
    let secret = "a line of words that goes on and on, over more than one line of digits, until it is long enough";
    let digits = encode(secret.as_bytes());
    for wrap in ["\n", "\r\n", "\n    ", "\n> ", r"\n"] {
        let lines: Vec<_> = digits.as_bytes().chunks(64).map(|l| str::from_utf8(l).unwrap()).collect();
        let text = format!("body:{wrap}{}{wrap}--", lines.join(wrap));
        assert!(plain(&text).iter().any(|(p, _)| p.contains(secret)), "{wrap:?}");
    }
}

#[test]
fn hexadecimal_is_decoded_however_it_is_written() {
    let secret = "words in numbers";
    let pairs: Vec<_> = secret.bytes().map(|b| format!("{b:02x}")).collect();
    for text in [
        pairs.concat(),
        pairs.concat().to_uppercase(),
        pairs.join(" "),
        pairs.join(":"),
        format!("0x{}", pairs.join(", 0x")),
        format!("[0x{}]", pairs.join(",0x")),
        pairs.chunks(2).map(<[String]>::concat).collect::<Vec<_>>().join(" "),
        format!("a {}", pairs.concat()),
        secret.bytes().map(|b| b.to_string()).collect::<Vec<_>>().join(", "),
        format!("00000000: {}  words in \n00000010: {}  numbers", pairs[..8].join(" "), pairs[8..].join(" ")),
    ] {
        assert!(plain(&text).iter().any(|(p, _)| p.contains(secret)), "{text}");
    }
}

#[test]
fn what_decodes_to_no_text_is_none() {
    for text in [
        "commit 1920157c366a195c6a46d4ee19206a19e5cee4b2",
        "sha512-Q7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xAQ7xA",
        "fn set_default_model_and_provider_of_everything()",
        "/usr/local/share/applications/of/some/program",
        "2026 11 30 22 33 44 55 10 20 30 40 50 60 70 80",
    ] {
        assert_eq!(plain(text), [], "{text}");
    }
}

#[test]
fn a_token_of_known_length_is_put_together_over_lines() {
    let whole = Some("abc_0123456789".to_owned());
    for text in [
        "abc_01234\n56789\nDone",
        "abc_01234\r\n    56789",
        "abc_01234 \\\n  56789",
        "abc_01234\n> 56789\n> x",
        "abc_01234\\n56789\\n",
        "abc_0\n12\n34\n56789.",
        "abc_01234<br>56789",
        "abc_01234</span><span class=\"x\">56789",
        "abc_01234 |\n| 56789 |",
        "abc_01234 │\n│ 56789 │",
        "abc_01234=\n56789",
        "abc_01**234567**89",
        "abc_01`23456789`",
        "abc_01234\", \"56789\"]",
        "abc_01234\n| 56789 |",
        "abc_01234\n 12: 56789",
        "abc_01234\n+56789",
    ] {
        assert_eq!(put_together(text, &[14]), whole, "{text:?}");
    }
    assert_eq!(put_together("abc_01234\nDone", &[14]), None);
    assert_eq!(put_together("abc_0123456789\nab12", &[14]), None, "it is whole");
}

#[test]
fn a_token_of_unknown_length_goes_on_only_in_what_looks_like_it() {
    let first = "abc_0123456789abcdef";
    assert_eq!(put_together(&format!("{first}\nQ7xA9bZz\n"), &[]), Some(format!("{first}Q7xA9bZz")));
    for other in ["Done, exit code 0", "NAME=Q7xA9bZz", "abc_fedcba9876543210", "next", "call(Q7xA9bZz)"] {
        assert_eq!(put_together(&format!("{first}\n{other}"), &[]), None, "{other}");
    }
}

#[test]
fn strings_that_a_program_puts_together_are_put_together() {
    for glue in [
        "\" + \"",
        "' + '",
        "\" . \"",
        "\" .. \"",
        "\" & \"",
        "\" ++ \"",
        "\" \"",
        "\"\n    \"",
        "\" +\n  \"",
        "\" \\\n\"",
        "' f'",
    ] {
        let text = format!("abc_01234{glue}56789\"");
        assert_eq!(put_together(&text, &[]), Some("abc_0123456789".to_owned()), "{glue:?}");
    }
    assert_eq!(put_together("abc_01234\", \"56789", &[]), None, "two of a list");
}

#[test]
fn words_on_either_side_of_a_line_end_are_told_of() {
    let text = "say gh\np_abc and \"sk\" + \"-ant\"";
    let mut found = Vec::new();
    split_words(text.as_bytes(), |window, left, right| {
        found.push((String::from_utf8(window.to_vec()).unwrap(), text[left].to_owned(), text[right].to_owned()));
    });
    let expected = [("ghp_abc", "gh", "p_abc"), ("sk-ant", "sk", "-ant")];
    let expected: Vec<_> = expected.map(|(w, l, r)| (w.to_owned(), l.to_owned(), r.to_owned())).into();
    assert_eq!(found, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_view_leads_back_to_what_it_was_made_of(
        parts in proptest::collection::vec((r"[a-z]{1,5}", r"(\\u00[46][1-9]|%4[1-9]|\u{200b}|\u{1b}\[0m|ａ|&#6[5-9];)"), 1..8)
    ) {
        let text: String = parts.iter().map(|(word, written)| format!("{word}{written}")).collect();
        let mut checked = 0;
        regions(text.as_bytes(), &mut |region| {
            let view = &region.clean;
            for (n, byte) in view.bytes.iter().enumerate() {
                let (start, end) = view.span(n, n + 1);
                assert!(start < end && end <= text.len());
                // A byte that was not changed stands for itself; no change here is one byte long.
                if end - start == 1 {
                    assert_eq!(text.as_bytes()[start], *byte);
                    checked += 1;
                }
            }
        });
        prop_assert_eq!(checked, parts.iter().map(|(word, _)| word.len()).sum::<usize>());
    }

    #[test]
    fn no_bytes_stop_the_views(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        regions(&bytes, &mut |_| {});
        decoded(&bytes, &mut |_, (start, end)| assert!(start < end && end <= bytes.len()));
        split_words(&bytes, |_, left, right| assert!(left.end <= right.start));
        for start in 0..bytes.len() {
            let _ = joined(&bytes, start, run_end(&bytes, start));
        }
    }

    #[test]
    fn whatever_is_encoded_is_found(secret in "[ -~]{18,60}", before in "[ -~]{0,9}[ \"]", hex in any::<bool>()) {
        let digits = if hex { secret.bytes().map(|b| format!("{b:02x}")).collect() } else { encode(secret.as_bytes()) };
        let found = plain(&[before, digits].concat());
        prop_assert!(found.iter().any(|(p, _)| p.contains(&secret)));
    }
}
