//! Speed and peak memory on a file: `measure generate BYTES FILE`, then `measure parse FILE`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::indexing_slicing, reason = "a measuring tool fails loudly")]

#[path = "../benches/generator/mod.rs"]
mod generator;

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter},
    time::Instant,
};

use onrecord_transcript::{Grain, Harness, ParseOptions, parse};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["generate", bytes, path] => {
            let mut out = BufWriter::new(File::create(path).unwrap());
            let written = generator::write_transcript(&mut out, bytes.parse().unwrap()).unwrap();
            println!("{written} bytes");
        }
        ["parse", path] => {
            let options = ParseOptions {
                grain: Grain::Turn,
                fallback_id: "measure".to_owned(),
                fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
                path: None,
                home: None,
                branch: None,
                conversation: None,
            };
            let bytes = fs::metadata(path).unwrap().len();
            let start = Instant::now();
            let parsed =
                parse(Harness::ClaudeCode, &mut BufReader::with_capacity(1 << 16, File::open(path).unwrap()), &options)
                    .unwrap();
            let elapsed = start.elapsed();
            // On a busy machine the time on the processor says more than the clock.
            let on_processor_ns = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
            let on_processor_ns = on_processor_ns.split(' ').next().unwrap_or_default().to_owned();
            let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
            let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
            let turns: usize = parsed.conversations.iter().map(|c| c.turns.len()).sum();
            println!("{bytes} bytes in {elapsed:?} ({on_processor_ns} ns on the processor), {turns} turns, {peak}");
            let kept: usize = parsed.conversations.iter().map(|c| serde_json::to_string(c).unwrap().len()).sum();
            println!("{kept} bytes as JSON");
        }
        _ => println!("measure generate BYTES FILE | measure parse FILE"),
    }
}
