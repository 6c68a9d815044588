//! A signed repository of 20,000 records checked whole, its blocks in the order of the tree and in none.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "a bench fails loudly")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use onrecord_repo::{Car, Expected, PublicKey, check};
use onrecord_testkit::repo::{Repository, SigningKey};
use serde_json::json;

const RECORDS: usize = 20_000;

/// Records as networks have them: many small ones, some of two kilobytes.
fn repository() -> Repository {
    let mut repository = Repository::new("did:plc:ewvi7nxzyoun6zhxrhs64oiz", SigningKey::k256(1));
    for n in 0..RECORDS {
        let (collection, record) = if n % 12 == 0 {
            let steps: Vec<_> = (0..8).map(|k| json!({"tool": "bash", "summary": format!("Run test {k}")})).collect();
            let text = "What was said in this turn, at some length. ".repeat(30);
            ("app.example.turn", json!({"role": "assistant", "text": text, "steps": steps, "n": n}))
        } else {
            let subject = json!({"uri": format!("at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.example.post/3k{n:05}")});
            ("app.example.like", json!({"subject": subject, "createdAt": "2026-01-02T03:04:05.678Z", "n": n}))
        };
        let mut record = record;
        record["$type"] = collection.into();
        repository.put(&format!("{collection}/3l{n:011}"), record);
    }
    repository
}

fn bench(c: &mut Criterion) {
    let repository = repository();
    let key = PublicKey::parse(&repository.key.did_key()).unwrap();
    let mut parts = repository.parts();
    let in_order = parts.car();
    parts.blocks.sort_by(|a, b| a.cid.cmp(&b.cid));
    let in_no_order = parts.car();
    let mut group = c.benchmark_group("check a repository");
    group.throughput(Throughput::Bytes(in_order.len() as u64));
    for (name, car) in [("in the order of the tree", &in_order), ("in no order", &in_no_order)] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut car = Car::from_bytes(black_box(&car[..]));
                let checked = check(&mut car, &Expected { key: Some(&key), ..Expected::default() }, |_| {}).unwrap();
                assert!(checked.faults.is_empty() && checked.is_signed);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
