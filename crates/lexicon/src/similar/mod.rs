//! Who has defined something close to this already? An index of lexicons that finds the nearest by what they say and by
//! how they are built, and tells why.
//!
//! No model is needed: a lexicon is a bag of features of seven kinds (see [`features`]), weighted by how rare each is
//! among all, and two lexicons are as close as their bags are, kind by kind. What words mean beyond their spelling comes
//! from a table of words that stand for the same thing in schemas ([`meaning`]), and from parts of words.

mod features;
mod meaning;
mod reason;
#[cfg(test)]
mod tests;
mod words;

use std::{cmp::Ordering, collections::HashMap};

use serde::Serialize;

use crate::schema::Lexicon;
use features::{Bag, KINDS, Kind};
pub use reason::{Reason, Shared};

/// How much each kind of feature counts, in the order of [`KINDS`].
const WEIGHTS: [f32; 7] = [0.20, 0.40, 0.15, 0.05, 0.10, 0.03, 0.07];

/// A lexicon that is close to what was asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    /// Its name.
    pub nsid: String,
    /// What it defines, e.g. `record`.
    pub kind: String,
    /// What it is about, if it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How close: 1 is the same, 0 is nothing in common.
    pub score: f32,
    /// Why, what counts most first.
    pub why: Vec<Reason>,
}

/// An index of lexicons.
#[derive(Debug, Default)]
pub struct Similar {
    entries: Vec<Entry>,
    by_nsid: HashMap<Box<str>, usize>,
    /// The number of each feature, by its kind and text.
    numbers: HashMap<(Kind, Box<str>), u32>,
    features: Vec<Feature>,
    /// Words as they are written, by how they are among the features.
    written: HashMap<Box<str>, Box<str>>,
}

#[derive(Debug)]
struct Entry {
    nsid: Box<str>,
    kind: Box<str>,
    description: Option<Box<str>>,
    /// Features and weights, by number.
    vector: Vec<(u32, f32)>,
}

#[derive(Debug)]
struct Feature {
    kind: Kind,
    text: Box<str>,
    rarity: f32,
    /// The entries that have it, and its weight there.
    entries: Vec<(u32, f32)>,
}

