//! Objects, arrays, unions and blobs.

use super::{
    MAX_DEPTH, Rule, is_too_deep,
    report::{Halt, Sink, wrong_type},
    scalar::is_link,
    walk,
};
use crate::{
    catalog::{BlobCheck, Bounds, Catalog, Check, ObjectCheck, UnionCheck},
    path::{Path, quoted},
    view::{Data, View},
};

impl Catalog {
    pub(super) fn object<'v, D: Data<'v>, S: Sink>(
        &self,
        object: &ObjectCheck,
        value: D,
        at: &Path<'_>,
        sink: &mut S,
    ) -> Result<(), Halt> {
        let fields = match value.view() {
            View::Object(fields) => fields,
            other => return wrong_type("an object", &other, at, sink),
        };
        if is_too_deep(at) {
            return sink.report(at, Rule::TooDeep, || format!("nested deeper than {MAX_DEPTH}"));
        }
        // One bit for each of the first 64 properties, the required ones first.
        let mut seen = 0_u64;
        for (name, member) in fields {
            let found = object.names.find(name).and_then(|i| Some((i, object.properties.get(i)?)));
            let Some((i, property)) = found else {
                // The record's own `$type` has been looked at.
                if name == "$type" && at.depth() == 0 {
                    continue;
                }
                // In JSON, what is no object looks like one.
                if let Some(what) = compound(name) {
                    return sink.report(at, Rule::Type, || format!("an object is expected, but this is {what}"));
                }
                walk::member(name, member, at, sink)?;
                continue;
            };
            seen |= 1_u64.checked_shl(u32::try_from(i).unwrap_or(u32::MAX)).unwrap_or_default();
            if matches!(member.view(), View::Null) && !self.takes_null(&property.check) {
                if !property.nullable {
                    sink.report(&at.name(name), Rule::Null, || "this member may not be null".into())?;
                }
                continue;
            }
            self.check(&property.check, member, &at.name(name), sink)?;
        }
        let all = 1_u64.checked_shl(u32::try_from(object.required).unwrap_or(u32::MAX)).map_or(u64::MAX, |bit| bit - 1);
        if seen & all != all || object.required > 64 {
            for i in 0..object.required {
                let name = object.names.name(i);
                if value.field(name).is_none() {
                    sink.report(&at.name(name), Rule::Required, || "this member is required, but not there".into())?;
                }
            }
        }
        Ok(())
    }

    fn takes_null(&self, check: &Check) -> bool {
        match check {
            Check::Null | Check::Any => true,
            Check::Def(id) => self.def(*id).is_some_and(|def| matches!(def.check, Check::Null | Check::Any)),
            _ => false,
        }
    }

    pub(super) fn array<'v, D: Data<'v>, S: Sink>(
        &self,
        check: &Check,
        Bounds { min, max }: Bounds,
        value: D,
        at: &Path<'_>,
        sink: &mut S,
    ) -> Result<(), Halt> {
        let items = match value.view() {
            View::Array(items) => items,
            other => return wrong_type("an array", &other, at, sink),
        };
        if is_too_deep(at) {
            return sink.report(at, Rule::TooDeep, || format!("nested deeper than {MAX_DEPTH}"));
        }
        let found = items.len();
        if found < min {
            sink.report(at, Rule::MinLength, || {
                format!("at least {min} elements are expected, but there are {found}")
            })?;
        }
        if found > max {
            sink.report(at, Rule::MaxLength, || format!("at most {max} elements are allowed, but there are {found}"))?;
        }
        for (i, item) in items.enumerate() {
            self.check(check, item, &at.index(i), sink)?;
        }
        Ok(())
    }

