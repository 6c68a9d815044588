//! Numbers that states give to people. Each needs a word that says what it is, and its check where it has one.

use super::{
    Span, What, byte, checks,
    context::{Context, Contexts, Topic},
    joins,
    numbers::Groups,
};
use crate::text::part;

/// US Social Security numbers that stand in advertisements and documentation.
const KNOWN_SSNS: [&[u8; 9]; 3] =
    [&[0, 7, 8, 0, 5, 1, 1, 2, 0], &[2, 1, 9, 0, 9, 9, 9, 9, 9], &[1, 2, 3, 4, 5, 6, 7, 8, 9]];

/// One way to write a number: lengths of its groups, what may stand between them.
type Shape = (&'static [usize], &'static [u8]);

/// A number of digits alone.
struct Scheme {
    topic: Topic,
    shapes: &'static [Shape],
    holds: fn(&[u8]) -> bool,
}

const SCHEMES: [Scheme; 6] = [
    Scheme { topic: Topic::Ssn, shapes: &[(&[3, 2, 4], b"- "), (&[9], b"")], holds: is_ssn },
    Scheme {
        topic: Topic::SteuerId,
        shapes: &[(&[11], b""), (&[2, 3, 3, 3], b" ")],
        holds: |digits| digits.first() != Some(&0) && checks::mod11_10(digits),
    },
    Scheme {
        topic: Topic::Nir,
        shapes: &[(&[15], b""), (&[13, 2], b" "), (&[1, 2, 2, 2, 3, 3, 2], b" ")],
        holds: |digits| matches!(digits.first(), Some(1 | 2)) && checks::nir(digits),
    },
    Scheme { topic: Topic::TeudatZehut, shapes: &[(&[9], b""), (&[8, 1], b"-")], holds: checks::teudat_zehut },
    Scheme {
        topic: Topic::Aadhaar,
        shapes: &[(&[4, 4, 4], b" -"), (&[12], b"")],
        holds: |digits| digits.first().is_some_and(|d| *d >= 2) && checks::verhoeff(digits),
    },
    Scheme { topic: Topic::Cpf, shapes: &[(&[11], b"")], holds: |digits| checks::cpf(digits) && !same(digits) },
];

fn same(digits: &[u8]) -> bool {
    digits.iter().all(|d| Some(d) == digits.first())
}

/// Areas 000, 666 and 900 to 999 were never given, nor groups 00 and serials 0000.
fn is_ssn(digits: &[u8]) -> bool {
    let known = KNOWN_SSNS.iter().any(|k| k.as_slice() == digits);
    match digits {
        [9, ..] | [0, 0, 0, ..] | [6, 6, 6, ..] | [_, _, _, 0, 0, ..] | [.., 0, 0, 0, 0] => false,
        _ => !known && !same(digits),
    }
}

/// The number that `groups` begins with.
pub(super) fn number(text: &[u8], groups: &Groups, context: &Context) -> Option<Span> {
    for scheme in SCHEMES.iter().filter(|s| context.names(s.topic)) {
        for (lengths, separators) in scheme.shapes {
            let count = lengths.len();
            if groups.begin_with(lengths, separators)
                && !groups.joined_after(text, count)
                && (scheme.holds)(groups.digits(count))
            {
                return groups.span(What::NationalId, count);
            }
        }
    }
    brazilian(text, groups, context)
        .or_else(|| spanish(text, groups.start(), 0, groups.digits(1), groups.end(1)?, context))
        .or_else(|| british_spaced(text, groups, context))
        .or_else(|| {
            let digits = (7..=9).contains(&groups.length(0)) && !groups.joined_after(text, 1);
            (digits && groups.count() == 1 && context.names(Topic::Passport))
                .then(|| groups.span(What::Passport, 1))
                .flatten()
        })
}

