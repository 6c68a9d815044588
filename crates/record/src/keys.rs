//! Record keys: TIDs from the turns' own times, strictly increasing in reading order.
//!
//! A key is derived from the turn, so that a run that died before it could remember its keys finds the same ones again; and
//! once remembered it never changes, so that a retry can never reorder a conversation.

use jiff::Timestamp;
use onrecord_lexicon::Tid;
use sha2::{Digest, Sha256};

use crate::Error;

/// Microseconds kept free between two turns, for the records of a turn that outgrows one.
const SPACING: u64 = 1000;

/// A place in the reading order that needs a key.
#[derive(Debug, Clone)]
pub struct Slot {
    /// Number of the turn, for messages to people.
    pub turn: usize,
    /// Which of the turn's records, from 0.
    pub part: u32,
    /// When the turn happened.
    pub time: Timestamp,
    /// The key it has already.
    pub known: Option<Tid>,
}

/// The clock id of a conversation: keeps the keys of two conversations apart that ran at the same time.
#[must_use]
pub fn clock_id(conversation: &str) -> u16 {
    let [high, low, ..]: [u8; 32] = Sha256::digest(conversation.as_bytes()).into();
    u16::from_be_bytes([high, low]) & 0x3ff
}

/// Keys for `slots`, strictly increasing, none later than `now`; `taken` says which keys belong to other records.
///
/// # Errors
/// [`Error::OrderChanged`] if the known keys do not increase; [`Error::NoRoom`] if a gap between two known keys is too small.
pub fn assign(slots: &[Slot], clock_id: u16, now: Timestamp, taken: impl Fn(&Tid) -> bool) -> Result<Vec<Tid>, Error> {
    let end = micros(now) + 1;
    let mut keys: Vec<Tid> = Vec::with_capacity(slots.len());
    let mut rest = slots;
    while let Some(first) = rest.first() {
        let below = keys.last().map_or(0, Tid::micros);
        if let Some(known) = &first.known {
            if known.micros() <= below {
                return Err(Error::OrderChanged { turn: first.turn });
            }
            keys.push(known.clone());
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let len = rest.iter().take_while(|s| s.known.is_none()).count();
        let (run, after) = rest.split_at(len);
        let (above, turn) = match after.first() {
            Some(Slot { known: Some(tid), turn, .. }) => (tid.micros(), *turn),
            _ => (end.max(below + 1), first.turn),
        };
        fill(run, below, above, clock_id, &taken, &mut keys).ok_or(Error::NoRoom { turn, needed: len })?;
        rest = after;
    }
    Ok(keys)
}

/// Keys strictly between `below` and `above`, each as near its turn's time as the order allows.
fn fill(
    run: &[Slot],
    below: u64,
    above: u64,
    clock_id: u16,
    taken: &impl Fn(&Tid) -> bool,
    keys: &mut Vec<Tid>,
) -> Option<()> {
    let count = u64::try_from(run.len()).ok()?;
    let room = above.checked_sub(below + 1)?;
    // As many steps as there are slots must fit, else the steps shrink.
    let spacing = SPACING.min(room / (count + 1)).max(1);
    let mut last = below;
    for (n, slot) in (0_u64..).zip(run) {
        let step = if slot.part == 0 { spacing } else { 1 };
        let latest = above.checked_sub(spacing.checked_mul(count - n)?)?.max(last + 1);
        let mut at = micros(slot.time).max(last + if last == 0 { 1 } else { step }).min(latest);
        let mut tid = Tid::from_micros(at, clock_id)?;
        while taken(&tid) {
            at += 1;
            tid = Tid::from_micros(at, clock_id)?;
        }
        if at <= last || at >= above {
            return None;
        }
        last = at;
        keys.push(tid);
    }
    Some(())
}

fn micros(time: Timestamp) -> u64 {
    u64::try_from(time.as_microsecond()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
