//! The report of a verification: one struct for the command, its JSON, and the mark on a page.

use jiff::Timestamp;
use onrecord_lexicon::{Cid, Did, Handle, Tid};
use onrecord_repo::{Checked, Fault, Faults};
use serde::{Serialize, Serializer};

use super::{Pin, Rule};

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One record.
    Record,
    /// A conversation: its session record and its messages.
    Session,
    /// All of a repository.
    Repository,
}

/// How it was proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// By the path from the signed commit to each record.
    Proofs,
    /// By the whole repository, fetched from its server.
    Repository,
    /// By a file.
    File,
}

/// Where the key is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// From the account's DID document.
    DidDocument,
    /// From whoever asked.
    Given,
    /// There is none: the signature was not checked.
    None,
}

/// Whether all that belongs to what was looked at was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Complete {
    /// The signed tree shows that there is no more.
    Proven,
    /// As far as the server lists it.
    AsListed,
    /// What could be seen is damaged.
    No,
}

/// What a failure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It is not proven that the author signed this.
    Proof,
    /// The author signed it, and it breaks a rule of records.
    Record,
    /// The author signed it; what it points at is not what it was.
    Pin,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The rule that is broken; a stable name.
    pub code: &'static str,
    /// What it is about.
    pub kind: Kind,
    /// Where: an at-uri, a record's path with a field, a CID, or an offset in a file.
    pub at: String,
    /// What was found, in a sentence without its full stop.
    pub message: String,
    /// What that means, in a sentence.
    pub meaning: &'static str,
}

/// Something worth a word that is no failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// A stable name.
    pub code: &'static str,
    /// Where.
    pub at: String,
    /// What was found, in a sentence without its full stop.
    pub message: String,
    /// What that means, in a sentence.
    pub meaning: &'static str,
}

/// What became of a record that was pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinStatus {
    /// As it was.
    Same,
    /// Another version.
    Changed {
        /// What it is now.
        now: Cid,
    },
    /// Gone.
    Deleted {
        /// In which way.
        why: String,
    },
    /// It could not be looked up.
    Unreachable {
        /// Why.
        why: String,
    },
}

/// How many pins are what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PinCounts {
    /// As they were.
    pub same: u64,
    /// Other versions.
    pub changed: u64,
    /// Gone.
    pub deleted: u64,
    /// Not to be looked up.
    pub unreachable: u64,
    /// Not looked up.
    pub unchecked: u64,
}

/// How many of each were looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Bytes of proofs, of the repository, or of the file.
    pub bytes: u64,
    /// Blocks whose bytes were held against their CIDs.
    pub blocks: u64,
    /// Nodes of the tree.
    pub nodes: u64,
    /// Records that were looked at.
    pub records: u64,
    /// Of these, session records.
    pub sessions: u64,
    /// Of these, messages.
    pub messages: u64,
    /// Of these, withheld ones.
    pub withheld: u64,
    /// Covered passages.
    pub bars: u64,
    /// Records whose lexicon is not known here; all but that was checked.
    pub without_lexicon: u64,
    /// Records that turns are about.
    pub pins: PinCounts,
}

/// The state of the repository that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitView {
    /// The commit.
    pub cid: Cid,
    /// Its revision.
    pub rev: Tid,
    /// The time that the revision tells.
    pub committed_at: Timestamp,
}

/// A record that the signed tree names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProvenRecord {
    /// Where it is.
    pub uri: String,
    /// What it is.
    pub cid: Cid,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// What was to be verified, as it was named.
    pub subject: String,
    /// How much of a repository that is.
    pub scope: Scope,
    /// Nothing is wrong.
    pub ok: bool,
    /// It is proven that the author signed this, whatever else is wrong with it.
    pub authentic: bool,
    /// The author.
    pub did: Option<Did>,
    /// The author's handle, if handle and account name each other.
    pub handle: Option<Handle>,
    /// The key.
    pub key: Option<String>,
    /// Where it is from.
    pub key_source: KeySource,
    /// The author's server, where one was asked.
    pub pds: Option<String>,
    /// The state that was looked at.
    pub commit: Option<CommitView>,
    /// How it was proven.
    pub way: Way,
    /// Whether all that belongs to it was seen.
    pub complete: Complete,
    /// How many of each.
    pub counts: Counts,
    /// The records, of a record and a session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<ProvenRecord>,
    /// All that is wrong; of very much, the first hundred of each sort.
    pub failures: Vec<Failure>,
    /// How many failures there are.
    pub failure_count: u64,
    /// What is worth a word.
    pub notices: Vec<Notice>,
    /// When.
    #[serde(serialize_with = "to_milliseconds")]
    pub checked_at: Timestamp,
}

