//! `onrecord lexicon validate`: a record against its lexicon.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use onrecord_lexicon::{Catalog, Error as LexiconError};

use crate::{
    cli::Validate,
    error::{Error, PROBLEMS, Result},
    output::{Out, columns, printable},
};

pub fn run(args: &Validate, out: &mut Out) -> Result<u8> {
    let record = read(&args.record)?;
    let own;
    let catalog = if args.lexicons.is_empty() {
        Catalog::bundled()
    } else {
        let mut builder = Catalog::builder();
        builder.add_bundled();
        for folder in &args.lexicons {
            let mut found = 0;
            add_folder(&mut builder, folder, &mut found)?;
            if found == 0 {
                return Err(Error::Lexicon(format!("{}: there is no lexicon in this folder", folder.display())));
            }
        }
        own = builder.build();
        &own
    };
    let checked = catalog.validate_json(&record, args.nsid.as_deref()).map_err(|error| match error {
        LexiconError::NoType => {
            Error::Usage(format!("{}: {error}; name the schema with --nsid", args.record.display()))
        }
        error => Error::Lexicon(format!("{}: {error}", args.record.display())),
    })?;
    if out.json {
        out.json(&checked)?;
    } else if checked.violations.is_empty() {
        out.line(format_args!("valid {}", checked.nsid))?;
    } else {
        let rows: Vec<_> = (checked.violations.iter())
            .map(|v| vec![printable(&v.path), v.rule.to_string(), printable(&v.message)])
            .collect();
        for line in columns(&rows) {
            out.line(line)?;
        }
    }
    Ok(if checked.violations.is_empty() { 0 } else { PROBLEMS })
}

fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(Error::Stdin)?;
        return Ok(bytes);
    }
    fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

/// Adds every `.json` below `folder`, in order of their names.
fn add_folder(builder: &mut onrecord_lexicon::Builder, folder: &Path, found: &mut usize) -> Result<()> {
    let at = |source| Error::File { path: folder.to_owned(), source };
    let mut entries = fs::read_dir(folder).map_err(at)?.collect::<io::Result<Vec<_>>>().map_err(at)?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(at)?.is_dir() {
            add_folder(builder, &path, found)?;
        } else if path.extension().is_some_and(|e| e == "json") {
            let name = path.display().to_string();
            builder.add_json(&name, &read(&path)?).map_err(|e| Error::Lexicon(e.to_string()))?;
            *found += 1;
        }
    }
    Ok(())
}
