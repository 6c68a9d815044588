//! Addresses of machines and places: suggestions, since most of them are everyone's.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{
    Span, What, before, byte,
    context::{Context, Contexts, Topic},
    joins,
    numbers::Groups,
};
use crate::text::part;

/// An address of four numbers.
pub(super) fn v4(text: &[u8], groups: &Groups, contexts: &Contexts) -> Option<Span> {
    let dotted = groups.count() >= 4
        && groups.separators().take(3).all(|s| s == Some(b'.'))
        && (0..4).all(|i| groups.length(i) <= 3)
        && !(groups.count() > 4 && groups.separators().nth(3) == Some(Some(b'.')));
    if !dotted {
        return None;
    }
    let end = groups.end(4)?;
    let address: Ipv4Addr = str::from_utf8(part(text, groups.start(), end)).ok()?.parse().ok()?;
    // A whole network is nobody's address.
    let network = byte(text, end) == Some(b'/') && byte(text, end + 1).is_some_and(|b| b.is_ascii_digit());
    if network || joins(byte(text, end)) || matches!(before(text, groups.start()), Some(b'.' | b'-')) {
        return None;
    }
    let what = if is_private(address) {
        Some(What::PrivateAddress).filter(|_| !is_everyones(address))
    } else {
        let said = || {
            let context = contexts.before(text, groups.start());
            before(text, groups.start()) == Some(b'@')
                || context.names(Topic::Machine) && !context.names(Topic::Version)
        };
        Some(What::PublicAddress).filter(|_| is_public(address) && said())
    }?;
    Some(Span { what, start: groups.start(), end })
}

/// RFC 1918, RFC 3927 and RFC 6598.
fn is_private(address: Ipv4Addr) -> bool {
    let shared = matches!(address.octets(), [100, 64..=127, ..]);
    address.is_private() || address.is_link_local() || shared
}

/// Defaults of routers, containers and clouds, and the first and last of a network.
fn is_everyones(address: Ipv4Addr) -> bool {
    matches!(
        address.octets(),
        [.., 0 | 255]
            | [192, 168, 0 | 1 | 2 | 178 | 99 | 49 | 122, 1]
            | [192, 168, 1, 2 | 100]
            | [192, 168, 0, 100]
            | [10, 0, 0, ..=5]
            | [10, 0 | 1, 1, 1]
            | [10, 0, 2, 2 | 3 | 15]
            | [10, 10, 10, 10]
            | [10, 1, 2, 3]
            | [10, 96, 0, 1 | 10]
            | [10, 244, ..]
            | [172, 17..=20, 0, _]
            | [172, 16, 0, 1]
            | [169, 254, 169, 254]
            | [169, 254, 170, 2]
            | [100, 100, 100, 100 | 200]
    )
}

/// Someone's, and not a service that everyone asks.
fn is_public(address: Ipv4Addr) -> bool {
    let reserved = address.is_loopback()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation();
    let known = matches!(
        address.octets(),
        [0 | 240.., ..]
            | [8, 8, 8, 8]
            | [8, 8, 4, 4]
            | [1, 1, 1, 1]
            | [1, 0, 0, 1]
            | [9, 9, 9, 9]
            | [1, 2, 3, 4]
            | [208, 67, 222, 222]
            | [208, 67, 220, 220]
            | [198, 18..=19, ..]
            | [.., 0]
    );
    !reserved && !known
}

/// A hardware address or an IPv6 address with the digits `start..end` in it.
pub(super) fn hexadecimal(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let hex = |b: &&u8| b.is_ascii_hexdigit();
    let left = text.get(..start)?.iter().rev().take(4).take_while(hex).count();
    let right = text.iter().skip(end).take(4).take_while(hex).count();
    let (start, end) = (start - left, end + right);
    let beside = |b: Option<u8>| matches!(b, Some(b':' | b'-'));
    if end - start > 4 || !(beside(before(text, start)) || beside(byte(text, end))) {
        return None;
    }
    if end - start == 2
        && let Some(span) = hardware(text, start)
    {
        return Some(span);
    }
    v6(text, start, end)
}