fn to_milliseconds<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&onrecord_lexicon::Datetime::from_timestamp(*time))
}

/// The most failures of the records' rules that are listed.
const MAX_LISTED: usize = 100;

impl Report {
    /// A report in which nothing was found yet.
    #[must_use]
    pub fn new(subject: impl Into<String>, scope: Scope, way: Way, checked_at: Timestamp) -> Self {
        Self {
            subject: subject.into(),
            scope,
            ok: true,
            authentic: false,
            did: None,
            handle: None,
            key: None,
            key_source: KeySource::None,
            pds: None,
            commit: None,
            way,
            complete: Complete::No,
            counts: Counts::default(),
            records: Vec::new(),
            failures: Vec::new(),
            failure_count: 0,
            notices: Vec::new(),
            checked_at,
        }
    }

    /// Adds what was found out about the repository itself.
    pub fn add_checked(&mut self, checked: &Checked) {
        if let (Some(commit), Some(root)) = (&checked.commit, &checked.root) {
            self.did.get_or_insert_with(|| commit.did.clone());
            let micros = i64::try_from(commit.rev.micros()).unwrap_or_default();
            let committed_at = Timestamp::from_microsecond(micros).unwrap_or_default();
            self.commit = Some(CommitView { cid: root.to_cid(), rev: commit.rev.clone(), committed_at });
        }
        self.counts.bytes = checked.counts.bytes;
        self.counts.blocks = checked.counts.blocks;
        self.counts.nodes = checked.counts.nodes;
        self.add_faults(&checked.faults);
        // Proofs that were put together hold the upper nodes once each.
        let notices = if self.way == Way::Proofs { &[] } else { checked.notices.listed() };
        for Fault { rule, at, message } in notices {
            self.notices.push(Notice {
                code: rule.as_str(),
                at: at.clone(),
                message: message.clone(),
                meaning: rule.meaning(),
            });
        }
        self.authentic = checked.is_signed && checked.faults.is_empty();
        self.complete = if checked.is_whole && checked.faults.is_empty() { Complete::Proven } else { Complete::No };
    }

    fn add_faults(&mut self, faults: &Faults) {
        for Fault { rule, at, message } in faults.listed() {
            let (code, meaning) = (rule.as_str(), rule.meaning());
            self.failures.push(Failure { code, kind: Kind::Proof, at: at.clone(), message: message.clone(), meaning });
        }
        self.failure_count += faults.count();
        self.ok &= faults.is_empty();
    }

    /// Adds a failure of the records' rules.
    pub fn fail(&mut self, rule: Rule, kind: Kind, at: impl Into<String>, message: impl Into<String>) {
        self.ok = false;
        self.failure_count += 1;
        self.authentic &= kind != Kind::Proof;
        let same = self.failures.iter().filter(|failure| failure.code == rule.as_str()).count();
        if same < MAX_LISTED {
            let (code, meaning) = (rule.as_str(), rule.meaning());
            self.failures.push(Failure { code, kind, at: at.into(), message: message.into(), meaning });
        }
    }

    /// Adds a word that is no failure.
    pub fn note(&mut self, rule: Rule, at: impl Into<String>, message: impl Into<String>) {
        let same = self.notices.iter().filter(|notice| notice.code == rule.as_str()).count();
        if same < MAX_LISTED {
            let (code, meaning) = (rule.as_str(), rule.meaning());
            self.notices.push(Notice { code, at: at.into(), message: message.into(), meaning });
        }
    }

    /// Adds what became of a pinned record. One that cannot be reached says nothing against the author, and is no failure.
    pub fn add_pin(&mut self, pin: &Pin, status: &PinStatus) {
        let pins = &mut self.counts.pins;
        match status {
            PinStatus::Same => pins.same += 1,
            PinStatus::Changed { now } => {
                pins.changed += 1;
                let message = format!("{} was {} and is {now}", pin.uri, pin.cid);
                self.fail(Rule::PinChanged, Kind::Pin, &*pin.at, message);
            }
            PinStatus::Deleted { why } => {
                pins.deleted += 1;
                self.fail(Rule::PinDeleted, Kind::Pin, &*pin.at, format!("{} is not there any more: {why}", pin.uri));
            }
            PinStatus::Unreachable { why } => {
                pins.unreachable += 1;
                self.note(Rule::PinUnreachable, &*pin.at, format!("{}: {why}", pin.uri));
            }
        }
    }
}
