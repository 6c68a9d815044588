//! Values without members.

use unicode_segmentation::UnicodeSegmentation;

use super::{
    Rule,
    report::{Halt, Sink, wrong_type},
    shortcut,
};
use crate::{
    catalog::{Bounds, IntegerCheck, TextCheck},
    path::{Path, quoted},
    schema::{Format, Length, StringType},
    syntax,
    view::{Data, View},
};

pub(super) fn boolean<'v, D: Data<'v>, S: Sink>(
    constant: Option<bool>,
    value: D,
    at: &Path<'_>,
    sink: &mut S,
) -> Result<(), Halt> {
    match (value.view(), constant) {
        (View::Bool(found), Some(only)) if found != only => {
            sink.report(at, Rule::Const, || format!("only {only} is allowed"))
        }
        (View::Bool(_), _) => Ok(()),
        (other, _) => wrong_type("a boolean", &other, at, sink),
    }
}

pub(super) fn integer<'v, D: Data<'v>, S: Sink>(
    check: &IntegerCheck,
    value: D,
    at: &Path<'_>,
    sink: &mut S,
) -> Result<(), Halt> {
    let found = match value.view() {
        View::Integer(found) => found,
        other => return wrong_type("an integer", &other, at, sink),
    };
    if found < check.min {
        sink.report(at, Rule::Minimum, || format!("at least {} is expected, but this is {found}", check.min))?;
    }
    if found > check.max {
        sink.report(at, Rule::Maximum, || format!("at most {} is expected, but this is {found}", check.max))?;
    }
    if let Some(only) = check.constant
        && found != only
    {
        sink.report(at, Rule::Const, || format!("only {only} is allowed, but this is {found}"))?;
    }
    if let Some(values) = &check.values
        && !values.contains(&found)
    {
        sink.report(at, Rule::Enum, || format!("{found} is none of the {} values allowed", values.len()))?;
    }
    Ok(())
}

#[inline]
pub(super) fn text<'v, D: Data<'v>, S: Sink>(
    check: &TextCheck,
    value: D,
    at: &Path<'_>,
    sink: &mut S,
) -> Result<(), Halt> {
    let s = match value.view() {
        View::String(s) => s,
        other => return wrong_type("a string", &other, at, sink),
    };
    let Bounds { min, max } = check.bytes;
    if s.len() < min {
        let found = s.len();
        sink.report(at, Rule::MinLength, || format!("at least {min} bytes are expected, but there are {found}"))?;
    }
    if s.len() > max {
        let found = s.len();
        sink.report(at, Rule::MaxLength, || format!("at most {max} bytes are allowed, but there are {found}"))?;
    }
    let Bounds { min, max } = check.graphemes;
    if min > 0 && has_fewer_graphemes(s, min) {
        sink.report(at, Rule::MinGraphemes, || {
            format!("at least {min} graphemes are expected, but there are {}", graphemes(s))
        })?;
    }
    // No grapheme is shorter than a byte.
    if s.len() > max && has_more_graphemes(s, max) {
        sink.report(at, Rule::MaxGraphemes, || {
            format!("at most {max} graphemes are allowed, but there are {}", graphemes(s))
        })?;
    }
    if let Some(format) = &check.format
        && !has_format(format, s)
    {
        sink.report(at, Rule::Format, || format!("{} is expected, but this is {}", format_name(format), quoted(s)))?;
    }
    if let Some(only) = &check.constant
        && s != only.as_ref()
    {
        sink.report(at, Rule::Const, || format!("only {} is allowed, but this is {}", quoted(only), quoted(s)))?;
    }
    if let Some(values) = &check.values
        && !values.iter().any(|value| value == s)
    {
        sink.report(at, Rule::Enum, || format!("{} is none of the {} values allowed", quoted(s), values.len()))?;
    }
    Ok(())
}

