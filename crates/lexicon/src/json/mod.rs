//! JSON, parsed once into a flat list of tokens that borrow from the text.
//!
//! A tree of vectors costs an allocation for each object and array; a typical record has two dozen. Here a document
//! is one vector in reading order, every container knows where it ends, and a string without escapes is a slice of
//! the input. `serde_json::Value` is accepted by the validator too; this is the faster way in for bytes.
//!
//! The grammar is exactly that of `serde_json` (RFC 8259; nesting of at most 127; numbers beyond `f64` and lone
//! surrogates refused). Of members with the same name the last one counts, and [`Json::duplicates`] tells that there
//! were several.

mod parse;
mod pretty;
#[cfg(test)]
mod tests;

use crate::{
    path::Path,
    view::{Data, View, whole, within_range},
};

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at line {line}, column {column}")]
pub struct JsonError {
    /// What is wrong there.
    pub what: &'static str,
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
}

/// A JSON document that borrows from its text.
#[derive(Debug, Clone)]
pub struct Json<'a> {
    tokens: Vec<Token<'a>>,
    /// The text of strings that had escapes, one after the other.
    unescaped: String,
    /// Tokens of keys that stand a second time in their object.
    duplicates: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// Above `i64::MAX`.
    Uint(u64),
    Float(f64),
    Str(&'a str),
    /// A range of `unescaped`.
    Escaped {
        start: u32,
        end: u32,
    },
    /// `end` is the token after the last one inside.
    Array {
        len: u32,
        end: u32,
    },
    /// Keys and values in turn.
    Object {
        len: u32,
        end: u32,
    },
}

impl<'a> Json<'a> {
    /// Parses one document.
    ///
    /// # Errors
    /// Where the text is not JSON, is nested deeper than 127, or is 4 GiB or more.
    pub fn parse(text: &'a [u8]) -> Result<Self, JsonError> {
        parse::parse(text)
    }

    /// The outermost value.
    #[must_use]
    pub fn root(&self) -> JsonRef<'_> {
        JsonRef { json: self, index: 0 }
    }

    /// JSON paths of the members whose name their object has had before, in reading order. Readers disagree about
    /// which of them counts, so a record should have none.
    #[must_use]
    pub fn duplicates(&self) -> Vec<String> {
        let mut paths = Vec::with_capacity(self.duplicates.len());
        if !self.duplicates.is_empty() {
            self.duplicates_within(self.root(), &Path::root(), &mut paths);
        }
        paths
    }

    /// Goes as deep as the document, which is at most 127.
    fn duplicates_within(&self, value: JsonRef<'_>, at: &Path<'_>, paths: &mut Vec<String>) {
        match value.view() {
            View::Array(items) => {
                for (i, item) in items.enumerate() {
                    self.duplicates_within(item, &at.index(i), paths);
                }
            }
            View::Object(fields) => {
                for (name, member) in fields {
                    let at = at.name(name);
                    if self.duplicates.binary_search(&(member.index - 1)).is_ok() {
                        paths.push(at.to_string());
                    }
                    self.duplicates_within(member, &at, paths);
                }
            }
            _ => {}
        }
    }

    /// The string token at `index`.
    #[inline]
    fn text(&self, index: u32) -> &str {
        match self.token(index) {
            Token::Str(s) => s,
            Token::Escaped { start, end } => self.unescaped_text(start, end),
            _ => "",
        }
    }

    fn unescaped_text(&self, start: u32, end: u32) -> &str {
        self.unescaped.get(start as usize..end as usize).unwrap_or_default()
    }

    #[inline]
    fn token(&self, index: u32) -> Token<'a> {
        self.tokens.get(index as usize).copied().unwrap_or(Token::Null)
    }

    /// The token after the value that starts at `index`.
    #[inline]
    fn after(&self, index: u32) -> u32 {
        match self.token(index) {
            Token::Array { end, .. } | Token::Object { end, .. } => end,
            _ => index + 1,
        }
    }
}

/// One value of a [`Json`] document.
#[derive(Debug, Clone, Copy)]
pub struct JsonRef<'d> {
    json: &'d Json<'d>,
    index: u32,
}

impl JsonRef<'_> {
    /// The value as JSON over several lines, in the order it was read in.
    #[must_use]
    pub fn to_pretty(self) -> String {
        pretty::pretty(self)
    }
}

impl<'d> Data<'d> for JsonRef<'d> {
    type Items = JsonItems<'d>;
    type Fields = JsonFields<'d>;

    #[inline]
    fn view(self) -> View<'d, Self> {
        let next = self.index + 1;
        match self.json.token(self.index) {
            Token::Null => View::Null,
            Token::Bool(b) => View::Bool(b),
            Token::Int(i) => within_range(i).map_or(View::Number, View::Integer),
            Token::Uint(_) => View::Number,
            Token::Float(f) => whole(f).map_or(View::Number, View::Integer),
            Token::Str(s) => View::String(s),
            Token::Escaped { .. } => View::String(self.json.text(self.index)),
            Token::Array { len, .. } => View::Array(JsonItems { json: self.json, next, left: len }),
            Token::Object { len, .. } => View::Object(JsonFields { json: self.json, next, left: len }),
        }
    }

    #[inline]
    fn field(self, name: &str) -> Option<Self> {
        let View::Object(mut fields) = self.view() else { return None };
        let first = fields.find(|(key, _)| *key == name)?.1;
        if self.json.duplicates.is_empty() {
            return Some(first);
        }
        Some(fields.filter(|(key, _)| *key == name).last().map_or(first, |(_, value)| value))
    }
}

/// Walks the elements of an array.
#[derive(Debug, Clone, Copy)]
pub struct JsonItems<'d> {
    json: &'d Json<'d>,
    next: u32,
    left: u32,
}

impl<'d> Iterator for JsonItems<'d> {
    type Item = JsonRef<'d>;

    #[inline]
    fn next(&mut self) -> Option<JsonRef<'d>> {
        self.left = self.left.checked_sub(1)?;
        let item = JsonRef { json: self.json, index: self.next };
        self.next = self.json.after(self.next);
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for JsonItems<'_> {}

/// Walks the members of an object in the order of the text.
#[derive(Debug, Clone, Copy)]
pub struct JsonFields<'d> {
    json: &'d Json<'d>,
    next: u32,
    left: u32,
}

impl<'d> Iterator for JsonFields<'d> {
    type Item = (&'d str, JsonRef<'d>);

    #[inline]
    fn next(&mut self) -> Option<(&'d str, JsonRef<'d>)> {
        self.left = self.left.checked_sub(1)?;
        let key = self.json.text(self.next);
        let value = JsonRef { json: self.json, index: self.next + 1 };
        self.next = self.json.after(self.next + 1);
        Some((key, value))
    }
}

impl From<JsonRef<'_>> for serde_json::Value {
    fn from(value: JsonRef<'_>) -> Self {
        match value.json.token(value.index) {
            Token::Int(i) => i.into(),
            Token::Uint(u) => u.into(),
            Token::Float(f) => f.into(),
            _ => match value.view() {
                View::Bool(b) => b.into(),
                View::Integer(i) => i.into(),
                View::String(s) => s.into(),
                View::Array(items) => items.map(Self::from).collect(),
                View::Object(fields) => fields.map(|(k, v)| (k.to_owned(), Self::from(v))).collect(),
                View::Null | View::Number | View::Bytes(_) | View::Link => Self::Null,
            },
        }
    }
}
