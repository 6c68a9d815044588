//! Files of any kind as an importer is given them: databases are made from their SQL.
#![allow(dead_code, reason = "each test uses some of it")]

use std::{
    fs::{self, File},
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

use onrecord_transcript::{
    Error, Grain, Harness, ParseOptions, Parsed,
    detect::{identify, main_file},
    parse,
};

pub fn options(path: Option<&Path>) -> ParseOptions {
    ParseOptions {
        grain: Grain::Turn,
        fallback_id: "fallback".to_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: path.map(Path::to_path_buf),
        home: Some("/home/dana".to_owned()),
        branch: None,
        conversation: None,
    }
}

/// A database of what an SQL file says, in `folder`.
pub fn database(sql: &Path, folder: &Path) -> PathBuf {
    let path = folder.join("input.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(&fs::read_to_string(sql).unwrap()).unwrap();
    path
}

/// The harness that a file is taken for.
pub fn identified(path: &Path) -> Option<Harness> {
    let mut head = Vec::new();
    File::open(path).unwrap().take(256 * 1024).read_to_end(&mut head).unwrap();
    identify(&head, Some(path)).unwrap().ok()
}

/// Reads a file, a folder, or the database that an SQL file makes. A small buffer, so that rows lie across its end.
pub fn read(harness: Harness, path: &Path, options: &ParseOptions) -> Result<Parsed, Error> {
    parse(harness, &mut BufReader::with_capacity(97, File::open(path).unwrap()), options)
}

/// What is to be read at a path: the file, the main one of a folder, or a database made of it in `scratch`.
pub fn readable(path: &Path, scratch: &Path) -> PathBuf {
    if path.is_dir() {
        return main_file(path).unwrap_or_else(|| panic!("{} has no main file", path.display()));
    }
    if path.extension().is_some_and(|extension| extension == "sql") {
        database(path, scratch)
    } else {
        path.to_path_buf()
    }
}
