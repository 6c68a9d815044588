//! Payment cards and bank accounts.

use super::{
    Span, What, before, byte, checks,
    context::{Context, Topic},
    joins,
    numbers::Groups,
};
use crate::{checks::listed, text::part};

/// Numbers that payment providers give out for trying things: nobody's.
const TEST_CARDS: &str = "\
    4111111111111111 4242424242424242 4012888888881881 4000056655665556 5555555555554444 2223003122003222 \
    5200828282828210 5105105105105100 378282246310005 371449635398431 378734493671000 6011111111111117 \
    6011000990139424 6011981111111113 3056930009020004 36227206271667 30569309025904 38520000023237 \
    3566002020360505 3530111333300000 6200000000000005 4222222222222 5431111111111111 4917610000000000 \
    4917300800000000 5019717010103742 6759649826438453 6331101999990016";

/// How the digits of a card are grouped on it.
const CARD_GROUPS: [&[usize]; 4] = [&[4, 4, 4, 4, 3], &[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4]];

/// A payment card whose number begins with `groups`.
pub(super) fn card(groups: &Groups, context: impl Fn() -> Context) -> Option<Span> {
    for shape in CARD_GROUPS {
        if groups.begin_with(shape, b" -") && is_card(groups.digits(shape.len())) {
            return groups.span(What::PaymentCard, shape.len());
        }
    }
    let alone = groups.count() == 1 && (13..=19).contains(&groups.length(0));
    (alone && is_card(groups.digits(1)) && context().names(Topic::Card))
        .then(|| groups.span(What::PaymentCard, 1))
        .flatten()
}

fn is_card(digits: &[u8]) -> bool {
    let prefix = |n: usize| digits.iter().take(n).fold(0_u32, |n, d| n * 10 + u32::from(*d));
    let length = digits.len();
    let issued = match (prefix(1), prefix(2), prefix(3), prefix(4)) {
        (4, ..) => matches!(length, 13 | 16 | 19),
        (_, 34 | 37, ..) => length == 15,
        (_, 51..=55, ..) | (.., 2221..=2720) => length == 16,
        (.., 6011) | (_, _, 644..=649, _) | (_, 65, ..) => (16..=19).contains(&length),
        (.., 3528..=3589) | (_, 62, ..) => (16..=19).contains(&length),
        (_, _, 300..=305, _) | (_, 36 | 38 | 39, ..) => (14..=19).contains(&length),
        _ => false,
    };
    let text: String = digits.iter().map(|d| char::from(b'0' + d)).collect();
    issued && checks::luhn(digits) && !listed(TEST_CARDS, &text) && !text.contains("00000000")
}

/// Lengths of IBANs by country (ISO 13616 registry).
const IBAN_LENGTHS: &str = "\
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 \
    FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 \
    LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 \
    SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20";

/// The IBAN whose check digits begin at `digits`: together, or in groups of four.
pub(super) fn iban(text: &[u8], digits: usize) -> Option<Span> {
    let start = digits.checked_sub(2)?;
    let country = part(text, start, digits);
    let country = str::from_utf8(country).ok()?;
    let length: usize = IBAN_LENGTHS.split_whitespace().find_map(|c| c.strip_prefix(country))?.parse().ok()?;
    if joins(before(text, start)) {
        return None;
    }
    let mut iban = Vec::with_capacity(length);
    let mut at = start;
    while iban.len() < length {
        match byte(text, at)? {
            c @ (b'0'..=b'9' | b'A'..=b'Z') => iban.push(c),
            b' ' | b'-' if iban.len().is_multiple_of(4) && !matches!(before(text, at), Some(b' ' | b'-')) => {}
            _ => return None,
        }
        at += 1;
    }
    let zeros = iban.iter().skip(4).all(|c| *c == b'0');
    (!joins(byte(text, at)) && !zeros && checks::mod97(&iban)).then_some(Span { what: What::Iban, start, end: at })
}
