use proptest::prelude::*;

use super::{Line, Plain, escape, may_link, paragraphs};

fn escaped(text: &str) -> String {
    let mut out = String::new();
    escape(&mut out, text).unwrap();
    out
}

fn plain(text: &str) -> String {
    Plain(text).to_string()
}

#[test]
fn what_means_something_in_html_is_escaped() {
    assert_eq!(escaped(r#"<a b="c" d='e'>&amp;"#), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
}

#[test]
fn control_characters_become_their_pictures_and_line_breaks_become_one_kind() {
    assert_eq!(escaped("a\0b\u{1b}[31mc\u{7f}"), "a␀b␛[31mc␡");
    assert_eq!(escaped("a\r\nb\rc\n\td"), "a\nb\nc\n\td");
}

#[test]
fn a_bar_has_words_for_those_who_do_not_see_it() {
    assert_eq!(
        Line("to ███").to_string(),
        "to <span class=\"bar\" title=\"covered by the author\">[covered by the author]</span>"
    );
}

#[test]
fn blank_lines_part_paragraphs_and_single_breaks_stay() {
    let cut: Vec<_> = paragraphs("\n\n  a\nb\n \n\n\nc\n\n").collect();
    assert_eq!(cut, ["  a\nb", "c"]);
    assert_eq!(paragraphs(" \n ").count(), 0);
}

#[test]
fn web_addresses_become_links_without_the_sentence_around_them() {
    for (text, address) in [
        ("see https://a.example/x.", "https://a.example/x"),
        ("(https://a.example/x)", "https://a.example/x"),
        ("https://a.example/x_(y)", "https://a.example/x_(y)"),
        ("<https://a.example>", "https://a.example"),
        ("HTTP://A.example", "HTTP://A.example"),
        ("**https://a.example/**", "https://a.example/"),
        ("at://did:plc:abc/x.y/z!", "at://did:plc:abc/x.y/z"),
    ] {
        let html = plain(text);
        assert!(
            html.contains(&format!("<a href=\"{address}\" rel=\"nofollow ugc noopener noreferrer\">{address}</a>")),
            "{html}"
        );
    }
}

#[test]
fn other_schemes_and_halves_of_addresses_are_text() {
    for text in
        ["ftp://a.example", "javascript://x%0aalert(1)", "https://", "https://.", "xhttps://a", "://a", "https:// a"]
    {
        assert!(!plain(text).contains("<a "), "{text}");
    }
}

#[test]
fn an_address_with_a_covered_part_is_no_link() {
    for text in ["https://███.example/x", "https://a.example/███/x", "https://a.example/███"] {
        let html = plain(text);
        assert!(!html.contains("<a ") && html.contains("class=\"bar\""), "{html}");
    }
    assert!(plain("https://a.example ███").contains("<a "));
}

#[test]
fn only_four_schemes_are_linked() {
    for good in ["https://a", "HTTPS://a", "http://a", "mailto:a@b.example", "at://did:plc:x"] {
        assert!(may_link(good), "{good}");
    }
    for bad in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " https://a",
        "java\tscript:x",
        "data:text/html,x",
        "vbscript:x",
        "//a.example",
        "/a",
        "#a",
        "a",
        "",
        "https://",
        "file:///etc/passwd",
        "https://a\u{0}b",
        "https://███/",
    ] {
        assert!(!may_link(bad), "{bad}");
    }
}

proptest! {
    #[test]
    fn escaping_can_be_undone(text in "[^\\r\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]{0,60}") {
        let undone = escaped(&text)
            .replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&");
        prop_assert_eq!(undone, text);
    }

    #[test]
    fn plain_text_has_no_tags_but_ours(text in "(?s).{0,80}|([<>\"'&:/█ \n]|https://|at://|javascript:|script){0,24}") {
        crate::testing::assert_safe(&plain(&text));
    }
}

#[test]
fn a_long_plain_text_folds_after_a_line() {
    let log = "05:00 row 1: 7 fields\n".repeat(400);
    let out = Plain(&log).to_string();
    assert_eq!(out.matches("<details class=\"rest\">").count(), 1, "{out}");
    assert!(
        out.split("<details").next().unwrap().ends_with("7 fields</p>\n") && out.ends_with("</details>\n"),
        "{out}"
    );
    assert_eq!(out.matches("row 1").count(), 400);
    let line = Plain(&"x".repeat(20_000)).to_string();
    assert!(!line.contains("<details"), "one line is not cut");
}
