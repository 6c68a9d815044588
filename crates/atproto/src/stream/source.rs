//! Where to follow: the kind of server and its address, as one word.

use std::{fmt, str::FromStr};

use onrecord_lexicon::{Nsid, syntax::SyntaxError};
use url::Url;

use crate::Secret;

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A relay or a PDS: `com.atproto.sync.subscribeRepos`.
    Firehose,
    /// A Jetstream, of either version.
    Jetstream,
    /// A Tap, which has already checked what it sends and wants to hear that it arrived.
    Tap,
}

impl Kind {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Firehose, "firehose"), (Self::Jetstream, "jetstream"), (Self::Tap, "tap")];

    /// Its name, as it stands before the address.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// A server to follow, e.g. `jetstream:wss://jetstream.example.org`. A Tap's password stands in its address, as in
/// `tap:ws://admin:PASSWORD@localhost:2480`, and is shown nowhere.
#[derive(Debug, Clone)]
pub struct Source {
    kind: Kind,
    url: Url,
    password: Option<Secret>,
}

/// A collection, or all whose names begin alike: `a.b.c`, `a.b.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Reads one.
    ///
    /// # Errors
    /// It is neither a collection nor the beginning of one and `.*`.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        // With any last part it is a name.
        Nsid::parse(&text.strip_suffix(".*").map_or_else(|| text.to_owned(), |start| format!("{start}.any")))?;
        Ok(Self(text.to_owned()))
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a collection is meant by it.
    #[must_use]
    pub fn matches(&self, collection: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(start) => collection.starts_with(start),
            None => collection == self.0,
        }
    }
}

/// What is wrong with the name of a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSource {
    /// No kind of server is named.
    #[error("`{text}` names no kind of server; write firehose:wss://HOST, jetstream:wss://HOST or tap:ws://HOST")]
    Kind {
        /// What was given.
        text: String,
    },
    /// What follows is no address.
    #[error("`{text}` is no address of a stream: {why}")]
    Address {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Source {
    /// What kind of server it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its address, without a password.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The password that its server asks for.
    pub(super) fn password(&self) -> Option<&Secret> {
        self.password.as_ref()
    }
}

impl FromStr for Source {
    type Err = BadSource;

    fn from_str(text: &str) -> Result<Self, BadSource> {
        let kind = |name: &str| Kind::ALL.iter().find(|(_, n)| *n == name).map(|(kind, _)| *kind);
        // The address may hold a password.
        let shown = || match text.rsplit_once('@') {
            Some((before, host)) => format!("{}:…@{host}", before.split(':').next().unwrap_or_default()),
            None => text.to_owned(),
        };
        let (kind, address) = text
            .split_once(':')
            .and_then(|(name, address)| Some((kind(name)?, address)))
            .ok_or_else(|| BadSource::Kind { text: shown() })?;
        let bad = |why: String| BadSource::Address { text: shown(), why };
        let mut url = Url::parse(address).map_err(|error| bad(error.to_string()))?;
        if !matches!(url.scheme(), "ws" | "wss") {
            return Err(bad("it begins with neither wss:// nor ws://".to_owned()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(bad("it names no host".to_owned()));
        }
        let password = url
            .password()
            .map(|password| Secret::new(percent_encoding::percent_decode_str(password).decode_utf8_lossy()));
        if url.username() != "" && kind != Kind::Tap {
            return Err(bad("only a Tap asks for a password".to_owned()));
        }
        // A web address takes both away.
        let _ = url.set_password(None);
        let _ = url.set_username("");
        Ok(Self { kind, url, password })
    }
}

impl fmt::Display for Source {
    /// The name under which its cursor is kept.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.name(), self.url.as_str().trim_end_matches('/'))
    }
}
