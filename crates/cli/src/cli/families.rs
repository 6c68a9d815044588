//! Families of records and formats of documents, and what is written in them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use onrecord_record::Family;

use super::{GrainArg, RulesArgs, SessionArg};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FamilyArg {
    /// A session record and one record per turn
    #[value(name = "click.aligned")]
    ClickAligned,
    /// The whole conversation in one record, as Tiles has it
    Tiles,
    /// The same, encrypted: only those who have the link can read it
    TilesPrivate,
}

impl From<FamilyArg> for Family {
    fn from(family: FamilyArg) -> Self {
        match family {
            FamilyArg::ClickAligned => Self::ClickAligned,
            FamilyArg::Tiles => Self::Tiles,
            FamilyArg::TilesPrivate => Self::TilesPrivate,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// The records of a session and its turns, as `listRecords` gives them
    #[value(name = "click.aligned")]
    ClickAligned,
    /// A Tiles record
    Tiles,
    /// A session file of pi
    Pi,
    /// Markdown
    Markdown,
    /// A trajectory, ATIF 1.7
    Atif,
    /// A trace, STS-Format
    Sts,
}

#[derive(Debug, Args)]
pub struct Convert {
    #[command(flatten)]
    pub session: SessionArg,
    #[command(flatten)]
    pub rules: RulesArgs,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Target,
    /// The file to write, whole or not at all; standard output by default
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How much one turn holds
    #[arg(long, value_enum, default_value = "turn")]
    pub grain: GrainArg,
}
