//! Which authorization server speaks for an account, and whether it does all that the protocol asks of it. Source: RFC 9728
//! and 8414, and the protocol's OAuth profile.

use onrecord_lexicon::Did;
use reqwest::StatusCode;
use serde::{Deserialize, de::DeserializeOwned};
use url::Url;

use crate::{Client, Error, Result, error::quote, http::host_of};

const DOCUMENT_LIMIT: usize = 100_000;
const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";

/// An authorization server, checked.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// Its name, letter by letter as it writes it.
    pub(crate) issuer: String,
    pub(crate) authorization: Url,
    pub(crate) pushed: Url,
    pub(crate) token: Url,
    pub(crate) revocation: Option<Url>,
}

#[derive(Deserialize)]
struct ResourceWire {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
}

#[derive(Deserialize)]
struct ServerWire {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    pushed_authorization_request_endpoint: Url,
    revocation_endpoint: Option<Url>,
    #[serde(default)]
    response_types_supported: Vec<String>,
    #[serde(default)]
    grant_types_supported: Vec<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    dpop_signing_alg_values_supported: Vec<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
}

impl Client {
    /// The authorization server that an account's own server names.
    pub(crate) async fn authorization_server(&self, pds: &Url) -> Result<Server> {
        let issuer = self.issuer_of(pds).await?;
        self.server_metadata(&issuer).await
    }

    /// The authorization server that speaks for an account now, and the account's server, asking afresh for each step: what
    /// a token says of whom it is for is believed no other way.
    pub(crate) async fn authority_over(&self, did: &Did) -> Result<(Url, String)> {
        let pds = self.pds_of(did).await?;
        let issuer = self.issuer_of(&pds).await?;
        Ok((pds, issuer))
    }

    async fn issuer_of(&self, pds: &Url) -> Result<String> {
        let no = |why: &str| Error::NoOauth { host: host_of(pds), why: why.to_owned() };
        let wire: ResourceWire = self.well_known(pds, RESOURCE).await?;
        if !is_origin(&wire.resource, pds) {
            return Err(no(&format!("it calls itself {}", quote(&wire.resource))));
        }
        let [issuer] = &wire.authorization_servers[..] else {
            return Err(no("it does not name one authorization server"));
        };
        Ok(issuer.clone())
    }

    /// What the authorization server `issuer` says about itself.
    pub(crate) async fn server_metadata(&self, issuer: &str) -> Result<Server> {
        let url = Url::parse(issuer).map_err(|_| Error::NoOauth { host: quote(issuer), why: "it is no URL".into() })?;
        if !is_origin(issuer, &url) {
            return Err(Error::NoOauth { host: quote(issuer), why: "its name is more than scheme and host".into() });
        }
        let wire: ServerWire = self.well_known(&url, SERVER).await?;
        let server = wire.checked(issuer).map_err(|why| Error::NoOauth { host: host_of(&url), why })?;
        let endpoints = [&server.authorization, &server.pushed, &server.token];
        endpoints.into_iter().chain(&server.revocation).try_for_each(|url| self.inner.http.guard.check(url))?;
        Ok(server)
    }

    async fn well_known<T: DeserializeOwned>(&self, server: &Url, path: &str) -> Result<T> {
        let no = |why: String| Error::NoOauth { host: host_of(server), why };
        let url = server.join(path).map_err(|_| no("it is no web address".into()))?;
        // No redirect is followed: another server may not speak for this one.
        let answer = self.inner.http.exchange(self.inner.http.get(url)?, DOCUMENT_LIMIT).await?;
        match answer.status {
            StatusCode::OK => {}
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                let (status, method) = (status.as_u16(), "the question for its sign-in");
                let (error, message) = ("no answer".into(), path.into());
                return Err(Error::Server { host: host_of(server), method, status, error, message });
            }
            status => return Err(no(format!("{path}: HTTP {}", status.as_u16()))),
        }
        serde_json::from_slice(&answer.body).map_err(|error| no(quote(&format!("{path}: {error}"))))
    }
}

