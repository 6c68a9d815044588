//! Measures this project's validator and its peers in Rust: `validator-peers FOLDER`, where FOLDER holds `record.json`
//! and the lexicons it needs. One JSON line for each, in records a second.

use std::{
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let mut record = Vec::new();
    let mut lexicons = Vec::new();
    for entry in fs::read_dir(Path::new(&folder)).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ext| ext == "json") {
            let text = fs::read(&path).expect("a file");
            if path.file_name().is_some_and(|name| name == "record.json") {
                record = text;
            } else {
                lexicons.push(String::from_utf8(text).expect("text"));
            }
        }
    }
    let nsid = serde_json::from_slice::<Value>(&record).expect("JSON")["$type"].as_str().expect("$type").to_owned();
    ours(&record, &nsid, &lexicons);
    jacquard(&record, &nsid, &lexicons);
    atproto_lexicon(&record, &nsid, &lexicons);
    slices(&record, &nsid, &lexicons);
}

fn ours(record: &[u8], nsid: &str, lexicons: &[String]) {
    use onrecord_lexicon::{Catalog, Json};
    let mut builder = Catalog::builder();
    for lexicon in lexicons {
        builder.add_json("lexicon", lexicon.as_bytes()).expect("a lexicon");
    }
    let catalog = builder.build();
    let parsed = Json::parse(record).expect("JSON");
    let is_valid = |json: &Json<'_>| catalog.validate_record(nsid, json.root(), None).expect("known").is_empty();
    report(
        "onrecord-lexicon",
        rate(|| is_valid(black_box(&parsed))),
        rate(|| is_valid(&Json::parse(black_box(record)).expect("JSON"))),
    );
    let value: Value = serde_json::from_slice(record).expect("JSON");
    let is_valid = |value: &Value| catalog.validate_record(nsid, value, None).expect("known").is_empty();
    report(
        "onrecord-lexicon (serde_json::Value)",
        rate(|| is_valid(black_box(&value))),
        rate(|| is_valid(&serde_json::from_slice(black_box(record)).expect("JSON"))),
    );
}

fn jacquard(record: &[u8], nsid: &str, lexicons: &[String]) {
    use jacquard_common::{IntoStatic, types::value::Data};
    use jacquard_lexicon::{lexicon::LexiconDoc, schema::SchemaRegistry, validation::SchemaValidator};
    let registry = SchemaRegistry::new();
    for lexicon in lexicons {
        let doc: LexiconDoc<'_> = serde_json::from_str(lexicon).expect("a lexicon");
        registry.insert(doc.id.as_ref().into(), doc.into_static());
    }
    let validator = SchemaValidator::from_registry(registry);
    let data: Data = serde_json::from_slice(record).expect("JSON");
    report(
        "jacquard-lexicon 0.12.2",
        rate(|| validator.validate_by_nsid(nsid, black_box(&data)).is_valid()),
        rate(|| {
            let data: Data = serde_json::from_slice(black_box(record)).expect("JSON");
            validator.validate_by_nsid(nsid, &data).is_valid()
        }),
    );
}

fn atproto_lexicon(record: &[u8], nsid: &str, lexicons: &[String]) {
    use atproto_lexicon::validation::{ValidateFlags, validate::{BaseCatalog, validate_record}};
    let mut catalog = BaseCatalog::new();
    for lexicon in lexicons {
        catalog.add_schema_json(lexicon).expect("a lexicon");
    }
    let value: Value = serde_json::from_slice(record).expect("JSON");
    let is_valid = |value: &Value| validate_record(nsid, value, &catalog, ValidateFlags::empty()).is_ok();
    report(
        "atproto-lexicon 0.14.5",
        rate(|| is_valid(black_box(&value))),
        rate(|| is_valid(&serde_json::from_slice(black_box(record)).expect("JSON"))),
    );
}

fn slices(record: &[u8], nsid: &str, lexicons: &[String]) {
    use slices_lexicon::validate_record;
    let lexicons: Vec<Value> = lexicons.iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
    let value: Value = serde_json::from_slice(record).expect("JSON");
    report(
        "slices-lexicon 0.3.1",
        rate(|| validate_record(lexicons.clone(), nsid, black_box(&value).clone()).is_ok()),
        rate(|| validate_record(lexicons.clone(), nsid, serde_json::from_slice(black_box(record)).expect("JSON")).is_ok()),
    );
}

fn report(name: &str, validate: f64, parse_and_validate: f64) {
    println!("{}", json!({"name": name, "validate": validate.round(), "parseAndValidate": parse_and_validate.round()}));
}

/// Calls a second, in the best of many bursts of some 4 ms: what else runs on the machine slows most of them.
fn rate(mut call: impl FnMut() -> bool) -> f64 {
    const BURST: Duration = Duration::from_millis(4);
    let mut burst = |calls: u32| {
        let start = Instant::now();
        for _ in 0..calls {
            assert!(call(), "the record is valid");
        }
        start.elapsed()
    };
    let mut calls = 1;
    while burst(calls) < BURST {
        calls *= 2;
    }
    let end = Instant::now() + Duration::from_millis(1500);
    let mut best = Duration::MAX;
    while Instant::now() < end {
        best = best.min(burst(calls));
    }
    f64::from(calls) / best.as_secs_f64()
}
