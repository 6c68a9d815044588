//! What a definition is made of, row by row.

use serde::Serialize;
use serde_json::Value;

use crate::schema::{Body, Length, ObjectType, Schema, Type, resolve_ref};

/// The members of an object, or what stands in place of one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// What it is of, e.g. `Parameters`.
    pub title: String,
    /// The MIME type of a body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// In the document's order; the members of objects in place follow them, as `outer.inner` and `outer[].inner`.
    pub rows: Vec<Row>,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its name; empty for a value that is no member of anything.
    pub name: String,
    /// Its type, as the document writes it.
    #[serde(rename = "type")]
    pub ty: String,
    /// Of an array: the type of its elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// The format of the string, or of the strings in the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What it, or its elements, may refer to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<RefView>,
    /// Of a union: whether there can be no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<bool>,
    /// Whether it must be there.
    pub required: bool,
    /// Whether it may be `null`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nullable: bool,
    /// Its limits, as the document names them; those of the elements of an array begin with `items.`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// Values one may expect, among others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known_values: Vec<String>,
    /// The only values there are.
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The only value there is.
    #[serde(rename = "const", skip_serializing_if = "Option::is_none")]
    pub constant: Option<Value>,
    /// The value where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// MIME types of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A definition that is referred to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefView {
    /// As the document writes it.
    pub written: String,
    /// Its full name.
    pub full: String,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// As the document names it, e.g. `maxGraphemes`.
    pub name: String,
    /// How much.
    pub value: i128,
}

impl Table {
    pub(super) fn of_object(nsid: &str, title: &str, object: &ObjectType) -> Self {
        let mut rows = Vec::new();
        members(nsid, "", object, &mut rows);
        Self { title: title.to_owned(), encoding: None, description: None, rows }
    }

    pub(super) fn of_body(nsid: &str, title: &str, body: &Body) -> Self {
        let mut table = match &body.schema {
            Some(schema) => Self::of_type(nsid, title, &schema.ty, schema.description.clone()),
            None => Self { title: title.to_owned(), encoding: None, description: None, rows: Vec::new() },
        };
        table.encoding = Some(body.encoding.clone());
        table.description = body.description.clone().or(table.description);
        table
    }

    /// Of an object its members, of anything else the thing itself.
    pub(super) fn of_type(nsid: &str, title: &str, ty: &Type, description: Option<String>) -> Self {
        match ty {
            Type::Object(object) => Self { description, ..Self::of_object(nsid, title, object) },
            ty => {
                let mut rows = Vec::new();
                add(nsid, Row { description, required: true, ..Row::default() }, ty, &mut rows);
                Self { title: title.to_owned(), encoding: None, description: None, rows }
            }
        }
    }

    /// Of a definition, whose description stands elsewhere. A token has none.
    pub(super) fn of_def(nsid: &str, ty: &Type) -> Option<Self> {
        match ty {
            Type::Token => None,
            Type::Object(_) => Some(Self::of_type(nsid, "Properties", ty, None)),
            ty => Some(Self::of_type(nsid, "Value", ty, None)),
        }
    }
}

fn members(nsid: &str, prefix: &str, object: &ObjectType, rows: &mut Vec<Row>) {
    for (name, schema) in &object.properties {
        let row = Row {
            name: format!("{prefix}{name}"),
            required: object.required.contains(name),
            nullable: object.nullable.contains(name),
            description: schema.description.clone(),
            ..Row::default()
        };
        add(nsid, row, &schema.ty, rows);
    }
}

/// Fills in what `ty` says, and adds the row with all that lies in it.
fn add(nsid: &str, mut row: Row, ty: &Type, rows: &mut Vec<Row>) {
    ty.name().clone_into(&mut row.ty);
    let name = row.name.clone();
    match ty {
        Type::Array { items, length } => {
            limit_length(&mut row, "", "Length", *length);
            fill(nsid, &mut row, "items.", &items.ty);
            row.items = Some(array_items(items));
            row.description = row.description.take().or_else(|| items.description.clone());
            rows.push(row);
            inner(nsid, &format!("{name}[]"), &items.ty, rows);
        }
        ty => {
            fill(nsid, &mut row, "", ty);
            rows.push(row);
            inner(nsid, &name, ty, rows);
        }
    }
}

/// The members of an object in place, however many arrays it is in.
fn inner(nsid: &str, name: &str, ty: &Type, rows: &mut Vec<Row>) {
    match ty {
        Type::Object(object) => members(nsid, &format!("{name}."), object, rows),
        Type::Array { items, .. } => inner(nsid, &format!("{name}[]"), &items.ty, rows),
        _ => {}
    }
}

/// What the elements of an array are.
fn array_items(items: &Schema) -> String {
    match &items.ty {
        Type::Array { items, .. } => format!("array of {}", array_items(items)),
        ty => ty.name().to_owned(),
    }
}

fn fill(nsid: &str, row: &mut Row, prefix: &str, ty: &Type) {
    match ty {
        Type::Boolean { constant, default } => {
            row.constant = constant.map(Value::Bool);
            row.default = default.map(Value::Bool);
        }
        Type::Integer(integer) => {
            limit(row, prefix, "minimum", integer.min);
            limit(row, prefix, "maximum", integer.max);
            row.constant = integer.constant.map(Value::from);
            row.default = integer.default.map(Value::from);
            row.values = integer.values.iter().flatten().map(ToString::to_string).collect();
        }
        Type::String(string) => {
            row.format = string.format.as_ref().map(|format| format.name().to_owned());
            limit_length(row, prefix, "Length", string.length);
            limit_length(row, prefix, "Graphemes", string.graphemes);
            row.known_values = string.known_values.clone().unwrap_or_default();
            row.values = string.values.clone().unwrap_or_default();
            row.constant = string.constant.clone().map(Value::from);
            row.default = string.default.clone().map(Value::from);
        }
        Type::Bytes(length) => limit_length(row, prefix, "Length", *length),
        Type::Blob { accept, max_size } => {
            limit(row, prefix, "maxSize", *max_size);
            row.accept = accept.clone().unwrap_or_default();
        }
        Type::Ref(target) => row.refs = vec![ref_view(nsid, target)],
        Type::Union { refs, closed } => {
            row.refs = refs.iter().map(|target| ref_view(nsid, target)).collect();
            row.closed = Some(*closed);
        }
        Type::Array { items, length } => {
            limit_length(row, prefix, "Length", *length);
            fill(nsid, row, &format!("{prefix}items."), &items.ty);
        }
        Type::Null | Type::CidLink | Type::Object(_) | Type::Unknown | Type::Token | Type::Foreign(_) => {}
    }
}

fn ref_view(nsid: &str, target: &str) -> RefView {
    RefView { written: target.to_owned(), full: resolve_ref(nsid, target) }
}

fn limit(row: &mut Row, prefix: &str, name: &str, value: Option<impl Into<i128>>) {
    if let Some(value) = value {
        row.limits.push(Limit { name: format!("{prefix}{name}"), value: value.into() });
    }
}

fn limit_length(row: &mut Row, prefix: &str, of: &str, length: Length) {
    limit(row, prefix, &format!("min{of}"), length.min);
    limit(row, prefix, &format!("max{of}"), length.max);
}
