//! Pointers in a text: at-uris, links to readers of the network, and handles after an `@`.

use std::borrow::Cow;

use onrecord_lexicon::{AtIdentifier, AtUri, Did, Handle};

use super::{code::Code, links};

/// A place in a text that points at a record or an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Start of what is written, in bytes of the text.
    pub start: usize,
    /// Its end.
    pub end: usize,
    /// Where it points: `at://AUTHORITY/COLLECTION/RKEY` or `at://AUTHORITY`, handles in small letters.
    pub pointer: AtUri,
}

/// What a covered span is made of. Whatever touches one is a part of something and points nowhere.
const BAR: char = '\u{2588}';

/// Last labels by which a name of two labels after an `@` is taken for a file, as agents' prompts name them, though some
/// are top-level domains too. A handle with such a name can still be pointed at by a link or an at-uri.
const FILES: &[&str] = &[
    "bat", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "env", "go", "h", "hpp", "html", "ini", "java", "js",
    "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "md", "mjs", "pdf", "php", "pl", "png", "ps", "py", "rb", "rs",
    "sh", "sql", "svg", "swift", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zip",
];

/// Everything in `text` that points at a record or an account, in order.
///
/// Nothing in code blocks points, and no handle in a code span does. An address of mail is no handle, nor is a decorator,
/// a package's scope or a file. What touches a bar points nowhere.
#[must_use]
pub fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut code: Option<Code> = None;
    let mut at = 0;
    while let Some(start) = next_start(text, at) {
        let rest = text.get(start..).unwrap_or_default();
        let before = text.get(..start).unwrap_or_default();
        let Some(token) = Token::at(before, rest) else {
            at = start + 1;
            continue;
        };
        at = start + token.whole.max(1);
        let Some(pointer) = token.pointer else { continue };
        let code = code.get_or_insert_with(|| Code::of(text));
        if code.is_block(start) || (token.is_handle && code.is_inline(start)) {
            continue;
        }
        found.push(Found { start, end: start + token.written, pointer });
    }
    found
}

/// Where `text` by itself points, be it an at-uri, a link, a handle with or without `@`, or a DID.
#[must_use]
pub fn named(text: &str) -> Option<AtUri> {
    let text = text.trim();
    if let Ok(who) = AtIdentifier::parse(text) {
        return account(&who);
    }
    let token = Token::at("", text)?;
    token.pointer.filter(|_| token.written == text.len())
}

/// The next place at or after `from` where something could begin.
fn next_start(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let begins = |at: usize| match bytes.get(at)? {
        b'@' => Some(()),
        b'a' | b'A' => bytes.get(at..at + 5).filter(|s| s.eq_ignore_ascii_case(b"at://")).map(drop),
        b'h' | b'H' => bytes
            .get(at..at + 7)
            .filter(|s| s.eq_ignore_ascii_case(b"http://") || s.eq_ignore_ascii_case(b"https:/"))
            .map(drop),
        _ => None,
    };
    (from..bytes.len()).find(|&at| begins(at).is_some())
}

/// Something that begins at a place: a link, an at-uri, a handle, or one of these that points nowhere.
struct Token {
    /// Bytes that are read, so that nothing is looked for within.
    whole: usize,
    /// Bytes of what points.
    written: usize,
    pointer: Option<AtUri>,
    is_handle: bool,
}

impl Token {
    fn at(before: &str, rest: &str) -> Option<Self> {
        let previous = before.chars().next_back();
        match rest.as_bytes().first()? {
            b'@' => Self::handle(before, previous, rest),
            b'a' | b'A' => Self::at_uri(previous, rest),
            _ => Self::link(previous, rest),
        }
    }

