//! Versions.

use super::{
    moderation::{EXPIRED, MODERATED},
    read::query,
    write::place,
};
use crate::{
    error::{Error, Result},
    stamp::{Scope, Stamp},
};

pub(super) async fn stamp(client: &deadpool_postgres::Object, of: &Scope) -> Result<Stamp> {
    match of {
        Scope::Everything => {
            // A label that is over changes answers without a batch.
            let rows = query(client, &format!("SELECT version, {EXPIRED} FROM pulse"), &[]).await?;
            let row = rows.first().ok_or(Error::Corrupt { what: "the version of everything" })?;
            Ok(Stamp::of(&(row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?)))
        }
        Scope::Conversation(at) => {
            let rows = query(
                client,
                &format!(
                    "SELECT c.version, a.status, a.handle, a.profile, {MODERATED}
                     FROM account a JOIN conversation c ON c.did = a.did AND c.place = $2 WHERE a.did = $1"
                ),
                &[&at.did.as_str(), &place(at.collection.as_str(), at.rkey.as_str())],
            )
            .await?;
            type State = (i64, i16, Option<String>, Option<String>, Option<String>);
            let state: Option<State> = match rows.first() {
                Some(row) => {
                    Some((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?))
                }
                None => None,
            };
            Ok(Stamp::of(&state))
        }
    }
}
