//! Lexicons as JSON Schema, for programs that know no lexicons: what an endpoint takes, and what it answers.
//!
//! What JSON Schema cannot say (lengths in bytes of UTF-8 and in graphemes, the formats of the protocol) is left out or
//! said more loosely, never more strictly: what the lexicon allows, the schema allows.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    Catalog,
    schema::{DefKind, Format, IntegerType, Length, ObjectType, Schema, StringType, Type},
};

/// Definitions nest no deeper where this is asked for; of deeper ones it is said that they are anything.
const MAX_DEPTH: u32 = 64;

impl Catalog {
    /// The parameters of the endpoint `nsid`, as a JSON Schema of an object; `None` if there is no such endpoint.
    #[must_use]
    pub fn params_json_schema(&self, nsid: &str) -> Option<Value> {
        let endpoint = self.endpoint(nsid)?;
        let none = ObjectType::default();
        let mut writer = Writer { catalog: self, nsid, wanted: BTreeSet::new() };
        let mut schema = writer.object(endpoint.parameters.as_ref().unwrap_or(&none), 0);
        schema.insert("additionalProperties".into(), Value::Bool(false));
        Some(writer.with_defs(schema))
    }

    /// What the endpoint `nsid` answers, as a JSON Schema; `None` if there is no such endpoint, or it does not answer JSON.
    #[must_use]
    pub fn output_json_schema(&self, nsid: &str) -> Option<Value> {
        let schema = self.endpoint(nsid)?.output.as_ref()?.schema.as_ref()?;
        let mut writer = Writer { catalog: self, nsid, wanted: BTreeSet::new() };
        let schema = writer.schema(schema, 0);
        Some(writer.with_defs(schema))
    }
}

struct Writer<'c> {
    catalog: &'c Catalog,
    /// The lexicon that `#name` is of.
    nsid: &'c str,
    /// Definitions that are referred to, as `nsid#name`.
    wanted: BTreeSet<String>,
}

impl Writer<'_> {
    /// `schema` with all definitions that it needs.
    fn with_defs(mut self, mut schema: Map<String, Value>) -> Value {
        let mut defs = Map::new();
        while let Some(name) = self.wanted.iter().find(|name| !defs.contains_key(&key(name))).cloned() {
            let (nsid, local) = name.split_once('#').unwrap_or((&name, "main"));
            let lexicon = self.catalog.lexicon(nsid);
            let def = match lexicon.and_then(|lexicon| lexicon.def(local)) {
                Some(def) => {
                    let mut inner = Writer { catalog: self.catalog, nsid, wanted: BTreeSet::new() };
                    let mut written = match &def.kind {
                        DefKind::Type(ty) => inner.ty(ty, 0),
                        DefKind::Record(record) => inner.object(&record.object, 0),
                        DefKind::Endpoint(_) | DefKind::PermissionSet(_) | DefKind::Foreign(_) => Map::new(),
                    };
                    describe(&mut written, def.description.as_deref());
                    self.wanted.extend(inner.wanted);
                    written
                }
                None => Map::new(),
            };
            defs.insert(key(&name), Value::Object(def));
        }
        if !defs.is_empty() {
            schema.insert("$defs".into(), Value::Object(defs));
        }
        Value::Object(schema)
    }

    fn schema(&mut self, schema: &Schema, depth: u32) -> Map<String, Value> {
        let mut written = self.ty(&schema.ty, depth);
        describe(&mut written, schema.description.as_deref());
        written
    }

    fn ty(&mut self, ty: &Type, depth: u32) -> Map<String, Value> {
        if depth > MAX_DEPTH {
            return Map::new();
        }
        match ty {
            Type::Null => typed("null"),
            Type::Boolean { constant, default } => {
                let mut out = typed("boolean");
                put(&mut out, "const", *constant);
                put(&mut out, "default", *default);
                out
            }
            Type::Integer(integer) => self::integer(integer),
            Type::String(string) => self::string(string),
            Type::Bytes(_) => wrapped("$bytes"),
            Type::CidLink => wrapped("$link"),
            Type::Array { items, length } => {
                let mut out = typed("array");
                out.insert("items".into(), Value::Object(self.schema(items, depth + 1)));
                put(&mut out, "minItems", length.min);
                put(&mut out, "maxItems", length.max);
                out
            }
            Type::Object(object) => self.object(object, depth),
            Type::Ref(target) => self.reference(target),
            Type::Union { refs, closed: true } => {
                let refs = refs.iter().map(|target| Value::Object(self.reference(target))).collect();
                Map::from_iter([("anyOf".to_owned(), Value::Array(refs))])
            }
            // Of an open union there may be any other.
            Type::Blob { .. } | Type::Union { .. } | Type::Unknown => typed("object"),
            Type::Token => typed("string"),
            Type::Foreign(_) => Map::new(),
        }
    }

    fn object(&mut self, object: &ObjectType, depth: u32) -> Map<String, Value> {
        let mut properties = Map::new();
        for (name, schema) in &object.properties {
            let mut written = self.schema(schema, depth + 1);
            if object.nullable.contains(name) {
                written = Map::from_iter([("anyOf".to_owned(), json!([written, {"type": "null"}]))]);
            }
            properties.insert(name.clone(), Value::Object(written));
        }
        let mut out = typed("object");
        out.insert("properties".into(), Value::Object(properties));
        if !object.required.is_empty() {
            out.insert("required".into(), json!(object.required));
        }
        out
    }

    fn reference(&mut self, target: &str) -> Map<String, Value> {
        let (nsid, name) = target.split_once('#').unwrap_or((target, "main"));
        let nsid = if nsid.is_empty() { self.nsid } else { nsid };
        let full = format!("{nsid}#{name}");
        let reference = format!("#/$defs/{}", key(&full));
        self.wanted.insert(full);
        Map::from_iter([("$ref".to_owned(), Value::from(reference))])
    }
}

/// What a definition is called among `$defs`: no character that a JSON pointer or a URI would escape.
fn key(full: &str) -> String {
    full.replace('#', ".")
}

fn typed(name: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), Value::from(name))])
}

/// An object of one text, as bytes and links are in JSON.
fn wrapped(name: &str) -> Map<String, Value> {
    let mut out = typed("object");
    out.insert("properties".into(), json!({name: {"type": "string"}}));
    out.insert("required".into(), json!([name]));
    out
}

fn put(out: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        out.insert(name.into(), value.into());
    }
}

fn describe(out: &mut Map<String, Value>, description: Option<&str>) {
    put(out, "description", description);
}

fn integer(integer: &IntegerType) -> Map<String, Value> {
    let mut out = typed("integer");
    put(&mut out, "minimum", integer.min);
    put(&mut out, "maximum", integer.max);
    put(&mut out, "const", integer.constant);
    put(&mut out, "enum", integer.values.clone());
    put(&mut out, "default", integer.default);
    out
}

fn string(string: &StringType) -> Map<String, Value> {
    let mut out = typed("string");
    let Length { max: bytes, .. } = string.length;
    // No character is shorter than a byte, none is longer than a grapheme: of the two bounds only that of bytes holds.
    put(&mut out, "maxLength", bytes);
    if string.length.min.is_some_and(|min| min > 0) || string.graphemes.min.is_some_and(|min| min > 0) {
        out.insert("minLength".into(), Value::from(1));
    }
    put(&mut out, "const", string.constant.clone());
    put(&mut out, "enum", string.values.clone());
    put(&mut out, "examples", string.known_values.clone());
    put(&mut out, "default", string.default.clone());
    if matches!(string.format, Some(Format::Datetime)) {
        out.insert("format".into(), Value::from("date-time"));
    }
    out
}