impl Similar {
    /// An index of `lexicons`. Of two of the same name the first counts.
    pub fn new<'l>(lexicons: impl IntoIterator<Item = &'l Lexicon>) -> Self {
        let mut index = Self::default();
        let mut bags = Vec::new();
        for lexicon in lexicons {
            let nsid: Box<str> = lexicon.id.as_str().into();
            if index.by_nsid.contains_key(&nsid) {
                continue;
            }
            let main = lexicon.def("main");
            let description = main.and_then(|def| def.description.as_deref()).or(lexicon.description.as_deref());
            index.by_nsid.insert(nsid.clone(), index.entries.len());
            index.entries.push(Entry {
                nsid,
                kind: main.map_or("definitions", |def| def.kind.name()).into(),
                description: description.map(Into::into),
                vector: Vec::new(),
            });
            bags.push(index.numbered(features::of_lexicon(lexicon)));
        }
        index.weigh(bags);
        index
    }

    /// How many lexicons there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The `most` lexicons closest to the one named `nsid`, the closest first, itself left out. `None` if it is not here.
    #[must_use]
    pub fn to_nsid(&self, nsid: &str, most: usize) -> Option<Vec<Match>> {
        let entry = self.entries.get(*self.by_nsid.get(nsid)?)?;
        Some(self.closest(&entry.vector, Some(nsid), most))
    }

    /// The `most` lexicons closest to `lexicon`, the closest first; one of its name is left out.
    #[must_use]
    pub fn to_lexicon(&self, lexicon: &Lexicon, most: usize) -> Vec<Match> {
        let vector = self.vector(&features::of_lexicon(lexicon));
        self.closest(&vector, Some(lexicon.id.as_str()), most)
    }

    /// The `most` lexicons that a sentence describes best, the best first.
    #[must_use]
    pub fn to_sentence(&self, sentence: &str, most: usize) -> Vec<Match> {
        self.closest(&self.vector(&features::of_sentence(sentence)), None, most)
    }

    /// A bag with numbers instead of texts; new features get one.
    fn numbered(&mut self, bag: Bag) -> Vec<(u32, f32)> {
        let mut numbered = Vec::with_capacity(bag.features.len());
        for (stem, written) in bag.written {
            self.written.entry(stem.into()).or_insert_with(|| written.into());
        }
        for ((kind, text), count) in bag.features {
            let next = u32::try_from(self.features.len()).unwrap_or(u32::MAX);
            let text: Box<str> = text.into();
            let number = *self.numbers.entry((kind, text.clone())).or_insert(next);
            if number == next {
                self.features.push(Feature { kind, text, rarity: 0.0, entries: Vec::new() });
            }
            numbered.push((number, count));
        }
        numbered
    }

    /// Weighs all features by how rare they are, and fills the lists of entries.
    fn weigh(&mut self, bags: Vec<Vec<(u32, f32)>>) {
        let mut counts = vec![0_u32; self.features.len()];
        for (number, _) in bags.iter().flatten() {
            if let Some(count) = counts.get_mut(*number as usize) {
                *count += 1;
            }
        }
        let total = lossy(bags.len());
        for (feature, count) in self.features.iter_mut().zip(counts) {
            let count = lossy(count as usize);
            feature.rarity = (1.0 + (total - count + 0.5) / (count + 0.5)).ln();
        }
        for (place, bag) in (0_u32..).zip(bags) {
            let vector = self.normalised(bag);
            for (number, weight) in &vector {
                if let Some(feature) = self.features.get_mut(*number as usize) {
                    feature.entries.push((place, *weight));
                }
            }
            if let Some(entry) = self.entries.get_mut(place as usize) {
                entry.vector = vector;
            }
        }
    }

    fn vector(&self, bag: &Bag) -> Vec<(u32, f32)> {
        let known = bag
            .features
            .iter()
            .filter_map(|((kind, text), count)| Some((*self.numbers.get(&(*kind, text.as_str().into()))?, *count)));
        self.normalised(known.collect())
    }

    /// Counts as weights: each kind has the length that is its share, so that the product of two vectors is the weighted
    /// mean of how close they are in each kind.
    fn normalised(&self, mut bag: Vec<(u32, f32)>) -> Vec<(u32, f32)> {
        let mut lengths = [0.0_f32; KINDS];
        for (number, weight) in &mut bag {
            let Some(feature) = self.features.get(*number as usize) else { continue };
            *weight *= feature.rarity;
            if let Some(length) = lengths.get_mut(feature.kind as usize) {
                *length += *weight * *weight;
            }
        }
        for (number, weight) in &mut bag {
            let Some(feature) = self.features.get(*number as usize) else { continue };
            let of = |table: &[f32; KINDS]| table.get(feature.kind as usize).copied().unwrap_or_default();
            let length = of(&lengths).sqrt();
            *weight = if length > 0.0 { *weight / length * of(&WEIGHTS).sqrt() } else { 0.0 };
        }
        bag.sort_unstable_by_key(|(number, _)| *number);
        bag
    }

    fn closest(&self, query: &[(u32, f32)], except: Option<&str>, most: usize) -> Vec<Match> {
        let mut scores = vec![0.0_f32; self.entries.len()];
        for (number, weight) in query {
            let Some(feature) = self.features.get(*number as usize) else { continue };
            for (entry, other) in &feature.entries {
                if let Some(score) = scores.get_mut(*entry as usize) {
                    *score += weight * other;
                }
            }
        }
        let except = except.and_then(|nsid| self.by_nsid.get(nsid)).copied();
        let mut ranked: Vec<(usize, f32)> =
            scores.into_iter().enumerate().filter(|(i, score)| *score > 0.0 && Some(*i) != except).collect();
        let order = |a: &(usize, f32), b: &(usize, f32)| {
            b.1.partial_cmp(&a.1).unwrap_or(Ordering::Equal).then(self.name(a.0).cmp(self.name(b.0)))
        };
        if most < ranked.len() {
            ranked.select_nth_unstable_by(most, order);
            ranked.truncate(most);
        }
        ranked.sort_unstable_by(order);
        // A query that has nothing of a kind cannot be close in it.
        let possible: f32 = query.iter().map(|(_, weight)| weight * weight).sum();
        let score = |raw: f32| if possible > 0.0 { (raw / possible * 1000.0).round() / 1000.0 } else { 0.0 };
        ranked
            .into_iter()
            .filter_map(|(place, raw)| {
                let entry = self.entries.get(place)?;
                Some(Match {
                    nsid: entry.nsid.to_string(),
                    kind: entry.kind.to_string(),
                    description: entry.description.as_deref().map(str::to_owned),
                    score: score(raw).min(1.0),
                    why: self.reasons(query, &entry.vector),
                })
            })
            .collect()
    }

    fn name(&self, place: usize) -> &str {
        self.entries.get(place).map_or("", |entry| entry.nsid.as_ref())
    }

    /// What two vectors share.
    fn reasons(&self, a: &[(u32, f32)], b: &[(u32, f32)]) -> Vec<Reason> {
        let mut shared = Vec::new();
        let mut rest = b;
        for (number, weight) in a {
            let skip = rest.partition_point(|(other, _)| other < number);
            rest = rest.get(skip..).unwrap_or_default();
            if let (Some((other, other_weight)), Some(feature)) = (rest.first(), self.features.get(*number as usize))
                && other == number
            {
                let text = match feature.kind {
                    Kind::Text | Kind::Names | Kind::Nsid => self.written.get(&feature.text).unwrap_or(&feature.text),
                    Kind::Meaning | Kind::Properties | Kind::Refs | Kind::Parts => &feature.text,
                };
                shared.push((feature.kind, text.as_ref(), weight * other_weight));
            }
        }
        reason::reasons(shared)
    }
}

/// `n` as a float, near enough for weights.
#[expect(clippy::cast_precision_loss, reason = "a weight is no count")]
fn lossy(n: usize) -> f32 {
    n as f32
}
