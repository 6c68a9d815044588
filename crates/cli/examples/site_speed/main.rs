//! How fast the site is, as `onrecord serve` on an index of a corpus of its own making:
//!
//! ```sh
//! cargo build --release -p onrecord-cli
//! cargo run --release -p onrecord-cli --example site_speed -- FOLDER [TURNS]
//! cargo run --release -p onrecord-cli --example site_speed -- FOLDER [TURNS] load SECONDS RATE
//! cargo run --release -p onrecord-cli --example site_speed -- FOLDER [TURNS] paint
//! ```
//!
//! The index is made in FOLDER once (1,000,000 turns by default: some minutes, 2 GB). Without more, the time that pages take and
//! how many a second there are; `load` asks for RATE pages a second while another process publishes and deletes, and looks
//! after each delete whether anything of it is still served; `paint` is what a browser does. The client runs on the same
//! cores as the server, and takes its part of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measurement, run by hand"
)]

mod client;
#[path = "../../../index/examples/index_speed/corpus.rs"]
#[expect(dead_code, reason = "what only the other measurement asks for")]
mod corpus;
mod fill;
mod load;
mod measure;
mod pages;
mod paint;
mod server;

use std::path::PathBuf;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut rest = args.iter().map(String::as_str).peekable();
    let folder = PathBuf::from(rest.next().expect("a folder for the index"));
    let turns: u64 = rest.next_if(|arg| arg.parse::<u64>().is_ok()).map_or(1_000_000, |turns| turns.parse().unwrap());
    let db = folder.join(format!("site-{turns}.db"));
    let conversations = turns / corpus::TURNS;
    fill::once(&db, conversations);
    match rest.collect::<Vec<_>>()[..] {
        [] => measure::all(&db, conversations),
        ["load", seconds, rate] => {
            load::bear(&db, conversations, seconds.parse().unwrap(), rate.parse().unwrap());
        }
        ["paint"] => paint::all(&db),
        ref other => panic!("{other:?} is not known here"),
    }
}
