//! A set of lexicons, made ready once to hold records against.
//!
//! References are resolved to indices when the catalog is built, names to perfect hashes; nothing is looked up,
//! cloned or allocated while a valid record is checked.

mod bundled;
mod call;
mod compile;
mod names;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    error::{Error, UnknownLexicon},
    schema::{KeyRule, Lexicon},
};

pub(crate) use call::CallChecks;
pub(crate) use compile::{BlobCheck, Bounds, Check, IntegerCheck, ObjectCheck, TextCheck, UnionCheck};
pub(crate) use names::{Names, fingerprint};

/// Lexicons, ready for use.
#[derive(Debug)]
pub struct Catalog {
    lexicons: BTreeMap<String, Lexicon>,
    defs: Vec<Compiled>,
    /// Every definition by its full name.
    ids: HashMap<String, u32>,
    records: HashMap<Box<str>, u32>,
    calls: HashMap<Box<str>, CallChecks>,
    unresolved: BTreeSet<String>,
}

/// A definition, ready for use.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) check: Check,
    /// Of a record: what its keys look like.
    pub(crate) key: Option<KeyRule>,
    /// Whether a value can be of it.
    pub(crate) is_type: bool,
}

impl Catalog {
    /// An empty catalog to fill.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The lexicons this program writes, reads or defines, as they stand in its `lexicons` folder.
    #[must_use]
    pub fn bundled() -> &'static Self {
        bundled::catalog()
    }

    /// A lexicon by its NSID.
    #[must_use]
    pub fn lexicon(&self, nsid: &str) -> Option<&Lexicon> {
        self.lexicons.get(nsid)
    }

    /// All of them, by NSID.
    pub fn lexicons(&self) -> impl ExactSizeIterator<Item = &Lexicon> {
        self.lexicons.values()
    }

    /// Names that are referred to and not here: what is still to be resolved, as `nsid` or `nsid#name`.
    pub fn unresolved(&self) -> impl ExactSizeIterator<Item = &str> {
        self.unresolved.iter().map(String::as_str)
    }

    pub(crate) fn def(&self, id: u32) -> Option<&Compiled> {
        self.defs.get(id as usize)
    }

    /// The definition of the full name `full`, if values can be of it.
    pub(crate) fn type_def(&self, full: &str) -> Option<&Compiled> {
        self.def(*self.ids.get(full)?).filter(|def| def.is_type)
    }

    /// The record schema `nsid`.
    pub(crate) fn record(&self, nsid: &str) -> Result<&Compiled, UnknownLexicon> {
        self.records
            .get(nsid)
            .and_then(|&id| self.def(id))
            .ok_or_else(|| UnknownLexicon { nsid: nsid.to_owned(), is_known: self.lexicons.contains_key(nsid) })
    }
}

/// Collects lexicons for a [`Catalog`]. Of two with the same NSID the later one counts.
#[derive(Debug, Default)]
pub struct Builder {
    lexicons: BTreeMap<String, Lexicon>,
}

impl Builder {
    /// Adds a document. `name`, such as the file's, is for messages.
    ///
    /// # Errors
    /// As [`Lexicon::parse`].
    pub fn add_json(&mut self, name: &str, document: &[u8]) -> Result<&mut Self, Error> {
        Ok(self.add(Lexicon::parse(name, document)?))
    }

    /// Adds a lexicon.
    pub fn add(&mut self, lexicon: Lexicon) -> &mut Self {
        self.lexicons.insert(lexicon.id.as_str().to_owned(), lexicon);
        self
    }

    /// Adds the lexicons of [`Catalog::bundled`].
    pub fn add_bundled(&mut self) -> &mut Self {
        for lexicon in Catalog::bundled().lexicons() {
            self.add(lexicon.clone());
        }
        self
    }

    /// Resolves all references. Those that lead nowhere are listed by [`Catalog::unresolved`]; what they stand for
    /// cannot be checked, which a record that uses them is told.
    #[must_use]
    pub fn build(self) -> Catalog {
        compile::compile(self.lexicons)
    }
}
