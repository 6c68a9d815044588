//! What can go wrong with lexicons, other than a record being invalid.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{json::JsonError, lint::LintRule};

/// Why a lexicon could not be used, or a record not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] JsonError),
    /// The document is JSON, but not a lexicon.
    #[error("{name} is not a valid lexicon: {}", Listed(problems))]
    InvalidLexicon {
        /// The document's file name or NSID, as its reader was told it.
        name: String,
        /// All that is wrong with it, at least one.
        problems: Vec<Problem>,
    },
    /// A record was given without a schema to hold it against, and names none.
    #[error("the record has no `$type`, and no schema was named")]
    NoType,
    /// No schema for the record.
    #[error(transparent)]
    UnknownLexicon(#[from] UnknownLexicon),
}

/// There is no record schema of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{nsid} {}", if *.is_known { "is a lexicon, but not one of records" } else { "is no lexicon known here" })]
pub struct UnknownLexicon {
    /// What was asked for.
    pub nsid: String,
    /// Whether there is a lexicon of that name, which then describes something else than records.
    pub is_known: bool,
}

/// Something about a lexicon document: an error in it, or a remark on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule it breaks.
    pub rule: LintRule,
    /// Where, as a JSON path, e.g. `$.defs.main.record`.
    pub path: String,
    /// What, as a sentence without its full stop.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// With the rule's level and what to do about it.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Problem", 5)?;
        object.serialize_field("level", &self.rule.level())?;
        object.serialize_field("rule", self.rule.as_str())?;
        object.serialize_field("path", &self.path)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("todo", self.rule.advice())?;
        object.end()
    }
}

struct Listed<'a>(&'a [Problem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if i == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