    fn link(previous: Option<char>, rest: &str) -> Option<Self> {
        if previous.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let whole = rest.find(|c: char| !c.is_ascii_graphic() || r#"<>"`|\^{}"#.contains(c)).unwrap_or(rest.len());
        let written = trimmed(rest.get(..whole)?, previous);
        let pointer = links::pointer(written).filter(|_| !touches_bar(previous, rest, whole));
        Some(Self { whole, written: written.len(), pointer, is_handle: false })
    }

    fn at_uri(previous: Option<char>, rest: &str) -> Option<Self> {
        if previous.is_some_and(|c| c.is_alphanumeric() || "._-+/".contains(c)) {
            return None;
        }
        let of_uri = |c: char| c.is_ascii_alphanumeric() || "._~:/%-".contains(c);
        let whole = rest.find(|c: char| !of_uri(c)).unwrap_or(rest.len());
        let written = trimmed(rest.get(..whole)?, previous).trim_end_matches('/');
        let pointer = links::at_uri(written.get(5..)?).filter(|_| !touches_bar(previous, rest, whole));
        Some(Self { whole, written: written.len(), pointer, is_handle: false })
    }

    fn handle(before: &str, previous: Option<char>, rest: &str) -> Option<Self> {
        let name = rest.get(1..)?;
        let is_did = name.starts_with("did:");
        let of_name = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-' || (is_did && ":_%".contains(c));
        let length = name.find(|c: char| !of_name(c)).unwrap_or(name.len());
        let written = name.get(..length)?.trim_end_matches(['.', '-', ':', '_']);
        let whole = 1 + length;
        let pointer = (may_precede(before, previous) && may_follow(name.get(written.len()..)?))
            .then(|| if is_did { Did::parse(written).ok().map(AtIdentifier::from) } else { handle(written) })
            .flatten()
            .filter(|_| !touches_bar(previous, rest, whole))
            .and_then(|who| account(&who));
        Some(Self { whole, written: 1 + written.len(), pointer, is_handle: true })
    }
}

/// What may stand before the `@` of a handle: nothing that makes it a part of an address, a path or a scope.
fn may_precede(before: &str, previous: Option<char>) -> bool {
    match previous {
        None => true,
        // The local part of an address of mail may be quoted.
        Some(quote @ ('"' | '\'')) => {
            let outside = before.trim_end_matches(quote).chars().next_back();
            outside.is_none_or(|c| !c.is_alphanumeric())
        }
        Some(c) => !(c.is_alphanumeric() || ".-+%@/\\=&#~$".contains(c)),
    }
}

/// What may follow a handle: not what goes on as a call, a path, a package or another name.
fn may_follow(rest: &str) -> bool {
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        (Some('(' | '@' | '['), _) => false,
        (Some('/' | '_' | '=' | '\\'), Some(next)) => !next.is_alphanumeric(),
        (Some(c), _) => !c.is_alphanumeric(),
        (None, _) => true,
    }
}

fn handle(name: &str) -> Option<AtIdentifier> {
    let handle = Handle::parse(name).ok()?.normalized();
    let (first, last) = handle.as_str().rsplit_once('.')?;
    (first.contains('.') || !FILES.contains(&last)).then(|| handle.into())
}

/// The pointer at an account.
pub(super) fn account(who: &AtIdentifier) -> Option<AtUri> {
    let who = if who.is_did() { Cow::from(who.as_str()) } else { who.as_str().to_ascii_lowercase().into() };
    AtUri::parse(&format!("at://{who}")).ok()
}

fn touches_bar(previous: Option<char>, rest: &str, whole: usize) -> bool {
    previous == Some(BAR) || rest.get(whole..).is_some_and(|rest| rest.starts_with(BAR))
}

/// A link or at-uri without the punctuation of the sentence around it.
fn trimmed(token: &str, previous: Option<char>) -> &str {
    let mut token = token;
    while let Some(last) = token.chars().next_back() {
        let drop = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '"' => true,
            ')' => closes_nothing(token, '(', ')'),
            ']' => closes_nothing(token, '[', ']'),
            '*' | '_' | '~' => previous == Some(last),
            _ => false,
        };
        if !drop {
            break;
        }
        token = token.get(..token.len() - last.len_utf8()).unwrap_or_default();
    }
    token
}

fn closes_nothing(token: &str, open: char, close: char) -> bool {
    token.matches(close).count() > token.matches(open).count()
}
