//! What shell start files assign: words as a shell splits them, but nothing is expanded.

use zeroize::Zeroizing;

use super::sink::{Sink, Trust};

/// The longest quoted text, in bytes; a quote that closes later is a stray one.
const LONGEST_QUOTE: usize = 16 * 1024;

/// A word of a command.
#[derive(Default)]
struct Word {
    text: Zeroizing<String>,
    /// Whether a shell would put something else in its place, or in a part of it.
    expands: bool,
}

/// `export NAME=value`, `NAME=value`, fish's `set -gx NAME value` and csh's `setenv NAME value`. A value that the shell would
/// expand is passed over.
pub(super) fn script(text: &str, sink: &mut Sink) {
    let mut splitter = Splitter { rest: text, words: Vec::new(), word: None };
    while let Some(command) = splitter.next_command() {
        take(&command, sink);
    }
}

fn take(words: &[Word], sink: &mut Sink) {
    // What a command may stand behind.
    let reserved =
        |word: &&Word| matches!(word.text.as_str(), "then" | "else" | "do" | "if" | "elif" | "while" | "{" | "!");
    let words = words.get(words.iter().take_while(reserved).count()..).unwrap_or_default();
    let Some(first) = words.first() else { return };
    let plain = |n: usize| words.get(n).filter(|w| !w.expands);
    match first.text.as_str() {
        "export" | "declare" | "typeset" | "readonly" | "local" | "env" => {
            for word in words.iter().skip(1) {
                assign(word, sink);
            }
        }
        "setenv" => {
            if let (Some(name), Some(value)) = (plain(1), plain(2)) {
                sink.offer(&name.text, &value.text, Trust::Settings);
            }
        }
        "set" => {
            let mut words = words.iter().skip(1).skip_while(|w| w.text.starts_with('-'));
            if let (Some(name), Some(value)) = (words.next(), words.next())
                && !value.expands
            {
                // csh: set NAME=value and set NAME = value.
                let value = if value.text.as_str() == "=" { words.next().unwrap_or(value) } else { value };
                sink.offer(&name.text, &value.text, Trust::Settings);
            }
        }
        _ => words.iter().take_while(|word| assign(word, sink)).for_each(drop),
    }
}

/// Takes `NAME=value`; whether it is one.
fn assign(word: &Word, sink: &mut Sink) -> bool {
    let Some((name, value)) = word.text.split_once('=') else { return false };
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if is_name && !word.expands {
        sink.offer(name, value, Trust::Settings);
    }
    is_name
}

struct Splitter<'a> {
    rest: &'a str,
    words: Vec<Word>,
    word: Option<Word>,
}

impl Splitter<'_> {
    fn next_command(&mut self) -> Option<Vec<Word>> {
        if self.rest.is_empty() {
            return None;
        }
        while let Some(c) = self.rest.chars().next() {
            let before = self.rest;
            self.rest = before.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '\n' | ';' | '&' | '|' | '(' | ')' => {
                    self.end_word();
                    if !self.words.is_empty() {
                        break;
                    }
                }
                '\r' | ' ' | '\t' => self.end_word(),
                '#' if self.word.is_none() => {
                    self.rest = self.rest.find('\n').and_then(|at| self.rest.get(at..)).unwrap_or_default();
                }
                '\'' => self.quoted('\''),
                '"' => self.quoted('"'),
                '\\' => {
                    let next = self.rest.chars().next();
                    self.rest = self.rest.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                    if let Some(next) = next.filter(|c| *c != '\n') {
                        self.push(next);
                    }
                }
                '`' | '$' => {
                    self.push(c);
                    self.expands();
                }
                c => self.push(c),
            }
        }
        self.end_word();
        Some(std::mem::take(&mut self.words))
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    fn expands(&mut self) {
        self.word.get_or_insert_default().expands = true;
    }

    /// Reads on to the closing quote; an opening one that none follows is a letter like any other.
    fn quoted(&mut self, quote: char) {
        let text = self.rest;
        let mut escaped = false;
        let mut end = None;
        for (at, c) in text.char_indices().take_while(|(at, _)| *at < LONGEST_QUOTE) {
            if c == quote && !escaped {
                end = Some(at);
                break;
            }
            escaped = quote == '"' && c == '\\' && !escaped;
        }
        let Some(end) = end else {
            self.push(quote);
            return;
        };
        self.rest = text.get(end + 1..).unwrap_or_default();
        let inner = text.get(..end).unwrap_or_default();
        let mut chars = inner.chars();
        let word = self.word.get_or_insert_default();
        while let Some(c) = chars.next() {
            match c {
                '\\' if quote == '"' => match chars.next() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => word.text.push(c),
                    Some('\n') | None => {}
                    Some(c) => {
                        word.text.push('\\');
                        word.text.push(c);
                    }
                },
                '$' | '`' if quote == '"' => {
                    word.text.push(c);
                    word.expands = true;
                }
                c => word.text.push(c),
            }
        }
    }
}
