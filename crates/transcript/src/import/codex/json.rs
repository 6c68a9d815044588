//! JSON that is known to be well formed, split without being read.
//!
//! The row reader has checked a row from end to end. What lies inside it needs no second check, only
//! its bounds: strings are jumped over by a search for their closing quote, an order of magnitude
//! faster than parsing, and it is done again at each level. On text that is not well formed this
//! finds wrong bounds, which whoever builds the value then refuses; it does not loop or panic.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value, value::RawValue};

use crate::rows;

/// The members of an object, each as it stands.
#[derive(Debug, Default)]
pub(crate) struct Object<'a> {
    members: Vec<(&'a str, &'a str)>,
}

impl<'a> Object<'a> {
    /// `raw` as an object; `None` if it is anything else.
    pub(crate) fn of(raw: &'a str) -> Option<Self> {
        let bytes = raw.as_bytes();
        let mut at = after(bytes, 0, b'{')?;
        let mut members = Vec::with_capacity(8);
        while bytes.get(at) == Some(&b'"') {
            let name_end = value_end(bytes, at)?;
            let value_start = after(bytes, name_end, b':')?;
            let end = value_end(bytes, value_start)?;
            members.push((raw.get(at + 1..name_end - 1)?, raw.get(value_start..end)?));
            let Some(next) = after(bytes, end, b',') else { break };
            at = next;
        }
        Some(Self { members })
    }

