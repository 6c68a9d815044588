//! What the validator needs to see of a value, whatever holds it.
//!
//! Records reach us as JSON bytes, as `serde_json::Value` and as decoded DAG-CBOR. The validator is written once
//! against this trait and compiled for each, so that nobody converts (and allocates) before asking whether a record
//! is valid.

use std::borrow::Cow;

use crate::data::{self, MAX_INTEGER};

/// A value of the data model that can be looked at without being converted.
///
/// Implemented by references and cursors, hence `Copy`. `'v` is how long the strings inside live.
pub trait Data<'v>: Copy {
    /// Walks the elements of an array.
    type Items: ExactSizeIterator<Item = Self>;
    /// Walks the members of an object.
    type Fields: Iterator<Item = (&'v str, Self)>;

    /// What kind of value this is, with its content one level deep.
    fn view(self) -> View<'v, Self>;

    /// The member `name` of an object; of two with the same name, the last. `None` on anything else.
    fn field(self, name: &str) -> Option<Self> {
        let View::Object(fields) = self.view() else { return None };
        fields.filter(|(key, _)| *key == name).last().map(|(_, value)| value)
    }
}

/// One level of a value.
pub enum View<'v, D: Data<'v>> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number within ±[`MAX_INTEGER`]; `1.0` is one, as the data model has it.
    Integer(i64),
    /// Any other number; the data model has no room for it.
    Number,
    /// Text.
    String(&'v str),
    /// An array.
    Array(D::Items),
    /// An object.
    Object(D::Fields),
    /// Bytes, where they are a kind of their own and not `{"$bytes": …}`: how many.
    Bytes(usize),
    /// A link, where it is a kind of its own and not `{"$link": …}`.
    Link,
}

/// `i`, where the data model has room for it.
#[inline]
pub(crate) fn within_range(i: i64) -> Option<i64> {
    (-MAX_INTEGER..=MAX_INTEGER).contains(&i).then_some(i)
}

/// `f` as an integer, where it is whole and the data model has room for it.
pub(crate) fn whole(f: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "what is out of range saturates, and is refused")]
    within_range(f as i64).filter(|_| f.fract() == 0.0)
}

impl<'v> Data<'v> for &'v serde_json::Value {
    type Items = std::slice::Iter<'v, serde_json::Value>;
    type Fields = ValueFields<'v>;

    #[inline]
    fn view(self) -> View<'v, Self> {
        match self {
            serde_json::Value::Null => View::Null,
            serde_json::Value::Bool(b) => View::Bool(*b),
            serde_json::Value::Number(n) => match n.as_i64() {
                Some(i) => within_range(i).map_or(View::Number, View::Integer),
                None => n.as_f64().and_then(whole).map_or(View::Number, View::Integer),
            },
            serde_json::Value::String(s) => View::String(s),
            serde_json::Value::Array(items) => View::Array(items.iter()),
            serde_json::Value::Object(map) => View::Object(ValueFields(map.iter())),
        }
    }

    #[inline]
    fn field(self, name: &str) -> Option<Self> {
        self.get(name)
    }
}

/// Walks the members of a `serde_json` object.
pub struct ValueFields<'v>(serde_json::map::Iter<'v>);

impl<'v> Iterator for ValueFields<'v> {
    type Item = (&'v str, &'v serde_json::Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }
}

impl<'v, 'a> Data<'v> for &'v data::Value<'a> {
    type Items = std::slice::Iter<'v, data::Value<'a>>;
    type Fields = EntryFields<'v, 'a>;

    #[inline]
    fn view(self) -> View<'v, Self> {
        match self {
            data::Value::Null => View::Null,
            data::Value::Bool(b) => View::Bool(*b),
            data::Value::Integer(i) => within_range(*i).map_or(View::Number, View::Integer),
            data::Value::String(s) => View::String(s),
            data::Value::Bytes(bytes) => View::Bytes(bytes.len()),
            data::Value::Link(_) => View::Link,
            data::Value::Array(items) => View::Array(items.iter()),
            data::Value::Object(object) => View::Object(EntryFields(object.entries().iter())),
        }
    }

    #[inline]
    fn field(self, name: &str) -> Option<Self> {
        self.as_object()?.get(name)
    }
}

/// Walks the members of an object of the data model.
pub struct EntryFields<'v, 'a>(std::slice::Iter<'v, (Cow<'a, str>, data::Value<'a>)>);

impl<'v, 'a> Iterator for EntryFields<'v, 'a> {
    type Item = (&'v str, &'v data::Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_ref(), value))
    }
}
