//! From lexicons to checks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{CallChecks, Catalog, Compiled, Names};
use crate::schema::{
    Body, DefKind, Format, KeyRule, Length, Lexicon, ObjectType, Schema, StringType, Type, full_name, resolve_ref,
};

/// What a value is held to.
#[derive(Debug)]
pub(crate) enum Check {
    /// Nothing but the data model.
    Any,
    Null,
    Boolean {
        constant: Option<bool>,
    },
    Integer(Box<IntegerCheck>),
    Text(Box<TextCheck>),
    Bytes(Bounds),
    Link,
    Blob(Box<BlobCheck>),
    Array {
        items: Box<Check>,
        length: Bounds,
    },
    Object(Box<ObjectCheck>),
    Union(Box<UnionCheck>),
    Unknown,
    /// The name that the token is.
    Token(Box<str>),
    /// Another definition.
    Def(u32),
    /// A definition that is not here, or is not of a type.
    Missing(Box<str>),
}

/// A length, both ends included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) min: usize,
    pub(crate) max: usize,
}

#[derive(Debug)]
pub(crate) struct IntegerCheck {
    pub(crate) min: i64,
    pub(crate) max: i64,
    pub(crate) constant: Option<i64>,
    pub(crate) values: Option<Box<[i64]>>,
}

#[derive(Debug)]
pub(crate) struct TextCheck {
    pub(crate) format: Option<Format>,
    pub(crate) bytes: Bounds,
    pub(crate) graphemes: Bounds,
    pub(crate) constant: Option<Box<str>>,
    pub(crate) values: Option<Box<[String]>>,
}

#[derive(Debug)]
pub(crate) struct BlobCheck {
    pub(crate) accept: Option<Box<[String]>>,
    pub(crate) max_size: u64,
}

#[derive(Debug)]
pub(crate) struct ObjectCheck {
    pub(crate) names: Names,
    /// In the order of `names`: the required ones first.
    pub(crate) properties: Box<[Property]>,
    pub(crate) required: usize,
}

#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) check: Check,
    pub(crate) nullable: bool,
}

#[derive(Debug)]
pub(crate) struct UnionCheck {
    /// The values of `$type`.
    pub(crate) names: Names,
    /// In the order of `names`.
    pub(crate) targets: Box<[Check]>,
    pub(crate) closed: bool,
}

pub(super) fn compile(lexicons: BTreeMap<String, Lexicon>) -> Catalog {
    let all = || lexicons.values().flat_map(|lexicon| lexicon.defs.iter().map(move |(name, def)| (lexicon, name, def)));
    let mut ids = HashMap::new();
    let mut is_type: Vec<bool> = Vec::new();
    for (id, (lexicon, name, def)) in (0_u32..).zip(all()) {
        ids.insert(full_name(lexicon.id.as_str(), name), id);
        is_type.push(matches!(def.kind, DefKind::Record(_) | DefKind::Type(_) | DefKind::Foreign(_)));
    }
    let mut unresolved = BTreeSet::new();
    let mut defs = Vec::with_capacity(is_type.len());
    let mut records = HashMap::new();
    let mut calls = HashMap::new();
    for (id, (lexicon, name, def)) in (0_u32..).zip(all()) {
        let mut compiler = Compiler { lexicon, ids: &ids, is_type: &is_type, unresolved: &mut unresolved };
        let mut key = None;
        let check = match &def.kind {
            DefKind::Record(record) => {
                records.insert(lexicon.id.as_str().into(), id);
                key = Some(record.key.clone());
                compiler.object(&record.object)
            }
            DefKind::Type(Type::Token) => Check::Token(full_name(lexicon.id.as_str(), name).into()),
            DefKind::Type(ty) => compiler.ty(ty),
            DefKind::Endpoint(endpoint) => {
                let mut body = |body: &Option<Body>| Some(compiler.ty(&body.as_ref()?.schema.as_ref()?.ty));
                let (input, output) = (body(&endpoint.input), body(&endpoint.output));
                let params = endpoint.parameters.as_ref().map(|params| compiler.object(params));
                let message = endpoint.message.as_ref().map(|schema| compiler.ty(&schema.ty));
                calls.insert(lexicon.id.as_str().into(), CallChecks { params, input, output, message });
                Check::Any
            }
            DefKind::PermissionSet(_) | DefKind::Foreign(_) => Check::Any,
        };
        defs.push(Compiled { check, key, is_type: is_type.get(id as usize) == Some(&true) });
    }
    Catalog { lexicons, defs, ids, records, calls, unresolved }
}

