//! Undoing and redoing decisions: kept with them, so that it works after a crash, and whoever decided.

use onrecord_redact::Decisions;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use crate::{ConversationId, Error, Workspace, conversations::decisions_in};

/// So many decisions can be undone.
const STEPS: i64 = 100;

/// What can be undone and redone, in the words with which it was decided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// What the last decision was.
    pub undo: Option<String>,
    /// What was undone last.
    pub redo: Option<String>,
}

impl Workspace {
    /// What can be undone and redone of the decisions about a conversation.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn history(&self, id: ConversationId) -> Result<History, Error> {
        let step = step(&self.db, id)?;
        let what = |of: i64, before: i64| -> Result<Option<String>, Error> {
            let sql = "SELECT what FROM decided d WHERE conversation = ?1 AND step = ?2
                AND EXISTS (SELECT 1 FROM decided WHERE conversation = ?1 AND step = ?3)";
            Ok(self.db.query_row(sql, (id.0, of, before), |row| row.get(0)).optional()?)
        };
        Ok(History { undo: what(step, step - 1)?, redo: what(step + 1, step)? })
    }

    /// Takes the last decision back and returns what then stands, or nothing where there is none. `read` is what
    /// [`Workspace::decisions`] said.
    ///
    /// # Errors
    /// [`Error::DecidedMeanwhile`]; the store cannot be read or written.
    pub fn undo(&mut self, id: ConversationId, read: &Decisions) -> Result<Option<Decisions>, Error> {
        self.go(id, read, -1)
    }

    /// Takes back what [`Workspace::undo`] did last.
    ///
    /// # Errors
    /// Those of [`Workspace::undo`].
    pub fn redo(&mut self, id: ConversationId, read: &Decisions) -> Result<Option<Decisions>, Error> {
        self.go(id, read, 1)
    }

    fn go(&mut self, id: ConversationId, read: &Decisions, by: i64) -> Result<Option<Decisions>, Error> {
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if decisions_in(&tx, id)? != *read {
            return Err(Error::DecidedMeanwhile);
        }
        let to = step(&tx, id)? + by;
        let sql = "SELECT decisions FROM decided WHERE conversation = ?1 AND step = ?2";
        let Some(json) = tx.query_row(sql, (id.0, to), |row| row.get::<_, String>(0)).optional()? else {
            return Ok(None);
        };
        let decisions = parsed(&json)?;
        tx.execute("UPDATE conversation SET decisions = ?2, step = ?3 WHERE id = ?1", (id.0, json, to))?;
        crate::pins::forget_lookups(&tx)?;
        tx.commit()?;
        Ok(Some(decisions))
    }
}

fn step(db: &Connection, id: ConversationId) -> Result<i64, Error> {
    Ok(db.query_row("SELECT step FROM conversation WHERE id = ?1", [id.0], |row| row.get(0))?)
}

fn parsed(json: &str) -> Result<Decisions, Error> {
    serde_json::from_str(json).map_err(|_| Error::Corrupt { what: "what was decided before about this conversation" })
}

/// Notes that a conversation's decisions go from one state to the next.
pub(crate) fn note(
    tx: &Transaction<'_>,
    id: ConversationId,
    (before, after): (&Decisions, &Decisions),
    what: &str,
) -> Result<(), Error> {
    let step = step(tx, id)?;
    let keep = |step: i64, what: &str, decisions: &Decisions| -> Result<(), Error> {
        let json = serde_json::to_string(decisions)?;
        tx.execute(
            "INSERT INTO decided (conversation, step, what, decisions) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET decisions = excluded.decisions",
            (id.0, step, what, json),
        )?;
        Ok(())
    };
    // What was undone is forgotten, and what is too long ago.
    tx.execute("DELETE FROM decided WHERE conversation = ?1 AND (step > ?2 OR step <= ?2 - ?3)", (id.0, step, STEPS))?;
    keep(step, "", before)?;
    keep(step + 1, what, after)?;
    tx.execute("UPDATE conversation SET step = ?2 WHERE id = ?1", (id.0, step + 1))?;

    // A word that is covered from now on must not go on standing in a title of before.
    if !after.covers_no_more_than(before) {
        let sql = "SELECT step, decisions FROM decided WHERE conversation = ?1 AND step <= ?2";
        let mut query = tx.prepare(sql)?;
        let rows = query.query_map((id.0, step), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        for row in rows.collect::<Result<Vec<_>, _>>()? {
            let (step, mut decisions) = (row.0, parsed(&row.1)?);
            decisions.take_texts_of(after);
            keep(step, "", &decisions)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
