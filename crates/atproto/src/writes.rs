//! A batch of writes: its exact bytes, whether it fits, and what came of it.

use std::{collections::BTreeSet, io};

use onrecord_lexicon::{AtUri, Cid, Did, Nsid, Rkey};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Commit, Error, RateLimit, Result};

/// Most writes in one batch (the reference PDS refuses one more).
pub const MAX_WRITES: usize = 200;
/// Most bytes in one request's body (the reference PDS refuses one more).
pub const MAX_WRITES_BYTES: usize = 1_000_000;

/// What a write does to its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Makes it; the key must be free.
    Create,
    /// Replaces it; it must exist.
    Update,
    /// Removes it; it must exist.
    Delete,
}

impl Action {
    /// The action's name on the wire, and for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// What it costs of the repository's budget: 5,000 points an hour, 35,000 a day.
    #[must_use]
    pub fn points(self) -> u64 {
        match self {
            Self::Create => 3,
            Self::Update => 2,
            Self::Delete => 1,
        }
    }
}

/// One change to one record.
#[derive(Debug, Clone)]
pub enum Write {
    /// A new record under a key of our own.
    Create {
        /// The collection.
        collection: Nsid,
        /// The key.
        rkey: Rkey,
        /// The record, sent byte for byte.
        value: Box<RawValue>,
    },
    /// A record in place of the one that is there.
    Update {
        /// The collection.
        collection: Nsid,
        /// The key.
        rkey: Rkey,
        /// The record, sent byte for byte.
        value: Box<RawValue>,
    },
    /// No record any more.
    Delete {
        /// The collection.
        collection: Nsid,
        /// The key.
        rkey: Rkey,
    },
}

impl Write {
    /// What it does.
    #[must_use]
    pub fn action(&self) -> Action {
        match self {
            Self::Create { .. } => Action::Create,
            Self::Update { .. } => Action::Update,
            Self::Delete { .. } => Action::Delete,
        }
    }

    /// Where.
    #[must_use]
    pub fn collection(&self) -> &Nsid {
        match self {
            Self::Create { collection, .. } | Self::Update { collection, .. } | Self::Delete { collection, .. } => {
                collection
            }
        }
    }

    /// Under which key.
    #[must_use]
    pub fn rkey(&self) -> &Rkey {
        match self {
            Self::Create { rkey, .. } | Self::Update { rkey, .. } | Self::Delete { rkey, .. } => rkey,
        }
    }

    /// The record; a deletion has none.
    #[must_use]
    pub fn value(&self) -> Option<&RawValue> {
        match self {
            Self::Create { value, .. } | Self::Update { value, .. } => Some(value),
            Self::Delete { .. } => None,
        }
    }
}

#[derive(Serialize)]
struct WriteWire<'a> {
    #[serde(rename = "$type")]
    kind: &'static str,
    collection: &'a Nsid,
    rkey: &'a Rkey,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a RawValue>,
}

impl<'a> From<&'a Write> for WriteWire<'a> {
    fn from(write: &'a Write) -> Self {
        let kind = match write.action() {
            Action::Create => "com.atproto.repo.applyWrites#create",
            Action::Update => "com.atproto.repo.applyWrites#update",
            Action::Delete => "com.atproto.repo.applyWrites#delete",
        };
        Self { kind, collection: write.collection(), rkey: write.rkey(), value: write.value() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BatchWire<'a> {
    repo: &'a Did,
    #[serde(skip_serializing_if = "Option::is_none")]
    validate: Option<bool>,
    writes: Vec<WriteWire<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    swap_commit: Option<&'a Cid>,
}

/// The exact body of a `com.atproto.repo.applyWrites` request. Made by [`EncodedWrites::new`] only, and immutable: what
/// was looked at is what is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedWrites {
    repo: Did,
    count: usize,
    touches: BTreeSet<(Nsid, Action)>,
    body: Vec<u8>,
}

