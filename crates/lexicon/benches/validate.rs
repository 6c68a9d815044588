//! Records against their schemas: a record of ours of some 2.4 KB, and the one that the targets are set on where it
//! is present.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a bench fails loudly, and has no readers but its own"
)]

use std::{fs, hint::black_box, path::Path};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use onrecord_lexicon::{Catalog, Json, Lexicon, data};
use serde_json::Value;

const REVIEW_SCHEMAS: &str = include_str!("review/schemas.json");
const REVIEW: &str = include_str!("review/record.json");

fn bench_one(c: &mut Criterion, name: &str, catalog: &Catalog, text: &[u8]) {
    let json = Json::parse(text).unwrap();
    let value: Value = json.root().into();
    let block = data::Value::from_json(&value).unwrap().to_dag_cbor();
    let block = data::Value::from_dag_cbor(&block).unwrap();
    let nsid = value["$type"].as_str().unwrap();
    let rkey = Some("3jzfcijpj2z2a");
    assert_eq!(catalog.validate_record(nsid, &value, rkey).unwrap(), []);
    assert_eq!(catalog.validate_record(nsid, &block, rkey).unwrap(), []);

    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(1));
    group.bench_function("validate", |b| {
        b.iter(|| catalog.validate_record(nsid, black_box(json.root()), rkey).unwrap());
    });
    group.bench_function("validate serde_json", |b| {
        b.iter(|| catalog.validate_record(nsid, black_box(&value), rkey).unwrap());
    });
    group.bench_function("validate block", |b| {
        b.iter(|| catalog.validate_record(nsid, black_box(&block), rkey).unwrap());
    });
    group.bench_function("parse", |b| b.iter(|| Json::parse(black_box(text)).unwrap()));
    group.bench_function("parse and validate", |b| {
        b.iter(|| {
            let json = Json::parse(black_box(text)).unwrap();
            catalog.validate_record(nsid, json.root(), rkey).unwrap()
        });
    });
    group.finish();
}

fn validate(c: &mut Criterion) {
    let schemas: Value = serde_json::from_str(REVIEW_SCHEMAS).unwrap();
    let mut builder = Catalog::builder();
    for schema in schemas.as_array().unwrap() {
        builder.add(Lexicon::read("review", schema).unwrap());
    }
    assert!((2_300..2_600).contains(&REVIEW.len()), "the record has {} bytes", REVIEW.len());
    bench_one(c, "review", &builder.build(), REVIEW.as_bytes());

    // As a host has it: what is asked for is one of many.
    let mut builder = Catalog::builder();
    for copy in 0..1_000 {
        for schema in schemas.as_array().unwrap() {
            let text = schema.to_string().replace("com.example.", &format!("com.example{copy}."));
            builder.add(Lexicon::parse("copy", text.as_bytes()).unwrap());
        }
    }
    for schema in schemas.as_array().unwrap() {
        builder.add(Lexicon::read("review", schema).unwrap());
    }
    let catalog = builder.build();
    assert!(catalog.lexicons().len() > 1_000);
    bench_one(c, "review, 1,000 lexicons loaded", &catalog, REVIEW.as_bytes());

    let shared = std::env::var("ONRECORD_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").into());
    let folder = Path::new(&shared).join("bench-data");
    let Ok(entry) = fs::read(folder.join("record.json")) else { return };
    let mut builder = Catalog::builder();
    for nsid in ["com.example.bench.entry", "com.example.bench.defs", "com.atproto.repo.strongRef"] {
        builder.add_json(nsid, &fs::read(folder.join(format!("{nsid}.json"))).unwrap()).unwrap();
    }
    bench_one(c, "entry", &builder.build(), &entry);
}

criterion_group!(benches, validate);
criterion_main!(benches);
