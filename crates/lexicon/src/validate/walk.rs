//! What no schema describes: only whether the data model can hold it.

use super::{
    MAX_DEPTH, Rule, is_too_deep,
    report::{Halt, Sink, wrong_type},
    scalar::{bytes_len, is_link},
    typed,
};
use crate::{
    catalog::BlobCheck,
    path::Path,
    view::{Data, View},
};

const ANY_BLOB: BlobCheck = BlobCheck { accept: None, max_size: u64::MAX };

/// What an object is by its reserved members.
enum Reserved {
    No,
    Bytes,
    Link,
    Blob,
}

fn reserved<'v, D: Data<'v>>(fields: D::Fields) -> Reserved {
    for (name, value) in fields {
        match (name, value.view()) {
            ("$bytes", _) => return Reserved::Bytes,
            ("$link", _) => return Reserved::Link,
            ("$type", View::String("blob")) => return Reserved::Blob,
            _ => {}
        }
    }
    Reserved::No
}

/// A value of the type `unknown`: an object that is just that.
pub(super) fn unknown<'v, D: Data<'v>, S: Sink>(value: D, at: &Path<'_>, sink: &mut S) -> Result<(), Halt> {
    let fields = match value.view() {
        View::Object(fields) => fields,
        other => return wrong_type("an object", &other, at, sink),
    };
    let found = match reserved::<D>(fields) {
        Reserved::No => return any(value, at, sink),
        Reserved::Bytes => "bytes",
        Reserved::Link => "a link",
        Reserved::Blob => "a blob",
    };
    sink.report(at, Rule::Type, || format!("an object is expected, but this is {found}"))
}

/// A member that the schema of its object does not know.
#[inline]
pub(super) fn member<'v, D: Data<'v>, S: Sink>(
    name: &'v str,
    value: D,
    at: &Path<'_>,
    sink: &mut S,
) -> Result<(), Halt> {
    match value.view() {
        View::String(s) if name != "$type" || !s.is_empty() => Ok(()),
        _ if name == "$type" => {
            sink.report(&at.name(name), Rule::DataModel, || "a string that is not empty is expected".into())
        }
        View::Null | View::Bool(_) | View::Integer(_) => Ok(()),
        _ => any(value, &at.name(name), sink),
    }
}

/// Any value.
pub(super) fn any<'v, D: Data<'v>, S: Sink>(value: D, at: &Path<'_>, sink: &mut S) -> Result<(), Halt> {
    match value.view() {
        View::Null | View::Bool(_) | View::Integer(_) | View::String(_) | View::Bytes(_) | View::Link => Ok(()),
        View::Number => sink
            .report(at, Rule::DataModel, || "this number is no integer of 53 bits, and records have no others".into()),
        View::Array(_) | View::Object(_) if is_too_deep(at) => {
            sink.report(at, Rule::TooDeep, || format!("nested deeper than {MAX_DEPTH}"))
        }
        View::Array(items) => {
            for (i, item) in items.enumerate() {
                any(item, &at.index(i), sink)?;
            }
            Ok(())
        }
        View::Object(fields) => match reserved::<D>(fields) {
            Reserved::No => {
                let View::Object(fields) = value.view() else { return Ok(()) };
                for (name, value) in fields {
                    member(name, value, at, sink)?;
                }
                Ok(())
            }
            Reserved::Bytes if bytes_len(value).is_some() => Ok(()),
            Reserved::Bytes => {
                sink.report(at, Rule::DataModel, || "`$bytes` stands alone in its object, and is base64".into())
            }
            Reserved::Link if is_link(value) => Ok(()),
            Reserved::Link => {
                sink.report(at, Rule::DataModel, || "`$link` stands alone in its object, and is a CID".into())
            }
            Reserved::Blob => typed::blob(&ANY_BLOB, value, at, sink),
        },
    }
}
