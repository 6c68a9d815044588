//! Objects: keys in the one order DAG-CBOR has for them.

use std::{borrow::Cow, cmp::Ordering};

use super::{Fault, Value};
use crate::syntax::Cid;

/// Values by key, in canonical order: shorter keys first, then by their bytes. Each key stands once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

/// A reference to a blob: an object whose `$type` is `blob`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobRef<'a> {
    /// The content.
    pub cid: &'a Cid,
    /// Its media type, as the writer said.
    pub mime_type: &'a str,
    /// Its length in bytes, as the writer said.
    pub size: u64,
}

impl<'a> Object<'a> {
    /// An object without keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        let place = self.place(key).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    /// Puts `value` under `key`; gives back what was there.
    pub fn insert(&mut self, key: impl Into<Cow<'a, str>>, value: Value<'a>) -> Option<Value<'a>> {
        let key = key.into();
        match self.place(&key) {
            Ok(place) => self.0.get_mut(place).map(|(_, old)| std::mem::replace(old, value)),
            Err(place) => {
                self.0.insert(place, (key, value));
                None
            }
        }
    }

    /// Takes `key` out; gives back what was there.
    pub fn remove(&mut self, key: &str) -> Option<Value<'a>> {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }

    /// Keys and values in canonical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), value))
    }

    /// The entries as they are kept, for walkers that must name their iterator.
    pub(crate) fn entries(&self) -> &[(Cow<'a, str>, Value<'a>)] {
        &self.0
    }

    /// The same object, borrowing nothing.
    #[must_use]
    pub fn into_owned(self) -> Object<'static> {
        Object(self.0.into_iter().map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned())).collect())
    }

    /// The name of its type, if it says one.
    #[must_use]
    pub fn type_name(&self) -> Option<&str> {
        self.get("$type").and_then(Value::as_str)
    }

    /// The blob, if it is a reference to one.
    #[must_use]
    pub fn as_blob(&self) -> Option<BlobRef<'_>> {
        if self.type_name() != Some("blob") {
            return None;
        }
        Some(BlobRef {
            cid: self.get("ref")?.as_link()?,
            mime_type: self.get("mimeType")?.as_str()?,
            size: u64::try_from(self.get("size")?.as_integer()?).ok()?,
        })
    }

    /// Entries in any order; the error names a key given twice.
    pub(super) fn from_unsorted(mut entries: Vec<(Cow<'a, str>, Value<'a>)>) -> Result<Self, Cow<'a, str>> {
        entries.sort_unstable_by(|(a, _), (b, _)| canonical_order(a, b));
        match entries.windows(2).position(|pair| matches!(pair, [(a, _), (b, _)] if a == b)) {
            None => Ok(Self(entries)),
            Some(twice) => Err(entries.swap_remove(twice).0),
        }
    }

    /// Entries whose order the caller has checked.
    pub(super) fn from_sorted(entries: Vec<(Cow<'a, str>, Value<'a>)>) -> Self {
        Self(entries)
    }

    /// The rules for the keys that the data model reserves.
    pub(super) fn check_reserved(&self) -> Result<(), Fault> {
        for (key, value) in &self.0 {
            match &**key {
                "$type" => match value.as_str() {
                    None | Some("") => return Err(Fault::Type),
                    Some("blob") if self.as_blob().is_none() => return Err(Fault::Blob),
                    Some(_) => {}
                },
                // Links and bytes are values of their own by now; what is left is not one.
                "$link" => return Err(Fault::Link),
                "$bytes" => return Err(Fault::Bytes),
                _ => {}
            }
        }
        Ok(())
    }

    fn place(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| canonical_order(other, key))
    }
}

/// Later values win.
impl<'a, K: Into<Cow<'a, str>>> FromIterator<(K, Value<'a>)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (K, Value<'a>)>>(entries: I) -> Self {
        let mut object = Self::new();
        for (key, value) in entries {
            object.insert(key, value);
        }
        object
    }
}

/// DAG-CBOR's order of keys.
pub(super) fn canonical_order(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}
