use regex::bytes::RegexBuilder;

use super::translate;

fn matched<'a>(pattern: &str, text: &'a str) -> Option<&'a str> {
    let translated = translate(pattern).unwrap();
    let regex = RegexBuilder::new(&translated).build().unwrap_or_else(|e| panic!("{pattern} became {translated}: {e}"));
    regex.find(text.as_bytes()).map(|m| std::str::from_utf8(m.as_bytes()).unwrap())
}

#[test]
fn what_differs_from_go_means_what_it_means_there() {
    for (pattern, text, expected) in [
        (r"\Qa.b*\E+c", "xa.b**c", Some("a.b**c")),
        (r"\Q[(", "x[(y", Some("[(")),
        (r"a\<b\>c", "a<b>c", Some("a<b>c")),
        (r"\141\x62\x{63}\07", "abc\u{7}", Some("abc\u{7}")),
        (r"\d{2}", "x٣٤12", Some("12")),
        (r"\w+", "é_a9", Some("_a9")),
        (r"a\sb", "a\u{a0}b a\tb", Some("a\tb")),
        (r"[^\s]+", " \ta\u{b}b ", Some("a\u{b}b")),
        (r"\bé", "xé", Some("é")),
        (r"x{a", "x{a", Some("x{a")),
        (r"x{,2}", "x{,2}", Some("x{,2}")),
        (r"x{2,3}}", "xxxx}", Some("xxx}")),
        (r"${[A-Z]+}", "${A}", None),
        (r"\${[A-Z]+}", "${AB}", Some("${AB}")),
        (r"[[a]]", "[]", Some("[]")),
        (r"[a&&b]+", "&a&b", Some("&a&b")),
        (r"[a~~b-]+", "-~", Some("-~")),
        (r"[!--]+", "x-,!", Some("-,!")),
        (r"[]x^-]+", "a]^-x", Some("]^-x")),
        (r"[^]]+", "]ab", Some("ab")),
        (r"[[:digit:]a]+", "x1a", Some("1a")),
        (r"[\w.-]+@", "!a.b-c@", Some("a.b-c@")),
        (r"(?P<name>a)(?<other>b)", "ab", Some("ab")),
        (r"(?i:ABC)(?s).d", "abc\nd", Some("abc\nd")),
        (r"a.c", "aéc", Some("aéc")),
        (r"\p{^Greek}\pL\P{Greek}", "αaβb", Some("aβb")),
        (r"\p{Greek}", "aα", Some("α")),
        (r"end\z", "end", Some("end")),
        (r#"['\"\x60]+"#, "a'\"`b", Some("'\"`")),
    ] {
        assert_eq!(matched(pattern, text), expected, "{pattern} on {text:?} as {:?}", translate(pattern));
    }
}

#[test]
fn what_go_refuses_is_refused() {
    for pattern in [
        r"a(?=b)",
        r"a(?!b)",
        r"(?<=a)b",
        r"(?<!a)b",
        r"(a)\1",
        r"\y",
        r"[a",
        r"(?x)a",
        r"a\",
        r"\x{110000}",
        r"(?P=a)",
    ] {
        assert!(translate(pattern).is_err(), "{pattern} became {:?}", translate(pattern));
    }
}
