//! The beginning of a covered phrase at the end of a text that was cut short.
//!
//! Titles and step summaries end in an ellipsis where they were too long. A phrase that is covered everywhere may have been
//! cut in two there, and its beginning is no longer the phrase that is looked for.

const ELLIPSIS: char = '…';

/// Where in `text` such a beginning stands, if `text` was cut short and one of the `covered` phrases begins at its end.
///
/// Begins are taken at word boundaries and from two characters on: a bar too many is no harm.
pub(crate) fn cut_phrase<'a>(text: &str, covered: impl IntoIterator<Item = &'a str>) -> Option<(usize, usize)> {
    // A command that goes on in the next line ends in a backslash.
    let goes_on = |c: char| c == '\\' || c.is_whitespace();
    let tail = text.trim_end().strip_suffix(ELLIPSIS)?.trim_end_matches(goes_on);
    covered.into_iter().filter_map(|phrase| beginning(tail, phrase)).min().map(|start| (start, tail.len()))
}

/// Where `tail` ends in a beginning of `phrase`, the longest; white space of any kind and length is the same.
fn beginning(tail: &str, phrase: &str) -> Option<usize> {
    let phrase = phrase.split_whitespace().collect::<Vec<_>>().join(" ");
    let starts = tail.char_indices().filter(|&(at, c)| {
        c.is_alphanumeric() && !tail.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric))
    });
    starts.map(|(at, _)| at).filter(|&at| tail.len() - at <= phrase.len() * 2).find(|&at| {
        let end = tail.get(at..).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        end.chars().count() >= 2 && end.len() < phrase.len() && phrase.starts_with(&end)
    })
}

#[cfg(test)]
mod tests {
    use super::cut_phrase;

    fn cut(text: &str, phrase: &str) -> Option<String> {
        cut_phrase(text, [phrase]).map(|(start, end)| text.get(start..end).unwrap().to_owned())
    }

    #[test]
    fn the_beginning_of_a_phrase_before_the_ellipsis_is_found() {
        assert_eq!(cut("mail to Halvorsen…", "Halvorsen Shipping Company").as_deref(), Some("Halvorsen"));
        assert_eq!(
            cut("mail to Halvorsen  Shipping…", "Halvorsen\nShipping Company").as_deref(),
            Some("Halvorsen  Shipping")
        );
        assert_eq!(cut("(Åse No…", "Åse Nordmann").as_deref(), Some("Åse No"));
        assert_eq!(cut("echo Halvorsen\\ …", "Halvorsen Shipping").as_deref(), Some("Halvorsen"));
    }

    #[test]
    fn what_was_not_cut_or_is_another_word_is_left_alone() {
        assert_eq!(cut("mail to Halvorsen", "Halvorsen Shipping"), None);
        assert_eq!(cut("mail to Olsen…", "Halvorsen Shipping"), None);
        assert_eq!(cut("a mailHalvorsen…", "Halvorsen Shipping"), None);
        assert_eq!(cut("…", "Halvorsen Shipping"), None);
        assert_eq!(cut("mail to H…", "Halvorsen Shipping"), None);
    }
}
