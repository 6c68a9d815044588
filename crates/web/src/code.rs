//! Code, coloured: words of the language, strings, comments, numbers.
//!
//! One pass without a grammar: it never looks back, so nothing makes it slow, and what it takes wrongly is coloured wrongly
//! and still all there.

mod language;

use std::fmt::{self, Write};

use crate::html::with_bars;

use language::Language;

/// What is longer is not coloured, in bytes.
const MAX_CODE: usize = 64 * 1024;

/// Writes `text`, coloured if `info` (the words after a fence) names a language that is known.
pub(crate) fn highlighted(w: &mut impl Write, info: &str, text: &str) -> fmt::Result {
    match Language::of(info).filter(|_| text.len() <= MAX_CODE) {
        Some(language) if language.is_diff => diff(w, text),
        Some(language) => Lexer { language, text, at: 0, plain_from: 0 }.write(w),
        None => with_bars(w, text),
    }
}

/// What a language is called, where it is known.
pub(crate) fn language_name(info: &str) -> Option<&'static str> {
    Language::of(info).map(|language| language.name)
}

/// Lines that were added and taken away.
fn diff(w: &mut impl Write, text: &str) -> fmt::Result {
    for line in text.split_inclusive('\n') {
        let class = match line.as_bytes().first() {
            Some(b'+') => "ins",
            Some(b'-') => "del",
            Some(b'@') => "c",
            _ => "",
        };
        coloured(w, class, line)?;
    }
    Ok(())
}

fn coloured(w: &mut impl Write, class: &str, text: &str) -> fmt::Result {
    if class.is_empty() {
        return with_bars(w, text);
    }
    // A line's end stands outside, so that a selection by lines is one.
    let words = text.strip_suffix('\n').unwrap_or(text);
    write!(w, "<span class=\"{class}\">")?;
    with_bars(w, words)?;
    w.write_str("</span>")?;
    w.write_str(text.get(words.len()..).unwrap_or(""))
}

struct Lexer<'a> {
    language: &'static Language,
    text: &'a str,
    at: usize,
    plain_from: usize,
}

impl Lexer<'_> {
    fn write(mut self, w: &mut impl Write) -> fmt::Result {
        // Whether a word could begin here.
        let mut fresh = true;
        let mut after_space = true;
        while let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) {
            let Some(c) = rest.chars().next() else { break };
            let found = if fresh && is_word_start(c) {
                let word = rest.find(|c| !is_word(c)).and_then(|end| rest.get(..end)).unwrap_or(rest);
                if self.language.has_word(word) {
                    Some(("k", word.len()))
                } else {
                    self.at += word.len();
                    (fresh, after_space) = (false, false);
                    continue;
                }
            } else if fresh && c.is_ascii_digit() {
                Some(("n", number(rest)))
            } else {
                self.comment(rest, after_space)
                    .map(|len| ("c", len))
                    .or_else(|| self.string(rest).map(|len| ("s", len)))
            };
            if let Some((class, len)) = found {
                with_bars(w, self.text.get(self.plain_from..self.at).unwrap_or(""))?;
                coloured(w, class, rest.get(..len).unwrap_or(rest))?;
                self.at += len;
                self.plain_from = self.at;
                (fresh, after_space) = (class != "k" && class != "n", class == "c");
            } else {
                self.at += c.len_utf8();
                (fresh, after_space) = (!is_word(c), c.is_whitespace());
            }
        }
        with_bars(w, self.text.get(self.plain_from..).unwrap_or(""))
    }

    /// Length of the comment that begins here.
    fn comment(&self, rest: &str, after_space: bool) -> Option<usize> {
        if let Some((open, close)) = self.language.block
            && let Some(inside) = rest.strip_prefix(open)
        {
            return Some(inside.find(close).map_or(rest.len(), |end| open.len() + end + close.len()));
        }
        // A # within a word is none.
        let starts = |mark: &&&str| rest.starts_with(**mark) && (mark.len() > 1 || after_space);
        self.language.line.iter().find(starts)?;
        Some(rest.find('\n').unwrap_or(rest.len()))
    }

    /// Length of the string that begins here.
    fn string(&self, rest: &str) -> Option<usize> {
        for quote in self.language.long_quotes {
            if let Some(inside) = rest.strip_prefix(quote) {
                return Some(inside.find(quote).map_or(rest.len(), |end| 2 * quote.len() + end));
            }
        }
        let quote = rest.chars().next().filter(|c| self.language.quotes.contains(*c))?;
        if quote == '\'' && self.language.has_lifetimes {
            // A character, and no lifetime.
            let inside = rest.get(1..)?;
            let mut chars = inside.char_indices();
            let (_, first) = chars.next()?;
            let end = if first == '\\' {
                inside.get(2..)?.find('\'').map(|end| end + 2)
            } else {
                chars.next().map(|(at, _)| at)
            };
            return end
                .filter(|end| *end < 16 && inside.get(*end..).is_some_and(|s| s.starts_with('\'')))
                .map(|end| end + 2);
        }
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => drop(chars.next()),
                // One that is not closed is no string.
                '\n' if quote != '`' => return None,
                c if c == quote => return Some(at + 1),
                _ => {}
            }
        }
        None
    }
}

/// Length of the number that `text` begins with. A dot is of it only before another digit.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_of_it = |at: &usize| match bytes.get(*at) {
        Some(b'.') => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        Some(byte) => byte.is_ascii_alphanumeric() || *byte == b'_',
        None => false,
    };
    (0..).take_while(is_of_it).count()
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests;
