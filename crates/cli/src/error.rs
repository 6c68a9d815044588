//! What is said when something goes wrong, and the exit code: chosen here and nowhere else.

use std::{io, path::PathBuf, process::ExitCode};

use onrecord_atproto::oauth::Scopes;
use onrecord_lexicon::AtUri;
use onrecord_workspace::Access;

use crate::output::{Out, line_on_stderr, printable};

/// Something failed.
pub const FAILED: u8 = 1;
/// The command was used wrongly.
pub const USAGE: u8 = 2;
/// Findings are undecided, or a check found problems.
pub const PROBLEMS: u8 = 3;
/// No account is signed in.
pub const NOT_SIGNED_IN: u8 = 4;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The reader of our output went away; there is nobody to tell.
    #[error("the output was closed")]
    OutputClosed,
    #[error("cannot write the output: {0}")]
    Output(io::Error),
    #[error("{path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("standard input: {0}")]
    Stdin(io::Error),
    #[error("{name} is not a transcript that onrecord knows: {unknown}")]
    UnknownFormat { name: String, unknown: onrecord_transcript::detect::Unknown },
    #[error("{} holds {count} conversations; name the one that is meant:\n  {}", .name.display(), .names.join("\n  "))]
    SeveralConversations { name: PathBuf, count: usize, names: Vec<String> },
    #[error("{name} is empty")]
    EmptyFile { name: String },
    #[error("{name}: {source}")]
    Transcript { name: String, source: onrecord_transcript::Error },
    #[error("no conversation {name:?} was found on this machine or on record{}", unreadable(.left_out))]
    NoSuchSession { name: String, left_out: Vec<String> },
    #[error("the transcript of {name} is gone from {}; it is on record at {}", .path.display(), .uris.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    TranscriptGone { name: String, path: PathBuf, uris: Vec<AtUri> },
    #[error("{name:?} could be any of these: {}", .candidates.join(", "))]
    AmbiguousSession { name: String, candidates: Vec<String> },
    #[error("{name} is a link that onrecord cannot read: {why}")]
    UnknownLink { name: String, why: String },
    #[error("{name} is on record already; name its transcript to publish it, or use `onrecord convert`")]
    IsARecord { name: String },
    #[error("{name} has {turns} turns; there is no turn {turn}")]
    NoSuchTurn { name: String, turn: usize, turns: usize },
    #[error("{path}: {source}")]
    Rules { path: PathBuf, source: onrecord_redact::Error },
    #[error("no word is covered that is called {0}")]
    NoSuchWord(String),
    #[error("no turn has a finding of {0}")]
    NoSuchRule(String),
    #[error("finding {id} {why}")]
    CannotUncover { id: u32, why: &'static str },
    #[error("there is no finding {id}; `scan` lists {count}")]
    NoSuchFinding { id: u32, count: usize },
    #[error("no turn names {0:?}")]
    NoSuchPointer(String),
    #[error("{0:?} was not dropped")]
    NotDropped(String),
    #[error("nothing in this conversation reads like the text to cover")]
    NothingToCover,
    #[error("{0}")]
    Usage(String),
    #[error("standard input is no terminal to ask on: {what}")]
    NoTerminal { what: String, flag: &'static str },
    #[error("not done")]
    Declined,
    #[error("{variable} is not usable: {why}")]
    Environment { variable: &'static str, why: String },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: String, source: io::Error },
    #[error("{subject} is not hidden by a decision")]
    NotHidden { subject: String },
    #[error("{0}")]
    Lexicon(String),
    #[error("the client does not speak the Model Context Protocol: {0}")]
    Mcp(String),
    #[error(transparent)]
    Workspace(#[from] onrecord_workspace::Error),
    #[error(transparent)]
    Web(#[from] onrecord_web::Error),
    #[error(transparent)]
    Index(#[from] onrecord_index::Error),
}

/// What could not be looked into, and may be where the conversation is.
fn unreadable(left_out: &[String]) -> String {
    if left_out.is_empty() { String::new() } else { format!("; could not be looked into: {}", left_out.join(", ")) }
}

macro_rules! by_way_of_workspace {
    ($($source:ty),*) => {$(
        impl From<$source> for Error {
            fn from(error: $source) -> Self {
                Self::Workspace(error.into())
            }
        }
    )*};
}
by_way_of_workspace!(
    onrecord_redact::Error,
    onrecord_record::Error,
    onrecord_atproto::Error,
    onrecord_lexicon::syntax::SyntaxError,
    serde_json::Error
);

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Output(error),
        }
    }
}

impl Error {
    fn exit_code(&self) -> u8 {
        use onrecord_atproto::Error as Net;
        use onrecord_redact::Error as Redact;
        use onrecord_workspace::Error as Ws;
        match self {
            Self::OutputClosed => 0,
            Self::Usage(_)
            | Self::NoTerminal { .. }
            | Self::IsARecord { .. }
            | Self::NoSuchTurn { .. }
            | Self::NoSuchFinding { .. }
            | Self::NoSuchWord(_)
            | Self::NoSuchRule(_)
            | Self::NoSuchPointer(_)
            | Self::NotDropped(_)
            | Self::CannotUncover { .. }
            | Self::Environment { .. }
            | Self::AmbiguousSession { .. }
            | Self::Index(onrecord_index::Error::Address(_) | onrecord_index::Error::DatabaseAddress(_))
            | Self::Workspace(Ws::WhichAccount(_) | Ws::NoSuchSource(_) | Ws::Redact(Redact::Pattern(_))) => USAGE,
            Self::Workspace(Ws::Redact(Redact::Undecided { .. }) | Ws::Gate(_)) => PROBLEMS,
            Self::Workspace(
                Ws::NotSignedIn { .. }
                | Ws::Atproto(
                    Net::SessionExpired { .. }
                    | Net::WrongPassword { .. }
                    | Net::LoginDenied { .. }
                    | Net::LoginTimedOut { .. }
                    | Net::WrongAccount { .. }
                    | Net::ScopesRefused { .. }
                    | Net::ScopeMissing { .. },
                ),
            ) => NOT_SIGNED_IN,
            Self::Workspace(Ws::Redact(Redact::Rule { id, .. })) if id == "--deny" => USAGE,
            _ => FAILED,
        }
    }

    /// What to do next, where there is something.
    pub fn hint(&self) -> Option<String> {
        use onrecord_atproto::Error as Net;
        use onrecord_redact::Error as Redact;
        use onrecord_workspace::Error as Ws;
        Some(match self {
            Self::UnknownFormat { unknown, .. } => {
                let tried: Vec<_> = unknown.refused.iter().map(|(h, why)| format!("  {h}: {why}")).collect();
                let known: Vec<_> = unknown.refused.iter().map(|(h, _)| h.as_str()).collect();
                format!(
                    "if you know which agent wrote it, name it: --harness {}\nwhat was tried:\n{}",
                    known.join(" | "),
                    tried.join("\n")
                )
            }
            Self::SeveralConversations { .. } => "put the # and the id behind the file's name, quoted for the shell".to_owned(),
            Self::NoSuchSession { .. } => "`onrecord sessions` lists what there is; a file's path works too".to_owned(),
            Self::TranscriptGone { .. } => {
                "without it nothing new can be decided; `onrecord show` and `publish` use what is on record, `unpublish` takes it back".to_owned()
            }
            Self::AmbiguousSession { .. } => "give more of the id".to_owned(),
            Self::NotHidden { .. } => "`onrecord moderate list` says what is hidden, and why; nothing was changed".to_owned(),
            Self::NoTerminal { flag, .. } => format!("add {flag}"),
            Self::NoSuchWord(_) | Self::CannotUncover { .. } => "`onrecord decide SESSION` lists what is covered; nothing was changed".to_owned(),
            Self::NoSuchRule(_) => "`onrecord scan SESSION --json` names the rule and the tier of each finding; nothing was changed".to_owned(),
            Self::NoSuchPointer(_) | Self::NotDropped(_) => "`onrecord decide SESSION` lists what turns refer to; nothing was changed".to_owned(),
            Self::Rules { .. } => "nothing is scanned or published with rules that cannot be used".to_owned(),
            Self::Workspace(Ws::Redact(Redact::InOwnText { .. })) => "write it without, or cover that first with --cover; nothing was changed".to_owned(),
            Self::Workspace(Ws::Redact(Redact::TooManyFindings { turn: Some(turn), .. })) => {
                format!("`onrecord decide SESSION --withhold {turn}` holds it back")
            }
            Self::NothingToCover => "check the spelling and the case; nothing was changed".to_owned(),
            Self::Workspace(Ws::NotSignedIn { handle }) => {
                format!("run `onrecord login {}`", handle.as_deref().unwrap_or("HANDLE"))
            }
            Self::Workspace(Ws::Atproto(Net::SessionExpired { account } | Net::LoginTimedOut { account, .. })) => {
                format!("run `onrecord login {account}`")
            }
            Self::Workspace(Ws::Atproto(Net::LoginDenied { account, .. })) => {
                format!("nothing was changed; `onrecord login {account}` asks again")
            }
            Self::Workspace(Ws::Atproto(Net::ScopeMissing { account, scopes, granted })) => {
                format!("nothing was sent; to let it, run `{}`", login_command(account, scopes, granted))
            }
            Self::Workspace(Ws::Atproto(Net::ScopesRefused { account, .. })) => format!(
                "nothing was kept. A server that knows no narrow access can be asked for everything that may be written: \
                 `onrecord login {account} --full-access`"
            ),
            Self::Workspace(Ws::Atproto(Net::NoOauth { .. })) => {
                "an app password works too: make one in your account's settings, then add --app-password".to_owned()
            }
            Self::Workspace(Ws::Atproto(Net::WrongAccount { asked, .. })) => {
                format!("sign out of the other account in the browser, then run `onrecord login {asked}` again")
            }
            Self::Workspace(Ws::NoSuchSource(_)) => {
                format!("the sources are: {}", onrecord_workspace::own::source_ids().collect::<Vec<_>>().join(", "))
            }
            Self::Workspace(Ws::WhichAccount(_)) => "add --account HANDLE".to_owned(),
            Self::Workspace(Ws::Redact(Redact::Undecided { .. })) => {
                "`onrecord scan` shows them; `onrecord decide` covers, allows or withholds".to_owned()
            }
            Self::Workspace(Ws::Gate(hit)) if hit.rule == "word" => {
                "a word you covered stands where no bar can; cover a longer or another one".to_owned()
            }
            Self::Workspace(Ws::Gate(_)) => "cover what was found with `onrecord decide --cover`".to_owned(),
            Self::Workspace(Ws::NothingToPublish) => "put a turn on record: `onrecord decide … --publish 1`; what is there already, `onrecord unpublish` takes back".to_owned(),
            Self::Workspace(Ws::Interrupted { .. }) => {
                "what was written stays; a second run writes only the rest".to_owned()
            }
            Self::Workspace(Ws::Atproto(Net::Unreachable { .. } | Net::TimedOut { .. } | Net::HandleLookup { .. })) => {
                "nothing was changed; check the connection and run this again".to_owned()
            }
            Self::Workspace(Ws::Atproto(Net::UnknownHandle { .. })) => "check the spelling of the handle".to_owned(),
            _ => return None,
        })
    }

    /// Prints the error and what to do next; returns the exit code.
    pub fn report(&self, out: &Out) -> ExitCode {
        let code = self.exit_code();
        if code != 0 {
            // A file's or a session's name is foreign text too.
            let message = printable(&self.to_string());
            line_on_stderr(format_args!("{} {message}", out.paint_error("error:")));
            if let Some(hint) = self.hint() {
                line_on_stderr(format_args!("{}", printable(&hint)));
            }
        }
        ExitCode::from(code)
    }
}

/// The command that asks for what is missing besides what is granted.
fn login_command(account: &str, missing: &[String], granted: &Scopes) -> String {
    let mut families: Vec<_> = Access::ALL.into_iter().filter(|access| access.is_granted(granted)).collect();
    let of_families = Access::scopes(&families);
    let mut scopes: Vec<&str> = granted.iter().filter(|scope| !of_families.contains(scope)).collect();
    for scope in missing {
        match scope.strip_prefix("repo:").and_then(Access::of) {
            Some(access) if !families.contains(&access) => families.push(access),
            Some(_) => {}
            None => scopes.push(scope),
        }
    }
    let mut command = format!("onrecord login {account}");
    for family in families {
        command.push_str(&format!(" --as {}", family.as_str()));
    }
    for scope in scopes {
        // A scope may have what a shell takes for its own, and a server may have written it.
        let plain = scope.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '-' | '_' | '/'));
        let quoted = if plain { scope.to_owned() } else { format!("'{}'", scope.replace('\'', r"'\''")) };
        command.push_str(&format!(" --scope {quoted}"));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_asks_for_what_is_missing_besides_what_is_granted() {
        let command = |granted: &str, missing: &[&str]| {
            let missing: Vec<_> = missing.iter().map(|&scope| scope.to_owned()).collect();
            login_command("dana.test", &missing, &Scopes::parse(granted))
        };
        let aligned = "atproto repo:click.aligned.chat.session repo:click.aligned.chat.message";
        assert_eq!(
            command(aligned, &["repo:run.tiles.chat.sessionSnapshot"]),
            "onrecord login dana.test --as click.aligned --as tiles"
        );
        assert_eq!(
            command(
                "atproto repo:run.tiles.chat.sessionSnapshot",
                &["repo:click.aligned.chat.message", "repo:click.aligned.chat.session"]
            ),
            "onrecord login dana.test --as tiles --as click.aligned"
        );
        assert_eq!(
            command("atproto repo:com.example.note?action=create", &["repo:com.example.other"]),
            "onrecord login dana.test --scope 'repo:com.example.note?action=create' --scope repo:com.example.other"
        );
        assert_eq!(command("atproto a';rm", &[]), r"onrecord login dana.test --scope 'a'\'';rm'");
    }
}
