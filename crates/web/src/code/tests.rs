use proptest::prelude::*;

use super::*;
use crate::testing::assert_safe;

fn html(info: &str, text: &str) -> String {
    let mut out = String::new();
    highlighted(&mut out, info, text).unwrap();
    assert_safe(&out);
    out
}

/// What is coloured in which way, e.g. `k:fn`.
fn found(info: &str, text: &str) -> Vec<String> {
    let html = html(info, text);
    let pieces = html.split("<span class=\"").skip(1);
    pieces
        .map(|piece| {
            let (class, rest) = piece.split_once("\">").unwrap();
            format!("{class}:{}", rest.split_once("</span>").unwrap().0)
        })
        .collect()
}

#[test]
fn words_strings_comments_and_numbers_are_told_apart() {
    assert_eq!(
        found(
            "rust",
            "fn f<'a>(x: &'a str) -> char { let n = 0x1f; '\\n' } // it's \"so\"\n/* a\nb */ \"s\\\"t\" letter"
        ),
        [
            "k:fn",
            "k:let",
            "n:0x1f",
            "s:&#39;\\n&#39;",
            "c:// it&#39;s &quot;so&quot;",
            "c:/* a\nb */",
            "s:&quot;s\\&quot;t&quot;"
        ]
    );
    assert_eq!(
        found("python", "x = '''a\n'b'''  # no\nreturn None"),
        ["s:&#39;&#39;&#39;a\n&#39;b&#39;&#39;&#39;", "c:# no", "k:return", "k:None"]
    );
    assert_eq!(found("rust", "0..n.len() 1.5"), ["n:0", "n:1.5"]);
    assert_eq!(found("sh", "echo ${x#y} # z"), ["c:# z"]);
    assert_eq!(found("sql", "SELECT a FROM b -- c"), ["k:SELECT", "k:FROM", "c:-- c"]);
    assert_eq!(found("js", "`a\nb` don't"), ["s:`a\nb`"]);
    assert_eq!(found("diff", "+a\n-b\n c\n@@ d"), ["ins:+a", "del:-b", "c:@@ d"]);
    assert_eq!(found("json", "{\"a\": [true, 1.5e3]}"), ["s:&quot;a&quot;", "k:true", "n:1.5e3"]);
}

#[test]
fn what_is_not_known_or_very_long_is_left_alone() {
    assert_eq!(html("brainfuck", "fn <b>"), "fn &lt;b&gt;");
    assert_eq!(html("", "fn"), "fn");
    assert!(!html("rust", &"fn ".repeat(30_000)).contains("<span"));
    assert_eq!(language_name("ts title=\"x\""), Some("TypeScript"));
}

#[test]
fn bars_are_bars_in_any_language() {
    for (info, text) in
        [("rust", "let k = \"███\";"), ("sh", "# ███\nX=███"), ("diff", "+███"), ("python", "'''███'''")]
    {
        assert_eq!(html(info, text).matches("class=\"bar\"").count(), text.matches("███").count(), "{info}");
    }
}

proptest! {
    /// Whatever it is, it is all there, and nothing else. Invariant 12.
    #[test]
    fn nothing_is_lost(
        info in prop::sample::select(vec!["rust", "python", "js", "sh", "sql", "html", "diff", "c", "toml"]),
        text in "[ -~\n'\"`#/*<é\\\\]{0,200}",
    ) {
        let html = html(info, &text);
        let mut plain = String::new();
        let mut rest = html.as_str();
        while let Some((before, tag)) = rest.split_once('<') {
            plain.push_str(before);
            rest = tag.split_once('>').unwrap().1;
        }
        plain.push_str(rest);
        let mut expected = String::new();
        crate::html::escape(&mut expected, &text).unwrap();
        prop_assert_eq!(plain, expected);
    }
}
