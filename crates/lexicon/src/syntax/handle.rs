//! Handles: domain names of at least two labels.

/// The longest domain name, in bytes.
const MAX_LEN: usize = 253;
/// The longest label of a domain name, in bytes.
const MAX_LABEL_LEN: usize = 63;

identifier!(
    /// A handle, e.g. `dana.example.com`. Handles are the same whatever their case;
    /// compare them by [`normalized`](Self::normalized).
    #[derive(PartialOrd, Ord)]
    Handle, "handle", check
);

impl Handle {
    /// The handle in lower case, the form to compare, resolve and show.
    #[must_use]
    pub fn normalized(&self) -> Self {
        Self(self.0.to_ascii_lowercase().into_boxed_str())
    }
}

/// Whether `s` has the lexicon string format `handle`.
#[must_use]
pub fn is_valid_handle(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    if s.len() > MAX_LEN {
        return Err("it is longer than 253 bytes");
    }
    let Some((_, last)) = s.rsplit_once('.') else {
        return Err("it has no dot");
    };
    for label in s.as_bytes().split(|&b| b == b'.') {
        check_label(label)?;
    }
    // This also keeps IP addresses out.
    if !last.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err("the last label does not begin with a letter");
    }
    Ok(())
}

/// One label of a domain name.
pub(super) fn check_label(label: &[u8]) -> Result<(), &'static str> {
    let (Some(first), Some(last)) = (label.first(), label.last()) else {
        return Err("a label is empty");
    };
    if label.len() > MAX_LABEL_LEN {
        return Err("a label is longer than 63 bytes");
    }
    if !label.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'-') {
        return Err("a label holds a character other than letters, digits and \"-\"");
    }
    if *first == b'-' || *last == b'-' {
        return Err("a label begins or ends with \"-\"");
    }
    Ok(())
}
