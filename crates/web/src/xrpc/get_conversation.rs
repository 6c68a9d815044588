//! `dev.onrecord.getConversation`

use onrecord_index::{Address, ConversationHead, Cursor, Kept, Shown};
use onrecord_lexicon::{AtUri, Cid};
use onrecord_record::{
    Family, Published,
    aligned::{self, MESSAGE, SESSION},
    tiles::{self, LEGACY, SNAPSHOT, Snapshot, is_encrypted},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Xrpc, XrpcError,
    view::{Head, Turn},
};
use crate::view::{ConversationView, Standing};

#[derive(Deserialize)]
pub(super) struct Params {
    uri: AtUri,
    limit: u32,
    cursor: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Output {
    conversation: Head,
    cid: Cid,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discussion: Option<String>,
    turns: Vec<Turn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl Xrpc {
    pub(super) async fn get_conversation(&self, params: Params) -> Result<Output, XrpcError> {
        let address = self.address(&params.uri).await?.ok_or_else(XrpcError::no_conversation)?;
        if self.is_taken_back(&address).await? {
            return Err(XrpcError::conversation_gone());
        }
        let is_one_record = matches!(address.collection.as_str(), SNAPSHOT | LEGACY);
        // Of one record the turns are counted out here, and the cursor is a number.
        let after = params.cursor.as_deref().filter(|_| !is_one_record).map(Cursor::from_text);
        let found = match self.index.conversation(&address, after.as_ref(), params.limit).await? {
            Kept::Here(found) => found,
            Kept::Gone => return Err(XrpcError::conversation_gone()),
            Kept::Hidden(why) => return Err(XrpcError::conversation_hidden(&why)),
            Kept::Unknown => return Err(self.why_unknown(&address).await?),
        };
        let record = value(&found.record)?;
        let (published, start, cursor) = if is_one_record {
            let published = snapshot(&found.head, &found.record, record)?;
            let start = params.cursor.as_deref().map_or(Ok(0), place)?;
            let end = start.saturating_add(usize::try_from(params.limit).unwrap_or(usize::MAX));
            let cursor = (end < published.messages.len()).then(|| format!("n~{end}"));
            (published, start, cursor)
        } else {
            let turns = found.turns.items.iter().filter_map(Shown::turn);
            let turns = turns.map(|turn| Ok((turn.address.rkey.clone(), turn.cid.clone(), value(turn)?)));
            let turns = turns.collect::<Result<Vec<_>, XrpcError>>()?;
            let session = (address.rkey.clone(), found.record.cid.clone(), &record);
            let (published, _) = aligned::published(&address.did, found.head.author.handle.clone(), session, turns)
                .map_err(XrpcError::failed)?;
            (published, 0, found.turns.cursor.map(|cursor| cursor.as_str().to_owned()))
        };
        let view = ConversationView::new(&published, Standing::Repository);
        let uri = |rkey: &str| (!is_one_record).then(|| format!("at://{}/{MESSAGE}/{rkey}", address.did));
        let limit = usize::try_from(params.limit).unwrap_or(usize::MAX);
        let mut turns: Vec<Turn> =
            view.turns.iter().skip(start).take(limit).map(|turn| Turn::new(turn, uri(turn.rkey))).collect();
        // What is hidden stands in its place.
        for hidden in found.turns.items.iter().filter_map(|shown| match shown {
            Shown::Hidden(hidden) => Some(hidden),
            Shown::Turn(_) => None,
        }) {
            turns.push(hidden.into());
        }
        if !is_one_record {
            turns.sort_by(|one, other| one.uri().cmp(&other.uri()));
        }
        Ok(Output {
            cid: found.record.cid,
            description: view.description.map(str::to_owned),
            discussion: view.discussion.map(str::to_owned),
            turns,
            conversation: found.head.into(),
            cursor,
        })
    }

    /// What the list says of the conversation at `uri`.
    pub(crate) async fn head(&self, uri: &AtUri) -> Result<ConversationHead, XrpcError> {
        let address = self.address(uri).await?.ok_or_else(XrpcError::no_conversation)?;
        if self.is_taken_back(&address).await? {
            return Err(XrpcError::conversation_gone());
        }
        match self.index.conversation(&address, None, 1).await? {
            Kept::Here(found) => Ok(found.head),
            Kept::Gone => Err(XrpcError::conversation_gone()),
            Kept::Hidden(why) => Err(XrpcError::conversation_hidden(&why)),
            Kept::Unknown => Err(self.why_unknown(&address).await?),
        }
    }

    /// Of an address at which there is no conversation: whether there is one that nobody can read here.
    async fn why_unknown(&self, address: &Address) -> Result<XrpcError, XrpcError> {
        Ok(match self.index.record(address).await? {
            Kept::Here(record) if is_encrypted(&value(&record)?) => XrpcError::encrypted(),
            _ => XrpcError::no_conversation(),
        })
    }
}

/// The record as JSON.
pub(super) fn value(turn: &onrecord_index::Turn) -> Result<Value, XrpcError> {
    serde_json::from_str(turn.record.get()).map_err(XrpcError::failed)
}

/// A conversation in one record.
fn snapshot(head: &ConversationHead, turn: &onrecord_index::Turn, record: Value) -> Result<Published, XrpcError> {
    let address = &turn.address;
    let snapshot = Snapshot::open(address.collection.as_str(), record, None).map_err(XrpcError::failed)?;
    let reading = tiles::read(&snapshot, &address.uri());
    let (handle, rkey) = (head.author.handle.clone(), address.rkey.clone());
    tiles::published(&address.did, handle, Family::Tiles, rkey, &turn.cid, &reading).map_err(XrpcError::failed)
}

/// The turn at which a page of a conversation in one record begins.
fn place(cursor: &str) -> Result<usize, XrpcError> {
    cursor.strip_prefix("n~").and_then(|n| n.parse().ok()).ok_or_else(XrpcError::bad_cursor)
}

/// Whether the records of a collection are conversations.
pub(super) fn is_conversation(collection: &str) -> bool {
    matches!(collection, SESSION | SNAPSHOT | LEGACY)
}
