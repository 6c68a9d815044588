//! The rules: what is looked for, compiled once.
//!
//! A rules file is TOML, a list of `[[rule]]` with these fields:
//!
//! | field | meaning |
//! |---|---|
//! | `id`, `name` | for decisions and for people |
//! | `tier` | see [`Tier`] |
//! | `pattern` | where a match begins is known, so it stands for an anchored expression on bytes, Unicode off; its first group, or else all of it, is the secret; `<assign>` stands for what may stand between a name and its value |
//! | `keywords` | the pattern is tried only where one of these stands; `ignore_case` says that case does not matter |
//! | `offsets` | bytes from the start of the match to the keyword; `[0]` where not given |
//! | `left` | the match must not continue a word to its left (default); `right`: nor the value to its right |
//! | `extend` | the span runs on to the end of the token (default), so that no tail is left beyond a fixed length |
//! | `allowable`, `blocking` | see [`Finding`](crate::Finding); both true where not given |
//! | `checks` | see [`Check`] |
//! | `near` | one of these must stand within 4 KiB |
//! | `stop` | values with this in them are none |
//! | `placeholders` | false: do not skip values that look like placeholders |
//! | `positive`, `negative`, `source`, `date` | samples for the tests, where the shape is documented, when that was looked up |

use std::{collections::HashMap, sync::Arc};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::{Error, Tier, checks::Check, detect::Hit};

const BUILTIN: [&str; 6] = [
    include_str!("../rules/forge.toml"),
    include_str!("../rules/cloud.toml"),
    include_str!("../rules/ai.toml"),
    include_str!("../rules/services.toml"),
    include_str!("../rules/structure.toml"),
    include_str!("../rules/personal.toml"),
];

/// What may stand between a name and its value: the rest of the name, quotes (also escaped ones), a separator.
const ASSIGN: &str = r#"[A-Za-z0-9_.-]{0,40}\\*["'`]?\]?[ \t]{0,4}(?:=>|:=|=|:|,|[ \t])[ \t]{0,4}\\*["'`]?"#;

/// Compiled rules. Cheap to clone.
#[derive(Clone)]
pub struct Rules(pub(crate) Arc<Compiled>);

pub(crate) struct Compiled {
    pub(crate) rules: Vec<Rule>,
    pub(crate) keywords: AhoCorasick,
    /// By pattern of `keywords`: who asked for it, and in which case.
    pub(crate) askers: Vec<Vec<Asker>>,
}

pub(crate) struct Asker {
    pub(crate) rule: usize,
    /// The keyword, where its case matters.
    pub(crate) exact: Option<Vec<u8>>,
}

pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) tier: Tier,
    pub(crate) blocking: bool,
    pub(crate) allowable: bool,
    pub(crate) regex: Regex,
    pub(crate) has_group: bool,
    pub(crate) left: bool,
    pub(crate) right: bool,
    pub(crate) extend: bool,
    pub(crate) placeholders: bool,
    pub(crate) offsets: Vec<usize>,
    /// The keywords that may begin a value: what everyone knows of it.
    pub(crate) prefixes: Vec<Vec<u8>>,
    pub(crate) checks: Vec<Check>,
    pub(crate) near: Vec<Vec<u8>>,
    pub(crate) stop: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Source>,
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "samples and sources are for the tests and for people"))]
pub(crate) struct Source {
    pub(crate) id: String,
    name: String,
    pub(crate) tier: Tier,
    pattern: String,
    keywords: Vec<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default = "yes")]
    left: bool,
    #[serde(default)]
    right: bool,
    #[serde(default = "yes")]
    extend: bool,
    #[serde(default = "yes")]
    allowable: bool,
    #[serde(default = "yes")]
    blocking: bool,
    #[serde(default = "yes")]
    placeholders: bool,
    #[serde(default = "at_start")]
    offsets: Vec<usize>,
    #[serde(default)]
    checks: Vec<Check>,
    #[serde(default)]
    near: Vec<String>,
    #[serde(default)]
    stop: Vec<String>,
    pub(crate) positive: Vec<String>,
    pub(crate) negative: Vec<String>,
    pub(crate) source: String,
    pub(crate) date: String,
}

