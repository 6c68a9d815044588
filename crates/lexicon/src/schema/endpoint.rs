//! What a lexicon defines beside records and types: endpoints and permission sets.

use super::{ObjectType, Schema, Type, reader::Reader};
use crate::{
    lint::LintRule,
    path::quoted,
    syntax::is_valid_nsid,
    view::{Data, View},
};

/// A query, a procedure or a subscription.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// Which of the three.
    pub kind: EndpointKind,
    /// Parameters in the query string.
    pub parameters: Option<ObjectType>,
    /// What the parameters are together.
    pub parameters_description: Option<String>,
    /// The body sent, of a procedure.
    pub input: Option<Body>,
    /// The body answered, of a query or procedure.
    pub output: Option<Body>,
    /// The messages of a subscription: a union. What is said of `message` itself is its description, if it has none.
    pub message: Option<Schema>,
    /// Names of the errors it may answer, and what they mean.
    pub errors: Vec<(String, Option<String>)>,
}

/// Which kind of endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointKind {
    /// HTTP GET.
    Query,
    /// HTTP POST.
    Procedure,
    /// A stream over WebSocket.
    Subscription,
}

impl EndpointKind {
    /// What it is called in a document's `type`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Procedure => "procedure",
            Self::Subscription => "subscription",
        }
    }
}

/// The body of a request or an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// What it holds.
    pub description: Option<String>,
    /// Its MIME type.
    pub encoding: String,
    /// What it looks like, where it is JSON: an object, a ref or a union.
    pub schema: Option<Schema>,
}

/// Permissions that are asked for together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionSet {
    /// What the person who grants them is shown.
    pub title: Option<String>,
    /// The title in other languages, by language tag.
    pub titles: Vec<(String, String)>,
    /// More of the same.
    pub detail: Option<String>,
    /// That in other languages.
    pub details: Vec<(String, String)>,
    /// The permissions.
    pub permissions: Vec<Permission>,
}

/// One permission. Which fields are filled depends on the resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// What it is about: `repo`, `rpc`, `blob`, `account` or `identity`.
    pub resource: String,
    /// Collections (`repo`), endpoints (`rpc`) or MIME types (`blob`).
    pub subjects: Vec<String>,
    /// What may be done, e.g. `create`; empty for all.
    pub actions: Vec<String>,
    /// Whose endpoints (`rpc`).
    pub audience: Option<Audience>,
}

/// Whose endpoints a permission is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Those of whom the one who asks for the set names.
    Inherited,
    /// `*` for anybody.
    Named(String),
}

