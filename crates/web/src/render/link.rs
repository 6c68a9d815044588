//! Addresses of this site that carry what was asked for.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All but what no address has to write out.
const WRITTEN_OUT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':').remove(b'@');
/// The same within a path, where a slash stands for itself.
const IN_PATH: &AsciiSet = &WRITTEN_OUT.remove(b'/');

/// `path`, asking for those of `values` that are not empty.
pub(crate) fn asking(path: &str, values: &[(&str, &str)]) -> String {
    let mut link = path.to_owned();
    let mut before = '?';
    for (name, value) in values.iter().filter(|(_, value)| !value.is_empty()) {
        link.push(before);
        link.push_str(name);
        link.push('=');
        link.extend(utf8_percent_encode(value, WRITTEN_OUT));
        before = '&';
    }
    link
}

/// The page below `folder` of something with this name, e.g. `/model/anthropic/claude-opus-4-5`.
pub(crate) fn named(folder: &str, name: &str) -> String {
    format!("{folder}/{}", utf8_percent_encode(name, IN_PATH))
}

/// A number for people: `1,234,567`.
pub(crate) struct Grouped(pub(crate) u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (n, digit) in digits.chars().enumerate() {
            if n > 0 && (digits.len() - n).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// `1 turn`, `1,234 turns`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", Grouped(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_stands_in_the_address() {
        assert_eq!(asking("/search", &[("q", "a & b=\"ü\""), ("after", "")]), "/search?q=a%20%26%20b%3D%22%C3%BC%22");
        assert_eq!(asking("/", &[("after", "5.r~1")]), "/?after=5.r~1");
        assert_eq!(named("/model", "anthropic/claude-opus-4.5"), "/model/anthropic/claude-opus-4.5");
        assert_eq!(named("/tool", "a b?<#/%"), "/tool/a%20b%3F%3C%23/%25");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(|n| Grouped(n).to_string()), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            (counted(1, "turn", "turns"), counted(1_000, "turn", "turns")),
            ("1 turn".into(), "1,000 turns".into())
        );
    }
}
