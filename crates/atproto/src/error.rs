//! Everything that can go wrong, named by the condition and not by the layer.

use jiff::Timestamp;
use onrecord_lexicon::{Did, Handle, Nsid, syntax::SyntaxError};

use crate::{RateLimit, oauth::Scopes};

/// What a request ended in.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the caller's own, e.g. of its keyring.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// No message holds a token, a password, or a request's body. A server's own words are cut short and stripped of
/// control characters.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    // Identity
    /// Neither a DID nor a handle.
    #[error("`{text}` is neither a DID nor a handle: {source}")]
    BadIdentifier {
        /// What was given, cut short.
        text: String,
        /// The rule it breaks.
        source: SyntaxError,
    },
    /// Every way to resolve the handle was tried, and none knows it.
    #[error("no account has the handle {handle} ({tried})")]
    UnknownHandle {
        /// The handle.
        handle: Handle,
        /// What was asked, and what it answered.
        tried: String,
    },
    /// The handle might exist, but a way to resolve it failed.
    #[error("could not look up the handle {handle} ({tried})")]
    HandleLookup {
        /// The handle.
        handle: Handle,
        /// What was asked, and what it answered.
        tried: String,
    },
    /// DNS names several DIDs for one handle, which the protocol counts as none.
    #[error("DNS names more than one DID for the handle {handle}; its owner must remove all but one")]
    ConflictingHandle {
        /// The handle.
        handle: Handle,
    },
    /// The handle points at a DID whose document does not name the handle.
    #[error("the handle {handle} points at {did}, but that account's document {}", match .claimed {
        Some(claimed) => format!("names {claimed}"),
        None => "names no handle".into(),
    })]
    HandleMismatch {
        /// The handle that was asked for.
        handle: Handle,
        /// Where it points.
        did: Did,
        /// What that account calls itself.
        claimed: Option<Handle>,
    },
    /// A kind of DID that the protocol does not use, or a did:web it does not allow.
    #[error("cannot resolve {did}: {why}")]
    UnsupportedDid {
        /// The DID.
        did: Did,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The directory or the host does not know the DID.
    #[error("no account has the DID {did}")]
    UnknownDid {
        /// The DID.
        did: Did,
    },
    /// The DID was given up for good.
    #[error("the account {did} was deleted (its DID is a tombstone)")]
    Tombstone {
        /// The DID.
        did: Did,
    },
    /// A DID document that cannot be used.
    #[error("the DID document of {did} cannot be used: {why}")]
    BadDocument {
        /// The DID.
        did: Did,
        /// What is wrong with it.
        why: String,
    },
    /// A document, session or answer about another account than the one asked for.
    #[error("{from} answered for {got}, not for {asked}")]
    DidMismatch {
        /// Who answered.
        from: String,
        /// The DID it was about.
        asked: Did,
        /// The DID it answered for, cut short.
        got: String,
    },
    /// The DID document names no server.
    #[error("the account {did} has no server: its DID document names no PDS")]
    NoPds {
        /// The DID.
        did: Did,
    },
    /// The DID document names no service, or no key, for labels.
    #[error("the account {did} is no labeler: its DID document names no {what}")]
    NoLabeler {
        /// The DID.
        did: Did,
        /// What is missing.
        what: &'static str,
    },

    // Reaching a server
    /// The guard refused the address; nothing was sent.
    #[error("refused to connect to {host}: {why}")]
    AddressRefused {
        /// Host, as in the URL.
        host: String,
        /// The rule that forbids it.
        why: &'static str,
    },
    /// No connection; nothing was sent.
    #[error("cannot reach {host}: {why}")]
    Unreachable {
        /// Host, as in the URL.
        host: String,
        /// The system's words.
        why: String,
    },
    /// The connection broke after the request may have been sent.
    #[error("the connection to {host} broke: {why}")]
    Interrupted {
        /// Host, as in the URL.
        host: String,
        /// The system's words.
        why: String,
    },
    /// No full answer in time.
    #[error("{host} did not answer in time")]
    TimedOut {
        /// Host, as in the URL.
        host: String,
    },
    /// An answer that comes more slowly than anything that is sent.
    #[error("{host} sends too slowly; it was given up")]
    TooSlow {
        /// Host, as in the URL.
        host: String,
    },
    /// An answer larger than any honest one.
    #[error("{host} answered with more than {limit} bytes")]
    AnswerTooLarge {
        /// Host, as in the URL.
        host: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A web page, a redirect, or anything else that is no XRPC answer.
    #[error("{host} does not answer like an AT Protocol server (HTTP {status}, not JSON)")]
    NotAnXrpcServer {
        /// Host, as in the URL.
        host: String,
        /// HTTP status.
        status: u16,
    },
    /// JSON, but not what the method answers with.
    #[error("{host} answered {method} with something unexpected: {why}")]
    BadAnswer {
        /// Host, as in the URL.
        host: String,
        /// The XRPC method.
        method: &'static str,
        /// What is wrong with it.
        why: String,
    },

    // Signing in
    /// The password is wrong, or the account is not on this server.
    #[error("wrong handle or app password for {account}")]
    WrongPassword {
        /// The account.
        account: String,
    },
    /// The account wants the code it sent by email; an app password does not need one.
    #[error("{account} asks for a sign-in code; use an app password instead")]
    AuthFactorRequired {
        /// The account.
        account: String,
    },
    /// Taken down, suspended, or deactivated.
    #[error("the account {account} is not available: {status}")]
    AccountUnavailable {
        /// The account.
        account: String,
        /// `takendown`, `suspended`, `deactivated` or the server's own word.
        status: String,
    },
    /// The session cannot be refreshed any more.
    #[error("the session of {account} has ended; sign in again")]
    SessionExpired {
        /// The account.
        account: String,
    },
    /// The account's server lets nobody in through the browser, or not in a way that is safe.
    #[error("{host} offers no sign-in in the browser that can be used: {why}")]
    NoOauth {
        /// Host, as in the URL.
        host: String,
        /// What it lacks.
        why: String,
    },
    /// The person said no in the browser, or the server did for them.
    #[error("access to {account} was not given in the browser{}", after_colon(.why))]
    LoginDenied {
        /// The account.
        account: String,
        /// The server's words.
        why: String,
    },
    /// The server sent the browser back with an error.
    #[error("signing in to {account} failed: {error}{}", after_colon(.why))]
    LoginFailed {
        /// The account.
        account: String,
        /// The error's name, e.g. `server_error`.
        error: String,
        /// The server's words.
        why: String,
    },
    /// The browser did not come back.
    #[error("nobody signed in to {account} within {seconds} seconds")]
    LoginTimedOut {
        /// The account.
        account: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// An answer from another server than the one that was asked, or that speaks for the account.
    #[error("{got} answered, where {expected} speaks for the account; nothing was kept")]
    IssuerMismatch {
        /// The authorization server that may speak.
        expected: String,
        /// The one that did.
        got: String,
    },
    /// Another account was approved in the browser.
    #[error("another account was approved in the browser: {got}, not {asked}; nothing was kept")]
    WrongAccount {
        /// The account that was asked for.
        asked: String,
        /// The one that was approved.
        got: Did,
    },
    /// The server granted less than was asked for.
    #[error("{host} does not grant {}", .scopes.join(" "))]
    ScopesRefused {
        /// Host, as in the URL.
        host: String,
        /// The account.
        account: String,
        /// The scopes that are missing.
        scopes: Vec<String>,
    },
    /// The session may not do this; nothing was sent, or nothing was done.
    #[error("the session of {account} may not write {}", .scopes.join(" "))]
    ScopeMissing {
        /// The account.
        account: String,
        /// The scopes it would take, e.g. `repo:click.aligned.chat.message`.
        scopes: Vec<String>,
        /// What it may do.
        granted: Scopes,
    },
    /// Another process is renewing the tokens, and does not come to an end.
    #[error("another process holds the tokens of {account}; wait for it to finish, then run this again")]
    TokensBusy {
        /// The account.
        account: String,
    },
    /// The tokens that the caller keeps cannot be read again before they are renewed.
    #[error("could not read the tokens of {account}: {source}")]
    TokensNotRead {
        /// The account.
        account: String,
        /// The caller's error.
        source: BoxError,
    },
    /// The new tokens are in use, but the caller could not keep them. What was asked for was not done.
    #[error("could not store the new tokens of {account}: {source}")]
    TokensNotStored {
        /// The account.
        account: String,
        /// The caller's error.
        source: BoxError,
    },

    // Repositories
    /// The server has no such repository.
    #[error("{host} has no repository {repo}")]
    UnknownRepo {
        /// Host, as in the URL.
        host: String,
        /// The repository.
        repo: Did,
    },
    /// The repository has another commit than the one the writes were made for.
    #[error("the repository changed meanwhile: {message}")]
    InvalidSwap {
        /// The server's words.
        message: String,
    },
    /// A batch larger than a server takes; nothing was sent.
    #[error("{count} writes in a batch; a server takes {max}", max = crate::MAX_WRITES)]
    TooManyWrites {
        /// Writes in the batch.
        count: usize,
    },
    /// A request larger than a server takes; nothing was sent.
    #[error("a batch of {bytes} bytes; a server takes {max}", max = crate::MAX_WRITES_BYTES)]
    BatchTooLarge {
        /// Bytes of the request's body.
        bytes: usize,
    },

    // Refusals
    /// Too many requests or points; nothing was done.
    #[error("{host} asks to wait{}", match .retry_at {
        Some(at) => format!(" until {}", at.strftime("%Y-%m-%d %H:%M:%S UTC")),
        None => String::new(),
    })]
    RateLimited {
        /// Host, as in the URL.
        host: String,
        /// When to ask again, if the server says.
        retry_at: Option<Timestamp>,
        /// The limit that was hit, if the server says.
        limit: Option<RateLimit>,
    },
    /// A definite no; nothing was done.
    #[error("{host} refused {method}: {error}: {message} (HTTP {status})")]
    Rejected {
        /// Host, as in the URL.
        host: String,
        /// The XRPC method.
        method: &'static str,
        /// HTTP status, 400 to 499.
        status: u16,
        /// The error's name, e.g. `InvalidRequest`.
        error: String,
        /// The server's words.
        message: String,
    },
    /// The server failed. The reference PDS also answers so to some mistakes of the client, e.g. creating a record
    /// that exists.
    #[error("{host} failed in {method}: {error}: {message} (HTTP {status})")]
    Server {
        /// Host, as in the URL.
        host: String,
        /// The XRPC method.
        method: &'static str,
        /// HTTP status, 500 or more.
        status: u16,
        /// The error's name, e.g. `InternalServerError`.
        error: String,
        /// The server's words.
        message: String,
    },

    // Verifying
    /// The DID document names no key that could have signed the repository.
    #[error("the DID document of {did} names no key to verify its repository with")]
    NoSigningKey {
        /// The account.
        did: Did,
    },
    // Lexicons
    /// DNS names nobody who speaks for the lexicons under a domain.
    #[error("nobody speaks for the lexicons of {domain}: DNS has no TXT record _lexicon.{domain} that says did=…")]
    NoLexiconAuthority {
        /// The domain.
        domain: String,
    },
    /// DNS could not be asked who speaks for the lexicons under a domain.
    #[error("could not look up who speaks for the lexicons of {domain}: {why}")]
    LexiconAuthorityLookup {
        /// The domain.
        domain: String,
        /// What failed.
        why: String,
    },
    /// DNS names several accounts, which counts as none.
    #[error("the TXT records of _lexicon.{domain} name more than one account; its owner must remove all but one")]
    ConflictingLexiconAuthority {
        /// The domain.
        domain: String,
    },
    /// The account that speaks for a lexicon does not have it on record.
    #[error("{did} speaks for {nsid}, but has no such lexicon on record")]
    NoLexicon {
        /// The lexicon.
        nsid: Nsid,
        /// The account.
        did: Did,
    },
    /// What a server gives does not prove that the account has this lexicon on record, or that it has not.
    #[error("{uri} is not proven by what its server gives: {why}")]
    UnprovenLexicon {
        /// Where the lexicon is to be.
        uri: String,
        /// What is wrong.
        why: String,
    },
    /// A record under the name of one lexicon is another.
    #[error("the record {uri} is not the lexicon it is kept as: its `id` is {id:?}")]
    NotItsLexicon {
        /// Where it is.
        uri: String,
        /// What it says it is.
        id: String,
    },
    /// An at-uri of a collection, which nothing signs by itself.
    #[error("{uri} is neither a record nor a repository")]
    NotARecord {
        /// The at-uri.
        uri: String,
    },
    /// Keys and CAR files that cannot be used.
    #[error(transparent)]
    Repo(#[from] onrecord_repo::Error),
    /// The temporary file for a repository cannot be written.
    #[error("cannot keep the repository in a temporary file: {0}")]
    Spool(std::io::Error),

    // Streams
    /// A server ends a stream or does not begin it, and says why.
    #[error("{host} does not send its stream: {name}{}", if .message.is_empty() { String::new() } else { format!(": {message}") })]
    StreamRefused {
        /// Host, as in the URL.
        host: String,
        /// The reason's name, e.g. `CursorTooOld`.
        name: String,
        /// The server's words.
        message: String,
    },
    /// A message of a stream is larger than any may be. It was not read.
    #[error("{host} sends a frame of more than {limit} bytes")]
    FrameTooLarge {
        /// Host, as in the URL.
        host: String,
        /// The most that a frame may have, in bytes.
        limit: usize,
    },

    // This machine
    /// The HTTP client or the DNS resolver could not be set up.
    #[error("cannot set up networking: {why}")]
    Setup {
        /// What failed.
        why: String,
    },
    /// A value that cannot be written as JSON.
    #[error("cannot encode the writes: {0}")]
    Encode(#[from] serde_json::Error),
}

impl Error {
    /// Whether a write that ended so may have taken effect: read the repository before anything else is written.
    /// False means that nothing was done.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        match self {
            Self::Interrupted { .. }
            | Self::TimedOut { .. }
            | Self::AnswerTooLarge { .. }
            | Self::BadAnswer { .. }
            | Self::DidMismatch { .. }
            | Self::Server { .. } => true,
            // A page instead of an answer: of something in between that passed the request on, or did not.
            Self::NotAnXrpcServer { status, .. } => !(300..500).contains(status),
            _ => false,
        }
    }

    /// Whether the same read may well succeed a moment later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Interrupted { .. }
            | Self::TimedOut { .. }
            | Self::TooSlow { .. }
            | Self::RateLimited { .. } => true,
            Self::Server { status, .. } => *status != 501,
            Self::NotAnXrpcServer { status, .. } => *status >= 500,
            _ => false,
        }
    }
}

