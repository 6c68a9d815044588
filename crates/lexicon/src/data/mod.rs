//! The protocol's data model: what a record can be made of, whatever its schema, and its two
//! encodings, JSON and DAG-CBOR.
//!
//! Every way in refuses what the model cannot hold, so what comes in by one encoding can leave by the
//! other: floats (a whole number written as one is an integer), integers beyond 53 bits, nesting beyond
//! [`MAX_DEPTH`], a `$type` that is not a name, malformed blobs, links and bytes.
//! Source: the protocol's data model specification and its interop vectors.

pub mod base64;
mod check;
mod decode;
mod encode;
mod error;
mod json;
mod object;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use sha2::{Digest, Sha256};

pub use error::{DataError, Fault};
pub use object::{BlobRef, Object};

use crate::syntax::Cid;

/// How many arrays and objects may lie in one another. The network's advice is 32; this bounds what
/// foreign input can make us do, without refusing what others let pass.
pub const MAX_DEPTH: usize = 64;

/// The greatest integer: 2^53 − 1, as JSON has it everywhere. The least is its negative.
pub const MAX_INTEGER: i64 = (1 << 53) - 1;

/// A value of the data model. It borrows its text and bytes from the input where it can;
/// [`into_owned`](Self::into_owned) cuts it loose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// JSON's `null`: a field that is there and says nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number, within ±[`MAX_INTEGER`] when it was read.
    Integer(i64),
    /// Text.
    String(Cow<'a, str>),
    /// Bytes; `{"$bytes": …}` in JSON.
    Bytes(Cow<'a, [u8]>),
    /// A link to other content; `{"$link": …}` in JSON.
    Link(Cid),
    /// Values in order.
    Array(Vec<Value<'a>>),
    /// Values by key.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// Reads a value that serde_json has parsed, borrowing its text.
    ///
    /// # Errors
    /// [`DataError`] with the path of the first thing the data model cannot hold.
    pub fn from_json(json: &'a serde_json::Value) -> Result<Self, DataError> {
        json::from_json(json, 0)
    }

    /// Reads JSON text, borrowing every string without escapes.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json); also for text that is not JSON, and for a key given twice.
    pub fn parse_json(text: &'a str) -> Result<Self, DataError> {
        json::parse(text)
    }

    /// Reads DAG-CBOR, borrowing text and bytes. Only the one canonical encoding of a value passes: shortest
    /// heads, definite lengths, keys in order, no tag but that of links, nothing after the value.
    ///
    /// # Errors
    /// [`DataError`] with the path of the first fault.
    pub fn from_dag_cbor(bytes: &'a [u8]) -> Result<Self, DataError> {
        decode::decode(bytes)
    }

    /// Reads the value that `bytes` begin with, as [`from_dag_cbor`](Self::from_dag_cbor), and returns what follows it:
    /// frames of event streams are two values, one after the other. It may be made of `most` values at most, itself
    /// included: a value takes many times the room of the byte that it can be written in.
    ///
    /// # Errors
    /// [`DataError`] with the path of the first fault.
    pub fn split_dag_cbor(bytes: &'a [u8], most: usize) -> Result<(Self, &'a [u8]), DataError> {
        decode::split(bytes, most)
    }

    /// The canonical DAG-CBOR.
    #[must_use]
    pub fn to_dag_cbor(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        encode::encode(self, &mut out);
        out
    }

    /// The JSON form. (Or serialise the value itself with serde.)
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        json::to_json(self)
    }

    /// The same value, borrowing nothing.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(b) => Value::Bool(b),
            Value::Integer(i) => Value::Integer(i),
            Value::String(s) => Value::String(Cow::Owned(s.into_owned())),
            Value::Bytes(b) => Value::Bytes(Cow::Owned(b.into_owned())),
            Value::Link(cid) => Value::Link(cid),
            Value::Array(values) => Value::Array(values.into_iter().map(Value::into_owned).collect()),
            Value::Object(object) => Value::Object(object.into_owned()),
        }
    }

    /// The object this is, as every record must be.
    ///
    /// # Errors
    /// [`Fault::NotAnObject`].
    pub fn into_object(self) -> Result<Object<'a>, DataError> {
        match self {
            Value::Object(object) => Ok(object),
            _ => Err(Fault::NotAnObject.into()),
        }
    }

    /// The object, if it is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object<'a>> {
        if let Value::Object(object) = self { Some(object) } else { None }
    }

    /// The values, if it is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        if let Value::Array(values) = self { Some(values) } else { None }
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(s) = self { Some(s) } else { None }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        if let Value::Integer(i) = self { Some(*i) } else { None }
    }

    /// The link, if it is one.
    #[must_use]
    pub fn as_link(&self) -> Option<&Cid> {
        if let Value::Link(cid) = self { Some(cid) } else { None }
    }

    /// The bytes, if it is bytes.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The blob, if it is a reference to one.
    #[must_use]
    pub fn as_blob(&self) -> Option<BlobRef<'_>> {
        self.as_object()?.as_blob()
    }
}

/// Whether `block` is an object in canonical DAG-CBOR: what [`Value::from_dag_cbor`] would say, several times as fast.
///
/// # Errors
/// As [`Value::from_dag_cbor`]; also if it is not an object.
pub fn check_dag_cbor_object(block: &[u8]) -> Result<(), DataError> {
    check::check_object(block)
}

/// The CID of a DAG-CBOR block.
#[must_use]
pub fn cid_of(block: &[u8]) -> Cid {
    Cid::of_dag_cbor_digest(&Sha256::digest(block).into())
}

/// The CID of a blob's content.
#[must_use]
pub fn cid_of_blob(content: &[u8]) -> Cid {
    Cid::of_raw_digest(&Sha256::digest(content).into())
}

/// The block of a record given as JSON, and its CID: what a repository will hold.
///
/// # Errors
/// As [`Value::from_json`]; also if the record is not an object.
pub fn record_cid(json: &serde_json::Value) -> Result<(Vec<u8>, Cid), DataError> {
    let record = Value::Object(Value::from_json(json)?.into_object()?);
    let block = record.to_dag_cbor();
    let cid = cid_of(&block);
    Ok((block, cid))
}
