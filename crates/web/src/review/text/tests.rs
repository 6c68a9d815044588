#![allow(clippy::string_slice, reason = "tests fail loudly")]

use proptest::prelude::*;

use super::{Kind, MarkedText};
use crate::{
    markdown::{MarkKind, TextMark},
    testing::assert_safe,
};

fn html(text: &str, marks: &[TextMark], kind: Kind) -> String {
    let html = MarkedText { field: "text".to_owned(), text: text.to_owned(), marks: marks.to_vec(), kind }.to_string();
    assert_safe(&without_places(&html));
    html
}

/// The same without what only the review's pages have.
fn without_places(html: &str) -> String {
    let mut out = html.replace("<mark ", "<span ").replace("</mark>", "</span>");
    for name in ["data-o", "data-n", "data-m", "data-f", "id"] {
        let attribute = format!(" {name}=\"");
        while let Some(at) = out.find(&attribute) {
            let value = at + attribute.len();
            let end = value + out[value..].find('"').unwrap();
            assert!(out[value..end].chars().all(|c| c.is_ascii_digit() || c == 'f'), "{html}");
            out.replace_range(at..=end, "");
        }
    }
    out
}

fn open(text: &str, part: &str) -> TextMark {
    let start = text.find(part).unwrap();
    TextMark { start, end: start + part.len(), kind: MarkKind::Open(7) }
}

/// Reads a page as its script does: for each piece, where it says that it stands, how long it is, and its words.
fn pieces(html: &str) -> Vec<(usize, usize, String)> {
    struct Open {
        name: String,
        piece: Option<(usize, usize, String)>,
        /// Its length is told, and its content does not count.
        told: Option<usize>,
    }
    let mut stack: Vec<Open> = Vec::new();
    let mut found = Vec::new();
    let mut rest = html;
    let count = |stack: &mut Vec<Open>, length: usize, words: &str| {
        if stack.iter().any(|e| e.told.is_some()) {
            return;
        }
        if let Some((_, sum, text)) = stack.iter_mut().rev().find_map(|e| e.piece.as_mut()) {
            *sum += length;
            text.push_str(words);
        }
    };
    while !rest.is_empty() {
        let Some(tag) = rest.strip_prefix('<') else {
            let end = rest.find('<').unwrap_or(rest.len());
            let words =
                ["&lt;<", "&gt;>", "&quot;\"", "&#39;'", "&amp;&"].iter().fold(rest[..end].to_owned(), |text, pair| {
                    let at = pair.find(';').unwrap() + 1;
                    text.replace(&pair[..at], &pair[at..])
                });
            count(&mut stack, words.len(), &words);
            rest = &rest[end..];
            continue;
        };
        let end = tag.find('>').unwrap();
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            let closed = stack.pop().unwrap();
            assert_eq!(closed.name, name, "{html}");
            if let Some(length) = closed.told {
                count(&mut stack, length, "");
            }
            found.extend(closed.piece);
            continue;
        }
        let name = inside.split(' ').next().unwrap().to_owned();
        if matches!(name.as_str(), "br" | "hr") {
            continue;
        }
        let attribute = |of: &str| {
            let start = inside.find(&format!(" {of}=\""))? + of.len() + 3;
            inside[start..].split('"').next()
        };
        let told =
            attribute("data-n").or((attribute("class") == Some("bar")).then_some("9")).map(|n| n.parse().unwrap());
        let piece = attribute("data-o").map(|at| (at.parse().unwrap(), 0, String::new()));
        stack.push(Open { name, piece, told });
    }
    found
}

