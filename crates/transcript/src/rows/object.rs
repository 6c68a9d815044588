//! A JSON object split into its fields, each kept as a slice of the row until someone asks for it.

use std::{borrow::Cow, fmt};

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

/// Fields that a row's envelope usually has, and an object inside it: one allocation holds them.
const ROW_FIELDS: usize = 24;
const INNER_FIELDS: usize = 6;

/// A JSON object whose fields have been checked to be JSON but not built.
///
/// Untagged enums over borrowed fields refuse valid rows and cost a second pass, so a reader looks
/// at a field's first byte instead and builds only what it needs. A field of an unexpected type is
/// as good as absent: it costs itself, never the row.
#[derive(Debug, Default)]
pub struct Object<'a> {
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// The object at the start of `text`, and how many bytes of `text` it takes.
    ///
    /// # Errors
    /// As `serde_json`: not an object, not JSON, or cut off.
    pub fn parse_prefix(text: &'a str) -> Result<(Self, usize), serde_json::Error> {
        let mut rows = serde_json::Deserializer::from_str(text).into_iter::<RowObject<'a>>();
        match rows.next() {
            Some(Ok(RowObject(object))) => Ok((object, rows.byte_offset())),
            Some(Err(error)) => Err(error),
            None => Err(serde::de::Error::custom("nothing but white space")),
        }
    }

    /// `raw` as an object; `None` if it is anything else.
    #[must_use]
    pub fn from_raw(raw: &'a RawValue) -> Option<Self> {
        raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok()).flatten()
    }

    /// The field as it stands, `null` included. Of a repeated field, the last.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// Whether the field is there and not `null`.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|raw| raw.get() != "null")
    }

    /// The field's string.
    #[must_use]
    pub fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        string_of(self.get(key)?)
    }

    /// The field's boolean; `None` if it is anything else.
    #[must_use]
    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.get(key)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Whether the field is `true`.
    #[must_use]
    pub fn is_true(&self, key: &str) -> bool {
        self.bool(key) == Some(true)
    }

    /// The field's integer.
    #[must_use]
    pub fn i64(&self, key: &str) -> Option<i64> {
        self.get(key)?.get().parse().ok()
    }

    /// The field's object.
    #[must_use]
    pub fn object(&self, key: &str) -> Option<Self> {
        Self::from_raw(self.get(key)?)
    }

    /// The field's array.
    #[must_use]
    pub fn array(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        array_of(self.get(key)?)
    }

    /// The field's time; see [`time_of`].
    #[must_use]
    pub fn time(&self, key: &str) -> Option<Timestamp> {
        time_of(self.get(key)?)
    }

    /// All fields with their names, in their order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.fields.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// The field, built whole.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<Value> {
        parse_raw(self.get(key)?)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields { usual: INNER_FIELDS })
    }
}

/// An object of a row's usual size.
struct RowObject<'a>(Object<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for RowObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields { usual: ROW_FIELDS }).map(Self)
    }
}

struct Fields {
    usual: usize,
}

impl<'de> Visitor<'de> for Fields {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(self.usual);
        while let Some(key) = map.next_key_seed(Key)? {
            fields.push((key, map.next_value::<&'de RawValue>()?));
        }
        Ok(Object { fields })
    }
}

/// Borrows a key where it has no escapes; serde's own `Cow` always copies outside a derived struct.
pub(crate) struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// `raw` built as `T`; `None` if it is something else (or nested deeper than `serde_json` goes).
#[must_use]
pub fn parse_raw<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// `raw` as a string, borrowed where it has no escapes.
#[must_use]
pub fn string_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        Some(Cow::Borrowed(inner))
    } else {
        parse_raw(raw).map(Cow::Owned)
    }
}

/// `raw` as an array of values not yet built.
#[must_use]
pub fn array_of(raw: &RawValue) -> Option<Vec<&RawValue>> {
    raw.get().starts_with('[').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// `raw` as a time: RFC 3339, RFC 3339 without a zone (taken as UTC), or a number since 1970 in
/// seconds or milliseconds. Numbers from 100,000,000,000 on are milliseconds: as seconds they would
/// lie beyond the year 5138, and reading the one for the other puts a session into 1970.
#[must_use]
pub fn time_of(raw: &RawValue) -> Option<Timestamp> {
    if let Some(text) = string_of(raw) {
        return parse_time(&text);
    }
    time_of_number(parse_raw(raw)?)
}

/// A number since 1970, in seconds or milliseconds, as a time; see [`time_of`].
#[must_use]
pub fn time_of_number(number: f64) -> Option<Timestamp> {
    const FIRST_MILLISECONDS: f64 = 100_000_000_000.0;
    let milliseconds = if number.abs() < FIRST_MILLISECONDS { number * 1000.0 } else { number };
    if !milliseconds.is_finite() || milliseconds.abs() > 9e15 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded above; fractions of a millisecond are dropped")]
    Timestamp::from_millisecond(milliseconds.round() as i64).ok()
}

/// An RFC 3339 time; without a zone it is taken as UTC.
#[must_use]
pub fn parse_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let naive: DateTime = text.parse().ok()?;
    TimeZone::UTC.to_timestamp(naive).ok()
}
