//! The form in which decisions are kept.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Bound, Choice, Decisions, HomeStyle, OwnSummary, Passage};
use crate::{Decision, Fingerprint, Shared, fingerprint::Tag, words::Word};

/// Version of the stored form. In version 1 an allow was not bound to anything: such a finding is undecided again.
const VERSION: u32 = 2;

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    version: u32,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    withheld: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    findings: Vec<StoredFinding>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    words: Vec<Word>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    home: Option<HomeStyle>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    no_pointers: bool,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    dropped: BTreeSet<(Option<String>, Fingerprint)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passages: Vec<Passage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    summaries: Vec<OwnSummary>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    discussion: Option<String>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFinding {
    rule: String,
    fingerprint: Fingerprint,
    decision: Decision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Sixteen hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    definition: Option<String>,
    /// Sixteen hexadecimal digits each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    places: Option<String>,
}

fn hex<'a>(tags: impl IntoIterator<Item = &'a Tag>) -> String {
    tags.into_iter().flatten().map(|b| format!("{b:02x}")).collect()
}

fn tags(hex: &str) -> Option<Vec<Tag>> {
    let (whole, rest) = hex.as_bytes().as_chunks::<16>();
    let tag = |digits: &[u8; 16]| {
        let number = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        Some(number.to_be_bytes())
    };
    if rest.is_empty() { whole.iter().map(tag).collect() } else { None }
}

impl From<Decisions> for Stored {
    fn from(from: Decisions) -> Self {
        let finding = |((rule, fingerprint), choice): ((Shared, Fingerprint), Choice)| StoredFinding {
            rule: rule.to_string(),
            fingerprint,
            decision: choice.decision,
            reason: choice.reason,
            definition: choice.bound.as_ref().map(|b| hex([&b.rule])),
            places: choice.bound.as_ref().map(|b| hex(&b.places)),
        };
        Self {
            version: VERSION,
            withheld: from.withheld,
            findings: from.findings.into_iter().map(finding).collect(),
            words: from.words,
            title: from.title,
            description: from.description,
            home: from.home,
            no_pointers: from.no_pointers,
            dropped: from.dropped,
            passages: from.passages,
            summaries: from.summaries,
            discussion: from.discussion,
        }
    }
}

impl TryFrom<Stored> for Decisions {
    type Error = String;

    fn try_from(from: Stored) -> Result<Self, String> {
        if !(1..=VERSION).contains(&from.version) {
            return Err(format!("decisions of version {} were written by another onrecord", from.version));
        }
        let mut decisions = Self {
            withheld: from.withheld,
            words: from.words,
            title: from.title,
            description: from.description,
            home: from.home,
            no_pointers: from.no_pointers,
            dropped: from.dropped,
            passages: from.passages,
            summaries: from.summaries,
            discussion: from.discussion,
            ..Self::default()
        };
        for finding in from.findings {
            let bound = match (&finding.definition, &finding.places) {
                (Some(rule), Some(places)) => match (tags(rule).as_deref(), tags(places)) {
                    (Some([rule]), Some(places)) => Some(Bound { rule: *rule, places }),
                    _ => return Err("what an allowed finding is bound to cannot be read".to_owned()),
                },
                _ => None,
            };
            if finding.decision == Decision::Allow && bound.is_none() {
                continue;
            }
            let choice = Choice { decision: finding.decision, reason: finding.reason, bound };
            decisions.findings.insert((finding.rule.into(), finding.fingerprint), choice);
        }
        Ok(decisions)
    }
}
