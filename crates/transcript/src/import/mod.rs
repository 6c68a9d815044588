//! Importers: one harness's transcript each, bytes in, conversations and warnings out.

pub mod claude_code;
pub mod codex;
pub mod pi;

use std::{
    io::{self, BufRead},
    path::PathBuf,
};

use jiff::Timestamp;
use unicode_segmentation::UnicodeSegmentation;

use crate::{Conversation, Grain, Harness, Warning};

/// The longest title made from a prompt, in graphemes.
const TITLE_GRAPHEMES: usize = 100;

/// What the importer is told about the transcript besides its bytes.
#[derive(Debug, Clone)]
pub struct ParseOptions {
    /// How much one turn holds.
    pub grain: Grain,
    /// Session id where the transcript names none: the file's stem.
    pub fallback_id: String,
    /// Time of every row where no row has one: the file's modification time.
    pub fallback_time: Timestamp,
    /// The file, as it is to stand in [`crate::Source::path`].
    pub path: Option<PathBuf>,
    /// The person's home folder, shown as `~` in step summaries.
    pub home: Option<String>,
    /// Id of any row of the branch to read; `None` for the active one.
    pub branch: Option<String>,
}

/// Everything that could be made of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The conversations, in the order they begin in the file. Never empty; each has a turn at least.
    /// A Claude Code file can hold two.
    pub conversations: Vec<Conversation>,
    /// What could not be read. Each conversation carries these too, beside its own.
    pub warnings: Vec<Warning>,
}

/// Why a transcript gave no conversation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The reader failed.
    #[error("the transcript could not be read: {0}")]
    Io(#[from] io::Error),
    /// There is nothing in it, or nothing but bookkeeping: a session in which nobody said anything.
    #[error("there is no conversation in this transcript")]
    Empty,
    /// No row is of the harness's making.
    #[error("this is not a transcript of {}", .harness.name())]
    NotThisFormat {
        /// The harness that was asked for.
        harness: Harness,
    },
    /// [`ParseOptions::branch`] is the id of no row.
    #[error("no row of this transcript has the id {0:?}")]
    UnknownBranch(String),
}

/// Reads a transcript of `harness`, in memory bounded by its largest row and what is kept of it.
///
/// # Errors
/// [`Error`]; damage inside the transcript is never one, it is a warning.
pub fn parse(harness: Harness, reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    match harness {
        Harness::ClaudeCode => claude_code::parse(reader, options),
        Harness::Codex => codex::parse(reader, options),
        Harness::Pi => pi::parse(reader, options),
        Harness::Atproto => Err(Error::NotThisFormat { harness }),
    }
}

/// A title made of a prompt: its white space folded, cut at 100 graphemes and not within a word; `None` if that is empty.
pub(crate) fn title_of(prompt: &str) -> Option<String> {
    let mut title = fold_title(prompt)?;
    let mut ends = title.grapheme_indices(true).map(|(start, grapheme)| start + grapheme.len());
    // The ellipsis takes the place of the hundredth.
    if let Some(keep) = ends.nth(TITLE_GRAPHEMES - 2)
        && ends.nth(1).is_some()
    {
        // A secret cut in two would not be found any more, and its beginning would stand in the title: what has no
        // white space in it stays whole or out.
        let goes_on = title.get(keep..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_graphic()));
        title.truncate(keep);
        if goes_on {
            title.truncate(title.trim_end_matches(|c: char| c.is_ascii_graphic()).len());
        }
        title.truncate(title.trim_end().len());
        if title.is_empty() {
            return None;
        }
        title.push('…');
    }
    Some(title)
}

/// A title that the harness gives: its white space folded; `None` if that is empty.
pub(crate) fn fold_title(title: &str) -> Option<String> {
    /// A prompt may be megabytes of paste; a title needs its beginning only.
    const LOOKED_AT_BYTES: usize = 4096;
    let start = title.trim_start();
    let start = start.get(..start.floor_char_boundary(LOOKED_AT_BYTES)).unwrap_or_default();
    let words = start.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let title = words.collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}
