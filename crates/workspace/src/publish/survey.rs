//! Everything that a repository holds of conversations, beside what the ledger says; and a ledger made from it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashSet},
};

use jiff::Timestamp;
use onrecord_atproto::Repo;
use onrecord_lexicon::{Cid, Did, Handle, Nsid, Rkey};
use onrecord_record::{
    Family,
    aligned::{self, MESSAGE, SESSION},
    tiles::{self, SNAPSHOT},
};
use onrecord_transcript::Harness;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{Drift, listing::checked};
use crate::{Error, Place, Publication, Workspace};

/// What one listing of a repository found.
#[derive(Debug)]
pub struct Survey {
    /// The repository.
    pub repo: Did,
    /// Its handle.
    pub handle: Option<Handle>,
    records: BTreeMap<Place, Listed>,
}

#[derive(Debug)]
struct Listed {
    cid: Cid,
    /// The session that a message names.
    session: Option<String>,
    /// The record, where the ledger does not know it.
    json: Option<Box<RawValue>>,
}

/// A conversation in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Key of its session record.
    pub rkey: Rkey,
    /// How many records it has, the session's among them.
    pub records: usize,
    /// Its title.
    pub title: Option<String>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    session: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
}

impl Survey {
    /// Lists all that `repo` holds of conversations. Nobody need be signed in.
    ///
    /// # Errors
    /// The server or the store cannot be read; [`Error::LyingServer`] if a record is not what its CID says.
    pub async fn of(workspace: &Workspace, repo: &Repo, handle: Option<Handle>) -> Result<Self, Error> {
        let ours: Vec<_> = workspace.publications()?.into_iter().filter(|p| p.repo == *repo.did()).collect();
        let mut known = HashSet::new();
        let mut collections = BTreeSet::from([SESSION, MESSAGE, SNAPSHOT].map(str::to_owned));
        for publication in &ours {
            for (place, cid) in workspace.ledger(publication)? {
                collections.insert(place.0.clone());
                known.extend(cid.is_some().then_some(place));
            }
        }
        let mut records = BTreeMap::new();
        for collection in collections {
            let mut pages = repo.list_records(&Nsid::parse(&collection)?, false);
            while let Some(page) = pages.next().await? {
                for record in page {
                    let cid = checked(&collection, &record.rkey, record.cid, &record.value)?;
                    // A record of someone else's making may have no session, or one that is no text.
                    let session = serde_json::from_str::<Fields<'_>>(record.value.get()).ok().and_then(|f| f.session);
                    let session = session.map(Cow::into_owned);
                    let place = (collection.clone(), record.rkey);
                    let json = (!known.contains(&place)).then_some(record.value);
                    records.insert(place, Listed { cid, session, json });
                }
            }
        }
        Ok(Self { repo: repo.did().clone(), handle, records })
    }

    /// The keys of all session records.
    pub fn sessions(&self) -> impl Iterator<Item = &Rkey> {
        self.records.keys().filter(|(collection, _)| collection == SESSION).map(|(_, rkey)| rkey)
    }

    fn uri(&self, rkey: &Rkey) -> String {
        format!("at://{}/{SESSION}/{rkey}", self.repo)
    }

