//! Namespaced identifiers: a domain name in reverse, then a name.

use super::handle;

/// The longest NSID, in bytes.
const MAX_LEN: usize = 317;
/// The longest name, in bytes.
const MAX_NAME_LEN: usize = 63;

identifier!(
    /// A namespaced identifier, e.g. `click.aligned.chat.message`.
    #[derive(PartialOrd, Ord)]
    Nsid, "NSID", check
);

impl Nsid {
    /// The authority as written: everything but the last segment, e.g. `click.aligned.chat`.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.0.rsplit_once('.').map_or("", |(authority, _)| authority)
    }

    /// The authority as a domain name in lower case, e.g. `chat.aligned.click`.
    #[must_use]
    pub fn domain(&self) -> String {
        let mut domain = String::with_capacity(self.0.len());
        for label in self.authority().rsplit('.') {
            if !domain.is_empty() {
                domain.push('.');
            }
            domain.push_str(label);
        }
        domain.make_ascii_lowercase();
        domain
    }

    /// The last segment, e.g. `message`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('.').map_or("", |(_, name)| name)
    }
}

/// Whether `s` has the lexicon string format `nsid`.
#[must_use]
pub fn is_valid_nsid(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    // The specification also bounds the authority, by 253; its vectors hold a valid one of 283.
    if s.len() > MAX_LEN {
        return Err("it is longer than 317 bytes");
    }
    let Some((authority, name)) = s.rsplit_once('.') else {
        return Err("it has no dot");
    };
    if !authority.contains('.') {
        return Err("it has fewer than three segments");
    }
    if !authority.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err("it does not begin with a letter");
    }
    for label in authority.as_bytes().split(|&b| b == b'.') {
        handle::check_label(label)?;
    }
    if name.len() > MAX_NAME_LEN {
        return Err("the name is longer than 63 bytes");
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err("the name does not begin with a letter");
    }
    if !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err("the name holds a character other than letters and digits");
    }
    Ok(())
}
