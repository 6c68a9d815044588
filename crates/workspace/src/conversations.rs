//! Conversations seen, and what was decided about them.

use std::path::{self, Path};

use jiff::Timestamp;
use onrecord_redact::Decisions;
use onrecord_transcript::{Conversation, Source};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior};

use crate::{Error, Workspace, history};

/// A conversation's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConversationId(pub(crate) i64);

/// A conversation that was looked at before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenConversation {
    /// Its row.
    pub id: ConversationId,
    /// The harness that wrote it, as [`onrecord_transcript::Harness::as_str`] has it.
    pub harness: String,
    /// The harness's id of it.
    pub source_id: String,
    /// Where its transcript was last seen.
    pub path: Option<String>,
}

impl Workspace {
    /// Remembers that a conversation was looked at, and nothing of what was said in it.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn remember(&self, conversation: &Conversation) -> Result<ConversationId, Error> {
        let Source { harness, id, path, .. } = &conversation.source;
        let path = path.as_deref().map(absolute);
        let row = self.db.query_row(
            "INSERT INTO conversation (harness, source_id, path, seen_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (harness, source_id) DO UPDATE SET
                path = coalesce(excluded.path, path), seen_at = excluded.seen_at
             RETURNING id",
            (harness.as_str(), id, path, Timestamp::now().to_string()),
            |row| row.get(0),
        )?;
        Ok(ConversationId(row))
    }

    /// What was decided about a conversation so far; the empty decisions if nothing was.
    ///
    /// # Errors
    /// The store cannot be read, or the decisions in it cannot be understood: then nothing may be published.
    pub fn decisions(&self, id: ConversationId) -> Result<Decisions, Error> {
        decisions_in(&self.db, id)
    }

    /// Keeps the decisions about a conversation, made on the grounds of `read`, which is what [`Workspace::decisions`] said.
    ///
    /// # Errors
    /// [`Error::DecidedMeanwhile`] if other decisions are kept by now: they would be lost. The store cannot be written.
    pub fn set_decisions(&mut self, id: ConversationId, read: &Decisions, decisions: &Decisions) -> Result<(), Error> {
        self.decide(id, read, decisions, "decide from the shell")
    }

    /// The same, with a few words on what was decided, for whoever may want to undo it. They must hold nothing of what was said.
    ///
    /// # Errors
    /// Those of [`Workspace::set_decisions`].
    pub fn decide(
        &mut self,
        id: ConversationId,
        read: &Decisions,
        decisions: &Decisions,
        what: &str,
    ) -> Result<(), Error> {
        let json = serde_json::to_string(decisions)?;
        // Immediate: nobody decides between the look and the write.
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if decisions_in(&tx, id)? != *read {
            return Err(Error::DecidedMeanwhile);
        }
        tx.execute("UPDATE conversation SET decisions = ?2 WHERE id = ?1", (id.0, json))?;
        if *read != *decisions {
            history::note(&tx, id, (read, decisions), what)?;
            // What was looked up may be a name that is covered now.
            crate::pins::forget_lookups(&tx)?;
        }
        tx.commit()?;
        Ok(())
    }

    /// The conversations whose id begins with `prefix`, at most ten.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn seen_with_prefix(&self, prefix: &str) -> Result<Vec<SeenConversation>, Error> {
        let mut query = self.db.prepare_cached(
            "SELECT id, harness, source_id, path FROM conversation WHERE substr(source_id, 1, length(?1)) = ?1
             ORDER BY seen_at DESC LIMIT 10",
        )?;
        let rows = query.query_map([prefix], seen)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The conversation whose transcript was last seen at `path`, be it there or not.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn seen_at(&self, path: &Path) -> Result<Option<SeenConversation>, Error> {
        let sql = "SELECT id, harness, source_id, path FROM conversation WHERE path = ?1 ORDER BY seen_at DESC LIMIT 1";
        Ok(self.db.query_row(sql, [absolute(path)], seen).optional()?)
    }

    /// The conversation of that harness and id, if it was seen.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn seen(&self, harness: &str, source_id: &str) -> Result<Option<ConversationId>, Error> {
        let found = self.db.query_row(
            "SELECT id FROM conversation WHERE harness = ?1 AND source_id = ?2",
            (harness, source_id),
            |row| row.get(0),
        );
        Ok(found.optional()?.map(ConversationId))
    }
}

/// The same file from whatever folder one looks.
fn absolute(path: &Path) -> String {
    path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

fn seen(row: &Row<'_>) -> rusqlite::Result<SeenConversation> {
    Ok(SeenConversation {
        id: ConversationId(row.get(0)?),
        harness: row.get(1)?,
        source_id: row.get(2)?,
        path: row.get(3)?,
    })
}

pub(crate) fn decisions_in(db: &Connection, id: ConversationId) -> Result<Decisions, Error> {
    let json: Option<String> =
        db.query_row("SELECT decisions FROM conversation WHERE id = ?1", [id.0], |row| row.get(0))?;
    match json {
        None => Ok(Decisions::default()),
        Some(json) => {
            serde_json::from_str(&json).map_err(|_| Error::Corrupt { what: "the decisions about this conversation" })
        }
    }
}
