//! The door: what of that which happened may be stored.

use std::collections::BTreeMap;

use jiff::Timestamp;
use onrecord_lexicon::{
    Catalog, Cid, Did, Handle, Rule, Tid,
    data::{self, record_cid},
};
use onrecord_record::tiles::is_encrypted;
use serde_json::Value;

use crate::{
    account::Profile,
    change::{AccountStatus, Address, Batch, Change, Fence, Put, Restored, SourceCursor},
    family::{Family, Misfit, derive, family},
    owed::Note,
    refusal::{LexiconRule, Reason, Refusals},
    row::Row,
};

/// The largest record a repository takes, in bytes.
const MAX_RECORD: usize = 1_000_000;
/// JSON of a record may take six bytes for each of its own, as control characters do.
const MAX_JSON: usize = 6 * MAX_RECORD + 2;
/// Longest DID of an account. A did:plc has 32 bytes, a did:web those of a domain name.
const MAX_DID: usize = 300;
/// How far clocks may differ, in seconds.
const MAX_SKEW_S: u64 = 300;

/// Who looked at a record's bytes before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Nobody: the CID is compared with the record.
    Nothing,
    /// Its CID was compared with its block, or it comes from an index's export.
    Cids,
}

/// A record that may be stored.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) address: Address,
    pub(crate) cid: Cid,
    pub(crate) rev: Tid,
    pub(crate) json: Box<str>,
    pub(crate) row: Row,
}

/// A change that may be applied.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Put(Box<Record>),
    /// A record that was refused: an older version of it is no longer what its author says.
    Refused {
        address: Address,
        rev: Tid,
    },
    Delete {
        address: Address,
        rev: Tid,
    },
    Account {
        did: Did,
        status: AccountStatus,
        at_ms: i64,
    },
    Identity {
        did: Did,
        handle: Option<Handle>,
        pds: Option<String>,
    },
    Listed {
        did: Did,
        rev: Tid,
    },
    Restored(Box<Restored>),
}

impl Act {
    pub(crate) fn did(&self) -> &Did {
        match self {
            Self::Put(record) => &record.address.did,
            Self::Refused { address, .. } | Self::Delete { address, .. } => &address.did,
            Self::Account { did, .. } | Self::Identity { did, .. } | Self::Listed { did, .. } => did,
            Self::Restored(restored) => &restored.author.did,
        }
    }

    /// The record it is about, where it is about one.
    pub(crate) fn address(&self) -> Option<&Address> {
        match self {
            Self::Put(record) => Some(&record.address),
            Self::Refused { address, .. } | Self::Delete { address, .. } => Some(address),
            _ => None,
        }
    }
}

/// A batch that went through the door.
#[derive(Debug, Clone, Default)]
pub struct Admitted {
    pub(crate) cursor: Option<SourceCursor>,
    pub(crate) fence: Option<Fence>,
    pub(crate) acts: Vec<Act>,
    pub(crate) rejected: Refusals,
    pub(crate) ignored: u64,
    pub(crate) notes: Vec<Note>,
}

impl Admitted {
    /// How much was refused, by reason.
    #[must_use]
    pub fn rejected(&self) -> BTreeMap<Reason, u64> {
        let mut by_reason = BTreeMap::new();
        for (reason, _, count) in self.rejected.iter() {
            *by_reason.entry(reason).or_default() += count;
        }
        by_reason
    }

    /// How many changes were of collections that are not kept.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
}

/// Holds a batch against the lexicons, at the time `now`. Does nothing but think, so it may run beside the store.
#[must_use]
pub fn admit(batch: Batch, trust: Trust, now: Timestamp) -> Admitted {
    let mut admitted = Admitted { cursor: batch.cursor, fence: batch.fence, ..Admitted::default() };
    for change in batch.changes {
        let act = match change {
            Change::Put(put) => {
                let Some(family) = family(put.address.collection.as_str()) else {
                    admitted.ignored += 1;
                    continue;
                };
                let Put { address, cid, rev, json } = *put;
                if !is_account(&address.did) {
                    admitted.rejected.record(Reason::UnknownDid, address.collection.as_str());
                    continue;
                }
                if is_future(&rev, now) {
                    admitted.rejected.record(Reason::FutureRev, address.collection.as_str());
                    continue;
                }
                match examine(family, &address, &cid, &rev, &json, trust) {
                    Ok((json, row)) => Act::Put(Box::new(Record { address, cid, rev, json, row })),
                    Err(reason) => {
                        admitted.rejected.record(reason, address.collection.as_str());
                        Act::Refused { address, rev }
                    }
                }
            }
            Change::Delete { address, rev } | Change::RestoredGone { address, rev } => {
                if family(address.collection.as_str()).is_none() || is_future(&rev, now) || !is_account(&address.did) {
                    admitted.ignored += 1;
                    continue;
                }
                Act::Delete { address, rev }
            }
            Change::Account { did, .. } | Change::Identity { did, .. } | Change::Listed { did, .. }
                if !is_account(&did) =>
            {
                admitted.rejected.other(Reason::UnknownDid);
                continue;
            }
            Change::Listed { rev, .. } if is_future(&rev, now) => {
                admitted.rejected.other(Reason::FutureRev);
                continue;
            }
            // A time in the future would keep everything that comes after it from being news.
            Change::Account { did, status, at_ms } => {
                Act::Account { did, status, at_ms: at_ms.min(now.as_millisecond()) }
            }
            Change::Identity { did, handle, pds } => Act::Identity { did, handle: handle.map(|h| h.normalized()), pds },
            Change::Listed { did, rev } => Act::Listed { did, rev },
            Change::Restored(restored) => Act::Restored(restored),
        };
        admitted.acts.push(act);
    }
    admitted
}

