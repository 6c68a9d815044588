//! Tools for lexicons as documents, which need no network.

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::NonEmptyStringValueParser};
use onrecord_lexicon::{Nsid, Scaffold, lint::Level};

#[derive(Debug, Args)]
pub struct Lint {
    /// Lexicons, or folders of them; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Leave out what matters less
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LevelArg::Advice)]
    pub level: LevelArg,
    /// End with exit code 3 on warnings too
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// What is not what the language allows
    Error,
    /// What works, and somebody will regret
    Warning,
    /// What the style guide would have otherwise
    Advice,
}

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Error => Self::Error,
            LevelArg::Warning => Self::Warning,
            LevelArg::Advice => Self::Advice,
        }
    }
}

#[derive(Debug, Args)]
pub struct Breaking {
    /// The version that is in use
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The version that is to replace it
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// End with exit code 3 on warnings too
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub struct Diff {
    /// One version
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The other
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
}

#[derive(Debug, Args)]
pub struct Doc {
    /// The lexicon; - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// As what to write it
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = DocFormat::Md)]
    pub format: DocFormat,
    /// Lexicons that it refers to, for examples; can be given several times
    #[arg(long, value_name = "DIR")]
    pub lexicons: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocFormat {
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// An article of HTML, to be put into a page
    Html,
    /// JSON
    Json,
}

#[derive(Debug, Args)]
pub struct SimilarTo {
    /// An NSID, a file, or a sentence
    #[arg(value_name = "WHAT", value_parser = NonEmptyStringValueParser::new())]
    pub what: String,
    /// Look among the lexicons of this folder, and not among the bundled ones; can be given several times
    #[arg(long = "in", value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Find so many at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub most: usize,
}

#[derive(Debug, Args)]
pub struct New {
    /// Its name
    #[arg(value_name = "NSID", value_parser = |s: &str| Nsid::parse(s))]
    pub nsid: Nsid,
    /// What it defines; its name suggests what, where this is not given
    #[arg(long, value_enum, value_name = "KIND")]
    pub kind: Option<KindArg>,
    /// Write it to this file, which must not be there yet, and not to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    Record,
    Query,
    Procedure,
    Subscription,
    PermissionSet,
    Defs,
}

impl From<KindArg> for Scaffold {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Record => Self::Record,
            KindArg::Query => Self::Query,
            KindArg::Procedure => Self::Procedure,
            KindArg::Subscription => Self::Subscription,
            KindArg::PermissionSet => Self::PermissionSet,
            KindArg::Defs => Self::Defs,
        }
    }
}
