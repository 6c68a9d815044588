//! What happens to whole accounts.

use onrecord_lexicon::{Did, Handle};

use super::{
    moderation::{PROFILE, follow_self_labels},
    read::query,
    write::{Transaction, Work, all, one, run, storable},
};
use crate::{
    account::{Account, Profile},
    admit::merge_profile,
    change::{AccountStatus, Address, Restored, rev_number},
    decide::{Conversations, KnownAccount, count},
    error::{Error, Result},
    row::Row,
    stored::{address, author, row_of},
};

/// How many records of an account are looked at at once.
const CHUNK: usize = 1_000;

/// An account from its state, floor and profile, in the columns from `first` on.
pub(super) fn of_row(row: &tokio_postgres::Row, first: usize) -> Result<KnownAccount> {
    let status = (row.try_get(first)?, row.try_get(first + 1)?);
    Ok(KnownAccount::of_columns(0, status, row.try_get(first + 2)?, row.try_get(first + 3)?))
}

pub(super) async fn read(client: &deadpool_postgres::Object, did: &Did) -> Result<Option<Account>> {
    let rows = query(
        client,
        &format!("SELECT a.handle, {PROFILE}, a.status FROM account a WHERE a.did = $1"),
        &[&did.as_str()],
    )
    .await?;
    let account = |row: &tokio_postgres::Row| {
        let author = author(did.as_str(), row.try_get(0)?, row.try_get(1)?)?;
        Ok(Account { author, status: AccountStatus::of_number(row.try_get(2)?) })
    };
    rows.first().map(account).transpose()
}

pub(super) async fn set_profile(tx: &Transaction<'_>, did: &Did, profile: &Profile) -> Result<()> {
    let json = serde_json::to_string(profile).map_err(|_| Error::Corrupt { what: "a profile" })?;
    let json = (*profile != Profile::default()).then_some(json);
    run(tx, "UPDATE account SET profile = $2 WHERE did = $1", &[&did.as_str(), &json]).await?;
    follow_self_labels(tx, did, profile).await
}

/// Whether the account is known.
pub(super) async fn set_identity(
    tx: &Transaction<'_>,
    did: &Did,
    handle: Option<&Handle>,
    pds: Option<&str>,
) -> Result<bool> {
    let (handle, pds) = (handle.map(Handle::as_str), pds.map(storable));
    let sql = "UPDATE account SET handle = $2, pds = $3 WHERE did = $1 AND status <> 4";
    let is_known = run(tx, sql, &[&did.as_str(), &handle, &pds]).await? > 0;
    if is_known && handle.is_some() {
        // A handle leads to one account: the one that has it now.
        let sql = "UPDATE account SET handle = NULL WHERE handle = $1 AND did <> $2";
        run(tx, sql, &[&handle, &did.as_str()]).await?;
    }
    Ok(is_known)
}

