//! Check digits of numbers that carry them. Each takes the digits as values from 0 to 9.

/// ISO/IEC 7812-1 annex B: the last digit of a payment card.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match u32::from(*digit) << (place % 2) {
            two @ 10.. => two - 9,
            one => one,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// ISO/IEC 7064 MOD 97-10 over letters and digits, as ISO 13616 has it: the first four characters go last.
pub(super) fn mod97(iban: &[u8]) -> bool {
    let (head, rest) = iban.split_at(iban.len().min(4));
    let rest = rest.iter().chain(head).try_fold(0_u32, |rest, c| match c {
        b'0'..=b'9' => Some((rest * 10 + u32::from(c - b'0')) % 97),
        b'A'..=b'Z' => Some((rest * 100 + u32::from(c - b'A') + 10) % 97),
        _ => None,
    });
    rest == Some(1)
}

/// ISO/IEC 7064 MOD 11,10: the German tax number for life.
pub(super) fn mod11_10(digits: &[u8]) -> bool {
    let Some((check, body)) = digits.split_last() else { return false };
    let product = body.iter().fold(10_u32, |product, digit| {
        let sum = match (product + u32::from(*digit)) % 10 {
            0 => 10,
            other => other,
        };
        sum * 2 % 11
    });
    (11 - product) % 10 == u32::from(*check)
}

/// Verhoeff's dihedral check, as in Aadhaar numbers.
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    // The dihedral group of order ten, and the permutation of digits applied once more at each place.
    let times = |a: u8, b: u8| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    const NEXT: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permuted = |digit: u8, place: usize| {
        (0..place % 8).fold(digit, |d, _| NEXT.get(usize::from(d)).copied().unwrap_or_default())
    };
    digits.iter().rev().enumerate().fold(0, |sum, (place, digit)| times(sum, permuted(*digit, place))) == 0
}

/// The two last digits of a Brazilian CPF.
pub(super) fn cpf(digits: &[u8]) -> bool {
    let check = |length: usize| {
        let weights = (2..=u32::try_from(length).unwrap_or_default() + 1).rev();
        let sum: u32 = digits.iter().take(length).zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum();
        match sum * 10 % 11 {
            10 => 0,
            other => other,
        }
    };
    let is = |place: usize| digits.get(place).is_some_and(|d| u32::from(*d) == check(place));
    digits.len() == 11 && is(9) && is(10)
}

/// The key of a French NIR: 97 less the rest of the number.
pub(super) fn nir(digits: &[u8]) -> bool {
    let number = |part: &[u8]| part.iter().fold(0_u64, |n, d| n * 10 + u64::from(*d));
    let (number, key) = match digits.split_at_checked(13) {
        Some((body, key)) if key.len() == 2 => (number(body), number(key)),
        _ => return false,
    };
    key == 97 - number % 97
}

/// The letter of a Spanish DNI.
pub(super) fn dni(number: u32, letter: u8) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    usize::try_from(number % 23).ok().and_then(|i| LETTERS.get(i)) == Some(&letter.to_ascii_uppercase())
}

/// The last digit of an Israeli identity number: Luhn's sum, counted from the left.
pub(super) fn teudat_zehut(digits: &[u8]) -> bool {
    digits.len() == 9 && luhn(digits)
}
