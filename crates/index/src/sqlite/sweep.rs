//! Removing what an account no longer has: some of it in the batch that says so, the rest in batches of its own between those
//! of others, so that nobody waits for an account of a million records to be gone. Until it is, the account is known to have
//! it left; a process that ends meanwhile leaves that to the next.

use onrecord_lexicon::Did;
use rusqlite::OptionalExtension as _;

use super::{
    account::{find, set_profile},
    moderation::follow_self_labels,
    write::Work,
};
use crate::{
    account::Profile,
    admit::merge_profile,
    change::{AccountStatus, Address},
    decide::{Conversations, count},
    error::{Error, Result},
    row::Row,
    stored::{address as address_of, corrupt, row_of},
};

/// Most records that are removed at once, and the bytes of their JSON.
const MOST: usize = 250;
const MOST_BYTES: usize = 4_000_000;

impl Work<'_> {
    /// Begins to remove what an account no longer has: everything if it is deleted, else what stands before its floor.
    pub(super) fn begin_sweep(&mut self, account: i64) -> Result<()> {
        self.tx.prepare_cached("INSERT OR REPLACE INTO unswept (account) VALUES (?1)")?.execute([account])?;
        self.has_unswept |= self.sweep(account)?;
        Ok(())
    }

    /// Removes all of it now, if there is any.
    pub(super) fn finish_sweep(&mut self, account: i64) -> Result<()> {
        while self.sweep(account)? {}
        Ok(())
    }

    /// Goes on with one of the accounts that have something left, and says whether there was any.
    pub(super) fn sweep_on(&mut self) -> Result<bool> {
        let next: Option<i64> =
            self.tx.query_row("SELECT account FROM unswept LIMIT 1", [], |row| row.get(0)).optional()?;
        if let Some(account) = next {
            self.sweep(account)?;
        }
        Ok(next.is_some())
    }

    /// Removes some of it, and says whether there may be more.
    fn sweep(&mut self, account: i64) -> Result<bool> {
        let found: Option<(String, i16, i64, i64, String)> = self
            .tx
            .prepare_cached(
                "SELECT a.did, a.status, a.floor, u.collection, u.rkey FROM unswept u JOIN account a ON a.id = u.account
                 WHERE u.account = ?1",
            )?
            .query_row([account], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
            .optional()?;
        let Some((did, status, floor, collection, rkey)) = found else { return Ok(false) };
        let did = Did::parse(&did).map_err(corrupt("a DID"))?;
        let is_deleted = AccountStatus::of_number(status) == AccountStatus::Deleted;
        let before = if is_deleted { i64::MAX } else { floor };
        let left = self.remove_some(&did, account, before, (collection, rkey))?;
        match &left {
            Some((collection, rkey)) => {
                self.tx
                    .prepare_cached("UPDATE unswept SET collection = ?2, rkey = ?3 WHERE account = ?1")?
                    .execute((account, collection, rkey))?;
            }
            None => {
                if is_deleted {
                    // Turns left their conversations; nothing else of these is there any more.
                    for sql in [
                        "DELETE FROM name_use WHERE conversation IN (SELECT id FROM conversation WHERE account = ?1)",
                        "DELETE FROM conversation WHERE account = ?1",
                        "DELETE FROM gone WHERE account = ?1",
                        "UPDATE account SET profile = NULL WHERE id = ?1",
                    ] {
                        self.tx.execute(sql, [account])?;
                    }
                    follow_self_labels(self.tx, account, &Profile::default())?;
                }
                self.tx.prepare_cached("DELETE FROM unswept WHERE account = ?1")?.execute([account])?;
            }
        }
        Ok(left.is_some())
    }

    /// Removes the first records after a place that stand before a revision, and gives the place of the last if there may be
    /// more. Of an account that goes on, each is then known to be gone.
    fn remove_some(
        &mut self,
        did: &Did,
        account: i64,
        before: i64,
        mut after: (i64, String),
    ) -> Result<Option<(i64, String)>> {
        let mut found: Vec<(i64, Address, Row)> = Vec::new();
        let (mut bytes, mut is_all) = (0, true);
        {
            let mut query = self.tx.prepare_cached(
                "SELECT r.id, c.nsid, r.rkey, r.rev, r.json, r.collection FROM record r JOIN collection c ON c.id = r.collection
                 WHERE r.account = ?1 AND (r.collection, r.rkey) > (?2, ?3) AND r.rev < ?4 ORDER BY r.collection, r.rkey",
            )?;
            let mut rows = query.query((account, after.0, &after.1, before))?;
            while let Some(row) = rows.next()? {
                let (nsid, rkey, json): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(4)?);
                let address = address_of(did.as_str(), &nsid, &rkey)?;
                after = (row.get(5)?, rkey);
                bytes += json.len();
                let derived = row_of(&address, row.get(3)?, &json)?;
                found.push((row.get(0)?, address, derived));
                if found.len() >= MOST || bytes >= MOST_BYTES {
                    is_all = false;
                    break;
                }
            }
        }
        self.take_out(found.iter().map(|(id, address, row)| (*id, &address.did, row)).collect())?;
        let (mut conversations, mut profile) = (Conversations::new(), None);
        for (id, address, row) in &found {
            count(&mut conversations, did, row, -1);
            self.tx.prepare_cached("DELETE FROM record WHERE id = ?1")?.execute([id])?;
            if before != i64::MAX {
                self.gone(account, address.collection.as_str(), address.rkey.as_str(), before)?;
            }
            if row.profile.is_some() {
                let said: &mut Profile = match &mut profile {
                    Some(said) => said,
                    None => {
                        let known = find(self.tx, did)?.ok_or(Error::Corrupt { what: "an account" })?;
                        profile.insert(known.profile)
                    }
                };
                merge_profile(said, address.collection.as_str(), None);
            }
        }
        self.conversations(&conversations, |_| Ok(account))?;
        self.applied.removed += found.len() as u64;
        if let Some(profile) = profile {
            set_profile(self.tx, account, &profile)?;
        }
        Ok((!is_all).then_some(after))
    }
}
