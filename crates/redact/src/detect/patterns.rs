//! Tier G: the person's own rules and words, of any shape.

mod allow;
mod search;
mod words;

use std::collections::{HashMap, HashSet};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::{Captures, Regex, RegexSet, RegexSetBuilder};

use self::{
    allow::Allowlist,
    search::{each_match, unanchored},
    words::Words,
};
use super::{
    Hit,
    keyword::{self, Compile, KeywordRules, Progress},
};
use crate::{
    Error, Tier,
    checks::entropy,
    engine::{Kind, definition},
    rules::{GitleaksRule, RulesFile, Source, WordList},
    text::{self, BLOCK, part},
};

/// Rules without keywords are tried together, this many in one pass.
const SET: usize = 100;
/// After so many values that were none, those within one token are no longer tried one by one.
const PATIENCE: u32 = 64;
/// Fewer are tried one by one.
const FEW: usize = 4;

/// Looks for patterns that may match anywhere.
pub(crate) struct Patterns {
    /// Rules of our own format that have keywords.
    keyword: Option<KeywordRules>,
    words: Option<Words>,
    rules: Vec<Pattern>,
    /// The keywords of `rules`, and by pattern who asked for it.
    keywords: Option<(AhoCorasick, Vec<Vec<usize>>)>,
    /// Those of `rules` without keywords, many together.
    sets: Vec<(RegexSet, Vec<usize>)>,
    /// Those that are tried on every text.
    always: Vec<usize>,
}

struct Pattern {
    kind: usize,
    regex: Regex,
    accept: Accept,
}

/// What of a match is the secret, and whether it is one.
enum Accept {
    /// All of it.
    Whole,
    /// As gitleaks has it.
    Gitleaks { group: usize, entropy: f64, allowlists: Vec<Allowlist> },
    /// As our own rules have it: the pattern says only where to try.
    Own(Box<keyword::Rule>),
}

impl Patterns {
    pub(crate) fn new(
        files: Vec<RulesFile>,
        deny: &[String],
        words: Vec<WordList>,
        kinds: &mut Vec<Kind>,
    ) -> Result<Self, Error> {
        let mut builder = Builder { ids: kinds.iter().map(|k| k.id.to_string()).collect(), ..Builder::default() };
        for (number, pattern) in (1..).zip(deny) {
            builder.deny(number, pattern, kinds)?;
        }
        let mut anchored = Vec::new();
        for file in files {
            for mut source in file.own {
                source.id = builder.free_id(&source.id);
                if source.keywords.is_empty() {
                    builder.own(source, kinds)?;
                } else {
                    anchored.push(source);
                }
            }
            for rule in file.gitleaks {
                builder.gitleaks(rule, kinds)?;
            }
        }
        let keyword =
            if anchored.is_empty() { None } else { Some(KeywordRules::compile(anchored, Compile::Now, kinds)?) };
        let words = Words::new(words, kinds)?;
        builder.finish(keyword, words)
    }

    /// Appends the hits in `text`, in no order; `join` as for [`KeywordRules::find`].
    pub(crate) fn find(&self, text: &[u8], join: bool, hits: &mut Vec<Hit>) {
        if let Some(rules) = &self.keyword {
            rules.find(text, join, hits);
        }
        if let Some(words) = &self.words {
            words.find(text, hits);
        }
        let wanted = self.wanted(text);
        if wanted.is_empty() {
            return;
        }
        let segments = segments(text);
        for rule in wanted.into_iter().filter_map(|index| self.rules.get(index)) {
            for (from, to) in &segments {
                rule.find(part(text, 0, *to), *from, hits);
            }
        }
    }

