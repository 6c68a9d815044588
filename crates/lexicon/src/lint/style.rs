//! What the style guide advises.

use super::{
    LintRule,
    walk::{Field, Linter, Place, is_limited},
};
use crate::{
    error::Problem,
    path::{Path, quoted},
    schema::{Def, DefKind, Endpoint, EndpointKind, Format, ObjectType, Schema, StringType, Type},
    syntax::is_valid_nsid,
};

/// How many bytes a grapheme should have room for.
const BYTES_PER_GRAPHEME: std::ops::RangeInclusive<u64> = 10..=20;

/// What endpoints begin with, and what else is read as a verb there.
const VERBS: &[&str] = &[
    "get",
    "list",
    "search",
    "query",
    "create",
    "update",
    "delete",
    "upsert",
    "put",
    "find",
    "resolve",
    "describe",
    "check",
    "count",
    "send",
    "add",
    "remove",
    "set",
    "upload",
    "apply",
    "submit",
    "request",
    "confirm",
    "revoke",
    "refresh",
    "register",
    "notify",
    "import",
    "export",
    "sign",
    "activate",
    "deactivate",
    "enable",
    "disable",
    "mute",
    "unmute",
    "accept",
    "reject",
    "leave",
    "join",
    "reset",
    "reserve",
    "publish",
    "fetch",
    "read",
    "browse",
    "validate",
    "verify",
    "load",
    "start",
    "stop",
    "cancel",
    "grant",
    "emit",
    "backfill",
    "crawl",
];

/// Singular words that end as plurals do.
const SINGULARS: &[&str] = &["news", "series", "species", "settings", "preferences", "details", "metadata", "always"];

/// Names that collide with words of programming languages.
const RESERVED: &[&str] = &[
    "default",
    "length",
    "class",
    "new",
    "delete",
    "function",
    "return",
    "import",
    "export",
    "const",
    "var",
    "let",
    "null",
    "true",
    "false",
    "this",
    "self",
    "super",
    "prototype",
    "constructor",
    "async",
    "await",
    "enum",
    "interface",
];

/// Names that do not say of what they are.
const AMBIGUOUS: &[&str] =
    &["uri", "cid", "id", "ref", "data", "value", "type", "kind", "key", "count", "status", "info"];

/// The document's name, by what it defines.
pub(super) fn id(name: &str, main: Option<&(String, Def)>, at: &Path<'_>, out: &mut Vec<Problem>) {
    let mut say = |rule, message: String| out.push(Problem { rule, path: at.to_string(), message });
    if !is_lower_camel(name) {
        say(LintRule::NameCase, format!("the name {} is not in lowerCamelCase", quoted(name)));
    }
    if is_reserved(name) {
        say(LintRule::ReservedName, format!("{} is a word of programming languages", quoted(name)));
    }
    match main.map(|(_, def)| &def.kind) {
        Some(DefKind::Record(_)) if is_plural(name) => {
            say(LintRule::RecordNamePlural, format!("{} looks like a plural", quoted(name)));
        }
        Some(DefKind::Endpoint(endpoint)) => {
            let first = first_word(name);
            let (fits, expected) = match endpoint.kind {
                EndpointKind::Subscription => (first == "subscribe", "does not begin with `subscribe`"),
                EndpointKind::Query | EndpointKind::Procedure => (VERBS.contains(&first), "does not begin with a verb"),
            };
            if !fits {
                say(LintRule::EndpointName, format!("the {} {} {expected}", endpoint.kind.name(), quoted(name)));
            }
        }
        _ => {}
    }
}

/// The first word of a name in lowerCamelCase.
fn first_word(name: &str) -> &str {
    name.split(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()).next().unwrap_or(name)
}

pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

pub(super) fn is_lower_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_plural(name: &str) -> bool {
    // The last word of it.
    let start = name.rfind(|c: char| c.is_ascii_uppercase()).unwrap_or(0);
    let word = name.get(start..).unwrap_or(name).to_ascii_lowercase();
    word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is", "as", "os"].iter().any(|end| word.ends_with(end))
        && !SINGULARS.contains(&word.as_str())
}

fn is_upper_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_kebab(value: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    value.split('-').all(is_word)
}

/// A value that is a word, and no language, type, path or sentence of somebody else.
fn is_own_word(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) && value.len() > 2
}

/// What a string's name promises it to be.
fn promised(name: &str) -> Option<Format> {
    Some(match name {
        "did" => Format::Did,
        "handle" => Format::Handle,
        "cid" => Format::Cid,
        "nsid" => Format::Nsid,
        "tid" => Format::Tid,
        "rkey" | "recordKey" => Format::RecordKey,
        "uri" | "url" | "website" | "homepage" => Format::Uri,
        "lang" | "language" | "locale" => Format::Language,
        _ if name.ends_with("At") && name.len() > 3 => Format::Datetime,
        _ if name.ends_with("Did") || name.ends_with("DID") => Format::Did,
        _ if name.ends_with("Url") || name.ends_with("URL") || name.ends_with("Uri") => Format::Uri,
        _ => return None,
    })
}

