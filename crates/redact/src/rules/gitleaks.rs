//! Rules files of gitleaks' format, version 8.
//!
//! Keys are read in any case, as gitleaks does. What has no effect on a conversation (paths, commits, tags) and what would
//! only make a rule find less by means that are not here (composite rules, filter expressions, checks over the network) is
//! left out, and said in a notice: rather a finding too many. An allowlist has effect on the rules of its own file only.

use toml::{Table, Value};

use super::{go_regex, table};
use crate::Error;

/// How many files may extend each other, as gitleaks has it.
const DEPTH: usize = 2;

/// A rule of such a file, with every allowlist that bears on it.
#[derive(Debug, Clone)]
pub(crate) struct GitleaksRule {
    pub(crate) id: String,
    pub(crate) description: String,
    /// In the syntax of the `regex` crate, for a builder with Unicode on.
    pub(crate) regex: String,
    /// The group that is the secret; the first that is not empty where it is 0.
    pub(crate) secret_group: usize,
    /// The secret's Shannon entropy must be above this, in bits a byte; 0 for no condition.
    pub(crate) entropy: f64,
    /// In lower case.
    pub(crate) keywords: Vec<String>,
    pub(crate) allowlists: Vec<AllowSource>,
}

/// What makes a match none.
#[derive(Debug, Clone)]
pub(crate) struct AllowSource {
    /// All of the conditions must hold, not one.
    pub(crate) all: bool,
    pub(crate) target: Target,
    pub(crate) regexes: Vec<String>,
    /// In lower case.
    pub(crate) stopwords: Vec<String>,
}

/// What the expressions of an allowlist are tried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Secret,
    Match,
    Line,
}

/// The rules of a file and of those that it extends.
pub(super) fn parse(
    table: Table,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
    notices: &mut Vec<String>,
) -> Result<Vec<GitleaksRule>, Error> {
    let config = Config::read(table, notices)?;
    let mut config = config.with_extended("", 0, read, notices)?;
    for (id, allowlist) in std::mem::take(&mut config.targeted) {
        match config.rules.iter_mut().find(|r| r.id == id) {
            Some(rule) => rule.allowlists.push(allowlist),
            None if config.use_default => {
                notices.push(format!("an allowlist for the rule {id}, which is not in the file, has no effect"));
            }
            None => return Err(rule_error(&id, "an allowlist names it, and it is not in the file")),
        }
    }
    if config.use_default && !config.allowlists.is_empty() {
        notices.push("the file's allowlists have effect on its own rules only".to_owned());
    }
    let global = std::mem::take(&mut config.allowlists);
    let mut rules = Vec::with_capacity(config.rules.len());
    for rule in config.rules {
        let Some(regex) = rule.regex else {
            match (rule.has_path, config.use_default) {
                (true, _) => notices.push(format!("rule {} looks at paths only and is left out", rule.id)),
                (false, true) => notices.push(format!(
                    "rule {} only changes a rule that comes with gitleaks and is left out: onrecord has rules of its own",
                    rule.id
                )),
                (false, false) => return Err(rule_error(&rule.id, "it has no regex")),
            }
            continue;
        };
        if rule.skip_report {
            notices.push(format!("rule {} is not to be reported and is left out", rule.id));
            continue;
        }
        let mut allowlists = rule.allowlists;
        allowlists.extend(global.iter().cloned());
        rules.push(GitleaksRule {
            description: rule.description.unwrap_or_else(|| rule.id.clone()),
            regex,
            secret_group: rule.secret_group,
            entropy: rule.entropy,
            keywords: rule.keywords,
            allowlists,
            id: rule.id,
        });
    }
    Ok(rules)
}

fn rule_error(id: &str, reason: impl Into<String>) -> Error {
    Error::Rule { id: id.to_owned(), reason: reason.into() }
}

/// One file.
struct Config {
    rules: Vec<RawRule>,
    allowlists: Vec<AllowSource>,
    /// Allowlists of one rule, which may be in an extended file.
    targeted: Vec<(String, AllowSource)>,
    path: Option<String>,
    use_default: bool,
    disabled: Vec<String>,
}

