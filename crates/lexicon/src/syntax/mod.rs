//! Identifiers and string formats. The only door to each type is its `parse`; the `is_valid_…`
//! functions answer the same question without keeping the text.
//! Source: the protocol's syntax specifications and its interop vectors.

#[macro_use]
mod identifier;

mod at_identifier;
mod at_uri;
mod cid;
mod datetime;
mod did;
mod handle;
mod language;
mod nsid;
mod rkey;
mod tid;
mod uri;

#[cfg(test)]
mod tests;

pub use at_identifier::{AtIdentifier, is_valid_at_identifier};
pub use at_uri::{AtUri, is_valid_at_uri};
pub use cid::{Cid, is_valid_cid};
pub use datetime::{Datetime, is_valid_datetime};
pub use did::{Did, is_valid_did};
pub use handle::{Handle, is_valid_handle};
pub use language::{Language, is_valid_language};
pub use nsid::{Nsid, is_valid_nsid};
pub use rkey::{Rkey, is_valid_record_key};
pub use tid::{Tid, is_valid_tid};
pub use uri::is_valid_uri;

/// A string that is not what it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {what}: {why}")]
pub struct SyntaxError {
    /// The kind of identifier, e.g. `DID`.
    pub what: &'static str,
    /// The rule it breaks.
    pub why: &'static str,
}
