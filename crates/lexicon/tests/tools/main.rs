//! The tools for lexicons on published documents, where they are present, and on very many generated ones.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly, and say what they skip"
)]

#[path = "../support/generate.rs"]
mod generate;
mod generated;
mod pages;
mod published;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder `name` of the data shared between projects, where it is present.
fn shared(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("ONRECORD_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let folder = shared.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: shared data not present");
    None
}

/// Name and text of each published lexicon.
fn published() -> Option<Vec<(String, Vec<u8>)>> {
    let folder = shared("lexicons")?;
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    assert!(found.len() >= 30);
    Some(found)
}
