//! Holds calls of endpoints against their lexicons: parameters and bodies that come in, answers and messages that go out.

use serde_json::{Map, Value};

use super::{
    Catalog, Rule, Violation,
    report::{All, First},
};
use crate::{
    catalog::{CallChecks, Check},
    path::{Path, quoted},
    schema::{DefKind, Endpoint, Schema, Type, full_name, resolve_ref},
    view::Data,
};

/// Why parameters were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadParams {
    /// There is no such endpoint.
    #[error(transparent)]
    UnknownEndpoint(#[from] UnknownEndpoint),
    /// They are not what it takes: everything that is wrong, at least one.
    #[error("{}", listed(.0))]
    Invalid(Vec<Violation>),
}

/// There is no query, procedure or subscription of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{nsid} is no endpoint known here")]
pub struct UnknownEndpoint {
    /// What was asked for.
    pub nsid: String,
}

fn listed(violations: &[Violation]) -> String {
    // The root of a query string has no name a caller knows.
    let line = |v: &Violation| match v.path.strip_prefix("$.") {
        Some(name) => format!("{name}: {}", v.message),
        None => v.message.clone(),
    };
    violations.iter().map(line).collect::<Vec<_>>().join("; ")
}

impl Catalog {
    /// The query, procedure or subscription that the lexicon `nsid` defines.
    #[must_use]
    pub fn endpoint(&self, nsid: &str) -> Option<&Endpoint> {
        match &self.lexicon(nsid)?.def("main")?.kind {
            DefKind::Endpoint(endpoint) => Some(endpoint),
            _ => None,
        }
    }

