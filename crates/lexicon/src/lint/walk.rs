//! Goes through the definitions and holds each type against the rules.

use super::{LintRule, style};
use crate::{
    error::Problem,
    path::{Path, quoted},
    schema::{
        Body, Def, DefKind, Endpoint, EndpointKind, IntegerType, Length, ObjectType, Parts, PermissionSet, Schema,
        StringType, Type, resolve_ref, split_ref,
    },
};

/// Beyond this, text and bytes are better off in a blob.
const LARGE_BYTES: u64 = 20 * 1024;

/// The longest name of a definition or a property.
const MAX_NAME_LEN: usize = 255;

pub(super) fn walk(parts: &Parts, out: &mut Vec<Problem>) {
    let root = Path::root();
    let defs = root.name("defs");
    let nsid = parts.id.as_ref().map(crate::Nsid::as_str).unwrap_or_default();
    let mut linter = Linter { nsid, defs: &parts.defs, place: Place::Def, out };
    if let Some(id) = &parts.id {
        style::id(id.name(), parts.defs.iter().find(|(name, _)| name == "main"), &root.name("id"), linter.out);
        if id.name() == "defs" && parts.defs.iter().any(|(name, _)| name == "main") {
            linter.say(
                LintRule::DefsMainDefinition,
                &defs.name("main"),
                "a document of definitions for others has no `main`",
            );
        }
    }
    for (name, def) in &parts.defs {
        linter.def(name, def, &defs.name(name));
    }
}

/// What the types are part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Record,
    Parameters,
    Body,
    Def,
}

pub(super) struct Linter<'l> {
    nsid: &'l str,
    defs: &'l [(String, Def)],
    pub(super) place: Place,
    pub(super) out: &'l mut Vec<Problem>,
}

/// Of one member of an object, or of what stands alone.
#[derive(Clone, Copy)]
pub(super) struct Field<'f> {
    pub(super) name: Option<&'f str>,
    pub(super) description: Option<&'f str>,
    pub(super) is_required: bool,
}

