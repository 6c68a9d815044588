//! Running every detector over one text.

mod entropy;
mod keyword;
mod keywords;
mod known;
mod named;
mod patterns;
mod personal;

use std::fmt;

use zeroize::Zeroizing;

pub(crate) use self::{
    entropy::Entropy,
    keyword::{Compile, KeywordRules},
    known::Known,
    named::Named,
    patterns::Patterns,
    personal::{Personal, is_home},
};
use crate::{Engine, Tier, text::part, views};

/// Where a secret stands in a text.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Index of what it is ([`crate::engine::Kind`]).
    pub(crate) kind: usize,
    /// Where it starts, in bytes of the text as it is.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// How many of the first bytes of its value everyone knows: the prefix of its kind.
    pub(crate) public: usize,
    /// The value, where the text has it in another form.
    pub(crate) plain: Option<Zeroizing<Vec<u8>>>,
}

impl Hit {
    pub(crate) fn new(kind: usize, start: usize, end: usize) -> Self {
        Self { kind, start, end, public: 0, plain: None }
    }
}

impl fmt::Debug for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hit").field("kind", &self.kind).field("start", &self.start).field("end", &self.end).finish()
    }
}

/// A text, or what it may be read as.
#[derive(Clone, Copy)]
struct Layer<'a> {
    bytes: &'a [u8],
    depth: u8,
    kind: LayerKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LayerKind {
    Text,
    Clean,
    Decoded,
}

impl Engine {
    /// Appends the hits in `text`, sorted by place, one per span.
    pub(crate) fn detect(&self, text: &[u8], hits: &mut Vec<Hit>) {
        let mut new = Vec::new();
        self.look(Layer { bytes: text, depth: 0, kind: LayerKind::Text }, &|start, end| (start, end), &mut new);
        new.sort_by_key(|h| (h.start, h.end, self.rank(h.kind)));
        let told: Vec<bool> = new.iter().enumerate().map(|(i, hit)| self.is_told_by_another(hit, i, &new)).collect();
        hits.extend(new.into_iter().zip(told).filter(|(_, told)| !told).map(|(hit, _)| hit));
    }

    /// All detectors over one layer, and then over what else it may be read as. `place` leads back to the text.
    fn look(&self, layer: Layer<'_>, place: &dyn Fn(usize, usize) -> (usize, usize), hits: &mut Vec<Hit>) {
        let (engine, text) = (&*self.0, layer.bytes);
        let from = hits.len();
        engine.keyword.find(text, engine.views, hits);
        engine.named.find(text, hits);
        engine.known.find(text, hits);
        engine.patterns.find(text, engine.views, hits);
        if layer.kind != LayerKind::Decoded {
            engine.personal.find(text, hits);
        }
        if layer.depth == 0 {
            engine.entropy.find(text, hits);
        }
        for hit in hits.get_mut(from..).unwrap_or_default() {
            let (start, end) = place(hit.start, hit.end);
            if layer.depth > 0 && hit.plain.is_none() {
                hit.plain = Some(Zeroizing::new(part(text, hit.start, hit.end).to_vec()));
            }
            (hit.start, hit.end) = (start, end);
        }
        if !engine.views || layer.depth == views::DEPTH {
            return;
        }
        let depth = layer.depth + 1;
        views::regions(text, &mut |region| {
            for view in region.apart.iter().chain([&region.clean]) {
                let back = |start, end| {
                    let (start, end) = view.span(start, end);
                    place(start, end)
                };
                self.look(Layer { bytes: &view.bytes, depth, kind: LayerKind::Clean }, &back, hits);
            }
        });
        views::decoded(text, &mut |plain, (start, end)| {
            self.look(Layer { bytes: plain, depth, kind: LayerKind::Decoded }, &|_, _| place(start, end), hits);
        });
    }

    /// Stricter and more specific first.
    fn rank(&self, kind: usize) -> (bool, Option<Tier>, usize) {
        self.kind(kind).map_or((true, None, kind), |k| (k.allowable, Some(k.tier), kind))
    }

    /// The same span found by a kind that goes first, or a span within another of the same tier that is as strict.
    fn is_told_by_another(&self, hit: &Hit, index: usize, all: &[Hit]) -> bool {
        let same_span =
            index.checked_sub(1).and_then(|i| all.get(i)).is_some_and(|h| (h.start, h.end) == (hit.start, hit.end));
        let Some(own) = self.kind(hit.kind) else { return true };
        // Sorted by start: whatever holds this span and starts before it is close by.
        let holders = all.get(..index).unwrap_or_default().iter().rev().take(8);
        let after = all.get(index + 1..).unwrap_or_default().iter().take_while(|h| h.start == hit.start);
        let mut within = holders
            .chain(after)
            .filter(|h| h.start <= hit.start && hit.end <= h.end && h.end - h.start > hit.end - hit.start);
        same_span
            || within.any(|h| {
                self.kind(h.kind).is_some_and(|k| {
                    (k.tier == own.tier || matches!(own.tier, Tier::D | Tier::E) && k.tier < own.tier)
                        && (own.allowable || !k.allowable)
                        && (k.blocking || !own.blocking)
                })
            })
    }
}
