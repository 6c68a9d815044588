//! Tokens as they are kept, and the lock under which processes renew them.

use std::{
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use onrecord_atproto::{
    BoxError, Kept, RenewalLock, Secret, TokenStore, Tokens,
    oauth::{DpopKey, Grant, Scopes},
};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{Account, Error, SecretPlace, secrets, try_lock};

/// What is kept: all of it in one secret, since none of it is of use without the rest.
#[derive(Serialize, Deserialize)]
struct Stored {
    access: String,
    refresh: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    oauth: Option<StoredGrant>,
}

#[derive(Serialize, Deserialize)]
struct StoredGrant {
    /// The account's server: it may be another one than when the account signed in.
    pds: Url,
    issuer: String,
    client_id: String,
    scope: String,
    /// The private key that the tokens are bound to.
    key: String,
}

impl Stored {
    fn of(tokens: &Tokens) -> Self {
        let grant = |grant: &Grant| StoredGrant {
            pds: tokens.pds.clone(),
            issuer: grant.issuer.clone(),
            client_id: grant.client_id.clone(),
            scope: grant.scopes.to_string(),
            key: grant.key.to_secret().expose().to_owned(),
        };
        Self {
            access: tokens.access_jwt.expose().to_owned(),
            refresh: tokens.refresh_jwt.expose().to_owned(),
            oauth: tokens.oauth.as_ref().map(grant),
        }
    }

    fn tokens(self, account: &Account) -> Option<Tokens> {
        let pds = self.oauth.as_ref().map_or_else(|| account.pds.clone(), |grant| grant.pds.clone());
        let oauth = match self.oauth {
            None => None,
            Some(grant) => Some(Grant {
                issuer: grant.issuer,
                client_id: grant.client_id,
                scopes: Scopes::parse(&grant.scope),
                key: DpopKey::from_secret(&Secret::new(grant.key))?,
            }),
        };
        Some(Tokens {
            did: account.did.clone(),
            handle: account.handle.clone(),
            pds,
            access_jwt: Secret::new(self.access),
            refresh_jwt: Secret::new(self.refresh),
            oauth,
        })
    }
}

/// Keeps the tokens.
pub(crate) fn store(folder: &Path, tokens: &Tokens) -> Result<SecretPlace, Error> {
    secrets::store(folder, &tokens.did, &serde_json::to_string(&Stored::of(tokens))?)
}

/// The tokens of an account, if any are kept.
pub(crate) fn load(folder: &Path, account: &Account) -> Result<Option<Tokens>, Error> {
    let Some((json, _)) = secrets::load(folder, &account.did)? else { return Ok(None) };
    // The parser's own message could quote a token.
    let stored: Option<Stored> = serde_json::from_str(&json).ok();
    let tokens = stored.and_then(|stored| stored.tokens(account)).ok_or_else(|| Error::Secrets {
        account: account.name().to_owned(),
        why: "they are damaged; sign in again".to_owned(),
    })?;
    Ok(Some(tokens))
}

/// Waits for the lock, to change tokens: whoever renews some would write over what is changed meanwhile.
pub(crate) fn wait_for_renewal_lock(folder: &Path, account: &str) -> Result<RenewalLock, Error> {
    /// A renewal is a handful of short requests.
    const PATIENCE: Duration = Duration::from_secs(20);
    let error = |why: String| Error::Secrets { account: account.to_owned(), why };
    let started = Instant::now();
    loop {
        match try_renewal_lock(folder) {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) if started.elapsed() < PATIENCE => sleep(Duration::from_millis(25)),
            Ok(None) => return Err(error("another process is renewing some; run this again".to_owned())),
            Err(e) => return Err(error(e.to_string())),
        }
    }
}

/// One lock for all accounts: renewals are rare and short.
fn try_renewal_lock(folder: &Path) -> std::io::Result<Option<RenewalLock>> {
    Ok(try_lock(&folder.join("renewing.lock"))?.map(|file| Box::new(file) as RenewalLock))
}

/// The tokens of one session, shared by the processes that use this data folder.
pub(crate) struct SharedTokens {
    pub(crate) folder: PathBuf,
    pub(crate) account: Account,
}

impl TokenStore for SharedTokens {
    fn try_renewal_lock(&self) -> Result<Option<RenewalLock>, BoxError> {
        Ok(try_renewal_lock(&self.folder)?)
    }

    fn load(&self) -> Result<Kept, BoxError> {
        let tokens = load(&self.folder, &self.account)?;
        Ok(tokens.map_or(Kept::Nothing, |tokens| Kept::Tokens(Box::new(tokens))))
    }

    fn store(&self, tokens: &Tokens) -> Result<(), BoxError> {
        store(&self.folder, tokens)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
