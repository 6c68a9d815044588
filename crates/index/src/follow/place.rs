//! Places in a stream: which are believed, and from which a stream is asked for again.

use jiff::Timestamp;
use onrecord_atproto::{
    Error,
    stream::{Cursor, Flaw, Kind},
};

/// How far a server's clock may be ahead of ours, in microseconds.
const MAX_SKEW_US: i64 = 300_000_000;
/// What is passed over at first where places are times, in microseconds.
const FIRST_SKIP_US: i64 = 1_000;
/// ... and at most, as a power of two of the first.
const MOST_SKIPS: u32 = 22;

/// How far one connection has come.
#[derive(Debug, Default)]
pub(super) struct Place(Option<Cursor>);

impl Place {
    /// Goes on to `to`.
    ///
    /// # Errors
    /// No server can be there: it is in the future, or before what it sent already. Kept as a cursor, it would hide what
    /// happens until then, or ask for everything again.
    pub(super) fn moved(&mut self, to: Cursor, now: Timestamp) -> Result<(), Flaw> {
        let is_ahead = matches!(to, Cursor::Time(us) if us > now.as_microsecond().saturating_add(MAX_SKEW_US));
        if is_ahead || self.0.is_some_and(|at| to < at) {
            return Err(Flaw::Place);
        }
        self.0 = Some(to);
        Ok(())
    }

    /// Where it is.
    pub(super) fn at(&self) -> Option<Cursor> {
        self.0
    }

    /// Whether anything was read.
    pub(super) fn has_moved(&self) -> bool {
        self.0.is_some()
    }
}

/// Where to ask for a stream next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum From {
    /// Where it was left.
    #[default]
    Kept,
    /// So many times further than that: what comes next cannot be read, and would come again for ever.
    Beyond(u32),
    /// At the oldest that the server has: it does not know the place where it was left.
    Oldest,
}

impl From {
    /// Where to ask, once the stream has ended with an error.
    pub(super) fn after(self, error: &Error, has_moved: bool) -> Self {
        match (error, self) {
            (Error::FrameTooLarge { .. }, Self::Beyond(times)) if !has_moved => {
                Self::Beyond((times + 1).min(MOST_SKIPS))
            }
            (Error::FrameTooLarge { .. }, _) => Self::Beyond(0),
            (Error::StreamRefused { name, .. }, _) if name == "FutureCursor" => Self::Oldest,
            _ if has_moved => Self::Kept,
            // Not reached, or refused for another reason.
            _ => self,
        }
    }

    /// The cursor to ask with, given the one that is kept.
    pub(super) fn cursor(self, kept: Option<Cursor>, kind: Kind) -> Option<Cursor> {
        match (self, kept) {
            (Self::Kept, _) | (Self::Beyond(_), None) => kept,
            (Self::Beyond(times), Some(Cursor::Sequence(at))) => Some(Cursor::Sequence(at.saturating_add(1 << times))),
            (Self::Beyond(times), Some(Cursor::Time(at))) => {
                Some(Cursor::Time(at.saturating_add(FIRST_SKIP_US << times)))
            }
            // A firehose goes back as far as it can; others begin with what happens now if they are asked for nothing.
            (Self::Oldest, _) => (kind == Kind::Firehose).then_some(Cursor::Sequence(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn too_large() -> Error {
        Error::FrameTooLarge { host: "relay.example".into(), limit: 1 }
    }

    #[test]
    fn a_place_ahead_of_all_clocks_or_behind_is_not_believed() {
        let now = Timestamp::from_microsecond(1_767_225_600_000_000).unwrap();
        let mut place = Place::default();
        let at = |us: i64| Cursor::Time(now.as_microsecond() + us);
        assert_eq!(place.moved(at(0), now), Ok(()));
        assert_eq!(place.moved(at(MAX_SKEW_US + 1), now), Err(Flaw::Place));
        assert_eq!(place.moved(at(-1), now), Err(Flaw::Place));
        assert_eq!(place.moved(at(0), now), Ok(()), "once more");
        assert_eq!(place.moved(at(MAX_SKEW_US), now), Ok(()));
    }

    #[test]
    fn what_cannot_be_read_is_passed_over_in_ever_larger_steps() {
        let kept = Some(Cursor::Sequence(7));
        let mut from = From::Kept;
        for expected in [8, 9, 11, 15] {
            from = from.after(&too_large(), false);
            assert_eq!(from.cursor(kept, Kind::Firehose), Some(Cursor::Sequence(expected)));
        }
        assert_eq!(from.after(&too_large(), true), From::Beyond(0));
        let lost = Error::Interrupted { host: String::new(), why: String::new() };
        assert_eq!((from.after(&lost, false), from.after(&lost, true)), (from, From::Kept));
        assert_eq!(from.cursor(None, Kind::Firehose), None);
    }

    #[test]
    fn a_place_that_the_server_does_not_know_is_given_up() {
        let refused =
            |name: &str| Error::StreamRefused { host: String::new(), name: name.into(), message: String::new() };
        let from = From::Kept.after(&refused("FutureCursor"), false);
        assert_eq!(from.cursor(Some(Cursor::Sequence(7)), Kind::Firehose), Some(Cursor::Sequence(0)));
        assert_eq!(from.cursor(Some(Cursor::Time(7)), Kind::Jetstream), None);
        assert_eq!(From::Kept.after(&refused("ConsumerTooSlow"), false), From::Kept);
    }
}
