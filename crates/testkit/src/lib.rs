//! Real parts for tests: a PDS with its did:plc directory, a proxy that makes it fail on purpose, a
//! name server, PostgreSQL, Chromium.
//!
//! For tests only. Everything here panics, with a sentence on what to install or what went wrong, and never skips: a test
//! that needs a PDS and has none has failed. All servers listen on 127.0.0.1, and end with the value that holds them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test kit fails loudly"
)]

mod authorize;
mod chromium;
mod dns;
mod labeler;
mod lexicon;
mod mcp;
mod pds;
mod postgres;
mod proxy;
mod relay;
pub mod repo;
mod setup;

pub use authorize::{Answer, authorize, follow};
pub use chromium::{Chromium, View};
pub use dns::Dns;
pub use labeler::Labeler;
pub use lexicon::reference_verdicts;
pub use mcp::{mcp_over_http, mcp_over_stdio};
pub use pds::{Account, DidWebAccount, Pds, PdsOptions, Streams, StreamsOptions};
pub use postgres::{Postgres, PostgresOptions};
pub use proxy::{Fault, FaultProxy};
pub use relay::Relay;
pub use setup::{axe, program, require_pds};

use std::{net::TcpListener, path::Path};

use tempfile::TempDir;

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on loopback");
    listener.local_addr().expect("a bound socket has an address").port()
}

/// A folder that goes when dropped, in memory where the machine has it: a PDS writes three times as fast there.
pub(crate) fn temp_dir(name: &str) -> TempDir {
    let parent =
        [Path::new("/dev/shm"), &std::env::temp_dir()].into_iter().find(|dir| dir.is_dir()).unwrap().to_owned();
    tempfile::Builder::new().prefix(name).tempdir_in(parent).expect("a temporary folder")
}
