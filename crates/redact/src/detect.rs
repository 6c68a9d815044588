//! Running every detector over one text.

mod entropy;
mod keyword;
mod keywords;
mod known;
mod named;
mod patterns;
mod personal;
mod runs;

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
    /// It stands encoded, maybe beside others: its span is all of what is encoded.
    decoded: bool,
}

impl Hit {
    pub(crate) fn new(kind: usize, start: usize, end: usize) -> Self {
        Self { kind, start, end, public: 0, plain: None, decoded: false }
    }

    /// What tells it from others of its span.
    fn told_apart(&self) -> &[u8] {
        self.plain.as_deref().filter(|_| self.decoded).map_or(&[], Vec::as_slice)
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
    /// Appends the hits in `text`, sorted by place, one for each value of a span: what is encoded may hold several.
    pub(crate) fn detect(&self, text: &[u8], hits: &mut Vec<Hit>) {
        let mut new = Vec::new();
        self.look(Layer { bytes: text, depth: 0, kind: LayerKind::Text }, &|start, end| (start, end), &mut new);
        new.sort_by(|a, b| {
            let place = (a.start, a.end, a.told_apart()).cmp(&(b.start, b.end, b.told_apart()));
            place.then_with(|| self.rank(a.kind).cmp(&self.rank(b.kind)))
        });
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
            hit.decoded |= layer.kind == LayerKind::Decoded;
        }
        if !engine.views || layer.depth == views::DEPTH {
            return;
        }
        let depth = layer.depth + 1;
        // However it is read, what was decoded stands in all of what is encoded.
        let kind = if layer.kind == LayerKind::Decoded { LayerKind::Decoded } else { LayerKind::Clean };
        views::regions(text, &mut |region| {
            for view in region.apart.iter().chain([&region.clean]) {
                let back = |start, end| {
                    let (start, end) = view.span(start, end);
                    place(start, end)
                };
                self.look(Layer { bytes: &view.bytes, depth, kind }, &back, hits);
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

    /// The same value of the same span found by a kind that goes first, or a span within another of the same tier that is as
    /// strict.
    fn is_told_by_another(&self, hit: &Hit, index: usize, all: &[Hit]) -> bool {
        let before = index.checked_sub(1).and_then(|i| all.get(i));
        let same = before.is_some_and(|h| (h.start, h.end, h.told_apart()) == (hit.start, hit.end, hit.told_apart()));
        let Some(own) = self.kind(hit.kind) else { return true };
        // Sorted by place: whatever holds this span is close by, beyond the others of the same span.
        let first = all.partition_point(|h| (h.start, h.end) < (hit.start, hit.end));
        let last = all.partition_point(|h| (h.start, h.end) <= (hit.start, hit.end));
        let holders = all.get(..first).unwrap_or_default().iter().rev().take(8);
        let after = all.get(last..).unwrap_or_default().iter().take_while(|h| h.start == hit.start).take(8);
        let mut within = holders
            .chain(after)
            .filter(|h| h.start <= hit.start && hit.end <= h.end && h.end - h.start > hit.end - hit.start);
        same || within.any(|h| {
            self.kind(h.kind).is_some_and(|k| {
                (k.tier == own.tier || matches!(own.tier, Tier::D | Tier::E) && k.tier < own.tier)
                    && (own.allowable || !k.allowable)
                    && (k.blocking || !own.blocking)
            })
        })
    }
}
