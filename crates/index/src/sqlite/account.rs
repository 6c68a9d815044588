//! What happens to whole accounts.

use onrecord_lexicon::{Did, Handle};
use rusqlite::{Connection, OptionalExtension as _};

use super::{
    moderation::{PROFILE, follow_self_labels},
    write::Work,
};
use crate::{
    account::{Account, Profile},
    change::{AccountStatus, Restored, rev_number},
    decide::KnownAccount,
    error::{Error, Result},
    stored::author,
};

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
                if account.status == AccountStatus::Deleted && status != AccountStatus::Deleted {
                    // What is still there of before would be shown again.
                    self.finish_sweep(account.id)?;
                }
                self.tx.prepare_cached("UPDATE account SET status = ?2, status_ms = ?3 WHERE id = ?1")?.execute((
                    account.id,
                    status.number(),
                    at_ms,
                ))?;
                if status == AccountStatus::Deleted {
                    self.wipe(&account)?;
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

    fn wipe(&mut self, account: &KnownAccount) -> Result<()> {
        let latest: Option<i64> = self.tx.query_row(
            "SELECT max(rev) FROM (SELECT rev FROM record WHERE account = ?1 UNION ALL SELECT rev FROM gone WHERE account = ?1)",
            [account.id],
            |row| row.get(0),
        )?;
        self.tx.execute(
            "UPDATE account SET handle = NULL, pds = NULL, profile = NULL, floor = ?2 WHERE id = ?1",
            (account.id, account.floor.max(latest.unwrap_or(0))),
        )?;
        follow_self_labels(self.tx, account.id, &Profile::default())?;
        self.begin_sweep(account.id)
    }

    pub(super) fn listed(&mut self, did: &Did, rev: i64) -> Result<()> {
        let Some(account) = find(self.tx, did)? else {
            self.applied.ignored += 1;
            return Ok(());
        };
        if account.status == AccountStatus::Deleted || rev <= account.floor {
            self.applied.stale += 1;
            return Ok(());
        }
        self.tx.execute("UPDATE account SET floor = max(floor, ?2) WHERE id = ?1", (account.id, rev))?;
        self.begin_sweep(account.id)
    }
}