impl<'v, D: Data<'v>> Reader<'_, D> {
    pub(super) fn endpoint(&mut self, kind: EndpointKind) -> Endpoint {
        self.expect_only(match kind {
            EndpointKind::Query => &["parameters", "output", "errors"],
            EndpointKind::Procedure => &["parameters", "input", "output", "errors"],
            EndpointKind::Subscription => &["parameters", "message", "errors"],
        });
        let (parameters, parameters_description) = self.inside("parameters", params).unzip();
        Endpoint {
            kind,
            parameters,
            parameters_description: parameters_description.flatten(),
            input: self.inside("input", body),
            output: self.inside("output", body),
            message: self.inside("message", |message| {
                message.expect_only(&["schema"]);
                if message.value.field("schema").is_none() {
                    message.problem(None, "`schema` is missing");
                }
                let mut schema = message.schema_at("schema")?;
                let description = message.description();
                schema.description = schema.description.take().or(description);
                if !matches!(schema.ty, Type::Union { .. } | Type::Foreign(_)) {
                    message.problem(Some("schema"), "the messages of a subscription are a union");
                }
                Some(schema)
            }),
            errors: self.errors(),
        }
    }

    fn errors(&mut self) -> Vec<(String, Option<String>)> {
        let mut errors = Vec::new();
        self.each("errors", |error| {
            error.expect_only(&["name"]);
            let name = error.string("name")?.to_owned();
            if name.is_empty() || name.contains(char::is_whitespace) {
                error.note(LintRule::LexiconSchema, Some("name"), "an error's name is not empty, and has no spaces");
            }
            errors.push((name, error.description()));
            Some(())
        });
        errors
    }

    pub(super) fn permission_set(&mut self) -> PermissionSet {
        self.expect_only(&["title", "detail", "permissions"]);
        if self.value.field("permissions").is_none() {
            self.problem(None, "`permissions` is missing");
        }
        let mut permissions = Vec::new();
        self.each("permissions", |reader| {
            permissions.push(reader.permission()?);
            Some(())
        });
        PermissionSet {
            title: self.optional_string("title").map(str::to_owned),
            titles: self.translations("title:lang"),
            detail: self.optional_string("detail").map(str::to_owned),
            details: self.translations("detail:lang"),
            permissions,
        }
    }

    fn permission(&mut self) -> Option<Permission> {
        if self.string("type")? != "permission" {
            self.problem(Some("type"), "`permission` is expected");
        }
        let resource = self.string("resource")?.to_owned();
        let (subjects_at, known): (_, &[&str]) = match resource.as_str() {
            "repo" => ("collection", &["resource", "collection", "action"]),
            "rpc" => ("lxm", &["resource", "lxm", "aud", "inheritAud"]),
            "blob" => ("accept", &["resource", "accept"]),
            "account" | "identity" => ("attr", &["resource", "attr", "action"]),
            other => {
                self.foreign(LintRule::UnknownPermission, "resource", other);
                return Some(Permission { resource, subjects: Vec::new(), actions: Vec::new(), audience: None });
            }
        };
        self.expect_only(known);
        if !matches!(resource.as_str(), "repo" | "rpc") {
            let message = format!("a permission for {resource} is not granted by a set; it is passed over");
            self.note(LintRule::UnknownPermission, Some("resource"), message);
        }
        let subjects = self.one_or_more(subjects_at);
        if subjects.is_empty() {
            self.problem(None, format!("`{subjects_at}` is missing"));
        }
        if matches!(resource.as_str(), "repo" | "rpc") {
            for nsid in subjects.iter().filter(|nsid| *nsid != "*" && !is_valid_nsid(nsid)) {
                self.problem(Some(subjects_at), format!("{} is not an NSID", quoted(nsid)));
            }
        }
        if resource == "repo" && subjects.iter().any(|nsid| nsid == "*") {
            self.note(LintRule::LexiconSchema, Some(subjects_at), "a set names its collections; `*` is passed over");
        }
        let mut audience = None;
        if resource == "rpc" {
            let aud = self.optional_string("aud");
            let inherits = self.boolean("inheritAud").unwrap_or_default();
            if aud.is_some() == inherits {
                self.problem(None, "either `aud` or `inheritAud` is expected");
            }
            if aud == Some("*") && subjects.iter().any(|nsid| nsid == "*") {
                self.problem(None, "`aud` and `lxm` cannot both be `*`");
            }
            if aud.is_some_and(|aud| aud != "*") {
                self.note(LintRule::LexiconSchema, Some("aud"), "a set names no service; only `*` can stand here");
            }
            audience =
                if inherits { Some(Audience::Inherited) } else { aud.map(|aud| Audience::Named(aud.to_owned())) };
        }
        let actions = self.one_or_more("action");
        if resource == "repo" {
            for action in actions.iter().filter(|a| !matches!(a.as_str(), "create" | "update" | "delete")) {
                let message = format!("{} is none of `create`, `update` and `delete`", quoted(action));
                self.note(LintRule::LexiconSchema, Some("action"), message);
            }
        }
        Some(Permission { resource, subjects, actions, audience })
    }

    /// A string, or an array of strings.
    fn one_or_more(&mut self, name: &str) -> Vec<String> {
        match self.value.field(name).map(Data::view) {
            None => Vec::new(),
            Some(View::String(one)) => vec![one.to_owned()],
            Some(_) => self.strings(name).unwrap_or_default(),
        }
    }

    /// Reads each object of the array `name`.
    fn each(&mut self, name: &str, mut read: impl FnMut(&mut Reader<'_, D>) -> Option<()>) {
        let Some(array) = self.value.field(name) else { return };
        let View::Array(items) = array.view() else {
            self.problem(Some(name), "an array of objects is expected");
            return;
        };
        for (i, value) in items.enumerate() {
            let at_name = self.path.name(name);
            let path = at_name.index(i);
            let mut reader = Reader { value, path: &path, out: self.out };
            if matches!(value.view(), View::Object(_)) {
                read(&mut reader);
            } else {
                reader.problem(None, "an object is expected");
            }
        }
    }
}

fn params<'v, D: Data<'v>>(reader: &mut Reader<'_, D>) -> Option<(ObjectType, Option<String>)> {
    reader.expect_only(&["properties", "required"]);
    if reader.string("type")? != "params" {
        reader.problem(Some("type"), "`params` is expected");
    }
    let params = reader.properties();
    for (name, schema) in &params.properties {
        let item = match &schema.ty {
            Type::Array { items, .. } => &items.ty,
            other => other,
        };
        if matches!(item, Type::Unknown) {
            let message = format!("the parameter {} is of no type that a query string has", quoted(name));
            reader.note(LintRule::LexiconSchema, Some("properties"), message);
        }
        if !matches!(item, Type::Boolean { .. } | Type::Integer(_) | Type::String(_) | Type::Unknown | Type::Foreign(_))
        {
            let message = format!("the parameter {} is neither a plain value nor an array of them", quoted(name));
            reader.problem(Some("properties"), message);
        }
    }
    Some((params, reader.description()))
}

fn body<'v, D: Data<'v>>(reader: &mut Reader<'_, D>) -> Option<Body> {
    reader.expect_only(&["encoding", "schema"]);
    let schema = reader.schema_at("schema");
    if let Some(schema) = &schema
        && !matches!(schema.ty, Type::Object(_) | Type::Ref(_) | Type::Union { .. } | Type::Foreign(_))
    {
        reader.problem(Some("schema"), "a body is an object, a ref or a union");
    }
    let encoding = reader.optional_string("encoding").unwrap_or_default().to_owned();
    if encoding.is_empty() {
        reader.breaks(LintRule::UnspecifiedEncoding, None, "`encoding` is missing");
    }
    Some(Body { description: reader.description(), encoding, schema })
}
