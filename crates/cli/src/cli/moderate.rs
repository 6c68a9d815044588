//! What a host decides on what its site shows.

use clap::{Args, Subcommand, builder::NonEmptyStringValueParser};

use super::DbArg;

#[derive(Debug, Args)]
pub struct Moderate {
    #[command(subcommand)]
    pub command: ModerateCommand,
}

#[derive(Debug, Subcommand)]
pub enum ModerateCommand {
    /// Hide a record, a conversation or an account, in every page, feed and answer at once
    Hide {
        #[command(flatten)]
        on: On,
        /// Why; it stands in the log, and on no page
        #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
        reason: String,
    },
    /// Show again what was hidden by `hide`
    Unhide {
        #[command(flatten)]
        on: On,
        /// Why; it stands in the log
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// List all that is not shown now, and why
    List {
        #[command(flatten)]
        db: DbArg,
    },
    /// List all decisions there ever were, the last one first
    Log {
        #[command(flatten)]
        db: DbArg,
    },
    /// Take a labeler's labels back that `serve --labeler` collected; follow it no more first
    ForgetLabeler {
        /// Who, by DID or handle
        #[arg(value_name = "LABELER", value_parser = NonEmptyStringValueParser::new())]
        labeler: String,
        #[command(flatten)]
        db: DbArg,
    },
}

/// What is decided on.
#[derive(Debug, Args)]
pub struct On {
    /// An at-uri, a DID or a handle, or the address of a page of the site: of a conversation, of one turn, of an author
    #[arg(value_name = "WHAT", value_parser = NonEmptyStringValueParser::new())]
    pub what: String,
    /// Who decides, for the log; the user of this machine by default
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub by: Option<String>,
    #[command(flatten)]
    pub db: DbArg,
}