/// Whether `s`, which a schema names itself, is within its own limits; else what is wrong.
pub(crate) fn text_fits(string: &StringType, s: &str) -> Result<(), &'static str> {
    let is_within = |count: usize, length: Length| {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        length.min.is_none_or(|min| count >= min) && length.max.is_none_or(|max| count <= max)
    };
    if !is_within(s.len(), string.length) || !is_within(graphemes(s), string.graphemes) {
        return Err("is beyond the limits of length");
    }
    match &string.format {
        Some(format) if !has_format(format, s) => Err("does not have the format"),
        _ => Ok(()),
    }
}

/// Extended grapheme clusters.
fn graphemes(s: &str) -> usize {
    s.graphemes(true).count()
}

/// The clusters of ASCII text: its bytes, except that a line end of two is one.
fn ascii_graphemes(s: &str) -> usize {
    s.len() - s.as_bytes().windows(2).filter(|pair| *pair == b"\r\n").count()
}

fn has_more_graphemes(s: &str, max: usize) -> bool {
    if s.is_ascii() {
        return ascii_graphemes(s) > max;
    }
    // No grapheme is shorter than a character, and those are counted much faster.
    s.chars().count() > max && s.graphemes(true).nth(max).is_some()
}

fn has_fewer_graphemes(s: &str, min: usize) -> bool {
    if s.len() < min {
        return true;
    }
    if s.is_ascii() {
        return ascii_graphemes(s) < min;
    }
    s.chars().count() < min || s.graphemes(true).nth(min - 1).is_none()
}

#[inline]
fn has_format(format: &Format, s: &str) -> bool {
    match format {
        Format::AtIdentifier => shortcut::is_did(s) || syntax::is_valid_at_identifier(s),
        Format::AtUri => shortcut::is_at_uri(s) || syntax::is_valid_at_uri(s),
        Format::Cid => shortcut::is_cid(s) || syntax::is_valid_cid(s),
        Format::Datetime => syntax::is_valid_datetime(s),
        Format::Did => shortcut::is_did(s) || syntax::is_valid_did(s),
        Format::Handle => syntax::is_valid_handle(s),
        Format::Language => shortcut::is_language(s) || syntax::is_valid_language(s),
        Format::Nsid => syntax::is_valid_nsid(s),
        Format::RecordKey => syntax::is_valid_record_key(s),
        Format::Tid => syntax::is_valid_tid(s),
        Format::Uri => syntax::is_valid_uri(s),
        Format::Foreign(_) => true,
    }
}

fn format_name(format: &Format) -> &'static str {
    match format {
        Format::AtIdentifier => "a DID or handle",
        Format::AtUri => "an at-uri",
        Format::Cid => "a CID",
        Format::Datetime => "a datetime",
        Format::Did => "a DID",
        Format::Handle => "a handle",
        Format::Language => "a language tag",
        Format::Nsid => "an NSID",
        Format::RecordKey => "a record key",
        Format::Tid => "a TID",
        Format::Uri => "a URI",
        Format::Foreign(_) => "anything",
    }
}

pub(super) fn token<'v, D: Data<'v>, S: Sink>(name: &str, value: D, at: &Path<'_>, sink: &mut S) -> Result<(), Halt> {
    match value.view() {
        View::String(s) if s == name => Ok(()),
        View::String(s) => sink.report(at, Rule::Token, || format!("`{name}` is expected, but this is {}", quoted(s))),
        other => wrong_type("a token", &other, at, sink),
    }
}

pub(super) fn bytes<'v, D: Data<'v>, S: Sink>(
    Bounds { min, max }: Bounds,
    value: D,
    at: &Path<'_>,
    sink: &mut S,
) -> Result<(), Halt> {
    let Some(found) = bytes_len(value) else {
        return match value.view() {
            View::Object(_) => {
                sink.report(at, Rule::Bytes, || "an object of `$bytes` alone, in base64, is expected".into())
            }
            other => wrong_type("bytes", &other, at, sink),
        };
    };
    if found < min {
        sink.report(at, Rule::MinLength, || format!("at least {min} bytes are expected, but there are {found}"))?;
    }
    if found > max {
        sink.report(at, Rule::MaxLength, || format!("at most {max} bytes are allowed, but there are {found}"))?;
    }
    Ok(())
}

