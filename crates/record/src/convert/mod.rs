//! Reviewed conversations in the formats of other programs. Like records, these are made of what was sealed and nothing else.

mod atif;
mod pi;
mod sts;

pub use atif::atif;
pub use pi::pi;
pub use sts::sts;

use onrecord_redact::Reviewed;

use crate::{Loss, Losses};

/// What stands in place of what a tool gave back, where a format must have something there.
const NO_OUTPUT: &str = "(output not published)";
/// The same, of a call that failed.
const NO_OUTPUT_FAILED: &str = "(failed; output not published)";
const UNKNOWN: &str = "unknown";

/// What a format says of a conversation besides what was said in it.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// What the conversation is called; never the name of a transcript's file.
    pub id: &'a str,
    /// The program that the agent ran in, e.g. `claude-code`.
    pub harness: &'a str,
    /// Its version, where known.
    pub version: Option<&'a str>,
}

/// A document and what the conversation holds that it does not.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The document, its last line ended.
    pub text: String,
    /// What it lost.
    pub lost: Vec<Loss>,
}

/// What none of these formats carries as it is.
fn common_losses(reviewed: &Reviewed) -> Losses {
    let mut lost = Losses::default();
    for content in reviewed.turns().iter().filter_map(|turn| turn.content()) {
        for _ in content.steps() {
            lost.add("tool arguments (one line on each call is kept)");
        }
    }
    lost
}

#[cfg(test)]
mod tests;
