//! Decentralised identifiers, as the protocol restricts the W3C syntax.

/// The longest DID the protocol takes, in bytes.
const MAX_LEN: usize = 2048;

identifier!(
    /// A decentralised identifier, e.g. `did:plc:ewvi7nxzyoun6zhxrhs64oiz`.
    #[derive(PartialOrd, Ord)]
    Did, "DID", check
);

impl Did {
    /// The method, e.g. `plc` or `web`.
    #[must_use]
    pub fn method(&self) -> &str {
        self.parts().0
    }

    /// What follows the method, with its percent-encoding as written.
    #[must_use]
    pub fn identifier(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        // Both separators are there: `check` saw them.
        self.0.strip_prefix("did:").and_then(|rest| rest.split_once(':')).unwrap_or_default()
    }
}

/// Whether `s` has the lexicon string format `did`.
#[must_use]
pub fn is_valid_did(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    let Some(rest) = s.strip_prefix("did:") else {
        return Err("it does not begin with \"did:\"");
    };
    if s.len() > MAX_LEN {
        return Err("it is longer than 2048 bytes");
    }
    let Some((method, id)) = rest.split_once(':') else {
        return Err("it has no identifier after the method");
    };
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_lowercase()) {
        return Err("the method is not made of lower-case letters");
    }
    match id.as_bytes().last() {
        None => return Err("the identifier is empty"),
        Some(b':' | b'%') => return Err("it ends with \":\" or \"%\""),
        Some(_) => {}
    }
    // What stands after a `%` is left alone: implementations compare DIDs byte by byte and do not decode them.
    if !id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'%' | b'-')) {
        return Err("the identifier holds a character other than letters, digits and \"._:%-\"");
    }
    Ok(())
}
