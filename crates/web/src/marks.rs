//! Letters with more marks on them than any script writes. A browser takes a minute to lay out a letter with some ten thousand, and
//! paints them over what stands above.

use std::fmt::Write as _;

use unicode_normalization::char::is_combining_mark;

use crate::render::counted;

/// How many marks a letter may carry on a page.
const MOST: usize = 24;

/// The page with at most so many marks on each letter; where there are more, it says how many. The other formats have them all.
pub(crate) fn with_few_marks(html: String) -> String {
    // None of them is ASCII, and each takes two bytes at least.
    if html.as_bytes().split(u8::is_ascii).all(|run| run.len() <= 2 * MOST) {
        return html;
    }
    let mut out = String::new();
    // Up to where it is in `out`, how many marks stand before this, and where the first one is that is too many.
    let (mut copied, mut run, mut excess) = (0, 0, None);
    for (at, c) in html.char_indices().chain([(html.len(), ' ')]) {
        if is_attached(c) {
            run += 1;
            if run == MOST + 1 {
                excess = Some(at);
            }
            continue;
        }
        if let Some(before) = excess.take().and_then(|start: usize| html.get(copied..start)) {
            out.push_str(before);
            // Writing to a string cannot fail.
            let _ = write!(out, "[{}]", counted((run - MOST) as u64, "more mark", "more marks"));
            copied = at;
        }
        run = 0;
    }
    if copied == 0 {
        return html;
    }
    out.push_str(html.get(copied..).unwrap_or_default());
    out
}

/// Whether a character has no place of its own: a mark, or one that is not seen and keeps its neighbours together.
fn is_attached(c: char) -> bool {
    !c.is_ascii()
        && (is_combining_mark(c)
            || matches!(
                c,
                '\u{ad}'
                    | '\u{180e}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{202a}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{feff}'
                    | '\u{e0000}'..='\u{e0fff}'
            ))
}

#[cfg(test)]
mod tests {
    use super::with_few_marks;

    #[test]
    fn letters_of_every_script_stay_as_they_are() {
        for text in ["<p>cafe\u{301}</p>", "ที่นี้", "בְּרֵאשִׁ֖ית", "हिन्दी", "བསྒྲུབས", "👩\u{200d}👩\u{200d}👧\u{200d}👦", ""]
        {
            assert_eq!(with_few_marks(text.to_owned()), text);
        }
        let most = format!("a{}", "\u{301}".repeat(24));
        assert_eq!(with_few_marks(most.clone()), most);
    }

    #[test]
    fn marks_beyond_any_script_are_counted_and_not_drawn() {
        let few = "\u{301}".repeat(24);
        for (marks, count) in [("\u{301}", "29,976"), ("\u{301}\u{200d}", "59,976"), ("\u{e49}", "29,976")] {
            let (text, few) = (format!("<p>a{}b</p>", marks.repeat(30_000)), few.replace('\u{301}', marks));
            let few: String = few.chars().take(24).collect();
            assert_eq!(with_few_marks(text), format!("<p>a{few}[{count} more marks]b</p>"));
        }
        assert_eq!(with_few_marks("\u{301}".repeat(25)), format!("{few}[1 more mark]"));
    }
}
