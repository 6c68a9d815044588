//! Documents from files and folders.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use onrecord_lexicon::{Builder, Catalog, Lexicon};

use crate::error::{Error, Result};

/// The bytes of a file; of standard input for `-`.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(Error::Stdin)?;
        return Ok(bytes);
    }
    fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

/// The lexicon of a file.
pub fn lexicon(path: &Path) -> Result<Lexicon> {
    Lexicon::parse(&path.display().to_string(), &read(path)?).map_err(|error| invalid(path, &error))
}

/// The file is JSON, but no lexicon; or not even that.
pub fn invalid(path: &Path, error: &onrecord_lexicon::Error) -> Error {
    match error {
        onrecord_lexicon::Error::InvalidLexicon { .. } => Error::Lexicon(error.to_string()),
        error => Error::Lexicon(format!("{}: {error}", path.display())),
    }
}

/// Of a folder every `.json` in it and below, in order of their names; of a file itself.
pub fn documents(path: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut found = Vec::new();
    if path.is_dir() {
        add_folder(path, &mut found)?;
        if found.is_empty() {
            return Err(Error::Lexicon(format!("{}: there is no lexicon in this folder", path.display())));
        }
    } else {
        found.push((path.to_owned(), read(path)?));
    }
    Ok(found)
}

fn add_folder(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) -> Result<()> {
    let at = |source| Error::File { path: folder.to_owned(), source };
    let mut entries = fs::read_dir(folder).map_err(at)?.collect::<io::Result<Vec<_>>>().map_err(at)?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(at)?.is_dir() {
            add_folder(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "json") {
            let bytes = read(&path)?;
            found.push((path, bytes));
        }
    }
    Ok(())
}

/// The bundled lexicons, and those of `paths`.
pub fn builder(paths: &[PathBuf]) -> Result<Builder> {
    let mut builder = Catalog::builder();
    builder.add_bundled();
    for path in paths {
        for (path, bytes) in documents(path)? {
            let name = path.display().to_string();
            builder.add_json(&name, &bytes).map_err(|error| invalid(&path, &error))?;
        }
    }
    Ok(builder)
}
