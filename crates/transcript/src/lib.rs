//! Transcripts that agents leave on a person's machine, read into one conversation model.
//!
//! Pure: bytes in, conversations and warnings out. Nothing here knows about records, accounts or pages.

mod assemble;
pub mod detect;
pub mod discover;
mod harness;
pub mod import;
mod input;
pub mod model;
pub mod rows;
pub mod steps;

pub use assemble::{Grain, Message, assemble};
pub use import::{Error, ParseOptions, Parsed, parse};
pub use model::{Conversation, Harness, Parent, Part, Role, Source, Step, Turn, Warning};
