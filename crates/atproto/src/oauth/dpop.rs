//! Proofs that a token's sender holds its key. Source: RFC 9449 (DPoP), RFC 7638 (thumbprints).

use std::fmt;

use jiff::Timestamp;
use multibase::Base;
use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};
use serde::Serialize;
use url::Url;

use super::{base64url, random, sha256};
use crate::{Result, Secret};

/// The private key that a session's tokens are bound to: ECDSA over P-256. `Debug` shows its thumbprint.
#[derive(Clone, PartialEq, Eq)]
pub struct DpopKey(SigningKey);

/// The public key, its members in the order that a thumbprint has them (RFC 7638, section 3).
#[derive(Serialize)]
struct Jwk {
    crv: &'static str,
    kty: &'static str,
    x: String,
    y: String,
}

impl Jwk {
    fn thumbprint(&self) -> String {
        sha256(&json(self))
    }
}

#[derive(Serialize)]
struct Header {
    typ: &'static str,
    alg: &'static str,
    jwk: Jwk,
}

#[derive(Serialize)]
struct Claims<'a> {
    jti: String,
    htm: &'a str,
    htu: &'a str,
    iat: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ath: Option<String>,
}

/// What one proof is about.
pub(crate) struct Proof<'a> {
    /// The request's method, e.g. `POST`.
    pub(crate) method: &'a str,
    /// The request's URL; query and fragment are left out of the proof.
    pub(crate) url: &'a Url,
    /// The server's nonce, if it gave one.
    pub(crate) nonce: Option<&'a str>,
    /// The access token that the request carries, if any.
    pub(crate) token: Option<&'a Secret>,
    /// The time, by the server's clock.
    pub(crate) now: Timestamp,
}

impl DpopKey {
    /// A fresh one.
    ///
    /// # Errors
    /// [`crate::Error::Setup`] if the system has no randomness to give.
    pub fn generate() -> Result<Self> {
        loop {
            // Fewer than one of 2³² numbers is none.
            if let Ok(key) = SigningKey::from_slice(&random::<32>()?) {
                return Ok(Self(key));
            }
        }
    }

    /// The key that [`DpopKey::to_secret`] told; `None` if it is none.
    #[must_use]
    pub fn from_secret(secret: &Secret) -> Option<Self> {
        let bytes = Base::Base64Url.decode(secret.expose()).ok()?;
        SigningKey::from_slice(&bytes).ok().map(Self)
    }

    /// The key for the keyring: its number, as a JWK's `d` (base64url).
    #[must_use]
    pub fn to_secret(&self) -> Secret {
        Secret::new(base64url(&self.0.to_bytes()))
    }

    /// What the public key is known by (RFC 7638, SHA-256).
    #[must_use]
    pub fn thumbprint(&self) -> String {
        self.jwk().thumbprint()
    }

    fn jwk(&self) -> Jwk {
        let point = self.0.verifying_key().to_encoded_point(false);
        let coordinate = |bytes: Option<&p256::FieldBytes>| bytes.map(|b| base64url(b)).unwrap_or_default();
        Jwk { crv: "P-256", kty: "EC", x: coordinate(point.x()), y: coordinate(point.y()) }
    }

    /// The proof for one request: a JWT of its own each time.
    pub(crate) fn prove(&self, proof: &Proof<'_>) -> Result<String> {
        let mut url = proof.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        let claims = Claims {
            jti: base64url(&random::<16>()?),
            htm: proof.method,
            htu: url.as_str(),
            iat: proof.now.as_second(),
            nonce: proof.nonce,
            ath: proof.token.map(|token| sha256(token.expose())),
        };
        let header = Header { typ: "dpop+jwt", alg: "ES256", jwk: self.jwk() };
        let mut jwt = format!("{}.{}", base64url(json(&header).as_bytes()), base64url(json(&claims).as_bytes()));
        let signature: Signature = self.0.sign(jwt.as_bytes());
        jwt.push('.');
        jwt.push_str(&base64url(&signature.to_bytes()));
        Ok(jwt)
    }
}

/// Texts and numbers only: cannot fail.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DpopKey({})", self.thumbprint())
    }
}

#[cfg(test)]
mod tests {
    use p256::{
        EncodedPoint,
        ecdsa::{VerifyingKey, signature::Verifier as _},
    };
    use serde_json::{Value, json};

    use super::*;

    fn decode(part: &str) -> Vec<u8> {
        Base::Base64Url.decode(part).unwrap()
    }

    fn object(part: &str) -> Value {
        serde_json::from_slice(&decode(part)).unwrap()
    }

