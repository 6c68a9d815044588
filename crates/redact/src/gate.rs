//! The last gate: the exact bytes about to be sent.

use crate::{
    Engine, FingerprintKey,
    cover::{Covers, Span},
    detect::Seeks,
    protocol::{self, Lies},
    scan::{Allowed, covered_spans, is_secret},
    text::{self, part},
};

/// Something that must not be sent stands in the bytes. Names the rule and the place, never the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the last gate found {name} ({rule}) at bytes {start} to {end} of what was about to be sent; nothing was sent")]
pub struct GateHit {
    /// The rule; `word` for a word of the author's.
    pub rule: String,
    /// What it is, for people.
    pub name: String,
    /// Where it starts, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// What the gate knows.
pub(crate) struct Gate {
    engine: Engine,
    covers: Covers,
    allowed: Allowed,
    key: FingerprintKey,
}

impl Gate {
    pub(crate) fn new(engine: Engine, covers: Covers, allowed: Allowed, key: FingerprintKey) -> Self {
        Self { engine, covers, allowed, key }
    }

    /// `text` with its bars.
    pub(crate) fn bar(&self, text: &str) -> String {
        text::bar(text, &covered_spans(&self.covers, text, Vec::new()))
    }

    /// Refuses what was covered, with `words` also the author's own words, and secrets of tiers A to C.
    pub(crate) fn check(&self, bytes: &[u8], words: bool) -> Result<(), GateHit> {
        let mut spans = Vec::new();
        self.covers.find(bytes, &mut spans);
        spans.retain(|s| s.rule.is_some() || words && !protocol::excuses(bytes, s.start, s.end));
        if let Some(span) = self.first_said(bytes, &spans) {
            return Err(self.covered(span));
        }
        let mut refused = None;
        self.engine.detect(bytes, Seeks::Secrets, &mut |hit| {
            let Some(kind) = self.engine.kind(hit.kind).filter(|k| refused.is_none() && is_secret(k.tier)) else {
                return;
            };
            let value = hit.plain.as_deref().map_or_else(|| part(bytes, hit.start, hit.end), Vec::as_slice);
            let open = |value: &[u8]| self.allowed.leaves_open(kind, &self.key.fingerprint(value));
            if open(value) && open(&protocol::unescaped(value)) {
                let (rule, name) = (kind.id.to_string(), kind.name.to_string());
                refused = Some(GateHit { rule, name, start: hit.start, end: hit.end });
            }
        });
        refused.map_or(Ok(()), Err)
    }

    /// The first of `spans` that is not made by the writing of JSON alone: a word "not" does not stand in `\nother`, nor
    /// does a quotation mark between two strings.
    fn first_said<'a>(&self, bytes: &[u8], spans: &'a [Span]) -> Option<&'a Span> {
        let Some(document) = Some(spans).filter(|s| !s.is_empty()).and_then(|_| protocol::Document::read(bytes)) else {
            return spans.first();
        };
        let mut clean = None;
        spans.iter().find(|span| match document.lies(bytes, span.start, span.end) {
            _ if span.rule.is_some() => true,
            Lies::Within => true,
            Lies::Outside => false,
            Lies::Halving(from, _) if clean == Some(from) => false,
            Lies::Halving(from, to) => {
                let mut said = Vec::new();
                self.covers.find(&protocol::decoded(part(bytes, from, to)), &mut said);
                if said.is_empty() {
                    clean = Some(from);
                }
                !said.is_empty()
            }
        })
    }

    fn covered(&self, span: &Span) -> GateHit {
        let rule = span.rule.and_then(|index| self.engine.kind(index));
        GateHit {
            rule: rule.map_or("word", |r| r.id.as_str()).to_owned(),
            name: rule.map_or("a covered word", |r| r.name.as_str()).to_owned(),
            start: span.start,
            end: span.end,
        }
    }
}
