//! Telling what a person wrote from what the harness put into their rows.

use std::borrow::Cow;

/// Elements that the harness wraps around what it puts into a prompt.
const ELEMENTS: [&str; 19] = [
    "system-reminder",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "task-notification",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "user-prompt-submit-hook",
    "session-start-hook",
    "teammate-message",
    "new-diagnostics",
];

/// Elements beside which a prompt may stand in the same block. A block that begins with another one
/// is the harness's as a whole: what follows the element belongs to it.
const BESIDE_PROMPTS: usize = 4;

/// Beginnings of texts that the harness writes in a person's place.
const BEGINNINGS: [&str; 6] = [
    "Caveat: The messages below",
    "[Request interrupted by user",
    "Base directory for this skill:",
    "Implement the following plan:",
    "This session is being continued from a previous conversation",
    "Stop hook feedback:",
];

/// The words of `text` that a person wrote; `None` if there are none.
pub(crate) fn human_text(text: &str) -> Option<Cow<'_, str>> {
    let start = text.trim_start();
    if BEGINNINGS.iter().any(|beginning| start.starts_with(beginning)) {
        return None;
    }
    if ELEMENTS.iter().skip(BESIDE_PROMPTS).any(|name| opens(start, name).is_some()) {
        return None;
    }
    if !ELEMENTS.iter().any(|name| find_opening(text, name).is_some()) {
        return (!start.is_empty()).then_some(Cow::Borrowed(text));
    }
    let mut kept = text.to_owned();
    for name in ELEMENTS {
        kept = without(&kept, name);
    }
    let kept = kept.trim();
    (!kept.is_empty()).then(|| Cow::Owned(kept.to_owned()))
}

/// Whether `text` is a slash command: the person's act, but no prompt.
pub(super) fn is_slash_command(text: &str) -> bool {
    let start = text.trim_start();
    if opens(start, "command-name").is_some() || opens(start, "command-message").is_some() {
        return true;
    }
    let Some(word) = start.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()) else {
        return false;
    };
    word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
}

/// `text` without the elements of that name. One that is never closed goes on to the end of the text
/// if a line begins with it; else somebody wrote about it.
pub(crate) fn without(text: &str, name: &str) -> String {
    let closing = format!("</{name}>");
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, inside)) = find_opening(rest, name) {
        let before = rest.get(..start).unwrap_or_default();
        let after = rest.get(inside..).unwrap_or_default();
        if let Some(end) = after.find(&closing) {
            kept.push_str(before);
            rest = after.get(end + closing.len()..).unwrap_or_default();
        } else if before.trim_end_matches([' ', '\t']).is_empty()
            || before.trim_end_matches([' ', '\t']).ends_with('\n')
        {
            kept.push_str(before);
            return kept;
        } else {
            break;
        }
    }
    kept.push_str(rest);
    kept
}

/// Where an element of that name opens in `text`, and where its inside begins.
fn find_opening(text: &str, name: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find('<') {
        let start = from + found;
        if let Some(length) = opens(text.get(start..)?, name) {
            return Some((start, start + length));
        }
        from = start + 1;
    }
    None
}

/// The length of the tag, if `text` begins with the opening tag of an element of that name.
fn opens(text: &str, name: &str) -> Option<usize> {
    let rest = text.strip_prefix('<')?.strip_prefix(name)?;
    let attributes = rest.find('>')?;
    let is_tag = attributes == 0 || (rest.starts_with(' ') && !rest.get(..attributes)?.contains(['<', '\n']));
    is_tag.then_some(1 + name.len() + attributes + 1)
}
