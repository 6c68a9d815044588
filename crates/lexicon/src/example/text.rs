//! Texts within limits of bytes and graphemes.

use super::MAX_BYTES;
use crate::{
    schema::{Format, Length, StringType},
    validate::text_fits,
};

pub(super) const TID: &str = "3jzfcijpj2z2a";
pub(super) const CID: &str = "bafyreidwaivazkwu67xztlmuobx35hs2lnfh3kolmgfmucldvhd3sgzcqi";
const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

/// A mark that adds two bytes to the grapheme before it, and no grapheme.
const MARK: &str = "\u{301}";

/// A text that `string` allows; `name` is what it is called.
pub(super) fn text(string: &StringType, name: &str) -> Option<String> {
    let fits = |s: &String| {
        text_fits(string, s).is_ok()
            && string.constant.as_ref().is_none_or(|constant| constant == s)
            && string.values.as_ref().is_none_or(|values| values.contains(s))
    };
    let mut own = string.constant.iter().chain(string.values.iter().flatten()).chain(&string.default);
    if let Some(own) = own.find(|s| fits(s)) {
        return Some(own.clone());
    }
    if let Some(known) = string.known_values.iter().flatten().find(|s| fits(s)) {
        return Some(known.clone());
    }
    if let Some(format) = &string.format
        && !matches!(format, Format::Foreign(_))
    {
        return of_format(format).iter().map(|s| (*s).to_owned()).find(fits);
    }
    let usual = if name.is_empty() { "an example".to_owned() } else { format!("an example of {}", words(name)) };
    Some(usual).filter(fits).or_else(|| of_length(string.length, string.graphemes)).filter(fits)
}

/// The words of a name in camel case.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for c in name.chars().filter(|c| !c.is_control()).take(60) {
        if c.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

/// Valid texts of different lengths.
fn of_format(format: &Format) -> &'static [&'static str] {
    match format {
        Format::AtIdentifier => &["alice.example.com", DID],
        Format::AtUri => &["at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/com.example.note/3jzfcijpj2z2a", "at://a.example"],
        Format::Cid => &[CID],
        Format::Datetime => &["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z"],
        Format::Did => &[DID, "did:web:a.example"],
        Format::Handle => &["alice.example.com", "a.example"],
        Format::Language => &["en", "pt-BR"],
        Format::Nsid => &["com.example.note"],
        Format::RecordKey | Format::Tid => &[TID],
        Format::Uri => &["https://example.com/page", "https://a.example", "a:b"],
        Format::Foreign(_) => &[],
    }
}

/// As few graphemes and bytes as both limits ask for.
fn of_length(bytes: Length, graphemes: Length) -> Option<String> {
    let (min_bytes, max_bytes) = (bytes.min.unwrap_or_default(), bytes.max.unwrap_or(u64::MAX));
    let (min, max) = (graphemes.min.unwrap_or_default(), graphemes.max.unwrap_or(u64::MAX));
    // A word where there is room for one.
    let count = min.max(min_bytes.min(max)).max(7.min(max).min(max_bytes));
    if count > max_bytes || count.max(min_bytes) > MAX_BYTES {
        return None;
    }
    let mut text: String = "example".chars().cycle().take(usize::try_from(count).ok()?).collect();
    let missing = min_bytes.saturating_sub(count);
    if missing > 0 && count > 0 {
        if missing % 2 == 1 && missing.saturating_add(count).saturating_add(1) <= max_bytes {
            text.push_str(MARK);
        } else if missing % 2 == 1 {
            // One byte more than a letter.
            text.pop();
            text.push('é');
        }
        for _ in 0..missing / 2 {
            text.push_str(MARK);
        }
    }
    Some(text)
}
