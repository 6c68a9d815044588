//! What lies beside a session's file: whole outputs of tools, and what a subagent was started for.

use std::path::Path;

use crate::{
    input::{beside, documents::parse_object},
    rows::Object,
};

/// What stands in front of the path of a whole output.
const SAVED_TO: &str = "Full output saved to:";

/// The whole output that a result says lies in a file of its own.
///
/// Only a file of that name in the session's own folder is read, wherever the result says that it lies: what a transcript says is
/// no reason to open just any file.
pub(super) fn persisted(transcript: Option<&Path>, output: &str) -> Option<String> {
    let (_, after) = output.split_once(SAVED_TO)?;
    let named = after.trim_start().lines().next()?.trim();
    let name = named.rsplit(['/', '\\']).next().filter(|name| !name.is_empty() && *name != "..")?;
    beside::read(&transcript?.with_extension("").join("tool-results").join(name))
}

/// Of a subagent's file, the call that started it and what for, as the file beside it says.
pub(super) fn description(transcript: &Path) -> Option<(Option<String>, Option<String>)> {
    let text = beside::read(&transcript.with_extension("meta.json"))?;
    parse_object(text.as_bytes(), |raw| {
        let meta = Object::from_raw(raw).unwrap_or_default();
        let text = |key: &str| meta.str(key).map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty());
        (text("toolUseId"), text("description"))
    })
}
