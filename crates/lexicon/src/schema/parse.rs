//! From a document to definitions.

use super::{
    Def, DefKind, EndpointKind, Format, IntegerType, KeyRule, Length, Lexicon, ObjectType, Record, Schema, StringType,
    Type,
    reader::{Findings, Reader},
};
use crate::{
    Nsid,
    error::{Error, Problem},
    json::Json,
    lint::LintRule,
    path::{Path, quoted},
    syntax::{is_valid_nsid, is_valid_record_key},
    view::{Data, View},
};

/// Deeper types than these no document has; and reading them costs stack.
const MAX_DEPTH: u32 = 64;

impl Lexicon {
    /// Parses a document. `name` (a file name, or the NSID it was asked for by) is for error messages.
    ///
    /// What the language does not have but is seen on the network, such as types and formats of proposals, is
    /// noted and let through: a record in such a place is not checked, but the rest of it is.
    ///
    /// # Errors
    /// [`Error::Json`], or [`Error::InvalidLexicon`] with everything that is wrong.
    pub fn parse(name: &str, document: &[u8]) -> Result<Self, Error> {
        let json = Json::parse(document)?;
        Self::read(name, json.root())
    }

    /// As [`Self::parse`], of a document that was parsed before, e.g. a `com.atproto.lexicon.schema` record.
    ///
    /// # Errors
    /// [`Error::InvalidLexicon`] with everything that is wrong.
    pub fn read<'v, D: Data<'v>>(name: &str, document: D) -> Result<Self, Error> {
        let (parts, found) = parts(document);
        match parts.id {
            Some(id) if found.problems.is_empty() => {
                Ok(Self { id, description: parts.description, defs: parts.defs, notes: found.notes })
            }
            _ => Err(Error::InvalidLexicon { name: name.to_owned(), problems: found.problems }),
        }
    }

    /// As [`Self::read`], of a document that may be wrong: what could be read of it, if it has a name, and all that is
    /// wrong with it. For tools that show documents; what could not be read of one that has problems is missing.
    pub fn inspect<'v, D: Data<'v>>(document: D) -> (Option<Self>, Vec<Problem>) {
        let (parts, found) = parts(document);
        let lexicon = parts.id.filter(|_| !parts.defs.is_empty()).map(|id| Self {
            id,
            description: parts.description,
            defs: parts.defs,
            notes: found.notes.clone(),
        });
        let mut all = found.problems;
        all.extend(found.notes);
        (lexicon, all)
    }
}

/// What could be read of a document.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) id: Option<Nsid>,
    pub(crate) description: Option<String>,
    pub(crate) defs: Vec<(String, Def)>,
}

/// Reads what can be read.
pub(crate) fn parts<'v, D: Data<'v>>(document: D) -> (Parts, Findings) {
    let mut out = Findings::default();
    let root = Path::root();
    let mut reader = Reader { value: document, path: &root, out: &mut out };
    let parts = match document.view() {
        View::Object(_) => lexicon(&mut reader),
        _ => {
            reader.problem(None, "an object is expected");
            Parts::default()
        }
    };
    (parts, out)
}

fn lexicon<'v, D: Data<'v>>(doc: &mut Reader<'_, D>) -> Parts {
    doc.expect_only(&["lexicon", "id", "revision", "defs"]);
    match doc.value.field("lexicon").map(Data::view) {
        Some(View::Integer(1)) => {}
        Some(_) => doc.breaks(LintRule::LexiconVersion, Some("lexicon"), "the only version of the language is 1"),
        None => doc.breaks(LintRule::LexiconVersion, None, "`lexicon` is missing"),
    }
    let id = doc.string("id").and_then(|id| match Nsid::parse(id) {
        Ok(id) => Some(id),
        Err(error) => {
            doc.breaks(LintRule::InvalidNsid, Some("id"), error.to_string());
            None
        }
    });
    let description = doc.description();
    if doc.value.field("defs").is_none() {
        doc.problem(None, "`defs` is missing");
    }
    let mut defs = Vec::new();
    doc.inside("defs", |reader| {
        let View::Object(fields) = reader.value.view() else { return None };
        for (name, value) in fields {
            if !is_def_name(name) {
                reader.problem(Some(name), "a definition's name is not empty, and has no `#` and no spaces");
            }
            if let Some(def) = reader.at(name, value, |def| self::def(def, name == "main")) {
                defs.push((name.to_owned(), def));
            }
        }
        if defs.is_empty() && reader.out.problems.is_empty() {
            reader.problem(None, "nothing is defined");
        }
        Some(())
    });
    Parts { id, description, defs }
}

