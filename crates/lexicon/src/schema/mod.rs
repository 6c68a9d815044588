//! Lexicon documents as they are written: definitions, types and their constraints.
//!
//! Everything a document says is kept in its order, descriptions too, for tools that show or compare schemas. To hold
//! records against them, put them into a [`Catalog`](crate::Catalog).
//! Source: the protocol's lexicon specification and its interop vectors.

mod endpoint;
mod parse;
mod reader;
#[cfg(test)]
mod tests;

use crate::{Nsid, error::Problem};

pub use endpoint::{Audience, Body, Endpoint, EndpointKind, Permission, PermissionSet};
pub(crate) use parse::{Parts, parts};

/// A lexicon document.
#[derive(Debug, Clone, PartialEq)]
pub struct Lexicon {
    /// Its name.
    pub id: Nsid,
    /// What it is about.
    pub description: Option<String>,
    /// The definitions by name, `main` among them, in the document's order.
    pub defs: Vec<(String, Def)>,
    /// What the document says that the language does not have. It is passed over, not obeyed.
    pub notes: Vec<Problem>,
}

/// `nsid#name`, and `nsid` alone for `main`: as `$type` has it.
#[must_use]
pub fn full_name(nsid: &str, name: &str) -> String {
    if name == "main" { nsid.to_owned() } else { format!("{nsid}#{name}") }
}

/// The full name of what `target`, as it is written in the lexicon `nsid`, refers to.
#[must_use]
pub fn resolve_ref(nsid: &str, target: &str) -> String {
    match target.split_once('#') {
        Some(("", name)) => full_name(nsid, name),
        Some((other, name)) => full_name(other, name),
        None => target.to_owned(),
    }
}

/// NSID and definition of a full name.
#[must_use]
pub fn split_ref(full: &str) -> (&str, &str) {
    full.split_once('#').unwrap_or((full, "main"))
}

impl DefKind {
    /// What it is called in a document's `type`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Record(_) => "record",
            Self::Endpoint(endpoint) => endpoint.kind.name(),
            Self::PermissionSet(_) => "permission-set",
            Self::Type(ty) => ty.name(),
            Self::Foreign(name) => name,
        }
    }
}

impl KeyRule {
    /// As it is written in a document.
    #[must_use]
    pub fn as_written(&self) -> String {
        match self {
            Self::Tid => "tid".to_owned(),
            Self::Nsid => "nsid".to_owned(),
            Self::Any => "any".to_owned(),
            Self::Literal(key) => format!("literal:{key}"),
            Self::Foreign(rule) => rule.clone(),
        }
    }
}

impl Type {
    /// What it is called in a document's `type`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Boolean { .. } => "boolean",
            Self::Integer(_) => "integer",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::CidLink => "cid-link",
            Self::Blob { .. } => "blob",
            Self::Array { .. } => "array",
            Self::Object(_) => "object",
            Self::Ref(_) => "ref",
            Self::Union { .. } => "union",
            Self::Unknown => "unknown",
            Self::Token => "token",
            Self::Foreign(name) => name,
        }
    }
}

impl Format {
    /// What it is called in a document's `format`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::AtIdentifier => "at-identifier",
            Self::AtUri => "at-uri",
            Self::Cid => "cid",
            Self::Datetime => "datetime",
            Self::Did => "did",
            Self::Handle => "handle",
            Self::Language => "language",
            Self::Nsid => "nsid",
            Self::RecordKey => "record-key",
            Self::Tid => "tid",
            Self::Uri => "uri",
            Self::Foreign(name) => name,
        }
    }
}

impl Lexicon {
    /// The definition `name`.
    #[must_use]
    pub fn def(&self, name: &str) -> Option<&Def> {
        self.defs.iter().find(|(key, _)| key == name).map(|(_, def)| def)
    }

    /// The record schema, if that is what this lexicon defines.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        match &self.def("main")?.kind {
            DefKind::Record(record) => Some(record),
            _ => None,
        }
    }
}

/// A named definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Def {
    /// What it is.
    pub description: Option<String>,
    /// What it defines.
    pub kind: DefKind,
}

