//! Holds records against schemas.
//!
//! Two ways through the same code: one that stops at the first violation and allocates nothing, and one that lists
//! all of them. The first is always taken first, so that a valid record, the usual case, costs nothing more.
//!
//! What is checked: everything the lexicon language says, the keys, and that whatever stands in fields the schema
//! does not know can be written at all (the data model has no fractions, and its `$`-objects have one shape each).

mod call;
mod report;
mod scalar;
mod shortcut;
mod typed;
mod walk;

use crate::{
    catalog::{Catalog, Check, Compiled},
    data::MAX_DEPTH,
    error::{Error, UnknownLexicon},
    json::Json,
    path::{Path, quoted},
    view::{Data, View},
};

pub use call::{BadParams, UnknownEndpoint};
use report::{All, First, Halt, Sink};
pub use report::{Checked, Rule, Violation};
pub(crate) use scalar::text_fits;

/// Whether a container at `at` is one more than the data model has.
#[inline]
fn is_too_deep(at: &Path<'_>) -> bool {
    at.depth() as usize >= MAX_DEPTH
}

impl Catalog {
    /// Everything in which `record` differs from what the lexicon `nsid` says, or nothing if it is valid.
    ///
    /// `record` is anything that can be looked at: `&serde_json::Value`, [`Json::root`], a decoded block.
    /// `rkey` is checked where it is given. Of a record with very many violations the first 10,000 are listed.
    ///
    /// # Errors
    /// If there is no record schema of that name.
    pub fn validate_record<'v, D: Data<'v>>(
        &self,
        nsid: &str,
        record: D,
        rkey: Option<&str>,
    ) -> Result<Vec<Violation>, UnknownLexicon> {
        let def = (nsid, self.record(nsid)?);
        if self.record_into(def, record, rkey, &mut First).is_ok() {
            return Ok(Vec::new());
        }
        let mut all = All::default();
        // Halted or not: what is listed is listed.
        let _ = self.record_into(def, record, rkey, &mut all);
        Ok(all.violations)
    }

    /// Whether [`Self::validate_record`] would find nothing. Stops where it would find something, and allocates
    /// nothing.
    ///
    /// # Errors
    /// If there is no record schema of that name.
    pub fn is_valid_record<'v, D: Data<'v>>(
        &self,
        nsid: &str,
        record: D,
        rkey: Option<&str>,
    ) -> Result<bool, UnknownLexicon> {
        let def = (nsid, self.record(nsid)?);
        Ok(self.record_into(def, record, rkey, &mut First).is_ok())
    }

    /// Checks the JSON text of a record against the lexicon `nsid`, or without one against that which its `$type`
    /// names.
    ///
    /// A key that stands twice in an object is a violation: which of the two counts depends on who reads it.
    ///
    /// # Errors
    /// If the text is not JSON, if there is neither `nsid` nor `$type`, and if there is no record schema of that name.
    pub fn validate_json(&self, record: &[u8], nsid: Option<&str>) -> Result<Checked, Error> {
        let json = Json::parse(record)?;
        let own_type = || match json.root().field("$type")?.view() {
            View::String(nsid) => Some(nsid),
            _ => None,
        };
        let nsid = nsid.or_else(own_type).ok_or(Error::NoType)?;
        let mut violations = self.validate_record(nsid, json.root(), None)?;
        for path in json.duplicates() {
            let message = "this key stands in its object more than once".to_owned();
            violations.push(Violation { path, rule: Rule::DuplicateKey, message });
        }
        Ok(Checked { nsid: nsid.to_owned(), violations })
    }

    fn record_into<'v, D: Data<'v>, S: Sink>(
        &self,
        (nsid, def): (&str, &Compiled),
        record: D,
        rkey: Option<&str>,
        sink: &mut S,
    ) -> Result<(), Halt> {
        let root = Path::root();
        if let (Some(rkey), Some(rule)) = (rkey, &def.key)
            && let Err(why) = rule.check(rkey)
        {
            sink.report(&root, Rule::RecordKey, || format!("the key {} {why}", quoted(rkey)))?;
        }
        if let View::Object(_) = record.view() {
            let ty = root.name("$type");
            match record.field("$type").map(Data::view) {
                Some(View::String(found)) if found == nsid => {}
                Some(View::String(found)) => {
                    sink.report(&ty, Rule::RecordType, || {
                        format!("`{nsid}` is expected, but this is {}", quoted(found))
                    })?;
                }
                Some(_) => sink.report(&ty, Rule::RecordType, || format!("the string `{nsid}` is expected"))?,
                None => {
                    sink.report(&root, Rule::RecordType, || format!("there is no `$type`; `{nsid}` is expected"))?;
                }
            }
        }
        self.check(&def.check, record, &root, sink)
    }

    /// Holds `value` against `check`.
    fn check<'v, D: Data<'v>, S: Sink>(
        &self,
        check: &Check,
        value: D,
        at: &Path<'_>,
        sink: &mut S,
    ) -> Result<(), Halt> {
        match check {
            Check::Text(text) => scalar::text(text, value, at, sink),
            Check::Def(id) => match self.def(*id) {
                Some(def) => self.check(&def.check, value, at, sink),
                None => Ok(()),
            },
            Check::Object(object) => self.object(object, value, at, sink),
            Check::Array { items, length } => self.array(items, *length, value, at, sink),
            Check::Union(union) => self.union(union, value, at, sink),
            Check::Boolean { constant } => scalar::boolean(*constant, value, at, sink),
            Check::Integer(integer) => scalar::integer(integer, value, at, sink),
            Check::Bytes(length) => scalar::bytes(*length, value, at, sink),
            Check::Link => scalar::link(value, at, sink),
            Check::Blob(blob) => typed::blob(blob, value, at, sink),
            Check::Token(name) => scalar::token(name, value, at, sink),
            Check::Unknown => walk::unknown(value, at, sink),
            Check::Null => match value.view() {
                View::Null => Ok(()),
                other => report::wrong_type("null", &other, at, sink),
            },
            Check::Any => walk::any(value, at, sink),
            Check::Missing(name) => sink.report(at, Rule::UnresolvedRef, || {
                format!("the schema of this, {}, is not known here, so it cannot be checked", quoted(name))
            }),
        }
    }
}