/// Whether references can name it. What it should look like is for [`crate::lint`] to say.
fn is_def_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == '#' || c.is_whitespace() || c.is_control())
}

fn def<'v, D: Data<'v>>(def: &mut Reader<'_, D>, is_main: bool) -> Option<Def> {
    let description = def.description();
    let ty = def.string("type")?;
    if !is_main && matches!(ty, "record" | "query" | "procedure" | "subscription" | "permission-set") {
        let message = format!("a {ty} can only be defined as `main`");
        def.breaks(LintRule::NonMainPrimary, Some("type"), message);
    }
    let kind = match ty {
        "record" => DefKind::Record(record(def)?),
        "query" => DefKind::Endpoint(Box::new(def.endpoint(EndpointKind::Query))),
        "procedure" => DefKind::Endpoint(Box::new(def.endpoint(EndpointKind::Procedure))),
        "subscription" => DefKind::Endpoint(Box::new(def.endpoint(EndpointKind::Subscription))),
        "permission-set" => DefKind::PermissionSet(def.permission_set()),
        "ref" | "union" | "unknown" => {
            def.problem(Some("type"), format!("a {ty} can stand in a definition, but not be one"));
            return None;
        }
        _ => match def.ty(ty, true)? {
            Type::Foreign(name) => DefKind::Foreign(name),
            ty => DefKind::Type(ty),
        },
    };
    Some(Def { description, kind })
}

fn record<'v, D: Data<'v>>(def: &mut Reader<'_, D>) -> Option<Record> {
    def.expect_only(&["key", "record"]);
    let key = def.string("key").map(|key| match key {
        "tid" => KeyRule::Tid,
        "nsid" => KeyRule::Nsid,
        "any" => KeyRule::Any,
        other => match other.strip_prefix("literal:") {
            Some(literal) => {
                if !is_valid_record_key(literal) {
                    def.problem(Some("key"), format!("{} is not a record key", quoted(literal)));
                }
                KeyRule::Literal(literal.to_owned())
            }
            None => {
                let literal = if is_valid_record_key(other) {
                    format!("; for that key alone, `literal:{other}` is written")
                } else {
                    String::new()
                };
                let message = format!("the language has no rule for keys {}; any key will do{literal}", quoted(other));
                def.note(LintRule::UnknownKeyRule, Some("key"), message);
                KeyRule::Foreign(other.to_owned())
            }
        },
    });
    if def.value.field("record").is_none() {
        def.problem(None, "`record` is missing");
    }
    let (description, object) = def.inside("record", |object| {
        let description = object.description();
        match object.string("type")? {
            "object" => Some((description, object.object())),
            other => {
                let message = format!("a record is an object, not a {}", quoted(other));
                object.problem(Some("type"), message);
                None
            }
        }
    })?;
    Some(Record { key: key?, object, description })
}

/// The type that this object describes.
fn schema<'v, D: Data<'v>>(reader: &mut Reader<'_, D>) -> Option<Schema> {
    if reader.path.depth() > MAX_DEPTH {
        reader.problem(None, "types nested deeper than a document needs");
        return None;
    }
    let description = reader.description();
    let ty = reader.string("type")?;
    Some(Schema { description, ty: reader.ty(ty, false)? })
}

