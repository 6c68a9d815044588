//! Tier A: the person's own secrets, in all their forms.

use std::{collections::HashSet, sync::Arc};

use zeroize::Zeroizing;

use super::Hit;
use crate::{
    Error, FingerprintKey, Tier,
    cover::{Covers, Value},
    engine::Kind,
    known::OwnSecret,
};

/// Looks for secrets that are known literally: as they are, encoded, wrapped, and their beginnings.
pub(crate) struct Known(Covers);

impl Known {
    /// Never allowable: whatever the author thinks of it, it opens something of theirs.
    pub(crate) fn new(own: &[OwnSecret], kinds: &mut Vec<Kind>) -> Result<Self, Error> {
        let mut values = Vec::with_capacity(own.len());
        let mut seen = HashSet::new();
        for secret in own.iter().filter(|s| !s.value().is_empty() && seen.insert(s.value())) {
            values.push(Value {
                text: Arc::new(Zeroizing::new(secret.value().to_owned())),
                public: 0,
                rule: kinds.len(),
            });
            kinds.push(Kind {
                id: "own-secret".to_owned().into(),
                name: format!("Your own secret {} from {}", secret.name(), secret.source()).into(),
                tier: Tier::A,
                blocking: true,
                allowable: false,
                definition: Default::default(),
            });
        }
        // The key is for words kept without their value; there are none here.
        Ok(Self(Covers::new(&FingerprintKey::from_bytes([0; 32]), &values, &[])?))
    }

    /// Appends the hits in `text`, in no order.
    pub(crate) fn find(&self, text: &[u8], hits: &mut Vec<Hit>) {
        if self.0.is_empty() {
            return;
        }
        let mut spans = Vec::new();
        // The engine looks at the other views of a text by itself.
        self.0.find_as_it_is(text, &mut spans);
        hits.extend(spans.iter().filter_map(|s| Some(Hit::new(s.rule?, s.start, s.end))));
    }
}
