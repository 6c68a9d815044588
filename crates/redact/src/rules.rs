//! The rules: what is looked for, compiled once.
//!
//! A rules file is TOML, a list of `[[rule]]` with these fields:
//!
//! | field | meaning |
//! |---|---|
//! | `id`, `name` | for decisions and for people |
//! | `tier` | see [`Tier`] |
//! | `pattern` | where a match begins is known, so it stands for an anchored expression on bytes, Unicode off; its first group, or else all of it, is the secret; `<assign>` stands for what may stand between a name and its value in code, in settings and in tables, `<key>` for what may stand between a provider's name and the value of a key of its own, `<uuid>` for a UUID |
//! | `keywords` | the pattern is tried only where one of these stands; `ignore_case` says that case does not matter |
//! | `run` | the pattern is tried where a run of at least so many letters, digits, `_`, `-` and `.` begins, and with one of the keywords if there are any: for keywords that stand everywhere |
//! | `offsets` | bytes from the start of the match to the keyword; `[0]` where not given |
//! | `left` | the match must not continue a word to its left (default); `right`: nor the value to its right |
//! | `apart` | neither `+`, `/` nor padding touches it, as would be in base64 |
//! | `extend` | the span runs on to the end of the token (default), so that no tail is left beyond a fixed length |
//! | `allowable`, `blocking` | see [`Finding`](crate::Finding); both true where not given |
//! | `checks` | see [`Check`] |
//! | `near` | one of these must stand within 4 KiB |
//! | `stop` | values with this in them are none |
//! | `placeholders` | false: do not skip values that look like placeholders |
//! | `entropy` | least Shannon entropy of the secret after its known prefix, in bits a byte |
//! | `lengths` | lengths of a whole token in bytes, where the format fixes them: a token wrapped over lines ends there |
//! | `checksum` | see [`Checksum`]: a value whose checksum holds is real, whatever it looks like |
//! | `back` | see [`Back`]: the secret begins before the match |
//! | `positive`, `negative`, `source`, `date` | samples for the tests, where the shape is documented, when that was looked up |
//!
//! In a person's own file only `id`, `name` and `pattern` must be given: the tier is G, and a rule without keywords is tried
//! everywhere. Such a file may also be of gitleaks' format: see `gitleaks`.

mod gitleaks;
mod go_regex;
mod words;

use std::collections::HashSet;

use serde::Deserialize;

pub use self::words::WordList;
pub(crate) use self::{
    gitleaks::{AllowSource, GitleaksRule, Target},
    words::ListedWord,
};
use crate::{
    Error, Tier,
    checks::{Check, Checksum},
    shapes::Back,
};

/// In the order in which they are asked: of two rules that find the same, the first tells.
const BUILTIN: &[&str] = &[
    include_str!("../rules/aws.toml"),
    include_str!("../rules/google.toml"),
    include_str!("../rules/azure.toml"),
    include_str!("../rules/cloud.toml"),
    include_str!("../rules/hosting.toml"),
    include_str!("../rules/database.toml"),
    include_str!("../rules/infrastructure.toml"),
    include_str!("../rules/forge.toml"),
    include_str!("../rules/build.toml"),
    include_str!("../rules/registries.toml"),
    include_str!("../rules/atproto.toml"),
    include_str!("../rules/agents.toml"),
    include_str!("../rules/tools.toml"),
    include_str!("../rules/ai.toml"),
    include_str!("../rules/finance.toml"),
    include_str!("../rules/commerce.toml"),
    include_str!("../rules/content.toml"),
    include_str!("../rules/messaging.toml"),
    include_str!("../rules/mail.toml"),
    include_str!("../rules/observability.toml"),
    include_str!("../rules/identity.toml"),
    include_str!("../rules/services.toml"),
    include_str!("../rules/keys.toml"),
    include_str!("../rules/structure.toml"),
    include_str!("../rules/commands.toml"),
    include_str!("../rules/handed.toml"),
    include_str!("../rules/personal.toml"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Source>,
}

/// A rule as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "samples and sources are for the tests and for people"))]
pub(crate) struct Source {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default = "persons_own")]
    pub(crate) tier: Tier,
    pub(crate) pattern: String,
    #[serde(default)]
    pub(crate) keywords: Vec<String>,
    #[serde(default)]
    pub(crate) run: Option<usize>,
    #[serde(default)]
    pub(crate) ignore_case: bool,
    #[serde(default = "yes")]
    pub(crate) left: bool,
    #[serde(default)]
    pub(crate) right: bool,
    #[serde(default)]
    pub(crate) apart: bool,
    #[serde(default = "yes")]
    pub(crate) extend: bool,
    #[serde(default = "yes")]
    pub(crate) allowable: bool,
    #[serde(default = "yes")]
    pub(crate) blocking: bool,
    #[serde(default = "yes")]
    pub(crate) placeholders: bool,
    #[serde(default = "at_start")]
    pub(crate) offsets: Vec<usize>,
    #[serde(default)]
    pub(crate) checks: Vec<Check>,
    #[serde(default)]
    pub(crate) near: Vec<String>,
    #[serde(default)]
    pub(crate) stop: Vec<String>,
    #[serde(default)]
    pub(crate) entropy: f32,
    #[serde(default)]
    pub(crate) lengths: Vec<usize>,
    #[serde(default)]
    pub(crate) checksum: Option<Checksum>,
    #[serde(default)]
    pub(crate) back: Option<Back>,
    #[serde(default)]
    pub(crate) positive: Vec<String>,
    #[serde(default)]
    pub(crate) negative: Vec<String>,
    #[serde(default)]
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) date: String,
}

