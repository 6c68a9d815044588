//! Which turns of a conversation that is being written may go out now.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_transcript::{Part, Role, Turn};

/// What was seen of the conversation's turns, and since when they are as they are.
#[derive(Debug)]
pub struct Pace {
    hold: Duration,
    seen: HashMap<String, Seen>,
    /// Whether it was looked at before.
    started: bool,
    /// Turns that went out.
    out: usize,
    /// Since when there are fewer turns than went out.
    fewer: Option<Instant>,
}

#[derive(Debug)]
struct Seen {
    print: u64,
    since: Instant,
}

/// The moment, by the clock of the transcript and by one that never jumps.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub clock: Timestamp,
    pub instant: Instant,
}

/// How far the conversation may go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// So many turns, from the first, may go out.
    pub turns: usize,
    /// So many are finished.
    pub finished: usize,
    /// Something may change by then, if nothing new is written.
    pub next: Option<Duration>,
    /// What the turns that may go out hold: the same number as long as nothing of it changes.
    pub print: u64,
}

impl Pace {
    pub fn new(hold: Duration) -> Self {
        Self { hold, seen: HashMap::new(), started: false, out: 0, fewer: None }
    }

    /// Notes that so many turns went out.
    pub fn went_out(&mut self, turns: usize) {
        self.out = turns;
        self.fewer = None;
    }

    /// Looks at the conversation's turns; the transcript changed last at `changed`.
    ///
    /// A turn is finished when another follows it, or when a person or the agent said its last word in it. It goes out when
    /// it was as it is for the hold. What went out stays out while it changes; what is gone from the transcript for as long
    /// as the hold is gone for good: until then it may only be that the file is being written anew.
    pub fn look(&mut self, turns: &[Turn], changed: Timestamp, now: Now) -> Ready {
        let mut ready = Ready { turns: 0, finished: 0, next: None, print: 0 };
        let mut all = DefaultHasher::new();
        let mut open = true;
        for (n, turn) in turns.iter().enumerate() {
            let next = turns.get(n + 1);
            if !is_finished(turn, next) {
                break;
            }
            ready.finished = n + 1;
            let since = self.since(turn, next.map_or(changed, |next| next.created_at), now);
            let left = self.hold.saturating_sub(now.instant.saturating_duration_since(since));
            if !left.is_zero() {
                ready.next = Some(ready.next.map_or(left, |next| next.min(left)));
                open = false;
            }
            if open {
                ready.turns = n + 1;
                print(turn).hash(&mut all);
                ready.print = all.clone().finish();
            }
        }
        self.started = true;
        if turns.len() >= self.out {
            self.fewer = None;
        } else {
            let since = *self.fewer.get_or_insert(now.instant);
            let left = self.hold.saturating_sub(now.instant.saturating_duration_since(since));
            if left.is_zero() {
                return ready;
            }
            ready.next = Some(left);
        }
        if ready.turns < self.out {
            ready.turns = 0;
        }
        ready
    }

    /// Since when the turn is as it is. One that is there at the very first look was finished when the next began.
    fn since(&mut self, turn: &Turn, finished: Timestamp, now: Now) -> Instant {
        let print = print(turn);
        match self.seen.get_mut(&turn.id) {
            Some(seen) if seen.print == print => seen.since,
            Some(seen) => {
                *seen = Seen { print, since: now.instant };
                now.instant
            }
            None => {
                let finished = if self.started { now.clock } else { finished };
                let age = Duration::try_from(now.clock.duration_since(finished)).unwrap_or_default();
                let since = now.instant.checked_sub(age.min(self.hold)).unwrap_or(now.instant);
                self.seen.insert(turn.id.clone(), Seen { print, since });
                since
            }
        }
    }
}

/// Whether nothing more is to be expected in a turn.
fn is_finished(turn: &Turn, next: Option<&Turn>) -> bool {
    next.is_some()
        || turn.role == Role::User
        || matches!(turn.parts.last(), Some(Part::Text { .. } | Part::Image { .. }))
}

fn print(turn: &Turn) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&turn.id, turn.index, &turn.text, &turn.model, turn.created_at).hash(&mut hasher);
    for step in turn.steps() {
        (&step.tool, &step.summary, step.failed).hash(&mut hasher);
    }
    turn.parts.len().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