impl ServerWire {
    fn checked(self, issuer: &str) -> Result<Server, String> {
        if self.issuer != issuer {
            return Err(format!("it calls itself {}", quote(&self.issuer)));
        }
        let has = |list: &[String], wanted: &str| list.iter().any(|item| item == wanted);
        let demands = [
            ("codes", has(&self.response_types_supported, "code")),
            ("the exchange of codes", has(&self.grant_types_supported, "authorization_code")),
            ("refreshing", has(&self.grant_types_supported, "refresh_token")),
            ("PKCE with S256", has(&self.code_challenge_methods_supported, "S256")),
            ("DPoP with ES256", has(&self.dpop_signing_alg_values_supported, "ES256")),
            ("clients without a secret", has(&self.token_endpoint_auth_methods_supported, "none")),
            ("the scope atproto", has(&self.scopes_supported, "atproto")),
            ("naming itself in its answers", self.authorization_response_iss_parameter_supported),
            ("clients it has not met", self.client_id_metadata_document_supported),
        ];
        if let Some((demand, _)) = demands.iter().find(|(_, met)| !met) {
            return Err(format!("it does not support {demand}"));
        }
        Ok(Server {
            issuer: self.issuer,
            authorization: self.authorization_endpoint,
            pushed: self.pushed_authorization_request_endpoint,
            token: self.token_endpoint,
            revocation: self.revocation_endpoint,
        })
    }
}

/// Whether `text` is the origin of `url` and nothing more, but for a final slash.
fn is_origin(text: &str, url: &Url) -> bool {
    text.strip_suffix('/').unwrap_or(text) == url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ISSUER: &str = "https://auth.example";

    fn checked(change: impl FnOnce(&mut Value)) -> Result<Server, String> {
        let mut metadata = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://auth.example/oauth/authorize",
            "token_endpoint": "https://auth.example/oauth/token",
            "pushed_authorization_request_endpoint": "https://auth.example/oauth/par",
            "revocation_endpoint": "https://auth.example/oauth/revoke",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "dpop_signing_alg_values_supported": ["RS256", "ES256"],
            "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
            "scopes_supported": ["atproto", "transition:generic"],
            "authorization_response_iss_parameter_supported": true,
            "client_id_metadata_document_supported": true,
            "something_else": {},
        });
        change(&mut metadata);
        let wire: ServerWire = serde_json::from_value(metadata).map_err(|error| error.to_string())?;
        wire.checked(ISSUER)
    }

    #[test]
    fn a_server_that_does_all_is_taken() {
        let server = checked(|_| {}).unwrap();
        assert_eq!(server.issuer, ISSUER);
        assert_eq!(server.token.as_str(), "https://auth.example/oauth/token");
        assert!(
            checked(|m| drop(m.as_object_mut().unwrap().remove("revocation_endpoint"))).unwrap().revocation.is_none()
        );
    }

    #[test]
    fn each_demand_is_checked_and_named() {
        for (member, value, word) in [
            ("issuer", json!("https://evil.example"), "it calls itself https://evil.example"),
            ("issuer", json!("https://auth.example/"), "it calls itself"),
            ("response_types_supported", json!(["token"]), "codes"),
            ("grant_types_supported", json!(["authorization_code"]), "refreshing"),
            ("grant_types_supported", json!(["refresh_token"]), "exchange of codes"),
            ("code_challenge_methods_supported", json!(["plain"]), "S256"),
            ("dpop_signing_alg_values_supported", json!(["RS256"]), "ES256"),
            ("token_endpoint_auth_methods_supported", json!(["private_key_jwt"]), "without a secret"),
            ("scopes_supported", json!(["openid"]), "atproto"),
            ("authorization_response_iss_parameter_supported", json!(false), "naming itself"),
            ("client_id_metadata_document_supported", json!(false), "has not met"),
            ("pushed_authorization_request_endpoint", json!(null), "null"),
            ("token_endpoint", json!("/oauth/token"), "relative URL"),
        ] {
            let error = checked(|metadata| metadata[member] = value.clone()).unwrap_err();
            assert!(error.contains(word), "{member} {value}: {error}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port_alone() {
        let url = Url::parse("https://auth.example:8443/x").unwrap();
        for text in ["https://auth.example:8443", "https://auth.example:8443/"] {
            assert!(is_origin(text, &url), "{text}");
        }
        for text in
            ["https://auth.example", "http://auth.example:8443", "https://auth.example:8443/x", "auth.example:8443"]
        {
            assert!(!is_origin(text, &url), "{text}");
        }
    }
}
