//! Sections of `key = value`: AWS, pip, MySQL, rclone, npm, git and many more, each with quirks that are all read here.

use super::{
    pieces,
    sink::{Sink, Trust},
};

/// Takes `key = value` and `key: value`, quoted or not, named after key and section; and passwords in URLs wherever they
/// stand, as git keeps them in the names of sections too.
pub(super) fn ini(text: &str, trust: Trust, sink: &mut Sink) {
    let mut section = "";
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_start_matches('[').split(']').next().unwrap_or_default();
            sink.within("password in a URL", section);
            continue;
        }
        // npm's keys hold colons, others' values hold equals signs: the first of either, but a key never ends at `//`.
        let Some((key, value)) = line.split_once('=').or_else(|| line.split_once(':')) else { continue };
        let key = key.trim();
        let key = key.strip_prefix("export ").unwrap_or(key);
        // `//registry.example/:_authToken` is what it says last.
        let key = key.rsplit(':').next().unwrap_or(key).trim_matches(['"', '\'']);
        let value = unquoted(value.trim());
        let name = if section.is_empty() || pieces::has_userinfo(section) {
            key.to_owned()
        } else {
            format!("{key} of [{section}]")
        };
        if !value.starts_with("${") {
            sink.offer_as(key, &name, value, trust);
        }
    }
}

/// The text between a pair of quotes, else all of it.
pub(super) fn unquoted(value: &str) -> &str {
    let value = value.trim_end_matches([',', ';']).trim_end();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            return inner.split(quote).next().unwrap_or(inner);
        }
    }
    value
}
