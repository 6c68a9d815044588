//! AT Protocol identifiers, data model, and lexicons: what a record may hold and whether this one does.
//!
//! Pure: values in, values and violations out.

pub mod compare;
pub mod data;
pub mod doc;
pub mod json;
pub mod lint;
pub mod schema;
pub mod similar;
pub mod syntax;

mod catalog;
mod error;
mod example;
mod json_schema;
mod path;
mod references;
mod scaffold;
mod validate;
mod view;

pub use catalog::{Builder, Catalog};
pub use error::{Error, Problem, UnknownLexicon};
pub use json::Json;
pub use references::references;
pub use scaffold::Scaffold;
pub use schema::Lexicon;
pub use syntax::{AtIdentifier, AtUri, Cid, Datetime, Did, Handle, Language, Nsid, Rkey, SyntaxError, Tid};
pub use validate::{BadParams, Checked, Rule, UnknownEndpoint, Violation};
pub use view::{Data, EntryFields, ValueFields, View};