fn yes() -> bool {
    true
}

fn at_start() -> Vec<usize> {
    vec![0]
}

impl Rules {
    /// The rules that come with the program.
    ///
    /// # Errors
    /// They cannot be read, are empty, or do not find their canary: then nothing may be published.
    pub fn builtin() -> Result<Self, Error> {
        let rules = Self::from_sources(builtin_sources()?)?;
        rules.self_test()?;
        Ok(rules)
    }

    /// Rules from the text of a rules file of our own format (see the module's documentation).
    ///
    /// # Errors
    /// It cannot be read, or holds no rule.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Self::from_sources(parse(text)?)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.rules.len()
    }

    /// Never: rules that are empty do not compile.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.rules.is_empty()
    }

    fn from_sources(sources: Vec<Source>) -> Result<Self, Error> {
        if sources.is_empty() {
            return Err(Error::NoRules);
        }
        let mut patterns = Vec::new();
        let mut askers: Vec<Vec<Asker>> = Vec::new();
        let mut known = HashMap::new();
        let mut rules: Vec<Rule> = Vec::with_capacity(sources.len());
        for source in sources {
            let refused = |reason: &str| Error::Rule { id: source.id.clone(), reason: reason.to_owned() };
            if rules.iter().any(|r| r.id == source.id) {
                return Err(refused("the id is taken"));
            }
            if source.keywords.is_empty() || source.keywords.iter().any(String::is_empty) || source.offsets.is_empty() {
                return Err(refused("it has no keyword"));
            }
            for keyword in &source.keywords {
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
            rules.push(compile(source)?);
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&patterns)
            .map_err(|e| Error::Matcher(e.to_string()))?;
        Ok(Self(Arc::new(Compiled { rules, keywords, askers })))
    }

    /// A canary must be found before anything is trusted.
    pub(crate) fn self_test(&self) -> Result<(), Error> {
        let canary = ["canary = gh", "p_", &"a1B2".repeat(9), ", end"].concat();
        let mut hits = Vec::new();
        self.detect(canary.as_bytes(), &mut hits);
        match hits.as_slice() {
            [Hit { start: 9, end: 49, .. }] => Ok(()),
            _ => Err(Error::SelfTest),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Rule> {
        self.0.rules.get(index)
    }
}

/// The rules that come with the program, as they are written.
pub(crate) fn builtin_sources() -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    for text in BUILTIN {
        sources.append(&mut parse(text)?);
    }
    Ok(sources)
}

fn parse(text: &str) -> Result<Vec<Source>, Error> {
    let file: File = basic_toml::from_str(text).map_err(|e| Error::RulesSyntax(e.to_string()))?;
    Ok(file.rule)
}

fn compile(source: Source) -> Result<Rule, Error> {
    let pattern = format!(r"\A(?:{})", source.pattern.replace("<assign>", ASSIGN));
    let regex = RegexBuilder::new(&pattern)
        .unicode(false)
        .build()
        .map_err(|e| Error::Rule { id: source.id.clone(), reason: e.to_string() })?;
    Ok(Rule {
        has_group: regex.captures_len() > 1,
        id: source.id,
        name: source.name,
        tier: source.tier,
        blocking: source.blocking,
        allowable: source.allowable,
        regex,
        left: source.left,
        right: source.right,
        extend: source.extend,
        placeholders: source.placeholders,
        offsets: source.offsets,
        prefixes: source.keywords.into_iter().map(String::into_bytes).collect(),
        checks: source.checks,
        near: source.near.into_iter().map(|s| s.to_ascii_lowercase().into_bytes()).collect(),
        stop: source.stop.iter().map(|s| s.to_ascii_lowercase()).collect(),
    })
}
