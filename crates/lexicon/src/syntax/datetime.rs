//! Datetimes: what RFC 3339, ISO 8601 and HTML agree on, with a zone, in the years 0000 to 9999.

use std::cmp::Ordering;

use jiff::{Timestamp, tz::Offset};

/// The longest datetime, in bytes.
const MAX_LEN: usize = 64;
/// 0000-01-01T00:00:00Z in seconds since 1970.
const FIRST_SECOND: i64 = -62_167_219_200;
/// 9999-12-31T23:59:59Z in seconds since 1970.
const LAST_SECOND: i64 = 253_402_300_799;

identifier!(
    /// A datetime, e.g. `2026-01-02T03:04:05.678Z`. Equal when written the same;
    /// ordered by the instant, then by the text.
    Datetime, "datetime", check
);

impl Datetime {
    /// `timestamp` in UTC, cut to milliseconds: `YYYY-MM-DDTHH:MM:SS.sssZ`. What lies before the year
    /// 0000 becomes its first instant.
    #[must_use]
    pub fn from_timestamp(timestamp: Timestamp) -> Self {
        let first = Timestamp::from_second(FIRST_SECOND).unwrap_or(timestamp);
        let t = Offset::UTC.to_datetime(timestamp.max(first));
        let text = format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            t.year(),
            t.month(),
            t.day(),
            t.hour(),
            t.minute(),
            t.second(),
            t.subsec_nanosecond() / 1_000_000,
        );
        Self(text.into_boxed_str())
    }

    /// The instant, cut to nanoseconds. Those of the last day of 9999 that [`Timestamp`] cannot hold
    /// become [`Timestamp::MAX`].
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        scan(&self.0)
            .ok()
            .and_then(|(second, nanosecond)| Timestamp::new(second, nanosecond).ok())
            .unwrap_or(Timestamp::MAX)
    }
}

impl From<Timestamp> for Datetime {
    fn from(timestamp: Timestamp) -> Self {
        Self::from_timestamp(timestamp)
    }
}

impl Ord for Datetime {
    fn cmp(&self, other: &Self) -> Ordering {
        // Beyond nanoseconds, and among zones, the text decides, so that order agrees with equality.
        scan(&self.0).cmp(&scan(&other.0)).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Datetime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether `s` has the lexicon string format `datetime`, and names an instant that exists.
#[must_use]
pub fn is_valid_datetime(s: &str) -> bool {
    check(s).is_ok()
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    scan(s).map(|_| ())
}

/// Seconds since 1970 and nanoseconds of that second (counted upwards, also before 1970).
fn scan(s: &str) -> Result<(i64, i32), &'static str> {
    const SHAPE: &str = "it is not of the form YYYY-MM-DDTHH:MM:SS[.s…] and a zone";
    const ZONE: &str = "it does not end in \"Z\" or a zone of the form +HH:MM";
    if s.len() > MAX_LEN {
        return Err("it is longer than 64 bytes");
    }
    let [y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T', h1, h2, b':', mi1, mi2, b':', s1, s2, rest @ ..] =
        s.as_bytes()
    else {
        return Err(SHAPE);
    };
    let two = |tens: &u8, ones: &u8| Some(digit(*tens)? * 10 + digit(*ones)?);
    let (Some(century), Some(of_century), Some(month), Some(day), Some(hour), Some(minute), Some(second)) =
        (two(y1, y2), two(y3, y4), two(mo1, mo2), two(d1, d2), two(h1, h2), two(mi1, mi2), two(s1, s2))
    else {
        return Err(SHAPE);
    };
    let year = century * 100 + of_century;
    if !(1..=12).contains(&month) {
        return Err("there is no such month");
    }
    if day < 1 || day > days_in_month(year, month) {
        return Err("there is no such day");
    }
    // A leap second is not a valid time in HTML, and has no place on the clocks the network uses.
    if hour > 23 || minute > 59 || second > 59 {
        return Err("there is no such time of day");
    }
    let (nanosecond, zone) = match rest {
        [b'.', fraction @ ..] => scan_fraction(fraction)?,
        _ => (0, rest),
    };
    let offset = match zone {
        b"Z" => 0,
        b"-00:00" => return Err("the zone -00:00 is not allowed"),
        [sign @ (b'+' | b'-'), zh1, zh2, b':', zm1, zm2] => {
            let (Some(hours), Some(minutes)) = (two(zh1, zh2), two(zm1, zm2)) else {
                return Err(ZONE);
            };
            if hours > 23 || minutes > 59 {
                return Err("there is no such zone");
            }
            (hours * 3600 + minutes * 60) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return Err(ZONE),
    };
    let instant = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    if !(FIRST_SECOND..=LAST_SECOND).contains(&instant) {
        return Err("in UTC it is outside the years 0000 to 9999");
    }
    Ok((instant, nanosecond))
}

/// The nanoseconds, and what stands after the digits.
fn scan_fraction(fraction: &[u8]) -> Result<(i32, &[u8]), &'static str> {
    let len = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
    let Some((digits, rest)) = fraction.split_at_checked(len).filter(|_| len > 0) else {
        return Err("no digit follows the dot");
    };
    let nanosecond = (0..9).fold(0, |sum, place| sum * 10 + digits.get(place).map_or(0, |b| i32::from(b - b'0')));
    Ok((nanosecond, rest))
}

fn digit(b: u8) -> Option<i64> {
    b.is_ascii_digit().then(|| i64::from(b - b'0'))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the proleptic Gregorian calendar. Counts years from March, so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 0000-03-01 is 719 468 days before 1970-01-01.
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}
