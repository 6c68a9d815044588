//! Text to terms, once for every store, so that both find the same.
//!
//! A word is a run of letters and digits, lower-cased and without its diacritics; of scripts that put no space between
//! words each character is a word, and a run of them in a query becomes a phrase. What is not a word but can be asked for
//! (an author, a model, a tool, a mention) is a term too, in a namespace no text can reach. A store's inverted index then
//! answers words, filters and backlinks alike, by one intersection.

use std::{borrow::Cow, fmt::Write as _};

use sha2::{Digest as _, Sha256};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Begins each term that is no word. Private use: in no text is it a letter.
const MARK: char = '\u{e000}';
/// Stands between passages, so that no phrase reaches across.
const BOUNDARY: &str = "\u{e000}";
/// A word is known by its first so many bytes.
const MAX_WORD: usize = 64;
/// A longer name in a term is replaced by its hash.
const MAX_NAME: usize = 160;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// As it is indexed.
    pub(crate) term: Cow<'a, str>,
    /// Its first byte.
    pub(crate) start: usize,
    /// The byte after it.
    pub(crate) end: usize,
}

/// The words of `text`, in order.
pub(crate) fn words(text: &str) -> Words<'_> {
    Words { text, at: 0 }
}

/// Iterator of [`words`].
#[derive(Debug, Clone)]
pub(crate) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            let rest = self.text.get(self.at..)?;
            let start = self.at + rest.find(char::is_alphanumeric)?;
            let end = end_of_word(self.text, start);
            self.at = end;
            let term = normal(self.text.get(start..end)?);
            // A compatibility form may be made of signs alone.
            if !term.is_empty() {
                return Some(Word { term, start, end });
            }
        }
    }
}

fn end_of_word(text: &str, start: usize) -> usize {
    let Some(rest) = text.get(start..) else { return text.len() };
    let ascii = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
    match rest.as_bytes().get(ascii) {
        None => return text.len(),
        Some(byte) if byte.is_ascii() => return start + ascii,
        Some(_) => {}
    }
    let mut chars = rest.char_indices();
    let Some((_, first)) = chars.next() else { return text.len() };
    let alone = is_unspaced(first);
    for (at, c) in chars {
        let goes_on = is_combining_mark(c) || (!alone && c.is_alphanumeric() && !is_unspaced(c));
        if !goes_on {
            return start + at;
        }
    }
    text.len()
}

/// Whether `c` is of a script that writes words without spaces between them.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn normal(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        let word = word.get(..MAX_WORD).unwrap_or(word);
        return if word.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(word.to_ascii_lowercase())
        } else {
            Cow::Borrowed(word)
        };
    }
    let folded = word.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    // Some small letters come with a mark of their own.
    let mut term = String::new();
    for c in folded.nfkd().filter(|c| c.is_alphanumeric()) {
        if term.len() + c.len_utf8() > MAX_WORD {
            break;
        }
        term.push(c);
    }
    Cow::Owned(term)
}

/// What a term that is no word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The account whose record it is.
    Author,
    /// A model.
    Model,
    /// A tool.
    Tool,
    /// The program that wrote the conversation.
    Harness,
    /// A record or an account that it is about.
    About,
    /// The turn was held back.
    Withheld,
    /// A step failed.
    Failed,
}

impl Mark {
    fn letter(self) -> char {
        match self {
            Self::Author => 'a',
            Self::Model => 'm',
            Self::Tool => 't',
            Self::Harness => 'h',
            Self::About => 'l',
            Self::Withheld => 'w',
            Self::Failed => 'f',
        }
    }

    /// The term for `name`. Names of models, tools and harnesses are looked for whatever their case.
    pub(crate) fn term(self, name: &str) -> String {
        let mut term = String::from(MARK);
        term.push(self.letter());
        let lower;
        let name = match self {
            Self::Model | Self::Tool | Self::Harness => {
                lower = name.to_lowercase();
                &lower
            }
            _ => name,
        };
        if matches!(self, Self::Author | Self::About) || name.len() > MAX_NAME {
            // Half of a SHA-256: enough that nobody finds a second one.
            for byte in Sha256::digest(name.as_bytes()).iter().take(16) {
                let _ = write!(term, "{byte:02x}");
            }
            return term;
        }
        // What is no letter moves to where it does not end a term.
        term.extend(name.chars().map(|c| match u8::try_from(c) {
            Ok(b) if !b.is_ascii_alphanumeric() => char::from_u32(0xe100 + u32::from(b)).unwrap_or(MARK),
            _ => c,
        }));
        term
    }
}

/// Whether a term is no word.
pub(crate) fn is_mark(term: &str) -> bool {
    term.starts_with(MARK)
}

/// Whether a term only keeps passages apart, and is never asked for.
pub(crate) fn is_boundary(term: &str) -> bool {
    term == BOUNDARY
}

/// Whether a term is one that few records have: who wrote them, or what they are about.
pub(crate) fn is_of_few(term: &str) -> bool {
    [Mark::Author, Mark::About]
        .iter()
        .any(|mark| term.strip_prefix(MARK).is_some_and(|name| name.starts_with(mark.letter())))
}

/// The terms of a document, one after the other with spaces between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms(String);

impl Terms {
    /// Adds what is no word.
    pub(crate) fn mark(&mut self, mark: Mark, name: &str) {
        self.push(&mark.term(name));
    }

    /// Adds the words of a passage.
    pub(crate) fn text(&mut self, text: &str) {
        self.push(BOUNDARY);
        for word in words(text) {
            self.push(&word.term);
        }
    }

    fn push(&mut self, term: &str) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(term);
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        words(text).map(|w| w.term.into_owned()).collect()
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(terms("Run `cargo test` in snake_case."), ["run", "cargo", "test", "in", "snake", "case"]);
        assert_eq!(terms("Zürich, CAFÉ, Ｆｕｌｌ; İstanbul"), ["zurich", "cafe", "full", "istanbul"]);
        assert_eq!(terms("東京でlunch"), ["東", "京", "て", "lunch"]);
        assert_eq!(terms("███ — ½ "), ["12"]);
        assert_eq!(terms(&"x".repeat(100)), ["x".repeat(64)]);
    }

    #[test]
    fn places_lead_back_into_the_text() {
        let text = "Über die Brücke";
        let found: Vec<_> = words(text).map(|w| text.get(w.start..w.end).unwrap()).collect();
        assert_eq!(found, ["Über", "die", "Brücke"]);
    }

    #[test]
    fn a_mark_is_one_term_that_no_text_has() {
        let term = Mark::Model.term("Anthropic/claude-opus 4.5");
        assert_eq!(term, Mark::Model.term("anthropic/claude-opus 4.5"));
        assert!(!term.chars().any(|c| c.is_ascii() && !c.is_ascii_alphanumeric()), "{term:?}");
        assert!(terms(&term).iter().all(|t| *t != term));
        assert_ne!(Mark::Tool.term("a.b"), Mark::Tool.term("a-b"));
        assert!(Mark::About.term(&"at://x".repeat(999)).len() < 60);
    }
}