/// How many bytes `value` stands for, if it stands for bytes.
pub(super) fn bytes_len<'v, D: Data<'v>>(value: D) -> Option<usize> {
    match value.view() {
        View::Bytes(len) => Some(len),
        View::Object(_) => match only_member(value, "$bytes")?.view() {
            View::String(s) => base64_len(s),
            _ => None,
        },
        _ => None,
    }
}

/// How many bytes `s` decodes to. Padding may be left out, and bits beyond the last byte are not looked at, as the
/// interop vectors have it.
fn base64_len(s: &str) -> Option<usize> {
    let digits = s.strip_suffix("==").or_else(|| s.strip_suffix('=')).unwrap_or(s);
    let is_base64 = digits.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
    let (whole, rest) = (digits.len() / 4, digits.len() % 4);
    (is_base64 && rest != 1).then_some(whole * 3 + rest * 3 / 4)
}

pub(super) fn link<'v, D: Data<'v>, S: Sink>(value: D, at: &Path<'_>, sink: &mut S) -> Result<(), Halt> {
    if is_link(value) {
        return Ok(());
    }
    match value.view() {
        View::Object(_) => sink.report(at, Rule::CidLink, || {
            "an object of `$link` alone is expected, with a CID in base32 of DAG-CBOR or raw bytes by SHA-256".into()
        }),
        other => wrong_type("a link", &other, at, sink),
    }
}

/// Whether `value` links to a block.
pub(super) fn is_link<'v, D: Data<'v>>(value: D) -> bool {
    match value.view() {
        View::Link => true,
        View::Object(_) => match only_member(value, "$link").map(Data::view) {
            Some(View::String(s)) => shortcut::is_cid(s),
            _ => false,
        },
        _ => false,
    }
}

/// The member `name` of an object that has no other.
fn only_member<'v, D: Data<'v>>(value: D, name: &str) -> Option<D> {
    let View::Object(mut fields) = value.view() else { return None };
    match (fields.next(), fields.next()) {
        (Some((key, value)), None) if key == name => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn base64_is_counted_with_and_without_padding() {
        assert_eq!(base64_len(""), Some(0));
        assert_eq!(base64_len("YQ"), Some(1));
        assert_eq!(base64_len("YQ=="), Some(1));
        assert_eq!(base64_len("123"), Some(2));
        assert_eq!(base64_len("YWI="), Some(2));
        assert_eq!(base64_len("YWJj"), Some(3));
        assert_eq!(base64_len("YWJjZA"), Some(4));
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for wrong in ["a", "abcde", "ab-_", "YWJj===", "Y=Q=", "ä", "YW Jj"] {
            assert_eq!(base64_len(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_line_end_of_two_characters_is_one_grapheme() {
        assert_eq!(ascii_graphemes("a\r\nb\n\r"), graphemes("a\r\nb\n\r"));
        assert_eq!(ascii_graphemes("\r\r\n\n"), 3);
    }

    proptest! {
        #[test]
        fn bytes_are_counted_as_they_are_decoded(s in "[A-Za-z0-9+/=_-]{0,12}") {
            let json = serde_json::json!({ "$bytes": s });
            let decoded = crate::data::Value::from_json(&json).ok();
            let len = decoded.as_ref().and_then(crate::data::Value::as_bytes).map(<[u8]>::len);
            prop_assert_eq!(base64_len(&s), len, "{}", s);
        }

        #[test]
        fn the_short_cuts_for_graphemes_agree_with_counting(
            parts in prop::collection::vec(prop::sample::select(vec!["a", "\r", "\n", "é", "e\u{301}", "👩‍👩‍👧‍👧", "🇩🇪", "\u{200d}", "日"]), 0..12),
            limit in 0..14_usize,
        ) {
            let s = parts.concat();
            let count = graphemes(&s);
            prop_assert_eq!(s.len() > limit && has_more_graphemes(&s, limit), count > limit);
            prop_assert_eq!(limit > 0 && has_fewer_graphemes(&s, limit), count < limit);
        }
    }
}
