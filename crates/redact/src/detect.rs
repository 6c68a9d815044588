//! Running every detector over one text.

mod entropy;
mod examples;
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
    entropy::{Entropy, surprise},
    keyword::{Compile, KeywordRules},
    known::Known,
    named::Named,
    patterns::Patterns,
    personal::{Personal, is_home},
};
use crate::{
    Engine, Tier,
    text::{part, token_end},
    views,
};

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
    seeks: Seeks,
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seeks {
    Everything,
    /// Tiers A to C, as the last gate does.
    Secrets,
}

/// A long text is looked at in parts of this many bytes, so that what is remembered of it does not grow with it.
const PART: usize = 1 << 20;
/// So much of what stands before and behind a part is looked at too.
const AROUND: usize = 1 << 16;
/// The same behind it, where something goes on so far: what is longer is put together from its parts.
const FAR: usize = 1 << 23;
/// A hit that ends so close to the end of what is looked at may go on.
const NEAR_END: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum LayerKind {
    Text,
    Clean,
    Decoded,
}

impl Engine {
    /// Calls `each` with the hits in `text`, sorted by place, one for each value of a span: what is encoded may hold several.
    pub(crate) fn detect(&self, text: &[u8], seeks: Seeks, each: &mut dyn FnMut(Hit)) {
        if text.len() <= 2 * PART {
            let mut hits = Vec::new();
            self.detect_in(text, (0, text.len()), seeks, &mut hits);
            hits.into_iter().for_each(each);
            return;
        }
        // What begins in the part before and was told of there.
        let mut told: Vec<(usize, usize, usize)> = Vec::new();
        let mut from = 0;
        while from < text.len() {
            let to = from.saturating_add(PART).min(text.len());
            let mut hits = Vec::new();
            let mut around = AROUND;
            loop {
                let end = to.saturating_add(around).min(text.len());
                hits.clear();
                self.detect_in(text, (from.saturating_sub(AROUND), end), seeks, &mut hits);
                let goes_on = |hit: &Hit| (from..to).contains(&hit.start) && hit.end + NEAR_END >= end;
                if end == text.len() || around >= FAR || !hits.iter().any(goes_on) {
                    for hit in hits.iter_mut().filter(|hit| hit.end == end) {
                        hit.end = token_end(text, hit.end);
                    }
                    break;
                }
                around *= 8;
            }
            hits.retain(|hit| {
                hit.start < to
                    && hit.end > from
                    && (hit.start >= from || !told.contains(&(hit.start, hit.end, hit.kind)))
            });
            told = hits.iter().filter(|hit| hit.end > to).map(|hit| (hit.start, hit.end, hit.kind)).collect();
            hits.into_iter().for_each(&mut *each);
            from = to;
        }
    }

    /// The hits between two places of `text`.
    fn detect_in(&self, text: &[u8], (from, to): (usize, usize), seeks: Seeks, hits: &mut Vec<Hit>) {
        let mut new = Vec::new();
        let layer = Layer { bytes: part(text, from, to), depth: 0, kind: LayerKind::Text, seeks };
        self.look(layer, &|start, end| (from + start, from + end), &mut new);
        new.retain(|hit| !self.is_example(hit, text));
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
        engine.known.find(text, hits);
        if layer.seeks == Seeks::Everything || engine.patterns_hold_secrets {
            engine.patterns.find(text, engine.views, hits);
        }
        if layer.seeks == Seeks::Everything {
            engine.named.find(text, hits);
            if layer.kind != LayerKind::Decoded {
                engine.personal.find(text, hits);
            }
            if layer.depth == 0 {
                engine.entropy.find(text, hits);
            }
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
                self.look(Layer { bytes: &view.bytes, depth, kind, ..layer }, &back, hits);
            }
        });
        views::decoded(text, &mut |plain, (start, end)| {
            let kind = LayerKind::Decoded;
            self.look(Layer { bytes: plain, depth, kind, ..layer }, &|_, _| place(start, end), hits);
        });
    }

    /// Whether a rule of the program's found what a specification prints. The person's own are not asked.
    fn is_example(&self, hit: &Hit, text: &[u8]) -> bool {
        let value = hit.plain.as_deref().map_or(part(text, hit.start, hit.end), Vec::as_slice);
        let tier = self.kind(hit.kind).map(|kind| kind.tier);
        matches!(tier, Some(Tier::B | Tier::C | Tier::D | Tier::E)) && examples::is_printed(value)
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
