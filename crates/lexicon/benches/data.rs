//! A record of some 2.4 KB: JSON to block and CID, and back.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench fails loudly, and has no readers but its own")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use onrecord_lexicon::data::{Value, cid_of, record_cid};

/// A turn of an agent, as conversations have them: text, steps, references.
fn record() -> serde_json::Value {
    let steps: Vec<_> = (0..12)
        .map(|n| serde_json::json!({"tool": "Bash", "summary": format!("run the tests of part {n}"), "failed": n % 5 == 0}))
        .collect();
    let refs: Vec<_> = (0..2)
        .map(|n| {
            serde_json::json!({
                "uri": format!("at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/com.example.note/3l{n}"),
                "cid": "bafyreiclp443lavogvhj3d2ob2cxbfuscni2k5jk7bebjzg7khl3esabwq",
            })
        })
        .collect();
    serde_json::json!({
        "$type": "com.example.turn",
        "session": "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/com.example.session/3lcx4ymkb2c2v",
        "role": "assistant",
        "model": "example/model-1",
        "createdAt": "2026-01-02T03:04:05.678Z",
        "text": "The tests of the parser pass now; what failed was the reading of an empty line. ".repeat(12),
        "steps": steps,
        "refs": refs,
        "tokens": {"in": 12_345, "out": 678},
    })
}

fn data(c: &mut Criterion) {
    let json = record();
    let text = json.to_string();
    let (block, _) = record_cid(&json).unwrap();
    assert!((2_200..2_600).contains(&text.len()), "the record has {} bytes", text.len());
    let value = Value::from_json(&json).unwrap();

    let mut group = c.benchmark_group("data");
    group.throughput(Throughput::Elements(1));
    group.bench_function("json to block and cid", |b| b.iter(|| record_cid(black_box(&json)).unwrap()));
    group.bench_function("json text to value", |b| b.iter(|| Value::parse_json(black_box(&text)).unwrap()));
    group.bench_function("json to value", |b| b.iter(|| Value::from_json(black_box(&json)).unwrap()));
    group.bench_function("value to block", |b| b.iter(|| black_box(&value).to_dag_cbor()));
    group.bench_function("cid of block", |b| b.iter(|| cid_of(black_box(&block))));
    group.bench_function("block to value", |b| b.iter(|| Value::from_dag_cbor(black_box(&block)).unwrap()));
    group.bench_function("block to json text", |b| {
        b.iter(|| serde_json::to_string(&Value::from_dag_cbor(black_box(&block)).unwrap()).unwrap());
    });
    group.finish();
}

criterion_group!(benches, data);
criterion_main!(benches);
