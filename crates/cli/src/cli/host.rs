//! What a host runs: the pages and the index.

use std::path::PathBuf;

use clap::{Args, Subcommand, builder::NonEmptyStringValueParser};

use super::public::Public;

#[derive(Debug, Args)]
pub struct Serve {
    /// The address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787")]
    pub listen: std::net::SocketAddr,
    #[command(flatten)]
    pub db: DbArg,
    /// A replica of the PostgreSQL of --db, which answers the reads
    #[arg(long, value_name = "URL", requires = "db")]
    pub read_db: Option<String>,
    /// Keep what a server tells in the index: firehose:wss://HOST, jetstream:wss://HOST or tap:ws://HOST; may be repeated
    // Read by the command itself: what is refused here would be shown, and may hold a password.
    #[arg(long, value_name = "SOURCE")]
    pub follow: Vec<String>,
    #[command(flatten)]
    pub past: Past,
    /// The dictionary of a Jetstream of the first version, for compressed frames; later ones give their own
    #[arg(long, value_name = "FILE", requires = "follow")]
    pub dictionary: Option<PathBuf>,
    /// Do not show what this labeler hides, by DID or handle; may be repeated. What it said stays known without this option
    /// until `onrecord moderate forget-labeler`
    #[arg(long, value_name = "DID", value_parser = NonEmptyStringValueParser::new())]
    pub labeler: Vec<String>,
    /// Answer /metrics at this address, for Prometheus; keep it from the public
    #[arg(long, value_name = "ADDR")]
    pub metrics_listen: Option<std::net::SocketAddr>,
    #[command(flatten)]
    pub public: Public,
}

/// What is fetched because it was there before.
#[derive(Debug, Clone, Args)]
pub struct Past {
    /// Fetch this repository into the index, by DID or handle; may be repeated
    #[arg(long, value_name = "DID", value_parser = NonEmptyStringValueParser::new())]
    pub repo: Vec<String>,
    /// Fetch those of the people whose conversations this account vouches for, by DID or handle; may be repeated
    #[arg(long, value_name = "DID", value_parser = NonEmptyStringValueParser::new())]
    pub members_of: Vec<String>,
    /// Fetch those of which this relay says that they hold conversations: https://HOST; may be repeated
    #[arg(long, value_name = "URL")]
    pub network: Vec<url::Url>,
}

impl Past {
    pub fn is_empty(&self) -> bool {
        self.repo.is_empty() && self.members_of.is_empty() && self.network.is_empty()
    }
}

#[derive(Debug, Args)]
pub struct Backfill {
    #[command(flatten)]
    pub past: Past,
    /// Fetch also what was fetched before
    #[arg(long)]
    pub again: bool,
    /// Repositories at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub at_once: u16,
    /// Of those, on one server
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub per_host: u16,
    #[command(flatten)]
    pub db: DbArg,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Compare the records with their authors' repositories
    #[arg(long)]
    pub network: bool,
    /// Only those of so many accounts, drawn by lot
    #[arg(long, value_name = "N", requires = "network")]
    pub sample: Option<usize>,
    /// Fetch again what differs, and make anew what does not follow from the records
    #[arg(long)]
    pub repair: bool,
    #[command(flatten)]
    pub db: DbArg,
}

#[derive(Debug, Args)]
pub struct Mcp {
    #[command(flatten)]
    pub db: DbArg,
    /// Another host of onrecord to ask instead, e.g. https://record.example
    #[arg(long, value_name = "URL", conflicts_with = "db")]
    pub site: Option<url::Url>,
}

#[derive(Debug, Args)]
pub struct DbArg {
    /// The index: the path of a SQLite file, or postgres://USER@HOST/NAME; index.db in the data folder by default
    #[arg(long, value_name = "URL", value_parser = NonEmptyStringValueParser::new())]
    pub db: Option<String>,
}

#[derive(Debug, Args)]
pub struct Index {
    #[command(subcommand)]
    pub command: IndexCommand,
}

#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    /// Say how much is in it, what was refused, and how far the network was followed
    Stats {
        #[command(flatten)]
        db: DbArg,
    },
    /// Fetch what was put on record before: of authors, of a collective's members, of all that a relay knows
    Backfill(Backfill),
    /// Hold what it says against the records in it, and these against their authors' repositories
    Check(Check),
    /// Make what follows from the records in it anew: search, counts, lists
    Rebuild {
        #[command(flatten)]
        db: DbArg,
    },
    /// Write everything in it, one JSON object a line
    Export {
        #[command(flatten)]
        db: DbArg,
        /// The file to write; standard output by default
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Put an export into it, beside what is there
    Import {
        /// The export; - for standard input
        file: PathBuf,
        #[command(flatten)]
        db: DbArg,
    },
}
