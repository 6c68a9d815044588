//! Walks two documents side by side.

use std::{collections::BTreeSet, fmt::Display};

use super::{Change, CompatRule};
use crate::{
    path::{Path, quoted},
    schema::{
        Body, Def, DefKind, Endpoint, IntegerType, Length, Lexicon, ObjectType, PermissionSet, Schema, StringType,
        Type, resolve_ref,
    },
};

pub(super) fn compare(before: &Lexicon, after: &Lexicon) -> Vec<Change> {
    let root = Path::root();
    let mut walker =
        Walker { before: before.id.as_str(), after: after.id.as_str(), def: String::new(), out: Vec::new() };
    if before.id != after.id {
        walker.change(None, &root.name("id"), format!("the name is {}, was {}", after.id, before.id));
    }
    walker.described(before.description.as_deref(), after.description.as_deref(), &root);
    let defs = root.name("defs");
    for (name, old) in &before.defs {
        walker.def.clone_from(name);
        let at = defs.name(name);
        match after.def(name) {
            Some(new) => walker.def(old, new, &at),
            None => {
                let message = format!("the {} {} is gone", old.kind.name(), quoted(name));
                walker.change(Some(CompatRule::DefinitionRemoved), &at, message);
            }
        }
    }
    for (name, new) in after.defs.iter().filter(|(name, _)| before.def(name).is_none()) {
        walker.def.clone_from(name);
        walker.change(None, &defs.name(name), format!("the {} {} is new", new.kind.name(), quoted(name)));
    }
    walker.out
}

struct Walker<'w> {
    /// What references without an NSID are of.
    before: &'w str,
    after: &'w str,
    def: String,
    out: Vec<Change>,
}

