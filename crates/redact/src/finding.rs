//! A place in the conversation that needs a decision.

use std::{fmt, ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize, Serializer};

use crate::{Field, Fingerprint, fingerprint::Tag};

/// A text that many findings have in common: a million findings name few rules.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shared(Arc<str>);

impl Shared {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Shared {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for Shared {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl PartialEq<str> for Shared {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Shared {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<String> for Shared {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.0)
    }
}

/// What kind of knowledge says that this must not be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// The person's own secrets, known literally.
    A,
    /// A provider's prefix and shape.
    B,
    /// The structure it stands in: key blocks, headers, URLs.
    C,
    /// A name that says so: key = value, prose.
    D,
    /// Randomness alone: a suggestion, never blocking.
    E,
    /// Personal data.
    F,
    /// The person's own rules and words.
    G,
}

/// What the author wants done with a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Bars over it, wherever the value stands.
    Cover,
    /// It is published as it is.
    Allow,
    /// The whole turn is held back.
    Withhold,
}

/// A place that needs a decision. It never holds the value itself.
///
/// Serialises as the command line's contract has it; the fingerprint and the turn's id stay inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// From 1, in reading order of this scan.
    pub id: u32,
    /// The rule that found it.
    pub rule: Shared,
    /// What it is, for people.
    pub name: Shared,
    /// How it was found.
    pub tier: Tier,
    /// Whether nothing may be published while this is undecided.
    pub blocking: bool,
    /// Whether the author may publish it as it is.
    #[serde(skip)]
    pub allowable: bool,
    /// The turn's place in the conversation, from 1; none for title and description.
    pub turn: Option<usize>,
    /// The turn's stable id.
    #[serde(skip)]
    pub turn_id: Option<Shared>,
    /// The text it stands in.
    pub field: Field,
    /// Where it starts, in UTF-8 bytes of that text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Names the value under the workspace's key; findings of one value and rule are decided together.
    #[serde(skip)]
    pub fingerprint: Fingerprint,
    /// A hint by which the author recognises it; never enough to use.
    pub preview: Shared,
    /// What was decided.
    pub decision: Option<Decision>,
    /// What a decision to allow it is bound to.
    #[serde(skip)]
    pub(crate) ground: Ground,
}

/// On what grounds a finding may be allowed: as this rule defines it, in these places. All of it keyed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Ground {
    /// The rule's definition and the engine's version.
    pub(crate) rule: Tag,
    /// The paragraph it stands in.
    pub(crate) place: Tag,
    /// The paragraphs in which findings of this rule and value stand, in order.
    pub(crate) places: Arc<[Tag]>,
}

impl Finding {
    /// Whether it is a home folder, about which one decision is made for all.
    #[must_use]
    pub fn is_home(&self) -> bool {
        crate::detect::is_home(&self.rule)
    }

    /// Whether it stands in the way of publishing.
    #[must_use]
    pub fn undecided(&self) -> bool {
        self.blocking && self.decision.is_none()
    }
}
