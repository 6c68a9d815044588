//! Secrets in sentences: "the password is …", "use … as the password", "log in with admin / …".

use super::words::List;
use super::{
    name::Says,
    place::{bare_end, quoted},
    value::{Stands, is_secret, is_uuid},
};
use crate::text::part;

/// Words of a sentence between the noun and the secret.
const MOST_WORDS: usize = 9;
/// Bytes of a sentence in another script that may stand between.
const SCRIPT_GAP: usize = 72;

/// Verbs and the like after which the value stands, in several languages.
static CONNECTORS: List = List::new(
    "is was are be to = : -> ist lautet war sind est sont es era fue son é eh è sono jest są as being equals with \
     called - – — → wurde heißt",
);

/// What may stand between the connector and the value.
static FILLERS: List = List::new(
    "still now currently just also always set probably the following actually this simply jetzt noch actuellement \
     ahora agora again reset changed be to is",
);

struct Tokens<'a> {
    text: &'a [u8],
    pos: usize,
}

impl Tokens<'_> {
    /// The next word and its bounds; none at the end of a paragraph.
    fn next(&mut self) -> Option<(usize, usize)> {
        let mut lines = 0;
        while let Some(byte) = self.text.get(self.pos).filter(|b| b.is_ascii_whitespace()) {
            lines += usize::from(*byte == b'\n');
            self.pos += 1;
            if lines > 1 {
                return None;
            }
        }
        let start = self.pos;
        let rest = part(self.text, start, start + 200);
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.pos = start + length;
        (length > 0).then_some((start, self.pos))
    }
}

fn is_one_of(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|w| w.as_bytes().eq_ignore_ascii_case(word))
}

/// The secret that a sentence says after the noun that ends at `from`.
pub(super) fn after(text: &[u8], from: usize, says: Says) -> Option<(usize, usize)> {
    let mut tokens = Tokens { text, pos: from };
    if says == Says::Pin {
        return pin(text, from);
    }
    // What directly follows must show by itself that it is a secret.
    let mut told = false;
    for n in 0..MOST_WORDS {
        let (start, end) = tokens.next()?;
        let word = part(text, start, end);
        if CONNECTORS.has_folded(word) {
            told = true;
            continue;
        }
        if told || n == 0 {
            if let Some(found) = value(text, start, says, told) {
                return Some(found);
            }
            if told && !FILLERS.has_folded(word) {
                return None;
            }
        }
        if word.ends_with(b":") {
            told = true;
        } else if matches!(word.last(), Some(b'.' | b'?' | b'!' | b';' | b'|' | b'{' | b'}' | b')'))
            || word.contains(&b'(')
        {
            return None;
        }
    }
    None
}

fn pin(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut tokens = Tokens { text, pos: from };
    for _ in 0..5 {
        let (start, end) = tokens.next()?;
        if is_one_of(part(text, start, end), &["is", "=", ":", "ist", "lautet", "est", "es", "é", "è", "was", "to"]) {
            let (start, _) = tokens.next()?;
            let digits = part(text, start, start + 9).iter().take_while(|b| b.is_ascii_digit()).count();
            let ends = text
                .get(start + digits)
                .is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'.' | b',' | b'!' | b')' | b';'));
            return ((4..=8).contains(&digits) && ends).then_some((start, start + digits));
        }
    }
    None
}

/// The secret at `start`, without the quotes, brackets and emphasis around it.
fn value(text: &[u8], start: usize, says: Says, told: bool) -> Option<(usize, usize)> {
    let opened = part(text, start, start + 4).iter().take_while(|b| matches!(b, b'(' | b'*' | b'_' | b'[')).count();
    let start = start + opened;
    let (start, end, stands) = match quoted(text, start) {
        Some((start, end)) => (start, end, if told { Stands::Literal } else { Stands::Argument }),
        None => {
            let end = bare_end(text, start);
            // A question mark is the sentence's.
            let cut = usize::from(part(text, start, end).ends_with(b"?"));
            (start, end - cut, Stands::Prose)
        }
    };
    let token = part(text, start, end);
    // Another assignment.
    if stands == Stands::Prose && token.iter().rev().skip_while(|b| **b == b'=').any(|b| *b == b'=') {
        return None;
    }
    if says == Says::Words {
        return word_list(text, start);
    }
    let says = if told {
        says
    } else if says == Says::Password {
        Says::MaybePassword
    } else {
        says
    };
    if !told && stands == Stands::Prose && (matches!(says, Says::Maybe | Says::Whose) || is_uuid(token)) {
        return None;
    }
    (token.len() >= 6 && is_secret(token, says, stands)).then_some((start, end))
}

