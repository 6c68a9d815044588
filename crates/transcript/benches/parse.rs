//! How fast a Claude Code transcript of 50 MB is read, rows alone and whole.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a bench fails loudly")]

mod generator;

use std::{hint::black_box, ops::ControlFlow};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use onrecord_transcript::{
    Grain, Harness, ParseOptions, parse,
    rows::{Warnings, read_rows},
};

const BYTES: usize = 50_000_000;

fn benches(criterion: &mut Criterion) {
    let mut transcript = Vec::with_capacity(BYTES + 100_000);
    generator::write_transcript(&mut transcript, BYTES).unwrap();
    let options = ParseOptions {
        grain: Grain::Turn,
        fallback_id: "bench".to_owned(),
        fallback_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        path: None,
        home: Some("/home/mira".to_owned()),
        branch: None,
        conversation: None,
    };
    let mut group = criterion.benchmark_group("claude-code");
    group.throughput(Throughput::Bytes(u64::try_from(transcript.len()).unwrap())).sample_size(10);
    group.bench_function("rows", |bencher| {
        bencher.iter(|| {
            let mut warnings = Warnings::default();
            read_rows(&mut transcript.as_slice(), &mut warnings, |row, _| {
                black_box(&row);
                ControlFlow::Continue(())
            })
            .unwrap()
        });
    });
    group.bench_function("parse", |bencher| {
        bencher.iter(|| parse(Harness::ClaudeCode, &mut transcript.as_slice(), &options).unwrap());
    });
    group.finish();
}

criterion_group!(parsing, benches);
criterion_main!(parsing);
