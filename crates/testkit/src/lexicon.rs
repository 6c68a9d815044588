//! The reference validator of lexicons, which is among the PDS's packages.

use std::{path::Path, process::Command};

use crate::setup::{node, require_pds, scripts};

/// What the reference validator says of the records in `file`, one after the other: `None` of a valid one, else what is wrong
/// with it. `file` holds a line of JSON for each: `{"lexicon": document}` names the schema of the records that follow,
/// `{"record": value}` asks.
///
/// # Panics
/// If it cannot be installed or run.
#[must_use]
pub fn reference_verdicts(file: &Path) -> Vec<Option<String>> {
    require_pds();
    let output = Command::new(node()).arg(scripts().join("lexicon.mjs")).arg(file).output().expect("Node");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the reference validator failed: {errors}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"))).collect()
}
