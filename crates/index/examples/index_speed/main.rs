//! How fast the index is, on a corpus of its own making, and how fast a Jetstream is read:
//! `cargo run --release -p onrecord-index --example index_speed -- [sqlite|postgres|frames|ADDRESS]… [TURNS …]`; and what one
//! account of very many records takes: `… -- account RECORDS`.
//!
//! Without arguments: both stores, 10,000 to 1,000,000 turns, and frames. ADDRESS is a folder for SQLite files, or the URL of a
//! PostgreSQL server, on which a database is made for each size; without one, a folder and a server of its own are made, and
//! removed again. Each measurement is a process of its own, so that none has the memory of another.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    missing_docs,
    reason = "a measurement, run by hand"
)]

mod account;
mod corpus;
mod frames;
mod machine;
mod measure;

use std::process::Command;

use onrecord_testkit::{Postgres, PostgresOptions};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["measure", address, turns] => run(measure::measure(address, turns.parse().unwrap())),
        ["ready", address] => run(measure::ready(address)),
        ["account", records] => account::all(records),
        ["write", records, path, rev] => account::write(records.parse().unwrap(), path.as_ref(), rev.parse().unwrap()),
        ["fetch", url, path, what] => run(account::fetch(url, path.as_ref(), what)),
        ["remove", path] => run(account::remove(path.as_ref())),
        _ => all(&args),
    }
}

fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work);
}

fn all(args: &[String]) {
    let (sizes, mut what): (Vec<&str>, Vec<&str>) =
        args.iter().map(String::as_str).partition(|arg| arg.parse::<u64>().is_ok());
    if what.is_empty() {
        what = vec!["sqlite", "postgres", "frames"];
    }
    let sizes = if sizes.is_empty() { vec!["10000", "100000", "1000000"] } else { sizes };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!("{cores} cores, load {} at the beginning\n", machine::load());
    if what != ["frames"] {
        measure::print_head();
    }
    for what in &what {
        let (folder, server);
        let address = match *what {
            "frames" => continue,
            "sqlite" => {
                folder = tempfile::tempdir().unwrap();
                folder.path().display().to_string()
            }
            "postgres" => {
                server = Postgres::start_with(PostgresOptions { durable: true, ..PostgresOptions::default() });
                server.url().to_owned()
            }
            address => address.to_owned(),
        };
        for turns in &sizes {
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["measure", &measure::place(&address, turns), turns])
                .status()
                .unwrap();
            assert!(status.success(), "{what} with {turns} turns");
        }
    }
    if what.contains(&"frames") {
        frames::print();
    }
    println!("\nload {} at the end", machine::load());
}
