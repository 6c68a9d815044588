//! Checks a CAR file again and again, and prints megabytes a second of CPU time as JSON: `measure FILE did:key:…`.
//! For `bench/car/run`, which puts other readers beside it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measuring tool fails loudly"
)]

use std::{env, fs, hint::black_box, time::Instant};

use onrecord_repo::{Car, Expected, PublicKey, check};

fn main() {
    let mut args = env::args().skip(1);
    let bytes = fs::read(args.next().unwrap()).unwrap();
    let key = PublicKey::parse(&args.next().unwrap()).unwrap();
    let mut best = f64::MAX;
    for _ in 0..400 {
        let start = Instant::now();
        let mut car = Car::from_bytes(black_box(&bytes[..]));
        let checked = check(&mut car, &Expected { key: Some(&key), ..Expected::default() }, |_| {}).unwrap();
        assert!(checked.faults.is_empty() && checked.is_signed);
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(r#"{{"name":"onrecord-repo","mbPerSecond":{:.0}}}"#, bytes.len() as f64 / best / 1e6);
}
