//! The rules: what is looked for, compiled once.
//!
//! A rules file is TOML, a list of `[[rule]]` with these fields:
//!
//! | field | meaning |
//! |---|---|
//! | `id`, `name` | for decisions and for people |
//! | `tier` | see [`Tier`] |
//! | `pattern` | where a match begins is known, so it stands for an anchored expression on bytes, Unicode off; its first group, or else all of it, is the secret; `<assign>` stands for what may stand between a name and its value, `<key>` for what may stand between a provider's name and the value of a key of its own, `<uuid>` for a UUID |
//! | `keywords` | the pattern is tried only where one of these stands; `ignore_case` says that case does not matter |
//! | `run` | the pattern is tried where a run of at least so many letters, digits, `_`, `-` and `.` begins, and with one of the keywords if there are any: for keywords that stand everywhere |
//! | `offsets` | bytes from the start of the match to the keyword; `[0]` where not given |
//! | `left` | the match must not continue a word to its left (default); `right`: nor the value to its right |
//! | `extend` | the span runs on to the end of the token (default), so that no tail is left beyond a fixed length |
//! | `allowable`, `blocking` | see [`Finding`](crate::Finding); both true where not given |
//! | `checks` | see [`Check`] |
//! | `near` | one of these must stand within 4 KiB |
//! | `stop` | values with this in them are none |
//! | `placeholders` | false: do not skip values that look like placeholders |
//! | `entropy` | least Shannon entropy of the secret after its known prefix, in bits a byte |
//! | `lengths` | lengths of a whole token in bytes, where the format fixes them: a token wrapped over lines ends there |
//! | `checksum` | see [`Checksum`]: a value whose checksum holds is real, whatever it looks like |
//! | `back` | see [`Back`]: the secret stands before the match, which is only its end |
//! | `positive`, `negative`, `source`, `date` | samples for the tests, where the shape is documented, when that was looked up |

use serde::Deserialize;

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
    pub(crate) positive: Vec<String>,
    pub(crate) negative: Vec<String>,
    pub(crate) source: String,
    pub(crate) date: String,
}

impl Source {
    /// All that decides what it finds, as text; samples and sources do not.
    pub(crate) fn definition(&self) -> String {
        let Self { tier, pattern, keywords, ignore_case, left, right, extend, allowable, blocking, .. } = self;
        let Self { run, placeholders, offsets, checks, near, stop, entropy, lengths, checksum, back, .. } = self;
        format!(
            "{tier:?} {pattern:?} {keywords:?} {ignore_case} {left} {right} {extend} {allowable} {blocking} \
             {run:?} {placeholders} {offsets:?} {checks:?} {near:?} {stop:?} {entropy} {lengths:?} {checksum:?} {back:?}"
        )
    }
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
    let file: File = basic_toml::from_str(text).map_err(|e| Error::RulesSyntax(e.to_string()))?;
    if file.rule.is_empty() {
        return Err(Error::NoRules);
    }
    Ok(file.rule)
}

/// A rules file of the person's own.
pub struct RulesFile {
    #[expect(dead_code, reason = "to come")]
    sources: Vec<Source>,
}

impl RulesFile {
    /// Reads the text of a rules file of our own format (see the module's documentation).
    ///
    /// # Errors
    /// It cannot be read, or holds no rule.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(Self { sources: parse(text)? })
    }
}
