//! Which pages there are to ask for.

use crate::{
    corpus::{Dice, LONG, SESSION, place, tid, word},
    fill::path,
};

/// A conversation of 200 turns, one of all there are.
pub fn long(dice: &mut Dice, conversations: u64) -> String {
    let (did, us) = place(dice.below(conversations.div_ceil(LONG)) * LONG);
    path(&did, us)
}

/// A conversation of 20 turns: of many, so that few are kept.
pub fn short(dice: &mut Dice, conversations: u64) -> String {
    let (did, us) = place(dice.below(conversations));
    path(&did, us)
}

/// A search, for rare and for common words.
pub fn search(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => format!("/search?q={}", dice.word()),
        1 => format!("/search?q={}", word(20_000 + dice.below(40_000))),
        2 => format!("/search?q={}+{}", dice.word(), dice.word()),
        _ => format!("/search?q={}+tool:Grep", dice.word()),
    }
}

pub fn card(dice: &mut Dice, conversations: u64) -> String {
    let (did, us) = place(dice.below(conversations));
    format!("/card/{did}/{SESSION}/{}.png", tid(us))
}

/// What readers ask for: of ten, six long conversations, two short ones, the first page, and a search or a card.
pub fn any(dice: &mut Dice, conversations: u64) -> String {
    match dice.below(20) {
        0..12 => long(dice, conversations),
        12..16 => short(dice, conversations),
        16..18 => "/".to_owned(),
        18 => search(dice),
        // As many as are talked about.
        _ => card(dice, conversations.min(200)),
    }
}
