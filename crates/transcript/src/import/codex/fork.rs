//! Where a fork's own turns begin.

use jiff::{SignedDuration, Timestamp};

use super::json::Object;

/// Tells a forked rollout's copy of its parent from its own turns.
///
/// A fork begins with the parent's rows, written again with new times. The turn ids in them are the
/// old ones, and a turn id is a UUIDv7 made when the turn began: the first turn whose id is not
/// older than the fork is the fork's own.
#[derive(Debug, Default)]
pub(super) struct Gate {
    created: Option<Timestamp>,
    is_closed: bool,
}

/// How long a fork may take to write its copy, where the turn ids tell no time.
const COPYING: SignedDuration = SignedDuration::from_secs(2);

impl Gate {
    /// `id` is the conversation's own; `started` is when it was made, as its header says.
    pub(super) fn begin(&mut self, id: &str, started: Timestamp, is_fork: bool) {
        self.created = Some(uuid7_time(id).unwrap_or(started));
        self.is_closed = is_fork;
    }

    /// What follows is a copy, until a turn of the conversation's own begins.
    pub(super) const fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether a row with this payload, written at `time`, belongs to the parent.
    pub(super) fn is_replay(&mut self, payload: &Object<'_>, time: Timestamp) -> bool {
        if !self.is_closed {
            return false;
        }
        let begins_turn = payload.has("turn_id")
            && payload
                .str("type")
                .is_none_or(|kind| matches!(kind.as_ref(), "task_started" | "turn_started" | "turn_context"));
        if let (true, Some(turn), Some(created)) = (begins_turn, payload.str("turn_id"), self.created) {
            let is_own = match uuid7_time(&turn) {
                // Both clocks count milliseconds, and the id may be made before the header is.
                Some(begun) => begun >= created,
                None => time.duration_since(created) > COPYING,
            };
            self.is_closed = !is_own;
        }
        self.is_closed
    }
}

/// The time in a UUIDv7: its first 48 bits are milliseconds since 1970 (RFC 9562, section 5.7).
fn uuid7_time(id: &str) -> Option<Timestamp> {
    let bytes = id.as_bytes();
    let is_v7 = bytes.len() == 36 && bytes.get(14) == Some(&b'7') && bytes.get(8) == Some(&b'-');
    if !is_v7 {
        return None;
    }
    let high = id.get(..8)?;
    let low = id.get(9..13)?;
    let milliseconds = (i64::from_str_radix(high, 16).ok()? << 16) | i64::from_str_radix(low, 16).ok()?;
    Timestamp::from_millisecond(milliseconds).ok()
}

#[cfg(test)]
mod tests {
    use super::uuid7_time;

    #[test]
    fn a_uuid7_tells_its_milliseconds() {
        let time = uuid7_time("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").map(jiff::Timestamp::as_millisecond);
        assert_eq!(time, Some(0x017f_22e2_79b0));
    }

    #[test]
    fn another_uuid_or_a_plain_name_tells_none() {
        assert_eq!(uuid7_time("919108f7-52d1-4320-9bac-f847db4148a8"), None);
        assert_eq!(uuid7_time("turn-1"), None);
        assert_eq!(uuid7_time("ü17f22e-79b0-7cc3-98c4-dc0c0c07398f"), None);
    }
}
