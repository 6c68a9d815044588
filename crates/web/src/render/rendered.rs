//! What becomes a page.

use serde::Serialize;

use crate::{Error, Host};

/// A view that becomes a page, in every format: they come from one structure, so they cannot disagree.
pub(crate) trait Rendered: Serialize {
    /// The page.
    fn html(&self, host: &Host) -> Result<String, Error>;

    /// As a Markdown document.
    fn markdown(&self) -> Result<String, Error>;

    /// As plain text.
    fn text(&self) -> Result<String, Error>;

    /// As JSON: the view itself.
    fn json(&self) -> Result<String, Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
