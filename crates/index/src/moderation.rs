//! What a site does not show, though it is public: by the host's decision, by the word of a labeler that the host chose, or
//! because its author asks that only people who are signed in read it.
//!
//! What is hidden stands in a table of the index itself, and every question asks that table in the same statement. So a
//! decision holds at once in every process that shares the database (on a replica as soon as it is replayed, as a deletion
//! does), with nothing to be refreshed. While nothing is hidden, a statement looks once into an empty table; else each row it
//! gives is looked up there by key.

use std::{collections::HashMap, fmt::Write as _};

use onrecord_lexicon::{AtUri, Cid, Did, Nsid, Rkey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    change::{Address, Fence, SourceCursor},
    error::{Error, Result},
    query::{ConversationHead, Name, NameOf},
    row::{NameKind, Row},
    stored::{address, corrupt},
};

/// Shown only to people who are signed in; nobody signs in to a reading site.
const SIGNED_IN_ONLY: &str = "!no-unauthenticated";
/// Labels by which something is not shown. What other labels mean is for pages to say.
pub(crate) const HONOURED: [&str; 3] = ["!hide", "!takedown", SIGNED_IN_ONLY];
/// Where an account's profile stands. What is said of who may read it is said of the account.
const PROFILE_PLACE: &str = "app.bsky.actor.profile/self";
/// Stands for the host among the sources of what is hidden.
pub(crate) const HOST: &str = "";
/// Stands for the author.
const AUTHOR: &str = "self";

/// What a decision or a label is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An account, and with it everything of it.
    Account(Did),
    /// A record; of a conversation's own record, the conversation.
    Record(Address),
}

impl Subject {
    /// Reads a DID, the at-uri of an account by DID, or the at-uri of a record by DID.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(did) = Did::parse(text) {
            return Some(Self::Account(did));
        }
        let uri = AtUri::parse(text).ok()?;
        let did = Did::parse(uri.authority()).ok()?;
        match (uri.collection(), uri.rkey()) {
            (None, _) => Some(Self::Account(did)),
            (Some(collection), Some(rkey)) => Some(Self::Record(Address {
                did,
                collection: Nsid::parse(collection).ok()?,
                rkey: Rkey::parse(rkey).ok()?,
            })),
            (Some(_), None) => None,
        }
    }

    /// Whose it is.
    #[must_use]
    pub fn did(&self) -> &Did {
        match self {
            Self::Account(did) => did,
            Self::Record(address) => &address.did,
        }
    }

    /// Where in the account's repository, as stores keep it: `collection/key`, or nothing for all of it.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Account(_) => String::new(),
            Self::Record(at) => format!("{}/{}", at.collection, at.rkey),
        }
    }

    pub(crate) fn of_columns(did: &str, place: &str) -> Result<Self> {
        match place.split_once('/') {
            Some((collection, rkey)) => Ok(Self::Record(address(did, collection, rkey)?)),
            None => Ok(Self::Account(Did::parse(did).map_err(corrupt("a DID"))?)),
        }
    }
}

impl std::fmt::Display for Subject {
    /// The DID or the at-uri.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Account(did) => f.write_str(did.as_str()),
            Self::Record(address) => f.write_str(&address.uri()),
        }
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("neither a DID nor the at-uri of a record"))
    }
}

/// Why something that is public is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "by")]
pub enum Hidden {
    /// The host of this site decided so.
    Host,
    /// A labeler says so whom the host of this site follows.
    Labeler {
        /// Who.
        did: Did,
    },
    /// It is for people who are signed in, its author says, or a labeler; nobody signs in here.
    SignedInOnly,
}

impl Hidden {
    /// From the source and the value of what hides, parted by a space: so a store gives them.
    pub(crate) fn of_column(column: &str) -> Result<Self> {
        match column.split_once(' ') {
            Some((HOST, _)) => Ok(Self::Host),
            Some((_, SIGNED_IN_ONLY)) => Ok(Self::SignedInOnly),
            Some((did, _)) => Ok(Self::Labeler { did: Did::parse(did).map_err(corrupt("a labeler"))? }),
            None => Err(Error::Corrupt { what: "what hides a record" }),
        }
    }
}

/// A decision of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// When, in microseconds since 1970. The last one on a subject holds.
    pub at_us: i64,
    /// On what.
    pub subject: Subject,
    /// Whether it is hidden from then on, or shown again.
    pub hide: bool,
    /// Why, in the host's words.
    pub reason: String,
    /// Who decided, e.g. the name of an operator's account on the machine.
    pub by: String,
}

/// A labeler's word on a subject, its signature checked before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Label {
    /// Whose word.
    pub source: Did,
    /// On what.
    pub subject: Subject,
    /// On this version of a record alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cid: Option<Cid>,
    /// The word, e.g. `!hide` or `spam`.
    pub value: String,
    /// When it was said, as the labeler has it, in microseconds since 1970. A later one on the same replaces it.
    pub at_us: i64,
    /// Until when it holds, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
    /// The word is taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

impl Label {
    /// Whether by it something is not shown.
    pub(crate) fn is_honoured(&self) -> bool {
        HONOURED.contains(&self.value.as_str())
    }

    /// What it is known by, parted by `|`; the value last, as it may hold one.
    pub(crate) fn key(&self) -> String {
        let mut key = format!("{}|{}|{}|", self.subject.did(), self.subject.place(), self.source);
        for byte in self.cid.iter().flat_map(Cid::to_bytes) {
            let _ = write!(key, "{byte:02X}");
        }
        key + "|" + &self.value
    }

