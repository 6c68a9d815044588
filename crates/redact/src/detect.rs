//! Running the rules over one text.

use crate::{
    checks::{Candidate, Check, is_placeholder, pem_header},
    rules::{Asker, Compiled, Rule, Rules},
    text::{self, part},
};

/// A match of a rule: where the secret stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Index of the rule.
    pub(crate) rule: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// How many of its first bytes everyone knows: the prefix of its kind.
    pub(crate) public: usize,
}

/// How far a pattern may look at first; a match that wants more gets it.
const REACH: usize = 1 << 16;
/// After this many failures of one rule in one text it looks less far, so that no text can make scanning quadratic.
const PATIENCE: u32 = 64;
const SHORT_REACH: usize = 1 << 11;
/// How far `near` looks, in bytes.
const NEAR: usize = 4096;

#[derive(Clone, Copy, Default)]
struct Progress {
    /// Where this rule's last match ended.
    until: usize,
    failures: u32,
}

impl Rules {
    /// Appends the hits in `text`, sorted by place, one per span.
    pub(crate) fn detect(&self, bytes: &[u8], hits: &mut Vec<Hit>) {
        let from = hits.len();
        let compiled = &*self.0;
        let mut progress = Vec::new();
        for found in compiled.keywords.find_overlapping_iter(bytes) {
            for asker in askers(compiled, found.pattern().as_usize()) {
                if asker.exact.as_deref().is_some_and(|word| part(bytes, found.start(), found.end()) != word) {
                    continue;
                }
                if progress.is_empty() {
                    progress.resize(compiled.rules.len(), Progress::default());
                }
                let (Some(rule), Some(state)) = (compiled.rules.get(asker.rule), progress.get_mut(asker.rule)) else {
                    continue;
                };
                for offset in &rule.offsets {
                    let Some(start) = found.start().checked_sub(*offset).filter(|start| *start >= state.until) else {
                        continue;
                    };
                    if rule.left && !text::begins_token(bytes, start, rule.right) {
                        continue;
                    }
                    if let Some(hit) = try_rule(rule, asker.rule, bytes, start, state) {
                        state.until = hit.end;
                        hits.push(hit);
                        break;
                    }
                }
            }
        }
        if let Some(new) = hits.get_mut(from..) {
            new.sort_by_key(|h| (h.start, h.end, self.rank(h.rule)));
        }
        let new = hits.split_off(from);
        hits.extend(
            new.iter().enumerate().filter(|(i, hit)| !self.is_told_by_another(hit, *i, &new)).map(|(_, hit)| *hit),
        );
    }

    /// Stricter and more specific first.
    fn rank(&self, rule: usize) -> (bool, Option<crate::Tier>, usize) {
        self.get(rule).map_or((true, None, rule), |r| (r.allowable, Some(r.tier), rule))
    }

    /// The same span found by a rule that goes first, or a span within another of the same tier that is as strict.
    fn is_told_by_another(&self, hit: &Hit, index: usize, all: &[Hit]) -> bool {
        let same_span =
            index.checked_sub(1).and_then(|i| all.get(i)).is_some_and(|h| (h.start, h.end) == (hit.start, hit.end));
        let Some(own) = self.get(hit.rule) else { return true };
        // Sorted by start: whatever holds this span and starts before it is close by.
        let holders = all.get(..index).unwrap_or_default().iter().rev().take(8);
        let after = all.get(index + 1..).unwrap_or_default().iter().take_while(|h| h.start == hit.start);
        let mut within = holders
            .chain(after)
            .filter(|h| h.start <= hit.start && hit.end <= h.end && h.end - h.start > hit.end - hit.start);
        same_span
            || within.any(|h| {
                self.get(h.rule).is_some_and(|r| {
                    r.tier == own.tier && (own.allowable || !r.allowable) && (r.blocking || !own.blocking)
                })
            })
    }
}

fn askers(compiled: &Compiled, pattern: usize) -> &[Asker] {
    compiled.askers.get(pattern).map(Vec::as_slice).unwrap_or_default()
}

