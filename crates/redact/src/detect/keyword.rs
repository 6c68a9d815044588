//! Tiers B and C, and whatever else begins with a known word: anchored patterns, tried where a keyword stands.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    ops::Range,
    sync::OnceLock,
};

use regex::bytes::{Regex, RegexBuilder};
use zeroize::Zeroizing;

use super::{
    Hit,
    keywords::{KeywordHit, Keywords},
    runs::Runs,
};
use crate::{
    Error, Tier,
    checks::{Candidate, Check, Checksum, entropy, home_length, home_prefix, is_placeholder, pem_header},
    engine::{Kind, definition},
    rules::Source,
    shapes::Back,
    text::{self, part},
    views,
};

/// What may stand between a name and its value: the rest of the name, quotes (also escaped ones), a separator. The separator
/// may also be a type and an equals sign, the border of a table's cell, or the word `value` where name and value are fields
/// of their own, as in `- name: N⏎  value: V` and `"name": "N", "value": "V"`.
const ASSIGN: &str = concat!(
    r#"[A-Za-z0-9_.-]{0,40}\\*["'`]?\]?(?:"#,
    r"[ \t]{0,4}(?:=>|:=|\?\?|\|\||=|:|,|[ \t])[ \t]{0,4}",
    r"|:[ ]?(?:&(?:'static[ ])?str|[Ss]tring|str)[ ]?=[ ]?",
    r"|[ \t]*(?:\||\xe2\x94[\x82\x83])[ \t]*",
    r#"|(?:,|[ \t\r\n>+-]|\\+[nrt])(?:[ \t\r\n>+-]|\\+[nrt])*\\*["']?(?i:value)\\*["']?[ \t]{0,4}[:=][ \t]{0,4}"#,
    r#")\\*["'`]?"#,
);

/// What may stand between a provider's name and the value of a key of its own: on the same line, a word that says so.
const KEY: &str = r"[^\n]{0,32}?(?i:key|token|secret|passw|auth|credential|[_-]pat)<assign>";

const UUID: &str = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}";

/// How far a pattern may look at first; a match that wants more gets it.
const REACH: usize = 1 << 16;
/// After this many failures of one rule in one text it looks less far, so that no text can make scanning quadratic.
const PATIENCE: u32 = 64;
const SHORT_REACH: usize = 1 << 11;
/// How far `near` looks, in bytes.
const NEAR: usize = 4096;

/// Rules with keywords, compiled.
pub(crate) struct KeywordRules {
    rules: Vec<Rule>,
    keywords: Keywords,
    /// By pattern of `keywords`: who asked for it, and in which case.
    askers: Vec<Vec<Asker>>,
    /// Rules without keywords, by the length of the runs they are tried at.
    runs: Vec<(usize, usize)>,
}

struct Asker {
    rule: usize,
    /// The keyword, where its case matters.
    exact: Option<Vec<u8>>,
}

pub(super) struct Rule {
    /// Index of what it finds.
    kind: usize,
    /// Compiled when it is first needed: a text needs few of many hundred.
    pattern: OnceLock<Option<Pattern>>,
    /// The anchored pattern as text.
    source: String,
    left: bool,
    right: bool,
    apart: bool,
    extend: bool,
    placeholders: bool,
    offsets: Vec<usize>,
    /// The keywords that may begin a value: what everyone knows of it.
    prefixes: Vec<Vec<u8>>,
    checks: Vec<Check>,
    checksum: Option<Checksum>,
    back: Option<Back>,
    entropy: f32,
    /// Lengths of a whole token, where the format fixes them.
    lengths: Vec<usize>,
    /// The token may be known by its beginning, so that it can be put together where it was cut in two.
    joins: bool,
    near: Vec<Vec<u8>>,
    stop: Vec<String>,
}

/// A compiled pattern.
struct Pattern {
    regex: Regex,
    has_group: bool,
}

impl Pattern {
    fn compile(source: &str) -> Result<Self, regex::Error> {
        let regex = RegexBuilder::new(source).unicode(false).build()?;
        Ok(Self { has_group: regex.captures_len() > 1, regex })
    }
}

