//! Decisions on what turns point at: the records and accounts that are named in the open beside a text.

use super::Decisions;
use crate::{Fingerprint, FingerprintKey};

impl Decisions {
    /// Whether turns may point at records and accounts at all. They may, unless this was set to false.
    #[must_use]
    pub fn pointers(&self) -> bool {
        !self.no_pointers
    }

    /// Lets turns point, forgetting every single refusal, or lets none.
    pub fn set_pointers(&mut self, all: bool) {
        self.no_pointers = !all;
        if all {
            self.dropped.clear();
        }
    }

    /// Refuses one pointer, in one turn or, without one, in all. `name` is not kept, only its fingerprint.
    pub fn drop_pointer(&mut self, key: &FingerprintKey, turn_id: Option<&str>, name: &str) {
        let fingerprint = Self::pointer(key, name);
        if turn_id.is_none() {
            self.dropped.retain(|(_, dropped)| *dropped != fingerprint);
        }
        self.dropped.insert((turn_id.map(str::to_owned), fingerprint));
    }

    /// No longer refuses a pointer, wherever it was refused; says whether it was.
    pub fn keep_pointer(&mut self, key: &FingerprintKey, name: &str) -> bool {
        let (fingerprint, before) = (Self::pointer(key, name), self.dropped.len());
        self.dropped.retain(|(_, dropped)| *dropped != fingerprint);
        self.dropped.len() < before
    }

    /// Whether a pointer is refused in that turn.
    #[must_use]
    pub fn drops_pointer(&self, key: &FingerprintKey, turn_id: &str, name: &str) -> bool {
        if self.no_pointers || self.dropped.is_empty() {
            return self.no_pointers;
        }
        let fingerprint = Self::pointer(key, name);
        let is = |turn: Option<&str>| self.dropped.contains(&(turn.map(str::to_owned), fingerprint));
        is(None) || is(Some(turn_id))
    }

    fn pointer(key: &FingerprintKey, name: &str) -> Fingerprint {
        Fingerprint::from_mac(key.mac("pointer", name.as_bytes()))
    }
}
