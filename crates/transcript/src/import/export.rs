//! Exports of chat apps: many conversations in one file, or in several of an archive.

use std::{
    fs::File,
    io::{BufRead, BufReader, Cursor, Read, Seek},
};

use super::{Error, ParseOptions, Parsed, aider, chatgpt, claude_ai, gemini_takeout, librechat, openwebui, pick::Pick};
use crate::{
    Harness,
    input::{
        archive::{Archive, Entry, MAGIC},
        documents::read_whole,
    },
    rows::Warnings,
};

/// The largest archive that is read from a stream that cannot be gone back in, in bytes.
const MAX_STREAMED: u64 = 1024 * 1024 * 1024;

/// What goes through the conversations of a file, of those harnesses that keep many in one.
type Walk = fn(&mut dyn BufRead, &ParseOptions, &mut Pick<'_>, &mut Warnings) -> Result<(u64, bool), Error>;

/// How the files of a harness that holds many conversations in one are gone through.
pub(crate) fn walk_of(harness: Harness) -> Option<Walk> {
    Some(match harness {
        Harness::ChatGpt => chatgpt::conversations,
        Harness::ClaudeAi => claude_ai::conversations,
        Harness::OpenWebUi => openwebui::conversations,
        Harness::LibreChat => librechat::conversations,
        Harness::GeminiTakeout => gemini_takeout::conversations,
        Harness::Aider => aider::runs,
        _ => return None,
    })
}

/// Reads the conversation that the options name, else the one that changed last.
pub(crate) fn parse(harness: Harness, reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut pick = Pick::one(options);
    let mut warnings = Warnings::default();
    let (bytes, recognised) = go_through(harness, reader, options, &mut pick, &mut warnings)?;
    if bytes == 0 {
        return Err(Error::Empty);
    }
    pick.finish(harness, options, recognised, warnings.finish())
}

/// Goes through all conversations of a file or an archive.
pub(crate) fn go_through(
    harness: Harness,
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    pick: &mut Pick<'_>,
    warnings: &mut Warnings,
) -> Result<(u64, bool), Error> {
    let walk = walk_of(harness).ok_or(Error::NotThisFormat { harness })?;
    if !reader.fill_buf()?.starts_with(&MAGIC) {
        return walk(reader, options, pick, warnings);
    }
    match options.path.as_deref().filter(|path| path.is_file()) {
        Some(path) => archive(walk, Archive::open(File::open(path)?)?, options, pick, warnings),
        None => {
            let bytes = read_whole(reader, MAX_STREAMED)?;
            archive(walk, Archive::open(Cursor::new(bytes))?, options, pick, warnings)
        }
    }
}

fn archive<R: Read + Seek>(
    walk: Walk,
    mut archive: Archive<R>,
    options: &ParseOptions,
    pick: &mut Pick<'_>,
    warnings: &mut Warnings,
) -> Result<(u64, bool), Error> {
    let (mut bytes, mut recognised) = (0, false);
    for entry in transcripts(&archive.entries) {
        let mut reader = archive.read(&entry)?;
        let (read, known) = walk(&mut reader, options, pick, warnings)?;
        bytes += read;
        recognised |= known;
    }
    Ok((bytes, recognised))
}

/// The files of an archive that may hold conversations, those of an export's own names first.
pub(crate) fn transcripts(entries: &[Entry]) -> Vec<Entry> {
    let name = |entry: &Entry| entry.name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_own = |entry: &&Entry| {
        let name = name(entry);
        (name.starts_with("conversations") && name.ends_with(".json"))
            || (entry.name.contains("Gemini") && (name.ends_with(".json") || name.ends_with(".html")))
            || name.starts_with("myactivity.")
    };
    let own: Vec<Entry> = entries.iter().filter(is_own).cloned().collect();
    if !own.is_empty() {
        return own;
    }
    entries.iter().filter(|entry| name(entry).ends_with(".json")).cloned().collect()
}

/// The beginning of what an archive holds, by which its harness is told.
pub(crate) fn heads<R: Read + Seek>(reader: R, length: u64) -> Result<Vec<Vec<u8>>, Error> {
    /// Files that are looked into before an archive is given up.
    const LOOKED_INTO: usize = 16;
    let mut archive = Archive::open(reader)?;
    let mut heads = Vec::new();
    for entry in transcripts(&archive.entries).into_iter().take(LOOKED_INTO) {
        let mut head = Vec::new();
        archive.read(&entry)?.take(length).read_to_end(&mut head)?;
        heads.push(head);
    }
    Ok(heads)
}

/// A reader of a file, for those that list.
pub(crate) fn open(path: &std::path::Path) -> Result<BufReader<File>, Error> {
    Ok(BufReader::with_capacity(128 * 1024, File::open(path)?))
}

#[cfg(test)]
mod tests;
