//! `dev.onrecord.getTurn`

use onrecord_index::{Conversation, Kept};
use onrecord_lexicon::{AtUri, Cid};
use onrecord_record::aligned::{self, MESSAGE};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Xrpc, XrpcError,
    get_conversation::{is_conversation, value},
    view::{Head, Turn},
};
use crate::view::{ConversationView, Standing};

#[derive(Deserialize)]
pub(super) struct Params {
    uri: AtUri,
}

#[derive(Serialize)]
pub(super) struct Output {
    uri: String,
    cid: Cid,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<Turn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<Head>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

impl Xrpc {
    pub(super) async fn get_turn(&self, params: Params) -> Result<Output, XrpcError> {
        let address = self.address(&params.uri).await?.ok_or_else(XrpcError::no_turn)?;
        let record = match self.index.record(&address).await? {
            Kept::Here(record) => record,
            Kept::Gone => return Err(XrpcError::turn_gone()),
            Kept::Hidden(why) => return Err(XrpcError::turn_hidden(&why)),
            Kept::Unknown => return Err(XrpcError::no_turn()),
        };
        let conversation = self.conversation_of(&record).await?;
        let (is_turn, is_conversation) =
            (address.collection.as_str() == MESSAGE, is_conversation(address.collection.as_str()));
        let turn = match (&conversation, is_turn) {
            (Some(conversation), true) => Some(turn(conversation, &record)?),
            // It came, and the conversation it belongs to did not.
            (None, true) => return Err(XrpcError::no_turn()),
            (_, false) => None,
        };
        Ok(Output {
            uri: address.uri(),
            // What a withheld turn holds beside that is not for readers, so no record of a turn is given as it is.
            value: if is_turn || is_conversation { None } else { Some(value(&record)?) },
            cid: record.cid,
            turn,
            conversation: conversation.map(|conversation| conversation.head.into()),
        })
    }

    /// The conversation that a record belongs to, if it belongs to any that can be read.
    async fn conversation_of(&self, record: &onrecord_index::Turn) -> Result<Option<Conversation>, XrpcError> {
        let Some(at) = &record.conversation else { return Ok(None) };
        if self.is_taken_back(at).await? {
            return Err(XrpcError::turn_gone());
        }
        match self.index.conversation(at, None, 1).await? {
            Kept::Here(conversation) => Ok(Some(conversation)),
            Kept::Gone => Err(XrpcError::turn_gone()),
            Kept::Hidden(why) => Err(XrpcError::turn_hidden(&why)),
            Kept::Unknown => Ok(None),
        }
    }
}

fn turn(conversation: &Conversation, record: &onrecord_index::Turn) -> Result<Turn, XrpcError> {
    let session = value(&conversation.record)?;
    let at = &conversation.record.address;
    let message = (record.address.rkey.clone(), record.cid.clone(), value(record)?);
    let session = (at.rkey.clone(), conversation.record.cid.clone(), &session);
    let (published, _) = aligned::published(&at.did, conversation.head.author.handle.clone(), session, [message])
        .map_err(XrpcError::failed)?;
    let view = ConversationView::new(&published, Standing::Repository);
    let turn = view.turns.first().map(|turn| Turn::new(turn, Some(record.address.uri())));
    turn.ok_or_else(|| XrpcError::failed("a message in the index cannot be read"))
}