#[test]
fn what_is_found_is_marked_in_prose_code_and_links() {
    let out = |text: &str| html(text, &[open(text, "sk-1")], Kind::Prose);
    let marked = "<mark class=\"open\" data-f=\"7\" id=\"f7\">sk-1</mark>";
    for text in
        ["use **sk-1** now", "`a sk-1 b`", "```rust\nlet a = \"sk-1\";\n```", "    sk-1", "- a\n\n  ```\n  sk-1\n  ```"]
    {
        assert_eq!(out(text).matches(marked).count(), 1, "{text}: {}", out(text));
    }
    // In an address it is seen nowhere, and still goes out.
    let hidden = out("see [this](https://x.example/?k=sk-1) page");
    assert!(hidden.contains("class=\"unseen-marks\"") && hidden.contains(marked), "{hidden}");
    let plain = html("say sk-1", &[open("say sk-1", "sk-1")], Kind::Plain);
    assert!(plain.contains(marked) && plain.starts_with("<p dir=\"auto\"><span data-o=\"0\">say "), "{plain}");
    assert!(html("sk-1", &[open("sk-1", "sk-1")], Kind::Line).contains(marked));
}

#[test]
fn bars_can_be_looked_beneath_unless_they_stand_in_a_link() {
    let covered = |text: &str| {
        let start = text.find('█').unwrap();
        html(text, &[TextMark { start, end: start + 9, kind: MarkKind::Covered }], Kind::Prose)
    };
    let out = covered("the ███ here");
    assert!(
        out.contains("<span class=\"bar cover\" data-n=\"9\" data-m=\"4\" tabindex=\"0\" role=\"button\""),
        "{out}"
    );
    assert!(!covered("[the ███](https://x.example)").contains("role=\"button\""));
    // One that the transcript has itself is a bar and nothing else.
    let own = html("a ███ b", &[], Kind::Plain);
    assert!(own.contains("<span class=\"bar\" title"), "{own}");
}

#[test]
fn markup_and_script_stay_text() {
    let text = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) <script>\n![p](https://x.example/p.png)";
    for kind in [Kind::Prose, Kind::Plain, Kind::Line] {
        let out = html(text, &[open(text, "src=x")], kind);
        assert!(!out.contains("<img") && !out.contains("<script"), "{out}");
    }
}

#[test]
fn characters_that_are_drawn_as_others_keep_their_length() {
    let text = "a\u{1b}[31m red\r\nb\rc\u{7f}";
    for kind in [Kind::Plain, Kind::Line] {
        let found = pieces(&html(text, &[], kind));
        assert_eq!(found.iter().map(|(_, n, _)| n).sum::<usize>(), text.len(), "{found:?}");
    }
}

proptest! {
    /// What the script counts is where the words stand: every piece holds the very text at its place.
    #[test]
    fn pieces_say_where_they_stand(
        parts in prop::collection::vec("[a-z ]{1,6}|\\*\\*|`|\n|\n\n|- |1\\. |> |#|███|é|🧭|א|&amp;|<b>|\\$x\\$|https://a.example/x_y_z|_|\\\\\\*|```\n|    |\\[a\\]\\(http://b.example\\)|\\| a \\| b \\|\n\\|--\\|--\\|\n", 0..24),
        from in 0_usize..60,
        length in 1_usize..12,
    ) {
        let text = parts.concat();
        let mut start = from.min(text.len());
        while !text.is_char_boundary(start) { start -= 1; }
        let mut end = (start + length).min(text.len());
        while !text.is_char_boundary(end) { end += 1; }
        let marks: Vec<_> = (start < end && !text[start..end].contains('█'))
            .then_some(TextMark { start, end, kind: MarkKind::Open(1) }).into_iter().collect();
        for kind in [Kind::Prose, Kind::Plain, Kind::Line] {
            let out = html(&text, &marks, kind);
            prop_assert!(marks.is_empty() || out.contains("data-f=\"1\"") || kind == Kind::Plain, "{}", out);
            for (at, length, words) in pieces(&out) {
                let there = &text[at..at + length];
                // Bars and what is chosen whole count and are not read.
                if !there.contains('█') && words.len() == length {
                    prop_assert_eq!(there, words, "{}", out);
                }
            }
        }
    }
}