/// A rule as one file has it; what it does not say is taken from the file it extends.
struct RawRule {
    id: String,
    description: Option<String>,
    regex: Option<String>,
    has_path: bool,
    secret_group: usize,
    entropy: f64,
    keywords: Vec<String>,
    allowlists: Vec<AllowSource>,
    skip_report: bool,
}

impl Config {
    fn read(table: Table, notices: &mut Vec<String>) -> Result<Self, Error> {
        let syntax = |what: String| Error::RulesSyntax(what);
        let mut top = Fields::new(table).map_err(syntax)?;
        top.drop(&["title", "description", "minversion", "betterleaksminversion"]);
        for name in ["filter", "prefilter"] {
            if top.take(name).is_some() {
                notices.push(format!("`{name}` is an expression for another program and has no effect"));
            }
        }
        let mut config = Self {
            rules: Vec::new(),
            allowlists: Vec::new(),
            targeted: Vec::new(),
            path: None,
            use_default: false,
            disabled: Vec::new(),
        };
        if let Some(mut extend) = top.tables("extend").map_err(syntax)?.into_iter().next() {
            config.path = extend.string("path").map_err(syntax)?.filter(|p| !p.is_empty());
            config.use_default = extend.boolean("usedefault").map_err(syntax)?;
            config.disabled = extend.strings("disabledrules").map_err(syntax)?;
            if extend.string("url").map_err(syntax)?.is_some_and(|u| !u.is_empty()) {
                return Err(syntax(
                    "[extend] url: rules are not fetched from the network; save the file and use `path`".to_owned(),
                ));
            }
            if config.use_default && config.path.is_some() {
                return Err(syntax("[extend] has both `path` and `useDefault`".to_owned()));
            }
            extend.leftover("[extend]", notices);
        }
        if config.use_default && !config.disabled.is_empty() {
            notices.push(format!(
                "disabledRules ({}): the rules that come with onrecord stay",
                config.disabled.join(", ")
            ));
        }
        for allowlist in allowlists(&mut top).map_err(syntax)? {
            let (targets, allowlist) = allowlist_of(allowlist, "[[allowlists]]", notices).map_err(syntax)?;
            let Some(allowlist) = allowlist else { continue };
            if targets.is_empty() {
                config.allowlists.push(allowlist);
            } else {
                config.targeted.extend(targets.into_iter().map(|id| (id, allowlist.clone())));
            }
        }
        for rule in top.tables("rules").map_err(syntax)? {
            let rule = RawRule::read(rule, notices)?;
            if config.rules.iter().any(|r| r.id == rule.id) {
                return Err(rule_error(&rule.id, "the file has two rules of this id"));
            }
            config.rules.push(rule);
        }
        top.leftover("the file", notices);
        Ok(config)
    }

    /// With the rules of the file it extends: its own say what theirs do not, or what theirs say otherwise.
    fn with_extended(
        mut self,
        folder: &str,
        depth: usize,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
        notices: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let Some(path) = self.path.take() else { return Ok(self) };
        if depth == DEPTH {
            notices.push(format!("{path} is not read: at most {DEPTH} files may be extended"));
            return Ok(self);
        }
        let absolute = path.starts_with(['/', '\\']) || path.get(1..3).is_some_and(|p| matches!(p, ":\\" | ":/"));
        let path = if absolute || folder.is_empty() { path } else { format!("{folder}/{path}") };
        let text = read(&path).map_err(|why| Error::RulesSyntax(format!("[extend] path {path}: {why}")))?;
        let in_file = |error: Error| match error {
            Error::RulesSyntax(what) => Error::RulesSyntax(format!("{path}: {what}")),
            other => other,
        };
        let base = Self::read(table(&text).map_err(in_file)?, notices).map_err(in_file)?;
        let folder = path.rfind(['/', '\\']).and_then(|at| path.get(..at)).unwrap_or_default();
        let base = base.with_extended(folder, depth + 1, read, notices)?;
        for id in &self.disabled {
            if !base.rules.iter().any(|r| r.id == *id) {
                notices
                    .push(format!("disabledRules: {id} is no rule of {path}; the rules that come with onrecord stay"));
            }
        }
        for base in base.rules.into_iter().filter(|r| !self.disabled.contains(&r.id)) {
            match self.rules.iter_mut().find(|r| r.id == base.id) {
                Some(rule) => rule.complete(base),
                None => self.rules.push(base),
            }
        }
        self.allowlists.extend(base.allowlists);
        self.targeted.extend(base.targeted);
        self.use_default |= base.use_default;
        Ok(self)
    }
}

