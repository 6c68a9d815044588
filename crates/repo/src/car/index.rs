//! Where each block stands, for files that hold them in no order: 16 bytes a block and room to grow.

use crate::{Error, link::Link};

/// Most blocks of a file that holds them in no order. Bounds the index to 256 MiB, and half as much again while it grows.
pub const MAX_BLOCKS: usize = 12_000_000;

/// A table with open addressing. Digests are as good as random, so they are their own hash.
#[derive(Debug, Default)]
pub(super) struct Index {
    slots: Vec<Slot>,
    len: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    prefix: u64,
    /// Where the section begins, from 1 up; 0 where the slot is free. The highest bit: the tree has led here.
    place: u64,
}

const REACHED: u64 = 1 << 63;
const FIRST_SLOTS: usize = 1 << 10;

/// A slot's number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) slot: usize,
    pub(super) offset: u64,
    pub(super) is_reached: bool,
}

impl Index {
    pub(super) fn insert(&mut self, link: &Link, offset: u64, is_reached: bool) -> Result<(), Error> {
        if self.len >= MAX_BLOCKS {
            return Err(Error::TooManyBlocks);
        }
        // At most three quarters full.
        if self.len * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let place = (offset + 1) | if is_reached { REACHED } else { 0 };
        self.put(Slot { prefix: link.prefix(), place });
        self.len += 1;
        Ok(())
    }

    fn grow(&mut self) {
        let room = (self.slots.len() * 2).max(FIRST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); room]);
        for slot in old.into_iter().filter(|slot| slot.place != 0) {
            self.put(slot);
        }
    }

    fn put(&mut self, new: Slot) {
        let mut at = self.home(new.prefix);
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.place == 0 {
                *slot = new;
                return;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "any bits of the digest are as good as others")]
    fn home(&self, prefix: u64) -> usize {
        prefix as usize & self.slots.len().wrapping_sub(1)
    }

    /// The next section from slot `from` on (or the first) that may hold the block.
    #[inline]
    pub(super) fn find(&self, link: &Link, from: Option<usize>) -> Option<Found> {
        let prefix = link.prefix();
        let mut at = from.map_or_else(|| self.home(prefix), |slot| (slot + 1) & (self.slots.len() - 1));
        loop {
            let slot = self.slots.get(at)?;
            if slot.place == 0 {
                return None;
            }
            if slot.prefix == prefix {
                let offset = (slot.place & !REACHED) - 1;
                return Some(Found { slot: at, offset, is_reached: slot.place & REACHED != 0 });
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    pub(super) fn reach(&mut self, slot: usize) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.place |= REACHED;
        }
    }

    pub(super) fn forget_reached(&mut self) {
        for slot in &mut self.slots {
            slot.place &= !REACHED;
        }
    }

    /// Offsets of the sections that the tree has not led to, in the order of the file.
    pub(super) fn unreached(&self) -> Vec<u64> {
        let free = |slot: &&Slot| slot.place != 0 && slot.place & REACHED == 0;
        let mut offsets: Vec<u64> = self.slots.iter().filter(free).map(|slot| slot.place - 1).collect();
        offsets.sort_unstable();
        offsets
    }
}
