//! `onrecord lexicon`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use onrecord_lexicon::{Cid, Nsid};

use super::documents::{Breaking, Diff, Doc, Lint, New, SimilarTo};

#[derive(Debug, Subcommand)]
pub enum Lexicon {
    /// Check a record against its lexicon
    Validate(Validate),
    /// Print the definition that counts: of the account that DNS names, proven by its signature
    Resolve(Resolve),
    /// Say who speaks for lexicons, and whether they are there
    CheckDns {
        /// Lexicons, e.g. com.example.note
        #[arg(required = true, value_name = "NSID")]
        nsids: Vec<Nsid>,
    },
    /// Keep lexicons and those they refer to in a folder, with a lock file
    Pull(Pull),
    /// Put lexicons on record, if nothing is wrong with them and nobody who uses them is hurt
    Publish(PublishLexicons),
    /// Say what is wrong with lexicons, and what could be better
    Lint(Lint),
    /// Say what of a new version breaks the agreement with those who use the old one
    Breaking(Breaking),
    /// Say in sentences what changed between two versions
    Diff(Diff),
    /// Write a lexicon as a page to read
    Doc(Doc),
    /// Find the lexicons that are closest to one, or to what a sentence says
    Similar(SimilarTo),
    /// Begin a lexicon
    New(New),
}

#[derive(Debug, Args)]
pub struct Validate {
    /// The record, as JSON; - for standard input
    pub record: PathBuf,
    /// A lexicon, or a folder of them, to use besides the bundled ones; can be given several times
    #[arg(long, value_name = "DIR")]
    pub lexicons: Vec<PathBuf>,
    /// The lexicon to check against, where the record's $type does not say
    #[arg(long, value_name = "NSID")]
    pub nsid: Option<String>,
}

#[derive(Debug, Args)]
pub struct Resolve {
    /// The lexicon, e.g. com.example.note
    pub nsid: Nsid,
    /// Also those it refers to, and those they refer to
    #[arg(long)]
    pub deps: bool,
    /// Only this version
    #[arg(long, value_name = "CID", conflicts_with = "deps")]
    pub at: Option<Cid>,
}

#[derive(Debug, Args)]
pub struct Pull {
    /// Lexicons, or all of an authority, e.g. com.example.*
    #[arg(required = true, value_name = "NSID")]
    pub names: Vec<String>,
    /// The folder
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Change nothing: fail if the folder is not what its lock file says, or what is published is not
    #[arg(long)]
    pub locked: bool,
    /// Also write over files that were changed here
    #[arg(long, conflicts_with = "locked")]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct PublishLexicons {
    /// Lexicons, as JSON
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The account, by handle or DID, where several are signed in
    #[arg(long, value_name = "ACCOUNT")]
    pub account: Option<String>,
    /// Although it breaks the agreement with those who use what is published
    #[arg(long)]
    pub breaking: bool,
    /// Although DNS does not say that the account speaks for them
    #[arg(long)]
    pub without_dns: bool,
    /// Only print what would be written
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}