    /// The parameters of a call of `nsid`, out of the pairs of its query string: typed, and with the defaults of those that
    /// are not given. Parameters the lexicon does not know are left out, as the protocol has it.
    ///
    /// # Errors
    /// If there is no such endpoint; with everything in which the parameters differ from what it takes.
    pub fn read_params<'q>(
        &self,
        nsid: &str,
        pairs: impl IntoIterator<Item = (&'q str, &'q str)>,
    ) -> Result<Map<String, Value>, BadParams> {
        let unknown = || UnknownEndpoint { nsid: nsid.to_owned() };
        let endpoint = self.endpoint(nsid).ok_or_else(unknown)?;
        let checks = self.call(nsid).ok_or_else(unknown)?;
        let mut params = Map::new();
        let (Some(object), Some(check)) = (&endpoint.parameters, &checks.params) else { return Ok(params) };
        let mut twice = Vec::new();
        for (name, text) in pairs {
            let Some((_, schema)) = object.properties.iter().find(|(known, _)| known == name) else { continue };
            match &schema.ty {
                Type::Array { items, .. } => {
                    let list = params.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                    list.as_array_mut().into_iter().for_each(|list| list.push(typed(&items.ty, text)));
                }
                ty => {
                    if params.insert(name.to_owned(), typed(ty, text)).is_some() {
                        let message = "it is given more than once, and only one is taken".to_owned();
                        twice.push(Violation { path: format!("$.{name}"), rule: Rule::DuplicateKey, message });
                    }
                }
            }
        }
        for (name, schema) in &object.properties {
            if let Some(default) = default(schema).filter(|_| !params.contains_key(name)) {
                params.insert(name.clone(), default);
            }
        }
        let params = Value::Object(params);
        let mut violations = self.violations(check, &params);
        violations.extend(twice);
        match params {
            Value::Object(params) if violations.is_empty() => Ok(params),
            _ => Err(BadParams::Invalid(violations)),
        }
    }

    /// Everything in which `answer` differs from what the endpoint `nsid` answers, or nothing if it is valid.
    ///
    /// # Errors
    /// If there is no such endpoint.
    pub fn validate_output<'v, D: Data<'v>>(&self, nsid: &str, answer: D) -> Result<Vec<Violation>, UnknownEndpoint> {
        let checks = self.checks(nsid)?;
        Ok(checks.output.as_ref().map(|check| self.violations(check, answer)).unwrap_or_default())
    }

    /// Everything in which `params`, an object with a member for each, differ from what the endpoint `nsid` takes, or
    /// nothing if they are valid. Those that the lexicon does not know are left alone.
    ///
    /// # Errors
    /// If there is no such endpoint.
    pub fn validate_params<'v, D: Data<'v>>(&self, nsid: &str, params: D) -> Result<Vec<Violation>, UnknownEndpoint> {
        let checks = self.checks(nsid)?;
        Ok(checks.params.as_ref().map(|check| self.violations(check, params)).unwrap_or_default())
    }

    /// Everything in which `body` differs from what the procedure `nsid` is sent, or nothing if it is valid.
    ///
    /// # Errors
    /// If there is no such endpoint.
    pub fn validate_input<'v, D: Data<'v>>(&self, nsid: &str, body: D) -> Result<Vec<Violation>, UnknownEndpoint> {
        let checks = self.checks(nsid)?;
        Ok(checks.input.as_ref().map(|check| self.violations(check, body)).unwrap_or_default())
    }

    /// Everything in which `message` differs from what the subscription `nsid` sends, or nothing if it is valid.
    ///
    /// A frame of an event stream says in its header which of the messages it is (`t`, e.g. `#commit`); that is `ty`.
    /// Elsewhere the message says it itself, by its `$type`.
    ///
    /// # Errors
    /// If there is no such endpoint.
    pub fn validate_message<'v, D: Data<'v>>(
        &self,
        nsid: &str,
        ty: Option<&str>,
        message: D,
    ) -> Result<Vec<Violation>, UnknownEndpoint> {
        let Some(check) = &self.checks(nsid)?.message else { return Ok(Vec::new()) };
        let (Some(ty), Check::Union(union)) = (ty, check) else { return Ok(self.violations(check, message)) };
        let full = resolve_ref(nsid, ty);
        Ok(match union.names.find(&full).and_then(|i| union.targets.get(i)) {
            // Of an open union anyone may add to, it is no fault to know one part less.
            Some(Check::Missing(_)) if !union.closed => self.violations(&Check::Any, message),
            Some(target) => self.violations(target, message),
            None if union.closed => {
                let message = format!("{} is none of the {} that there are", quoted(ty), union.targets.len());
                vec![Violation { path: "$".to_owned(), rule: Rule::UnionClosed, message }]
            }
            None => self.violations(&Check::Any, message),
        })
    }

    /// Everything in which `value` differs from what the definition `name` of the lexicon `nsid` says, or nothing if it is
    /// valid; `None` if there is no such definition, or none that a value could be of. Records are held against their
    /// lexicon by [`Self::validate_record`].
    pub fn validate_def<'v, D: Data<'v>>(&self, nsid: &str, name: &str, value: D) -> Option<Vec<Violation>> {
        let def = self.type_def(&full_name(nsid, name))?;
        Some(self.violations(&def.check, value))
    }

    fn checks(&self, nsid: &str) -> Result<&CallChecks, UnknownEndpoint> {
        self.call(nsid).ok_or_else(|| UnknownEndpoint { nsid: nsid.to_owned() })
    }

    fn violations<'v, D: Data<'v>>(&self, check: &Check, value: D) -> Vec<Violation> {
        if self.check(check, value, &Path::root(), &mut First).is_ok() {
            return Vec::new();
        }
        let mut all = All::default();
        // Halted or not: what is listed is listed.
        let _ = self.check(check, value, &Path::root(), &mut all);
        all.violations
    }
}

/// A parameter as its type has it; as the text it is where it is none of that type, which the check then says.
fn typed(ty: &Type, text: &str) -> Value {
    let value = match ty {
        Type::Boolean { .. } => text.parse().ok().map(Value::Bool),
        Type::Integer(_) => text.parse::<i64>().ok().map(Value::from),
        _ => None,
    };
    value.unwrap_or_else(|| Value::from(text))
}

fn default(schema: &Schema) -> Option<Value> {
    match &schema.ty {
        Type::Boolean { default, .. } => default.map(Value::Bool),
        Type::Integer(integer) => integer.default.map(Value::from),
        Type::String(string) => string.default.clone().map(Value::from),
        _ => None,
    }
}

impl UnknownEndpoint {
    /// As an answer says it, without repeating more of the name than anybody needs.
    #[must_use]
    pub fn message(&self) -> String {
        format!("{} is no method of this host", quoted(&self.nsid))
    }
}
