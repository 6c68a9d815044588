//! Signing in and out.

use clap::{Args, ValueEnum};
use onrecord_atproto::oauth::Scopes;
use onrecord_workspace::Access;

/// A family of records that a session may be asked to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AccessArg {
    /// Conversations
    #[value(name = "click.aligned")]
    ClickAligned,
    /// Conversations as Tiles keeps them
    #[value(alias = "tiles-private")]
    Tiles,
    /// The members of a collective
    Members,
    /// Lexicons
    Lexicons,
}

impl From<AccessArg> for Access {
    fn from(access: AccessArg) -> Self {
        match access {
            AccessArg::ClickAligned => Self::ClickAligned,
            AccessArg::Tiles => Self::Tiles,
            AccessArg::Members => Self::Members,
            AccessArg::Lexicons => Self::Lexicons,
        }
    }
}

#[derive(Debug, Args)]
pub struct Login {
    /// The account's handle or DID
    pub handle: String,
    /// What may be written; can be given several times. Without it, and without --scope: click.aligned
    #[arg(long = "as", value_enum, value_name = "FAMILY")]
    pub families: Vec<AccessArg>,
    /// Ask for this scope of the protocol too, e.g. repo:com.example.note; can be given several times
    #[arg(long, value_parser = scope)]
    pub scope: Vec<String>,
    /// Ask for everything that may be written, for servers that know no narrower access
    #[arg(long, conflicts_with_all = ["families", "scope"])]
    pub full_access: bool,
    /// Do not open the browser, only print the address
    #[arg(long)]
    pub no_open: bool,
    /// Wait so long for the browser to come back
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub timeout: u64,
    /// Sign in with an app password, asked for or taken from standard input's first line, and not in the browser
    #[arg(long, conflicts_with_all = ["families", "scope", "full_access"])]
    pub app_password: bool,
}

impl Login {
    /// What is asked for.
    pub fn scopes(&self) -> Scopes {
        if self.full_access {
            return Scopes::full_access();
        }
        let mut families: Vec<Access> = self.families.iter().copied().map(Access::from).collect();
        if families.is_empty() && self.scope.is_empty() {
            families.push(Access::ClickAligned);
        }
        let mut scopes = Access::scopes(&families);
        self.scope.iter().for_each(|scope| scopes.add(scope));
        scopes
    }
}

/// A scope as RFC 6749, section 3.3, has it: visible ASCII but quotation marks and backslashes.
fn scope(text: &str) -> Result<String, String> {
    let valid = |c: char| matches!(c, '!' | '#'..='[' | ']'..='~');
    if text.is_empty() || !text.chars().all(valid) {
        return Err("a scope has no spaces, quotation marks or backslashes; give several one by one".to_owned());
    }
    Ok(text.to_owned())
}

#[derive(Debug, Args)]
pub struct Accounts {
    /// Ask each account's server whether its session still lives
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub struct Logout {
    /// The account, where several are signed in
    pub handle: Option<String>,
}
