//! The deliberate faults that the tests must catch (see `mutants/README.md`) still apply to the sources.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

#[path = "../mutants/list.rs"]
mod list;

use std::{collections::HashSet, fs, path::Path};

use list::List;

#[test]
fn every_fault_applies_to_one_place_and_names_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let faults = List::read().unwrap().fault;
    assert!(faults.len() >= 30, "{}", faults.len());
    let mut names = HashSet::new();
    let mut wrong = Vec::new();
    for fault in &faults {
        assert!(names.insert(fault.name.as_str()) && !fault.harm.is_empty(), "{}", fault.name);
        let text = fs::read_to_string(root.join(&fault.file)).unwrap();
        wrong.extend(fault.apply(&text).err());
        let (target, path) = fault.test().unwrap();
        let file = match (target, path.rsplit_once("::")) {
            ("lib", Some((module, _))) => unit_test_file(root, module),
            ("lib", None) => panic!("{}: no module", fault.name),
            _ => root.join("tests").join(target).with_extension("rs"),
        };
        let test = format!("fn {}(", path.rsplit("::").next().unwrap());
        if !fs::read_to_string(&file).is_ok_and(|text| text.contains(&test)) {
            wrong.push(format!("{}: no {} in {}", fault.name, fault.caught_by, file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `a::b::tests` is `src/a/b/tests.rs` or stands in `src/a/b.rs`.
fn unit_test_file(root: &Path, module: &str) -> std::path::PathBuf {
    let path = root.join("src").join(module.replace("::", "/"));
    let own = path.with_extension("rs");
    if own.exists() { own } else { path.parent().unwrap().with_extension("rs") }
}

#[test]
fn a_fault_that_applies_nowhere_or_twice_is_told_of() {
    let fault = |find: &str, replace: &str| list::Fault {
        name: "n".to_owned(),
        harm: "h".to_owned(),
        file: "f".to_owned(),
        find: find.to_owned(),
        replace: replace.to_owned(),
        caught_by: "lib::tests::t".to_owned(),
    };
    assert_eq!(fault("a", "b").apply("xay").as_deref(), Ok("xby"));
    assert!(fault("a", "b").apply("xy").is_err());
    assert!(fault("a", "b").apply("xaya").is_err());
    assert!(fault("a", "a").apply("xay").is_err());
}
