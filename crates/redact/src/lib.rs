//! Secrets and personal data: findings, decisions, bars, and the sealed type [`Reviewed`].
//!
//! Pure. What would be published goes in as a [`Draft`]; [`scan`] finds what must be decided, [`Decisions`] holds what the
//! author decided, and [`seal`] is the only door to a [`Reviewed`], which is the only thing records are made of. Before
//! anything is sent, [`Reviewed::gate`] looks over the exact bytes once more.
//!
//! No value of a secret leaves this crate: not in errors, not in `Debug`, not in what is stored. Nothing in the conversation
//! can change what is found in it.

mod anchors;
mod base64;
mod checks;
mod cover;
mod cut;
mod decisions;
mod detect;
pub mod draft;
mod engine;
mod error;
mod finding;
mod fingerprint;
mod forms;
mod gate;
mod known;
mod literals;
mod look;
mod protocol;
mod reading;
mod rules;
mod scan;
mod seal;
mod self_test;
mod shapes;
mod text;
mod views;
mod words;

pub use decisions::{Decisions, HomeStyle};
pub use draft::{Draft, DraftStep, DraftTurn, Field, NotAField, Role};
pub use engine::{ENGINE_VERSION, Engine, EngineBuilder};
pub use error::{Error, UndecidedPlace};
pub use finding::{Decision, Finding, Shared, Tier};
pub use fingerprint::{Fingerprint, FingerprintKey, NotAFingerprint};
pub use forms::{BASE64_BYTES, HEX_BYTES, LINE_CHARS, PREFIX_CHARS};
pub use gate::GateHit;
pub use known::{OwnSecret, Person};
pub use look::{Cause, Look, Mark, Marked, Shown, causes, look};
pub use rules::{RulesFile, WordList};
pub use scan::{Scan, Seen, scan};
pub use seal::{Reviewed, ReviewedContent, ReviewedTurn, seal};
pub use self_test::SelfTest;
pub use text::BAR;

#[cfg(test)]
mod tests;
