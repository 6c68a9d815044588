//! Accounts signed in, and their sessions.

use jiff::Timestamp;
use onrecord_atproto::{Client, RateLimit, Session, Tokens, oauth::Scopes};
use onrecord_lexicon::{Did, Handle};
use rusqlite::Row;
use url::Url;

use crate::{
    Error, SecretPlace, Workspace, secrets,
    tokens::{self, SharedTokens},
};

/// An account that is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its DID, which is its repository.
    pub did: Did,
    /// Its handle when it signed in.
    pub handle: Option<Handle>,
    /// Its server.
    pub pds: Url,
    /// What was granted when it signed in through the browser; `None` with an app password.
    pub scopes: Option<Scopes>,
}

impl Account {
    /// What people know it by: the handle, else the DID.
    #[must_use]
    pub fn name(&self) -> &str {
        self.handle.as_ref().map_or(self.did.as_str(), Handle::as_str)
    }
}

impl Workspace {
    /// Keeps a session that was just made, and says where its tokens are.
    ///
    /// # Errors
    /// The store or the place for tokens cannot be written.
    pub fn sign_in(&self, tokens: &Tokens) -> Result<SecretPlace, Error> {
        let handle = tokens.handle.as_ref().map_or("", Handle::as_str);
        let _lock =
            tokens::wait_for_renewal_lock(&self.folder, if handle.is_empty() { tokens.did.as_str() } else { handle })?;
        let place = tokens::store(&self.folder, tokens)?;
        let scope = tokens.oauth.as_ref().map(|grant| grant.scopes.to_string());
        self.db.execute(
            "INSERT INTO account (did, handle, pds, scope) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (did) DO UPDATE SET handle = excluded.handle, pds = excluded.pds, scope = excluded.scope",
            (tokens.did.as_str(), handle, tokens.pds.as_str(), scope),
        )?;
        Ok(place)
    }

    /// Forgets an account and its tokens. What it has on record stays in the ledger.
    ///
    /// # Errors
    /// The store or the place for tokens cannot be written.
    pub fn sign_out(&self, account: &Account) -> Result<(), Error> {
        let _lock = tokens::wait_for_renewal_lock(&self.folder, account.name())?;
        secrets::forget(&self.folder, &account.did)?;
        self.db.execute("DELETE FROM account WHERE did = ?1", [account.did.as_str()])?;
        Ok(())
    }

    /// The accounts signed in, by handle.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn accounts(&self) -> Result<Vec<Account>, Error> {
        let mut query = self.db.prepare("SELECT did, handle, pds, scope FROM account ORDER BY handle, did")?;
        let rows = query.query_map([], account)?;
        rows.map(|row| row?).collect()
    }

    /// The account of that handle or DID; with none named, the only one.
    ///
    /// # Errors
    /// [`Error::NotSignedIn`]; [`Error::WhichAccount`] if none was named and there are several.
    pub fn account(&self, named: Option<&str>) -> Result<Account, Error> {
        let mut accounts = self.accounts()?;
        if let Some(name) = named {
            let name = name.trim_start_matches('@');
            let found = accounts.into_iter().find(|a| {
                a.did.as_str() == name || a.handle.as_ref().is_some_and(|h| h.as_str().eq_ignore_ascii_case(name))
            });
            return found.ok_or_else(|| Error::NotSignedIn { handle: Some(name.to_owned()) });
        }
        match (accounts.pop(), accounts.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                let names = accounts.iter().chain([&last]).map(|a| a.name().to_owned());
                Err(Error::WhichAccount(names.collect()))
            }
            (None, _) => Err(Error::NotSignedIn { handle: None }),
        }
    }

    /// Takes up the session of an account. New tokens are kept before the old ones are dropped; processes that use one data
    /// folder take turns at renewing.
    ///
    /// # Errors
    /// [`Error::NotSignedIn`] if its tokens are gone; the place for tokens cannot be read.
    pub fn session(&self, client: &Client, account: &Account) -> Result<Session, Error> {
        let Some(tokens) = tokens::load(&self.folder, account)? else {
            return Err(Error::NotSignedIn { handle: Some(account.name().to_owned()) });
        };
        let session = client.resume(tokens);
        session.keep_in(SharedTokens { folder: self.folder.clone(), account: account.clone() });
        Ok(session)
    }

    /// Remembers how many write points an account had left, for the next run's first batch.
    pub(crate) fn note_points(&self, did: &Did, limit: &RateLimit) -> Result<(), Error> {
        let reset = limit.reset.map(Timestamp::as_second);
        let remaining = i64::try_from(limit.remaining).unwrap_or(i64::MAX);
        self.db.execute(
            "UPDATE account SET points_remaining = ?2, points_reset = ?3 WHERE did = ?1",
            (did.as_str(), remaining, reset),
        )?;
        Ok(())
    }

    /// The write points an account had left and when they come back, as far as an earlier run was told.
    pub(crate) fn points(&self, did: &Did) -> Result<Option<(u64, Timestamp)>, Error> {
        let mut query = self.db.prepare_cached("SELECT points_remaining, points_reset FROM account WHERE did = ?1")?;
        let mut rows = query.query([did.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (remaining, reset): (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
        Ok(remaining.and_then(|r| u64::try_from(r).ok()).zip(reset.and_then(|r| Timestamp::from_second(r).ok())))
    }
}

fn account(row: &Row<'_>) -> rusqlite::Result<Result<Account, Error>> {
    let (did, handle, pds): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let scope: Option<String> = row.get(3)?;
    Ok((|| {
        Ok(Account {
            did: Did::parse(&did)?,
            handle: (!handle.is_empty()).then(|| Handle::parse(&handle)).transpose()?,
            pds: Url::parse(&pds).map_err(|_| Error::Corrupt { what: "an account" })?,
            scopes: scope.as_deref().map(Scopes::parse),
        })
    })())
}
