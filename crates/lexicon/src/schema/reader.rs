//! Walks a document, remembers where it is, and collects what is wrong.

use crate::{
    error::Problem,
    lint::LintRule,
    path::{Path, quoted},
    syntax::is_valid_language,
    view::{Data, View},
};

/// Everything found so far.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) problems: Vec<Problem>,
    pub(crate) notes: Vec<Problem>,
}

/// One object of the document.
pub(super) struct Reader<'r, D> {
    pub(super) value: D,
    pub(super) path: &'r Path<'r>,
    pub(super) out: &'r mut Findings,
}

impl<'v, D: Data<'v>> Reader<'_, D> {
    /// What makes the document unusable.
    pub(super) fn problem(&mut self, at: Option<&str>, message: impl Into<String>) {
        self.breaks(LintRule::LexiconSchema, at, message);
    }

    /// The same, where there is a rule of its own for it.
    pub(super) fn breaks(&mut self, rule: LintRule, at: Option<&str>, message: impl Into<String>) {
        let path = self.place(at);
        self.out.problems.push(Problem { rule, path, message: message.into() });
    }

    /// What is passed over.
    pub(super) fn note(&mut self, rule: LintRule, at: Option<&str>, message: impl Into<String>) {
        let path = self.place(at);
        self.out.notes.push(Problem { rule, path, message: message.into() });
    }

    fn place(&self, at: Option<&str>) -> String {
        at.map_or_else(|| self.path.to_string(), |name| self.path.name(name).to_string())
    }

    /// Notes every attribute that is none of `known`.
    pub(super) fn expect_only(&mut self, known: &[&str]) {
        let View::Object(fields) = self.value.view() else { return };
        for (name, _) in fields {
            let is_translation = name.split_once(':').is_some_and(|(base, _)| known.contains(&base));
            if !known.contains(&name) && !is_translation && !matches!(name, "type" | "description" | "$type") {
                let message = match meant(name).filter(|meant| known.contains(meant)) {
                    Some(meant) => format!("the language has no such attribute here; `{meant}` may be meant"),
                    None => "the language has no such attribute here".to_owned(),
                };
                self.note(LintRule::UnknownAttribute, Some(name), message);
            }
        }
    }

    pub(super) fn optional_string(&mut self, name: &str) -> Option<&'v str> {
        match self.value.field(name)?.view() {
            View::String(s) => Some(s),
            _ => {
                self.problem(Some(name), "a string is expected");
                None
            }
        }
    }

    pub(super) fn string(&mut self, name: &str) -> Option<&'v str> {
        if self.value.field(name).is_none() {
            self.problem(None, format!("`{name}` is missing"));
        }
        self.optional_string(name)
    }

    pub(super) fn description(&mut self) -> Option<String> {
        self.optional_string("description").map(str::to_owned)
    }

    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        match self.value.field(name)?.view() {
            View::Bool(b) => Some(b),
            _ => {
                self.problem(Some(name), "a boolean is expected");
                None
            }
        }
    }

    pub(super) fn integer(&mut self, name: &str) -> Option<i64> {
        match self.value.field(name)?.view() {
            View::Integer(i) => Some(i),
            _ => {
                self.problem(Some(name), "an integer is expected");
                None
            }
        }
    }

    /// A size or length.
    pub(super) fn amount(&mut self, name: &str) -> Option<u64> {
        let integer = self.integer(name)?;
        let amount = u64::try_from(integer).ok();
        if amount.is_none() {
            self.problem(Some(name), "it is below zero");
        }
        amount
    }

    /// An array of `what`, of which `pick` takes one.
    fn list<T>(&mut self, name: &str, what: &str, pick: impl Fn(D) -> Option<T>) -> Option<Vec<T>> {
        let View::Array(items) = self.value.field(name)?.view() else {
            self.problem(Some(name), format!("an array of {what} is expected"));
            return None;
        };
        let mut list = Vec::with_capacity(items.len().min(64));
        for (i, item) in items.enumerate() {
            match pick(item) {
                Some(value) => list.push(value),
                None => {
                    let path = self.path.name(name).index(i).to_string();
                    let message = format!("one of the {what} is expected");
                    self.out.problems.push(Problem { rule: LintRule::LexiconSchema, path, message });
                }
            }
        }
        Some(list)
    }

    pub(super) fn strings(&mut self, name: &str) -> Option<Vec<String>> {
        self.list(name, "strings", |item| match item.view() {
            View::String(s) => Some(s.to_owned()),
            _ => None,
        })
    }

    pub(super) fn integers(&mut self, name: &str) -> Option<Vec<i64>> {
        self.list(name, "integers", |item| match item.view() {
            View::Integer(i) => Some(i),
            _ => None,
        })
    }

    /// Reads the object `name` with `read`.
    pub(super) fn inside<T>(&mut self, name: &str, read: impl FnOnce(&mut Reader<'_, D>) -> Option<T>) -> Option<T> {
        let value = self.value.field(name)?;
        self.at(name, value, read)
    }

    /// Reads the member `name`, an object, whose value is `value`.
    pub(super) fn at<T>(
        &mut self,
        name: &str,
        value: D,
        read: impl FnOnce(&mut Reader<'_, D>) -> Option<T>,
    ) -> Option<T> {
        if !matches!(value.view(), View::Object(_)) {
            self.problem(Some(name), "an object is expected");
            return None;
        }
        read(&mut Reader { value, path: &self.path.name(name), out: self.out })
    }

    pub(super) fn foreign(&mut self, rule: LintRule, what: &str, name: &str) {
        self.note(rule, None, format!("the language has no {what} {}; it is not checked", quoted(name)));
    }

    /// The translations of the text `name`, by language.
    pub(super) fn translations(&mut self, name: &str) -> Vec<(String, String)> {
        let mut translations = Vec::new();
        self.inside(name, |reader| {
            let View::Object(fields) = reader.value.view() else { return None };
            for (language, text) in fields {
                if !is_valid_language(language) {
                    reader.note(LintRule::LexiconSchema, Some(language), "this is no language tag");
                }
                match text.view() {
                    View::String(text) => translations.push((language.to_owned(), text.to_owned())),
                    _ => reader.problem(Some(language), "a string is expected"),
                }
            }
            Some(())
        });
        translations
    }
}

/// What the language calls that which other schema languages call `name`.
fn meant(name: &str) -> Option<&'static str> {
    Some(match name {
        "maxItems" | "maxBytes" | "maxlength" | "max_length" => "maxLength",
        "minItems" | "minBytes" | "minlength" | "min_length" => "minLength",
        "maxgraphemes" => "maxGraphemes",
        "min" | "exclusiveMinimum" => "minimum",
        "max" | "exclusiveMaximum" => "maximum",
        "values" | "known_values" | "knownvalues" => "knownValues",
        "$ref" => "ref",
        "anyOf" | "oneOf" => "refs",
        "mimeTypes" | "contentTypes" => "accept",
        _ => return None,
    })
}
