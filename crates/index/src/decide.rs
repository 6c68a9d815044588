//! What a batch does to the store, decided apart from any store.
//!
//! Both stores load what is known of the records at hand, ask [`decide`], and write what it says: one set of rules, and
//! what is replayed or comes late does nothing in either.

use std::collections::{BTreeMap, HashMap, HashSet};

use onrecord_lexicon::{Cid, Did, Nsid, Rkey};

use crate::{
    account::Profile,
    admit::{Act, Record, merge_profile},
    change::{AccountStatus, Address, rev_number},
    refusal::{Reason, Refusals},
    row::{Kind, NameKind, Row, Tally},
};

/// What a store holds of an account.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownAccount {
    /// The store's own key for it.
    pub(crate) id: i64,
    pub(crate) status: AccountStatus,
    /// Since when, as its source says it.
    pub(crate) status_ms: i64,
    /// What is not newer than this and not stored is gone.
    pub(crate) floor: i64,
    pub(crate) profile: Profile,
}

impl KnownAccount {
    /// From its columns.
    pub(crate) fn of_columns(id: i64, status: (i16, i64), floor: i64, profile: Option<&str>) -> Self {
        let profile: Option<Profile> = profile.and_then(|json| serde_json::from_str(json).ok());
        Self {
            id,
            status: AccountStatus::of_number(status.0),
            status_ms: status.1,
            floor,
            profile: profile.unwrap_or_default(),
        }
    }
}

/// A record as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// The store's own key for it.
    pub(crate) id: i64,
    pub(crate) rev: i64,
    pub(crate) cid: Cid,
    pub(crate) row: Row,
}

impl Stored {
    /// Whether it is `record` already, but for the revision. What is distrusted is not.
    fn is(&self, record: &Record) -> bool {
        self.rev > 0 && self.cid == record.cid && self.row == record.row
    }
}

/// What is known of the records and accounts that a segment is about.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) accounts: HashMap<Did, KnownAccount>,
    pub(crate) records: HashMap<Address, Stored>,
    pub(crate) gone: HashMap<Address, i64>,
}

/// The record of a conversation, by repository, collection and key.
pub(crate) type ConversationKey = (Did, Nsid, Rkey);

/// What is shown of a conversation's own record.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) title: Option<String>,
    pub(crate) at_ms: i64,
    pub(crate) published_us: i64,
}

/// How a conversation changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConversationChange {
    pub(crate) tally: Tally,
    pub(crate) names: BTreeMap<(NameKind, String), i64>,
    /// Its own record came, or went.
    pub(crate) head: Option<Option<Head>>,
}

/// All of them.
pub(crate) type Conversations = BTreeMap<ConversationKey, ConversationChange>;

/// What is to be written.
#[derive(Debug, Default)]
pub(crate) struct Effects<'a> {
    pub(crate) puts: Vec<(&'a Record, Option<&'a Stored>)>,
    /// Records that are the same as before, at a newer revision.
    pub(crate) renewed: Vec<&'a Record>,
    pub(crate) removes: Vec<(&'a Address, &'a Stored)>,
    pub(crate) gone: Vec<(&'a Address, i64)>,
    pub(crate) back: Vec<&'a Address>,
    pub(crate) new_accounts: Vec<&'a Did>,
    pub(crate) profiles: HashMap<&'a Did, Profile>,
    pub(crate) conversations: Conversations,
    pub(crate) rejected: Refusals,
    pub(crate) stale: u64,
    pub(crate) ignored: u64,
}

/// Acts that can be looked at together: first those about records, each record once, then those about accounts, each account
/// once.
#[derive(Debug, Default)]
pub(crate) struct Segment<'a> {
    pub(crate) records: Vec<&'a Act>,
    pub(crate) accounts: Vec<&'a Act>,
}

/// Cuts a batch so that the order within each account is kept. Nearly always one segment.
pub(crate) fn segments(acts: &[Act]) -> Vec<Segment<'_>> {
    #[derive(Default)]
    struct Level<'a> {
        number: usize,
        seen: HashSet<&'a Address>,
        is_closed: bool,
    }
    let mut levels: HashMap<&Did, Level<'_>> = HashMap::new();
    let mut segments: Vec<Segment<'_>> = Vec::new();
    for act in acts {
        let level = levels.entry(act.did()).or_default();
        if level.is_closed || act.address().is_some_and(|address| level.seen.contains(address)) {
            *level = Level { number: level.number + 1, ..Level::default() };
        }
        while segments.len() <= level.number {
            segments.push(Segment::default());
        }
        let Some(segment) = segments.get_mut(level.number) else { continue };
        if let Some(address) = act.address() {
            level.seen.insert(address);
            segment.records.push(act);
        } else {
            level.is_closed = true;
            segment.accounts.push(act);
        }
    }
    segments
}

