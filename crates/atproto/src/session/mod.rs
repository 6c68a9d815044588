//! Signed in, with an app password or through the browser: tokens that renew themselves, and writing to one's own repository.

mod keep;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use onrecord_lexicon::{Cid, Did, Handle};
use serde::{Deserialize, de::DeserializeOwned};
use url::Url;

pub use self::keep::{Kept, RenewalLock, TokenStore};
use crate::{
    Action, Applied, BoxError, Client, EncodedWrites, Error, Identity, RateLimit, Repo, Result, Secret, Write,
    error::quote,
    http::host_of,
    oauth::Grant,
    writes::AppliedWire,
    xrpc::{Auth, Call},
};

/// What a session is made of: keep it in the keyring, and resume with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Whose session.
    pub did: Did,
    /// The account's handle, if it has a verified one.
    pub handle: Option<Handle>,
    /// The account's server.
    pub pds: Url,
    /// Good for an hour or two.
    pub access_jwt: Secret,
    /// Good for some weeks, and for one refresh.
    pub refresh_jwt: Secret,
    /// What binds them, if they were got through the browser; `None` with an app password.
    pub oauth: Option<Grant>,
}

impl Tokens {
    pub(crate) fn account(&self) -> String {
        self.handle.as_ref().map_or_else(|| self.did.to_string(), Handle::to_string)
    }

    fn auth(&self) -> Auth<'_> {
        match &self.oauth {
            Some(grant) => Auth::Bound(&self.access_jwt, &grant.key),
            None => Auth::Bearer(&self.access_jwt),
        }
    }
}

/// A session. Cheap to clone; clones share the tokens.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    tokens: RwLock<Arc<Tokens>>,
    /// Held while refreshing, so that a refresh token is presented once however many requests found theirs expired.
    refreshing: tokio::sync::Mutex<()>,
    store: Mutex<Option<Arc<dyn TokenStore>>>,
}

/// `createSession` and `refreshSession` answer alike.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionWire {
    did: String,
    access_jwt: Secret,
    refresh_jwt: Secret,
    active: Option<bool>,
    status: Option<String>,
}

impl Client {
    /// Signs in to the account's own server. `password` is an app password, or the account's own; `code` is the
    /// sign-in code that a server may have sent by email.
    ///
    /// # Errors
    /// [`Error::WrongPassword`], [`Error::AuthFactorRequired`], [`Error::AccountUnavailable`], [`Error::RateLimited`],
    /// [`Error::DidMismatch`] if the server signs in someone else, and all that can befall a request.
    pub async fn login(&self, account: &Identity, password: &Secret, code: Option<&str>) -> Result<Session> {
        let name = account.name().to_owned();
        // By handle where there is one: the reference PDS lower-cases the identifier, and a did:web's port is in capitals.
        let mut body = serde_json::json!({ "identifier": name, "password": password.expose() });
        if let (Some(code), Some(fields)) = (code, body.as_object_mut()) {
            fields.insert("authFactorToken".into(), code.into());
        }
        let call = Call::new(&account.pds, "com.atproto.server.createSession");
        let answer = self.procedure::<SessionWire>(&call, Some(serde_json::to_vec(&body)?)).await;
        let (wire, _) = match answer {
            Ok(answer) => answer,
            Err(Error::Rejected { error, .. }) if error == "AuthFactorTokenRequired" => {
                return Err(Error::AuthFactorRequired { account: name });
            }
            Err(Error::Rejected { status: 401, error, .. }) if error == "AuthenticationRequired" => {
                // A server says the same of a right app password of an account that is taken down.
                let gone = self.repo(account).latest_commit().await.err();
                return Err(match gone {
                    Some(gone @ Error::AccountUnavailable { .. }) => gone,
                    _ => Error::WrongPassword { account: name },
                });
            }
            Err(error) => return Err(unavailable(error, &name)),
        };
        if wire.active == Some(false) {
            return Err(Error::AccountUnavailable {
                account: name,
                status: quote(wire.status.as_deref().unwrap_or("inactive")),
            });
        }
        check_did(&account.did, &wire, &account.pds)?;
        Ok(self.resume(Tokens {
            did: account.did.clone(),
            handle: account.handle.clone(),
            pds: account.pds.clone(),
            access_jwt: wire.access_jwt,
            refresh_jwt: wire.refresh_jwt,
            oauth: None,
        }))
    }

