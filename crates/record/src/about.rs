//! What a turn is about: the records and accounts that its text points at.
//!
//! Pure: [`find`] says where a text points, as it is written there. What stands at those places, and in which version, is
//! asked of the network elsewhere; [`About`] is the answer, and becomes the `refs` and `mentions` of the message records.

mod code;
mod find;
mod links;

use std::collections::{HashMap, HashSet};

use onrecord_lexicon::{AtUri, Did};
use onrecord_redact::Reviewed;

pub use find::{Found, find, named};

use crate::StrongRef;

/// Most references, and most mentions, that one message record may have (the lexicon's limit).
pub const MOST: usize = 50;

/// What the turns of a conversation are about, by the turns' ids.
pub type About = HashMap<String, TurnAbout>;

/// What one turn is about, in the order in which it is said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnAbout {
    /// Records, each at the version that is meant.
    pub refs: Vec<StrongRef>,
    /// Accounts.
    pub mentions: Vec<Did>,
}

/// Where a turn's text points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnPointers {
    /// The turn, by its id.
    pub turn: String,
    /// Its place in the conversation, from 1.
    pub index: usize,
    /// The places in the order in which they are first named, each once: `at://AUTHORITY/COLLECTION/RKEY` for a record,
    /// `at://AUTHORITY` for an account. The authority is a DID or a handle, as it is written.
    pub pointers: Vec<AtUri>,
}

/// Where the turns of a sealed conversation point; turns that point nowhere are left out. A turn held back has no text, and
/// covered words are no part of one: neither can point.
#[must_use]
pub fn pointers(reviewed: &Reviewed) -> Vec<TurnPointers> {
    let turns = reviewed.turns().iter().filter_map(|turn| Some((turn, turn.content()?)));
    let of_turn = |(turn, content): (&onrecord_redact::ReviewedTurn, &onrecord_redact::ReviewedContent)| {
        let mut seen = HashSet::new();
        let pointers = find(content.text()).into_iter().map(|found| found.pointer);
        let pointers: Vec<_> = pointers.filter(|pointer| seen.insert(pointer.clone())).collect();
        TurnPointers { turn: turn.id().to_owned(), index: turn.index(), pointers }
    };
    turns.map(of_turn).filter(|turn| !turn.pointers.is_empty()).collect()
}

#[cfg(test)]
mod tests;
