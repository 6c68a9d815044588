//! Valid examples of what a schema describes, made from it alone; the same schema always gives the same.

mod text;

use serde_json::{Map, Value, json};

use crate::{
    Catalog,
    data::{MAX_INTEGER, base64},
    schema::{DefKind, IntegerType, KeyRule, Length, Lexicon, ObjectType, Type, full_name, resolve_ref, split_ref},
};

/// Optional members are left out from this depth on: schemas may hold themselves.
const OPTIONAL_DEPTH: u32 = 6;

/// Deeper than this nothing is made.
const MAX_DEPTH: u32 = 40;

/// The most values that one example is made of.
const MAX_VALUES: u32 = 2_000;

/// The most bytes of a text or of data.
const MAX_BYTES: u64 = 4_096;

/// The content of example files: any will do.
const BLOB: &str = "bafkreibme22gw2h7y2h7tg2fhqotaqjucnbc24deqo72b6mkl2egezxhvy";

impl Catalog {
    /// A record of the collection `nsid`, with everything that its schema describes, that [`Self::validate_record`] finds
    /// nothing wrong with. `None` if there is no such collection, or if no such record could be made: what is required is
    /// not known here, contradicts itself, holds itself without end, or is longer than an example should be.
    #[must_use]
    pub fn example_record(&self, nsid: &str) -> Option<Value> {
        let record = self.lexicon(nsid)?.record()?;
        let mut maker = Maker { catalog: self, nsid, left: MAX_VALUES };
        let mut object = maker.object(&record.object, 0)?;
        object.insert("$type".to_owned(), Value::from(nsid));
        let value = Value::Object(object);
        let is_valid = self.is_valid_record(nsid, &value, None).unwrap_or_default();
        is_valid.then_some(value)
    }

    /// A value of the definition `name` of the lexicon `nsid`, as far as that describes values: of an endpoint, it is what
    /// it answers. As [`Self::example_record`] otherwise.
    #[must_use]
    pub fn example(&self, nsid: &str, name: &str) -> Option<Value> {
        let mut maker = Maker { catalog: self, nsid, left: MAX_VALUES };
        match &self.lexicon(nsid)?.def(name)?.kind {
            DefKind::Record(_) => self.example_record(nsid),
            DefKind::Type(Type::Token) => Some(full_name(nsid, name).into()),
            DefKind::Type(ty) => {
                let value = maker.ty(ty, name, 0)?;
                self.validate_def(nsid, name, &value)?.is_empty().then_some(value)
            }
            DefKind::Endpoint(endpoint) => {
                let schema = endpoint.output.as_ref()?.schema.as_ref()?;
                let value = maker.ty(&schema.ty, "output", 0)?;
                self.validate_output(nsid, &value).ok()?.is_empty().then_some(value)
            }
            DefKind::PermissionSet(_) | DefKind::Foreign(_) => None,
        }
    }

    /// A key that a record of the collection `nsid` could have.
    #[must_use]
    pub fn example_key(&self, nsid: &str) -> Option<String> {
        Some(match &self.lexicon(nsid)?.record()?.key {
            KeyRule::Tid => text::TID.to_owned(),
            KeyRule::Nsid => "com.example.note".to_owned(),
            KeyRule::Literal(key) => key.clone(),
            KeyRule::Any | KeyRule::Foreign(_) => "example".to_owned(),
        })
    }
}

struct Maker<'m> {
    catalog: &'m Catalog,
    /// The lexicon that `#name` is of.
    nsid: &'m str,
    /// How many values may still be tried; those that could not be made count too, so that the work ends.
    left: u32,
}

