//! `onrecord lexicon lint`: what is wrong with lexicons, and what could be better.

use std::path::Path;

use onrecord_lexicon::{
    Problem,
    lint::{Level, lint_json},
};
use serde::Serialize;

use super::files;
use crate::{
    cli::Lint,
    error::{Error, PROBLEMS, Result},
    output::{Out, counted, printable},
};

#[derive(Serialize)]
struct Linted {
    files: Vec<File>,
    errors: usize,
    warnings: usize,
    advice: usize,
}

#[derive(Serialize)]
struct File {
    file: String,
    problems: Vec<Problem>,
}

pub fn run(args: &Lint, out: &mut Out) -> Result<u8> {
    let least = Level::from(args.level);
    let mut linted = Linted { files: Vec::new(), errors: 0, warnings: 0, advice: 0 };
    for path in &args.files {
        for (path, bytes) in files::documents(path)? {
            linted.add(&path, &bytes, least)?;
        }
    }
    if out.json {
        out.json(&linted)?;
    } else {
        for file in &linted.files {
            print(file, out)?;
        }
        out.note(format_args!(
            "{}, {}, {} of advice in {}",
            counted(linted.errors, "error"),
            counted(linted.warnings, "warning"),
            counted(linted.advice, "piece"),
            counted(linted.files.len(), "lexicon")
        ));
    }
    Ok(if linted.errors > 0 || args.strict && linted.warnings > 0 { PROBLEMS } else { 0 })
}

impl Linted {
    /// Counts all, and keeps what matters at least so much.
    fn add(&mut self, path: &Path, bytes: &[u8], least: Level) -> Result<()> {
        let file = path.display().to_string();
        let mut problems = lint_json(bytes).map_err(|error| Error::Lexicon(format!("{file}: not JSON: {error}")))?;
        for problem in &problems {
            *match problem.rule.level() {
                Level::Error => &mut self.errors,
                Level::Warning => &mut self.warnings,
                Level::Advice => &mut self.advice,
            } += 1;
        }
        problems.retain(|problem| problem.rule.level() >= least);
        self.files.push(File { file, problems });
        Ok(())
    }
}

fn print(file: &File, out: &mut Out) -> Result<()> {
    for problem in &file.problems {
        let level = problem.rule.level();
        let level = if level == Level::Error { out.bad(level) } else { level.to_string() };
        let place = printable(&format!("{}: {}", file.file, problem.path));
        out.line(format_args!("{level} {} at {place}", problem.rule))?;
        out.line(format_args!("  {}", printable(&problem.message)))?;
        out.line(out.dim(format_args!("  {}", problem.rule.advice())))?;
    }
    Ok(())
}
