//! The validator against our fixtures, the bundled lexicons, the interop vectors and noise.
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

mod bundled;
mod calls;
mod fixtures;
mod noise;
mod vectors;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

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

fn read_json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The files of `folder` that end in `.json`, in order.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
}
