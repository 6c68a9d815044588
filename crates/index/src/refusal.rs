//! Why something of the network was not taken: few names, so that whoever sends nonsense can only make numbers grow.

use std::{borrow::Cow, cmp::Ordering, collections::BTreeMap};

use onrecord_atproto::stream::Flaw;
use onrecord_lexicon::Rule;
use onrecord_repo::{SignatureError, SliceError};

use crate::{admit::Admitted, change::Fence, family::counted_as};

/// Why a record, a frame, a commit or a repository was not taken. Its name is stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// It is no JSON object.
    NoObject,
    /// It is larger than a repository takes.
    TooLarge,
    /// It is outside the protocol's data model.
    DataModel,
    /// It has another content than its CID says.
    CidMismatch,
    /// Its revision is in the future.
    FutureRev,
    /// It breaks a rule of its lexicon; the first that was found.
    Lexicon(LexiconRule),
    /// It is a turn of a conversation in another repository, or of one that is named by handle.
    ForeignSession,
    /// Its account is deleted.
    AccountDeleted,
    /// Its account has a DID of no kind that accounts have.
    UnknownDid,
    /// It is a frame that cannot be understood.
    Frame(Flaw),
    /// It is a commit that is not believed; none of its writes was taken.
    Commit(CommitFlaw),
    /// It is a repository that is not believed; nothing of it was taken.
    Repository(RepositoryFlaw),
}

/// A rule of the lexicon language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LexiconRule(pub Rule);

impl PartialOrd for LexiconRule {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LexiconRule {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.as_str().cmp(other.0.as_str())
    }
}

/// Why a commit on a stream is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CommitFlaw {
    /// Whose key must have signed it cannot be learnt.
    Unresolved,
    /// The account's document names no key, or none of the protocol's.
    NoKey,
    /// Its blocks are more than the protocol allows.
    TooLarge,
    /// Its blocks are damaged, or named by other CIDs than theirs.
    Blocks,
    /// The commit itself is missing, cannot be understood, or is of another account or revision than the event says.
    Form,
    /// What stands in the place of the signature is none.
    SignatureForm,
    /// The signature is in the form that the protocol forbids.
    SignatureHighS,
    /// The account's key did not sign it.
    Signature,
    /// A record is missing or is none.
    Record,
    /// It does not say what was there before.
    NoPast,
    /// Its writes do not lead from the tree before to the tree after.
    Tree,
}

impl CommitFlaw {
    /// Why a slice was refused.
    pub(crate) fn of(error: &SliceError) -> Self {
        match error {
            SliceError::TooLarge(_) => Self::TooLarge,
            SliceError::Blocks(_) => Self::Blocks,
            SliceError::Commit(_) => Self::Form,
            SliceError::Signature(SignatureError::Form) => Self::SignatureForm,
            SliceError::Signature(SignatureError::HighS) => Self::SignatureHighS,
            SliceError::Signature(SignatureError::Wrong) => Self::Signature,
            SliceError::Record { .. } => Self::Record,
            SliceError::NoPast => Self::NoPast,
            SliceError::Tree(_) | SliceError::OtherPast => Self::Tree,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::NoKey => "no-key",
            Self::TooLarge => "too-large",
            Self::Blocks => "blocks",
            Self::Form => "form",
            Self::SignatureForm => "signature-form",
            Self::SignatureHighS => "signature-high-s",
            Self::Signature => "signature",
            Self::Record => "record",
            Self::NoPast => "no-past",
            Self::Tree => "tree",
        }
    }
}

/// Why a repository that was to be fetched is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RepositoryFlaw {
    /// It breaks a rule of repositories; the first that was found.
    Broken(onrecord_repo::Rule),
    /// A part of it is missing.
    NotWhole,
    /// It does not come to an end within what one repository may take.
    TooLarge,
    /// It comes more slowly than anything that is sent.
    TooSlow,
    /// Its revision is in the future.
    FutureRev,
    /// The account's document names no key, or none of the protocol's.
    NoKey,
    /// The account's document cannot be understood, is another account's, or names no server.
    Document,
    /// The account's server is at an address at which none may be.
    Address,
    /// The account's server answers with something else than what was asked for.
    Answer,
}

impl RepositoryFlaw {
    fn as_str(self) -> &'static str {
        match self {
            Self::Broken(rule) => rule.as_str(),
            Self::NotWhole => "not-whole",
            Self::TooLarge => "too-large",
            Self::TooSlow => "too-slow",
            Self::FutureRev => "future-rev",
            Self::NoKey => "no-key",
            Self::Document => "document",
            Self::Address => "address",
            Self::Answer => "answer",
        }
    }
}

impl Reason {
    /// Its name, e.g. `lexicon:max-graphemes` or `commit:signature`.
    #[must_use]
    pub fn code(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::NoObject => "no-object",
            Self::TooLarge => "too-large",
            Self::DataModel => "data-model",
            Self::CidMismatch => "cid-mismatch",
            Self::FutureRev => "future-rev",
            Self::Lexicon(rule) => return Cow::Owned(format!("lexicon:{}", rule.0)),
            Self::ForeignSession => "foreign-session",
            Self::AccountDeleted => "account-deleted",
            Self::UnknownDid => "unknown-did",
            Self::Frame(flaw) => return Cow::Owned(format!("frame:{}", flaw.as_str())),
            Self::Commit(flaw) => return Cow::Owned(format!("commit:{}", flaw.as_str())),
            Self::Repository(flaw) => return Cow::Owned(format!("repository:{}", flaw.as_str())),
        })
    }
}

/// What was refused, by reason and collection. Both are few, whatever comes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refusals(BTreeMap<(Reason, Box<str>), u64>);

impl Refusals {
    /// Counts a record of `collection`.
    pub(crate) fn record(&mut self, reason: Reason, collection: &str) {
        *self.0.entry((reason, counted_as(collection).into())).or_default() += 1;
    }

    /// Counts what is of no collection.
    pub(crate) fn other(&mut self, reason: Reason) {
        *self.0.entry((reason, "".into())).or_default() += 1;
    }

    pub(crate) fn append(&mut self, other: Self) {
        for (of, n) in other.0 {
            *self.0.entry(of).or_default() += n;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Reason, &str, u64)> {
        self.0.iter().map(|((reason, collection), n)| (*reason, &**collection, *n))
    }
}

impl Admitted {
    /// The batch, and with it what was refused before it.
    pub(crate) fn refusing(mut self, refused: Refusals) -> Self {
        self.rejected.append(refused);
        self
    }

    /// Nothing but the count of one refusal.
    pub(crate) fn of_refusal(reason: Reason, fence: Option<Fence>) -> Self {
        let mut admitted = Self { fence, ..Self::default() };
        admitted.rejected.other(reason);
        admitted
    }
}
