//! Every folder of `fixtures/codex/` and `fixtures/pi/` is a test: `input.*` is read and compared with
//! `expected.json`, and its harness must be told from its content. `options.json` may hold `grain`
//! ("message") and `branch`. `UPDATE_EXPECTED=1` writes what was read instead of comparing; look at
//! the difference before committing it.
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

use std::{
    collections::BTreeSet,
    fs,
    io::BufReader,
    path::{Path, PathBuf},
};

use onrecord_transcript::{Grain, Harness, ParseOptions, detect::detect, parse};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn folders(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

fn read(harness: Harness, input: &Path, options: &Value) -> Value {
    let options = ParseOptions {
        grain: if options["grain"] == "message" { Grain::Message } else { Grain::Turn },
        fallback_id: "fallback".to_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: None,
        home: Some("/home/dana".to_owned()),
        branch: options["branch"].as_str().map(str::to_owned),
    };
    // A small buffer, so that rows lie across its end.
    let mut reader = BufReader::with_capacity(97, fs::File::open(input).unwrap());
    match parse(harness, &mut reader, &options) {
        Ok(parsed) => {
            for conversation in &parsed.conversations {
                assert!(!conversation.turns.is_empty());
                assert_eq!(conversation.source.harness, harness);
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
    for harness in [Harness::Codex, Harness::Pi] {
        for case in folders(&root().join(harness.as_str())) {
            let input = fs::read_dir(&case)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("input."));
            let Some(input) = input else { panic!("{} has no input", case.display()) };
            cases += 1;
            let options =
                fs::read(case.join("options.json")).map_or(Value::Null, |b| serde_json::from_slice(&b).unwrap());
            let got = read(harness, &input, &options);
            let detected = detect(&fs::read(&input).unwrap());
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
    assert!(cases > 50, "{cases} fixtures under {}", root().display());
    assert!(failed.is_empty(), "{} of {cases}:\n{}", failed.len(), failed.join("\n"));
}