    /// Checks the signature by the key in the header, as a server does; header and claims.
    fn opened(jwt: &str) -> (Value, Value) {
        let [header, claims, signature] = jwt.split('.').collect::<Vec<_>>().try_into().unwrap();
        let jwk = &object(header)["jwk"];
        let coordinate = |name: &str| *p256::FieldBytes::from_slice(&decode(jwk[name].as_str().unwrap()));
        let point = EncodedPoint::from_affine_coordinates(&coordinate("x"), &coordinate("y"), false);
        let signature = Signature::from_slice(&decode(signature)).unwrap();
        let signed = jwt.rsplit_once('.').unwrap().0;
        VerifyingKey::from_encoded_point(&point).unwrap().verify(signed.as_bytes(), &signature).unwrap();
        (object(header), object(claims))
    }

    fn prove(key: &DpopKey, nonce: Option<&str>, token: Option<&Secret>) -> String {
        let url = Url::parse("https://server.example.com/token?query=left#out").unwrap();
        let now = Timestamp::from_second(1_562_262_616).unwrap();
        key.prove(&Proof { method: "POST", url: &url, nonce, token, now }).unwrap()
    }

    // RFC 9449, sections 4.2 and 9: the members of a proof, and the hash of section 7.1's token.
    #[test]
    fn a_proof_has_the_rfcs_shape_and_is_signed() {
        let key = DpopKey::generate().unwrap();
        let token = Secret::new(format!("{}.{}", "Kz~8mXK1EalYznwH-LC-1fBAo", "4Ljp~zsPE_NeO.gxU"));
        let (header, mut claims) = opened(&prove(&key, Some("eyJ7S_zG.eyJH0-Z.HX4w-7v"), Some(&token)));
        assert_eq!(header.as_object().unwrap().len(), 3);
        assert_eq!((&header["typ"], &header["alg"]), (&json!("dpop+jwt"), &json!("ES256")));
        // The public key and nothing of the private one.
        let members: Vec<_> = header["jwk"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(members, ["crv", "kty", "x", "y"]);
        assert!(claims["jti"].take().as_str().is_some_and(|jti| jti.len() == 22));
        assert_eq!(
            claims,
            json!({
                "jti": null,
                "htm": "POST",
                "htu": "https://server.example.com/token",
                "iat": 1_562_262_616,
                "nonce": "eyJ7S_zG.eyJH0-Z.HX4w-7v",
                "ath": "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo",
            })
        );
    }

    #[test]
    fn what_a_request_has_not_is_not_in_its_proof() {
        let key = DpopKey::generate().unwrap();
        let (_, claims) = opened(&prove(&key, None, None));
        assert!(claims.get("nonce").is_none() && claims.get("ath").is_none());
    }

    #[test]
    fn no_two_proofs_are_one() {
        let key = DpopKey::generate().unwrap();
        assert_ne!(prove(&key, None, None), prove(&key, None, None));
    }

    // RFC 9449, sections 4.1 (a whole proof) and 6.1 (the thumbprint of its key).
    #[test]
    fn the_rfcs_own_proof_is_opened_and_its_key_has_the_rfcs_thumbprint() {
        let proof = [
            "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpD",
            "a0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6",
            "IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGU",
            "uY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NV",
            "Y-FNyJK70nfbV37xRZT3Lg",
        ];
        let (header, claims) = opened(&proof.concat());
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let (ours, our_claims) = opened(&prove(&DpopKey::generate().unwrap(), None, None));
        assert_eq!((names(&ours), names(&ours["jwk"])), (names(&header), names(&header["jwk"])));
        assert_eq!(names(&our_claims), names(&claims));
        let coordinate = |name: &str| header["jwk"][name].as_str().unwrap().to_owned();
        let jwk = Jwk { crv: "P-256", kty: "EC", x: coordinate("x"), y: coordinate("y") };
        assert_eq!(jwk.thumbprint(), "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
    }

    // The key pair of RFC 7515, appendix A.3.1.
    #[test]
    fn a_private_key_has_the_public_half_of_the_rfc() {
        let number = ["jpsQnnGQmL-YBIffH1136cspYG6", "-0iY7X1fCE9-E9LI"].concat();
        let jwk = DpopKey::from_secret(&Secret::new(number)).unwrap().jwk();
        assert_eq!(jwk.x, "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU");
        assert_eq!(jwk.y, "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
    }

    #[test]
    fn a_key_comes_back_and_does_not_show_itself() {
        let key = DpopKey::generate().unwrap();
        let secret = key.to_secret();
        assert_eq!(DpopKey::from_secret(&secret), Some(key.clone()));
        assert!(!format!("{key:?}").contains(secret.expose()));
        for nonsense in ["", "AAAA", "not base64!", &"A".repeat(43)] {
            assert_eq!(DpopKey::from_secret(&Secret::new(nonsense)), None);
        }
    }
}
