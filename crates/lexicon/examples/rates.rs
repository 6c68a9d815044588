//! How many records a second of processor time this crate validates: `rates FOLDER`, where FOLDER holds `record.json`
//! and the lexicons it needs. Prints one JSON object.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a measurement fails loudly, and prints what it measured"
)]

use std::{
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use onrecord_lexicon::{Catalog, Data, Json, View};
use serde_json::{Value, json};

/// How long each rate is measured, in processor time, three times over.
const SPAN: Duration = Duration::from_millis(700);

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let folder = Path::new(&folder);
    let text = fs::read(folder.join("record.json")).unwrap();
    let mut builder = Catalog::builder();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".json") && name != "record.json" {
            builder.add_json(&name, &fs::read(&path).unwrap()).unwrap();
        }
    }
    let catalog = builder.build();
    let parsed = Json::parse(&text).unwrap();
    let Some(View::String(nsid)) = parsed.root().field("$type").map(Data::view) else { panic!("no $type") };
    let value: Value = parsed.root().into();
    assert_eq!(catalog.validate_record(nsid, parsed.root(), None).unwrap(), []);

    let validate = rate(|| catalog.validate_record(nsid, black_box(parsed.root()), None).unwrap().is_empty());
    let of_value = rate(|| catalog.validate_record(nsid, black_box(&value), None).unwrap().is_empty());
    let parse = rate(|| Json::parse(black_box(&text)).is_ok());
    let both = rate(|| {
        let json = Json::parse(black_box(&text)).unwrap();
        catalog.validate_record(nsid, json.root(), None).unwrap().is_empty()
    });
    println!(
        "{}",
        json!({"name": "onrecord-lexicon", "validate": validate, "validateSerdeJson": of_value, "parse": parse, "parseAndValidate": both})
    );
}

/// The best of three, in calls a second.
fn rate(mut call: impl FnMut() -> bool) -> u64 {
    let mut best = 0.0_f64;
    for _ in 0..3 {
        let (mut calls, start) = (0_u32, processor_time());
        loop {
            for _ in 0..500 {
                assert!(call());
            }
            calls += 500;
            let spent = processor_time().saturating_sub(start);
            if spent >= SPAN {
                best = best.max(f64::from(calls) / spent.as_secs_f64());
                break;
            }
        }
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate, rounded down")]
    {
        best as u64
    }
}

/// Time this thread has had on a processor, so that other programs do not count; the clock where the system does not
/// tell.
fn processor_time() -> Duration {
    let of_thread = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = of_thread.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.with(Instant::elapsed), Duration::from_nanos)
}

thread_local! {
    static START: Instant = Instant::now();
}