/// What a definition defines.
#[derive(Debug, Clone, PartialEq)]
pub enum DefKind {
    /// Records of a collection.
    Record(Record),
    /// A query, a procedure or a subscription.
    Endpoint(Box<Endpoint>),
    /// Permissions that are asked for together.
    PermissionSet(PermissionSet),
    /// A type for others to refer to.
    Type(Type),
    /// A kind the language does not have, by its name.
    Foreign(String),
}

/// The records of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What their keys look like.
    pub key: KeyRule,
    /// What they look like.
    pub object: ObjectType,
    /// What the object is, where that is said beside what the record is.
    pub description: Option<String>,
}

/// What the keys of a collection look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyRule {
    /// Timestamp identifiers.
    Tid,
    /// NSIDs.
    Nsid,
    /// Anything that is a record key.
    Any,
    /// This one key only.
    Literal(String),
    /// A rule the language does not have; keys are held to [`Self::Any`].
    Foreign(String),
}

/// A type in place, with what is said about it there.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// What it is for.
    pub description: Option<String>,
    /// The type.
    pub ty: Type,
}

/// A type. Lengths of strings and bytes are in bytes, of arrays in elements.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `null` and nothing else.
    Null,
    /// A boolean.
    Boolean {
        /// The only value there is.
        constant: Option<bool>,
        /// The value where there is none.
        default: Option<bool>,
    },
    /// A whole number.
    Integer(IntegerType),
    /// Text.
    String(StringType),
    /// Bytes.
    Bytes(Length),
    /// A link to a block by its CID.
    CidLink,
    /// A file.
    Blob {
        /// MIME types, with `*` after the slash or for all of it.
        accept: Option<Vec<String>>,
        /// In bytes.
        max_size: Option<u64>,
    },
    /// A list.
    Array {
        /// What is in it.
        items: Box<Schema>,
        /// How many.
        length: Length,
    },
    /// An object.
    Object(ObjectType),
    /// The definition of that name, as written: `#name`, `nsid` or `nsid#name`.
    Ref(String),
    /// One of the definitions of those names, told by `$type`.
    Union {
        /// As in [`Type::Ref`].
        refs: Vec<String>,
        /// Whether there can be no others.
        closed: bool,
    },
    /// Any object.
    Unknown,
    /// A name that stands for itself.
    Token,
    /// A type the language does not have, by its name. Anything is let through.
    Foreign(String),
}

/// Lower and upper bound of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Length {
    /// At least.
    pub min: Option<u64>,
    /// At most.
    pub max: Option<u64>,
}

/// Constraints of an integer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntegerType {
    /// At least.
    pub min: Option<i64>,
    /// At most.
    pub max: Option<i64>,
    /// The only values there are.
    pub values: Option<Vec<i64>>,
    /// The only value there is.
    pub constant: Option<i64>,
    /// The value where there is none.
    pub default: Option<i64>,
}

/// Constraints of a string.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StringType {
    /// Its syntax.
    pub format: Option<Format>,
    /// In UTF-8 bytes.
    pub length: Length,
    /// In extended grapheme clusters.
    pub graphemes: Length,
    /// The only values there are.
    pub values: Option<Vec<String>>,
    /// Values one may expect, among others.
    pub known_values: Option<Vec<String>>,
    /// The only value there is.
    pub constant: Option<String>,
    /// The value where there is none.
    pub default: Option<String>,
}

/// The syntax of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the formats")]
pub enum Format {
    AtIdentifier,
    AtUri,
    Cid,
    Datetime,
    Did,
    Handle,
    Language,
    Nsid,
    RecordKey,
    Tid,
    Uri,
    /// A format the language does not have. Anything is let through.
    Foreign(String),
}

/// The members of an object. Others may be there, and are left alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ObjectType {
    /// The members by name, in the document's order.
    pub properties: Vec<(String, Schema)>,
    /// Names of members that must be there.
    pub required: Vec<String>,
    /// Names of members that may be `null`.
    pub nullable: Vec<String>,
}
