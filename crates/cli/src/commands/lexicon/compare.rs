//! `onrecord lexicon breaking` and `diff`: two versions of a lexicon.

use std::path::Path;

use onrecord_lexicon::{
    compare::{self, Change},
    lint::Level,
};
use serde::Serialize;

use super::files;
use crate::{
    cli::{Breaking, Diff},
    error::{PROBLEMS, Result},
    output::{Out, counted, printable},
};

#[derive(Serialize)]
struct Compared {
    nsid: String,
    changes: Vec<Change>,
    errors: usize,
    warnings: usize,
}

fn compared(old: &Path, new: &Path) -> Result<Compared> {
    let (old, new) = (files::lexicon(old)?, files::lexicon(new)?);
    let changes = compare::changes(&old, &new);
    let count = |level: Level| changes.iter().filter(|change| change.level() == Some(level)).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    Ok(Compared { nsid: new.id.to_string(), changes, errors, warnings })
}

pub fn breaking(args: &Breaking, out: &mut Out) -> Result<u8> {
    let mut compared = compared(&args.old, &args.new)?;
    compared.changes.retain(|change| change.rule.is_some());
    compared.changes.sort_by_key(|change| std::cmp::Reverse(change.level()));
    if out.json {
        out.json(&compared)?;
    } else {
        for change in &compared.changes {
            if let (Some(rule), Some(level)) = (change.rule, change.level()) {
                let level = if level == Level::Error { out.bad(level) } else { level.to_string() };
                out.line(format_args!("{level} {rule} at {}", printable(&change.path)))?;
                out.line(format_args!("  {}", printable(&change.message)))?;
            }
        }
        out.note(format_args!("{}, {}", counted(compared.errors, "error"), counted(compared.warnings, "warning")));
    }
    Ok(if compared.errors > 0 || args.strict && compared.warnings > 0 { PROBLEMS } else { 0 })
}

pub fn diff(args: &Diff, out: &mut Out) -> Result<u8> {
    let compared = compared(&args.old, &args.new)?;
    if out.json {
        out.json(&compared)?;
        return Ok(0);
    }
    let mut def = None;
    for change in &compared.changes {
        if def != Some(&change.def) {
            def = Some(&change.def);
            let title = match change.def.as_str() {
                "" => compared.nsid.clone(),
                "main" => "main".to_owned(),
                name => format!("#{name}"),
            };
            out.line(out.bold(printable(&title)))?;
        }
        let prefix = format!("$.defs.{}", change.def);
        let place = change.path.strip_prefix(&prefix).unwrap_or(&change.path).trim_start_matches('.');
        let mark = match change.level() {
            Some(Level::Error) => out.bad("! "),
            Some(_) => "? ".to_owned(),
            None => "  ".to_owned(),
        };
        let place = if place.is_empty() { String::new() } else { format!("{}: ", printable(place)) };
        out.line(format_args!("{mark}{place}{}", printable(&change.message)))?;
    }
    if compared.changes.is_empty() {
        out.note("nothing changed");
    } else if compared.errors + compared.warnings > 0 {
        out.note("! breaks who uses the old version, ? may; `onrecord lexicon breaking` names the rules");
    }
    Ok(0)
}
