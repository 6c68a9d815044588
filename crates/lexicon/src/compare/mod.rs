//! What changed between two versions of a lexicon, in sentences, and what of it breaks the agreement with those who use it.
//!
//! All data written for the one must be valid for the other, in both directions: who reads and who writes do not change on
//! the same day.
//! Sources: the rules of evolution in the lexicon specification, and the compatibility rules of `goat lex breaking`.

#[cfg(test)]
mod tests;
mod walk;

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{lint::Level, schema::Lexicon};

macro_rules! rules {
    ($($rule:ident $level:ident $name:literal)*) => {
        /// A rule of compatibility that a change breaks. Its name is stable.
        ///
        /// The first eighteen have the names that the field's tool (`goat lex breaking`) gives them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "named after what must not change")]
        pub enum CompatRule { $($rule,)* }

        impl CompatRule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// The rule's name, e.g. `object-required`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// An error breaks somebody; a warning may.
            #[must_use]
            pub const fn level(self) -> Level {
                match self { $(Self::$rule => Level::$level,)* }
            }
        }
    };
}

rules! {
    TypeChange Error "type-change"
    RecordKeyType Error "record-key-type"
    BodyEncoding Error "body-encoding"
    ConstValue Error "const-value"
    EnumValues Error "enum-values"
    StringFormat Error "string-format"
    ObjectRequired Error "object-required"
    ObjectNullable Error "object-nullable"
    ParamsRequired Error "params-required"
    UnionOpenClosed Error "union-open-closed"
    UnionClosedRefs Error "union-closed-refs"
    IntegerRange Warning "integer-range"
    StringLength Warning "string-length"
    BytesLength Warning "bytes-length"
    ArrayLength Warning "array-length"
    BlobAccept Warning "blob-accept"
    BlobSize Warning "blob-size"
    RefChange Warning "ref-change"

    DefinitionRemoved Warning "definition-removed"
    UnionOpenRefs Warning "union-open-refs"
}

impl Serialize for CompatRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl std::fmt::Display for CompatRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// One thing that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The definition it is in; empty for the document itself.
    pub def: String,
    /// Where, as a JSON path, e.g. `$.defs.main.record.properties.text`.
    pub path: String,
    /// What, as a sentence without its full stop.
    pub message: String,
    /// The rule that it breaks, if it does.
    pub rule: Option<CompatRule>,
}

impl Change {
    /// How bad it is, if it breaks a rule.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        self.rule.map(CompatRule::level)
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Change", 5)?;
        object.serialize_field("def", &self.def)?;
        object.serialize_field("path", &self.path)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("level", &self.level())?;
        object.serialize_field("rule", &self.rule)?;
        object.end()
    }
}

/// Everything that changed from `before` to `after`, by definition: first the document, then those of `before` in its
/// order, then new ones.
#[must_use]
pub fn changes(before: &Lexicon, after: &Lexicon) -> Vec<Change> {
    walk::compare(before, after)
}

/// Those of the [`changes`] that break a rule of compatibility; errors first.
#[must_use]
pub fn breaking(before: &Lexicon, after: &Lexicon) -> Vec<Change> {
    let mut found: Vec<Change> = changes(before, after).into_iter().filter(|change| change.rule.is_some()).collect();
    found.sort_by_key(|change| std::cmp::Reverse(change.level()));
    found
}