    pub(super) fn union<'v, D: Data<'v>, S: Sink>(
        &self,
        union: &UnionCheck,
        value: D,
        at: &Path<'_>,
        sink: &mut S,
    ) -> Result<(), Halt> {
        if !matches!(value.view(), View::Object(_)) {
            return wrong_type("an object", &value.view(), at, sink);
        }
        let ty = match value.field("$type").map(Data::view) {
            Some(View::String(ty)) if !ty.is_empty() => ty,
            Some(_) => {
                return sink.report(&at.name("$type"), Rule::UnionType, || {
                    "a string that names one of the union is expected".into()
                });
            }
            None => {
                return sink
                    .report(at, Rule::UnionType, || "there is no `$type` to tell which of the union it is".into());
            }
        };
        if ty == "blob" {
            return sink.report(&at.name("$type"), Rule::UnionType, || "a blob is none of a union".into());
        }
        if ty.ends_with("#main") {
            return sink.report(&at.name("$type"), Rule::UnionType, || {
                format!("{} should be written without its `#main`", quoted(ty))
            });
        }
        match union.names.find(ty).and_then(|i| union.targets.get(i)) {
            // Of an open union anyone may add to, it is no fault to know one part less.
            Some(Check::Missing(_)) if !union.closed => walk::any(value, at, sink),
            Some(target) => self.check(target, value, at, sink),
            None if union.closed => sink.report(&at.name("$type"), Rule::UnionClosed, || {
                format!("{} is none of the {} that this union holds", quoted(ty), union.targets.len())
            }),
            None => walk::any(value, at, sink),
        }
    }
}

/// What an object with a member of that name is in truth.
#[inline]
fn compound(name: &str) -> Option<&'static str> {
    match name {
        "$link" => Some("a link"),
        "$bytes" => Some("bytes"),
        _ => None,
    }
}

pub(super) fn blob<'v, D: Data<'v>, S: Sink>(
    check: &BlobCheck,
    value: D,
    at: &Path<'_>,
    sink: &mut S,
) -> Result<(), Halt> {
    let fields = match value.view() {
        View::Object(fields) => fields,
        other => return wrong_type("a blob", &other, at, sink),
    };
    let (mut ty, mut link, mut mime_type, mut size, mut cid) = (None, None, None, None, None);
    for (name, member) in fields {
        match name {
            "$type" => ty = Some(member),
            "ref" => link = Some(member),
            "mimeType" => mime_type = Some(member),
            "size" => size = Some(member),
            "cid" => cid = Some(member),
            _ => walk::member(name, member, at, sink)?,
        }
    }
    match ty.map(Data::view) {
        Some(View::String("blob")) => {}
        None if cid.is_some() && mime_type.is_some() => {
            return sink.report(at, Rule::LegacyBlob, || {
                "a blob of `cid` and `mimeType` alone is of a form that must not be written any more".into()
            });
        }
        _ => return sink.report(at, Rule::Blob, || "a blob is expected, with `blob` as its `$type`".into()),
    }
    if !link.is_some_and(is_link) {
        sink.report(&at.name("ref"), Rule::Blob, || "a link to the blob is expected".into())?;
    }
    let mime_type = match mime_type.map(Data::view) {
        Some(View::String(mime_type)) if !mime_type.is_empty() => Some(mime_type),
        _ => {
            sink.report(&at.name("mimeType"), Rule::Blob, || "the MIME type of the blob is expected".into())?;
            None
        }
    };
    let size = match size.map(Data::view) {
        Some(View::Integer(size)) => u64::try_from(size).ok(),
        _ => None,
    };
    if size.is_none() {
        sink.report(&at.name("size"), Rule::Blob, || "the size of the blob in bytes is expected".into())?;
    }
    if let (Some(accept), Some(mime_type)) = (&check.accept, mime_type)
        && !accept.iter().any(|pattern| accepts(pattern, mime_type))
    {
        sink.report(&at.name("mimeType"), Rule::BlobAccept, || {
            format!("{} is not among the types accepted", quoted(mime_type))
        })?;
    }
    match size {
        Some(size) if size > check.max_size => sink.report(&at.name("size"), Rule::BlobSize, || {
            format!("at most {} bytes are allowed, but there are {size}", check.max_size)
        }),
        _ => Ok(()),
    }
}

/// Whether `pattern` (`image/png`, `image/*` or `*/*`) takes `mime_type`.
fn accepts(pattern: &str, mime_type: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("*/" | "") => true,
        Some(family) => mime_type.starts_with(family),
        None => pattern == mime_type,
    }
}