    /// The place it hides, and those whose labels hide it.
    pub(crate) fn hides(&self) -> (String, Vec<String>) {
        let place = self.subject.place();
        if self.value == SIGNED_IN_ONLY && (place.is_empty() || place == PROFILE_PLACE) {
            (String::new(), vec![String::new(), PROFILE_PLACE.to_owned()])
        } else {
            (place.clone(), vec![place])
        }
    }
}

/// Decisions and labels that are kept together or not at all, with the place in the labeler's stream that they lead to.
#[derive(Debug, Clone, Default)]
pub struct Moderation {
    /// Decisions.
    pub decisions: Vec<Decision>,
    /// Labels. Those that hide are kept whatever they are on; others if the account is known here.
    pub labels: Vec<Label>,
    /// Where the labels come from and where to go on after them.
    pub cursor: Option<SourceCursor>,
    /// The lease under which they are written.
    pub fence: Option<Fence>,
    /// They are from an export, where they were kept: whatever they are on, they are again.
    pub is_restored: bool,
}

/// What [`crate::Index::moderate`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Moderated {
    /// Decisions and labels that were kept.
    pub kept: u64,
    /// What was known already, or is older than what is known.
    pub stale: u64,
    /// Labels on accounts of which nothing is known.
    pub ignored: u64,
}

/// Something that is not shown, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HiddenSubject {
    /// What.
    pub subject: Subject,
    /// Why. What is hidden for several reasons is listed with each.
    pub hidden: Hidden,
    /// The host's decision, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// A turn that this site hides, within a conversation that it shows: where it stands and nothing of what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HiddenTurn {
    /// Where.
    pub address: Address,
    /// Who speaks, `user` or `assistant`, if it says either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// When it happened.
    pub at_ms: i64,
    /// Why it is hidden.
    pub hidden: Hidden,
}

impl HiddenTurn {
    pub(crate) fn of(address: Address, at_ms: i64, record: &str, hidden: &str) -> Result<Self> {
        let record: serde_json::Value = serde_json::from_str(record).map_err(corrupt("a record"))?;
        let said = record.get("role").and_then(serde_json::Value::as_str);
        let role = ["user", "assistant"].into_iter().find(|role| Some(*role) == said);
        Ok(Self { address, role, at_ms, hidden: Hidden::of_column(hidden)? })
    }
}

/// Name of a labeler's stream, under which its cursor is kept.
#[must_use]
pub fn stream_of(labeler: &Did) -> String {
    format!("labeler:{labeler}")
}

/// Whether an account's own labels say that it is for people who are signed in. Gives what stands for them in the table of
/// what is hidden: the source and the value.
pub(crate) fn of_self_labels(labels: &[String]) -> Option<(&'static str, &'static str)> {
    labels.iter().any(|label| label == SIGNED_IN_ONLY).then_some((AUTHOR, SIGNED_IN_ONLY))
}

/// Takes hidden turns out of what a list says of their conversation. `models` are all its models with how often, the most
/// used first.
pub(crate) fn without(head: &mut ConversationHead, turns: &[Row], mut models: Vec<(String, i64)>) {
    let less = |from: &mut u64, n: i64| *from = from.saturating_sub(n.unsigned_abs());
    for turn in turns {
        head.hidden += 1;
        less(&mut head.withheld, turn.tally.withheld);
        less(&mut head.steps, turn.tally.steps);
        less(&mut head.failed, turn.tally.failed);
        for (_, name, n) in turn.names.iter().filter(|(kind, ..)| *kind == NameKind::Model) {
            if let Some((_, count)) = models.iter_mut().find(|(model, _)| model == name) {
                *count -= n;
            }
        }
    }
    models.retain(|(_, n)| *n > 0);
    models.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    head.models = models.into_iter().map(|(name, _)| name).take(MODELS).collect();
}

/// How many models a list names of a conversation.
const MODELS: usize = 50;

/// A conversation's models or tools that stand in hidden turns alone, and how often each: what has to be taken from the sums.
#[derive(Debug, Default)]
pub(crate) struct HiddenNames {
    uses: HashMap<String, i64>,
    by_conversation: HashMap<(String, String), i64>,
}

impl HiddenNames {
    /// Of hidden turns, each with the store's key of its conversation.
    pub(crate) fn of(turns: &[(String, Row)], of: NameOf) -> Self {
        let mut hidden = Self::default();
        for (conversation, row) in turns {
            for (_, name, n) in row.names.iter().filter(|(kind, ..)| *kind == of.kind()) {
                *hidden.uses.entry(name.clone()).or_default() += n;
                *hidden.by_conversation.entry((conversation.clone(), name.clone())).or_default() += n;
            }
        }
        hidden
    }

    /// How many more names have to be asked for, so that enough are left.
    pub(crate) fn len(&self) -> usize {
        self.uses.len()
    }

    /// The conversations and names of which a store has to say how often they are used in all.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_conversation.keys().map(|(conversation, name)| (conversation.as_str(), name.as_str()))
    }

    /// Takes them out of `names`. `uses` says how often a name is used in a conversation, hidden turns and all.
    pub(crate) fn take_from(
        &self,
        mut names: Vec<Name>,
        uses: &HashMap<(String, String), i64>,
        limit: u32,
    ) -> Vec<Name> {
        for name in &mut names {
            name.count = name.count.saturating_sub(self.uses.get(&name.name).copied().unwrap_or(0).unsigned_abs());
            let gone = self.by_conversation.iter().filter(|(key, n)| key.1 == name.name && uses.get(key) <= Some(n));
            name.conversations = name.conversations.saturating_sub(gone.count() as u64);
        }
        names.retain(|name| name.count > 0);
        names.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        names.truncate(limit as usize);
        names
    }
}