impl Work<'_> {
    pub(super) async fn set_status(&mut self, did: &Did, status: AccountStatus, at_ms: i64) -> Result<()> {
        match (self.find(did).await?, status) {
            (None, AccountStatus::Active) => self.applied.ignored += 1,
            (None, _) => {
                // Remembered, for what may still come of it.
                let sql = "INSERT INTO account (did, status, status_ms) VALUES ($1, $2, $3)";
                run(self.tx, sql, &[&did.as_str(), &status.number(), &at_ms]).await?;
            }
            (Some(account), _) if at_ms <= account.status_ms => self.applied.stale += 1,
            (Some(account), _) => {
                let sql = "UPDATE account SET status = $2, status_ms = $3 WHERE did = $1";
                run(self.tx, sql, &[&did.as_str(), &status.number(), &at_ms]).await?;
                if status == AccountStatus::Deleted {
                    self.wipe(did, &account).await?;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn restore(&mut self, restored: &Restored) -> Result<()> {
        let did = &restored.author.did;
        run(self.tx, "INSERT INTO account (did) VALUES ($1) ON CONFLICT DO NOTHING", &[&did.as_str()]).await?;
        if self.find(did).await?.is_some_and(|known| restored.status_ms > known.status_ms) {
            self.set_status(did, restored.status, restored.status_ms).await?;
        }
        set_identity(self.tx, did, restored.author.handle.as_ref(), restored.pds.as_deref()).await?;
        set_profile(self.tx, did, &restored.author.profile).await?;
        let floor = restored.floor.as_ref().map_or(0, rev_number);
        run(self.tx, "UPDATE account SET floor = greatest(floor, $2) WHERE did = $1", &[&did.as_str(), &floor]).await?;
        Ok(())
    }

    async fn wipe(&mut self, did: &Did, account: &KnownAccount) -> Result<()> {
        let sql =
            "SELECT greatest((SELECT max(rev) FROM record WHERE did = $1), (SELECT max(rev) FROM gone WHERE did = $1))";
        let latest: Option<i64> = match one(self.tx, sql, &[&did.as_str()]).await? {
            Some(row) => row.try_get(0)?,
            None => None,
        };
        for sql in [
            "DELETE FROM name_use WHERE did = $1",
            "DELETE FROM conversation WHERE did = $1",
            "DELETE FROM gone WHERE did = $1",
        ] {
            run(self.tx, sql, &[&did.as_str()]).await?;
        }
        let removed = run(self.tx, "DELETE FROM record WHERE did = $1", &[&did.as_str()]).await?;
        self.applied.removed += removed;
        self.has_removed = true;
        run(
            self.tx,
            "UPDATE account SET handle = NULL, pds = NULL, profile = NULL, floor = $2 WHERE did = $1",
            &[&did.as_str(), &account.floor.max(latest.unwrap_or(0))],
        )
        .await?;
        follow_self_labels(self.tx, did, &Profile::default()).await
    }

    pub(super) async fn listed(&mut self, did: &Did, rev: i64) -> Result<()> {
        let Some(account) = self.find(did).await? else {
            self.applied.ignored += 1;
            return Ok(());
        };
        if Self::is_deleted(&account) || rev <= account.floor {
            self.applied.stale += 1;
            return Ok(());
        }
        let mut profile = account.profile.clone();
        let mut after = (String::new(), String::new());
        loop {
            let rows = all(
                self.tx,
                "SELECT collection, rkey, rev, json FROM record
                 WHERE did = $1 AND (collection, rkey) > ($2, $3) AND rev < $4 ORDER BY collection, rkey LIMIT $5",
                &[&did.as_str(), &after.0, &after.1, &rev, &i64::try_from(CHUNK).unwrap_or(i64::MAX)],
            )
            .await?;
            let mut found: Vec<(Address, Row)> = Vec::new();
            for row in &rows {
                after = (row.try_get(0)?, row.try_get(1)?);
                let address = address(did.as_str(), &after.0, &after.1)?;
                let row = row_of(&address, row.try_get(2)?, row.try_get(3)?)?;
                found.push((address, row));
            }
            let mut conversations = Conversations::new();
            for (address, row) in &found {
                count(&mut conversations, did, row, -1);
                if row.profile.is_some() {
                    merge_profile(&mut profile, address.collection.as_str(), None);
                }
            }
            self.remove(found.iter().map(|(address, _)| address)).await?;
            self.gone(&found.iter().map(|(address, _)| (address, rev)).collect::<Vec<_>>()).await?;
            self.conversations(&conversations).await?;
            self.applied.removed += found.len() as u64;
            self.has_removed |= !found.is_empty();
            if rows.len() < CHUNK {
                break;
            }
        }
        if profile != account.profile {
            set_profile(self.tx, did, &profile).await?;
        }
        run(self.tx, "UPDATE account SET floor = greatest(floor, $2) WHERE did = $1", &[&did.as_str(), &rev]).await?;
        Ok(())
    }
}
