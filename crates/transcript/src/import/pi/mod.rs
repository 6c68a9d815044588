//! Not written yet.

use std::io::BufRead;

use super::{Error, ParseOptions, Parsed};
use crate::Harness;

/// Reads nothing yet.
///
/// # Errors
/// Always.
pub fn parse(_reader: &mut dyn BufRead, _options: &ParseOptions) -> Result<Parsed, Error> {
    Err(Error::NotThisFormat {
        harness: Harness::Pi,
    })
}
