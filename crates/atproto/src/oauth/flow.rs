//! One sign-in, from the request to the session.

use std::time::Duration;

use onrecord_lexicon::Handle;
use tokio::time::timeout;
use url::Url;

use super::{
    DpopKey, Grant, Scopes, base64url,
    metadata::Server,
    pkce::Verifier,
    random,
    redirect::{Ending, Listener, Outcome, Response},
    token::{Granted, client_id},
};
use crate::{Client, Error, Identity, Result, Session, Tokens, error::quote, http::host_of};

/// A sign-in that waits for the person: open [`SignIn::url`] in a browser on this machine, and [`SignIn::finish`] it.
/// Dropped, it is over, and nothing is left of it.
pub struct SignIn {
    client: Client,
    account: Identity,
    server: Server,
    asked: Scopes,
    listener: Listener,
    client_id: String,
    key: DpopKey,
    verifier: Verifier,
    state: String,
    url: Url,
}

impl Client {
    /// Begins to sign in to `account` through the browser, asking for `scopes`. Listens on a free port of 127.0.0.1 from
    /// then on.
    ///
    /// # Errors
    /// [`Error::NoOauth`] if the account's server knows no such way; [`Error::ScopesRefused`] if it refuses the scopes at
    /// once; all that can befall a request.
    pub async fn start_sign_in(&self, account: &Identity, scopes: &Scopes) -> Result<SignIn> {
        let server = self.authorization_server(&account.pds).await?;
        let listener = Listener::bind().await?;
        let (key, verifier) = (DpopKey::generate()?, Verifier::generate()?);
        let state = base64url(&random::<16>()?);
        let (client_id, scope, challenge) = (client_id(scopes), scopes.to_string(), verifier.challenge());
        let redirect = listener.url();
        let hint = account.handle.as_ref().map_or(account.did.as_str(), Handle::as_str);
        let form = [
            ("client_id", &*client_id),
            ("response_type", "code"),
            ("redirect_uri", &redirect),
            ("scope", &scope),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("login_hint", hint),
        ];
        let request_uri = match self.push_request(&server, &key, &form).await {
            // The scopes are in our name, too: servers differ in which of the two they look at first.
            Err(Error::Rejected { error, message, .. }) if error == "invalid_scope" || message.contains("scope") => {
                return Err(scopes_refused(&server, account, scopes.not_in(&Scopes::parse("atproto"))));
            }
            other => other?,
        };
        let mut url = server.authorization.clone();
        url.query_pairs_mut().append_pair("client_id", &client_id).append_pair("request_uri", &request_uri);
        let (client, account, asked) = (self.clone(), account.clone(), scopes.clone());
        Ok(SignIn { client, account, server, asked, listener, client_id, key, verifier, state, url })
    }
}

impl SignIn {
    /// The address to open. Good for some five minutes, once.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Waits until the browser comes back, at most `patience`, and gets the session. The browser is shown whether it worked.
    ///
    /// # Errors
    /// [`Error::LoginTimedOut`], [`Error::LoginDenied`], [`Error::LoginFailed`], [`Error::IssuerMismatch`],
    /// [`Error::WrongAccount`] if another account was approved, [`Error::ScopesRefused`] if less was granted than was
    /// asked for, and all that can befall a request. No session is left behind in any of these cases.
    pub async fn finish(self, patience: Duration) -> Result<Session> {
        let Ok((browser, response)) = timeout(patience, self.listener.response(&self.state)).await else {
            return Err(Error::LoginTimedOut { account: self.account_name(), seconds: patience.as_secs() });
        };
        let result = self.complete(response).await;
        let ending = match &result {
            Ok(_) => Ending::SignedIn,
            Err(Error::LoginDenied { .. }) => Ending::Denied,
            Err(_) => Ending::Failed,
        };
        browser.show(ending).await;
        result
    }

    fn account_name(&self) -> String {
        self.account.name().to_owned()
    }

    async fn complete(&self, response: Response) -> Result<Session> {
        // Before anything it says is believed: another server may have sent the browser here.
        if response.issuer.as_deref() != Some(&self.server.issuer) {
            let got = response.issuer.map_or_else(|| "a server without a name".into(), |issuer| quote(&issuer));
            return Err(Error::IssuerMismatch { expected: self.server.issuer.clone(), got });
        }
        let code = match response.outcome {
            Outcome::Code(code) => code,
            Outcome::Error { error, .. } if error == "invalid_scope" => {
                return Err(scopes_refused(&self.server, &self.account, self.asked.not_in(&Scopes::parse("atproto"))));
            }
            Outcome::Error { error, description } => {
                let (account, why) = (self.account_name(), quote(&description));
                return Err(match &*error {
                    "access_denied" => Error::LoginDenied { account, why },
                    error => Error::LoginFailed { account, error: quote(error), why },
                });
            }
        };
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &*code),
            ("redirect_uri", &self.listener.url()),
            ("code_verifier", self.verifier.expose()),
            ("client_id", &self.client_id),
        ];
        let granted = self.client.get_tokens(&self.server, &self.key, &form).await?;
        let grant = Grant {
            issuer: self.server.issuer.clone(),
            client_id: self.client_id.clone(),
            scopes: granted.scopes.clone(),
            key: self.key.clone(),
        };
        match self.checked(&granted).await {
            Ok(pds) => Ok(self.client.resume(Tokens {
                did: granted.sub,
                handle: self.account.handle.clone(),
                pds,
                access_jwt: granted.access,
                refresh_jwt: granted.refresh,
                oauth: Some(grant),
            })),
            Err(error) => {
                // A session that is not wanted is not left lying about; if it cannot be ended, it ends by itself.
                if let Err(error) = self.client.revoke(&granted.refresh, &grant).await {
                    tracing::debug!(%error, "an unwanted session could not be ended");
                }
                Err(error)
            }
        }
    }

    /// Whether the tokens are for the account and the scopes that were asked for, from the server that may say so. The
    /// account's server, as it is now.
    async fn checked(&self, granted: &Granted) -> Result<Url> {
        if granted.sub != self.account.did {
            return Err(Error::WrongAccount { asked: self.account_name(), got: granted.sub.clone() });
        }
        let (pds, issuer) = self.client.authority_over(&granted.sub).await?;
        if issuer != self.server.issuer {
            return Err(Error::IssuerMismatch { expected: quote(&issuer), got: self.server.issuer.clone() });
        }
        let missing = self.asked.not_in(&granted.scopes);
        if missing.is_empty() { Ok(pds) } else { Err(scopes_refused(&self.server, &self.account, missing)) }
    }
}

fn scopes_refused(server: &Server, account: &Identity, scopes: Vec<String>) -> Error {
    Error::ScopesRefused { host: host_of(&server.token), account: account.name().to_owned(), scopes }
}

impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIn").field("account", &self.account).finish_non_exhaustive()
    }
}