impl RawRule {
    fn read(mut fields: Fields, notices: &mut Vec<String>) -> Result<Self, Error> {
        let id = fields.string("id").map_err(Error::RulesSyntax)?.unwrap_or_default();
        if id.trim().is_empty() {
            return Err(Error::RulesSyntax("a rule has no id".to_owned()));
        }
        let refused = |reason: String| rule_error(&id, reason);
        let regex = fields.string("regex").map_err(refused)?.filter(|r| !r.is_empty());
        let regex = regex.map(|r| go_regex::translate(&r)).transpose().map_err(refused)?;
        let group = fields.number("secretgroup").map_err(refused)?;
        let secret_group = (0..=1000_u32).find(|n| f64::from(*n) == group);
        let secret_group = secret_group.ok_or_else(|| refused("`secretGroup` is no group's number".to_owned()))?;
        let mut keywords = fields.strings("keywords").map_err(refused)?;
        keywords.iter_mut().for_each(|k| *k = k.to_lowercase());
        let mut lists = Vec::new();
        for allowlist in allowlists(&mut fields).map_err(refused)? {
            let (targets, allowlist) =
                allowlist_of(allowlist, &format!("rule {id}: [[rules.allowlists]]"), notices).map_err(refused)?;
            if !targets.is_empty() {
                return Err(refused("an allowlist of a rule has `targetRules`".to_owned()));
            }
            lists.extend(allowlist);
        }
        let rule = Self {
            description: fields.string("description").map_err(refused)?.filter(|d| !d.is_empty()),
            regex,
            has_path: fields.string("path").map_err(refused)?.is_some_and(|p| !p.is_empty()),
            secret_group: usize::try_from(secret_group).unwrap_or_default(),
            entropy: fields.number("entropy").map_err(refused)?,
            keywords,
            allowlists: lists,
            skip_report: fields.boolean("skipreport").map_err(refused)?,
            id: id.clone(),
        };
        fields.drop(&["tags"]);
        if rule.has_path && rule.regex.is_some() {
            notices.push(format!("rule {id}: `path` has no effect, the rule is tried everywhere"));
        }
        for name in ["required", "filter", "validate", "tokenefficiency"] {
            if fields.take(name).is_some() {
                notices.push(format!("rule {id}: `{name}` has no effect, it may find more"));
            }
        }
        fields.leftover(&format!("rule {id}"), notices);
        Ok(rule)
    }

    /// Takes from `base` what it does not say itself.
    fn complete(&mut self, base: Self) {
        self.description = self.description.take().or(base.description);
        self.regex = self.regex.take().or(base.regex);
        self.has_path |= base.has_path;
        if self.secret_group == 0 {
            self.secret_group = base.secret_group;
        }
        if self.entropy == 0.0 {
            self.entropy = base.entropy;
        }
        self.keywords.extend(base.keywords);
        self.allowlists.extend(base.allowlists);
        self.skip_report |= base.skip_report;
    }
}

/// `[allowlist]`, as it was called first, or `[[allowlists]]`.
fn allowlists(fields: &mut Fields) -> Result<Vec<Fields>, String> {
    let old = fields.tables("allowlist")?;
    let new = fields.tables("allowlists")?;
    match (old.is_empty(), new.is_empty()) {
        (false, false) => Err("it has both `allowlist` and `allowlists`".to_owned()),
        (false, true) => Ok(old),
        _ => Ok(new),
    }
}