    /// These members of a row's object.
    pub(crate) fn picked(row: &rows::Object<'a>, names: &[&'static str]) -> Self {
        let members = names.iter().filter_map(|name| Some((*name, row.get(name)?.get()))).collect();
        Self { members }
    }

    /// The member as it stands, `null` included. Of a repeated one, the last.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        // Names with escapes are nobody's: no program writes those looked for here with any.
        self.members.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Whether the member is there and not `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|raw| raw != "null")
    }

    pub(crate) fn str(&self, name: &str) -> Option<Cow<'a, str>> {
        string_of(self.get(name)?)
    }

    pub(crate) fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.bool(name) == Some(true)
    }

    pub(crate) fn i64(&self, name: &str) -> Option<i64> {
        self.get(name)?.parse().ok()
    }

    pub(crate) fn object(&self, name: &str) -> Option<Self> {
        Self::of(self.get(name)?)
    }

    pub(crate) fn array(&self, name: &str) -> Option<Vec<&'a str>> {
        array_of(self.get(name)?)
    }

    /// A time in any of the forms [`rows::time_of`] knows.
    pub(crate) fn time(&self, name: &str) -> Option<Timestamp> {
        let raw: &RawValue = serde_json::from_str(self.get(name)?).ok()?;
        rows::time_of(raw)
    }

    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.get(name)?).ok()
    }
}

/// `raw` as a string, borrowed where it has no escapes.
pub(crate) fn string_of(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    unescaped(inner).or_else(|| serde_json::from_str(raw).ok()).map(Cow::Owned)
}

/// A string's text, copied once into room that is surely enough: no escape is shorter than what it
/// stands for. `None` for anything unusual, which the parser then judges.
fn unescaped(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(found) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..found)?);
        let mut length = 2;
        text.push(match rest.as_bytes().get(found + 1)? {
            b'n' => '\n',
            b'"' => '"',
            b'\\' => '\\',
            b't' => '\t',
            b'r' => '\r',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                length = 6;
                // Half of a surrogate pair is no character, and left to the parser with the other half.
                let digits = rest.get(found + 2..found + 6)?;
                let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?)?
            }
            _ => return None,
        });
        rest = rest.get(found + length..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// `raw` as an array of values as they stand.
pub(crate) fn array_of(raw: &str) -> Option<Vec<&str>> {
    let bytes = raw.as_bytes();
    let mut at = after(bytes, 0, b'[')?;
    let mut items = Vec::new();
    while let Some(byte) = bytes.get(at) {
        if *byte == b']' {
            break;
        }
        let end = value_end(bytes, at)?;
        items.push(raw.get(at..end)?);
        let Some(next) = after(bytes, end, b',') else { break };
        at = next;
    }
    Some(items)
}

/// The place of the first visible byte behind `mark`, which may stand behind white space at `at`.
fn after(bytes: &[u8], at: usize, mark: u8) -> Option<usize> {
    let at = visible(bytes, at);
    (bytes.get(at) == Some(&mark)).then(|| visible(bytes, at + 1))
}

fn visible(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Where the value ends that begins at `at`; always beyond `at`.
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at + 1),
        b'{' => container_end(bytes, at + 1, b'{', b'}'),
        b'[' => container_end(bytes, at + 1, b'[', b']'),
        _ => {
            let length = bytes
                .get(at..)?
                .iter()
                .position(|byte| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace());
            length.map_or(Some(bytes.len()), |length| (length > 0).then_some(at + length))
        }
    }
}

/// Brackets of one kind are balanced whatever the others do.
fn container_end(bytes: &[u8], mut at: usize, open: u8, close: u8) -> Option<usize> {
    let mut depth = 1_usize;
    loop {
        let found = at + memchr::memchr3(b'"', open, close, bytes.get(at..)?)?;
        at = found + 1;
        match bytes.get(found) {
            Some(b'"') => at = string_end(bytes, at)?,
            Some(byte) if *byte == open => depth += 1,
            _ => depth -= 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Behind the closing quote of the string whose opening quote stands before `at`.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(found) == Some(&b'"') {
            return Some(found + 1);
        }
        at = found + 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_found_whatever_stands_between_them() {
        let raw = " { \"a\" : \"x\\\"}\" , \"b\":{\"c\":[1,{\"d\":\"]\"}]} ,\"e\":-1.5e3,\"f\":null,\"b\":[ true , \"\\\\\" ] } ";
        let object = Object::of(raw).unwrap();
        assert_eq!(object.str("a").as_deref(), Some("x\"}"));
        assert_eq!(object.value("e"), Some(json!(-1500.0)));
        assert!(!object.has("f"));
        assert_eq!(object.array("b").unwrap(), ["true", "\"\\\\\""]);
        assert_eq!(Object::of("[1]").map(|object| object.members), None);
        assert_eq!(Object::of("{}").map(|object| object.members.len()), Some(0));
        assert_eq!(array_of("[]").map(|items| items.len()), Some(0));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[\\PC\"\\\\{}\\[\\],:\n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,3}", inner, 0..5).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_serde_writes_is_split_where_it_should_be(value in any_json(), pretty: bool) {
            let raw = if pretty { format!("{value:#}") } else { value.to_string() };
            match &value {
                Value::Object(map) => {
                    let object = Object::of(&raw).unwrap();
                    prop_assert_eq!(object.members.len(), map.len());
                    for (name, inner) in map {
                        prop_assert_eq!(object.value(name), Some(inner.clone()));
                    }
                }
                Value::Array(items) => {
                    let split = array_of(&raw).unwrap();
                    let built: Vec<Value> = split.iter().map(|raw| serde_json::from_str(raw).unwrap()).collect();
                    prop_assert_eq!(&built, items);
                }
                _ => prop_assert!(Object::of(&raw).is_none() && array_of(&raw).is_none()),
            }
        }

        #[test]
        fn a_string_is_what_the_parser_says_it_is(inner in "([a-zé👩 ]|\\\\[nrtbf/\"\\\\]|\\\\u00[0-9a-fA-F]{2}|\\\\u20ac|\\\\ud83d\\\\ude00|\\\\ud800|\\\\u+1|\\\\x){0,12}") {
            let raw = format!("\"{inner}\"");
            let parsed: Option<String> = serde_json::from_str(&raw).ok();
            prop_assert_eq!(string_of(&raw).map(Cow::into_owned), parsed);
        }

        #[test]
        fn anything_else_is_split_somehow(raw in "[\\{\\}\\[\\],:\" a\\\\é1]{0,40}") {
            let _ = Object::of(&raw);
            let _ = array_of(&raw);
            let _ = string_of(&raw);
        }
    }
}