impl<'v, D: Data<'v>> Reader<'_, D> {
    /// The schema in the attribute `name`.
    pub(super) fn schema_at(&mut self, name: &str) -> Option<Schema> {
        self.inside(name, schema)
    }

    /// `is_def`: it is defined by name, and not in place.
    fn ty(&mut self, ty: &str, is_def: bool) -> Option<Type> {
        Some(match ty {
            "null" => {
                self.expect_only(&[]);
                self.note(
                    LintRule::UnknownType,
                    None,
                    "the language has no type \"null\" any more; it is still checked",
                );
                Type::Null
            }
            "boolean" => {
                self.expect_only(&["const", "default"]);
                let (constant, default) = (self.boolean("const"), self.boolean("default"));
                self.note_const_and_default(constant.is_some(), default.is_some());
                Type::Boolean { constant, default }
            }
            "integer" => Type::Integer(self.integer_type()),
            "string" => Type::String(self.string_type()),
            "bytes" => {
                self.expect_only(&["minLength", "maxLength"]);
                Type::Bytes(self.length("minLength", "maxLength"))
            }
            "cid-link" => {
                self.expect_only(&[]);
                Type::CidLink
            }
            "blob" => {
                self.expect_only(&["accept", "maxSize"]);
                let accept = self.strings("accept");
                for pattern in accept.iter().flatten().filter(|pattern| !is_mime_pattern(pattern)) {
                    let message = format!("{} is no MIME type, nor a kind of them such as `image/*`", quoted(pattern));
                    self.note(LintRule::LexiconSchema, Some("accept"), message);
                }
                Type::Blob { accept, max_size: self.amount("maxSize") }
            }
            "array" => {
                self.expect_only(&["items", "minLength", "maxLength"]);
                if self.value.field("items").is_none() {
                    self.problem(None, "`items` is missing");
                }
                let length = self.length("minLength", "maxLength");
                Type::Array { items: Box::new(self.schema_at("items")?), length }
            }
            "object" => Type::Object(self.object()),
            "ref" => {
                self.expect_only(&["ref"]);
                let target = self.string("ref")?;
                self.check_ref(target, "ref");
                Type::Ref(target.to_owned())
            }
            "union" => {
                self.expect_only(&["refs", "closed"]);
                if self.value.field("refs").is_none() {
                    self.problem(None, "`refs` is missing");
                }
                let refs = self.strings("refs")?;
                for target in &refs {
                    self.check_ref(target, "refs");
                }
                let closed = self.boolean("closed").unwrap_or_default();
                if closed && refs.is_empty() {
                    self.note(LintRule::LexiconSchema, Some("refs"), "a closed union of nothing holds nothing");
                }
                Type::Union { refs, closed }
            }
            "unknown" => {
                self.expect_only(&[]);
                Type::Unknown
            }
            "token" => {
                self.expect_only(&[]);
                if !is_def {
                    let message = "a token can only be defined, not stand in place of a type; it is not checked";
                    self.note(LintRule::LexiconSchema, Some("type"), message);
                }
                Type::Token
            }
            "record" | "query" | "procedure" | "subscription" | "permission-set" | "permission" | "params" => {
                self.problem(Some("type"), format!("a {ty} cannot stand here"));
                return None;
            }
            other => {
                self.foreign(LintRule::UnknownType, "type", other);
                Type::Foreign(other.to_owned())
            }
        })
    }

    fn integer_type(&mut self) -> IntegerType {
        self.expect_only(&["minimum", "maximum", "enum", "const", "default"]);
        let ty = IntegerType {
            min: self.integer("minimum"),
            max: self.integer("maximum"),
            values: self.integers("enum"),
            constant: self.integer("const"),
            default: self.integer("default"),
        };
        self.note_const_and_default(ty.constant.is_some(), ty.default.is_some());
        if let (Some(min), Some(max)) = (ty.min, ty.max)
            && min > max
        {
            self.problem(Some("minimum"), "the minimum is above the maximum");
        }
        ty
    }

    fn string_type(&mut self) -> StringType {
        self.expect_only(&[
            "format",
            "minLength",
            "maxLength",
            "minGraphemes",
            "maxGraphemes",
            "enum",
            "knownValues",
            "const",
            "default",
        ]);
        let format = self.optional_string("format").map(|format| match format {
            "at-identifier" => Format::AtIdentifier,
            "at-uri" => Format::AtUri,
            "cid" => Format::Cid,
            "datetime" => Format::Datetime,
            "did" => Format::Did,
            "handle" => Format::Handle,
            "language" => Format::Language,
            "nsid" => Format::Nsid,
            "record-key" => Format::RecordKey,
            "tid" => Format::Tid,
            "uri" => Format::Uri,
            other => {
                self.foreign(LintRule::UnknownFormat, "string format", other);
                Format::Foreign(other.to_owned())
            }
        });
        let ty = StringType {
            format,
            length: self.length("minLength", "maxLength"),
            graphemes: self.length("minGraphemes", "maxGraphemes"),
            values: self.strings("enum"),
            known_values: self.strings("knownValues"),
            constant: self.optional_string("const").map(str::to_owned),
            default: self.optional_string("default").map(str::to_owned),
        };
        self.note_const_and_default(ty.constant.is_some(), ty.default.is_some());
        ty
    }

    fn note_const_and_default(&mut self, constant: bool, default: bool) {
        if constant && default {
            self.note(LintRule::ConstAndDefault, Some("default"), "what is constant has no default");
        }
    }

    fn length(&mut self, min_name: &str, max_name: &str) -> Length {
        let (min, max) = (self.amount(min_name), self.amount(max_name));
        if let (Some(low), Some(high)) = (min, max)
            && low > high
        {
            self.problem(Some(min_name), format!("it is above `{max_name}`"));
        }
        Length { min, max }
    }

    fn object(&mut self) -> ObjectType {
        self.expect_only(&["properties", "required", "nullable"]);
        if self.value.field("properties").is_none() {
            self.note(LintRule::LexiconSchema, None, "`properties` is missing");
        }
        self.properties()
    }

    /// `properties`, `required` and `nullable`.
    pub(super) fn properties(&mut self) -> ObjectType {
        let mut properties = Vec::new();
        if self.value.field("properties").is_some() {
            self.inside("properties", |reader| {
                let View::Object(fields) = reader.value.view() else { return None };
                for (name, value) in fields {
                    if name.is_empty() || name.starts_with('$') {
                        reader.problem(Some(name), "a property's name is neither empty nor begins with `$`");
                    }
                    if let Some(schema) = reader.at(name, value, schema) {
                        properties.push((name.to_owned(), schema));
                    }
                }
                Some(())
            });
        }
        let required = self.strings("required").unwrap_or_default();
        let nullable = self.strings("nullable").unwrap_or_default();
        let declared = self.value.field("properties");
        let is_declared = |name: &String| declared.is_some_and(|properties| properties.field(name).is_some());
        for name in required.iter().filter(|name| !is_declared(name)) {
            self.problem(Some("required"), format!("there is no property {}", quoted(name)));
        }
        for name in nullable.iter().filter(|name| !is_declared(name)) {
            self.note(LintRule::LexiconSchema, Some("nullable"), format!("there is no property {}", quoted(name)));
        }
        ObjectType { properties, required, nullable }
    }

    fn check_ref(&mut self, target: &str, at: &str) {
        let (nsid, name) = target.split_once('#').map_or((target, None), |(nsid, name)| (nsid, Some(name)));
        let is_nsid = if nsid.is_empty() { name.is_some() } else { is_valid_nsid(nsid) };
        if !is_nsid || !name.is_none_or(is_def_name) {
            self.problem(Some(at), format!("{} does not name a definition", quoted(target)));
        }
    }
}

/// `image/png`, `image/*` or `*/*`
fn is_mime_pattern(pattern: &str) -> bool {
    let is_name = |s: &str| !s.is_empty() && !s.contains(|c: char| c == '*' || c == '/' || c.is_whitespace());
    match pattern.split_once('/') {
        Some(("*", "*")) => true,
        Some((family, "*")) => is_name(family),
        Some((family, name)) => is_name(family) && is_name(name),
        None => false,
    }
}
