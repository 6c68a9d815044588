//! `onrecord lexicon validate`: a record against its lexicon.

use onrecord_lexicon::{Catalog, Error as LexiconError};

use super::files;
use crate::{
    cli::Validate,
    error::{Error, PROBLEMS, Result},
    output::{Out, columns, printable},
};

pub fn run(args: &Validate, out: &mut Out) -> Result<u8> {
    let record = files::read(&args.record)?;
    let own;
    let catalog = if args.lexicons.is_empty() {
        Catalog::bundled()
    } else {
        own = files::builder(&args.lexicons)?.build();
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
