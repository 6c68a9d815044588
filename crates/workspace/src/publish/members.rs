//! The list of a group's members, kept in the group's own repository.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use onrecord_atproto::{EncodedWrites, Identity, MAX_WRITES, Repo};
use onrecord_lexicon::{Cid, Datetime, Did, Nsid, Rkey};
use onrecord_record::{
    Action, MemberRecord, Write,
    aligned::{MEMBER, Unreadable},
};
use serde_json::Map;

use super::{
    Target,
    execute::{check_cids, to_wire},
};
use crate::Error;

/// A repository's list of members.
#[derive(Debug)]
pub struct Members {
    /// Whose list.
    pub repo: Did,
    /// The members, by key.
    pub list: Vec<Member>,
    /// Records of the collection that are no members.
    pub unreadable: Vec<Unreadable>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Key of the record: the DID, if it is one of ours.
    pub rkey: Rkey,
    /// Its CID.
    pub cid: Cid,
    /// The record.
    pub record: MemberRecord,
}

impl Members {
    /// Reads the list. Nobody need be signed in.
    ///
    /// # Errors
    /// The server cannot be read.
    pub async fn of(repo: &Repo) -> Result<Self, Error> {
        let mut members = Self { repo: repo.did().clone(), list: Vec::new(), unreadable: Vec::new() };
        let mut pages = repo.list_records(&Nsid::parse(MEMBER)?, true);
        while let Some(page) = pages.next().await? {
            for record in page {
                let (rkey, cid) = (record.rkey, record.cid);
                match serde_json::from_str(record.value.get()) {
                    Ok(record) => members.list.push(Member { rkey, cid, record }),
                    Err(e) => members.unreadable.push(Unreadable { rkey, why: e.to_string() }),
                }
            }
        }
        Ok(members)
    }

    /// The writes after which all of `people` are members: none for one who is already, under the handle of today.
    ///
    /// # Errors
    /// A DID cannot be a record key.
    pub fn add(&self, people: &[Identity], now: Timestamp) -> Result<Vec<Write>, Error> {
        let known: HashMap<&str, &Member> = self.list.iter().map(|m| (m.rkey.as_str(), m)).collect();
        let mut seen = HashSet::new();
        let mut writes = Vec::new();
        for person in people.iter().filter(|person| seen.insert(person.did.clone())) {
            let known = known.get(person.did.as_str());
            let mut record = known.map_or_else(
                || MemberRecord {
                    subject: person.did.clone(),
                    handle: None,
                    added_at: Datetime::from_timestamp(now),
                    extra: Map::new(),
                },
                |member| member.record.clone(),
            );
            record.subject = person.did.clone();
            // A handle that is not known today is no reason to forget that of yesterday.
            record.handle = person.handle.clone().or(record.handle);
            if known.is_some_and(|member| member.record == record) {
                continue;
            }
            let encoded = record.encode()?;
            writes.push(Write {
                action: if known.is_some() { Action::Update } else { Action::Create },
                collection: MEMBER.to_owned(),
                rkey: encoded.rkey,
                cid: Some(encoded.cid),
                record: Some(encoded.json),
            });
        }
        Ok(writes)
    }

    /// The writes after which none of `people` is a member.
    #[must_use]
    pub fn remove(&self, people: &[Did]) -> Vec<Write> {
        let is_meant = |member: &&Member| people.contains(&member.record.subject);
        let delete = |member: &Member| Write {
            action: Action::Delete,
            collection: MEMBER.to_owned(),
            rkey: member.rkey.clone(),
            cid: None,
            record: None,
        };
        self.list.iter().filter(is_meant).map(delete).collect()
    }

    /// The member of that handle, as the list has it.
    #[must_use]
    pub fn by_handle(&self, handle: &str) -> Option<&Did> {
        let is_meant = |m: &&Member| m.record.handle.as_ref().is_some_and(|h| h.as_str().eq_ignore_ascii_case(handle));
        self.list.iter().find(is_meant).map(|m| &m.record.subject)
    }
}

/// Carries out writes to a list of members. What a run that failed had written, the next one finds.
///
/// # Errors
/// The server refuses or cannot be reached.
pub async fn write_members(target: &Target, writes: &[Write]) -> Result<(), Error> {
    // The shelf keeps conversations alone.
    let Target::Account(session) = target else { return Ok(()) };
    let repo = session.did();
    for batch in writes.chunks(MAX_WRITES) {
        let ops = batch.iter().map(to_wire).collect::<Result<Vec<_>, Error>>()?;
        let applied = session.send(&EncodedWrites::new(&repo, &ops, None, None)?).await?;
        check_cids(batch, &applied)?;
    }
    Ok(())
}
