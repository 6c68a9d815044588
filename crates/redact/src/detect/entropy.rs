//! Tier E: randomness alone. Suggestions, never blocking.

use super::Hit;
use crate::engine::Kind;

/// Looks for tokens that are too random to be words.
pub(crate) struct Entropy;

impl Entropy {
    pub(crate) fn new(_kinds: &mut Vec<Kind>) -> Self {
        Self
    }

    pub(crate) fn find(&self, _text: &[u8], _hits: &mut Vec<Hit>) {}
}