    /// Takes up a session that was kept. Sends nothing; a dead session shows at the first write.
    #[must_use]
    pub fn resume(&self, tokens: Tokens) -> Session {
        Session {
            inner: Arc::new(Inner {
                client: self.clone(),
                tokens: RwLock::new(Arc::new(tokens)),
                refreshing: tokio::sync::Mutex::new(()),
                store: Mutex::new(None),
            }),
        }
    }
}

impl Session {
    /// Has `store` keep every new pair of tokens, before any request uses them. It runs on the async runtime, while other
    /// requests of this session wait for it. If it fails, the request that needed the refresh fails with
    /// [`Error::TokensNotStored`]; later ones use the new tokens.
    pub fn on_refresh(&self, store: impl Fn(&Tokens) -> Result<(), BoxError> + Send + Sync + 'static) {
        self.keep_in(store);
    }

    /// The same, shared with other processes: they take turns at renewing, and tokens that another one has renewed are taken
    /// from `store`.
    pub fn keep_in(&self, store: impl TokenStore + 'static) {
        *self.inner.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(store));
    }

    /// The tokens as they now are.
    #[must_use]
    pub fn tokens(&self) -> Arc<Tokens> {
        Arc::clone(&self.inner.tokens.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whose session.
    #[must_use]
    pub fn did(&self) -> Did {
        self.tokens().did.clone()
    }

    /// The limit that the account's server named last.
    #[must_use]
    pub fn last_rate_limit(&self) -> Option<RateLimit> {
        self.inner.client.last_rate_limit(&self.tokens().pds)
    }

    /// The account's repository, for reading.
    #[must_use]
    pub fn repo(&self) -> Repo {
        let tokens = self.tokens();
        self.inner.client.repo_at(&tokens.did, &tokens.pds)
    }

    /// Whether the session may do all this to records of its repository. What a session by app password may do, its server
    /// knows.
    ///
    /// # Errors
    /// [`Error::ScopeMissing`], with all that is missing.
    pub fn check_scopes<'a>(&self, wanted: impl IntoIterator<Item = (&'a str, Action)>) -> Result<()> {
        let tokens = self.tokens();
        let Some(grant) = &tokens.oauth else { return Ok(()) };
        let missing: BTreeSet<_> =
            wanted.into_iter().filter(|(of, action)| !grant.scopes.permits(of, *action)).map(|(of, _)| of).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let scopes = missing.into_iter().map(|collection| format!("repo:{collection}")).collect();
        Err(Error::ScopeMissing { account: tokens.account(), scopes, granted: grant.scopes.clone() })
    }

    /// Encodes and sends one batch; see [`EncodedWrites::new`] and [`Session::send`].
    ///
    /// # Errors
    /// Those of both.
    pub async fn apply_writes(
        &self,
        writes: &[Write],
        validate: Option<bool>,
        swap_commit: Option<&Cid>,
    ) -> Result<Applied> {
        self.send(&EncodedWrites::new(&self.did(), writes, validate, swap_commit)?).await
    }

    /// Sends one batch: all of it takes effect, in one commit, or nothing. Never sent twice, but for an expired token or an
    /// old nonce (then the server has looked no further). Whether it took effect after an error, [`Error::is_ambiguous`] tells.
    ///
    /// # Errors
    /// [`Error::RateLimited`], [`Error::InvalidSwap`], [`Error::SessionExpired`], [`Error::ScopeMissing`], and all that can
    /// befall a request.
    pub async fn send(&self, writes: &EncodedWrites) -> Result<Applied> {
        let did = self.did();
        if *writes.repo() != did {
            return Err(Error::DidMismatch { from: "the batch".into(), asked: did, got: writes.repo().to_string() });
        }
        self.check_scopes(writes.touches())?;
        const METHOD: &str = "com.atproto.repo.applyWrites";
        let (wire, limit) = self.procedure::<AppliedWire>(METHOD, writes.as_bytes()).await?;
        wire.check(writes.count(), limit).map_err(|why| Error::BadAnswer {
            host: host_of(&self.tokens().pds),
            method: METHOD,
            why,
        })
    }

    /// Asks the server whether the session lives, refreshing it if it must.
    ///
    /// # Errors
    /// [`Error::SessionExpired`], [`Error::AccountUnavailable`], and all that can befall a request.
    pub async fn check(&self) -> Result<()> {
        #[derive(Deserialize)]
        struct Wire {
            did: String,
            active: Option<bool>,
            status: Option<String>,
        }
        let ask = async |tokens: Arc<Tokens>| {
            let mut call = Call::new(&tokens.pds, "com.atproto.server.getSession");
            call.auth = tokens.auth();
            self.inner.client.query::<Wire>(&call).await
        };
        let tokens = self.tokens();
        let wire = match ask(Arc::clone(&tokens)).await {
            Err(error) if is_expired(&error) => ask(self.refreshed(&tokens).await?).await,
            other => other,
        };
        let wire = wire.map_err(|error| refused(error, &tokens))?;
        if wire.did != tokens.did.as_str() {
            let (from, asked) = (host_of(&tokens.pds), tokens.did.clone());
            return Err(Error::DidMismatch { from, asked, got: quote(&wire.did) });
        }
        match wire.active {
            Some(false) => Err(Error::AccountUnavailable {
                account: tokens.account(),
                status: quote(wire.status.as_deref().unwrap_or("inactive")),
            }),
            _ => Ok(()),
        }
    }

    /// Gets new tokens now.
    ///
    /// # Errors
    /// [`Error::SessionExpired`], [`Error::TokensNotStored`], and all that can befall a request.
    pub async fn refresh(&self) -> Result<()> {
        self.refreshed(&self.tokens()).await.map(drop)
    }

    /// Ends the session at the server. The tokens are worth nothing afterwards; an already dead session is no error.
    ///
    /// # Errors
    /// All that can befall a request: the tokens are then to be forgotten all the same.
    pub async fn logout(self) -> Result<()> {
        let _no_refresh_meanwhile = self.inner.refreshing.lock().await;
        let _nor_by_another_process = self.newest().await?;
        let tokens = self.tokens();
        if let Some(grant) = &tokens.oauth {
            return self.inner.client.revoke(&tokens.refresh_jwt, grant).await;
        }
        let mut call = Call::new(&tokens.pds, "com.atproto.server.deleteSession");
        call.auth = Auth::Bearer(&tokens.refresh_jwt);
        match self.inner.client.procedure_without_answer(&call).await {
            Err(error) if is_expired(&error) => Ok(()),
            other => other,
        }
    }

    /// A change by the account. An expired access token is renewed, and the change then sent again.
    async fn procedure<T: DeserializeOwned>(
        &self,
        method: &'static str,
        body: &[u8],
    ) -> Result<(T, Option<RateLimit>)> {
        let send = async |tokens: Arc<Tokens>| {
            let mut call = Call::new(&tokens.pds, method);
            call.auth = tokens.auth();
            self.inner.client.procedure(&call, Some(body.to_vec())).await
        };
        let tokens = self.tokens();
        let answer = match send(Arc::clone(&tokens)).await {
            Err(error) if is_expired(&error) => send(self.refreshed(&tokens).await?).await,
            other => other,
        };
        answer.map_err(|error| refused(error, &tokens))
    }

    /// Newer tokens than `stale`: someone else's refresh, or one of our own.
    async fn refreshed(&self, stale: &Arc<Tokens>) -> Result<Arc<Tokens>> {
        let _single_flight = self.inner.refreshing.lock().await;
        let _lock = if Arc::ptr_eq(&self.tokens(), stale) { self.newest().await? } else { None };
        let current = self.tokens();
        // Not by their text: a server may well issue the same token twice within a second.
        if !Arc::ptr_eq(&current, stale) {
            return Ok(current);
        }
        let renewed = match &current.oauth {
            Some(grant) => self.inner.client.renew(&current, grant).await,
            None => self.renew_by_jwt(&current).await,
        };
        let new = Arc::new(renewed.map_err(|error| refused(error, &current))?);
        let stored = self.store().map_or(Ok(()), |store| store.store(&new));
        self.set_tokens(&new);
        match stored {
            Ok(()) => Ok(new),
            Err(source) => Err(Error::TokensNotStored { account: new.account(), source }),
        }
    }

    /// Takes the lock under which tokens are renewed, and the tokens of whoever had it before. None without a store.
    async fn newest(&self) -> Result<Option<RenewalLock>> {
        let Some(store) = self.store() else { return Ok(None) };
        let tokens = self.tokens();
        let lock = keep::wait_for_lock(&*store, &tokens).await?;
        match store.load() {
            Ok(Kept::Tokens(kept)) if kept.refresh_jwt != tokens.refresh_jwt => self.set_tokens(&Arc::new(*kept)),
            Ok(Kept::Unknown | Kept::Tokens(_)) => {}
            Ok(Kept::Nothing) => return Err(Error::SessionExpired { account: tokens.account() }),
            Err(source) => return Err(Error::TokensNotRead { account: tokens.account(), source }),
        }
        Ok(Some(lock))
    }

    fn store(&self) -> Option<Arc<dyn TokenStore>> {
        self.inner.store.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_tokens(&self, tokens: &Arc<Tokens>) {
        *self.inner.tokens.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(tokens);
    }

    async fn renew_by_jwt(&self, current: &Tokens) -> Result<Tokens> {
        let mut call = Call::new(&current.pds, "com.atproto.server.refreshSession");
        call.auth = Auth::Bearer(&current.refresh_jwt);
        let mut answer = self.inner.client.procedure::<SessionWire>(&call, None).await;
        if answer.as_ref().is_err_and(Error::is_ambiguous) {
            // A server honours a used refresh token for a while, for just this case: the answer was lost.
            answer = self.inner.client.procedure(&call, None).await;
        }
        let (wire, _) = answer?;
        check_did(&current.did, &wire, &current.pds)?;
        Ok(Tokens { access_jwt: wire.access_jwt, refresh_jwt: wire.refresh_jwt, ..current.clone() })
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("tokens", &self.tokens()).finish_non_exhaustive()
    }
}

