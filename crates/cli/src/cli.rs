//! The command line: every command, its arguments and its help.

mod accounts;
mod documents;
mod families;
mod host;
mod lexicon;
mod moderate;
mod public;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, builder::NonEmptyStringValueParser};
use clap_complete::Shell;
use onrecord_redact::HomeStyle;
use onrecord_transcript::{Grain, Harness};

pub use accounts::{Accounts, Login, Logout};
pub use documents::{Breaking, Diff, Doc, DocFormat, Lint, New, SimilarTo};
pub use families::{Convert, FamilyArg, Target};
pub use host::{Backfill, Check, DbArg, Index, IndexCommand, Mcp, Past, Serve};
pub use lexicon::{Lexicon, PublishLexicons, Pull, Resolve, Validate};
pub use moderate::{Moderate, ModerateCommand, On};
pub use public::PublicUrl;

/// Put conversations with AI agents on the record.
#[derive(Debug, Parser)]
#[command(
    name = "onrecord",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Print data as JSON: one document, or one object a line
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing on standard error but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the conversations found on this machine, newest first
    Sessions(Sessions),
    /// Show one conversation
    Show(Show),
    /// List secrets and personal data in what would be published
    Scan(Scan),
    /// Decide what is covered, allowed and held back
    Decide(Box<Decide>),
    /// Look through a conversation and decide what is published, in the browser
    Review(Review),
    /// Write the exact pages and records that would go out, as files
    Preview(Preview),
    /// Write a conversation in another format
    Convert(Convert),
    /// Put a conversation on record
    Publish(Publish),
    /// Follow a conversation as it is written, and put each finished turn on record
    Live(Live),
    /// List what is on record
    Published(Published),
    /// Take a conversation back, whole
    Unpublish(Unpublish),
    /// Check that what is on record is what its author signed
    Verify(Verify),
    /// Serve the reading pages on this machine
    Serve(Box<Serve>),
    /// Give agents what is published as tools, over the Model Context Protocol on standard input and output
    Mcp(Mcp),
    /// Sign in to an account
    Login(Login),
    /// Sign out of an account
    Logout(Logout),
    /// List the accounts signed in
    Accounts(Accounts),
    /// Keep the list of the people whose conversations an account vouches for
    #[command(subcommand)]
    Members(Members),
    /// Look after the index of what the network publishes
    Index(Index),
    /// Decide what a site does not show
    Moderate(Moderate),
    /// Work with lexicons, the schemas of records
    #[command(subcommand)]
    Lexicon(Lexicon),
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages
    #[command(hide = true)]
    Man {
        /// The folder to write them to
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

/// A conversation, named on the command line.
#[derive(Debug, Args)]
pub struct SessionArg {
    /// A file, a session id or the start of one, an at-uri, an onrecord or Tiles link, or - for standard input
    // The empty text begins every id: an unset variable must not mean "any conversation".
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub session: String,
    /// The agent that wrote it, where its content does not tell
    #[arg(long, value_parser = harness, value_name = "HARNESS")]
    pub harness: Option<Harness>,
}

fn harness(name: &str) -> Result<Harness, String> {
    name.parse().map_err(|e: onrecord_transcript::model::UnknownHarness| e.to_string())
}

#[derive(Debug, Args)]
pub struct Sessions {
    /// Only conversations in which this was said
    pub query: Option<String>,
    /// Only this agent's
    #[arg(long, value_parser = harness, value_name = "HARNESS")]
    pub harness: Option<Harness>,
    /// Only those of projects whose folder has this in its name
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Only those that changed on this day or later
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub since: Option<jiff::civil::Date>,
    /// Also look here for whatever is a transcript by its content
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Json,
    Html,
}

#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    pub session: SessionArg,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Only this turn
    #[arg(long, value_name = "N")]
    pub turn: Option<usize>,
    /// The branch to show, by the id of any of its messages
    #[arg(long, value_name = "ID")]
    pub branch: Option<String>,
}

/// What to look into, and what to look for besides the rules that come with onrecord.
#[derive(Debug, Clone, Args)]
pub struct RulesArgs {
    /// Use the rules in this file too, of onrecord's or gitleaks' format; can be given several times
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Let nothing pass that this regular expression matches; can be given several times
    #[arg(long, value_name = "PATTERN", value_parser = NonEmptyStringValueParser::new())]
    pub deny: Vec<String>,
    /// Count what the models thought to themselves in; only some families and formats carry it
    #[arg(long)]
    pub with_reasoning: bool,
}

