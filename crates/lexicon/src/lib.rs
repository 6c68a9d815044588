//! AT Protocol identifiers, data model, and lexicons: what a record may hold and whether this one does.
//!
//! Pure: values in, values and violations out.

pub mod syntax;

pub use syntax::{AtUri, Cid, Datetime, Did, Handle, Nsid, Rkey, Tid};
