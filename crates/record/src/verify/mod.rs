//! Whether what stands in a repository is what its author signed, and what the rules of the record say: the report.
//!
//! `onrecord_repo` proves bytes; this looks at what they say, and puts both together. Pure: who fetches the bytes and the
//! pins is `onrecord_atproto`.

mod bars;
mod records;
mod report;
mod rules;
mod run;
#[cfg(test)]
mod tests;

pub use records::{Pin, Records, Wanted};
pub use report::{
    CommitView, Complete, Counts, Failure, KeySource, Kind, Notice, PinCounts, PinStatus, ProvenRecord, Report, Scope,
    Way,
};
pub use rules::Rule;
pub use run::{Setting, Verified, run};
