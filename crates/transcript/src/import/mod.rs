//! Importers: one harness's transcript each, bytes in, conversations and warnings out.

pub mod aider;
pub mod amp;
pub mod atif;
pub(crate) mod blocks;
pub mod chatgpt;
pub mod claude_ai;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod continue_dev;
pub mod copilot_cli;
mod crush;
pub mod cursor;
pub mod droid;
mod envelope;
pub(crate) mod export;
pub mod gemini_cli;
pub mod gemini_takeout;
pub mod goose;
mod html;
pub mod kimi;
pub mod librechat;
mod model_name;
mod nodes;
pub mod openai;
pub mod opencode;
pub mod openhands;
pub mod openwebui;
pub mod pi;
mod pick;
pub mod qwen;
mod thread;
pub mod vscode_chat;
pub mod zed;

use std::{
    io::{self, BufRead},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use unicode_segmentation::UnicodeSegmentation;

use crate::{
    Conversation, Grain, Harness, Warning,
    input::database::{self, Database},
    rows::Warnings,
};

pub use pick::{Listed, OTHERS};

use pick::Pick;

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
    /// Id of the conversation, or its unique beginning, in a file that holds several; `None` for the one that changed last.
    pub conversation: Option<String>,
}

/// Everything that could be made of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The conversations, in the order they begin in the file. Never empty; each has a turn at least.
    /// A Claude Code file can hold two. Of a database or an export, the one that was asked for.
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
    /// [`ParseOptions::conversation`] is the id of no conversation in the file.
    #[error("no conversation in this file has the id {0:?}")]
    NoSuchConversation(String),
    /// [`ParseOptions::conversation`] is the beginning of several ids.
    #[error("several conversations in this file have ids that begin with {0:?}")]
    AmbiguousConversation(String),
    /// The database cannot be read.
    #[error("the database {} could not be read: {reason}", .path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The archive cannot be read.
    #[error("the archive could not be read: {0}")]
    Archive(&'static str),
    /// There is more than is read in one piece.
    #[error("this is larger than the {} MB that are read in one piece", .max_bytes / (1024 * 1024))]
    TooLarge {
        /// How much is read.
        max_bytes: u64,
    },
    /// A database came as a stream.
    #[error("a database is read where it lies: give its path instead of its bytes")]
    NeedsFile,
}

/// Reads a transcript of `harness`, in memory bounded by its largest row and what is kept of it.
///
/// # Errors
/// [`Error`]; damage inside the transcript is never one, it is a warning.
pub fn parse(harness: Harness, reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let head = reader.fill_buf()?;
    if head.starts_with(&database::MAGIC) {
        let mut pick = Pick::one(options);
        if let Some(branch) = &options.branch {
            return Err(Error::UnknownBranch(branch.clone()));
        }
        let database = Database::open(options.path.as_deref().ok_or(Error::NeedsFile)?)?;
        let recognised = read_database(harness, &database, options, &mut pick)?;
        return pick.finish(harness, options, recognised, Vec::new());
    }
    match harness {
        Harness::ClaudeCode => claude_code::parse(reader, options),
        Harness::Codex => codex::parse(reader, options),
        Harness::Pi => pi::parse(reader, options),
        Harness::OpenCode => opencode::parse(reader, options),
        Harness::GeminiCli => gemini_cli::parse(reader, options),
        Harness::CopilotCli => copilot_cli::parse(reader, options),
        Harness::VsCodeChat => vscode_chat::parse(reader, options),
        Harness::Cursor => cursor::parse(reader, options),
        Harness::Goose => goose::parse(reader, options),
        Harness::Cline | Harness::Roo | Harness::Kilo => cline::parse_as(harness, reader, options),
        Harness::Zed => zed::parse(reader, options),
        Harness::Amp => amp::parse(reader, options),
        Harness::Qwen => qwen::parse(reader, options),
        Harness::Kimi => kimi::parse(reader, options),
        Harness::Droid => droid::parse(reader, options),
        Harness::OpenHands => openhands::parse(reader, options),
        Harness::Continue => continue_dev::parse(reader, options),
        Harness::Aider => aider::parse(reader, options),
        Harness::ChatGpt => chatgpt::parse(reader, options),
        Harness::ClaudeAi => claude_ai::parse(reader, options),
        Harness::OpenWebUi => openwebui::parse(reader, options),
        Harness::LibreChat => librechat::parse(reader, options),
        Harness::GeminiTakeout => gemini_takeout::parse(reader, options),
        Harness::Atif => atif::parse(reader, options),
        Harness::Sts => openai::parse_sts(reader, options),
        Harness::OpenAiChat => openai::parse_chat(reader, options),
        Harness::OpenAiResponses => openai::parse_responses(reader, options),
        Harness::Crush | Harness::Atproto => Err(match head {
            [] => Error::Empty,
            _ => Error::NotThisFormat { harness },
        }),
    }
}

/// The conversations that a database, an export or a history holds, as its file orders them; empty where a file holds one.
///
/// # Errors
/// [`Error`], as for reading one.
pub fn contents(harness: Harness, path: &Path) -> Result<Vec<Listed>, Error> {
    let options = ParseOptions {
        grain: Grain::Turn,
        fallback_id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        fallback_time: Timestamp::UNIX_EPOCH,
        path: Some(path.to_path_buf()),
        home: None,
        branch: None,
        conversation: None,
    };
    let mut pick = Pick::list();
    let mut reader = export::open(path)?;
    if reader.fill_buf()?.starts_with(&database::MAGIC) {
        read_database(harness, &Database::open(path)?, &options, &mut pick)?;
    } else if export::walk_of(harness).is_some() {
        export::go_through(harness, &mut reader, &options, &mut pick, &mut Warnings::default())?;
    }
    Ok(pick.into_list())
}

/// Goes through a database, if it is one of the harness's.
fn read_database(
    harness: Harness,
    database: &Database,
    options: &ParseOptions,
    pick: &mut Pick<'_>,
) -> Result<bool, Error> {
    if database_harness(database) != Some(harness) {
        return Ok(false);
    }
    match harness {
        Harness::OpenCode => opencode::database(database, options, pick),
        Harness::Cursor => cursor::database(database, options, pick),
        Harness::Goose => goose::database(database, options, pick),
        Harness::Zed => zed::database(database, options, pick),
        Harness::Crush => crush::database(database, options, pick),
        _ => Ok(()),
    }?;
    Ok(true)
}

/// Whose database it is, told by its tables.
pub(crate) fn database_harness(database: &Database) -> Option<Harness> {
    let harnesses = [Harness::Goose, Harness::OpenCode, Harness::Crush, Harness::Zed, Harness::Cursor];
    harnesses.into_iter().find(|harness| match harness {
        Harness::Goose => goose::is_database(database),
        Harness::OpenCode => opencode::is_database(database),
        Harness::Crush => crush::is_database(database),
        Harness::Zed => zed::is_database(database),
        _ => cursor::is_database(database),
    })
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
