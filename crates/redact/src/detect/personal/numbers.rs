//! What a number may be: one look at each run of digits.

use super::{Span, What, before, byte, context::Contexts, dates, identity, joins, network, payment, phone};

/// More groups, or more digits, than any number has that is looked for.
const GROUPS: usize = 9;
const DIGITS: usize = 24;

/// Groups of digits with one separator each between them.
#[derive(Default)]
pub(super) struct Groups {
    start: usize,
    digits: Vec<u8>,
    /// Length, end and what stands after it.
    groups: Vec<(usize, usize, Option<u8>)>,
}

impl Groups {
    /// Reads the groups from the digit at `start` on. None where one is longer than any number looked for.
    fn read(text: &[u8], start: usize) -> Self {
        let mut read = Self { start, ..Self::default() };
        let mut at = start;
        while read.groups.len() < GROUPS {
            let group = text.iter().skip(at).take(DIGITS + 1).take_while(|b| b.is_ascii_digit()).map(|b| b - b'0');
            let length = read.digits.len();
            read.digits.extend(group);
            let length = read.digits.len() - length;
            if length == 0 || read.digits.len() > DIGITS {
                read.digits.truncate(read.digits.len() - length);
                break;
            }
            at += length;
            let separator = byte(text, at).filter(|b| matches!(b, b' ' | b'-' | b'.' | b'/'));
            read.groups.push((length, at, separator));
            if separator.is_none() {
                break;
            }
            at += 1;
        }
        read
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    pub(super) fn count(&self) -> usize {
        self.groups.len()
    }

    /// How many digits the group at `index` has.
    pub(super) fn length(&self, index: usize) -> usize {
        self.groups.get(index).map_or(0, |g| g.0)
    }

    /// Where the first `groups` groups end.
    pub(super) fn end(&self, groups: usize) -> Option<usize> {
        groups.checked_sub(1).and_then(|i| self.groups.get(i)).map(|g| g.1)
    }

    /// Whether the first groups are of these lengths, with the same one of `separators` between them, and do not go on.
    pub(super) fn begin_with(&self, lengths: &[usize], separators: &[u8]) -> bool {
        let between = self.groups.first().and_then(|g| g.2);
        let last = self.groups.get(lengths.len().saturating_sub(1)).and_then(|g| g.2);
        let goes_on = self.groups.len() > lengths.len() && last == between && between != Some(b' ');
        self.groups.len() >= lengths.len()
            && (lengths.len() == 1 || between.is_some_and(|b| separators.contains(&b)))
            && self.groups.iter().zip(lengths).all(|(group, length)| group.0 == *length)
            && self.groups.iter().take(lengths.len() - 1).all(|group| group.2 == between)
            && !goes_on
    }

    /// The separators between the first groups.
    pub(super) fn separators(&self) -> impl Iterator<Item = Option<u8>> {
        self.groups.iter().map(|g| g.2)
    }

    /// The digits of the first `groups` groups, as values from 0 to 9.
    pub(super) fn digits(&self, groups: usize) -> &[u8] {
        let length = self.groups.iter().take(groups).map(|g| g.0).sum();
        self.digits.get(..length).unwrap_or_default()
    }

    pub(super) fn span(&self, what: What, groups: usize) -> Option<Span> {
        Some(Span { what, start: self.start, end: self.end(groups)? })
    }

    fn total(&self) -> usize {
        self.digits.len()
    }

    /// Whether a letter follows the first `groups` groups.
    pub(super) fn joined_after(&self, text: &[u8], groups: usize) -> bool {
        self.end(groups).is_none_or(|end| joins(byte(text, end)))
    }
}

/// What the run of digits `start..end` is a part of, if it is personal.
pub(super) fn at(text: &[u8], start: usize, end: usize, contexts: &Contexts) -> Option<Span> {
    let lead = before(text, start);
    if let Some(span) = network::hexadecimal(text, start, end) {
        return Some(span);
    }
    if joins(lead) {
        return joined(text, start, end, contexts);
    }
    if lead == Some(b'+') {
        return phone::international(text, start, contexts);
    }
    // Within a longer number.
    let inner = matches!(lead, Some(b'-' | b'.' | b'/' | b':' | b','))
        && start.checked_sub(1).and_then(|at| before(text, at)).is_some_and(|b| b.is_ascii_digit());
    if inner {
        return None;
    }
    if end - start <= 2
        && let Some(span) = dates::spelled(text, start, end, contexts)
    {
        return Some(span);
    }
    let may_begin_phone = phone::may_begin(text, start, end);
    // Most numbers are short and stand alone.
    let goes_on = matches!(byte(text, end), Some(b' ' | b'-' | b'.' | b'/'))
        && byte(text, end + 1).is_some_and(|b| b.is_ascii_digit());
    if end - start < 5 && !goes_on && !may_begin_phone {
        return None;
    }
    let groups = Groups::read(text, start);
    if groups.total() < 5 && !may_begin_phone {
        return None;
    }
    if let Some(span) = network::v4(text, &groups, contexts) {
        return Some(span);
    }
    let context = || contexts.before(text, start);
    if let Some(span) = payment::card(&groups, context).filter(|span| !joins(byte(text, span.end))) {
        return Some(span);
    }
    let context = context();
    if context.is_empty() {
        return None;
    }
    identity::number(text, &groups, &context)
        .or_else(|| dates::numeric(text, &groups, &context))
        .or_else(|| network::coordinate(text, &groups, &context))
        .or_else(|| phone::national(text, start, &context))
}

/// Digits right after a letter.
fn joined(text: &[u8], start: usize, end: usize, contexts: &Contexts) -> Option<Span> {
    if !before(text, start).is_some_and(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    let letters = text.get(..start)?.iter().rev().take(3).take_while(|b| b.is_ascii_alphabetic()).count();
    if letters > 2 || end - start < 2 || joins(before(text, start - letters)) {
        return None;
    }
    let country = letters == 2 && text.get(start - 2..start).is_some_and(|c| c.iter().all(u8::is_ascii_uppercase));
    let account = if country { payment::iban(text, start) } else { None };
    account.or_else(|| identity::lettered(text, start - letters, start, contexts))
}