/// Whether it is a DID that accounts have.
fn is_account(did: &Did) -> bool {
    let did = did.as_str();
    did.len() <= MAX_DID && (did.starts_with("did:plc:") || did.starts_with("did:web:"))
}

/// Whether a revision is later than any clock is ahead of ours.
pub(crate) fn is_future(rev: &Tid, now: Timestamp) -> bool {
    let horizon = u64::try_from(now.as_microsecond()).unwrap_or_default().saturating_add(MAX_SKEW_S * 1_000_000);
    rev.micros() > horizon
}

/// What is to be stored of a record, or why nothing is.
fn examine(
    family: Family,
    address: &Address,
    cid: &Cid,
    rev: &Tid,
    json: &str,
    trust: Trust,
) -> Result<(Box<str>, Row), Reason> {
    if json.len() > MAX_JSON || has_more_values_than(json, MAX_RECORD) {
        return Err(Reason::TooLarge);
    }
    let mut record: Value = serde_json::from_str(json).map_err(|_| Reason::NoObject)?;
    if !record.is_object() {
        return Err(Reason::NoObject);
    }
    match trust {
        Trust::Nothing => {
            let (block, found) = record_cid(&record).map_err(|_| Reason::DataModel)?;
            if block.len() > MAX_RECORD {
                return Err(Reason::TooLarge);
            }
            if found != *cid {
                return Err(Reason::CidMismatch);
            }
        }
        Trust::Cids => {
            let value = data::Value::from_json(&record).map_err(|_| Reason::DataModel)?;
            // No JSON is shorter than the block.
            if json.len() > MAX_RECORD && value.to_dag_cbor().len() > MAX_RECORD {
                return Err(Reason::TooLarge);
            }
        }
    }
    let collection = address.collection.as_str();
    let catalog = Catalog::bundled();
    // A collection without a lexicon here is held against the data model alone; so is what is encrypted, of which its own
    // app writes nothing else.
    let is_readable = !(family == Family::Tiles && is_encrypted(&record));
    let rkey = Some(address.rkey.as_str());
    if is_readable && catalog.is_valid_record(collection, &record, rkey) == Ok(false) {
        let violations = catalog.validate_record(collection, &record, rkey).unwrap_or_default();
        let rule = violations.first().map_or(Rule::Type, |violation| violation.rule);
        return Err(Reason::Lexicon(LexiconRule(rule)));
    }
    // The app leaves the type out where it encrypts.
    let is_typed = is_readable || record.get("$type").is_some();
    if is_typed && let Some(rule) = without_lexicon(family, address, &record) {
        return Err(Reason::Lexicon(LexiconRule(rule)));
    }
    let row = derive(family, address, rev, &record).map_err(|misfit| match misfit {
        Misfit::ForeignSession => Reason::ForeignSession,
        Misfit::Unreadable => Reason::DataModel,
    })?;
    if row.tally.withheld > 0 && family == Family::Message {
        make_bare(&mut record);
    }
    // Written anew: of a name that stands twice, only what was looked at.
    Ok((record.to_string().into(), row))
}

/// Whether JSON text is of more values than `most`. To read it takes many times the room of the text; each value takes a
/// byte of a block at least.
fn has_more_values_than(json: &str, most: usize) -> bool {
    // Each takes two bytes of text at least.
    if json.len() <= 2 * most {
        return false;
    }
    let (mut values, mut is_text, mut is_escaped) = (1, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' if !is_text => values += 1,
            _ => {}
        }
    }
    values > most
}

/// What every schema says, for the records whose schema is not here.
fn without_lexicon(family: Family, address: &Address, record: &Value) -> Option<Rule> {
    let is_named = record.get("$type").and_then(Value::as_str) == Some(address.collection.as_str());
    let is_single = matches!(family, Family::Profile | Family::Autonomy);
    match (is_named, is_single && address.rkey.as_str() != "self") {
        (false, _) => Some(Rule::RecordType),
        (true, true) => Some(Rule::RecordKey),
        (true, false) => None,
    }
}

/// What a turn holds back is not stored, even where its record forgot to leave it out.
fn make_bare(record: &mut Value) {
    if let Some(fields) = record.as_object_mut() {
        fields.retain(|name, _| matches!(name.as_str(), "$type" | "session" | "role" | "createdAt" | "withheld"));
        fields.insert("text".to_owned(), Value::String(String::new()));
    }
}

/// What follows from a record that was stored, at the revision it was stored with.
pub(crate) fn derive_stored(address: &Address, rev: &Tid, json: &str) -> Option<Row> {
    let record: Value = serde_json::from_str(json).ok()?;
    derive(family(address.collection.as_str())?, address, rev, &record).ok()
}

/// What an account's records say of it, put together.
pub(crate) fn merge_profile(profile: &mut Profile, collection: &str, said: Option<Profile>) {
    let said = said.unwrap_or_default();
    if collection == crate::family::AUTONOMY {
        profile.autonomy = said.autonomy;
    } else {
        profile.display_name = said.display_name;
        profile.self_labels = said.self_labels;
    }
}
