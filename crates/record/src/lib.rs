//! Record families: reviewed conversations to records with keys and CIDs, and records back to conversations.
//!
//! Pure.

pub mod aligned;

pub use aligned::{MessageRecord, Published, PublishedMessage, SessionRecord, StepRecord, StrongRef};
