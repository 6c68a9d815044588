//! Values from and to JSON.

use std::{borrow::Cow, cell::RefCell, fmt};

use serde::{
    Serialize, Serializer,
    de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::Value as Json;

use super::{DataError, Fault, MAX_DEPTH, MAX_INTEGER, Object, Value, base64};
use crate::syntax::Cid;

type Entries<'a> = Vec<(Cow<'a, str>, Value<'a>)>;

/// `depth` is how many arrays and objects lie around the value.
pub(super) fn from_json(json: &Json, depth: usize) -> Result<Value<'_>, DataError> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(number) => Value::Integer(match (number.as_i64(), number.as_f64()) {
            (Some(i), _) => integer(i)?,
            (None, Some(float)) => whole(float)?,
            (None, None) => return Err(Fault::IntegerRange.into()),
        }),
        Json::String(text) => Value::String(Cow::Borrowed(text)),
        Json::Array(values) => {
            check_depth(depth)?;
            let values = values.iter().enumerate();
            let values = values.map(|(index, value)| from_json(value, depth + 1).map_err(|e| e.at_index(index)));
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        Json::Object(map) => {
            check_depth(depth)?;
            let mut entries = Vec::with_capacity(map.len());
            for (key, value) in map {
                let value = from_json(value, depth + 1).map_err(|error| error.under_key(key))?;
                entries.push((Cow::Borrowed(key.as_str()), value));
            }
            object(entries)?
        }
    })
}

pub(super) fn parse(text: &str) -> Result<Value<'_>, DataError> {
    let found = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = Seed { depth: 0, found: &found }.deserialize(&mut deserializer);
    let parsed = parsed.and_then(|value| deserializer.end().map(|()| value));
    parsed.map_err(|error| found.take().unwrap_or_else(|| Fault::Json(error.to_string()).into()))
}

pub(super) fn to_json(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(b) => Json::Bool(*b),
        Value::Integer(i) => Json::from(*i),
        Value::String(text) => Json::String(text.to_string()),
        Value::Bytes(bytes) => single("$bytes", base64::encode(bytes)),
        Value::Link(cid) => single("$link", cid.to_string()),
        Value::Array(values) => Json::Array(values.iter().map(to_json).collect()),
        Value::Object(object) => {
            Json::Object(object.iter().map(|(key, value)| (key.to_owned(), to_json(value))).collect())
        }
    }
}

fn single(key: &str, text: String) -> Json {
    Json::Object(std::iter::once((key.to_owned(), Json::String(text))).collect())
}

/// The JSON form.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => s.serialize_unit(),
            Value::Bool(b) => s.serialize_bool(*b),
            Value::Integer(i) => s.serialize_i64(*i),
            Value::String(text) => s.serialize_str(text),
            Value::Bytes(bytes) => {
                let mut map = s.serialize_map(Some(1))?;
                map.serialize_entry("$bytes", &base64::encode(bytes))?;
                map.end()
            }
            Value::Link(cid) => {
                let mut map = s.serialize_map(Some(1))?;
                map.serialize_entry("$link", cid)?;
                map.end()
            }
            Value::Array(values) => {
                let mut seq = s.serialize_seq(Some(values.len()))?;
                for value in values {
                    seq.serialize_element(value)?;
                }
                seq.end()
            }
            Value::Object(object) => object.serialize(s),
        }
    }
}

/// The JSON form.
impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// What an object of JSON stands for: a link, bytes, or itself.
fn object(mut entries: Entries<'_>) -> Result<Value<'_>, DataError> {
    if let [(key, value)] = entries.as_mut_slice() {
        match &**key {
            "$link" => {
                let text = value.as_str().ok_or(Fault::Link)?;
                return Ok(Value::Link(Cid::parse(text).map_err(Fault::from)?));
            }
            "$bytes" => {
                let bytes = value.as_str().and_then(base64::decode).ok_or(Fault::Bytes)?;
                return Ok(Value::Bytes(Cow::Owned(bytes)));
            }
            _ => {}
        }
    }
    let object = Object::from_unsorted(entries).map_err(|key| DataError::from(Fault::DuplicateKey).under_key(&key))?;
    object.check_reserved()?;
    Ok(Value::Object(object))
}

fn check_depth(depth: usize) -> Result<(), Fault> {
    if depth < MAX_DEPTH { Ok(()) } else { Err(Fault::TooDeep) }
}

fn integer(i: i64) -> Result<i64, Fault> {
    if (-MAX_INTEGER..=MAX_INTEGER).contains(&i) { Ok(i) } else { Err(Fault::IntegerRange) }
}

/// A whole number that JSON writes with a fraction or an exponent, e.g. `123.0`, is an integer there.
fn whole(float: f64) -> Result<i64, Fault> {
    if float.fract() != 0.0 {
        return Err(Fault::Float);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it has no fraction, and what is out of range saturates")]
    integer(float as i64)
}

/// Reads a value from text, so that strings without escapes are borrowed. What the data model refuses is
/// put in `found`, since serde's errors carry text only.
#[derive(Clone, Copy)]
struct Seed<'s> {
    depth: usize,
    found: &'s RefCell<Option<DataError>>,
}

impl Seed<'_> {
    fn inner(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn check<T, E: serde::de::Error>(self, result: Result<T, impl Into<DataError>>) -> Result<T, E> {
        result.map_err(|error| {
            self.found.replace(Some(error.into()));
            E::custom("refused")
        })
    }

    /// Adds a place to what was found further in.
    fn locate(self, place: impl FnOnce(DataError) -> DataError) {
        let found = self.found.take();
        self.found.replace(found.map(place));
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Value<'de>, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E: serde::de::Error>(self, i: i64) -> Result<Value<'de>, E> {
        self.check(integer(i)).map(Value::Integer)
    }

    fn visit_u64<E: serde::de::Error>(self, u: u64) -> Result<Value<'de>, E> {
        self.check(i64::try_from(u).map_err(|_| Fault::IntegerRange).and_then(integer)).map(Value::Integer)
    }

    fn visit_f64<E: serde::de::Error>(self, float: f64) -> Result<Value<'de>, E> {
        self.check(whole(float)).map(Value::Integer)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value<'de>, A::Error> {
        self.check(check_depth(self.depth))?;
        let mut values = Vec::new();
        loop {
            match seq.next_element_seed(self.inner()) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => return Ok(Value::Array(values)),
                Err(error) => {
                    self.locate(|found| found.at_index(values.len()));
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        self.check(check_depth(self.depth))?;
        let mut entries: Entries<'de> = Vec::new();
        while let Some(key) = map.next_key_seed(self.inner())? {
            let Value::String(key) = key else {
                return Err(A::Error::custom("a key that is not text"));
            };
            match map.next_value_seed(self.inner()) {
                Ok(value) => entries.push((key, value)),
                Err(error) => {
                    self.locate(|found| found.under_key(&key));
                    return Err(error);
                }
            }
        }
        self.check(object(entries))
    }
}