impl Rule {
    /// None where it cannot be compiled, which [`compile`] refuses and a test excludes for the rules of the program.
    fn pattern(&self) -> Option<&Pattern> {
        self.pattern.get_or_init(|| Pattern::compile(&self.source).ok()).as_ref()
    }

    /// Whether the token can be put together where it was cut in two.
    fn joins(&self) -> bool {
        self.joins && self.pattern().is_some_and(|p| !p.has_group)
    }
}

/// When the patterns are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compile {
    /// At once, so that a broken one is refused.
    Now,
    /// When they are first needed: they are known to be good.
    WhenNeeded,
}

/// How far a rule came in a text.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// Where this rule's last match ended.
    until: usize,
    failures: u32,
    near: Near,
}

/// How far the text was searched for what must stand near a match.
#[derive(Clone, Copy, Default)]
struct Near {
    /// Where it stands, at the last place that was found.
    found: Option<(usize, usize)>,
    /// There is none after that one and before this.
    searched: usize,
}

/// For indexes, which nobody outside chooses: the standard hash costs more than what is kept under it.
#[derive(Default)]
struct IndexHasher(u64);

impl Hasher for IndexHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn write_usize(&mut self, index: usize) {
        self.0 = u64::try_from(index).unwrap_or_default().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl KeywordRules {
    /// Compiles `sources`, and appends what they find to `kinds`.
    pub(crate) fn compile(sources: Vec<Source>, when: Compile, kinds: &mut Vec<Kind>) -> Result<Self, Error> {
        let mut patterns = Vec::new();
        let mut askers: Vec<Vec<Asker>> = Vec::new();
        let mut known = HashMap::new();
        let mut runs = Vec::new();
        let mut rules: Vec<Rule> = Vec::with_capacity(sources.len());
        for source in sources {
            let refused = |reason: &str| Error::Rule { id: source.id.clone(), reason: reason.to_owned() };
            if kinds.iter().any(|k| k.id == source.id) {
                return Err(refused("the id is taken"));
            }
            let none = source.keywords.is_empty() && source.run.is_none();
            if none || source.keywords.iter().any(String::is_empty) || source.offsets.is_empty() {
                return Err(refused("it has no keyword"));
            }
            if let Some(length) = source.run {
                runs.push((length.max(2), rules.len()));
            }
            for keyword in source.keywords.iter().filter(|_| source.run.is_none()) {
                let exact = (!source.ignore_case).then(|| keyword.as_bytes().to_vec());
                let asker = Asker { rule: rules.len(), exact };
                let folded = keyword.to_ascii_lowercase();
                let next = askers.len();
                let at = *known.entry(folded.clone()).or_insert(next);
                if let Some(list) = askers.get_mut(at) {
                    list.push(asker);
                } else {
                    patterns.push(folded);
                    askers.push(vec![asker]);
                }
            }
            kinds.push(Kind {
                id: source.id.clone().into(),
                name: source.name.clone().into(),
                tier: source.tier,
                blocking: source.blocking,
                allowable: source.allowable,
                definition: definition([source.definition().as_str()]),
            });
            rules.push(compile(source, when, kinds.len() - 1)?);
        }
        let keywords = Keywords::new(&patterns);
        runs.sort_unstable();
        Ok(Self { rules, keywords, askers, runs })
    }

    /// Appends the hits in `bytes`, in no order; with `join` also those of tokens that were cut in two.
    pub(crate) fn find(&self, bytes: &[u8], join: bool, hits: &mut Vec<Hit>) {
        // Of many hundred rules a text meets few.
        let mut progress: HashMap<usize, Progress, BuildHasherDefault<IndexHasher>> = HashMap::default();
        // Where the run of token characters that was looked at last ends: it is walked over once.
        let mut run_end = 0;
        let mut found = Vec::new();
        self.keywords.find(bytes, &mut found);
        for KeywordHit { start: word, end: word_end, index } in found {
            for asker in self.askers(index) {
                if asker.exact.as_deref().is_some_and(|exact| part(bytes, word, word_end) != exact) {
                    continue;
                }
                let Some(rule) = self.rules.get(asker.rule) else { continue };
                let state = progress.entry(asker.rule).or_default();
                for offset in &rule.offsets {
                    let Some(start) = word.checked_sub(*offset).filter(|start| *start >= state.until) else {
                        continue;
                    };
                    if rule.left && !text::begins_token(bytes, start, rule.right) {
                        continue;
                    }
                    let mut whole = None;
                    if join && rule.joins() && state.failures < PATIENCE {
                        if start >= run_end {
                            run_end = views::run_end(bytes, start);
                        }
                        whole = try_joined(rule, bytes, start, run_end);
                    }
                    if let Some(hit) = whole.or_else(|| try_rule(rule, bytes, start, state)) {
                        state.until = hit.end;
                        hits.push(hit);
                        break;
                    }
                }
            }
        }
        self.find_in_runs(bytes, hits);
        if join {
            views::split_words(bytes, |window, left, right| self.find_split(bytes, window, left, right, hits));
        }
    }

    /// Tries the rules without keywords where runs begin.
    fn find_in_runs(&self, bytes: &[u8], hits: &mut Vec<Hit>) {
        let Some((shortest, _)) = self.runs.first() else { return };
        let mut progress = vec![Progress::default(); self.runs.len()];
        for run in Runs::new(bytes, *shortest) {
            // The letter of an escape (`\n`) is no part of what follows it.
            let escaped = run.start.checked_sub(1).and_then(|i| bytes.get(i)) == Some(&b'\\');
            let start = run.start + usize::from(escaped);
            let head = bytes.get(start..).unwrap_or_default();
            for ((_, rule), state) in self.runs.iter().zip(&mut progress).take_while(|((n, _), _)| *n <= run.len()) {
                let Some(rule) = self.rules.get(*rule) else { continue };
                if rule.prefixes.is_empty() || rule.prefixes.iter().any(|p| head.starts_with(p)) {
                    hits.extend(try_rule(rule, bytes, start, state));
                }
            }
        }
    }

    /// Looks for a keyword that was cut in two: `window` holds the bytes at `left` and `right` of the text.
    fn find_split(&self, bytes: &[u8], window: &[u8], left: Range<usize>, right: Range<usize>, hits: &mut Vec<Hit>) {
        let cut = left.len();
        let mut found = Vec::new();
        self.keywords.find(window, &mut found);
        for found in found.into_iter().filter(|f| f.start < cut && cut < f.end) {
            for asker in self.askers(found.index) {
                let Some(rule) = self.rules.get(asker.rule).filter(|r| r.joins()) else { continue };
                if asker.exact.as_deref().is_some_and(|word| part(window, found.start, found.end) != word) {
                    continue;
                }
                let start = left.start + found.start;
                let free = !rule.left || text::begins_token(bytes, start, rule.right);
                hits.extend(
                    Some(())
                        .filter(|()| free && !right.is_empty())
                        .and_then(|()| try_joined(rule, bytes, start, left.end)),
                );
            }
        }
    }

    fn askers(&self, pattern: usize) -> &[Asker] {
        self.askers.get(pattern).map(Vec::as_slice).unwrap_or_default()
    }
}

/// A rule's pattern as the regex crate has it.
pub(super) fn pattern(source: &Source) -> String {
    source.pattern.replace("<key>", KEY).replace("<assign>", ASSIGN).replace("<uuid>", UUID)
}

/// Compiles a rule that finds what is `kind`.
pub(super) fn compile(source: Source, when: Compile, kind: usize) -> Result<Rule, Error> {
    let anchored = format!(r"\A(?:{})", pattern(&source));
    let pattern = OnceLock::new();
    if when == Compile::Now {
        let refused = |e: regex::Error| Error::Rule { id: source.id.clone(), reason: e.to_string() };
        let compiled = Pattern::compile(&anchored).map_err(refused)?;
        pattern.get_or_init(|| Some(compiled));
    }
    let first = source.offsets == [0];
    Ok(Rule {
        kind,
        left: source.left,
        right: source.right,
        apart: source.apart,
        extend: source.extend,
        placeholders: source.placeholders,
        offsets: source.offsets,
        prefixes: source.keywords.into_iter().map(String::into_bytes).collect(),
        checks: source.checks,
        checksum: source.checksum,
        back: source.back,
        entropy: source.entropy,
        joins: matches!(source.tier, Tier::A | Tier::B) && first,
        lengths: source.lengths,
        pattern,
        source: anchored,
        near: source.near.into_iter().map(|s| s.to_ascii_lowercase().into_bytes()).collect(),
        stop: source.stop.iter().map(|s| s.to_ascii_lowercase()).collect(),
    })
}

/// Tries a rule without keywords at `start`.
pub(super) fn try_anywhere(rule: &Rule, bytes: &[u8], start: usize, state: &mut Progress) -> Option<Hit> {
    if rule.left && !text::begins_token(bytes, start, rule.right) {
        return None;
    }
    // Without a keyword it is tried often, and every try may look far.
    state.failures = state.failures.saturating_add(1);
    try_rule(rule, bytes, start, state)
}

fn try_rule(rule: &Rule, bytes: &[u8], start: usize, state: &mut Progress) -> Option<Hit> {
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
    let mut hit = found.and_then(|m| accept(rule, bytes, start, m, &mut state.near));
    if hit.is_none() && state.failures < PATIENCE {
        hit = cut_short(rule, bytes, start);
    }
    if hit.is_none() {
        state.failures = state.failures.saturating_add(1);
        // What was refused is not looked at again from each place within it.
        if let Some(refused) = found.filter(|_| state.failures > PATIENCE) {
            state.until = state.until.max(refused.whole);
        }
    }
    hit
}

/// The token that begins at `start` and goes on after the end of a line or of a program's string.
fn try_joined(rule: &Rule, bytes: &[u8], start: usize, run_end: usize) -> Option<Hit> {
    let joined = views::joined(bytes, start, run_end)?;
    let token = part(&joined.view.bytes, 0, joined.end(&rule.lengths)?);
    let hit = try_rule(rule, token, 0, &mut Progress::default())?;
    let (start, end) = joined.view.span(hit.start, hit.end);
    let plain = Some(Zeroizing::new(part(token, hit.start, hit.end).to_vec()));
    Some(Hit { start, end, plain, ..hit })
}

/// A token of which only the beginning is shown, and an ellipsis says so.
fn cut_short(rule: &Rule, bytes: &[u8], start: usize) -> Option<Hit> {
    /// So much of it, after what everyone knows, is worth covering.
    const TELLING: usize = 10;
    let head = bytes.get(start..).filter(|_| rule.joins())?;
    let public = rule.prefixes.iter().filter(|p| head.starts_with(p)).map(Vec::len).max().filter(|n| *n >= 3)?;
    // What is longer matched as it is.
    let run = head.iter().take(256).take_while(|b| text::is_word(**b) || **b == b'-').count();
    let rest = part(head, run, run + 12);
    let ellipsis = ["...", "\u{2026}", "***", "[truncated", "[...", "<truncated", "(truncated", "\u{2022}\u{2022}"];
    let body = part(head, public, run);
    let varied = body.iter().any(u8::is_ascii_digit) || body.iter().any(u8::is_ascii_uppercase);
    let shown = body.len() >= TELLING && varied && !is_placeholder(body);
    let told = shown && ellipsis.iter().any(|mark| rest.starts_with(mark.as_bytes()));
    told.then(|| Hit { public, ..Hit::new(rule.kind, start, start + run) })
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
    let Pattern { regex, has_group } = rule.pattern()?;
    let whole = regex.find(hay)?;
    let whole_end = start + whole.end();
    if !has_group {
        return Some(Match { start, end: whole_end, whole: whole_end });
    }
    let group = regex.captures(hay)?;
    let group = group.iter().skip(1).flatten().next()?;
    Some(Match { start: start + group.start(), end: start + group.end(), whole: whole_end })
}

fn accept(rule: &Rule, bytes: &[u8], start: usize, mut found: Match, near: &mut Near) -> Option<Hit> {
    let telling = found.start;
    if let Some(back) = rule.back {
        (found.start, found.end) = back.span(bytes, found.start, found.end)?;
    }
    let mut end = found.end;
    if rule.checks.contains(&Check::Trim) {
        end = trim(bytes, found.start, end);
    }
    if rule.checks.contains(&Check::HomeName) {
        end = found.start + home_length(part(bytes, found.start, end));
    }
    if rule.right && !text::ends_token(bytes, end) {
        return None;
    }
    if rule.apart && !stands_apart(bytes, found.start, end) {
        return None;
    }
    if rule.extend {
        end = text::token_end(bytes, end);
    }
    let value = part(bytes, found.start, end);
    let known = rule.prefixes.iter().filter(|p| value.starts_with(p)).map(Vec::len).max().unwrap_or_default();
    let mut public = known.max(pem_header(value));
    if rule.back == Some(Back::Url) {
        public = telling - found.start;
    }
    if rule.checks.contains(&Check::HomeName) {
        public = public.max(home_prefix(value));
    }
    let body = value.get(public..).unwrap_or_default();
    let whole = part(bytes, start, found.whole.max(end));
    let on = Candidate { whole, value, body };
    let stopped = || {
        !rule.stop.is_empty() && {
            let folded = String::from_utf8_lossy(value).to_ascii_lowercase();
            rule.stop.iter().any(|word| folded.contains(word))
        }
    };
    let real = rule.checksum.is_some_and(|checksum| checksum.holds(value));
    if body.is_empty() || (!real && (stopped() || (rule.placeholders && is_placeholder(body)))) {
        return None;
    }
    if rule.entropy > 0.0 && entropy(body) < rule.entropy {
        return None;
    }
    let good = rule.checks.iter().all(|check| check.holds(&on)) && near.holds(rule, bytes, found.start, end);
    good.then(|| Hit { public, ..Hit::new(rule.kind, found.start, end) })
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

/// Whether no base64 goes on before or after `start..end`: random bytes have any short prefix somewhere.
fn stands_apart(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|i| bytes.get(i));
    !matches!(before, Some(b'+' | b'/')) && !matches!(bytes.get(end), Some(b'+' | b'/' | b'='))
}

impl Near {
    /// Whether one of the rule's words stands near `start..end`. What was searched once is not searched again.
    fn holds(&mut self, rule: &Rule, bytes: &[u8], start: usize, end: usize) -> bool {
        let (from, to) = (start.saturating_sub(NEAR), end.saturating_add(NEAR).min(bytes.len()));
        if rule.near.is_empty() {
            return true;
        }
        let within = |(at, after): (usize, usize)| from <= at && after <= to;
        while !self.found.is_some_and(within) {
            let next = from.max(self.searched);
            let Some(found) = first_of(&rule.near, part(bytes, next, to)) else {
                // A word may have begun that goes on after `to`.
                let longest = rule.near.iter().map(Vec::len).max().unwrap_or_default();
                self.searched = self.searched.max((to + 1).saturating_sub(longest));
                return false;
            };
            self.found = Some((next + found.0, next + found.1));
            self.searched = next + found.0 + 1;
        }
        true
    }
}

/// The first place in `hay` where one of `words` stands, which are in lower case.
fn first_of(words: &[Vec<u8>], hay: &[u8]) -> Option<(usize, usize)> {
    let mut first: Option<(usize, usize)> = None;
    for word in words {
        let Some(letter) = word.first() else { continue };
        // No later than the best so far.
        let hay = first.map_or(hay, |(at, _)| part(hay, 0, at.saturating_add(word.len())));
        let places = memchr::memchr2_iter(*letter, letter.to_ascii_uppercase(), hay);
        let places = places.map(|at| (at, at + word.len()));
        first = places.into_iter().find(|(at, to)| part(hay, *at, *to).eq_ignore_ascii_case(word)).or(first);
    }
    first
}

fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(hay, needle)
}
