use proptest::prelude::*;

use super::{Prose, open_fence};
use crate::testing::assert_safe;

fn html(text: &str) -> String {
    let html = Prose { text, fence: None, marks: None }.to_string();
    assert_safe(&html);
    html
}

#[test]
fn raw_html_is_shown_as_text() {
    assert_eq!(html("a <b onclick=x>c</b>"), "<p dir=\"auto\">a &lt;b onclick=x&gt;c&lt;/b&gt;</p>\n");
    let block = html("<script>\nalert(1)\n</script>\n\n<!-- hidden -->");
    assert!(block.contains("&lt;script&gt;\nalert(1)\n&lt;/script&gt;"), "{block}");
    assert!(block.contains("&lt;!-- hidden --&gt;"), "{block}");
}

#[test]
fn a_long_text_folds_between_blocks_and_says_how_long_it_is() {
    let out = html(&"Words and words.\n\n".repeat(600));
    assert_eq!(out.matches("<details class=\"rest\"><summary>The rest of this turn, about 7,").count(), 1, "{out}");
    assert!(out.ends_with("</p>\n</details>\n"));
    assert!(!html(&"Words and words.\n\n".repeat(300)).contains("<details"));
    // What cannot be cut stays whole.
    assert!(!html(&"- a\n".repeat(4_000)).contains("<details"));
    let code = html(&format!("```rust\n{}```", "let a = 1;\n".repeat(61)));
    assert!(code.starts_with("<details class=\"rest\"><summary>Rust, 61 lines</summary><pre"), "{code}");
    assert!(!html(&format!("```rust\n{}```", "let a = 1;\n".repeat(60))).contains("<details"));
}

#[test]
fn formulas_are_laid_out_and_prices_are_not() {
    assert!(html("with $x^2$ and\n\n$$\\frac{a}{b}$$").matches("<math").count() == 2);
    assert_eq!(html("from $5 to $10, in $HOME/$USER"), "<p dir=\"auto\">from $5 to $10, in $HOME/$USER</p>\n");
    assert!(!html("[$x^2$](https://a.example)").contains("<math"), "a link holds text");
}

#[test]
fn headings_stand_below_those_of_the_page() {
    let out = html("# a\n## b\n### c\n#### d\n##### e\n###### f");
    for tag in [
        "<h3 dir=\"auto\">a",
        "<h4 dir=\"auto\">b",
        "<h5 dir=\"auto\">c",
        "<h6 dir=\"auto\">d",
        "<h6 dir=\"auto\">e",
        "<h6 dir=\"auto\">f",
    ] {
        assert!(out.contains(tag), "{out}");
    }
}

#[test]
fn headings_skip_no_level() {
    let out = html("### a\n# b\n### c\n## d");
    for tag in ["<h3 dir=\"auto\">a", "<h3 dir=\"auto\">b", "<h4 dir=\"auto\">c", "<h4 dir=\"auto\">d"] {
        assert!(out.contains(tag), "{out}");
    }
}

#[test]
fn a_good_link_is_a_link_that_vouches_for_nothing() {
    assert_eq!(
        html("[x](https://a.example/?a=1&b=\"2\")"),
        "<p dir=\"auto\"><a href=\"https://a.example/?a=1&amp;b=&quot;2&quot;\" rel=\"nofollow ugc noopener noreferrer\">x</a></p>\n"
    );
    assert!(html("<dana@a.example>").contains("href=\"mailto:dana@a.example\""));
    assert!(html("see https://a.example/x_y_z now").contains("href=\"https://a.example/x_y_z\""));
}

#[test]
fn a_link_elsewhere_shows_its_address_as_text() {
    for (text, shown) in [
        ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
        ("[x](JAVASCRIPT&#58;alert(1))", "x (JAVASCRIPT:alert(1))"),
        ("[x](data:text/html;base64,AAAA)", "x (data:text/html;base64,AAAA)"),
        ("[x](src/date.rs)", "x (src/date.rs)"),
        ("<javascript:alert(1)>", "javascript:alert(1)"),
        ("[x][y]\n\n[y]: vbscript:z", "x (vbscript:z)"),
    ] {
        assert_eq!(html(text), format!("<p dir=\"auto\">{shown}</p>\n"), "{text}");
    }
}

#[test]
fn images_are_linked_and_never_loaded() {
    assert_eq!(
        html("![a cat](https://a.example/c.png)"),
        "<p dir=\"auto\"><a href=\"https://a.example/c.png\" rel=\"nofollow ugc noopener noreferrer\" class=\"image\">Image: a cat</a></p>\n"
    );
    assert_eq!(html("![](c.png)"), "<p dir=\"auto\">Image: (c.png)</p>\n");
    let long = html(&format!("![x](data:image/png;base64,{})", "A".repeat(5000)));
    assert!(long.len() < 300 && long.contains('…'), "{long}");
}

