//! Tier F: personal data.

use super::Hit;
use crate::{Error, engine::Kind, known::Person};

/// Looks for the person's own data, known literally, and for shapes of personal data.
pub(crate) struct Personal;

impl Personal {
    pub(crate) fn new(_person: &Person, _kinds: &mut Vec<Kind>) -> Result<Self, Error> {
        Ok(Self)
    }

    pub(crate) fn find(&self, _text: &[u8], _hits: &mut Vec<Hit>) {}
}
