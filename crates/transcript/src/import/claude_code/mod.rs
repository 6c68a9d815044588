//! Claude Code: `~/.claude/projects/<project>/<session>.jsonl`, one row a content block.
//!
//! The format, its evidence and every decision taken here: `docs/formats/claude-code.md`.

mod beside;
mod collect;
mod content;
mod injected;
mod session;
#[cfg(test)]
mod tests;
mod tree;
mod unite;

pub(crate) use injected::{human_text, without};

use std::{io::BufRead, ops::ControlFlow};

use super::{Error, ParseOptions, Parsed};
use crate::{
    Harness,
    rows::{Warnings, read_rows},
};

/// Reads a session file, or a subagent's file, of Claude Code.
///
/// # Errors
/// [`Error::Empty`] where nobody said anything, [`Error::NotThisFormat`] where no row is one of
/// Claude Code's, [`Error::UnknownBranch`], [`Error::Io`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut file = collect::File::default();
    let tally = read_rows(reader, &mut warnings, |row, warnings| {
        file.row(row.line, &row.object, warnings);
        ControlFlow::Continue(())
    })?;
    if !file.recognised {
        return Err(if tally.bytes == 0 {
            Error::Empty
        } else {
            Error::NotThisFormat { harness: Harness::ClaudeCode }
        });
    }
    file.warn_of_unknown_types(&mut warnings);
    let warnings = warnings.finish();
    let branch = match options.branch.as_deref() {
        None => None,
        Some(uuid) => Some(file.tree.find(uuid).ok_or_else(|| Error::UnknownBranch(uuid.to_owned()))?),
    };
    let mut conversations = Vec::new();
    for session in file.sessions {
        if let Some(mut conversation) = session.finish(&file.tree, branch, options) {
            conversation.warnings.splice(0..0, warnings.iter().cloned());
            conversations.push(conversation);
        }
    }
    if conversations.is_empty() {
        return Err(Error::Empty);
    }
    Ok(Parsed { conversations, warnings })
}
