//! What the author's store adds: which sources are switched off, and our own sessions.

use std::collections::BTreeSet;

use zeroize::Zeroizing;

use super::{Collect, Collected, Places, finish, source_ids};
use crate::{Error, Workspace, secrets};

impl Workspace {
    /// The identifiers of the sources of own secrets that the author switched off.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sources_off(&self) -> Result<BTreeSet<String>, Error> {
        let mut query = self.db.prepare("SELECT id FROM own_source_off")?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Switches a source off, or on again.
    ///
    /// # Errors
    /// [`Error::NoSuchSource`]; the store cannot be written.
    pub fn set_source_off(&self, id: &str, off: bool) -> Result<(), Error> {
        if !source_ids().any(|known| known == id) {
            return Err(Error::NoSuchSource(id.to_owned()));
        }
        let change = if off {
            "INSERT OR IGNORE INTO own_source_off (id) VALUES (?1)"
        } else {
            "DELETE FROM own_source_off WHERE id = ?1"
        };
        self.db.execute(change, [id])?;
        Ok(())
    }

    /// Collects the person's own secrets from every source that is not switched off, our own sessions among them.
    ///
    /// # Errors
    /// The store cannot be read. A file that cannot be is a notice in its source's report.
    pub fn own_secrets(&self, places: &Places) -> Result<Collected, Error> {
        let accounts = self.accounts()?;
        let collect = Collect { off: self.sources_off()? };
        let gathered = collect.found(places, &mut |gathered| {
            for account in &accounts {
                match secrets::load(&self.folder, &account.did) {
                    Ok(Some((json, place))) => {
                        let json = Zeroizing::new(json);
                        gathered.take(&place.to_string(), |sink| sink.within(account.name(), &json));
                    }
                    Ok(None) => {}
                    // It says what is the matter with the place, never what is kept there.
                    Err(error) => gathered.notice(account.name(), &error.to_string()),
                }
            }
        });
        Ok(finish(gathered))
    }
}
