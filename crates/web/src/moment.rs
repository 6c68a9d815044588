//! Times as a reader sees them: always UTC, always said so once on the page.

use std::fmt;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// A record's time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'a> {
    raw: &'a str,
    utc: Option<DateTime>,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl<'a> Moment<'a> {
    /// Reads a record's datetime. One that names no moment is shown as it was written.
    pub(crate) fn read(raw: &'a str) -> Self {
        let utc = raw.parse::<Timestamp>().ok().map(|t| TimeZone::UTC.to_datetime(t));
        Self { raw, utc }
    }

    /// As it stands in the record.
    pub(crate) fn raw(&self) -> &'a str {
        self.raw
    }

    /// `05:06`.
    pub(crate) fn clock(&self) -> Clock<'a> {
        Clock(*self)
    }

    /// `4 March 2026`.
    pub(crate) fn day(&self) -> Day<'a> {
        Day(*self)
    }

    /// Whether both fall on one day, as far as they can be read.
    pub(crate) fn same_day(&self, other: &Moment<'_>) -> bool {
        match (self.utc, other.utc) {
            (Some(a), Some(b)) => a.date() == b.date(),
            _ => false,
        }
    }

    fn same_minute(&self, other: &Moment<'_>) -> bool {
        self.same_day(other) && self.utc.map(|t| (t.hour(), t.minute())) == other.utc.map(|t| (t.hour(), t.minute()))
    }
}

/// Shows the time of day.
pub(crate) struct Clock<'a>(Moment<'a>);

impl fmt::Display for Clock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.utc {
            Some(t) => write!(f, "{:02}:{:02}", t.hour(), t.minute()),
            None => f.write_str(self.0.raw),
        }
    }
}

/// Shows the date.
pub(crate) struct Day<'a>(Moment<'a>);

impl fmt::Display for Day<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let month = |t: DateTime| MONTHS.get(usize::try_from(t.month()).ok()?.checked_sub(1)?);
        match self.0.utc {
            Some(t) => write!(f, "{} {} {}", t.day(), month(t).unwrap_or(&""), t.year()),
            None => f.write_str(self.0.raw),
        }
    }
}

/// `4 March 2026, 05:06 to 05:41 UTC`. An end before the start (clocks differ) is left out.
pub(crate) fn span(start: &Moment<'_>, end: &Moment<'_>) -> String {
    if start.utc.is_none() {
        return start.raw.to_owned();
    }
    let from = format!("{}, {}", start.day(), start.clock());
    if end.utc <= start.utc || start.same_minute(end) {
        format!("{from} UTC")
    } else if start.same_day(end) {
        format!("{from} to {} UTC", end.clock())
    } else {
        format!("{from} to {}, {} UTC", end.day(), end.clock())
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, span};

    fn between(a: &str, b: &str) -> String {
        span(&Moment::read(a), &Moment::read(b))
    }

    #[test]
    fn offsets_are_shown_as_utc() {
        let moment = Moment::read("2026-03-04T01:30:00.5+02:00");
        assert_eq!(moment.day().to_string(), "3 March 2026");
        assert_eq!(moment.clock().to_string(), "23:30");
    }

    #[test]
    fn what_cannot_be_read_is_shown_as_written() {
        let moment = Moment::read("once upon a time");
        assert_eq!(moment.day().to_string(), "once upon a time");
        assert_eq!(between("once", "2026-03-04T05:06:00Z"), "once");
    }

    #[test]
    fn spans_say_the_day_once_where_it_is_one_day() {
        assert_eq!(between("2026-03-04T05:06:00Z", "2026-03-04T05:41:00Z"), "4 March 2026, 05:06 to 05:41 UTC");
        assert_eq!(
            between("2026-03-04T05:06:00Z", "2026-03-06T05:41:00Z"),
            "4 March 2026, 05:06 to 6 March 2026, 05:41 UTC"
        );
    }

    #[test]
    fn an_end_within_the_minute_or_before_the_start_is_left_out() {
        assert_eq!(between("2026-03-04T05:06:00Z", "2026-03-04T05:06:59Z"), "4 March 2026, 05:06 UTC");
        assert_eq!(between("2026-03-04T05:06:00Z", "2026-03-03T05:06:00Z"), "4 March 2026, 05:06 UTC");
    }
}
