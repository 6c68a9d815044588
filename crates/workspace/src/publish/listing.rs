//! What a repository really holds of a conversation.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use onrecord_lexicon::{Cid, Nsid, Rkey, data};
use onrecord_record::{
    Existing,
    aligned::{MESSAGE, SESSION},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::Target;
use crate::{Error, Place, Publication, Workspace};

/// A repository's records of one conversation, and the message keys that others of its conversations use.
#[derive(Debug, Default)]
pub struct Listing {
    /// Place → CID of the conversation's session record and of the messages that name it.
    pub existing: Existing,
    taken: HashSet<String>,
}

#[derive(Deserialize)]
struct SessionOf<'a> {
    #[serde(borrow)]
    session: Option<Cow<'a, str>>,
}

impl Listing {
    /// Lists what `target` holds of the conversation whose session record is at `uri`.
    ///
    /// # Errors
    /// The store or the server cannot be read; [`Error::LyingServer`] if a record is not what its CID says.
    pub async fn of(workspace: &Workspace, target: &Target, uri: &str) -> Result<Self, Error> {
        match target {
            Target::Shelf => workspace.list_shelf(uri),
            Target::Account(session) => {
                let mut listing = Self::default();
                let repo = session.repo();
                let mut parts = uri.rsplit('/');
                let (rkey, collection) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let (rkey, collection) = (Rkey::parse(rkey)?, Nsid::parse(collection)?);
                if let Some(record) = repo.get_record(&collection, &rkey).await? {
                    let cid = checked(collection.as_str(), &rkey, record.cid, &record.value)?;
                    listing.existing.insert((collection.to_string(), rkey), cid);
                }
                // In the other families that one record is all there is.
                if collection.as_str() != SESSION {
                    return Ok(listing);
                }
                let mut pages = repo.list_records(&Nsid::parse(MESSAGE)?, false);
                while let Some(page) = pages.next().await? {
                    for record in page {
                        // A record of someone else's making may have no session, or one that is no text.
                        let of = serde_json::from_str::<SessionOf<'_>>(record.value.get()).ok().and_then(|r| r.session);
                        if of.as_deref() == Some(uri) {
                            let cid = checked(MESSAGE, &record.rkey, record.cid, &record.value)?;
                            listing.existing.insert((MESSAGE.to_owned(), record.rkey), cid);
                        } else {
                            listing.taken.insert(record.rkey.to_string());
                        }
                    }
                }
                Ok(listing)
            }
        }
    }

    /// Whether a message of another conversation has that key.
    #[must_use]
    pub fn is_taken(&self, key: &str) -> bool {
        self.taken.contains(key)
    }
}

/// The record's CID, if it is what the server says.
pub(super) fn checked(collection: &str, rkey: &Rkey, theirs: Cid, value: &RawValue) -> Result<Cid, Error> {
    let json: Value = serde_json::from_str(value.get())?;
    match data::record_cid(&json) {
        Ok((_, ours)) if ours != theirs => {
            Err(Error::LyingServer { collection: collection.to_owned(), rkey: rkey.to_string(), ours, theirs })
        }
        // Outside the data model (by another hand): nothing to compare with, and never equal to a record of ours.
        _ => Ok(theirs),
    }
}

impl Workspace {
    fn list_shelf(&self, uri: &str) -> Result<Listing, Error> {
        let mut listing = Listing::default();
        for publication in self.publications()?.iter().filter(|p| p.repo.as_str() == crate::SHELF) {
            let records = self.ledger(publication)?;
            if publication.uri() == uri {
                listing.existing = records.into_iter().filter_map(|(place, cid)| Some((place, cid?))).collect();
            } else {
                listing.taken.extend(records.into_keys().filter(|(c, _)| c == MESSAGE).map(|(_, r)| r.to_string()));
            }
        }
        Ok(listing)
    }
}

/// How a repository differs from what the ledger says about one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Drift {
    /// In the ledger, not in the repository.
    pub missing: Vec<String>,
    /// In both, with another content.
    pub changed: Vec<String>,
    /// In the repository, not in the ledger.
    pub unknown: Vec<String>,
}

impl Drift {
    /// Compares the repository with the ledger.
    ///
    /// # Errors
    /// See [`Listing::of`].
    pub async fn of(workspace: &Workspace, target: &Target, publication: &Publication) -> Result<Self, Error> {
        let listing = Listing::of(workspace, target, &publication.uri()).await?;
        Ok(Self::between(publication, &workspace.ledger(publication)?, &listing.existing))
    }

    /// Compares what the ledger knows of a publication with what is there.
    pub(super) fn between(publication: &Publication, known: &HashMap<Place, Option<Cid>>, existing: &Existing) -> Self {
        let name = |(collection, rkey): &Place| format!("at://{}/{collection}/{rkey}", publication.repo);
        let mut drift = Self::default();
        for (place, cid) in known.iter().filter_map(|(place, cid)| Some((place, cid.as_ref()?))) {
            match existing.get(place) {
                None => drift.missing.push(name(place)),
                Some(there) if there != cid => drift.changed.push(name(place)),
                Some(_) => {}
            }
        }
        let unknown = existing.keys().filter(|place| !known.get(*place).is_some_and(Option::is_some));
        drift.unknown = unknown.map(name).collect();
        drift.missing.sort();
        drift.changed.sort();
        drift
    }

    /// Whether the two agree.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.changed.is_empty() && self.unknown.is_empty()
    }
}
