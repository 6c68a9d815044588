//! Versions.

use rusqlite::{Connection, OptionalExtension as _};

use crate::{
    error::Result,
    stamp::{Scope, Stamp},
};

pub(super) fn stamp(db: &Connection, of: &Scope) -> Result<Stamp> {
    match of {
        Scope::Everything => {
            let version: i64 = db.prepare_cached("SELECT version FROM pulse")?.query_row([], |row| row.get(0))?;
            Ok(Stamp::of(&version))
        }
        Scope::Conversation(at) => {
            type State = (i64, i64, Option<String>, Option<String>);
            let state: Option<State> = db
                .prepare_cached(
                    "SELECT c.version, a.status, a.handle, a.profile
                     FROM account a JOIN conversation c ON c.account = a.id
                        AND c.collection = (SELECT id FROM collection WHERE nsid = ?2) AND c.rkey = ?3
                     WHERE a.did = ?1",
                )?
                .query_row((at.did.as_str(), at.collection.as_str(), at.rkey.as_str()), |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })
                .optional()?;
            Ok(Stamp::of(&state))
        }
    }
}
