//! `onrecord lexicon doc`: a lexicon as a page to read.

use onrecord_lexicon::{
    Lexicon,
    doc::{About, DocView},
};

use super::files;
use crate::{
    cli::{Doc, DocFormat},
    error::Result,
    output::Out,
};

pub fn run(args: &Doc, out: &mut Out) -> Result<u8> {
    let bytes = files::read(&args.file)?;
    let mut builder = files::builder(&args.lexicons)?;
    let name = args.file.display().to_string();
    // One that is not valid is shown all the same, without examples.
    if let Ok(lexicon) = Lexicon::parse(&name, &bytes) {
        builder.add(lexicon);
    }
    let view =
        DocView::new(&bytes, &builder.build(), About::default()).map_err(|error| files::invalid(&args.file, &error))?;
    match args.format {
        _ if out.json => out.json(&view)?,
        DocFormat::Json => out.json(&view)?,
        DocFormat::Md => out.raw(view.to_markdown().as_bytes())?,
        DocFormat::Html => out.raw(view.to_html().as_bytes())?,
    }
    Ok(0)
}
