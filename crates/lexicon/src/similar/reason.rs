//! Why two lexicons are close, in words.

use std::{cmp::Ordering, fmt};

use serde::Serialize;

use super::features::Kind;

/// The most that is named of each kind.
const MOST: usize = 6;

/// Something that two lexicons share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// What kind of thing.
    pub kind: Shared,
    /// Which, what counts most first.
    pub shared: Vec<String>,
}

/// A kind of thing that is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shared {
    /// Words of the descriptions.
    Words,
    /// What words stand for, be they the same or not.
    Meaning,
    /// Words in the names of properties.
    PropertyNames,
    /// Properties of the same name and type, as `name (type)`.
    Properties,
    /// Words of the NSIDs.
    Name,
    /// Definitions that both refer to, or one of the two to the other.
    Refs,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Shared::Words => "same words",
            Shared::Meaning => "same meaning",
            Shared::PropertyNames => "same words in names of properties",
            Shared::Properties => "same properties",
            Shared::Name => "same words in the name",
            Shared::Refs => "same references",
        };
        write!(f, "{what}: {}", self.shared.join(", "))
    }
}

/// Of shared features with their products: a reason for each kind, what counts most first.
pub(super) fn reasons(mut shared: Vec<(Kind, &str, f32)>) -> Vec<Reason> {
    shared.sort_unstable_by(|a, b| b.2.partial_cmp(&a.2).unwrap_or(Ordering::Equal).then(a.1.cmp(b.1)));
    let mut found: Vec<(f32, Reason)> = Vec::new();
    for (kind, text, product) in shared {
        let kind = match kind {
            Kind::Text => Shared::Words,
            Kind::Meaning => Shared::Meaning,
            Kind::Names => Shared::PropertyNames,
            Kind::Properties => Shared::Properties,
            Kind::Nsid => Shared::Name,
            Kind::Refs => Shared::Refs,
            // Parts of words say nothing to people; the words they are of are named.
            Kind::Parts => continue,
        };
        match found.iter_mut().find(|(_, reason)| reason.kind == kind) {
            Some((sum, reason)) => {
                *sum += product;
                if reason.shared.len() < MOST {
                    reason.shared.push(text.to_owned());
                }
            }
            None => found.push((product, Reason { kind, shared: vec![text.to_owned()] })),
        }
    }
    found.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
    found.into_iter().map(|(_, reason)| reason).collect()
}
