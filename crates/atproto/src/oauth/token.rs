//! The authorization server's endpoints: pushing a request, getting, renewing and revoking tokens.

use onrecord_lexicon::Did;
use reqwest::{Method, header::ACCEPT};
use serde::{Deserialize, de::DeserializeOwned};
use url::Url;

use super::{DpopKey, Grant, Scopes, metadata::Server};
use crate::{Client, Error, Result, Secret, Tokens, error::quote, http::host_of, xrpc::SMALL_ANSWER};

/// An answer of the token endpoint.
#[derive(Deserialize)]
struct TokenWire {
    access_token: Secret,
    token_type: String,
    refresh_token: Option<Secret>,
    scope: Option<String>,
    sub: String,
}

/// New tokens, and for whom and what they are.
pub(super) struct Granted {
    pub(super) access: Secret,
    pub(super) refresh: Secret,
    pub(super) scopes: Scopes,
    pub(super) sub: Did,
}

#[derive(Deserialize)]
struct PushedWire {
    request_uri: String,
}

/// The name of a loopback client: what it may ask for and where it returns to. The port is another one each time and left
/// out: the server knows a session by this name, also when it is renewed.
pub(super) fn client_id(scopes: &Scopes) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("redirect_uri", super::redirect::registered_url().as_str())
        .append_pair("scope", &scopes.to_string())
        .finish();
    format!("http://localhost?{query}")
}

impl Client {
    /// Tells the server what will be asked for; the name it gives the request.
    pub(super) async fn push_request(
        &self,
        server: &Server,
        key: &DpopKey,
        form: &[(&'static str, &str)],
    ) -> Result<String> {
        let wire: PushedWire = self.post_form(&server.pushed, "the request to sign in", key, form).await?;
        Ok(wire.request_uri)
    }

    /// Gets tokens for a code or a refresh token.
    pub(super) async fn get_tokens(
        &self,
        server: &Server,
        key: &DpopKey,
        form: &[(&'static str, &str)],
    ) -> Result<Granted> {
        const WHAT: &str = "the request for tokens";
        let wire: TokenWire = self.post_form(&server.token, WHAT, key, form).await?;
        let bad = |why: &str| Error::BadAnswer { host: host_of(&server.token), method: WHAT, why: quote(why) };
        if !wire.token_type.eq_ignore_ascii_case("DPoP") {
            return Err(bad("the tokens are not bound to our key"));
        }
        let sub = Did::parse(&wire.sub).map_err(|_| bad("it does not say whose tokens they are"))?;
        let scope = wire.scope.ok_or_else(|| bad("it does not say what was granted"))?;
        let refresh = wire.refresh_token.ok_or_else(|| bad("there is no refresh token"))?;
        Ok(Granted { access: wire.access_token, refresh, scopes: Scopes::parse(&scope), sub })
    }

    /// Renews the tokens of a session. The server must still be the one that speaks for the account: what another one says
    /// of the account is worth nothing.
    pub(crate) async fn renew(&self, tokens: &Tokens, grant: &Grant) -> Result<Tokens> {
        let (pds, issuer) = self.authority_over(&tokens.did).await?;
        if issuer != grant.issuer {
            return Err(Error::SessionExpired { account: tokens.account() });
        }
        let server = self.server_metadata(&issuer).await?;
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens.refresh_jwt.expose()),
            ("client_id", &grant.client_id),
        ];
        let mut answer = self.get_tokens(&server, &grant.key, &form).await;
        if answer.as_ref().is_err_and(Error::is_ambiguous) {
            // A refresh token that was used is never taken again, and presenting it ends the session. But if it was used, the
            // session is lost already: nobody has the tokens of the answer that was lost.
            answer = self.get_tokens(&server, &grant.key, &form).await;
        }
        let granted = answer?;
        if granted.sub != tokens.did {
            let (from, asked) = (host_of(&server.token), tokens.did.clone());
            return Err(Error::DidMismatch { from, asked, got: granted.sub.to_string() });
        }
        Ok(Tokens {
            did: tokens.did.clone(),
            handle: tokens.handle.clone(),
            pds,
            access_jwt: granted.access,
            refresh_jwt: granted.refresh,
            oauth: Some(Grant { scopes: granted.scopes, ..grant.clone() }),
        })
    }

    /// Ends a session at its server.
    pub(crate) async fn revoke(&self, refresh_token: &Secret, grant: &Grant) -> Result<()> {
        let server = self.server_metadata(&grant.issuer).await?;
        let Some(endpoint) = &server.revocation else {
            let host = host_of(&server.token);
            return Err(Error::NoOauth { host, why: "it does not let a session be ended".into() });
        };
        // With a proof: the reference server answers 200 to a request without one too, and revokes nothing.
        let form =
            [("token", refresh_token.expose()), ("token_type_hint", "refresh_token"), ("client_id", &*grant.client_id)];
        self.post(endpoint, "the request to end the session", &grant.key, &form).await.map(drop)
    }

    async fn post_form<T: DeserializeOwned>(
        &self,
        url: &Url,
        what: &'static str,
        key: &DpopKey,
        form: &[(&'static str, &str)],
    ) -> Result<T> {
        let body = self.post(url, what, key, form).await?;
        serde_json::from_slice(&body).map_err(|error| {
            // The error's words name places and types, not values.
            Error::BadAnswer { host: host_of(url), method: what, why: quote(&error.to_string()) }
        })
    }

    async fn post(
        &self,
        url: &Url,
        what: &'static str,
        key: &DpopKey,
        form: &[(&'static str, &str)],
    ) -> Result<Vec<u8>> {
        let prepare = |request: reqwest::RequestBuilder| request.header(ACCEPT, "application/json").form(form);
        let answer = self.exchange_bound(key, None, (&Method::POST, url), prepare, SMALL_ANSWER).await?;
        Ok(self.accepted(url, what, answer)?.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_name_says_all_and_has_no_port() {
        let scopes = Scopes::for_collections(["click.aligned.chat.session", "click.aligned.chat.message"]);
        let name = client_id(&scopes);
        let url = Url::parse(&name).unwrap();
        assert!(name.starts_with("http://localhost?"), "{name}");
        assert_eq!((url.port(), url.path(), url.fragment()), (None, "/", None));
        let pairs: Vec<_> = url.query_pairs().collect();
        assert_eq!(pairs[0], ("redirect_uri".into(), "http://127.0.0.1/callback".into()));
        assert_eq!(pairs[1], ("scope".into(), scopes.to_string().into()));
        assert_eq!(pairs.len(), 2);
    }
}
