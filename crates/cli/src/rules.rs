//! The person's own rules and words, and what the command line adds to them.

use std::{
    fs::File,
    io::{self, ErrorKind, Read as _},
    path::Path,
};

use onrecord_redact::{Engine, EngineBuilder, RulesFile, WordList};

use crate::{
    cli::RulesArgs,
    config,
    error::{Error, Result},
    output::Notes,
};

/// Longest file of rules or words that is read, in bytes; the parsers refuse what is nearly as long.
const MAX_BYTES: u64 = 4_000_000;

/// Reads all rules. Those of the person's own stand in the configuration folder, `rules.toml` and `words`; nothing is read
/// from where a conversation comes from.
pub fn builder(args: &RulesArgs, notes: Notes) -> Result<EngineBuilder> {
    let mut builder = Engine::builder();
    let folder = config::config_folder()?;
    let own = folder.join("rules.toml");
    if let Some(text) = own_file(&own)? {
        builder = builder.rules(rules_file(&own, &text, notes)?);
    }
    for path in &args.rules {
        let text = read(path).map_err(|source| Error::File { path: path.clone(), source })?;
        builder = builder.rules(rules_file(path, &text, notes)?);
    }
    let words = folder.join("words");
    if let Some(text) = own_file(&words)? {
        builder = builder.words(WordList::parse(&text).map_err(|source| Error::Rules { path: words, source })?);
    }
    for pattern in &args.deny {
        builder = builder.deny(pattern);
    }
    Ok(builder)
}

fn rules_file(path: &Path, text: &str, notes: Notes) -> Result<RulesFile> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let file = RulesFile::parse_with(text, &mut |other| read(&folder.join(other)).map_err(|e| e.to_string()))
        .map_err(|source| Error::Rules { path: path.to_owned(), source })?;
    for notice in file.notices() {
        notes.note(format_args!("{}: {notice}", path.display()));
    }
    Ok(file)
}

/// A file that need not be there.
fn own_file(path: &Path) -> Result<Option<String>> {
    match read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { path: path.to_owned(), source }),
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}
