//! The words a wallet is restored from, where nothing says that they are: twelve and more of one list in a row.

mod listed;

use self::listed::LISTED;
use crate::text::{is_word, part};

/// A phrase has as many words at least; at most twice as many, and a few of the sentence around it.
const FEWEST: usize = 12;
const MOST: usize = 27;
/// Twelve words of three letters, and what stands between them.
const SHORTEST: usize = FEWEST * 4 - 1;

/// Calls `each` with the bounds of every phrase in `text`.
///
/// A sentence of twelve words has an article or a preposition, which the list has not. Words in the order of the alphabet
/// are a list of words, and those that repeat are an example.
pub(super) fn each(text: &[u8], mut each: impl FnMut(usize, usize)) {
    // No phrase begins before this.
    let mut at = 0;
    // Whatever phrase begins next, if it begins before `probe`, holds that byte: no other is looked at first.
    while let Some(byte) = text.get(at + SHORTEST - 1) {
        let probe = at + SHORTEST - 1;
        // Neither does it hold any byte that no phrase has: four are asked at once, without a branch.
        let other = |behind: usize| {
            let byte = text.get(probe - behind).copied().unwrap_or_default();
            if byte.is_ascii_lowercase() | is_gap(byte) { 0 } else { probe - behind + 1 }
        };
        let after = other(0).max(other(7)).max(other(14)).max(other(21));
        if after > 0 {
            at = after;
            continue;
        }
        let within = if is_gap(*byte) { probe - 1 } else { probe };
        let Some((mut start, mut end)) = word_around(text, within) else {
            at = probe + 1;
            continue;
        };
        let mut count = 1;
        while let Some(before) = start.checked_sub(2).filter(|i| *i >= at && gap_at(text, i + 1))
            && let Some((first, _)) = word_around(text, before)
        {
            start = first;
            count += 1;
        }
        while gap_at(text, end)
            && let Some((_, last)) = word_around(text, end + 1)
        {
            end = last;
            count += 1;
        }
        if count >= FEWEST && is_phrase(part(text, start, end)) {
            each(start, end);
        }
        at = end;
    }
}

fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n')
}

fn gap_at(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|b| is_gap(*b))
}

/// The bounds of the word that `at` is in, if the list has it.
fn word_around(text: &[u8], at: usize) -> Option<(usize, usize)> {
    const LONGEST: usize = 9;
    let letters = |b: &&u8| b.is_ascii_lowercase();
    let start = at - part(text, at.saturating_sub(LONGEST), at).iter().rev().take_while(letters).count();
    let end = at + part(text, at, at + LONGEST).iter().take_while(letters).count();
    let joins = |at: Option<usize>| at.and_then(|i| text.get(i)).is_some_and(|b| is_word(*b));
    let whole = end > at && !joins(start.checked_sub(1)) && !joins(Some(end));
    (whole && is_listed(part(text, start, end))).then_some((start, end))
}

/// Whether words of the list are no list themselves, and no example.
fn is_phrase(words: &[u8]) -> bool {
    let mut words: Vec<&[u8]> = words.split(|b| !b.is_ascii_lowercase()).collect();
    if words.len() > MOST || words.is_sorted() {
        return false;
    }
    let count = words.len();
    words.sort_unstable();
    words.dedup();
    words.len() * 3 >= count * 2
}

/// Whether the list may have `word`: one of eight others has the same hash as one that it has.
fn is_listed(word: &[u8]) -> bool {
    let hash = hash(word);
    (3..=8).contains(&word.len()) && LISTED.get(hash / 64).is_some_and(|bits| bits >> (hash % 64) & 1 == 1)
}

/// Of the first four letters, by which the list is made to be told apart.
fn hash(word: &[u8]) -> usize {
    let letter = |at| word.get(at).map_or(0, |b| u32::from(b & 0x1f));
    let letters = (0..4).fold(0_u32, |n, at| n << 5 | letter(at));
    usize::try_from(letters.wrapping_mul(0x9e37_79b1) >> 18).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail loudly")]

    use super::{each, is_listed};

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        each(text.as_bytes(), |start, end| found.push(text.get(start..end).unwrap()));
        found
    }

    /// Entropy of the specification's own vectors.
    const TWELVE: &str = "scheme spot photo card baby mountain device kick cradle pact join borrow";
    const TWENTY_FOUR: &str = "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing \
                               screen patrol group space point ten exist slush involve unfold";

    #[test]
    fn words_of_the_list_in_a_row_are_a_phrase() {
        for phrase in [TWELVE, TWENTY_FOUR] {
            assert!(phrase.split(' ').all(|word| is_listed(word.as_bytes())));
            for text in [phrase.to_owned(), format!("❯ {phrase}\nDone"), format!("«{phrase}» of `{phrase}`")] {
                assert!(!found(&text).is_empty() && found(&text).iter().all(|f| *f == phrase), "{text}");
            }
            let wrapped = phrase.replacen(" heavy", "\nheavy", 1);
            assert_eq!(found(&wrapped), [wrapped.as_str()]);
        }
    }

    #[test]
    fn sentences_lists_and_examples_are_none() {
        let mut sorted: Vec<_> = TWELVE.split(' ').collect();
        sorted.sort_unstable();
        let long = [TWENTY_FOUR; 3].join(" ");
        for text in [
            sorted.join(" "),
            long,
            "test test test test test test test test test test test junk".to_owned(),
            "we looked at the scheme and the spot where a photo of the card was taken by a baby on the mountain"
                .to_owned(),
            TWELVE.replace(" pact", ""),
            TWELVE.replace("scheme", "Xscheme"),
            format!("{TWELVE}er_"),
        ] {
            assert!(found(&text).is_empty(), "{text}");
        }
    }
}