fn check_did(asked: &Did, wire: &SessionWire, pds: &Url) -> Result<()> {
    if wire.did == asked.as_str() {
        Ok(())
    } else {
        Err(Error::DidMismatch { from: host_of(pds), asked: asked.clone(), got: quote(&wire.did) })
    }
}

/// Whether a refusal means that the token is no longer good: nothing else was looked at.
fn is_expired(error: &Error) -> bool {
    match error {
        Error::Rejected { error, .. } if is_unavailable(error) => false,
        // A complaint about the proof that came with the token, which a new token does not help.
        Error::Rejected { error, .. } if matches!(&**error, "use_dpop_nonce" | "invalid_dpop_proof") => false,
        Error::Rejected { status, error, .. } => {
            *status == 401 || matches!(&**error, "ExpiredToken" | "InvalidToken" | "invalid_grant")
        }
        _ => false,
    }
}

fn is_unavailable(error: &str) -> bool {
    matches!(error, "AccountTakedown" | "AccountSuspended" | "AccountDeactivated" | "RepoTakendown" | "RepoDeactivated")
}

fn unavailable(error: Error, account: &str) -> Error {
    match error {
        Error::Rejected { ref error, .. } if is_unavailable(error) => Error::AccountUnavailable {
            account: account.into(),
            status: match error.as_str() {
                "AccountTakedown" | "RepoTakendown" => "takendown".into(),
                "AccountSuspended" => "suspended".into(),
                _ => "deactivated".into(),
            },
        },
        error => error,
    }
}

/// A refusal in the session's words.
fn refused(error: Error, tokens: &Tokens) -> Error {
    match error {
        error if is_expired(&error) => Error::SessionExpired { account: tokens.account() },
        Error::Rejected { status: 403, error, message, .. } if error == "ScopeMissingError" => {
            // What is missing stands between quotation marks, with the action that was tried: all of them are wanted.
            let scope = message.split('"').nth(1).unwrap_or(&message).split('?').next().unwrap_or_default().to_owned();
            let granted = tokens.oauth.as_ref().map(|grant| grant.scopes.clone()).unwrap_or_default();
            Error::ScopeMissing { account: tokens.account(), scopes: vec![scope], granted }
        }
        error => unavailable(error, &tokens.account()),
    }
}
