//! What the network publishes, on the pages: from the index.

use std::sync::Arc;

use jiff::Timestamp;
use onrecord_index::{ConversationHead, Index, Kept, Recent, Turn};
use onrecord_lexicon::{Datetime, Did, Nsid};
use onrecord_record::{
    Family, Published, aligned,
    tiles::{self, Snapshot, is_encrypted},
};
use onrecord_web::{Address, Found, ListEntry, Repo, SourceError, Standing, model_name};
use serde_json::Value;
use tokio::runtime::Handle;

/// How many conversations of the index are listed, the newest.
const LISTED: u32 = 1_000;
/// How many turns are read at once.
const TURNS: u32 = 1_000;

/// An index, for pages that wait for their answers.
pub struct Public {
    pub index: Arc<dyn Index>,
    pub runtime: Handle,
}

impl Public {
    /// The newest conversations.
    pub fn heads(&self) -> Result<Vec<ConversationHead>, SourceError> {
        let mut heads = self.runtime.block_on(self.index.recent(&Recent::All, None, LISTED))?.items;
        // Those of which there is a page.
        heads.retain(|head| family_of(head.address.collection.as_str()).is_some());
        Ok(heads)
    }

    pub fn find(&self, address: &Address) -> Result<Found, SourceError> {
        self.runtime.block_on(self.look(address))
    }

    async fn look(&self, address: &Address) -> Result<Found, SourceError> {
        let did = match &address.repo {
            Repo::Did(did) => did.clone(),
            Repo::Handle(handle) => match self.index.resolve(handle).await? {
                Some(did) => did,
                None => return Ok(Found::Unknown),
            },
        };
        let collections = match &address.collection {
            Some(collection) => vec![collection.clone()],
            None => [aligned::SESSION, tiles::SNAPSHOT].into_iter().map(Nsid::parse).collect::<Result<_, _>>()?,
        };
        let mut found = Found::Unknown;
        for collection in collections {
            let at = onrecord_index::Address { did: did.clone(), collection, rkey: address.rkey.clone() };
            match self.at(&at).await? {
                Found::Unknown => {}
                Found::Gone => found = Found::Gone,
                here => return Ok(here),
            }
        }
        Ok(found)
    }

    async fn at(&self, at: &onrecord_index::Address) -> Result<Found, SourceError> {
        let Some(family) = family_of(at.collection.as_str()) else { return Ok(Found::Unknown) };
        let first = match self.index.conversation(at, None, TURNS).await? {
            Kept::Here(first) => first,
            Kept::Gone => return Ok(Found::Gone),
            Kept::Unknown => {
                return Ok(match self.index.record(at).await? {
                    Kept::Here(record) if is_encrypted(&value(&record)?) => Found::Encrypted,
                    _ => Found::Unknown,
                });
            }
        };
        let (mut turns, mut cursor) = (first.turns.items, first.turns.cursor);
        while let Some(after) = &cursor {
            // Gone between two pages: the first one's counts would not fit the rest.
            let Kept::Here(next) = self.index.conversation(at, Some(after), TURNS).await? else {
                return Ok(Found::Gone);
            };
            turns.extend(next.turns.items);
            cursor = next.turns.cursor;
        }
        let published = published(family, &first.head, &first.record, &turns)?;
        Ok(Found::Conversation(Box::new(published)))
    }
}

fn family_of(collection: &str) -> Option<Family> {
    match collection {
        aligned::SESSION => Some(Family::ClickAligned),
        tiles::SNAPSHOT => Some(Family::Tiles),
        _ => None,
    }
}

fn value(turn: &Turn) -> Result<Value, SourceError> {
    Ok(serde_json::from_str(turn.record.get())?)
}

fn published(family: Family, head: &ConversationHead, record: &Turn, turns: &[Turn]) -> Result<Published, SourceError> {
    let (did, handle): (&Did, _) = (&head.author.did, head.author.handle.clone());
    let (rkey, cid) = (record.address.rkey.clone(), record.cid.clone());
    if family == Family::ClickAligned {
        let messages = turns
            .iter()
            .map(|turn| Ok((turn.address.rkey.clone(), turn.cid.clone(), value(turn)?)))
            .collect::<Result<Vec<_>, SourceError>>()?;
        // What cannot be read was not let in.
        let (published, _) = aligned::published(did, handle, (rkey, cid, &value(record)?), messages)?;
        return Ok(published);
    }
    let snapshot = Snapshot::open(tiles::SNAPSHOT, value(record)?, None)?;
    let reading = tiles::read(&snapshot, &record.address.uri());
    Ok(tiles::published(did, handle, family, rkey, &cid, &reading)?)
}

/// A line of the list.
pub fn entry(head: &ConversationHead) -> Option<ListEntry> {
    let title = head.title.as_deref().or(head.opening.as_deref()).unwrap_or("(no opening message)");
    let started = Timestamp::from_millisecond(head.started_ms).unwrap_or_default();
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    Some(ListEntry {
        repo: head.author.did.to_string(),
        handle: head.author.handle.as_ref().map(ToString::to_string),
        family: family_of(head.address.collection.as_str())?,
        rkey: head.address.rkey.to_string(),
        title: title.to_owned(),
        created_at: Datetime::from_timestamp(started).to_string(),
        turns: count(head.turns),
        withheld: count(head.withheld),
        models: head.models.iter().map(|model| model_name(model).into_owned()).collect(),
        standing: Standing::Repository,
    })
}