/// The rules it is for, if it is not for all, and what it allows; nothing where that cannot stand in a conversation.
fn allowlist_of(
    mut fields: Fields,
    place: &str,
    notices: &mut Vec<String>,
) -> Result<(Vec<String>, Option<AllowSource>), String> {
    let condition = fields.string("condition")?.unwrap_or_default().to_ascii_uppercase();
    let all = match condition.as_str() {
        "AND" | "&&" => true,
        "" | "OR" | "||" => false,
        other => return Err(format!("an allowlist's condition {other:?} is neither AND nor OR")),
    };
    let target = match fields.string("regextarget")?.unwrap_or_default().as_str() {
        "" | "secret" => Target::Secret,
        "match" => Target::Match,
        "line" => Target::Line,
        other => return Err(format!("an allowlist's regexTarget {other:?} is none of secret, match, line")),
    };
    let regexes = fields.strings("regexes")?;
    let regexes = regexes.iter().map(|r| go_regex::translate(r)).collect::<Result<Vec<_>, _>>()?;
    let stopwords: Vec<_> = fields.strings("stopwords")?.iter().map(|w| w.to_lowercase()).collect();
    let elsewhere = !fields.strings("paths")?.is_empty() | !fields.strings("commits")?.is_empty();
    let targets = fields.strings("targetrules")?;
    fields.drop(&["description"]);
    fields.leftover(place, notices);
    if elsewhere && (all || (regexes.is_empty() && stopwords.is_empty())) {
        notices.push(format!("{place}: an allowlist of paths or commits has no effect"));
        return Ok((targets, None));
    }
    let empty = regexes.is_empty() && stopwords.is_empty();
    Ok((targets, (!empty).then_some(AllowSource { all, target, regexes, stopwords })))
}

/// The keys of a table, in lower case, taken out one by one.
struct Fields(Table);

impl Fields {
    fn new(table: Table) -> Result<Self, String> {
        let mut fields = Table::new();
        for (key, value) in table {
            let name = key.to_ascii_lowercase();
            if fields.insert(name, value).is_some() {
                return Err(format!("`{key}` is given twice"));
            }
        }
        Ok(Self(fields))
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    fn drop(&mut self, names: &[&str]) {
        for name in names {
            self.0.remove(*name);
        }
    }

    fn string(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` is no string")),
        }
    }

    fn strings(&mut self, name: &str) -> Result<Vec<String>, String> {
        let refused = || format!("`{name}` is no list of strings");
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text]),
            Some(Value::Array(list)) => {
                let text = |value: Value| if let Value::String(text) = value { Ok(text) } else { Err(refused()) };
                list.into_iter().map(text).collect()
            }
            Some(_) => Err(refused()),
        }
    }

    fn number(&mut self, name: &str) -> Result<f64, String> {
        match self.take(name) {
            None => Ok(0.0),
            Some(Value::Float(number)) => Ok(number),
            Some(Value::Integer(number)) => {
                i32::try_from(number).map(f64::from).map_err(|_| format!("`{name}` is too large"))
            }
            Some(_) => Err(format!("`{name}` is no number")),
        }
    }

    fn boolean(&mut self, name: &str) -> Result<bool, String> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Boolean(value)) => Ok(value),
            Some(_) => Err(format!("`{name}` is neither true nor false")),
        }
    }

    /// A table, or a list of them.
    fn tables(&mut self, name: &str) -> Result<Vec<Self>, String> {
        let refused = || format!("`{name}` is no table");
        let table = |value: Value| if let Value::Table(table) = value { Self::new(table) } else { Err(refused()) };
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => list.into_iter().map(table).collect(),
            Some(value) => Ok(vec![table(value)?]),
        }
    }

    /// Says what was not taken.
    fn leftover(&self, place: &str, notices: &mut Vec<String>) {
        for name in self.0.keys() {
            notices.push(format!("{place}: `{name}` is not known and has no effect"));
        }
    }
}
