//! Phone numbers: international ones by their shape, national ones where a word says so.

use super::{
    Span, What, before, byte,
    context::{Context, Contexts, Topic},
    joins,
};
use crate::{checks::listed, text::part};

/// ITU-T E.164: with the country's code.
const MOST_DIGITS: usize = 15;
/// Longer than any way to write one.
const BYTES: usize = 32;

/// A number with its separators.
struct Number {
    end: usize,
    digits: Vec<u8>,
    /// Lengths of its groups of digits.
    groups: Vec<usize>,
    dots_only: bool,
}

/// Reads digits, and what separates their groups, from `at`, up to `most` digits.
fn read(text: &[u8], at: usize, most: usize) -> Number {
    let mut number = Number { end: at, digits: Vec::new(), groups: Vec::new(), dots_only: true };
    let mut here = at;
    loop {
        let group: Vec<u8> =
            text.iter().skip(here).take(most + 1).take_while(|b| b.is_ascii_digit()).map(|b| b - b'0').collect();
        if group.is_empty() || number.digits.len() + group.len() > most {
            return number;
        }
        here += group.len();
        number.groups.push(group.len());
        number.digits.extend(group);
        number.end = here;
        let between = separator(text, here);
        if between == 0 || here - at > BYTES {
            return number;
        }
        number.dots_only &= part(text, here, here + between) == b".";
        here += between;
    }
}

/// Length of what separates two groups of digits, at most three bytes and followed by a digit; else 0.
fn separator(text: &[u8], at: usize) -> usize {
    let rest = part(text, at, at + 4);
    let length = match rest {
        [0xc2, 0xa0, ..] => 2,
        [b')', b' ' | b'-' | b'/', ..] | [b' ', b'(' | b'-' | b'/', ..] => 2,
        [b' ' | b'-' | b'.' | b'/' | b'(' | b')', ..] => 1,
        _ => return 0,
    };
    let length =
        if rest.get(length) == Some(&b' ') && rest.get(length - 1) != Some(&b' ') { length + 1 } else { length };
    if rest.get(length).is_some_and(u8::is_ascii_digit) { length } else { 0 }
}

/// Whether the few digits `start..end` may be the code of an area, with more than one character to the next digit.
pub(super) fn may_begin(text: &[u8], start: usize, end: usize) -> bool {
    let bracketed = before(text, start) == Some(b'(') && byte(text, end) == Some(b')');
    bracketed || separator(text, end) > 1
}

/// The number whose first digit stands at `digit`, right after a plus sign.
pub(super) fn international(text: &[u8], digit: usize, contexts: &Contexts) -> Option<Span> {
    let plus = digit.checked_sub(1)?;
    let lead = before(text, plus);
    if joins(lead)
        || matches!(lead, Some(b'+' | b'.' | b')' | b']' | b'/' | b'-' | b'*'))
        || byte(text, digit) == Some(b'0')
    {
        return None;
    }
    let north_america = byte(text, digit) == Some(b'1');
    let number = read(text, digit, if north_america { 11 } else { MOST_DIGITS });
    let digits = number.digits.as_slice();
    let plausible = match digits {
        // Area codes and exchanges do not begin with 0 or 1; 555-01xx is for films.
        [1, _, _, _, 5, 5, 5, 0, 1, _, _] => false,
        [1, area, _, _, exchange, _, _, _, _, _, _] => *area >= 2 && *exchange >= 2,
        [1, ..] => false,
        _ => (9..=MOST_DIGITS).contains(&digits.len()),
    };
    let decimal = number.groups.len() == 2 && number.dots_only;
    // A year beyond four digits has a sign (ISO 8601).
    let date = matches!(number.groups.as_slice(), [year, 2, 2] if *year >= 4);
    // A line that a patch adds begins with a plus sign too.
    let begins_line = matches!(lead, None | Some(b'\n'));
    let spelled = number.groups.len() > 1 && number.groups.first().is_some_and(|first| *first <= 3);
    let likely = !begins_line || spelled || contexts.before(text, plus).names(Topic::Phone);
    (plausible && !decimal && !date && likely && ends(text, number.end) && !all_same(digits)).then_some(Span {
        what: What::Phone,
        start: plus,
        end: number.end,
    })
}

/// The number that begins with the digit at `digit`, after a word for it.
pub(super) fn national(text: &[u8], digit: usize, context: &Context) -> Option<Span> {
    let word = context.end_of(Topic::Phone)?;
    let start = if before(text, digit) == Some(b'(') { digit - 1 } else { digit };
    if joins(before(text, start)) || matches!(before(text, start), Some(b'.' | b'-' | b'/' | b'+')) {
        return None;
    }
    let number = read(text, digit, 14);
    let digits = number.digits.as_slice();
    let plausible = match number.groups.as_slice() {
        [one] => (9..=12).contains(one) || (7..=8).contains(one) && byte(text, digit) != Some(b'0'),
        [_, _] if number.dots_only => false,
        // A date.
        [4, 2, 2] | [2, 2, 4] => false,
        [3, 2, 4] => false,
        // An address of a machine.
        [1..=3, 1..=3, 1..=3, 1..=3] if number.dots_only => false,
        [_, ..] => (7..=14).contains(&digits.len()),
        [] => false,
    };
    let fiction = matches!(digits, [.., 5, 5, 5, 0, 1, _, _]);
    (plausible && !fiction && ends(text, number.end) && !all_same(digits) && leads_to(text, word, start))
        .then_some(Span { what: What::Phone, start, end: number.end })
}

/// Whether nothing goes on at `end`.
fn ends(text: &[u8], end: usize) -> bool {
    let next = byte(text, end);
    let after = byte(text, end + 1);
    let goes_on = match next {
        Some(b'.' | b':' | b',' | b'-') => after.is_some_and(|b| b.is_ascii_digit()),
        Some(b'/' | b'+' | b'=') => after.is_some_and(|b| b.is_ascii_alphanumeric()),
        Some(b'%') => true,
        _ => joins(next),
    };
    !goes_on
}

fn all_same(digits: &[u8]) -> bool {
    let mut tail = digits.iter().rev().take(7);
    let last = tail.next();
    tail.all(|d| Some(d) == last)
}

/// Words that may stand between the word for a phone and the number.
const BETWEEN: &str = "\
    number numbers no nr num is me us at on him her them my our his home work office cell mobile mobil unter ist \
    the or to fax tel phone de du value text string privat under private and nummer";

fn leads_to(text: &[u8], word: usize, start: usize) -> bool {
    let between = part(text, word, start);
    let mut words = between.split(|b| !b.is_ascii_alphabetic()).filter(|w| !w.is_empty());
    !between.iter().any(u8::is_ascii_digit)
        && between.len() <= 28
        && words.all(|word| listed(BETWEEN, &String::from_utf8_lossy(word).to_ascii_lowercase()))
}