/// What the acts about records of a segment do, given what is known of each.
pub(crate) fn decide<'a>(acts: &[&'a Act], known: &'a Known) -> Effects<'a> {
    let mut effects = Effects::default();
    let mut new = HashSet::new();
    for act in acts {
        let Some(address) = act.address() else { continue };
        let account = known.accounts.get(&address.did);
        let stored = known.records.get(address);
        let latest = [stored.map(|s| s.rev), known.gone.get(address).copied(), account.map(|a| a.floor)];
        let latest = latest.into_iter().flatten().max();
        let is_late = |rev: i64| latest.is_some_and(|latest| rev <= latest);
        match act {
            Act::Put(record) => {
                if account.is_none() && record.row.kind == Kind::Profile && !new.contains(&address.did) {
                    // Everybody has a profile; those are kept who put something on record.
                    effects.ignored += 1;
                } else if account.is_some_and(|a| a.status == AccountStatus::Deleted) {
                    effects.rejected.record(Reason::AccountDeleted, address.collection.as_str());
                } else if is_late(rev_number(&record.rev)) {
                    effects.stale += 1;
                } else if stored.is_some_and(|stored| stored.is(record)) {
                    effects.renewed.push(record);
                } else {
                    if account.is_none() && new.insert(&address.did) {
                        effects.new_accounts.push(&address.did);
                    }
                    if known.gone.contains_key(address) {
                        effects.back.push(address);
                    }
                    effects.put(record, stored, account);
                }
            }
            Act::Delete { rev, .. } | Act::Refused { rev, .. } => {
                let rev = rev_number(rev);
                let is_refused = matches!(act, Act::Refused { .. });
                let is_known = account.is_some_and(|a| a.status != AccountStatus::Deleted);
                if !is_known && !new.contains(&address.did) {
                    effects.ignored += u64::from(!is_refused);
                } else if is_late(rev) {
                    effects.stale += u64::from(!is_refused);
                } else {
                    if let Some(stored) = stored {
                        effects.remove(address, stored, account);
                    }
                    if stored.is_some() || !is_refused {
                        effects.gone.push((address, rev));
                    }
                }
            }
            Act::Account { .. } | Act::Identity { .. } | Act::Listed { .. } | Act::Restored(_) => {}
        }
    }
    effects
}

impl<'a> Effects<'a> {
    fn put(&mut self, record: &'a Record, stored: Option<&'a Stored>, account: Option<&KnownAccount>) {
        let address = &record.address;
        if let Some(stored) = stored {
            count(&mut self.conversations, &address.did, &stored.row, -1);
        }
        count(&mut self.conversations, &address.did, &record.row, 1);
        if record.row.kind == Kind::Profile {
            self.say(address, account, record.row.profile.clone());
        }
        self.puts.push((record, stored));
    }

    fn remove(&mut self, address: &'a Address, stored: &'a Stored, account: Option<&KnownAccount>) {
        count(&mut self.conversations, &address.did, &stored.row, -1);
        if stored.row.kind == Kind::Profile {
            self.say(address, account, None);
        }
        self.removes.push((address, stored));
    }

    fn say(&mut self, address: &'a Address, account: Option<&KnownAccount>, said: Option<Profile>) {
        let profile = self
            .profiles
            .entry(&address.did)
            .or_insert_with(|| account.map(|account| account.profile.clone()).unwrap_or_default());
        merge_profile(profile, address.collection.as_str(), said);
    }
}

/// Adds a record to what its conversation counts, or with -1 takes it away.
pub(crate) fn count(conversations: &mut Conversations, did: &Did, row: &Row, times: i64) {
    let Some((collection, rkey)) = &row.conversation else { return };
    let change = conversations.entry((did.clone(), collection.clone(), rkey.clone())).or_default();
    change.tally.add(row.tally, times);
    for (kind, name, n) in &row.names {
        *change.names.entry((*kind, name.clone())).or_default() += times * n;
    }
    if row.kind == Kind::Conversation {
        change.head = Some((times > 0).then(|| Head {
            title: row.title.clone(),
            at_ms: row.at_ms,
            published_us: row.published_us,
        }));
    }
}