impl Linter<'_> {
    pub(super) fn say(&mut self, rule: LintRule, at: &Path<'_>, message: impl Into<String>) {
        self.out.push(Problem { rule, path: at.to_string(), message: message.into() });
    }

    fn def(&mut self, name: &str, def: &Def, at: &Path<'_>) {
        if !is_recommended_name(name) {
            self.say(LintRule::DefNameSyntax, at, format!("the name {} has what names should not have", quoted(name)));
        } else if !style::is_lower_camel(name) {
            self.say(LintRule::NameCase, at, format!("the name {} is not in lowerCamelCase", quoted(name)));
        }
        if style::is_reserved(name) {
            self.say(LintRule::ReservedName, at, format!("{} is a word of programming languages", quoted(name)));
        }
        let is_described = def.description.as_deref().is_some_and(|text| !text.trim().is_empty());
        if matches!(def.kind, DefKind::Record(_) | DefKind::Endpoint(_)) && !is_described {
            self.say(LintRule::MissingPrimaryDescription, at, format!("the {} has no description", def.kind.name()));
        }
        match &def.kind {
            DefKind::Record(record) => {
                self.place = Place::Record;
                self.object(&record.object, &at.name("record"));
            }
            DefKind::Endpoint(endpoint) => self.endpoint(endpoint, at),
            DefKind::PermissionSet(set) => self.permission_set(set, at),
            DefKind::Type(ty) => {
                if matches!(ty, Type::Token) && !is_described {
                    self.say(LintRule::UndescribedToken, at, "the token has no description");
                }
                self.place = Place::Def;
                let field = Field { name: None, description: def.description.as_deref(), is_required: true };
                self.ty(ty, field, at);
            }
            DefKind::Foreign(_) => {}
        }
    }

    fn endpoint(&mut self, endpoint: &Endpoint, at: &Path<'_>) {
        if let Some(params) = &endpoint.parameters {
            self.place = Place::Parameters;
            self.object(params, &at.name("parameters"));
        }
        self.place = Place::Body;
        for (name, body) in [("input", &endpoint.input), ("output", &endpoint.output)] {
            if let Some(Body { schema: Some(schema), .. }) = body {
                let (at, field) = (at.name(name), standing(schema));
                self.ty(&schema.ty, field, &at.name("schema"));
            }
        }
        if let Some(message) = &endpoint.message {
            let at = at.name("message");
            if matches!(&message.ty, Type::Union { refs, .. } if refs.is_empty()) {
                self.say(LintRule::SubscriptionNoMessages, &at, "no message is defined");
            }
            self.ty(&message.ty, standing(message), &at.name("schema"));
        }
        if endpoint.kind != EndpointKind::Subscription && endpoint.output.is_none() {
            self.say(LintRule::EndpointOutputUndefined, at, "there is no `output`");
        }
        style::endpoint(self, endpoint, at);
    }

    fn permission_set(&mut self, set: &PermissionSet, at: &Path<'_>) {
        if set.title.as_deref().is_none_or(|title| title.trim().is_empty()) {
            self.say(LintRule::PermissionsetNoTitle, at, "there is no `title`");
        }
        let permissions = at.name("permissions");
        if set.permissions.is_empty() {
            self.say(LintRule::PermissionsetNoPermissions, &permissions, "there is no permission in the set");
        }
        let group = self.nsid.rsplit_once('.').map_or("", |(group, _)| group);
        for (i, permission) in set.permissions.iter().enumerate() {
            let at = permissions.index(i);
            if !matches!(permission.resource.as_str(), "repo" | "rpc") {
                continue;
            }
            for subject in &permission.subjects {
                let is_inside = subject.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
                if subject == "*" {
                    if permission.resource == "rpc" {
                        self.say(LintRule::PermissionWildcard, &at, "`*` stands for endpoints that are not named");
                    }
                } else if !is_inside && !group.is_empty() {
                    let message = format!("{} is not named under {}", quoted(subject), quoted(group));
                    self.say(LintRule::PermissionNamespace, &at, message);
                }
            }
        }
    }

    pub(super) fn object(&mut self, object: &ObjectType, at: &Path<'_>) {
        let properties = at.name("properties");
        for (name, schema) in &object.properties {
            let at = properties.name(name);
            if !is_recommended_name(name) {
                let message = format!("the name {} has what names should not have", quoted(name));
                self.say(LintRule::FieldNameSyntax, &at, message);
            } else if !style::is_lower_camel(name) {
                self.say(LintRule::NameCase, &at, format!("the name {} is not in lowerCamelCase", quoted(name)));
            }
            let field = Field {
                name: Some(name),
                description: schema.description.as_deref(),
                is_required: object.required.contains(name),
            };
            style::field(self, field, &schema.ty, &at);
            self.ty(&schema.ty, field, &at);
        }
        let nullable = at.name("nullable");
        for (i, name) in object.nullable.iter().enumerate() {
            if !object.required.contains(name) {
                let message = format!("{} may be null, and may be left out", quoted(name));
                self.say(LintRule::NullableAndOptional, &nullable.index(i), message);
            }
        }
    }

    fn ty(&mut self, ty: &Type, field: Field<'_>, at: &Path<'_>) {
        match ty {
            Type::String(string) => self.string(string, at),
            Type::Integer(integer) => self.integer(integer, at),
            Type::Bytes(length) => match length.max {
                None => self.say(LintRule::UnlimitedBytes, at, "there may be any number of bytes"),
                Some(max) if max > LARGE_BYTES => {
                    self.say(LintRule::LargeBytes, at, format!("there may be {max} bytes"));
                }
                Some(_) => {}
            },
            Type::Array { items, .. } => {
                style::items(self, items, at);
                let items_field = Field { name: None, ..standing(items) };
                self.ty(&items.ty, items_field, &at.name("items"));
            }
            Type::Object(object) => self.object(object, at),
            Type::Ref(target) => self.target(target, false, &at.name("ref")),
            Type::Union { refs, closed } => {
                if *closed {
                    self.say(LintRule::ClosedUnion, at, "the union is closed");
                }
                let at = at.name("refs");
                for (i, target) in refs.iter().enumerate() {
                    self.target(target, true, &at.index(i));
                }
            }
            Type::Boolean { default: Some(true), .. } if !field.is_required => {
                self.say(LintRule::DefaultTrue, at, "it is true where it is left out");
            }
            Type::CidLink if self.place == Place::Record => {
                self.say(LintRule::CidLinkInRecord, at, "a record links to content in binary");
            }
            Type::Unknown if self.place == Place::Record => {
                self.say(LintRule::UnknownInRecord, at, "anything may stand here");
            }
            Type::Boolean { .. }
            | Type::Null
            | Type::CidLink
            | Type::Blob { .. }
            | Type::Unknown
            | Type::Token
            | Type::Foreign(_) => {}
        }
    }

    fn string(&mut self, string: &StringType, at: &Path<'_>) {
        let is_fixed = string.constant.is_some() || string.values.is_some();
        match string.length.max {
            Some(max) if max > LARGE_BYTES => {
                self.say(LintRule::LargeString, &at.name("maxLength"), format!("there may be {max} bytes of text"));
            }
            None if string.format.is_none() && string.graphemes.max.is_none() && !is_fixed => {
                self.say(LintRule::UnlimitedString, at, "the text may be of any length");
            }
            _ => {}
        }
        let known = at.name("knownValues");
        for (i, value) in string.known_values.iter().flatten().enumerate() {
            if value.starts_with('#') {
                let message = format!("{} looks like a reference within this document", quoted(value));
                self.say(LintRule::KnownStringLocalRef, &known.index(i), message);
            }
        }
        let sets = [("enum", string.values.as_deref()), ("knownValues", string.known_values.as_deref())];
        for (name, values) in sets {
            let at = at.name(name);
            for (i, value) in values.into_iter().flatten().enumerate() {
                self.value(value, string, &at.index(i));
            }
        }
        for (name, value) in [("const", &string.constant), ("default", &string.default)] {
            if let Some(value) = value {
                self.value(value, string, &at.name(name));
            }
        }
        if let (Some(default), Some(values)) = (&string.default, &string.values)
            && !values.contains(default)
        {
            self.say(LintRule::ValueNotAllowed, &at.name("default"), "the default is none of the values allowed");
        }
        style::string(self, string, at);
    }

    /// A value that the schema names itself.
    fn value(&mut self, value: &str, string: &StringType, at: &Path<'_>) {
        if let Err(why) = crate::validate::text_fits(string, value) {
            self.say(LintRule::ValueNotAllowed, at, format!("{} {why}", quoted(value)));
        }
    }

    fn integer(&mut self, integer: &IntegerType, at: &Path<'_>) {
        let fits =
            |value: i64| integer.min.is_none_or(|min| value >= min) && integer.max.is_none_or(|max| value <= max);
        let enumerated = at.name("enum");
        for (i, value) in integer.values.iter().flatten().enumerate() {
            if !fits(*value) {
                let message = format!("{value} is beyond the limits");
                self.say(LintRule::ValueNotAllowed, &enumerated.index(i), message);
            }
        }
        for (name, value) in [("const", integer.constant), ("default", integer.default)] {
            let Some(value) = value else { continue };
            if !fits(value) {
                self.say(LintRule::ValueNotAllowed, &at.name(name), format!("{value} is beyond the limits"));
            } else if integer.values.as_ref().is_some_and(|values| !values.contains(&value)) {
                self.say(LintRule::ValueNotAllowed, &at.name(name), format!("{value} is none of the values allowed"));
            }
        }
        if integer.values.is_some() {
            self.say(LintRule::ClosedEnum, &at.name("enum"), "no value can be added later");
        }
    }

    /// What a reference leads to, where that is in this document.
    fn target(&mut self, target: &str, is_union: bool, at: &Path<'_>) {
        let full = resolve_ref(self.nsid, target);
        let (nsid, name) = split_ref(&full);
        if nsid != self.nsid {
            return;
        }
        let Some((_, def)) = self.defs.iter().find(|(other, _)| other == name) else {
            self.say(LintRule::UnresolvedLocalRef, at, format!("{} is not defined here", quoted(target)));
            return;
        };
        let fits = match &def.kind {
            DefKind::Record(_) | DefKind::Foreign(_) | DefKind::Type(Type::Object(_)) => true,
            DefKind::Type(Type::Token) | DefKind::Endpoint(_) | DefKind::PermissionSet(_) => false,
            DefKind::Type(_) => !is_union,
        };
        if !fits {
            let what = if is_union { "is not what a union can hold" } else { "is not what a value can be" };
            self.say(LintRule::RefTarget, at, format!("{} is a {}, which {what}", quoted(target), def.kind.name()));
        }
    }
}

/// What stands alone: there is nothing that it could be left out of.
fn standing(schema: &Schema) -> Field<'_> {
    Field { name: None, description: schema.description.as_deref(), is_required: true }
}

/// Letters and digits, a letter first.
fn is_recommended_name(name: &str) -> bool {
    name.len() <= MAX_NAME_LEN
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Whether any limit is set.
pub(super) fn is_limited(length: Length) -> bool {
    length.min.is_some() || length.max.is_some()
}