    /// The rules that may match somewhere in `text`.
    fn wanted(&self, text: &[u8]) -> Vec<usize> {
        let mut wanted = self.always.clone();
        for (set, indexes) in &self.sets {
            wanted.extend(set.matches(text).into_iter().filter_map(|n| indexes.get(n)));
        }
        if let Some((keywords, askers)) = &self.keywords {
            let mut seen = vec![false; askers.len()];
            let mut missing = askers.len();
            for found in keywords.find_overlapping_iter(text) {
                let pattern = found.pattern().as_usize();
                if let (Some(seen), Some(askers)) = (seen.get_mut(pattern), askers.get(pattern))
                    && !std::mem::replace(seen, true)
                {
                    wanted.extend(askers);
                    missing -= 1;
                    if missing == 0 {
                        break;
                    }
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}

/// What stands between the bars: none of it is part of a secret.
fn segments(text: &[u8]) -> Vec<(usize, usize)> {
    let block = BLOCK.as_bytes();
    let mut segments = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(text, block) {
        if from < at {
            segments.push((from, at));
        }
        from = at + block.len();
    }
    if from < text.len() {
        segments.push((from, text.len()));
    }
    segments
}

impl Pattern {
    /// Appends the hits that begin at `from` or after it.
    fn find(&self, text: &[u8], from: usize, hits: &mut Vec<Hit>) {
        match &self.accept {
            Accept::Whole => each_match(&self.regex, text, from, false, |start, end, _| {
                hits.push(Hit::new(self.kind, start, end));
                end
            }),
            Accept::Gitleaks { group, entropy, allowlists } => {
                each_match(&self.regex, text, from, self.regex.captures_len() > 1, |start, end, captures| {
                    let secret = gitleaks_secret(text, (start, end), *group, captures)
                        .filter(|(s, e)| is_random(part(text, *s, *e), *entropy))
                        .filter(|s| !allowlists.iter().any(|list| list.allows(text, *s, (start, end))));
                    let Some((start, secret_end)) = secret else { return end };
                    let secret_end = text::token_end(text, secret_end);
                    hits.push(Hit::new(self.kind, start, secret_end));
                    // A token is walked over once, not once for each match in it.
                    end.max(secret_end)
                });
            }
            Accept::Own(rule) => {
                let mut progress = Progress::default();
                let mut failures = 0;
                each_match(&self.regex, text, from, false, |start, end, _| {
                    match keyword::try_anywhere(rule, text, start, &mut progress) {
                        Some(hit) => {
                            let after = hit.end.max(start + 1);
                            hits.push(hit);
                            after
                        }
                        // Each look at a value may lead to its token's end: of a token full of none, only the first are tried.
                        None if failures > PATIENCE => end.max(text::token_end(text, start + 1)),
                        None => {
                            failures += 1;
                            start + 1
                        }
                    }
                });
            }
        }
    }
}

/// The group that is asked for, or else the first that is not empty, or else all of it, without line breaks around it.
fn gitleaks_secret(
    text: &[u8],
    whole: (usize, usize),
    group: usize,
    captures: Option<&Captures<'_>>,
) -> Option<(usize, usize)> {
    let filled = |n: usize| captures.and_then(|c| c.get(n)).filter(|m| !m.is_empty()).map(|m| (m.start(), m.end()));
    let named = if group > 0 { filled(group) } else { (1..captures.map_or(1, Captures::len)).find_map(filled) };
    let (mut start, mut end) = named.unwrap_or(whole);
    let value = part(text, start, end);
    let breaks = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|b| **b == b'\n').count();
    start += breaks(&mut value.iter());
    end -= breaks(&mut value.iter().rev());
    (start < end).then_some((start, end))
}

fn is_random(secret: &[u8], least: f64) -> bool {
    least <= 0.0 || f64::from(entropy(secret)) > least
}

#[derive(Default)]
struct Builder {
    rules: Vec<Pattern>,
    /// By rule: the keywords it asks for, and its pattern where it may be tried together with others.
    asks: Vec<(Vec<String>, Option<String>)>,
    ids: HashSet<String>,
    /// Expressions of allowlists, each compiled once.
    compiled: HashMap<String, Regex>,
}

impl Builder {
    /// `id`, or a name made of it where another rule has it already.
    fn free_id(&mut self, id: &str) -> String {
        let mut name = id.to_owned();
        let mut number = 1;
        while !self.ids.insert(name.clone()) {
            name = if number == 1 { format!("user:{id}") } else { format!("user{number}:{id}") };
            number += 1;
        }
        name
    }

    fn deny(&mut self, number: usize, pattern: &str, kinds: &mut Vec<Kind>) -> Result<(), Error> {
        let refused = |reason: String| Error::Rule { id: "--deny".to_owned(), reason };
        let regex = unanchored(pattern, true).map_err(refused)?;
        if regex.is_match(b"") {
            return Err(refused("it matches the empty text, which stands everywhere".to_owned()));
        }
        self.rules.push(Pattern { kind: kinds.len(), regex, accept: Accept::Whole });
        self.asks.push((Vec::new(), None));
        kinds.push(Kind {
            id: "deny".to_owned().into(),
            // Never the pattern: it may be the very words.
            name: format!("Denied by pattern {number}").into(),
            tier: Tier::G,
            blocking: true,
            allowable: false,
            definition: definition(["deny", pattern]),
        });
        Ok(())
    }

    fn own(&mut self, source: Source, kinds: &mut Vec<Kind>) -> Result<(), Error> {
        let regex = unanchored(&keyword::pattern(&source), false)
            .map_err(|reason| Error::Rule { id: source.id.clone(), reason })?;
        let kind = kinds.len();
        kinds.push(Kind {
            id: source.id.clone().into(),
            name: source.name.clone().into(),
            tier: source.tier,
            blocking: source.blocking,
            allowable: source.allowable,
            definition: definition([source.definition().as_str()]),
        });
        self.asks.push((Vec::new(), Some(format!("(?-u:{})", keyword::pattern(&source)))));
        let rule = keyword::compile(source, Compile::Now, kind)?;
        self.rules.push(Pattern { kind, regex, accept: Accept::Own(Box::new(rule)) });
        Ok(())
    }

    fn gitleaks(&mut self, rule: GitleaksRule, kinds: &mut Vec<Kind>) -> Result<(), Error> {
        let refused = |reason: String| Error::Rule { id: rule.id.clone(), reason };
        let regex = unanchored(&rule.regex, true).map_err(refused)?;
        if rule.secret_group >= regex.captures_len() {
            return Err(refused(format!("its regex has no group {}", rule.secret_group)));
        }
        let mut allowlists = Vec::with_capacity(rule.allowlists.len());
        for source in &rule.allowlists {
            allowlists.push(Allowlist::new(source, &mut self.compiled).map_err(refused)?);
        }
        let digest = format!("{:?}", (&rule.regex, rule.secret_group, rule.entropy, &rule.keywords, &rule.allowlists));
        let accept = Accept::Gitleaks { group: rule.secret_group, entropy: rule.entropy, allowlists };
        self.rules.push(Pattern { kind: kinds.len(), regex, accept });
        // Case is folded in ASCII only: a keyword beyond it is none.
        let everywhere = rule.keywords.iter().any(|k| k.is_empty() || !k.is_ascii());
        self.asks.push((if everywhere { Vec::new() } else { rule.keywords }, Some(rule.regex)));
        kinds.push(Kind {
            id: self.free_id(&rule.id).into(),
            name: rule.description.into(),
            tier: Tier::G,
            blocking: true,
            allowable: true,
            definition: definition(["gitleaks", &digest]),
        });
        Ok(())
    }

    fn finish(self, keyword: Option<KeywordRules>, words: Option<Words>) -> Result<Patterns, Error> {
        let mut patterns: Vec<String> = Vec::new();
        let mut askers: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let (mut always, mut together) = (Vec::new(), Vec::new());
        for (rule, (keywords, pattern)) in self.asks.into_iter().enumerate() {
            match pattern {
                _ if !keywords.is_empty() => {
                    for word in keywords {
                        let at = *known.entry(word.clone()).or_insert(askers.len());
                        if let Some(list) = askers.get_mut(at) {
                            list.push(rule);
                        } else {
                            patterns.push(word);
                            askers.push(vec![rule]);
                        }
                    }
                }
                Some(pattern) => together.push((rule, pattern)),
                None => always.push(rule),
            }
        }
        let mut sets = Vec::new();
        for chunk in together.chunks(SET) {
            let indexes: Vec<usize> = chunk.iter().map(|(rule, _)| *rule).collect();
            let set = (chunk.len() >= FEW).then(|| RegexSetBuilder::new(chunk.iter().map(|(_, p)| p)).build());
            match set {
                Some(Ok(set)) => sets.push((set, indexes)),
                // Too large together: then each by itself.
                _ => always.extend(indexes),
            }
        }
        let keywords = if patterns.is_empty() {
            None
        } else {
            let built = AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .build(&patterns)
                .map_err(|e| Error::Matcher(e.to_string()))?;
            Some((built, askers))
        };
        Ok(Patterns { keyword, words, rules: self.rules, keywords, sets, always })
    }
}
