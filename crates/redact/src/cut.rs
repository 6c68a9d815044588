//! The beginning of a covered phrase at the end of a text that was cut short.
//!
//! Titles and step summaries end in an ellipsis where they were too long. A phrase that is covered everywhere may have been
//! cut in two there, and its beginning is no longer the phrase that is looked for.

use zeroize::Zeroizing;

const ELLIPSIS: char = '…';

/// Covered phrases, in order, each with single spaces: one look-up says whether any of them begins so.
pub(crate) struct Phrases(Vec<Zeroizing<String>>);

impl Phrases {
    pub(crate) fn new<'a>(covered: impl IntoIterator<Item = &'a str>) -> Self {
        let mut phrases: Vec<_> = covered.into_iter().map(single_spaces).collect();
        phrases.sort_unstable_by(|a, b| a.as_str().cmp(b));
        phrases.dedup();
        Self(phrases)
    }

    /// Where in `text` such a beginning stands, if `text` was cut short and one of the phrases begins at its end; the longest.
    /// White space of any kind and length is the same.
    ///
    /// Begins are taken at word boundaries and from two characters on: a bar too many is no harm.
    pub(crate) fn cut_in(&self, text: &str) -> Option<(usize, usize)> {
        // A command that goes on in the next line ends in a backslash.
        let goes_on = |c: char| c == '\\' || c.is_whitespace();
        let tail = text.trim_end().strip_suffix(ELLIPSIS)?.trim_end_matches(goes_on);
        // No phrase begins further back than its own length; white space between the words may be longer.
        let reach = self.0.iter().map(|phrase| phrase.len()).max()? * 2;
        let from = tail.ceil_char_boundary(tail.len().saturating_sub(reach));
        let mut wordy = tail.get(..from).is_some_and(|before| before.ends_with(char::is_alphanumeric));
        let mut starts = Vec::new();
        let mut said = String::with_capacity(tail.len() - from);
        for (at, c) in tail.char_indices().skip_while(|(at, _)| *at < from) {
            if c.is_whitespace() {
                if !said.ends_with(' ') {
                    said.push(' ');
                }
            } else {
                if c.is_alphanumeric() && !wordy {
                    starts.push((at, said.len()));
                }
                said.push(c);
            }
            wordy = c.is_alphanumeric();
        }
        let begins = |(_, at): &&(usize, usize)| said.get(*at..).is_some_and(|end| self.any_begins(end));
        starts.iter().find(begins).map(|(at, _)| (*at, tail.len()))
    }

    /// Whether a phrase begins so and goes on.
    fn any_begins(&self, end: &str) -> bool {
        let after = self.0.partition_point(|phrase| phrase.as_str() <= end);
        end.chars().nth(1).is_some() && self.0.get(after).is_some_and(|phrase| phrase.starts_with(end))
    }
}

fn single_spaces(phrase: &str) -> Zeroizing<String> {
    Zeroizing::new(phrase.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::Phrases;

    fn cut(text: &str, phrase: &str) -> Option<String> {
        Phrases::new([phrase]).cut_in(text).map(|(start, end)| text.get(start..end).unwrap().to_owned())
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
