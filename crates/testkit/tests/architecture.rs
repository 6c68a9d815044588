//! ARCHITECTURE.md is checked like code: what it names is there, what it promises is tested, what we depend on is explained.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_some_and(|n| n != "target" && n != "node_modules") {
                rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_path_it_names_is_there() {
    let map = read("ARCHITECTURE.md");
    let paths: BTreeSet<_> = quoted(&map).filter(|q| q.starts_with("crates/") || *q == "lexicons").collect();
    assert!(paths.len() > 30, "{paths:?}");
    let missing: Vec<_> = paths.iter().filter(|p| !root().join(p).exists()).collect();
    assert!(missing.is_empty(), "not there: {missing:?}");
}

#[test]
fn every_crate_has_a_row() {
    let map = read("ARCHITECTURE.md");
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(map.contains(&format!("| `crates/{name}` |")), "crates/{name} has no row");
    }
}

#[test]
fn every_invariant_is_cited_by_a_test() {
    let map = read("ARCHITECTURE.md");
    let part = map.split("## What always holds").nth(1).unwrap().split("\n## ").next().unwrap();
    let numbers: Vec<_> = (part.lines()).filter_map(|line| line.split_once(". **")?.0.parse::<usize>().ok()).collect();
    assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>());
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    let code: String = (files.iter())
        // Not tests alone: what must not compile is tested where it is documented.
        .filter(|f| !f.ends_with("architecture.rs"))
        .map(|f| fs::read_to_string(f).unwrap())
        .collect();
    let uncited: Vec<_> = numbers.iter().filter(|n| !code.contains(&format!("Invariant {n}."))).collect();
    assert!(uncited.is_empty(), "no test says `Invariant N.` for {uncited:?}");
}

#[test]
fn every_direct_dependency_is_explained() {
    let map = read("ARCHITECTURE.md");
    let table = map.split("## Dependencies").nth(1).unwrap();
    let explained: BTreeSet<_> = (table.lines())
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .flat_map(|names| names.split(", "))
        .collect();
    let manifest = read("Cargo.toml");
    let part = manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let ours: BTreeSet<_> = (part.lines())
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .filter(|name| !name.starts_with("onrecord-"))
        .collect();
    let unexplained: Vec<_> = ours.difference(&explained).collect();
    assert!(unexplained.is_empty(), "no line for {unexplained:?}");
    let gone: Vec<_> = explained.difference(&ours).filter(|n| !n.starts_with('-') && **n != "crate").collect();
    assert!(gone.is_empty(), "explained, and not used: {gone:?}");
}

#[test]
fn no_crate_uses_one_below_it() {
    let map = read("ARCHITECTURE.md");
    let order: Vec<_> = (map.lines())
        .filter_map(|line| line.strip_prefix("| `crates/")?.split('`').next())
        .filter(|name| *name != "testkit")
        .collect();
    for (place, name) in order.iter().enumerate() {
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        let part = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        for below in &order[place..] {
            assert!(!part.contains(&format!("onrecord-{below}.workspace")), "{name} uses {below}");
        }
    }
    for name in ["transcript", "redact", "lexicon"] {
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        let part = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        assert!(!part.contains("onrecord-"), "{name} uses a sibling");
    }
}
