//! Versions.

use rusqlite::{Connection, OptionalExtension as _};

use super::moderation::{EXPIRED, MODERATED};
use crate::{
    error::Result,
    stamp::{Scope, Stamp},
};

pub(super) fn stamp(db: &Connection, of: &Scope) -> Result<Stamp> {
    match of {
        Scope::Everything => {
            // A label that is over changes answers without a batch.
            let sql = format!("SELECT version, {EXPIRED} FROM pulse");
            let state: (i64, i64) = db.prepare_cached(&sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Stamp::of(&state))
        }
        Scope::Conversation(at) => {
            type State = (i64, i64, Option<String>, Option<String>, Option<String>);
            let state: Option<State> = db
                .prepare_cached(&format!(
                    "SELECT c.version, a.status, a.handle, a.profile, {MODERATED}
                     FROM account a JOIN conversation c ON c.account = a.id
                        AND c.collection = (SELECT id FROM collection WHERE nsid = ?2) AND c.rkey = ?3
                     WHERE a.did = ?1"
                ))?
                .query_row((at.did.as_str(), at.collection.as_str(), at.rkey.as_str()), |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })
                .optional()?;
            Ok(Stamp::of(&state))
        }
    }
}
