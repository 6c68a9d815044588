//! Secrets within a value: the password of a URL or a connection string, what base64 hides, what follows `Bearer`.

use zeroize::Zeroizing;

use super::{
    names::{self, NameSays},
    worth::{self, Certainty},
};

/// The most URLs looked at in one value.
const MOST_URLS: usize = 50;

/// The secrets within `value`, not all of them worth searching.
pub(super) fn of(name: &str, value: &str) -> Vec<Zeroizing<String>> {
    let mut pieces = Vec::new();
    for (at, _) in value.match_indices("://").take(MOST_URLS) {
        url(name, value.get(at + 3..).unwrap_or_default(), &mut pieces);
    }
    connection_string(value, &mut pieces);
    if let Some((scheme, rest)) = value.split_once(' ')
        && ["bearer", "basic", "token", "authorization:"].contains(&scheme.to_ascii_lowercase().as_str())
    {
        let rest = rest.trim();
        let rest = rest.split_once(' ').map_or(rest, |(_, rest)| rest);
        add(rest, &mut pieces);
        user_and_password(rest, &mut pieces);
    }
    let last = name.split([' ', ':']).next().unwrap_or_default().to_ascii_lowercase();
    if last.ends_with("auth") {
        user_and_password(value, &mut pieces);
    } else if last.ends_with("_password")
        && let Some(decoded) = base64(value)
        && let Ok(text) = std::str::from_utf8(&decoded)
    {
        // npm keeps a registry's password so.
        add(text, &mut pieces);
    }
    // Several tokens in one variable.
    if value.contains(',') && !value.contains(char::is_whitespace) {
        value.split(',').filter(|part| worth::is_random(part)).for_each(|part| add(part, &mut pieces));
    }
    pieces
}

/// Whether the text holds a URL with a user's name in it.
pub(super) fn has_userinfo(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| authority(rest).contains('@'))
}

fn authority(rest: &str) -> &str {
    rest.split(['/', '?', '#', '"', '\'', '<', '>'])
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .next()
        .unwrap_or_default()
}

/// What is secret in a URL, given from behind its scheme.
fn url(name: &str, rest: &str, pieces: &mut Vec<Zeroizing<String>>) {
    let authority = authority(rest);
    if let Some((userinfo, _)) = authority.rsplit_once('@') {
        match userinfo.split_once(':') {
            // A token for a user's name, with a word such as x-oauth-basic for a password.
            Some((user, password)) => {
                decoded(password, pieces);
                if worth::is_random(user) {
                    decoded(user, pieces);
                }
            }
            None if worth::is_worth(userinfo, Certainty::Hinted) => decoded(userinfo, pieces),
            None => {}
        }
    }
    let rest = rest.split(['"', '\'', '<', '>', ' ', '\n']).next().unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    for (key, value) in query.split(['&', '#']).filter_map(|pair| pair.split_once('=')) {
        if matches!(names::name_says(key), NameSays::Secret) || matches!(key, "key" | "sig" | "signature") {
            decoded(value, pieces);
        }
    }
    // A webhook's address is its key.
    let webhook = name.to_ascii_lowercase().contains("webhook") || path.contains("hooks") || path.contains("/webhook");
    if webhook && let Some(last) = path.trim_end_matches('/').rsplit('/').next().filter(|last| worth::is_random(last)) {
        add(last, pieces);
    }
}

/// `Server=…;Password=…;` and `host=… password=…`.
fn connection_string(value: &str, pieces: &mut Vec<Zeroizing<String>>) {
    let between = if value.contains(';') { ';' } else { ' ' };
    if value.matches('=').count() < 2 {
        return;
    }
    for (key, value) in value.split(between).filter_map(|pair| pair.split_once('=')) {
        if names::name_says(key) == NameSays::Secret {
            add(value.trim_matches(['"', '\'']), pieces);
        }
    }
}

/// The password of `user:password` in base64.
fn user_and_password(value: &str, pieces: &mut Vec<Zeroizing<String>>) {
    if let Some(bytes) = base64(value)
        && let Ok(text) = std::str::from_utf8(&bytes)
        && let Some((_, password)) = text.split_once(':')
    {
        add(password, pieces);
    }
}

/// As it stands and as it means, where that differs.
fn decoded(text: &str, pieces: &mut Vec<Zeroizing<String>>) {
    add(text, pieces);
    if text.contains('%') {
        let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
        let mut rest = text.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
            match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                Some(byte) => {
                    bytes.push(byte);
                    rest = after.get(2..).unwrap_or_default();
                }
                None => {
                    bytes.push(*first);
                    rest = after;
                }
            }
        }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            add(text, pieces);
        }
    }
}

fn add(text: &str, pieces: &mut Vec<Zeroizing<String>>) {
    if !text.is_empty() {
        pieces.push(Zeroizing::new(text.to_owned()));
    }
}

/// Decodes base64 of either alphabet, padded or not; `None` if it is none.
pub(super) fn base64(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let text = text.trim_end_matches('=');
    let mut out = Zeroizing::new(Vec::with_capacity(text.len() * 3 / 4));
    let (mut bits, mut count) = (0_u32, 0);
    for b in text.bytes() {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(six)) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xFF).ok()?);
        }
    }
    (!out.is_empty()).then_some(out)
}
