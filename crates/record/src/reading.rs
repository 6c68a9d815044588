//! What was read from records of any family, as pages show it: a message for every turn.

use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Handle, Rkey, SyntaxError};
use onrecord_transcript::{Conversation, Role, Turn};
use serde_json::Map;

use crate::{Family, MessageRecord, Published, PublishedMessage, SessionRecord, StepRecord};

impl Published {
    /// What `conversation` says; `place` is where it was read from, and `key` gives a turn its key.
    ///
    /// # Errors
    /// A key that is none.
    pub fn of_reading(
        repo: &Did,
        handle: Option<Handle>,
        place: (Family, Rkey, &Cid),
        conversation: &Conversation,
        key: impl Fn(&Turn) -> Result<Rkey, SyntaxError>,
    ) -> Result<Self, SyntaxError> {
        let (family, rkey, cid) = place;
        let session = SessionRecord {
            title: conversation.title.clone(),
            description: None,
            discussion: None,
            created_at: Datetime::from_timestamp(conversation.created_at),
            extra: Map::new(),
        };
        let mut published =
            Self { repo: repo.clone(), handle, family, rkey, cid: cid.clone(), session, messages: Vec::new() };
        let uri = AtUri::parse(&published.uri())?;
        for turn in &conversation.turns {
            let record = MessageRecord {
                session: uri.clone(),
                role: if turn.role == Role::User { "user" } else { "assistant" }.to_owned(),
                withheld: false,
                text: turn.text.clone(),
                model: turn.model.clone(),
                steps: (turn.steps().iter())
                    .map(|step| StepRecord {
                        tool: step.tool.clone(),
                        summary: Some(step.summary.clone()).filter(|summary| !summary.is_empty()),
                        failed: step.failed,
                    })
                    .collect(),
                refs: Vec::new(),
                mentions: Vec::new(),
                created_at: Datetime::from_timestamp(turn.created_at),
                extra: Map::new(),
            };
            published.messages.push(PublishedMessage { rkey: key(turn)?, cid: cid.clone(), record });
        }
        Ok(published)
    }

    /// The same, with those of its messages held back whose number, from 0, is said to be.
    #[must_use]
    pub(crate) fn with_withheld(mut self, is_held: impl Fn(usize) -> bool) -> Self {
        for (_, message) in self.messages.iter_mut().enumerate().filter(|(index, _)| is_held(*index)) {
            message.record.withheld = true;
        }
        self
    }
}