/// Pairs of hexadecimal digits that people and virtual machines write without meaning one.
fn is_no_ones(bytes: [u8; 6]) -> bool {
    let first = bytes.first();
    let same = bytes.iter().all(|b| Some(b) == first);
    let steps = |by: u8| bytes.windows(2).all(|w| matches!(w, [a, b] if b.wrapping_sub(*a) == by));
    let written = matches!(
        bytes,
        // RFC 7042 section 2.1.2; Docker's; the ones in examples.
        [0, 0, 0x5e, 0, 0x53, _]
            | [1, 0, 0x5e, 0x90, 0x10, _]
            | [2, 0x42, ..]
            | [0xde, 0xad, 0xbe, 0xef, ..]
            | [1, 0x23, 0x45, 0x67, 0x89, 0xab]
            | [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc]
    );
    same || steps(0x11) || steps(1) || written
}

/// A hardware address with the pair of digits at `pair` in it.
fn hardware(text: &[u8], pair: usize) -> Option<Span> {
    let separator = byte(text, pair + 2).or(before(text, pair))?;
    let separator = if matches!(separator, b':' | b'-') { separator } else { before(text, pair)? };
    let mut start = pair;
    while start.checked_sub(3).is_some_and(|at| matches!(part(text, at, start), [a, b, s] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() && *s == separator))
        && pair - start < 18
    {
        start -= 3;
    }
    let end = start + 17;
    let address = text.get(start..end)?;
    let mut bytes = [0; 6];
    for (to, pair) in bytes.iter_mut().zip(address.split(|b| *b == separator)) {
        *to = match pair {
            [_, _] => u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?,
            _ => return None,
        };
    }
    let pairs = address.split(|b| *b == separator).count();
    let alone = |b: Option<u8>| !joins(b) && !matches!(b, Some(b':' | b'-'));
    (pairs == 6 && alone(before(text, start)) && alone(byte(text, end)) && !is_no_ones(bytes)).then_some(Span {
        what: What::MacAddress,
        start,
        end,
    })
}

/// A unique local or link-local address (RFC 4193, RFC 4291) with the group `start..end` in it.
fn v6(text: &[u8], start: usize, end: usize) -> Option<Span> {
    const LONGEST: usize = 39;
    let own = |b: &&u8| b.is_ascii_hexdigit() || **b == b':';
    let start = start - text.get(..start)?.iter().rev().take(LONGEST).take_while(own).count();
    if !matches!(byte(text, start), Some(b'f' | b'F')) {
        return None;
    }
    let end = end + text.iter().skip(end).take(LONGEST).take_while(own).count();
    let trimmed = part(text, start, end);
    // A sentence may end in a colon.
    let end = if trimmed.ends_with(b":") && !trimmed.ends_with(b"::") { end - 1 } else { end };
    let address: Ipv6Addr = str::from_utf8(part(text, start, end)).ok()?.parse().ok()?;
    let private = address.is_unique_local() || address.is_unicast_link_local();
    let everyones = address.segments().iter().skip(1).all(|s| *s <= 1);
    let network = byte(text, end) == Some(b'/');
    (private && !everyones && !network && !joins(before(text, start)) && !joins(byte(text, end))).then_some(Span {
        what: What::PrivateAddress,
        start,
        end,
    })
}

/// One of the two numbers of a place on earth, to ten metres or finer.
pub(super) fn coordinate(text: &[u8], groups: &Groups, context: &Context) -> Option<Span> {
    let whole = groups.digits(1).iter().take(4).fold(0_u32, |n, d| n * 10 + u32::from(*d));
    let decimal = groups.length(0) <= 3
        && (4..=15).contains(&groups.length(1))
        && groups.begin_with(&[groups.length(0), groups.length(1)], b".");
    let end = groups.end(2)?;
    let round = groups.digits(2).iter().skip(groups.length(0)).all(|d| *d == 0);
    (decimal && whole <= 180 && !round && context.names(Topic::Coordinates) && !joins(byte(text, end))).then(|| {
        let negative = before(text, groups.start()) == Some(b'-');
        Span { what: What::Coordinates, start: groups.start() - usize::from(negative), end }
    })
}
