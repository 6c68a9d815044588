//! Dates of birth: dates after a word that says so.

use super::{
    Span, What, byte,
    context::{Context, Contexts, Topic},
    numbers::Groups,
};
use crate::{checks::listed, text::part};

/// Months, as far as they are written differently, in lower case.
const MONTHS: &str = "\
    january february march april may june july august september october november december jan feb mar apr jun \
    jul aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember janvier février mars avril \
    juin juillet août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto \
    septiembre octubre noviembre diciembre okt";

/// So many bytes after a day the year has begun: `th`, three of space and stop, `of de `, a month of twelve bytes, ` of de`,
/// three of comma and space, two digits.
const YEAR_WITHIN: usize = 2 + 3 + 6 + 12 + 6 + 3 + 2;

/// A date of three numbers, with the year at either end.
pub(super) fn numeric(text: &[u8], groups: &Groups, context: &Context) -> Option<Span> {
    let value = |i: usize| {
        let before = groups.digits(i).len();
        groups.digits(i + 1).iter().skip(before).fold(0_u32, |n, d| n * 10 + u32::from(*d))
    };
    let lengths = [groups.length(0), groups.length(1), groups.length(2)];
    let separators = b"-./ ";
    let (year, others) = match lengths {
        [4, 1..=2, 1..=2] => (value(0), [value(1), value(2)]),
        [1..=2, 1..=2, 4] => (value(2), [value(0), value(1)]),
        _ => return None,
    };
    let small = others.iter().all(|n| (1..=31).contains(n)) && others.iter().any(|n| *n <= 12);
    (context.names(Topic::Birth)
        && groups.begin_with(&lengths, separators)
        && is_year(year)
        && small
        && !groups.joined_after(text, 3))
    .then(|| groups.span(What::DateOfBirth, 3))
    .flatten()
}

/// Someone alive may have been born in it.
fn is_year(year: u32) -> bool {
    (1900..=2029).contains(&year)
}

/// A date with the month's name before or after the day at `start..end`.
pub(super) fn spelled(text: &[u8], start: usize, end: usize, contexts: &Contexts) -> Option<Span> {
    // Most small numbers have no year nearby, and are not looked at further.
    if !part(text, end, end + YEAR_WITHIN).windows(2).any(|two| matches!(two, b"19" | b"20")) {
        return None;
    }
    let mut at = end;
    if matches!(part(text, at, at + 2), b"st" | b"nd" | b"rd" | b"th") {
        at += 2;
    }
    let begin = month_before(text, start);
    if begin.is_none() {
        at = skip(text, at, b". ");
        for word in [&b"of "[..], b"de "] {
            if text.get(at..).is_some_and(|rest| rest.starts_with(word)) {
                at += word.len();
            }
        }
        at = month_end(text, at)?;
        for word in [&b" of "[..], b" de "] {
            if text.get(at..).is_some_and(|rest| rest.starts_with(word)) {
                at += word.len() - 1;
            }
        }
    }
    let year = skip(text, at, b"., ");
    let digits = text.iter().skip(year).take(5).take_while(|b| b.is_ascii_digit());
    let (count, value) = digits.fold((0, 0_u32), |(n, year), b| (n + 1, year * 10 + u32::from(b - b'0')));
    let start = begin.unwrap_or(start);
    (year > at && count == 4 && is_year(value) && contexts.before(text, start).names(Topic::Birth)).then_some(Span {
        what: What::DateOfBirth,
        start,
        end: year + 4,
    })
}

fn skip(text: &[u8], at: usize, what: &[u8]) -> usize {
    at + text.iter().skip(at).take(3).take_while(|b| what.contains(b)).count()
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

fn is_month(word: &[u8]) -> bool {
    let word = String::from_utf8_lossy(word).to_lowercase();
    listed(MONTHS, &word)
}

/// Where the month's name at `at` ends.
fn month_end(text: &[u8], at: usize) -> Option<usize> {
    let length = text.iter().skip(at).take(12).take_while(|b| is_letter(**b)).count();
    (length >= 3 && byte(text, at + length).is_some() && is_month(part(text, at, at + length))).then_some(at + length)
}

/// Where the month's name before `at` begins.
fn month_before(text: &[u8], at: usize) -> Option<usize> {
    let space = at.checked_sub(1).filter(|i| byte(text, *i) == Some(b' '))?;
    let end = if byte(text, space.checked_sub(1)?) == Some(b'.') { space - 1 } else { space };
    let length = text.get(..end)?.iter().rev().take(12).take_while(|b| is_letter(**b)).count();
    (length >= 3 && is_month(part(text, end - length, end))).then_some(end - length)
}
