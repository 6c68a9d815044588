//! placeholder
use super::{Error, ParseOptions, Parsed};
use std::io::BufRead;
/// Reads nothing yet.
///
/// # Errors
/// Always.
pub fn parse(_reader: &mut dyn BufRead, _options: &ParseOptions) -> Result<Parsed, Error> {
    Err(Error::Empty)
}
