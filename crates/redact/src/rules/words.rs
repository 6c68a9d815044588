//! A plain list of words.

use std::fmt;

use crate::{Error, text::BLOCK};

/// Longest list, in bytes.
const MAX_BYTES: usize = 2_000_000;

/// The words and phrases that a person wants to stand nowhere: one a line, `#` begins a comment.
///
/// Each is found in any case, its white space standing for any white space; where it begins or ends with a letter, no letter
/// may stand before or after it.
pub struct WordList(pub(crate) Vec<ListedWord>);

/// A word or phrase, in lower case, its white space one blank each.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct ListedWord(pub(crate) String);

impl WordList {
    /// Reads a list.
    ///
    /// # Errors
    /// It holds no word, is over 2 MB, or a line of it has a bar in it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::Words(format!("they are longer than {} MB", MAX_BYTES / 1_000_000)));
        }
        let mut words = Vec::new();
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.contains(BLOCK) {
                return Err(Error::Words(format!("line {number}: a word cannot contain a bar (U+2588)")));
            }
            words.push(ListedWord(line.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        if words.is_empty() {
            return Err(Error::Words("there is none".to_owned()));
        }
        Ok(Self(words))
    }
}

impl fmt::Debug for WordList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WordList").field(&self.0.len()).finish()
    }
}
