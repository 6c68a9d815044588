//! `onrecord lexicon similar`: has somebody defined this already?

use std::path::Path;

use onrecord_lexicon::{
    Catalog, Lexicon, Nsid,
    similar::{Match, Similar},
};
use serde::Serialize;

use super::files;
use crate::{
    cli::SimilarTo,
    error::{Error, Result},
    output::{Out, counted, one_line, printable},
};

#[derive(Serialize)]
struct Found {
    /// How many lexicons were looked at.
    among: usize,
    matches: Vec<Match>,
}

pub fn run(args: &SimilarTo, out: &mut Out) -> Result<u8> {
    let index = index(args, out)?;
    let found = Found { among: index.len(), matches: matches(args, &index)? };
    if out.json {
        out.json(&found)?;
        return Ok(0);
    }
    for m in &found.matches {
        out.line(format_args!("{:.2}  {}  {}", m.score, out.bold(printable(&m.nsid)), printable(&m.kind)))?;
        if let Some(description) = &m.description {
            out.line(format_args!("      {}", one_line(description, 100)))?;
        }
        for reason in &m.why {
            out.line(out.dim(format_args!("      {}", printable(&reason.to_string()))))?;
        }
    }
    if found.matches.is_empty() {
        out.note(format_args!("none of {} has anything in common with it", counted(found.among, "lexicon")));
    }
    Ok(0)
}

fn index(args: &SimilarTo, out: &Out) -> Result<Similar> {
    if args.folders.is_empty() {
        return Ok(Similar::new(Catalog::bundled().lexicons()));
    }
    let mut lexicons = Vec::new();
    for folder in &args.folders {
        for (path, bytes) in files::documents(folder)? {
            let name = path.display().to_string();
            match Lexicon::parse(&name, &bytes) {
                Ok(lexicon) => lexicons.push(lexicon),
                // Others in the folder may be what is looked for.
                Err(error) => out.note(format_args!("left out: {}", error_of(&name, &error))),
            }
        }
    }
    Ok(Similar::new(&lexicons))
}

fn error_of(name: &str, error: &onrecord_lexicon::Error) -> String {
    match error {
        onrecord_lexicon::Error::InvalidLexicon { .. } => error.to_string(),
        error => format!("{name}: {error}"),
    }
}

fn matches(args: &SimilarTo, index: &Similar) -> Result<Vec<Match>> {
    let path = Path::new(&args.what);
    if path.is_file() || args.what == "-" {
        return Ok(index.to_lexicon(&files::lexicon(path)?, args.most));
    }
    if let Some(found) = index.to_nsid(&args.what, args.most) {
        return Ok(found);
    }
    // A name without spaces that is none here is not meant as a sentence.
    if Nsid::parse(&args.what).is_ok() {
        return Err(Error::Lexicon(format!(
            "{} is not among {}; name its file, or say in words what it is for",
            args.what,
            counted(index.len(), "lexicon")
        )));
    }
    Ok(index.to_sentence(&args.what, args.most))
}
