//! Formats of one line, or one word, a credential.

use zeroize::Zeroizing;

use super::sink::{Sink, Trust};

/// `.netrc`: `machine HOST login NAME password WORD`, in any layout.
pub(super) fn netrc(text: &str, sink: &mut Sink) {
    let mut machine = "";
    let mut lines = text.lines();
    let mut expecting = "";
    while let Some(line) = lines.next() {
        let mut rest = line.trim();
        while let Some((word, after)) = netrc_word(rest) {
            rest = after;
            match std::mem::take(&mut expecting) {
                "machine" => machine = word,
                "password" | "account" => {
                    let name =
                        if machine.is_empty() { "password".to_owned() } else { format!("password of {machine}") };
                    sink.credential(&name, &unescaped(word));
                }
                "login" => {}
                "macdef" => {
                    // A macro goes on to the next empty line.
                    lines.by_ref().find(|line| line.trim().is_empty());
                    break;
                }
                _ if word.starts_with('#') => break,
                _ if word == "default" => machine = "",
                _ => expecting = word,
            }
        }
    }
}

/// The next word, in quotes or not, and what follows.
fn netrc_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = inner.char_indices().find(|(_, c)| {
            let closes = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            closes
        });
        if let Some((end, _)) = end {
            return Some((inner.get(..end)?, inner.get(end + 1..)?));
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at_checked(end)).flatten()
}

fn unescaped(word: &str) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(word.len()));
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// `.pgpass`: `host:port:database:user:password`, colons and backslashes escaped.
pub(super) fn pgpass(text: &str, sink: &mut Sink) {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut escaped = false;
        let mut colons = 0;
        let start = line.char_indices().find(|(_, c)| {
            colons += usize::from(*c == ':' && !escaped);
            escaped = *c == '\\' && !escaped;
            colons == 4
        });
        if let Some((at, _)) = start {
            let host = line.split(':').next().filter(|host| *host != "*").unwrap_or("any host");
            sink.credential(&format!("password of {host}"), &unescaped(line.get(at + 1..).unwrap_or_default()));
        }
    }
}

/// git's stored credentials: one URL a line, with user and password.
pub(super) fn urls(text: &str, sink: &mut Sink) {
    for line in text.lines().map(str::trim) {
        let host =
            line.rsplit_once('@').map(|(_, host)| host).and_then(|host| host.split('/').next()).unwrap_or("a host");
        sink.within(&format!("password of {host}"), line);
    }
}

/// A file that is a token and nothing else; of several lines, each.
pub(super) fn token(text: &str, sink: &mut Sink) {
    for line in text.lines().take(20) {
        sink.credential("token", line);
    }
}

/// XML settings: the text of elements whose names say secret.
pub(super) fn xml(text: &str, sink: &mut Sink) {
    for part in text.split('<').filter(|part| !part.starts_with(['/', '!', '?'])) {
        let Some((tag, value)) = part.split_once('>') else { continue };
        let name = tag.split_whitespace().next().unwrap_or_default();
        if !value.contains('&') {
            sink.offer(name, value, Trust::Credentials);
        } else {
            let value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            let value = value.replace("&apos;", "'").replace("&amp;", "&");
            sink.offer(name, &Zeroizing::new(value), Trust::Credentials);
        }
        // NuGet and the like: <add key="ClearTextPassword" value="…" />
        let attribute = |name: &str| tag.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split('"').next());
        if let (Some(key), Some(value)) = (attribute("key"), attribute("value")) {
            sink.offer(key, value, Trust::Credentials);
        }
    }
}