fn try_rule(rule: &Rule, index: usize, bytes: &[u8], start: usize, state: &mut Progress) -> Option<Hit> {
    let reach = if state.failures < PATIENCE { REACH } else { SHORT_REACH };
    let mut limit = start.saturating_add(reach).min(bytes.len());
    let mut found = match_at(rule, bytes, start, limit);
    if found.is_some_and(|m| m.whole == limit && limit < bytes.len()) {
        limit = bytes.len();
        found = match_at(rule, bytes, start, limit);
    }
    // A bar is no part of a secret: what is left of it must be one by itself.
    if let Some(block) = found.and_then(|m| find(part(bytes, m.start, m.whole), text::BLOCK.as_bytes())) {
        found = found.and_then(|m| match_at(rule, bytes, start, m.start + block));
    }
    let hit = found.and_then(|m| accept(rule, index, bytes, start, m));
    if hit.is_none() {
        state.failures = state.failures.saturating_add(1);
    }
    hit
}

/// A match: the secret, and the end of all of it.
#[derive(Clone, Copy)]
struct Match {
    start: usize,
    end: usize,
    whole: usize,
}

fn match_at(rule: &Rule, bytes: &[u8], start: usize, limit: usize) -> Option<Match> {
    let hay = part(bytes, start, limit);
    let whole = rule.regex.find(hay)?;
    let whole_end = start + whole.end();
    if !rule.has_group {
        return Some(Match { start, end: whole_end, whole: whole_end });
    }
    let group = rule.regex.captures(hay)?;
    let group = group.iter().skip(1).flatten().next()?;
    Some(Match { start: start + group.start(), end: start + group.end(), whole: whole_end })
}

fn accept(rule: &Rule, index: usize, bytes: &[u8], start: usize, found: Match) -> Option<Hit> {
    let mut end = found.end;
    if rule.checks.contains(&Check::Trim) {
        end = trim(bytes, found.start, end);
    }
    if rule.checks.contains(&Check::HomeName) {
        let tail = part(bytes, found.start, end).iter().rev().take_while(|b| matches!(b, b'.' | b'-')).count();
        end -= tail;
    }
    if rule.right && !text::ends_token(bytes, end) {
        return None;
    }
    if rule.extend {
        end = text::token_end(bytes, end);
    }
    let value = part(bytes, found.start, end);
    let known = rule.prefixes.iter().filter(|p| value.starts_with(p)).map(Vec::len).max().unwrap_or_default();
    let public = known.max(pem_header(value));
    let body = value.get(public..).unwrap_or_default();
    let whole = part(bytes, start, found.whole.max(end));
    let on = Candidate { whole, value, body };
    let stopped = !rule.stop.is_empty() && {
        let folded = String::from_utf8_lossy(value).to_ascii_lowercase();
        rule.stop.iter().any(|word| folded.contains(word))
    };
    if body.is_empty() || stopped || (rule.placeholders && is_placeholder(body)) {
        return None;
    }
    let good = rule.checks.iter().all(|check| check.holds(&on)) && is_near(rule, bytes, found.start, end);
    good.then_some(Hit { rule: index, start: found.start, end, public })
}

/// White space, escaped line ends and the punctuation of a sentence are no part of a value.
fn trim(bytes: &[u8], start: usize, mut end: usize) -> usize {
    loop {
        end -= match part(bytes, start, end) {
            [.., b'\\', b'n' | b'r'] => 2,
            [.., last] if last.is_ascii_whitespace() || matches!(last, b'.' | b',' | b':' | b';') => 1,
            _ => return end,
        };
    }
}

fn is_near(rule: &Rule, bytes: &[u8], start: usize, end: usize) -> bool {
    if rule.near.is_empty() {
        return true;
    }
    let around = part(bytes, start.saturating_sub(NEAR), end.saturating_add(NEAR)).to_ascii_lowercase();
    rule.near.iter().any(|word| find(&around, word).is_some())
}

fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len().max(1)).position(|w| w == needle)
}
