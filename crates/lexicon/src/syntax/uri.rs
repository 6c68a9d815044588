//! URIs of any scheme, by their shape only.

/// The longest URI, in bytes.
const MAX_LEN: usize = 8192;
/// The longest scheme, in bytes.
const MAX_SCHEME_LEN: usize = 81;

/// Whether `s` has the lexicon string format `uri`: a scheme, a colon, and something after it without
/// white space or control characters. Characters beyond ASCII pass: the network's own validator takes
/// links as people paste them.
#[must_use]
pub fn is_valid_uri(s: &str) -> bool {
    if s.len() > MAX_LEN {
        return false;
    }
    let Some((scheme, rest)) = s.split_once(':') else {
        return false;
    };
    scheme.len() <= MAX_SCHEME_LEN
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
        && !matches!(rest, "" | "//")
        && (rest.bytes().all(|b| b.is_ascii_graphic()) || !rest.chars().any(|c| c.is_whitespace() || c.is_control()))
}
