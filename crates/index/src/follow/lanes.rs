//! Events that wait for their account's key, each account's in its own order; and up to where all is done.

use std::collections::{HashMap, VecDeque};

use onrecord_atproto::stream::{Cursor, Event};
use onrecord_lexicon::Did;

/// Most that wait of one account, in events and in bytes.
const OF_ONE: (usize, usize) = (200, 16_000_000);
/// Most that wait in all.
const OF_ALL: (usize, usize) = (20_000, 64_000_000);

/// An event that waits, and the place in the stream before it.
struct Held {
    event: Event,
    before: Option<Cursor>,
    number: u64,
}

#[derive(Default)]
struct Lane {
    held: VecDeque<Held>,
    bytes: usize,
}

/// Accounts of which something waits.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: HashMap<Did, Lane>,
    count: usize,
    bytes: usize,
    numbers: u64,
    last: Option<Cursor>,
}

impl Lanes {
    /// Whether something of the account waits, so that all that follows has to.
    pub(super) fn holds(&self, did: &Did) -> bool {
        self.lanes.contains_key(did)
    }

    /// Lets an event wait, which stands behind the place that was passed last.
    pub(super) fn hold(&mut self, event: Event) {
        let bytes = size(&event);
        let held = Held { before: self.last, number: self.numbers, event };
        self.numbers += 1;
        let lane = self.lanes.entry(did_of(&held.event).clone()).or_default();
        lane.held.push_back(held);
        lane.bytes += bytes;
        self.count += 1;
        self.bytes += bytes;
    }

    /// Notes that all up to a place was taken or waits.
    pub(super) fn passed(&mut self, place: Cursor) {
        self.last = Some(place);
    }

    /// Up to where all is done; `None` if not even the first is.
    pub(super) fn done(&self) -> Option<Cursor> {
        self.oldest().map_or(self.last, |held| held.before)
    }

    fn oldest(&self) -> Option<&Held> {
        self.lanes.values().filter_map(|lane| lane.held.front()).min_by_key(|held| held.number)
    }

    /// The events of an account, in their order, which wait no more.
    pub(super) fn release(&mut self, did: &Did) -> Vec<Event> {
        let lane = self.lanes.remove(did).unwrap_or_default();
        self.count -= lane.held.len();
        self.bytes -= lane.bytes;
        lane.held.into_iter().map(|held| held.event).collect()
    }

    /// An account that must not wait any longer, as too much does: its own, or of all.
    pub(super) fn overflowing(&self, newest: &Did) -> Option<Did> {
        if self.lanes.get(newest).is_some_and(|lane| lane.held.len() > OF_ONE.0 || lane.bytes > OF_ONE.1) {
            return Some(newest.clone());
        }
        if self.count > OF_ALL.0 || self.bytes > OF_ALL.1 {
            return self.oldest().map(|held| did_of(&held.event).clone());
        }
        None
    }
}

/// Whose it is.
pub(super) fn did_of(event: &Event) -> &Did {
    match event {
        Event::Commit(commit) => &commit.did,
        Event::Sync { did, .. } | Event::Identity { did, .. } | Event::Account { did, .. } => did,
    }
}

/// About how many bytes it takes.
fn size(event: &Event) -> usize {
    match event {
        Event::Commit(commit) => {
            commit.proof.as_ref().map_or(0, |proof| proof.blocks.len()) + 500 * (1 + commit.operations.len())
        }
        _ => 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn did(name: char) -> Did {
        Did::parse(&format!("did:plc:{}", name.to_string().repeat(24))).unwrap()
    }

    fn event(name: char) -> Event {
        Event::Identity { did: did(name), handle: None }
    }

    #[test]
    fn the_place_that_is_kept_passes_over_nothing_that_waits() {
        let at = |n| Some(Cursor::Sequence(n));
        let mut lanes = Lanes::default();
        assert_eq!(lanes.done(), None);
        lanes.passed(Cursor::Sequence(1));
        lanes.hold(event('a'));
        lanes.passed(Cursor::Sequence(2));
        lanes.hold(event('b'));
        lanes.passed(Cursor::Sequence(3));
        lanes.hold(event('a'));
        lanes.passed(Cursor::Sequence(4));
        assert_eq!(lanes.done(), at(1));
        assert_eq!(lanes.release(&did('a')).len(), 2);
        assert_eq!(lanes.done(), at(2));
        lanes.release(&did('b'));
        assert_eq!(lanes.done(), at(4));
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut lanes = Lanes::default();
        for _ in 0..=OF_ONE.0 {
            assert_eq!(lanes.overflowing(&did('a')), None);
            lanes.hold(event('a'));
        }
        assert_eq!(lanes.overflowing(&did('a')), Some(did('a')));
        assert_eq!(lanes.overflowing(&did('b')), None);
        assert_eq!(lanes.release(&did('a')).len(), OF_ONE.0 + 1);
        assert_eq!((lanes.count, lanes.bytes), (0, 0));
    }
}
