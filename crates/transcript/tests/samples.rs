//! Every sample of the harnesses is read, and what is read of each has the shape that `samples.tsv` says. The samples are not part
//! of the repository; without them this test says so and passes. `UPDATE_EXPECTED=1` writes the table anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly"
)]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use onrecord_transcript::{Harness, Parsed, Part, Role};
use support::{identified, options, readable};

fn samples() -> Option<PathBuf> {
    let folder = std::env::var_os("ONRECORD_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let folder = folder.join("samples");
    folder.is_dir().then_some(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    // What another importer is expected to make of a sample is none.
    files.retain(|path| !path.to_string_lossy().contains("expected") && path.extension().is_some_and(|e| e != "sh"));
    files.sort();
    files
}

/// Harness, version, title, who speaks how much, calls and failures, and what was left out: no word of what was said.
fn shape(harness: Harness, parsed: &Parsed) -> String {
    let conversation = &parsed.conversations[0];
    let turns: Vec<String> = conversation
        .turns
        .iter()
        .map(|turn| {
            let who = if turn.role == Role::User { "u" } else { "a" };
            let steps = turn.steps();
            let failed = steps.iter().filter(|step| step.failed).count();
            let reasoning = turn.parts.iter().filter(|part| matches!(part, Part::Reasoning { .. })).count();
            format!("{who}{}/{}/{failed}/{reasoning}", turn.text.chars().count(), steps.len())
        })
        .collect();
    // Long ones by their number.
    let turns = if turns.len() > 12 { format!("{} turns", turns.len()) } else { turns.join(" ") };
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in &conversation.warnings {
        *warnings.entry(warning.code).or_default() += 1;
    }
    let warnings: Vec<String> = warnings.into_iter().map(|(code, count)| format!("{code}:{count}")).collect();
    let version = conversation.source.version.as_deref().unwrap_or("-");
    let title = if conversation.title_is_prompt { "prompt" } else { "own" };
    let models = conversation.turns.iter().filter(|turn| turn.model.is_some()).count();
    format!("{harness}\t{version}\t{title}\t{models}\t{turns}\t{}", warnings.join(" "))
}

#[test]
fn every_sample_is_read_as_a_person_would() {
    let Some(folder) = samples() else {
        eprintln!("skipped: there is no folder of samples");
        return;
    };
    let mut table =
        String::from("sample\tharness\tversion\ttitle\tmodels\tturns (characters/steps/failed/thoughts)\twarnings\n");
    for path in files(&folder) {
        let scratch = tempfile::tempdir().unwrap();
        let name = path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
        let file = readable(&path, scratch.path());
        let line = match identified(&file) {
            None => "-".to_owned(),
            Some(harness) => match support::read(harness, &file, &options(Some(&file))) {
                Ok(parsed) => shape(harness, &parsed),
                Err(error) => format!("{harness}\t{error}"),
            },
        };
        table.push_str(&format!("{name}\t{line}\n"));
    }
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples.tsv");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&expected, &table).unwrap();
        return;
    }
    let wanted = fs::read_to_string(&expected).unwrap();
    let differences: Vec<String> = table
        .lines()
        .zip(wanted.lines())
        .filter(|(got, wanted)| got != wanted)
        .map(|(got, wanted)| format!("expected {wanted}\n     got {got}"))
        .collect();
    assert!(differences.is_empty() && table.lines().count() == wanted.lines().count(), "{}", differences.join("\n"));
}
