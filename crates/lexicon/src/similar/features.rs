//! What a lexicon is taken for when it is compared: a bag of features.

use std::collections::BTreeMap;

use super::{
    meaning,
    words::{self, Word},
};
use crate::{
    schema::{DefKind, Lexicon, ObjectType, Type, full_name, resolve_ref, split_ref},
    syntax::is_valid_nsid,
};

/// How many kinds there are.
pub(super) const KINDS: usize = 7;

/// Types nest no deeper where this is asked for.
const MAX_DEPTH: u32 = 64;

/// How much less each word of a description counts than the one before.
const LATER: f32 = 0.85;

/// What kind of feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// A word of a description.
    Text,
    /// What a word stands for, wherever it is.
    Meaning,
    /// A word in the name of a property or definition.
    Names,
    /// A property, by name and type.
    Properties,
    /// A word of the NSID.
    Nsid,
    /// A definition of another document, or one's own name.
    Refs,
    /// Four letters of a word in the NSID or in a name.
    Parts,
}

/// The features of a lexicon or a sentence.
#[derive(Default)]
pub(super) struct Bag {
    /// How often, or how much, each is there; words without their endings.
    pub(super) features: BTreeMap<(Kind, String), f32>,
    /// Words as they are written, by how they are among the features.
    pub(super) written: BTreeMap<String, String>,
}

impl Bag {
    fn add(&mut self, kind: Kind, text: String, count: f32) {
        *self.features.entry((kind, text)).or_default() += count;
    }

    /// A word, and what it stands for; one that stands for several things stands for each of them the less.
    fn word(&mut self, kind: Kind, word: Word, count: f32) {
        for (concept, share) in meaning::of(&word.stem) {
            self.add(Kind::Meaning, concept.to_owned(), count * share);
        }
        self.add(kind, word.stem.clone(), count);
        self.written.entry(word.stem).or_insert(word.written);
    }

    fn parts(&mut self, word: &Word, count: f32) {
        for part in words::parts(&word.stem) {
            self.add(Kind::Parts, part, count);
        }
    }
}

pub(super) fn of_lexicon(lexicon: &Lexicon) -> Bag {
    let mut collector = Collector { nsid: lexicon.id.as_str(), bag: Bag::default() };
    collector.text(lexicon.description.as_deref(), 2.0);
    collector.name(lexicon);
    for (name, def) in &lexicon.defs {
        let is_main = name == "main";
        collector.text(def.description.as_deref(), if is_main { 3.0 } else { 1.0 });
        if !is_main {
            collector.named(name, 1.0);
        }
        match &def.kind {
            DefKind::Record(record) => {
                collector.text(record.description.as_deref(), 1.0);
                collector.object(&record.object, 0);
            }
            DefKind::Endpoint(endpoint) => {
                collector.endpoint_parts(endpoint);
            }
            DefKind::PermissionSet(set) => {
                collector.text(set.title.as_deref(), 2.0);
                collector.text(set.detail.as_deref(), 2.0);
                for subject in set.permissions.iter().flat_map(|permission| &permission.subjects) {
                    collector.bag.add(Kind::Refs, subject.clone(), 1.0);
                }
            }
            DefKind::Type(ty) => collector.ty(ty, 0),
            DefKind::Foreign(_) => {}
        }
    }
    collector.bag
}

/// A sentence could be a description, a list of properties or a name.
pub(super) fn of_sentence(sentence: &str) -> Bag {
    let mut bag = Bag::default();
    for word in words::words(sentence) {
        bag.parts(&word, 1.0);
        for kind in [Kind::Names, Kind::Nsid] {
            bag.add(kind, word.stem.clone(), 1.0);
        }
        bag.word(Kind::Text, word, 1.0);
    }
    bag
}

struct Collector<'c> {
    nsid: &'c str,
    bag: Bag,
}

impl Collector<'_> {
    /// A description; one that matters more counts more.
    fn text(&mut self, text: Option<&str>, weight: f32) {
        let Some(text) = text else { return };
        let mut share = weight;
        for word in words::words(text) {
            self.bag.word(Kind::Text, word, share);
            // A description begins with what it is of.
            share *= LATER;
        }
        let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '#')));
        for name in names.map(|name| name.trim_matches(['.', '-', '#'])) {
            if is_valid_nsid(split_ref(name).0) {
                self.bag.add(Kind::Refs, name.to_owned(), 1.0);
            }
        }
    }

    /// The document's own name: its last part above all, the domain's first not at all.
    fn name(&mut self, lexicon: &Lexicon) {
        self.bag.add(Kind::Refs, self.nsid.to_owned(), 1.0);
        let group = lexicon.id.authority().split('.').skip(1).map(|segment| (segment, 1.0));
        for (segment, weight) in group.chain([(lexicon.id.name(), 3.0)]) {
            for word in words::name_words(segment) {
                self.bag.parts(&word, weight);
                self.bag.word(Kind::Nsid, word, weight);
            }
        }
    }

    /// The name of a property or a definition.
    fn named(&mut self, name: &str, weight: f32) {
        for word in words::name_words(name) {
            self.bag.parts(&word, weight);
            self.bag.word(Kind::Names, word, weight);
        }
    }

    fn endpoint_parts(&mut self, endpoint: &crate::schema::Endpoint) {
        self.text(endpoint.parameters_description.as_deref(), 1.0);
        if let Some(params) = &endpoint.parameters {
            self.object(params, 0);
        }
        for body in endpoint.input.iter().chain(&endpoint.output) {
            self.text(body.description.as_deref(), 1.0);
            if let Some(schema) = &body.schema {
                self.ty(&schema.ty, 0);
            }
        }
        if let Some(message) = &endpoint.message {
            self.text(message.description.as_deref(), 1.0);
            self.ty(&message.ty, 0);
        }
    }

    fn object(&mut self, object: &ObjectType, depth: u32) {
        for (name, schema) in &object.properties {
            self.named(name, 1.0);
            self.text(schema.description.as_deref(), 0.5);
            self.bag.add(Kind::Properties, format!("{name} ({})", shape(&schema.ty)), 1.0);
            self.ty(&schema.ty, depth + 1);
        }
    }

    fn ty(&mut self, ty: &Type, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        match ty {
            Type::Object(object) => self.object(object, depth + 1),
            Type::Array { items, .. } => {
                self.text(items.description.as_deref(), 0.5);
                self.ty(&items.ty, depth + 1);
            }
            Type::Ref(target) => self.target(target),
            Type::Union { refs, .. } => refs.iter().for_each(|target| self.target(target)),
            Type::String(string) => {
                for value in string.known_values.iter().chain(&string.values).flatten() {
                    for word in words::words(value) {
                        // What a value stands for is not what the lexicon is for.
                        self.bag.add(Kind::Text, word.stem, 0.5);
                    }
                }
            }
            _ => {}
        }
    }

    fn target(&mut self, target: &str) {
        let full = resolve_ref(self.nsid, target);
        let (nsid, name) = split_ref(&full);
        if nsid == self.nsid {
            self.named(name, 0.5);
        } else {
            self.bag.add(Kind::Refs, full_name(nsid, name), 1.0);
        }
    }
}

/// A type in a word or two.
fn shape(ty: &Type) -> String {
    match ty {
        Type::String(string) => string.format.as_ref().map_or("string", |format| format.name()).to_owned(),
        Type::Array { items, .. } => format!("array of {}", items.ty.name()),
        ty => ty.name().to_owned(),
    }
}
