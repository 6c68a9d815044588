//! Every folder of `fixtures/HARNESS/` is a test: `input.*` (a file, a folder, or the SQL of a database) is read and compared with
//! `expected.json`, and its harness must be told from its content. `options.json` may hold `grain` ("message"), `branch`,
//! `conversation`, and `file`, which names the file in a folder that is to be read. `UPDATE_EXPECTED=1` writes what was read
//! instead of comparing; look at the difference before committing it. Claude Code's have a test of their own.
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
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use onrecord_transcript::{Grain, Harness, ParseOptions};
use serde_json::{Value, json};
use support::{identified, options, readable};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn folders(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

fn read(harness: Harness, file: &Path, case: &Value) -> Value {
    let text = |key: &str| case[key].as_str().map(str::to_owned);
    // Files beside the input are looked for; where it lies is not shown.
    let options = ParseOptions {
        grain: if case["grain"] == "message" { Grain::Message } else { Grain::Turn },
        branch: text("branch"),
        conversation: text("conversation"),
        ..options(Some(file))
    };
    match support::read(harness, file, &options) {
        Ok(mut parsed) => {
            for conversation in &mut parsed.conversations {
                assert!(!conversation.turns.is_empty());
                assert_eq!(conversation.source.harness, harness);
                conversation.source.path = None;
            }
            json!({ "conversations": parsed.conversations, "warnings": parsed.warnings })
        }
        Err(error) => json!({ "error": error.to_string() }),
    }
}

#[test]
fn fixtures_are_read_as_expected() {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let mut failed = Vec::new();
    let mut cases = 0;
    for harness in Harness::ALL.into_iter().filter(|harness| *harness != Harness::ClaudeCode) {
        let folder = root().join(harness.as_str());
        assert!(folder.is_dir(), "{harness} has no fixtures");
        for case in folders(&folder) {
            let input = fs::read_dir(&case)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("input"));
            let Some(input) = input else { panic!("{} has no input", case.display()) };
            cases += 1;
            let options =
                fs::read(case.join("options.json")).map_or(Value::Null, |b| serde_json::from_slice(&b).unwrap());
            let scratch = tempfile::tempdir().unwrap();
            let file = match options["file"].as_str() {
                Some(name) => input.join(name),
                None => readable(&input, scratch.path()),
            };
            let got = read(harness, &file, &options);
            let detected = identified(&file);
            if got.get("error").is_none() && detected != Some(harness) {
                failed.push(format!("{}: detected as {detected:?}", case.display()));
            }
            let expected_path = case.join("expected.json");
            if update {
                fs::write(&expected_path, format!("{}\n", serde_json::to_string_pretty(&got).unwrap())).unwrap();
                continue;
            }
            let expected: Value = serde_json::from_slice(&fs::read(&expected_path).expect("expected.json")).unwrap();
            if got != expected {
                let got = serde_json::to_string_pretty(&got).unwrap();
                failed.push(format!("{}: read differently than expected:\n{got}", case.display()));
            }
        }
    }
    assert!(cases > 100, "{cases} fixtures under {}", root().display());
    assert!(failed.is_empty(), "{} of {cases}:\n{}", failed.len(), failed.join("\n"));
}
