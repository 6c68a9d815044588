//! What is said about an invalid record.

use serde::{Serialize, Serializer};

use crate::{
    path::Path,
    view::{Data, View},
};

/// The most violations that are listed.
const MAX_VIOLATIONS: usize = 10_000;

/// One thing in which a record differs from its schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Where, as a JSON path, e.g. `$.steps[3].summary`.
    pub path: String,
    /// The rule that is broken.
    pub rule: Rule,
    /// What was expected and what was found, in a sentence without its full stop. Repeats at most 40 characters of
    /// a value.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({})", self.path, self.message, self.rule)
    }
}

/// What a record's JSON text was found to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The lexicon it was held against.
    pub nsid: String,
    /// Everything in which it differs; none if it is valid.
    pub violations: Vec<Violation>,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal,)*) => {
        /// A rule that a record can break. Its name is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule { $($(#[$doc])* $rule,)* }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// The rule's name, e.g. `max-graphemes`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }
        }
    };
}

rules! {
    /// The value is of another type.
    Type = "type",
    /// A required member is not there.
    Required = "required",
    /// A member is `null` and may not be.
    Null = "null",
    /// The value is not the only one allowed.
    Const = "const",
    /// The value is none of those allowed.
    Enum = "enum",
    /// Too few bytes of text or data, or elements.
    MinLength = "min-length",
    /// Too many bytes of text or data, or elements.
    MaxLength = "max-length",
    /// Too few grapheme clusters.
    MinGraphemes = "min-graphemes",
    /// Too many grapheme clusters.
    MaxGraphemes = "max-graphemes",
    /// An integer below its minimum.
    Minimum = "minimum",
    /// An integer above its maximum.
    Maximum = "maximum",
    /// A string that does not have the format asked for.
    Format = "format",
    /// Not `{"$bytes": base64}`.
    Bytes = "bytes",
    /// Not `{"$link": cid}`.
    CidLink = "cid-link",
    /// Not `{"$type": "blob", "ref": …, "mimeType": …, "size": …}`.
    Blob = "blob",
    /// A blob in the form of 2023, which must not be written.
    LegacyBlob = "legacy-blob",
    /// A blob of a MIME type that is not accepted.
    BlobAccept = "blob-accept",
    /// A blob that is too large.
    BlobSize = "blob-size",
    /// No `$type` to tell which one of a union this is.
    UnionType = "union-type",
    /// None of a closed union.
    UnionClosed = "union-closed",
    /// Not the name of the token.
    Token = "token",
    /// The record's own `$type` is not there or another.
    RecordType = "record-type",
    /// The record's key is not what the schema allows.
    RecordKey = "record-key",
    /// The data model cannot hold this value.
    DataModel = "data-model",
    /// The schema of the value is not known, so that it could not be checked.
    UnresolvedRef = "unresolved-ref",
    /// Nesting beyond every use.
    TooDeep = "too-deep",
    /// A key stands twice in a JSON object.
    DuplicateKey = "duplicate-key",
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Enough is known.
pub(super) struct Halt;

/// Where violations go.
pub(super) trait Sink {
    /// Takes a violation, and tells whether to go on. Only who keeps it asks for the message.
    fn report(&mut self, at: &Path<'_>, rule: Rule, message: impl FnOnce() -> String) -> Result<(), Halt>;
}

/// Stops at the first one.
pub(super) struct First;

impl Sink for First {
    #[inline]
    fn report(&mut self, _: &Path<'_>, _: Rule, _: impl FnOnce() -> String) -> Result<(), Halt> {
        Err(Halt)
    }
}

/// Keeps them.
#[derive(Default)]
pub(super) struct All {
    pub(super) violations: Vec<Violation>,
}

impl Sink for All {
    fn report(&mut self, at: &Path<'_>, rule: Rule, message: impl FnOnce() -> String) -> Result<(), Halt> {
        self.violations.push(Violation { path: at.to_string(), rule, message: message() });
        if self.violations.len() < MAX_VIOLATIONS { Ok(()) } else { Err(Halt) }
    }
}

#[cold]
pub(super) fn wrong_type<'v, D: Data<'v>, S: Sink>(
    expected: &str,
    found: &View<'v, D>,
    at: &Path<'_>,
    sink: &mut S,
) -> Result<(), Halt> {
    sink.report(at, Rule::Type, || {
        let found = match found {
            View::Null => "null",
            View::Bool(_) => "a boolean",
            View::Integer(_) => "an integer",
            View::Number => "a number that is no integer of 53 bits",
            View::String(_) => "a string",
            View::Array(_) => "an array",
            View::Object(_) => "an object",
            View::Bytes(_) => "bytes",
            View::Link => "a link",
        };
        format!("{expected} is expected, but this is {found}")
    })
}
