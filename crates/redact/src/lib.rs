//! Secrets and personal data: findings, decisions, bars, and the sealed type [`Reviewed`].
//!
//! Pure. What would be published goes in as a [`Draft`]; [`scan`] finds what must be decided, [`Decisions`] holds what the
//! author decided, and [`seal`] is the only door to a [`Reviewed`], which is the only thing records are made of.

pub mod draft;

pub use draft::{Draft, DraftStep, DraftTurn, Field, Role};