impl Walker<'_> {
    fn change(&mut self, rule: Option<CompatRule>, at: &Path<'_>, message: String) {
        self.out.push(Change { def: self.def.clone(), path: at.to_string(), message, rule });
    }

    fn described(&mut self, old: Option<&str>, new: Option<&str>, at: &Path<'_>) {
        let message = match (old, new) {
            (None, Some(_)) => "there is a description",
            (Some(_), None) => "the description is gone",
            (Some(old), Some(new)) if old != new => "the description is another",
            _ => return,
        };
        self.change(None, &at.name("description"), message.to_owned());
    }

    /// Says that an attribute with one value has another, or none.
    fn value<T: PartialEq + Display>(
        &mut self,
        rule: Option<CompatRule>,
        name: &str,
        old: Option<T>,
        new: Option<T>,
        at: &Path<'_>,
    ) {
        let message = match (old, new) {
            (None, Some(new)) => format!("`{name}` is {new}, and was not set"),
            (Some(old), None) => format!("`{name}` was {old}, and is not set"),
            (Some(old), Some(new)) if old != new => format!("`{name}` is {new}, was {old}"),
            _ => return,
        };
        self.change(rule, &at.name(name), message);
    }

    /// Says what an attribute with a set of values has more and has less.
    fn set<T: Ord + Display>(
        &mut self,
        rule: Option<CompatRule>,
        name: &str,
        (old, new): (Option<&[T]>, Option<&[T]>),
        at: &Path<'_>,
    ) {
        let has_changed = old.is_some() != new.is_some();
        let set = |list: Option<&[T]>| -> BTreeSet<String> {
            list.unwrap_or_default().iter().map(|value| quoted(&value.to_string())).collect()
        };
        let (old, new) = (set(old), set(new));
        let list = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>().join(", ");
        let (more, less) = (list(&new, &old), list(&old, &new));
        let message = match (more.is_empty(), less.is_empty()) {
            (false, true) => format!("`{name}` has {more} besides"),
            (true, false) => format!("`{name}` has no {less} any more"),
            (false, false) => format!("`{name}` has {more} besides, and no {less} any more"),
            (true, true) if has_changed => format!("`{name}` is empty, or was"),
            (true, true) => return,
        };
        self.change(rule, &at.name(name), message);
    }

    fn def(&mut self, old: &Def, new: &Def, at: &Path<'_>) {
        self.described(old.description.as_deref(), new.description.as_deref(), at);
        match (&old.kind, &new.kind) {
            (DefKind::Record(old), DefKind::Record(new)) => {
                let (a, b) = (old.key.as_written(), new.key.as_written());
                self.value(Some(CompatRule::RecordKeyType), "key", Some(a), Some(b), at);
                let at = at.name("record");
                self.described(old.description.as_deref(), new.description.as_deref(), &at);
                self.object(&old.object, &new.object, CompatRule::ObjectRequired, &at);
            }
            (DefKind::Endpoint(old), DefKind::Endpoint(new)) if old.kind == new.kind => self.endpoint(old, new, at),
            (DefKind::PermissionSet(old), DefKind::PermissionSet(new)) => self.permission_set(old, new, at),
            (DefKind::Type(old), DefKind::Type(new)) => self.ty(old, new, at),
            (old, new) => self.kind(old.name(), new.name(), at),
        }
    }

    fn kind(&mut self, old: &str, new: &str, at: &Path<'_>) {
        if old != new {
            let message = format!("the type is {}, was {}", quoted(new), quoted(old));
            self.change(Some(CompatRule::TypeChange), at, message);
        }
    }

    fn endpoint(&mut self, old: &Endpoint, new: &Endpoint, at: &Path<'_>) {
        let none = ObjectType::default();
        let params = at.name("parameters");
        self.described(old.parameters_description.as_deref(), new.parameters_description.as_deref(), &params);
        let (a, b) = (old.parameters.as_ref().unwrap_or(&none), new.parameters.as_ref().unwrap_or(&none));
        self.object(a, b, CompatRule::ParamsRequired, &params);
        self.body(old.input.as_ref(), new.input.as_ref(), &at.name("input"));
        self.body(old.output.as_ref(), new.output.as_ref(), &at.name("output"));
        self.schema_at("schema", old.message.as_ref(), new.message.as_ref(), &at.name("message"));
        let names = |endpoint: &Endpoint| endpoint.errors.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        self.set(None, "errors", (Some(&names(old)), Some(&names(new))), at);
    }

    fn body(&mut self, old: Option<&Body>, new: Option<&Body>, at: &Path<'_>) {
        let encoding = |body: Option<&Body>| body.map(|body| body.encoding.clone());
        let (a, b) = (encoding(old), encoding(new));
        self.value(Some(CompatRule::BodyEncoding), "encoding", a, b, at);
        if let (Some(old), Some(new)) = (old, new) {
            self.described(old.description.as_deref(), new.description.as_deref(), at);
            self.schema_at("schema", old.schema.as_ref(), new.schema.as_ref(), at);
        }
    }

    fn schema_at(&mut self, name: &str, old: Option<&Schema>, new: Option<&Schema>, at: &Path<'_>) {
        let at = at.name(name);
        match (old, new) {
            (Some(old), Some(new)) => self.schema(old, new, &at),
            (None, Some(_)) => self.change(None, &at, "there is a schema".to_owned()),
            (Some(_), None) => self.change(Some(CompatRule::TypeChange), &at, "the schema is gone".to_owned()),
            (None, None) => {}
        }
    }

    fn permission_set(&mut self, old: &PermissionSet, new: &PermissionSet, at: &Path<'_>) {
        let text = |text: &Option<String>| text.as_deref().map(quoted);
        self.value(None, "title", text(&old.title), text(&new.title), at);
        self.value(None, "detail", text(&old.detail), text(&new.detail), at);
        let list = |set: &PermissionSet| -> Vec<String> {
            let line = |p: &crate::schema::Permission| {
                let all = |list: &[String]| list.join(" ");
                format!("{} {} {}", p.resource, all(&p.subjects), all(&p.actions)).trim_end().to_owned()
            };
            set.permissions.iter().map(line).collect()
        };
        self.set(None, "permissions", (Some(&list(old)), Some(&list(new))), at);
    }

    fn schema(&mut self, old: &Schema, new: &Schema, at: &Path<'_>) {
        self.described(old.description.as_deref(), new.description.as_deref(), at);
        self.ty(&old.ty, &new.ty, at);
    }

    fn ty(&mut self, old: &Type, new: &Type, at: &Path<'_>) {
        match (old, new) {
            (Type::Boolean { constant: old_const, default: old_default }, Type::Boolean { constant, default }) => {
                self.value(Some(CompatRule::ConstValue), "const", *old_const, *constant, at);
                self.value(None, "default", *old_default, *default, at);
            }
            (Type::Integer(old), Type::Integer(new)) => self.integer(old, new, at),
            (Type::String(old), Type::String(new)) => self.string(old, new, at),
            (Type::Bytes(old), Type::Bytes(new)) => {
                self.length(CompatRule::BytesLength, ("minLength", "maxLength"), *old, *new, at);
            }
            (Type::Blob { accept: old_accept, max_size: old_size }, Type::Blob { accept, max_size }) => {
                let lists = (old_accept.as_deref(), accept.as_deref());
                self.set(Some(CompatRule::BlobAccept), "accept", lists, at);
                self.value(Some(CompatRule::BlobSize), "maxSize", *old_size, *max_size, at);
            }
            (Type::Array { items: old_items, length: old_length }, Type::Array { items, length }) => {
                self.length(CompatRule::ArrayLength, ("minLength", "maxLength"), *old_length, *length, at);
                self.schema(old_items, items, &at.name("items"));
            }
            (Type::Object(old), Type::Object(new)) => self.object(old, new, CompatRule::ObjectRequired, at),
            (Type::Ref(old), Type::Ref(new)) => {
                let (a, b) = (resolve_ref(self.before, old), resolve_ref(self.after, new));
                self.value(Some(CompatRule::RefChange), "ref", Some(quoted(&a)), Some(quoted(&b)), at);
            }
            (Type::Union { refs: old_refs, closed: old_closed }, Type::Union { refs, closed }) => {
                if old_closed != closed {
                    let message =
                        format!("the union is {}", if *closed { "closed, was open" } else { "open, was closed" });
                    self.change(Some(CompatRule::UnionOpenClosed), &at.name("closed"), message);
                }
                let full = |nsid: &str, refs: &[String]| -> Vec<String> {
                    refs.iter().map(|target| resolve_ref(nsid, target)).collect()
                };
                let (a, b) = (full(self.before, old_refs), full(self.after, refs));
                // To an open union anything may be added.
                let rule = if *old_closed {
                    Some(CompatRule::UnionClosedRefs)
                } else {
                    a.iter().any(|target| !b.contains(target)).then_some(CompatRule::UnionOpenRefs)
                };
                self.set(rule, "refs", (Some(&a), Some(&b)), at);
            }
            (old, new) => self.kind(old.name(), new.name(), at),
        }
    }

    fn length(&mut self, rule: CompatRule, (min, max): (&str, &str), old: Length, new: Length, at: &Path<'_>) {
        self.value(Some(rule), min, old.min, new.min, at);
        self.value(Some(rule), max, old.max, new.max, at);
    }

    fn integer(&mut self, old: &IntegerType, new: &IntegerType, at: &Path<'_>) {
        self.value(Some(CompatRule::ConstValue), "const", old.constant, new.constant, at);
        let values = (old.values.as_deref(), new.values.as_deref());
        self.set(Some(CompatRule::EnumValues), "enum", values, at);
        self.value(Some(CompatRule::IntegerRange), "minimum", old.min, new.min, at);
        self.value(Some(CompatRule::IntegerRange), "maximum", old.max, new.max, at);
        self.value(None, "default", old.default, new.default, at);
    }

    fn string(&mut self, old: &StringType, new: &StringType, at: &Path<'_>) {
        let text = |text: &Option<String>| text.as_deref().map(quoted);
        self.value(Some(CompatRule::ConstValue), "const", text(&old.constant), text(&new.constant), at);
        let values = (old.values.as_deref(), new.values.as_deref());
        self.set(Some(CompatRule::EnumValues), "enum", values, at);
        self.length(CompatRule::StringLength, ("minLength", "maxLength"), old.length, new.length, at);
        self.length(CompatRule::StringLength, ("minGraphemes", "maxGraphemes"), old.graphemes, new.graphemes, at);
        let format = |string: &StringType| string.format.as_ref().map(|format| quoted(format.name()));
        self.value(Some(CompatRule::StringFormat), "format", format(old), format(new), at);
        let known = (old.known_values.as_deref(), new.known_values.as_deref());
        self.set(None, "knownValues", known, at);
        self.value(None, "default", text(&old.default), text(&new.default), at);
    }

    fn object(&mut self, old: &ObjectType, new: &ObjectType, required: CompatRule, at: &Path<'_>) {
        let properties = at.name("properties");
        let find = |object: &'_ ObjectType, wanted: &str| -> Option<Schema> {
            object.properties.iter().find(|(name, _)| name == wanted).map(|(_, schema)| schema.clone())
        };
        for (name, schema) in &old.properties {
            let at = properties.name(name);
            match find(new, name) {
                Some(now) => self.schema(schema, &now, &at),
                None => self.change(None, &at, format!("{} ({}) is gone", quoted(name), schema.ty.name())),
            }
        }
        for (name, schema) in new.properties.iter().filter(|(name, _)| find(old, name).is_none()) {
            let need = if new.required.contains(name) { "required" } else { "optional" };
            let message = format!("{} ({}, {need}) is new", quoted(name), schema.ty.name());
            self.change(None, &properties.name(name), message);
        }
        self.set(Some(required), "required", (Some(&old.required), Some(&new.required)), at);
        self.set(Some(CompatRule::ObjectNullable), "nullable", (Some(&old.nullable), Some(&new.nullable)), at);
    }
}
