//! What a file is taken for, and what is read in it, as JSON: `read FILE [HARNESS]`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for whoever writes an importer")]

use std::{
    fs::File,
    io::{BufReader, Read},
    path::PathBuf,
};

use onrecord_transcript::{Grain, ParseOptions, detect::identify, parse};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().unwrap());
    let mut head = Vec::new();
    File::open(&path).unwrap().take(256 * 1024).read_to_end(&mut head).unwrap();
    let harness = match arguments.next() {
        Some(name) => name.parse().unwrap(),
        None => match identify(&head, Some(&path)).unwrap() {
            Ok(harness) => harness,
            Err(unknown) => return println!("{{\"unknown\":\"{unknown}\"}}"),
        },
    };
    let options = ParseOptions {
        grain: Grain::Turn,
        fallback_id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: Some(path.clone()),
        home: None,
        branch: None,
        conversation: None,
    };
    match parse(harness, &mut BufReader::new(File::open(&path).unwrap()), &options) {
        Ok(parsed) => println!("{}", serde_json::to_string_pretty(&parsed.conversations).unwrap()),
        Err(error) => println!("{harness}: {error}"),
    }
}