/// A server's words after what they explain, if it has any.
fn after_colon(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}

/// Foreign words for a message: one line, at most 300 characters.
pub(crate) fn quote(words: &str) -> String {
    const MAX_CHARS: usize = 300;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut quoted: String = words.chars().take(MAX_CHARS).map(clean).collect();
    if words.chars().nth(MAX_CHARS).is_some() {
        quoted.push('…');
    }
    quoted
}

/// What is wrong with an answer's JSON, without the parser's own words: those quote what they did not expect, which may be the
/// text of a record.
pub(crate) fn misfit(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Data => "its fields are not those that were expected",
        serde_json::error::Category::Io | serde_json::error::Category::Syntax | serde_json::error::Category::Eof => {
            "it is not JSON"
        }
    };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_words_become_one_short_line() {
        assert_eq!(quote("a\nb\u{1b}[31mc"), "a b [31mc");
        assert_eq!(quote(&"é".repeat(500)), "é".repeat(300) + "…");
    }

    #[test]
    fn a_page_is_ambiguous_only_where_the_request_may_have_passed() {
        let page = |status| Error::NotAnXrpcServer { host: "pds.example".into(), status };
        assert!(page(200).is_ambiguous());
        assert!(page(502).is_ambiguous());
        assert!(!page(404).is_ambiguous());
        assert!(!page(302).is_ambiguous());
    }
}