#[test]
fn links_never_nest() {
    let out =
        html("[![alt](https://a.example/i.png)](https://a.example/p) ![x [y](https://b.example)](https://c.example)");
    assert_eq!(out.matches("<a ").count(), 2, "{out}");
    assert!(out.contains("Image: alt (https://a.example/i.png)</a>"), "{out}");
}

#[test]
fn a_link_without_words_is_named_by_its_address() {
    assert!(html("[](https://a.example)").contains(">https://a.example</a>"));
}

#[test]
fn bars_are_bars_in_code_and_tables_too() {
    for text in ["`███`", "```\nkey = ███\n```", "    ███", "| a |\n|---|\n| ███ |", "**███**", "# ███", "<b>███</b>"]
    {
        assert_eq!(html(text).matches("class=\"bar\"").count(), 1, "{text}");
    }
    assert_eq!(html("```\n████████░░ 80%\n```").matches("class=\"bar\"").count(), 0);
}

#[test]
fn a_link_with_a_covered_address_keeps_its_words_and_its_bar() {
    let out = html("[the wiki](https://███.example/x)");
    assert!(!out.contains("<a ") && out.contains("the wiki (https://<span class=\"bar\""), "{out}");
}

#[test]
fn tables_tasks_and_strikethrough_are_understood() {
    let out = html("| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n- [x] done\n- [ ] not\n\n~~gone~~");
    for part in [
        "<th class=\"center\">a</th>",
        "<td class=\"right\">2</td>",
        "aria-label=\"done\"",
        "aria-label=\"to do\"",
        "<del>gone</del>",
    ] {
        assert!(out.contains(part), "{part} in {out}");
    }
}

#[test]
fn blocks_in_a_block_have_its_direction() {
    let out = html("- כן\n\n  עוד\n\n> א\n\n3. ב");
    for part in
        ["<ul dir=\"auto\">\n<li><p>כן</p>", "<blockquote dir=\"auto\">\n<p>א</p>", "<ol dir=\"auto\" start=\"3\">"]
    {
        assert!(out.contains(part), "{part} in {out}");
    }
}

#[test]
fn footnotes_are_off_and_stay_as_written() {
    let out = html("a[^1]\n\n[^1]: two words");
    assert!(out.contains("a[^1]") && out.contains("[^1]: two words"), "{out}");
}

#[test]
fn huge_nesting_is_flattened_and_loses_no_words() {
    for text in [
        ">".repeat(5000) + " end",
        "- ".repeat(3000) + "end",
        "*_".repeat(5000) + "end" + &"_*".repeat(5000),
        "[".repeat(5000) + "end",
    ] {
        let out = html(&text);
        assert!(out.contains("end"));
        let deepest = out.matches("<blockquote").count().max(out.matches("<ul").count());
        assert!(deepest <= super::MAX_DEPTH, "{deepest}");
    }
}

#[test]
fn a_cut_inside_a_code_block_is_mended() {
    assert_eq!(open_fence("a\n```rust\nfn f", None), Some("```rust"));
    assert_eq!(open_fence("```\na\n```\nb", None), None);
    assert_eq!(open_fence("more\n```\nprose", Some("```rust")), None);
    assert_eq!(open_fence("~~~\n```\n", None), Some("~~~"));
    assert_eq!(open_fence("````\n```\n", None), Some("````"));
    assert_eq!(open_fence("```a`b```", None), None);
    let out = Prose { text: "<b> & more\n```\nprose", fence: Some("```rust"), marks: None }.to_string();
    assert_eq!(
        out,
        "<pre tabindex=\"0\" dir=\"ltr\"><code>&lt;b&gt; &amp; more\n</code></pre>\n<p dir=\"auto\">prose</p>\n"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_text_writes_a_tag_or_an_address_of_its_own(text in "(?s).{0,120}") {
        html(&text);
    }

    #[test]
    fn no_markdown_writes_a_tag_or_an_address_of_its_own(
        text in "(javascript:|data:|https://a|\\]\\(|\\[|\\]|!\\[|\\(|\\)|<|>|\"|'|&#58;|&colon;|`|```|\n|\n\n|> |- |# |\\||\\*|_|~~|script|<script>|</p>|onerror=|███|<!--|-->| |a|\\\\){0,40}"
    ) {
        html(&text);
    }
}
