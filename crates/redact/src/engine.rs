//! The engine: everything that looks for what must not be published, compiled once.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};

use crate::{
    Error, Shared, Tier,
    detect::{Compile, Entropy, KeywordRules, Known, Named, Patterns, Personal},
    known::{OwnSecret, Person},
    rules::{self, RulesFile, Source, WordList},
    scan::is_secret,
};

/// The engine's version: it changes whenever the same rules may find something else.
pub const ENGINE_VERSION: u32 = 3;

/// What a finding may be, whichever detector found it.
#[derive(Debug, Clone)]
pub(crate) struct Kind {
    pub(crate) id: Shared,
    pub(crate) name: Shared,
    pub(crate) tier: Tier,
    pub(crate) blocking: bool,
    pub(crate) allowable: bool,
    /// Changes with whatever decides what is found as this; decisions to allow are bound to it.
    pub(crate) definition: Definition,
}

/// The first bytes of the SHA-256 of what defines a [`Kind`].
pub(crate) type Definition = [u8; 8];

/// A digest of `parts`, in order.
pub(crate) fn definition<'a>(parts: impl IntoIterator<Item = &'a str>) -> Definition {
    let mut sha = Sha256::new();
    for part in parts {
        sha.update(part.len().to_le_bytes());
        sha.update(part);
    }
    let digest = sha.finalize();
    let mut out = Definition::default();
    for (to, from) in out.iter_mut().zip(digest) {
        *to = from;
    }
    out
}

/// All rules and detectors, compiled. Cheap to clone.
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) keyword: KeywordRules,
    pub(crate) named: Named,
    pub(crate) entropy: Entropy,
    pub(crate) personal: Personal,
    pub(crate) known: Known,
    pub(crate) patterns: Patterns,
    /// Rules of the person's own may be of the tiers that the last gate looks for.
    pub(crate) patterns_hold_secrets: bool,
    pub(crate) views: bool,
    provider_rules: usize,
    hash: String,
}

impl Engine {
    /// The engine with the rules that come with the program, and nothing known of the person.
    ///
    /// # Errors
    /// See [`EngineBuilder::build`].
    pub fn builtin() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// An engine to be told what else to look for.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// How many rules with a pattern of their own it has.
    #[must_use]
    pub fn rule_count(&self) -> usize {
        self.0.provider_rules
    }

    /// SHA-256 of the rules in force, in hexadecimal: the same hash, the same findings. Says nothing of the person's own
    /// secrets and words.
    #[must_use]
    pub fn rules_hash(&self) -> &str {
        &self.0.hash
    }

    pub(crate) fn kind(&self, index: usize) -> Option<&Kind> {
        self.0.kinds.get(index)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("rules_hash", &self.0.hash).finish_non_exhaustive()
    }
}

/// What an [`Engine`] is made of.
#[derive(Default)]
pub struct EngineBuilder {
    files: Vec<RulesFile>,
    deny: Vec<String>,
    words: Vec<WordList>,
    own: Vec<OwnSecret>,
    person: Person,
    without_views: bool,
    all_now: bool,
}

impl EngineBuilder {
    /// Adds the rules of a file (tier G unless the file says otherwise).
    #[must_use]
    pub fn rules(mut self, file: RulesFile) -> Self {
        self.files.push(file);
        self
    }

    /// Adds a regular expression that must stand nowhere (tier G). It blocks and cannot be allowed.
    #[must_use]
    pub fn deny(mut self, pattern: impl Into<String>) -> Self {
        self.deny.push(pattern.into());
        self
    }

    /// Adds words that should stand nowhere (tier G). They block.
    #[must_use]
    pub fn words(mut self, list: WordList) -> Self {
        self.words.push(list);
        self
    }

    /// Adds the person's own secrets (tier A).
    #[must_use]
    pub fn own_secrets(mut self, secrets: impl IntoIterator<Item = OwnSecret>) -> Self {
        self.own.extend(secrets);
        self
    }

    /// Says who the person is (tier F).
    #[must_use]
    pub fn person(mut self, person: Person) -> Self {
        self.person = person;
        self
    }

    /// Compiles every rule at once and not when it is first needed: for measuring what that takes.
    #[must_use]
    pub fn compile_all_now(mut self) -> Self {
        self.all_now = true;
        self
    }

    /// Looks at texts only as they are: for measuring what the views cost. Never for publishing.
    #[must_use]
    pub fn without_views(mut self) -> Self {
        self.without_views = true;
        self
    }

    /// Compiles everything; the rules that come with the program when they are first needed. [`Engine::self_test`] tries the
    /// engine before anything is published.
    ///
    /// # Errors
    /// A rule of the person's own cannot be compiled, or a rules file is empty.
    pub fn build(self) -> Result<Engine, Error> {
        let when = if self.all_now { Compile::Now } else { Compile::WhenNeeded };
        self.assemble(rules::builtin()?, when)
    }

    /// [`Self::build`] with other rules than those that come with the program.
    pub(crate) fn build_from(self, provider: Vec<Source>) -> Result<Engine, Error> {
        self.assemble(provider, Compile::Now)
    }

    fn assemble(self, provider: Vec<Source>, when: Compile) -> Result<Engine, Error> {
        let mut kinds = Vec::new();
        let keyword = KeywordRules::compile(provider, when, &mut kinds)?;
        let provider_rules = kinds.len();
        let named = Named::new(&mut kinds);
        let entropy = Entropy::new(&mut kinds);
        let personal = Personal::new(&self.person, &mut kinds)?;
        let known = Known::new(&self.own, &mut kinds)?;
        let own_rules = kinds.len();
        let patterns = Patterns::new(self.files, &self.deny, self.words, &mut kinds)?;
        let patterns_hold_secrets = kinds.iter().skip(own_rules).any(|kind| is_secret(kind.tier));
        let hash = hash_of(&kinds);
        let views = !self.without_views;
        let inner = Inner {
            kinds,
            keyword,
            named,
            entropy,
            personal,
            known,
            patterns,
            patterns_hold_secrets,
            views,
            provider_rules,
            hash,
        };
        Ok(Engine(Arc::new(inner)))
    }
}

fn hash_of(kinds: &[Kind]) -> String {
    let mut sha = Sha256::new();
    sha.update(ENGINE_VERSION.to_le_bytes());
    // Not the person's own secrets: their number would tell something.
    for kind in kinds.iter().filter(|k| k.tier != Tier::A) {
        sha.update(kind.id.len().to_le_bytes());
        sha.update(kind.id.as_bytes());
        sha.update(kind.definition);
    }
    sha.finalize().iter().map(|b| format!("{b:02x}")).collect()
}
