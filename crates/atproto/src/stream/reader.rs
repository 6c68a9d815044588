//! A Jetstream's frames without its connection.

use super::{Frame, Pattern, jetstream::Wire};
use crate::Result;

/// Reads a Jetstream's frames, wherever they come from, as [`super::Stream::next`] does: what is measured is what runs.
pub struct Reader {
    wire: Wire,
    wanted: Vec<Pattern>,
}

impl Reader {
    /// Of frames of the second version of the format, or of the first; `dictionary` is what packed ones were packed with.
    /// No collections wanted means all.
    ///
    /// # Errors
    /// The dictionary is none.
    pub fn new(is_second_version: bool, dictionary: Option<&[u8]>, wanted: Vec<Pattern>) -> Result<Self> {
        Ok(Self { wire: Wire::new(is_second_version, dictionary)?, wanted })
    }

    /// A frame that came as text.
    #[must_use]
    pub fn text(&self, frame: &str) -> Frame {
        self.wire.decode_text(frame, &self.wanted)
    }

    /// A frame that came packed.
    #[must_use]
    pub fn packed(&self, frame: &[u8]) -> Frame {
        self.wire.decode_packed(frame, &self.wanted)
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}
