//! The protocol's own syntax vectors, where they are present.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly, and say what they skip"
)]

use std::{env, fs, path::PathBuf};

use onrecord_lexicon::syntax;

fn folder() -> Option<PathBuf> {
    let shared = env::var_os("ONRECORD_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")), PathBuf::from);
    let folder = shared.join("interop/syntax");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: shared data not present");
    None
}

/// Judges the files `<name>_<kind>.txt` that exist; at least one must.
fn judge(name: &str, is_valid: fn(&str) -> bool) {
    let Some(folder) = folder() else { return };
    let mut judged = 0;
    for (kind, expected) in [("syntax_valid", true), ("syntax_invalid", false), ("parse_invalid", false)] {
        let Ok(text) = fs::read_to_string(folder.join(format!("{name}_{kind}.txt"))) else {
            continue;
        };
        // A line is a vector unless it is empty or a comment; its white space counts.
        for line in text.split('\n').filter(|line| !line.is_empty() && !line.starts_with('#')) {
            assert_eq!(is_valid(line), expected, "{name}_{kind}: {line:?}");
            judged += 1;
        }
    }
    assert!(judged > 0, "no vectors for {name}");
    eprintln!("{name}: {judged} vectors");
}

macro_rules! vectors {
    ($($name:ident: $file:literal, $is_valid:path;)*) => {
        $(#[test]
        fn $name() {
            judge($file, $is_valid);
        })*
    };
}

vectors! {
    at_identifier: "atidentifier", syntax::is_valid_at_identifier;
    at_uri: "aturi", syntax::is_valid_at_uri;
    cid: "cid", syntax::is_valid_cid;
    datetime: "datetime", syntax::is_valid_datetime;
    did: "did", syntax::is_valid_did;
    handle: "handle", syntax::is_valid_handle;
    language: "language", syntax::is_valid_language;
    nsid: "nsid", syntax::is_valid_nsid;
    record_key: "recordkey", syntax::is_valid_record_key;
    tid: "tid", syntax::is_valid_tid;
    uri: "uri", syntax::is_valid_uri;
}
