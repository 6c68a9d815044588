//! What happens to whole accounts.

use std::collections::HashSet;

use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use rusqlite::{Connection, OptionalExtension as _};

use super::{
    moderation::{PROFILE, follow_self_labels},
    write::Work,
};
use crate::{
    account::{Account, Profile},
    change::{AccountStatus, Address, Restored, rev_number},
    decide::{Conversations, KnownAccount, count},
    error::{Error, Result},
    row::Row,
    stored::{address as address_of, author, row_of},
};

/// How many records of an account are looked at at once.
const CHUNK: usize = 1_000;

pub(super) fn find(db: &Connection, did: &Did) -> Result<Option<KnownAccount>> {
    let found = db
        .prepare_cached("SELECT id, status, status_ms, floor, profile FROM account WHERE did = ?1")?
        .query_row([did.as_str()], |row| {
            let profile: Option<String> = row.get(4)?;
            Ok(KnownAccount::of_columns(row.get(0)?, (row.get(1)?, row.get(2)?), row.get(3)?, profile.as_deref()))
        })
        .optional()?;
    Ok(found)
}

pub(super) fn read(db: &Connection, did: &Did) -> Result<Option<Account>> {
    let found: Option<(Option<String>, Option<String>, i16)> = db
        .prepare_cached(&format!("SELECT a.handle, {PROFILE}, a.status FROM account a WHERE a.did = ?1"))?
        .query_row([did.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    found
        .map(|(handle, profile, status)| {
            let author = author(did.as_str(), handle.as_deref(), profile.as_deref())?;
            Ok(Account { author, status: AccountStatus::of_number(status) })
        })
        .transpose()
}

pub(super) fn set_profile(db: &Connection, account: i64, profile: &Profile) -> Result<()> {
    let json = serde_json::to_string(profile).map_err(|_| Error::Corrupt { what: "a profile" })?;
    let json = (*profile != Profile::default()).then_some(json);
    db.prepare_cached("UPDATE account SET profile = ?2 WHERE id = ?1")?.execute((account, json))?;
    follow_self_labels(db, account, profile)
}

/// Whether the account is known.
pub(super) fn set_identity(db: &Connection, did: &Did, handle: Option<&Handle>, pds: Option<&str>) -> Result<bool> {
    let handle = handle.map(Handle::as_str);
    let is_known = db
        .prepare_cached("UPDATE account SET handle = ?2, pds = ?3 WHERE did = ?1 AND status <> 4")?
        .execute((did.as_str(), handle, pds))?
        > 0;
    if is_known {
        // A handle leads to one account: the one that has it now.
        db.prepare_cached("UPDATE account SET handle = NULL WHERE handle = ?1 AND did <> ?2")?
            .execute((handle, did.as_str()))?;
    }
    Ok(is_known)
}

impl Work<'_> {
    pub(super) fn set_status(&mut self, did: &Did, status: AccountStatus, at_ms: i64) -> Result<()> {
        match (find(self.tx, did)?, status) {
            (None, AccountStatus::Active) => self.applied.ignored += 1,
            (None, _) => {
                // Remembered, for what may still come of it.
                self.tx
                    .prepare_cached("INSERT INTO account (did, status, status_ms) VALUES (?1, ?2, ?3)")?
                    .execute((did.as_str(), status.number(), at_ms))?;
            }
            (Some(account), _) if at_ms <= account.status_ms => self.applied.stale += 1,
            (Some(account), _) => {
                self.tx.prepare_cached("UPDATE account SET status = ?2, status_ms = ?3 WHERE id = ?1")?.execute((
                    account.id,
                    status.number(),
                    at_ms,
                ))?;
                if status == AccountStatus::Deleted {
                    self.wipe(did, &account)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn restore(&mut self, restored: &Restored) -> Result<()> {
        let did = &restored.author.did;
        self.tx
            .prepare_cached("INSERT INTO account (did) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([did.as_str()])?;
        if find(self.tx, did)?.is_some_and(|known| restored.status_ms > known.status_ms) {
            self.set_status(did, restored.status, restored.status_ms)?;
        }
        set_identity(self.tx, did, restored.author.handle.as_ref(), restored.pds.as_deref())?;
        let floor = restored.floor.as_ref().map_or(0, rev_number);
        if let Some(account) = find(self.tx, did)? {
            set_profile(self.tx, account.id, &restored.author.profile)?;
            self.tx
                .prepare_cached("UPDATE account SET floor = max(floor, ?2) WHERE id = ?1")?
                .execute((account.id, floor))?;
        }
        Ok(())
    }

    fn wipe(&mut self, did: &Did, account: &KnownAccount) -> Result<()> {
        let latest: Option<i64> = self.tx.query_row(
            "SELECT max(rev) FROM (SELECT rev FROM record WHERE account = ?1 UNION ALL SELECT rev FROM gone WHERE account = ?1)",
            [account.id],
            |row| row.get(0),
        )?;
        self.remove(did, account.id, i64::MAX, None)?;
        // Turns left their conversations; nothing else of these is there any more.
        for sql in [
            "DELETE FROM name_use WHERE conversation IN (SELECT id FROM conversation WHERE account = ?1)",
            "DELETE FROM conversation WHERE account = ?1",
            "DELETE FROM gone WHERE account = ?1",
        ] {
            self.tx.execute(sql, [account.id])?;
        }
        self.tx.execute(
            "UPDATE account SET handle = NULL, pds = NULL, profile = NULL, floor = ?2 WHERE id = ?1",
            (account.id, account.floor.max(latest.unwrap_or(0))),
        )?;
        follow_self_labels(self.tx, account.id, &Profile::default())
    }

    pub(super) fn listed(&mut self, did: &Did, rev: i64, records: &[(Nsid, Rkey)]) -> Result<()> {
        let Some(account) = find(self.tx, did)? else {
            self.applied.ignored += 1;
            return Ok(());
        };
        if account.status == AccountStatus::Deleted || rev <= account.floor {
            self.applied.stale += 1;
            return Ok(());
        }
        let listed: HashSet<(&str, &str)> = records.iter().map(|(c, k)| (c.as_str(), k.as_str())).collect();
        self.remove(did, account.id, rev, Some(&listed))?;
        self.tx.execute("UPDATE account SET floor = max(floor, ?2) WHERE id = ?1", (account.id, rev))?;
        Ok(())
    }

    /// Removes the records of an account that are not newer than `rev`; of these, where `kept` is given, those not in it, each
    /// of which is then known to be gone.
    fn remove(&mut self, did: &Did, account: i64, rev: i64, kept: Option<&HashSet<(&str, &str)>>) -> Result<()> {
        let mut profile = None;
        let mut after = (-1_i64, String::new());
        loop {
            let mut found: Vec<(i64, Address, Row)> = Vec::new();
            let mut seen = 0;
            {
                let mut query = self.tx.prepare_cached(
                    "SELECT r.id, c.nsid, r.rkey, r.rev, r.json, r.collection FROM record r JOIN collection c ON c.id = r.collection
                     WHERE r.account = ?1 AND (r.collection, r.rkey) > (?2, ?3)
                     ORDER BY r.collection, r.rkey LIMIT ?4",
                )?;
                let mut rows = query.query((account, after.0, &after.1, CHUNK.cast_signed()))?;
                while let Some(row) = rows.next()? {
                    seen += 1;
                    let id: i64 = row.get(0)?;
                    let (nsid, rkey, at): (String, String, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
                    after = (row.get(5)?, rkey.clone());
                    if at > rev || kept.is_some_and(|kept| kept.contains(&(nsid.as_str(), rkey.as_str()))) {
                        continue;
                    }
                    let address = address_of(did.as_str(), &nsid, &rkey)?;
                    let json: String = row.get(4)?;
                    let row = row_of(&address, at, &json)?;
                    found.push((id, address, row));
                }
            }
            self.take_out(found.iter().map(|(id, address, row)| (*id, &address.did, row)).collect())?;
            let mut conversations = Conversations::new();
            for (id, address, row) in &found {
                count(&mut conversations, did, row, -1);
                self.tx.prepare_cached("DELETE FROM record WHERE id = ?1")?.execute([id])?;
                if kept.is_some() {
                    self.gone(account, address.collection.as_str(), address.rkey.as_str(), rev)?;
                }
                if row.profile.is_some() {
                    let said: &mut Profile =
                        profile.get_or_insert(find(self.tx, did)?.map(|known| known.profile).unwrap_or_default());
                    crate::admit::merge_profile(said, address.collection.as_str(), None);
                }
            }
            self.conversations(&conversations, |_| Ok(account))?;
            self.applied.removed += found.len() as u64;
            if seen < CHUNK {
                break;
            }
        }
        match profile {
            Some(profile) => set_profile(self.tx, account, &profile),
            None => Ok(()),
        }
    }
}