/// A wallet's words from `start` on.
pub(super) fn word_list(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let window = part(text, start, start + 260);
    let mut at = 0;
    let mut ends = Vec::new();
    while let Some(rest) = window.get(at..) {
        let length = rest.iter().take_while(|b| b.is_ascii_lowercase()).count();
        if !(3..=8).contains(&length) || ends.len() == 24 {
            break;
        }
        at += length;
        ends.push(at);
        let gap = window
            .get(at..)
            .unwrap_or_default()
            .iter()
            .take(3)
            .take_while(|b| matches!(b, b' ' | b',' | b'\n'))
            .count();
        if gap == 0 {
            break;
        }
        at += gap;
    }
    let count = ends.len() - ends.len() % 3;
    let end = start + ends.get(count.checked_sub(1)?)?;
    is_secret(part(text, start, end), Says::Words, Stands::Literal).then_some((start, end))
}

/// The secret before the noun that starts at `name`: "use … as the password".
pub(super) fn before(text: &[u8], name: usize, says: Says) -> Option<(usize, usize)> {
    let window = part(text, name.saturating_sub(160), name);
    let base = name - window.len();
    let line = window.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let window = part(window, line, window.len());
    let base = base + line;
    let mut end = window.len();
    for _ in 0..5 {
        end = window.get(..end)?.trim_ascii_end().len();
        let start = window.get(..end)?.iter().rposition(u8::is_ascii_whitespace).map_or(0, |i| i + 1);
        let word = part(window, start, end);
        if is_one_of(word, &["as", "als", "como", "comme", "come", "for", "jako", "is"]) {
            let end = window.get(..start)?.trim_ascii_end().len();
            let start = window.get(..end)?.iter().rposition(u8::is_ascii_whitespace).map_or(0, |i| i + 1);
            return value(text, base + start, says, false);
        }
        if word.is_empty() || word.iter().any(|b| !b.is_ascii_alphabetic()) {
            return None;
        }
        end = start;
    }
    None
}

/// The secret after a noun of another script: the next run of ASCII, when little stands between.
pub(super) fn after_foreign(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let window = part(text, from, from + SCRIPT_GAP);
    let mut at = window.iter().position(u8::is_ascii_alphanumeric)?;
    // A sign may begin it.
    while at > 0
        && window.get(at - 1).is_some_and(|b| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+'))
    {
        at -= 1;
    }
    let gap = part(window, 0, at);
    if gap.iter().any(|b| matches!(b, b'\n' | b';' | b'?' | b'{' | b'}' | b'.')) {
        return None;
    }
    let start = from + at;
    // In scripts without spaces the sentence goes on right after it.
    let run = part(text, start, start + 80).iter().take_while(|b| b.is_ascii_graphic()).count();
    let end = bare_end(text, start).min(start + run);
    let token = part(text, start, end);
    let quoted = gap.ends_with(b"\"") || gap.ends_with(b"'") || gap.ends_with(b"`");
    let stands = if quoted { Stands::Literal } else { Stands::Prose };
    (token.len() >= 6 && token.iter().any(u8::is_ascii_digit) && is_secret(token, Says::Password, stands))
        .then_some((start, end))
}

/// The secret after "log in with", "credentials:": `user / password`, `user:password`.
pub(super) fn login(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let line = part(text, from, from + 100);
    let line = part(line, 0, line.iter().position(|b| *b == b'\n').unwrap_or(line.len()));
    let mut told = false;
    for (at, byte) in line.iter().enumerate() {
        let start = match byte {
            b':' | b'=' if !told => {
                told = true;
                let next = line.get(at + 1).copied().unwrap_or_default();
                if !next.is_ascii_alphanumeric() { continue } else { at + 1 }
            }
            b'/' | b':' | b'|' => at + 1,
            b'.' | b'?' | b'{' | b';' | b'(' if line.get(at + 1).is_none_or(|b| *b == b' ') => return None,
            _ => continue,
        };
        let space = part(line, start, line.len()).iter().take(2).take_while(|b| matches!(b, b' ' | b'`')).count();
        let open = usize::from(line.get(start + space).is_some_and(|b| matches!(b, b'`' | b'"' | b'\'')));
        let start = from + start + space + open;
        let end = bare_end(text, start);
        let token = part(text, start, end);
        if token.len() >= 6
            && !token.contains(&b'/')
            && !token.contains(&b':')
            && is_secret(token, Says::MaybePassword, Stands::Prose)
        {
            return Some((start, end));
        }
    }
    None
}
