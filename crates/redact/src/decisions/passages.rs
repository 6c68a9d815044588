//! Passages that are covered in one place, and not wherever the same words stand.

use serde::{Deserialize, Serialize};

use super::Decisions;
use crate::{
    Draft, Error, Field, Fingerprint, FingerprintKey,
    scan::{Text, texts},
    text::{self, BLOCK, str_part},
    words::Word,
};

/// A covered passage, without its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Passage {
    /// Names the passage.
    id: Fingerprint,
    turn: String,
    field: String,
    start: usize,
    length: usize,
    /// What must stand there.
    word: Word,
}

impl Passage {
    /// Where it stands in `text`, if it does.
    fn in_text(&self, key: &FingerprintKey, text: &Text<'_>) -> Option<(usize, usize)> {
        let end = self.start.checked_add(self.length)?;
        let there = text.text.get(self.start..end)?;
        (Word::name(key, there) == self.word.id).then_some((self.start, end))
    }
}

/// The covered passages of a draft.
#[derive(Default)]
pub(crate) struct Passages {
    /// By the index of its text: start, end, name; in order.
    pub(crate) placed: Vec<(usize, usize, usize, Fingerprint)>,
    /// Those that are not where they were: a text that was cut otherwise, or changed. Covered wherever they stand, as nobody
    /// can tell any more which place was meant.
    pub(crate) lost: Vec<Word>,
}

impl Passages {
    /// Those of one text.
    pub(crate) fn of(&self, text: usize) -> impl Iterator<Item = &(usize, usize, usize, Fingerprint)> {
        let from = self.placed.partition_point(|p| p.0 < text);
        self.placed.iter().skip(from).take_while(move |p| p.0 == text)
    }
}

impl Decisions {
    /// Covers a passage of a turn's text, or of one of its steps, there and nowhere else, and returns its name. Neither end
    /// need be on a boundary. The words themselves are not kept.
    ///
    /// # Errors
    /// There is nothing at that place, or it is white space, or a bar already; titles, descriptions and the author's own
    /// summaries are written anew instead.
    pub fn cover_passage(
        &mut self,
        key: &FingerprintKey,
        draft: &Draft,
        turn: usize,
        field: Field,
        (start, end): (usize, usize),
    ) -> Result<Fingerprint, Error> {
        let texts = texts(draft, self, key);
        let place = draft.turns.iter().position(|t| t.index == turn);
        let found = texts.iter().find(|t| t.turn == place && t.turn.is_some() && t.field == field && !t.own);
        let (Some(found), Some(turn)) = (found, place.and_then(|n| draft.turns.get(n))) else {
            return Err(Error::NoSuchPassage);
        };
        let (start, end) = text::snap(found.text, start.min(found.text.len()), end.min(found.text.len()));
        let words = str_part(found.text, start, end);
        let start = start + (words.len() - words.trim_start().len());
        let words = words.trim();
        if words.is_empty() {
            return Err(Error::EmptyWord);
        }
        if words.contains(BLOCK) {
            return Err(Error::BarInWord);
        }
        let word = Word::new(key, words);
        let place = format!("{}\0{field}\0{start}\0{}", turn.id, word.id);
        let id = Fingerprint::from_mac(key.mac("passage", place.as_bytes()));
        let passage = Passage { id, turn: turn.id.clone(), field: field.to_string(), start, length: words.len(), word };
        if !self.passages.iter().any(|p| p.id == id) {
            self.passages.push(passage);
        }
        Ok(id)
    }

    /// No longer covers the passage of that name; says whether it was covered.
    pub fn uncover_passage(&mut self, id: &Fingerprint) -> bool {
        let before = self.passages.len();
        self.passages.retain(|p| p.id != *id);
        self.passages.len() < before
    }

    /// The names of the covered passages, in the order in which they were added.
    pub fn covered_passages(&self) -> impl Iterator<Item = &Fingerprint> {
        self.passages.iter().map(|p| &p.id)
    }

    /// Where the covered passages stand in these texts of a draft.
    pub(crate) fn find_passages(&self, key: &FingerprintKey, draft: &Draft, texts: &[Text<'_>]) -> Passages {
        let mut found = Passages::default();
        for passage in &self.passages {
            let turn = draft.turns.iter().position(|turn| turn.id == passage.turn);
            let from = turn.map_or(0, |turn| texts.partition_point(|t| t.turn.is_none_or(|of| of < turn)));
            let there = texts.iter().enumerate().skip(from).take_while(|(_, t)| t.turn == turn && turn.is_some());
            let place = there
                .filter(|(_, text)| !text.own && text.field.to_string() == passage.field)
                .find_map(|(index, text)| Some((index, passage.in_text(key, text)?)));
            match place {
                Some((index, (start, end))) => found.placed.push((index, start, end, passage.id)),
                None => found.lost.push(passage.word.clone()),
            }
        }
        found.placed.sort_unstable();
        found
    }
}