impl Source {
    /// All that decides what it finds, as text; samples and sources do not.
    pub(crate) fn definition(&self) -> String {
        let Self { tier, pattern, keywords, ignore_case, left, right, apart, extend, allowable, blocking, .. } = self;
        let Self { run, placeholders, offsets, checks, near, stop, entropy, lengths, checksum, back, .. } = self;
        format!(
            "{tier:?} {pattern:?} {keywords:?} {ignore_case} {left} {right} {apart} {extend} {allowable} {blocking} \
             {run:?} {placeholders} {offsets:?} {checks:?} {near:?} {stop:?} {entropy} {lengths:?} {checksum:?} {back:?}"
        )
    }
}

fn persons_own() -> Tier {
    Tier::G
}

fn yes() -> bool {
    true
}

fn at_start() -> Vec<usize> {
    vec![0]
}

/// The rules that come with the program, as they are written.
pub(crate) fn builtin() -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    for text in BUILTIN {
        sources.append(&mut parse(text)?);
    }
    Ok(sources)
}

/// A rule of its own for engines that are tried on patterns only.
pub(crate) fn canary_rules() -> Result<Vec<Source>, Error> {
    parse(
        "[[rule]]\nid = 'canary'\nname = 'Canary'\ntier = 'B'\npattern = 'canary-tier-b'\nkeywords = ['canary-tier-b']\n\
         positive = []\nnegative = []\nsource = ''\ndate = ''\n",
    )
}

pub(crate) fn parse(text: &str) -> Result<Vec<Source>, Error> {
    let file: File = toml::from_str(text).map_err(|e| syntax(text, &e))?;
    if file.rule.is_empty() {
        return Err(Error::NoRules);
    }
    Ok(file.rule)
}

/// What is wrong, and in which line: never the line itself.
fn syntax(text: &str, error: &toml::de::Error) -> Error {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map(|before| before.matches('\n').count() + 1);
    Error::RulesSyntax(match line {
        Some(line) => format!("line {line}: {}", error.message()),
        None => error.message().to_owned(),
    })
}

/// Longest rules file, in bytes.
const MAX_BYTES: usize = 2_000_000;
/// Most rules of a file, with those of the files it extends.
const MAX_RULES: usize = 5_000;

/// A rules file of the person's own.
///
/// It is TOML of one of two formats: ours, a list of `[[rule]]`, or that of gitleaks, a list of `[[rules]]` with allowlists.
/// Nothing in it changes what the rules that come with the program find.
#[derive(Debug)]
pub struct RulesFile {
    pub(crate) own: Vec<Source>,
    pub(crate) gitleaks: Vec<GitleaksRule>,
    notices: Vec<String>,
}

impl RulesFile {
    /// Reads the text of a rules file that extends no other.
    ///
    /// # Errors
    /// See [`Self::parse_with`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_with(text, &mut |_| Err("a file that extends another cannot be read here".to_owned()))
    }

    /// Reads the text of a rules file. `read` gives the text of another file that it extends, whose path is relative to the
    /// file's folder unless it is absolute; at most two are asked for, one after the other.
    ///
    /// # Errors
    /// It is no TOML, of neither format, or over 2 MB; it holds no rule, or more than 5,000; a rule cannot be used: the error
    /// names it; a file it extends cannot be read.
    pub fn parse_with(text: &str, read: &mut dyn FnMut(&str) -> Result<String, String>) -> Result<Self, Error> {
        let table = table(text)?;
        let mut file = Self { own: Vec::new(), gitleaks: Vec::new(), notices: Vec::new() };
        if table.contains_key("rule") {
            file.own = parse(text)?;
            for source in &mut file.own {
                check_own(source)?;
            }
        } else {
            file.gitleaks = gitleaks::parse(table, read, &mut file.notices)?;
        }
        let count = file.own.len() + file.gitleaks.len();
        if count == 0 {
            return Err(Error::NoRules);
        }
        if count > MAX_RULES {
            return Err(Error::RulesSyntax(format!("they are {count}; {MAX_RULES} are the most")));
        }
        let mut ids = HashSet::new();
        let all = file.own.iter().map(|s| &s.id).chain(file.gitleaks.iter().map(|r| &r.id));
        if let Some(twice) = all.into_iter().find(|id| !ids.insert(id.as_str())) {
            return Err(Error::Rule { id: twice.clone(), reason: "the file has two rules of this id".to_owned() });
        }
        Ok(file)
    }

    /// What of the file has no effect here, in words for its owner.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// How many rules it holds.
    #[must_use]
    pub fn rule_count(&self) -> usize {
        self.own.len() + self.gitleaks.len()
    }
}

/// The top level of a rules file.
fn table(text: &str) -> Result<toml::Table, Error> {
    if text.len() > MAX_BYTES {
        return Err(Error::RulesSyntax(format!("they are longer than {} MB", MAX_BYTES / 1_000_000)));
    }
    text.parse().map_err(|e| syntax(text, &e))
}

/// What a rule of a person's own may not say.
fn check_own(source: &mut Source) -> Result<(), Error> {
    let refused = |reason: &str| Err(Error::Rule { id: source.id.clone(), reason: reason.to_owned() });
    if source.id.trim().is_empty() {
        return refused("it has no id");
    }
    match source.tier {
        Tier::A => return refused("tier A is for your own secrets, which are known without a rule"),
        // Suggestions never block.
        Tier::E => source.blocking = false,
        _ => {}
    }
    Ok(())
}