/// `123.456.789-09`: its separators are not all the same.
fn brazilian(text: &[u8], groups: &Groups, context: &Context) -> Option<Span> {
    let separators: Vec<_> = groups.separators().take(3).collect();
    let shape = (0..4).map(|i| groups.length(i)).eq([3, 3, 3, 2]) && separators == [Some(b'.'), Some(b'.'), Some(b'-')];
    let digits = groups.digits(4);
    (shape && context.names(Topic::Cpf) && !groups.joined_after(text, 4) && checks::cpf(digits) && !same(digits))
        .then(|| groups.span(What::NationalId, 4))
        .flatten()
}

/// Eight digits and a letter, or X, Y or Z, seven digits and a letter: `lead` is 0, 1 or 2 for the latter.
fn spanish(text: &[u8], start: usize, lead: u32, digits: &[u8], end: usize, context: &Context) -> Option<Span> {
    let letter = match (byte(text, end), byte(text, end + 1)) {
        (Some(b'-' | b' '), Some(_)) => end + 1,
        _ => end,
    };
    let number = digits.iter().fold(lead, |n, d| n.wrapping_mul(10).wrapping_add(u32::from(*d)));
    let long_enough =
        digits.len() == if lead > 0 || byte(text, start).is_some_and(|b| b.is_ascii_alphabetic()) { 7 } else { 8 };
    (context.names(Topic::Dni)
        && long_enough
        && byte(text, letter).is_some_and(|b| b.is_ascii_alphabetic() && checks::dni(number, b))
        && !joins(byte(text, letter + 1)))
    .then_some(Span { what: What::NationalId, start, end: letter + 1 })
}

/// `AB 12 34 56 C`.
fn british_spaced(text: &[u8], groups: &Groups, context: &Context) -> Option<Span> {
    let start = groups.start().checked_sub(3).filter(|_| groups.begin_with(&[2, 2, 2], b" "))?;
    let end = groups.end(3)?;
    let suffix = part(text, end, end + 2);
    let lead = part(text, start, start + 3);
    let shape = matches!(suffix, [b' ', b'A'..=b'D']) && matches!(lead, [_, _, b' ']) && is_nino_prefix(lead);
    (shape && context.names(Topic::Nino) && !joins(byte(text, end + 2)) && !joins(super::before(text, start)))
        .then_some(Span { what: What::NationalId, start, end: end + 2 })
}

/// HMRC's National Insurance Manual, NIM39110: letters that are not used.
fn is_nino_prefix(prefix: &[u8]) -> bool {
    let [first, second, ..] = prefix else { return false };
    first.is_ascii_uppercase()
        && second.is_ascii_uppercase()
        && !b"DFIQUV".contains(first)
        && !b"DFIOQUV".contains(second)
        && ![&b"BG"[..], b"GB", b"NK", b"KN", b"TN", b"NT", b"ZZ"].contains(&[*first, *second].as_slice())
}

/// The number whose letters begin at `start` and whose digits begin at `digits`.
pub(super) fn lettered(text: &[u8], start: usize, digits: usize, contexts: &Contexts) -> Option<Span> {
    let length = text.iter().skip(digits).take(10).take_while(|b| b.is_ascii_digit()).count();
    if !(6..=9).contains(&length) || !part(text, start, digits).iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    let context = contexts.before(text, start);
    let end = digits + length;
    if context.names(Topic::Nino)
        && length == 6
        && is_nino_prefix(part(text, start, digits))
        && matches!(byte(text, end), Some(b'A'..=b'D'))
        && !joins(byte(text, end + 1))
    {
        return Some(Span { what: What::NationalId, start, end: end + 1 });
    }
    let values: Vec<u8> = part(text, digits, end).iter().map(|b| b - b'0').collect();
    let nie = part(text, start, digits);
    if let [letter @ (b'X' | b'Y' | b'Z')] = nie
        && let Some(span) = spanish(text, start, u32::from(letter - b'X'), &values, end, &context)
    {
        return Some(span);
    }
    (context.names(Topic::Passport) && !joins(byte(text, end))).then_some(Span { what: What::Passport, start, end })
}
