//! Timestamp identifiers: 64 bits (one 0, 53 of microseconds, 10 of clock) as 13 characters of base32
//! in an alphabet that sorts as its values do.

const ALPHABET: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";
const LEN: usize = 13;
/// The first microsecond since 1970 that no longer fits.
const MICROS_END: u64 = 1 << 53;
/// The first clock identifier that no longer fits.
const CLOCK_ID_END: u16 = 1 << 10;

identifier!(
    /// A timestamp identifier: 13 characters of sortable base32. Orders by time, then by clock.
    #[derive(PartialOrd, Ord)]
    Tid, "TID", check
);

impl Tid {
    /// The TID of `micros` microseconds since 1970 by the clock `clock_id`;
    /// `None` if either does not fit its 53 or 10 bits.
    #[must_use]
    pub fn from_micros(micros: u64, clock_id: u16) -> Option<Self> {
        if micros >= MICROS_END || clock_id >= CLOCK_ID_END {
            return None;
        }
        let bits = micros << 10 | u64::from(clock_id);
        let mut text = String::with_capacity(LEN);
        for place in (0..LEN).rev() {
            let digit = usize::try_from(bits >> (place * 5) & 31).ok()?;
            text.push(char::from(*ALPHABET.get(digit)?));
        }
        Some(Self(text.into_boxed_str()))
    }

    /// Microseconds since 1970. Below 2^53 in every TID made by [`from_micros`](Self::from_micros);
    /// foreign ones may go to 2^54.
    #[must_use]
    pub fn micros(&self) -> u64 {
        self.bits() >> 10
    }

    /// The clock identifier, below 1024.
    #[must_use]
    pub fn clock_id(&self) -> u16 {
        u16::try_from(self.bits() & u64::from(CLOCK_ID_END - 1)).unwrap_or_default()
    }

    fn bits(&self) -> u64 {
        self.0.bytes().fold(0, |bits, b| {
            let digit = match b {
                b'2'..=b'7' => b - b'2',
                b'a'..=b'z' => b - b'a' + 6,
                _ => 0,
            };
            bits << 5 | u64::from(digit)
        })
    }
}

/// Whether `s` has the lexicon string format `tid`.
#[must_use]
pub fn is_valid_tid(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    if s.len() != LEN {
        return Err("it is not 13 characters long");
    }
    if !s.bytes().all(|b| matches!(b, b'2'..=b'7' | b'a'..=b'z')) {
        return Err("it holds a character other than \"2\" to \"7\" and \"a\" to \"z\"");
    }
    // 13 characters carry 65 bits, one more than there are. The protocol asks no more of the first
    // character, though the bit after that one is said to be 0.
    if !s.starts_with(|c: char| matches!(c, '2'..='7' | 'a'..='j')) {
        return Err("its first character is above \"j\"");
    }
    Ok(())
}