#[derive(Debug, Args)]
pub struct Scan {
    /// A file, a session id or the start of one, an onrecord link, or - for standard input
    #[arg(required_unless_present_any = ["sources", "self_test"], value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// The agent that wrote it, where its content does not tell
    #[arg(long, value_parser = harness, value_name = "HARNESS")]
    pub harness: Option<Harness>,
    #[command(flatten)]
    pub rules: RulesArgs,
    /// List where your own secrets are collected from, and how many; never what they are
    #[arg(long)]
    pub sources: bool,
    /// Try the engine on canaries of every tier, and say which version and which rules are in force
    #[arg(long, conflicts_with = "sources")]
    pub self_test: bool,
    /// Collect nothing from this source any more
    #[arg(long, value_name = "ID", requires = "sources")]
    pub off: Vec<String>,
    /// Collect from this source again
    #[arg(long, value_name = "ID", requires = "sources")]
    pub on: Vec<String>,
}

impl Scan {
    /// The conversation, if one is named.
    pub fn session(&self) -> Option<SessionArg> {
        self.session.clone().map(|session| SessionArg { session, harness: self.harness })
    }
}

#[derive(Debug, Args)]
pub struct Review {
    /// A file, or a session id or the start of one; without one, the list of all conversations on this machine
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// The agent that wrote it, where its content does not tell
    #[arg(long, value_parser = harness, value_name = "HARNESS")]
    pub harness: Option<Harness>,
    #[command(flatten)]
    pub rules: RulesArgs,
    /// Only print the address, and open no browser
    #[arg(long)]
    pub no_open: bool,
    /// The address to listen on: one of this machine alone; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// The reading site that links lead to
    #[arg(long, value_name = "URL", default_value = concat!("http://", "127.0.0.1:8787"))]
    pub site: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HomeArg {
    /// `~`, so that one reads on from there
    Tilde,
    /// A bar
    Bar,
    /// Nothing is decided: each is a finding
    None,
}

impl From<HomeArg> for Option<HomeStyle> {
    fn from(home: HomeArg) -> Self {
        match home {
            HomeArg::Tilde => Some(HomeStyle::Tilde),
            HomeArg::Bar => Some(HomeStyle::Bar),
            HomeArg::None => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RefsArg {
    /// Every record and account that a published turn names, but those you drop
    All,
    /// None at all
    None,
}

#[derive(Debug, Args)]
pub struct Decide {
    #[command(flatten)]
    pub session: SessionArg,
    #[command(flatten)]
    pub rules: RulesArgs,
    /// Hold these turns back, e.g. 3,7-9
    #[arg(long, value_name = "TURNS")]
    pub withhold: Option<crate::commands::decide::Turns>,
    /// Put these turns on record again
    #[arg(long, value_name = "TURNS")]
    pub publish: Option<crate::commands::decide::Turns>,
    /// Cover this text wherever it stands
    #[arg(long, value_name = "TEXT")]
    pub cover: Vec<String>,
    /// Cover everything in the conversation that this regular expression matches now
    #[arg(long, value_name = "REGEX", value_parser = NonEmptyStringValueParser::new())]
    pub cover_pattern: Vec<String>,
    /// Hold back every turn with a finding of this rule or tier
    #[arg(long, value_name = "RULE")]
    pub withhold_turns_with: Vec<String>,
    /// No longer cover a finding, by its number, or a word, by the name that `decide` lists
    #[arg(long, value_name = "ID")]
    pub uncover: Vec<String>,
    /// Forget what was decided about the finding with this number
    #[arg(long, value_name = "ID")]
    pub reopen: Vec<u32>,
    /// Cover everything that `scan` found and that is not decided yet
    #[arg(long)]
    pub cover_findings: bool,
    /// Let the finding with this number stand
    #[arg(long, value_name = "ID")]
    pub allow: Vec<u32>,
    /// Why it may stand
    #[arg(long, value_name = "WHY", requires = "allow")]
    pub because: Option<String>,
    /// What stands for home folders, in all places at once
    #[arg(long, value_enum, value_name = "STYLE")]
    pub home: Option<HomeArg>,
    /// The title to publish; empty for none
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// The description to publish; empty for none
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Whether turns refer to the records and accounts that they name; `all` also forgets what was dropped
    #[arg(long, value_enum, value_name = "WHICH")]
    pub refs: Option<RefsArg>,
    /// Do not refer to this record, given by its at-uri or a link
    #[arg(long, value_name = "URI", group = "drops")]
    pub drop_ref: Vec<String>,
    /// Do not mention this account, given by its handle or DID
    #[arg(long, value_name = "WHO", group = "drops")]
    pub drop_mention: Vec<String>,
    /// Refer to this record, or mention this account, after all
    #[arg(long, value_name = "URI|WHO")]
    pub keep: Vec<String>,
    /// Drop it only in this turn
    #[arg(long, value_name = "N", requires = "drops")]
    pub turn: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GrainArg {
    /// One record for everything the agent did between two prompts
    Turn,
    /// One record for every message of the agent
    Message,
}

impl From<GrainArg> for Grain {
    fn from(grain: GrainArg) -> Self {
        match grain {
            GrainArg::Turn => Self::Turn,
            GrainArg::Message => Self::Message,
        }
    }
}

#[derive(Debug, Args)]
pub struct Where {
    /// The account to use, where several are signed in
    #[arg(long, value_name = "HANDLE")]
    pub account: Option<String>,
    /// How much one record holds
    #[arg(long, value_enum, default_value = "turn")]
    pub grain: GrainArg,
}

#[derive(Debug, Args)]
pub struct Preview {
    #[command(flatten)]
    pub session: SessionArg,
    #[command(flatten)]
    pub rules: RulesArgs,
    #[command(flatten)]
    pub to: Where,
    /// The family of records
    #[arg(long = "as", value_enum, value_name = "FAMILY", default_value = "click.aligned")]
    pub family: FamilyArg,
    /// The folder to write to; one in the data folder by default
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Publish {
    #[command(flatten)]
    pub session: SessionArg,
    #[command(flatten)]
    pub rules: RulesArgs,
    #[command(flatten)]
    pub to: Where,
    /// The family of records
    #[arg(long = "as", value_enum, value_name = "FAMILY", default_value = "click.aligned")]
    pub family: FamilyArg,
    /// Put it on this machine's shelf, not into a repository
    #[arg(long, conflicts_with = "account")]
    pub local: bool,
    /// Only print what would be written
    #[arg(long)]
    pub dry_run: bool,
    /// Refer to records as they are now, also where the published conversation refers to an earlier version
    #[arg(long)]
    pub repin: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// The reading site that printed links lead to
    #[arg(long, value_name = "URL", default_value = concat!("http://", "127.0.0.1:8787"))]
    pub site: String,
}

#[derive(Debug, Args)]
pub struct Live {
    #[command(flatten)]
    pub session: SessionArg,
    #[command(flatten)]
    pub rules: RulesArgs,
    #[command(flatten)]
    pub to: Where,
    /// How long a finished turn is held before it goes out, e.g. 60s, 5m, 0s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = hold)]
    pub hold: std::time::Duration,
    /// Put it on this machine's shelf, not into a repository
    #[arg(long, conflicts_with = "account")]
    pub local: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// The reading site that printed links lead to
    #[arg(long, value_name = "URL", default_value = concat!("http://", "127.0.0.1:8787"))]
    pub site: String,
}

fn hold(text: &str) -> Result<std::time::Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit {
        "ms" => 1,
        "s" | "" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("give a number with s, m or h, e.g. 90s".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "give a number with s, m or h, e.g. 90s".to_owned())?;
    Ok(std::time::Duration::from_millis(number.saturating_mul(factor)))
}

#[derive(Debug, Args)]
pub struct Published {
    /// Compare with what the repositories really hold
    #[arg(long)]
    pub check: bool,
    /// Show the links of Tiles records; those of private ones hold their keys
    #[arg(long)]
    pub links: bool,
    /// Only this account's; and take the conversations of its repository that are not known here into the ledger
    #[arg(long, value_name = "HANDLE")]
    pub account: Option<String>,
}

#[derive(Debug, Args)]
pub struct Unpublish {
    /// A session id or the start of one, a transcript's file, an at-uri, or an onrecord link
    #[arg(required_unless_present = "all", value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// The agent that wrote the transcript's file, where its content does not tell
    #[arg(long, value_parser = harness, value_name = "HARNESS")]
    pub harness: Option<Harness>,
    /// Take back everything that is on record: what is known here, and what the repositories of your accounts hold
    #[arg(long, conflicts_with = "session")]
    pub all: bool,
    /// Only from this account's repository
    #[arg(long, value_name = "HANDLE")]
    pub account: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct Verify {
    /// An at-uri or an onrecord link of a conversation or a record; a handle or a DID for a whole repository; or a CAR file
    #[arg(value_name = "AT-URI|HANDLE|FILE.car", value_parser = NonEmptyStringValueParser::new())]
    pub subject: String,
    /// The key that must have signed it, instead of that of the account's DID document; with a file, nothing is asked of
    /// the network then
    #[arg(long, value_name = "DID:KEY")]
    pub key: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Members {
    /// List the members
    List {
        /// Whose list; that of the account signed in by default
        #[arg(value_name = "HANDLE")]
        account: Option<String>,
    },
    /// Add people to the list
    Add(ChangeMembers),
    /// Remove people from the list
    Remove(ChangeMembers),
}

#[derive(Debug, Args)]
pub struct ChangeMembers {
    /// Who, by handle or DID
    #[arg(required = true, value_name = "WHO", value_parser = NonEmptyStringValueParser::new())]
    pub who: Vec<String>,
    /// The account whose list it is, where several are signed in
    #[arg(long, value_name = "HANDLE")]
    pub account: Option<String>,
    /// Only print what would be written
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}
