//! What the index makes of a record.

use std::hash::{BuildHasher as _, RandomState};

use onrecord_lexicon::{Nsid, Rkey};

use crate::{account::Profile, change::Address, terms::Terms};

/// What a record is to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A conversation, or the record that turns name as theirs.
    Conversation,
    /// A turn of a conversation whose record is another one.
    Turn,
    /// Something an agent wrote that stands for itself.
    Note,
    /// Part of what an account says of itself.
    Profile,
    /// A collective's member.
    Member,
    /// A lexicon.
    Schema,
}

impl Kind {
    pub(crate) fn number(self) -> i16 {
        self as i16
    }
}

/// How much a record adds to its conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Turns: message records, or what a record that holds a whole conversation counts.
    pub(crate) turns: i64,
    /// Of those, held back.
    pub(crate) withheld: i64,
    /// Tool calls.
    pub(crate) steps: i64,
    /// Of those, failed.
    pub(crate) failed: i64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self, times: i64) {
        self.turns += times * other.turns;
        self.withheld += times * other.withheld;
        self.steps += times * other.steps;
        self.failed += times * other.failed;
    }
}

/// What names are counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum NameKind {
    /// A model, per turn.
    Model,
    /// A tool, per call.
    Tool,
}

impl NameKind {
    pub(crate) fn number(self) -> i16 {
        self as i16
    }
}

/// What is known of a record beside itself. Follows from the record alone, so that it can be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// What it is.
    pub(crate) kind: Kind,
    /// The record of the conversation it belongs to, in the same repository: its own for a conversation.
    pub(crate) conversation: Option<(Nsid, Rkey)>,
    /// When it happened, in milliseconds since 1970; not later than its revision.
    pub(crate) at_ms: i64,
    /// When a conversation was put on record, as far as its key tells, in microseconds since 1970; not later than its
    /// revision.
    pub(crate) published_us: i64,
    /// Whether a person speaks, and what they say is there to read: what may stand in for a title.
    pub(crate) opens: bool,
    /// A conversation's title.
    pub(crate) title: Option<String>,
    /// What it adds to its conversation.
    pub(crate) tally: Tally,
    /// The models and tools in it, with how often.
    pub(crate) names: Vec<(NameKind, String, i64)>,
    /// What it can be found by, but for its author.
    pub(crate) terms: Terms,
    /// What it says of its account.
    pub(crate) profile: Option<Profile>,
}

/// Bits of a [`time_key`] that tell apart what happened in the same millisecond.
pub(crate) const TIME_KEY_BITS: u32 = 20;

/// A number that orders records by when they happened, and all but never two alike.
pub(crate) fn time_key(at_ms: i64, address: &Address) -> i64 {
    // FNV-1a: any spreading does, and it must stay the same for ever.
    let hash = [address.did.as_str(), address.collection.as_str(), address.rkey.as_str()]
        .iter()
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let low = (hash >> 24) & ((1 << TIME_KEY_BITS) - 1);
    at_ms.clamp(0, (1 << (63 - TIME_KEY_BITS)) - 1) << TIME_KEY_BITS | low.cast_signed()
}

/// Another one for a record whose own has been taken `tries` times by now: by chance, since whoever writes records can work out
/// which of them have the same. In the same millisecond, or if that seems full, in the next one.
pub(crate) fn another_time_key(taken: i64, tries: u32) -> i64 {
    /// How often a key is drawn within a millisecond.
    const DRAWN: u32 = 16;
    let at_ms = time_of_key(taken) + i64::from(tries.is_multiple_of(DRAWN));
    // Every state has fresh keys.
    let low = RandomState::new().hash_one(taken) & ((1 << TIME_KEY_BITS) - 1);
    first_time_key(at_ms) | low.cast_signed()
}

/// The first [`time_key`] of a millisecond.
pub(crate) fn first_time_key(at_ms: i64) -> i64 {
    at_ms.clamp(0, (1 << (63 - TIME_KEY_BITS)) - 1) << TIME_KEY_BITS
}

/// The millisecond of a [`time_key`].
pub(crate) fn time_of_key(key: i64) -> i64 {
    key >> TIME_KEY_BITS
}

/// Whether it is found by searching.
pub(crate) fn is_searchable(row: &Row) -> bool {
    row.kind != Kind::Profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_a_taken_key_gets_another_of_the_same_time() {
        let first = first_time_key(1_767_225_600_000) | 7;
        let (mut key, mut keys) = (first, std::collections::BTreeSet::new());
        for tries in 1..16 {
            key = another_time_key(key, tries);
            assert_eq!(time_of_key(key), time_of_key(first));
            keys.insert(key);
        }
        // One after the other, they would be passed one by one by each that comes.
        assert!(keys.len() > 12 && !keys.contains(&(first + 1)), "{keys:?}");
        assert_eq!(time_of_key(another_time_key(key, 16)), time_of_key(first) + 1);
    }
}