impl EncodedWrites {
    /// Encodes a batch for the repository `repo`.
    ///
    /// `validate`: `Some(false)` tells the server not to look for lexicons, `Some(true)` to refuse records whose lexicon
    /// it does not know, `None` to validate the ones it knows. With `swap_commit` the batch is refused
    /// ([`Error::InvalidSwap`]) unless the repository's last commit is that one.
    ///
    /// # Errors
    /// [`Error::TooManyWrites`] and [`Error::BatchTooLarge`] for what no server takes.
    pub fn new(repo: &Did, writes: &[Write], validate: Option<bool>, swap_commit: Option<&Cid>) -> Result<Self> {
        if writes.len() > MAX_WRITES {
            return Err(Error::TooManyWrites { count: writes.len() });
        }
        let wire = BatchWire { repo, validate, writes: writes.iter().map(WriteWire::from).collect(), swap_commit };
        let body = serde_json::to_vec(&wire)?;
        if body.len() > MAX_WRITES_BYTES {
            return Err(Error::BatchTooLarge { bytes: body.len() });
        }
        let touches = writes.iter().map(|write| (write.collection().clone(), write.action())).collect();
        Ok(Self { repo: repo.clone(), count: writes.len(), touches, body })
    }

    /// The body, as it will be sent.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.body
    }

    /// The repository it is for.
    #[must_use]
    pub fn repo(&self) -> &Did {
        &self.repo
    }

    /// What it does to which collections.
    pub(crate) fn touches(&self) -> impl Iterator<Item = (&str, Action)> {
        self.touches.iter().map(|(collection, action)| (collection.as_str(), *action))
    }

    /// Writes in it.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }
}

/// What a batch may still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Writes.
    pub writes: usize,
    /// Bytes of the body.
    pub bytes: usize,
    /// Points of the budget, if the server told what is left.
    pub points: Option<u64>,
}

impl Default for Room {
    fn default() -> Self {
        Self { writes: MAX_WRITES, bytes: MAX_WRITES_BYTES, points: None }
    }
}

/// How many of the first `writes` fit in one batch for `repo`. Zero if there are none, or the first alone does not fit.
///
/// # Errors
/// [`Error::Encode`].
pub fn fill_batch(repo: &Did, writes: &[Write], room: Room) -> Result<usize> {
    // The envelope at its longest: `false`, and a swap commit (a CIDv1 of SHA-256 has 59 characters).
    let envelope = r#"{"repo":,"validate":false,"writes":[],"swapCommit":""}"#.len() + json_len(repo)? + 59;
    let (mut bytes, mut points) = (envelope, 0);
    for (count, write) in writes.iter().enumerate().take(room.writes.saturating_add(1)) {
        let separator = usize::from(count > 0);
        bytes += json_len(&WriteWire::from(write))? + separator;
        points += write.action().points();
        if count == room.writes || bytes > room.bytes || room.points.is_some_and(|left| points > left) {
            return Ok(count);
        }
    }
    Ok(writes.len())
}

/// Length of a value's JSON, in bytes.
fn json_len(value: &impl Serialize) -> Result<usize> {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value)?;
    Ok(counter.0)
}

/// What the server says came of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The commit that holds the whole batch. Older servers do not tell.
    pub commit: Option<Commit>,
    /// One for each write, in order; `None` for a deletion. Empty where an older server does not tell.
    pub results: Vec<Option<Written>>,
    /// The limit that the answer names: size the next batch to what is left.
    pub rate_limit: Option<RateLimit>,
}

/// A record as the server says it wrote it. Compare the CID with your own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where it is.
    pub uri: AtUri,
    /// What it is.
    pub cid: Cid,
}

#[derive(Deserialize)]
pub(crate) struct AppliedWire {
    commit: Option<Commit>,
    #[serde(default)]
    results: Vec<ResultWire>,
}

#[derive(Deserialize)]
struct ResultWire {
    uri: Option<AtUri>,
    cid: Option<Cid>,
}

impl AppliedWire {
    /// The result of a batch of `count`; an error's words if it is not one.
    pub(crate) fn check(self, count: usize, rate_limit: Option<RateLimit>) -> Result<Applied, String> {
        if !self.results.is_empty() && self.results.len() != count {
            return Err(format!("{} results for {count} writes", self.results.len()));
        }
        let result = |ResultWire { uri, cid }| Some(Written { uri: uri?, cid: cid? });
        Ok(Applied { commit: self.commit, results: self.results.into_iter().map(result).collect(), rate_limit })
    }
}