struct Compiler<'c> {
    lexicon: &'c Lexicon,
    ids: &'c HashMap<String, u32>,
    is_type: &'c [bool],
    unresolved: &'c mut BTreeSet<String>,
}

impl Compiler<'_> {
    fn ty(&mut self, ty: &Type) -> Check {
        match ty {
            Type::Null => Check::Null,
            Type::Boolean { constant, .. } => Check::Boolean { constant: *constant },
            Type::Integer(integer) => Check::Integer(Box::new(IntegerCheck {
                min: integer.min.unwrap_or(i64::MIN),
                max: integer.max.unwrap_or(i64::MAX),
                constant: integer.constant,
                values: integer.values.as_deref().map(Into::into),
            })),
            Type::String(string) => Check::Text(Box::new(text(string))),
            Type::Bytes(length) => Check::Bytes(length.into()),
            Type::CidLink => Check::Link,
            Type::Blob { accept, max_size } => Check::Blob(Box::new(BlobCheck {
                accept: accept.as_deref().map(Into::into),
                max_size: max_size.unwrap_or(u64::MAX),
            })),
            Type::Array { items, length } => {
                Check::Array { items: Box::new(self.ty(&items.ty)), length: length.into() }
            }
            Type::Object(object) => self.object(object),
            Type::Ref(target) => {
                let name = resolve_ref(self.lexicon.id.as_str(), target);
                self.target(&name)
            }
            Type::Union { refs, closed } => {
                let names: Vec<String> =
                    refs.iter().map(|target| resolve_ref(self.lexicon.id.as_str(), target)).collect();
                let targets = names.iter().map(|name| self.target(name)).collect();
                Check::Union(Box::new(UnionCheck {
                    names: Names::new(names.into_iter().map(Into::into)),
                    targets,
                    closed: *closed,
                }))
            }
            Type::Unknown => Check::Unknown,
            // A token in place of a type has no name that a value could have.
            Type::Token | Type::Foreign(_) => Check::Any,
        }
    }

    fn object(&mut self, object: &ObjectType) -> Check {
        let is_required = |name: &String| object.required.contains(name);
        let mut ordered: Vec<&(String, Schema)> = object.properties.iter().collect();
        ordered.sort_by_key(|(name, _)| !is_required(name));
        let properties = ordered
            .iter()
            .map(|(name, schema)| Property { check: self.ty(&schema.ty), nullable: object.nullable.contains(name) });
        let properties = properties.collect();
        Check::Object(Box::new(ObjectCheck {
            properties,
            required: ordered.iter().filter(|(name, _)| is_required(name)).count(),
            names: Names::new(ordered.iter().map(|(name, _)| name.as_str().into())),
        }))
    }

    fn target(&mut self, name: &str) -> Check {
        match self.ids.get(name) {
            Some(&id) if self.is_type.get(id as usize) == Some(&true) => Check::Def(id),
            Some(_) => Check::Missing(name.into()),
            None => {
                self.unresolved.insert(name.to_owned());
                Check::Missing(name.into())
            }
        }
    }
}

fn text(string: &StringType) -> TextCheck {
    TextCheck {
        format: string.format.clone().filter(|format| !matches!(format, Format::Foreign(_))),
        bytes: (&string.length).into(),
        graphemes: (&string.graphemes).into(),
        constant: string.constant.as_deref().map(Into::into),
        values: string.values.as_deref().map(Into::into),
    }
}

impl From<&Length> for Bounds {
    fn from(length: &Length) -> Self {
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Self { min: length.min.map_or(0, size), max: length.max.map_or(usize::MAX, size) }
    }
}

impl KeyRule {
    /// What is wrong with `rkey`, if anything.
    pub(crate) fn check(&self, rkey: &str) -> Result<(), &'static str> {
        use crate::syntax::{is_valid_nsid, is_valid_record_key, is_valid_tid};
        if !is_valid_record_key(rkey) {
            return Err("is not a record key");
        }
        match self {
            Self::Tid if !is_valid_tid(rkey) => Err("is not a TID"),
            Self::Nsid if !is_valid_nsid(rkey) => Err("is not an NSID"),
            Self::Literal(literal) if literal != rkey => Err("is not the one key that the schema allows"),
            _ => Ok(()),
        }
    }
}