impl<'m> Maker<'m> {
    /// `name` is what the value is called, for texts to say something.
    fn ty(&mut self, ty: &'m Type, name: &str, depth: u32) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match ty {
            Type::Null => Value::Null,
            Type::Boolean { constant, default } => Value::Bool(constant.or(default.map(|d| !d)).unwrap_or(true)),
            Type::Integer(integer) => self::integer(integer)?.into(),
            Type::String(string) => text::text(string, name)?.into(),
            Type::Bytes(length) => bytes(*length)?,
            Type::CidLink => json!({"$link": text::CID}),
            Type::Blob { accept, max_size } => blob(accept.as_deref(), *max_size)?,
            Type::Array { items, length } => {
                let min = length.min.unwrap_or_default();
                let wanted = length.max.unwrap_or(1).min(1).max(min);
                let mut list = Vec::new();
                for _ in 0..wanted {
                    match self.ty(&items.ty, singular(name), depth + 1) {
                        Some(item) => list.push(item),
                        None if min == 0 => break,
                        None => return None,
                    }
                }
                Value::Array(list)
            }
            Type::Object(object) => Value::Object(self.object(object, depth)?),
            Type::Ref(target) => {
                let full = resolve_ref(self.nsid, target);
                self.def(&full, name, depth)?
            }
            Type::Union { refs, closed } => self.union(refs, *closed, depth)?,
            Type::Unknown => json!({}),
            Type::Token | Type::Foreign(_) => json!("example"),
        })
    }

    fn object(&mut self, object: &'m ObjectType, depth: u32) -> Option<Map<String, Value>> {
        let mut map = Map::new();
        for (name, schema) in &object.properties {
            let is_required = object.required.contains(name);
            if !is_required && depth >= OPTIONAL_DEPTH {
                continue;
            }
            match self.ty(&schema.ty, name, depth + 1) {
                Some(value) => {
                    map.insert(name.clone(), value);
                }
                None if object.nullable.contains(name) => {
                    map.insert(name.clone(), Value::Null);
                }
                None if is_required => return None,
                None => {}
            }
        }
        Some(map)
    }

    fn def(&mut self, full: &str, name: &str, depth: u32) -> Option<Value> {
        let (nsid, def) = split_ref(full);
        let lexicon: &'m Lexicon = self.catalog.lexicon(nsid)?;
        let mut inner = Maker { catalog: self.catalog, nsid: lexicon.id.as_str(), left: self.left };
        let value = match &lexicon.def(def)?.kind {
            DefKind::Record(record) => {
                let object = inner.object(&record.object, depth + 1);
                object.map(|mut object| {
                    object.insert("$type".to_owned(), nsid.into());
                    Value::Object(object)
                })
            }
            DefKind::Type(Type::Token) => Some(full.into()),
            DefKind::Type(ty) => inner.ty(ty, name, depth + 1),
            DefKind::Endpoint(_) | DefKind::PermissionSet(_) | DefKind::Foreign(_) => None,
        };
        self.left = inner.left;
        value
    }

    fn union(&mut self, refs: &[String], closed: bool, depth: u32) -> Option<Value> {
        for target in refs {
            let full = resolve_ref(self.nsid, target);
            if let Some(Value::Object(mut object)) = self.def(&full, "", depth) {
                object.insert("$type".to_owned(), full.into());
                return Some(Value::Object(object));
            }
        }
        // Of an open union there may be any other.
        (!closed).then(|| json!({"$type": "com.example.other"}))
    }
}

/// What the elements of `name` are called.
fn singular(name: &str) -> &str {
    name.strip_suffix('s').filter(|rest| rest.len() > 2).unwrap_or(name)
}

fn integer(integer: &IntegerType) -> Option<i64> {
    let fits = |value: &i64| {
        integer.min.is_none_or(|min| *value >= min)
            && integer.max.is_none_or(|max| *value <= max)
            && integer.values.as_ref().is_none_or(|values| values.contains(value))
            && integer.constant.is_none_or(|constant| *value == constant)
            && value.unsigned_abs() <= MAX_INTEGER.unsigned_abs()
    };
    let own = integer.constant.into_iter().chain(integer.default).chain(integer.values.iter().flatten().copied());
    own.chain([42, 1]).chain(integer.min).chain(integer.max).find(fits)
}

/// Something that has `length`, and `usual` where it can.
fn size(length: Length, usual: u64) -> Option<u64> {
    let size = usual.max(length.min.unwrap_or_default()).min(length.max.unwrap_or(u64::MAX));
    (size >= length.min.unwrap_or_default() && size <= MAX_BYTES).then_some(size)
}

fn bytes(length: Length) -> Option<Value> {
    let len = usize::try_from(size(length, 8)?).ok()?;
    let data: Vec<u8> = b"example ".iter().copied().cycle().take(len).collect();
    Some(json!({"$bytes": base64::encode(&data)}))
}

fn blob(accept: Option<&[String]>, max_size: Option<u64>) -> Option<Value> {
    let mime_type = match accept {
        None => "text/plain".to_owned(),
        Some(accept) => match accept.first()?.as_str() {
            "*/*" | "*" => "text/plain".to_owned(),
            "image/*" => "image/png".to_owned(),
            "video/*" => "video/mp4".to_owned(),
            "audio/*" => "audio/mpeg".to_owned(),
            "text/*" => "text/plain".to_owned(),
            other => other.replace('*', "example"),
        },
    };
    let size = max_size.unwrap_or(u64::MAX).min(7);
    Some(json!({"$type": "blob", "ref": {"$link": BLOB}, "mimeType": mime_type, "size": size}))
}

#[cfg(test)]
mod tests;