/// A member of an object, by its name.
pub(super) fn field(linter: &mut Linter<'_>, field: Field<'_>, ty: &Type, at: &Path<'_>) {
    let Some(name) = field.name else { return };
    let is_described = field.description.is_some_and(|text| !text.trim().is_empty());
    if AMBIGUOUS.contains(&name) && !is_described {
        linter.say(LintRule::UndescribedField, at, format!("{} could be of anything", quoted(name)));
    }
    let Type::String(string) = ty else { return };
    if string.format.is_none()
        && let Some(format) = promised(name)
    {
        let message = format!("{} has no format, and `{}` is likely", quoted(name), format.name());
        linter.say(LintRule::MissingFormat, at, message);
    }
    match (&string.format, linter.place) {
        (Some(Format::Handle), Place::Record) => {
            linter.say(LintRule::HandleInRecord, at, format!("{} is a handle", quoted(name)));
        }
        (Some(Format::Did | Format::Handle), Place::Parameters)
            if matches!(
                name,
                "actor" | "account" | "user" | "author" | "repo" | "member" | "subject" | "identifier"
            ) =>
        {
            linter.say(LintRule::AccountParameter, at, format!("{} takes only one kind of identifier", quoted(name)));
        }
        _ => {}
    }
}

pub(super) fn string(linter: &mut Linter<'_>, string: &StringType, at: &Path<'_>) {
    if string.format.is_some() && (is_limited(string.length) || is_limited(string.graphemes)) {
        linter.say(LintRule::FormatAndLength, at, "there is a format, and limits besides");
    }
    match (string.length.max, string.graphemes.max) {
        (None, Some(_)) if string.format.is_none() => {
            linter.say(LintRule::GraphemesWithoutLength, at, "a grapheme can have any number of bytes");
        }
        (Some(bytes), Some(graphemes)) if graphemes > 0 && !BYTES_PER_GRAPHEME.contains(&(bytes / graphemes)) => {
            let message = format!("there are {} bytes for each grapheme", bytes / graphemes);
            linter.say(LintRule::LengthRatio, at, message);
        }
        _ => {}
    }
    if string.values.is_some() {
        linter.say(LintRule::ClosedEnum, &at.name("enum"), "no value can be added later");
    }
    for (name, values) in [("knownValues", &string.known_values), ("enum", &string.values)] {
        let at = at.name(name);
        for (i, value) in values.iter().flatten().enumerate() {
            if is_own_word(value) && !is_kebab(value) && !is_valid_nsid(value) {
                linter.say(LintRule::KnownValueCase, &at.index(i), format!("{} is not in kebab-case", quoted(value)));
            }
        }
    }
}

/// The elements of an array.
pub(super) fn items(linter: &mut Linter<'_>, items: &Schema, at: &Path<'_>) {
    let is_plain = matches!(items.ty, Type::Boolean { .. } | Type::Integer(_) | Type::String(_));
    if is_plain && matches!(linter.place, Place::Record | Place::Body | Place::Def) {
        let message = format!("the elements are of type {}, to which nothing can be added", items.ty.name());
        linter.say(LintRule::PlainItems, &at.name("items"), message);
    }
}

pub(super) fn endpoint(linter: &mut Linter<'_>, endpoint: &Endpoint, at: &Path<'_>) {
    let errors = at.name("errors");
    for (i, (name, _)) in endpoint.errors.iter().enumerate() {
        if !is_upper_camel(name) {
            let message = format!("{} is not in UpperCamelCase", quoted(name));
            linter.say(LintRule::ErrorNameCase, &errors.index(i).name("name"), message);
        }
    }
    let Some(params) = &endpoint.parameters else { return };
    let find = |object: &ObjectType, wanted: &str| {
        object.properties.iter().find(|(name, _)| name == wanted).map(|(_, schema)| schema.ty.clone())
    };
    let Some(cursor) = find(params, "cursor") else { return };
    let is_required = params.required.iter().any(|name| name == "cursor");
    let params_at = at.name("parameters");
    let cursor_at = params_at.name("properties");
    let cursor_at = cursor_at.name("cursor");
    if endpoint.kind == EndpointKind::Subscription {
        if is_required || !matches!(cursor, Type::Integer(_)) {
            linter.say(
                LintRule::SubscriptionCursor,
                &cursor_at,
                "the cursor of a stream is an integer one may leave out",
            );
        }
        return;
    }
    if is_required || !matches!(cursor, Type::String(_)) {
        linter.say(LintRule::Pagination, &cursor_at, "the cursor is a string that the first request leaves out");
    }
    match find(params, "limit") {
        None => linter.say(LintRule::Pagination, &params_at, "there is a `cursor`, and no `limit`"),
        Some(Type::Integer(_)) if !params.required.iter().any(|name| name == "limit") => {}
        Some(_) => linter.say(LintRule::Pagination, &params_at, "the `limit` is an integer one may leave out"),
    }
    if let Some(Type::Object(output)) = endpoint.output.as_ref().and_then(|body| body.schema.as_ref()).map(|s| &s.ty) {
        let answered = find(output, "cursor");
        if answered.is_none() || output.required.iter().any(|name| name == "cursor") {
            let message = "the answer has a `cursor` as long as there is more, and none at the end";
            linter.say(LintRule::Pagination, &at.name("output"), message);
        }
    }
}
