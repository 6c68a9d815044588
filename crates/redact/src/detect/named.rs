//! Tier D: secrets that a name or a sentence gives away.

use super::Hit;
use crate::engine::Kind;

/// Looks for `name = value` and for sentences such as "the password is …".
pub(crate) struct Named;

impl Named {
    pub(crate) fn new(_kinds: &mut Vec<Kind>) -> Self {
        Self
    }

    pub(crate) fn find(&self, _text: &[u8], _hits: &mut Vec<Hit>) {}
}