    /// How the repository differs from what the ledger says about one of its conversations.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn drift(&self, workspace: &Workspace, publication: &Publication) -> Result<Drift, Error> {
        let uri = publication.uri();
        let belongs = |place: &Place, listed: &Listed| {
            (place.0 == SESSION && place.1 == publication.rkey) || listed.session.as_ref() == Some(&uri)
        };
        let known = workspace.ledger(publication)?;
        let there = (self.records.iter())
            .filter(|(place, listed)| known.contains_key(*place) || belongs(place, listed))
            .map(|(place, listed)| (place.clone(), listed.cid.clone()))
            .collect();
        Ok(Drift::between(publication, &known, &there))
    }

    /// The conversations of the repository that the ledger does not know, oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn unknown(&self, workspace: &Workspace) -> Result<Vec<Unknown>, Error> {
        let mut unknown = Vec::new();
        for rkey in self.sessions() {
            if workspace.publication_at(&self.repo, rkey)?.is_none() {
                let uri = self.uri(rkey);
                let messages = self.records.values().filter(|l| l.session.as_ref() == Some(&uri)).count();
                let json = self.records.get(&(SESSION.to_owned(), rkey.clone())).and_then(|l| l.json.as_ref());
                let fields = json.and_then(|json| serde_json::from_str::<Fields<'_>>(json.get()).ok());
                let title = fields.and_then(|f| f.title).map(Cow::into_owned);
                unknown.push(Unknown { rkey: rkey.clone(), records: 1 + messages, title });
            }
        }
        Ok(unknown)
    }

    /// The keys of the snapshots in the Tiles families that the ledger does not know. Most are another program's making, and
    /// none is a sign that something is amiss.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn unknown_snapshots(&self, workspace: &Workspace) -> Result<Vec<Rkey>, Error> {
        let mut unknown = Vec::new();
        for (_, rkey) in self.records.keys().filter(|(collection, _)| collection == SNAPSHOT) {
            if workspace.publication_at(&self.repo, rkey)?.is_none() {
                unknown.push(rkey.clone());
            }
        }
        Ok(unknown)
    }

    /// Takes a snapshot that the ledger does not know into it. What is encrypted stays so.
    ///
    /// # Errors
    /// [`Error::Record`] if it is no snapshot that could be shown; the store cannot be written.
    pub fn adopt_snapshot(&self, workspace: &mut Workspace, rkey: &Rkey) -> Result<(), Error> {
        let place = (SNAPSHOT.to_owned(), rkey.clone());
        let not_there = || Error::NotOnRecord { what: format!("at://{}/{SNAPSHOT}/{rkey}", self.repo) };
        let listed = self.records.get(&place).ok_or_else(not_there)?;
        let json = listed.json.as_ref().ok_or_else(not_there)?;
        let value: Value = serde_json::from_str(json.get())?;
        let family = if value.get("enc_content").is_some() { Family::TilesPrivate } else { Family::Tiles };
        if family == Family::Tiles {
            tiles::Snapshot::open(SNAPSHOT, value, None)?;
        }
        workspace.take_in(&self.repo, self.handle.as_ref(), family, rkey, &[(&place, &listed.cid, json.get())])
    }

    /// Messages of a conversation of this repository of which neither the repository nor the ledger has a session, by the
    /// session they name.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn orphans(&self, workspace: &Workspace) -> Result<BTreeMap<String, usize>, Error> {
        let ours = format!("at://{}/{SESSION}/", self.repo);
        let mut orphans = BTreeMap::new();
        for (_, listed) in self.records.iter().filter(|(place, _)| place.0 == MESSAGE) {
            let Some(session) = &listed.session else { continue };
            let Some(rkey) = session.strip_prefix(&ours).and_then(|rkey| Rkey::parse(rkey).ok()) else { continue };
            let is_there = self.records.contains_key(&(SESSION.to_owned(), rkey.clone()));
            if !is_there && workspace.publication_at(&self.repo, &rkey)?.is_none() {
                *orphans.entry(session.clone()).or_insert(0) += 1;
            }
        }
        Ok(orphans)
    }

    /// Takes a conversation that the ledger does not know into it, as the repository holds it.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if one of its records cannot be understood: it is another's making; the store cannot be written.
    pub fn adopt(&self, workspace: &mut Workspace, rkey: &Rkey) -> Result<(), Error> {
        let uri = self.uri(rkey);
        let mut session = None;
        let (mut messages, mut records) = (Vec::new(), Vec::new());
        for (place, listed) in &self.records {
            let is_session = place.0 == SESSION && place.1 == *rkey;
            if !is_session && listed.session.as_ref() != Some(&uri) {
                continue;
            }
            let Some(json) = &listed.json else { continue };
            let value: Value = serde_json::from_str(json.get())?;
            match is_session {
                true => session = Some((rkey.clone(), listed.cid.clone(), value)),
                false => messages.push((place.1.clone(), listed.cid.clone(), value)),
            }
            records.push((place, &listed.cid, json.get()));
        }
        let Some((rkey, cid, value)) = session else { return Err(Error::NotOnRecord { what: uri }) };
        // What the pages could not show is not taken in.
        let (_, unreadable) =
            aligned::published(&self.repo, self.handle.clone(), (rkey.clone(), cid, &value), messages)?;
        if let Some(unreadable) = unreadable.into_iter().next() {
            return Err(unreadable.into());
        }
        workspace.take_in(&self.repo, self.handle.as_ref(), Family::ClickAligned, &rkey, &records)
    }
}

impl Workspace {
    fn take_in(
        &mut self,
        repo: &Did,
        handle: Option<&Handle>,
        family: Family,
        rkey: &Rkey,
        records: &[(&Place, &Cid, &str)],
    ) -> Result<(), Error> {
        let now = Timestamp::now().to_string();
        let tx = self.db.transaction()?;
        let conversation: i64 = tx.query_row(
            "INSERT INTO conversation (harness, source_id, seen_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (harness, source_id) DO UPDATE SET seen_at = excluded.seen_at RETURNING id",
            (Harness::Atproto.as_str(), rkey.as_str(), &now),
            |row| row.get(0),
        )?;
        let publication: i64 = tx.query_row(
            "INSERT INTO publication (conversation, repo, rkey, handle, family, published_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
            (conversation, repo.as_str(), rkey.as_str(), handle.map(Handle::as_str), family.as_str(), &now),
            |row| row.get(0),
        )?;
        for ((collection, key), cid, json) in records {
            // Which turn a message carries only its transcript could say: its own key stands for that.
            let turn = (collection == MESSAGE).then_some(key.as_str());
            tx.prepare_cached(
                "INSERT INTO record (publication, collection, rkey, turn, part, cid, json) VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6)",
            )?
            .execute((publication, collection, key.as_str(), turn, cid.as_str(), json))?;
        }
        tx.execute(
            "DELETE FROM gone WHERE repo = ?1 AND collection = ?2 AND rkey = ?3",
            (repo.as_str(), family.collection(), rkey.as_str()),
        )?;
        tx.commit()?;
        Ok(())
    }
}
