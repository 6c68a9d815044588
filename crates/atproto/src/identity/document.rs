//! A DID document, as far as the protocol uses it.

use onrecord_lexicon::{Did, Handle};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::{Error, Result};

/// Longest URL of a server; what it takes is kept for many accounts.
const MAX_ENDPOINT: usize = 1_000;
/// Longest key in base58; those that the protocol knows take 48 or 49 letters.
const MAX_KEY: usize = 100;

/// Entries of unknown form are passed over: a document may serve other uses as well.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    pub(crate) id: String,
    #[serde(default)]
    also_known_as: Vec<Value>,
    #[serde(default)]
    verification_method: Vec<Value>,
    #[serde(default)]
    service: Vec<Value>,
}

impl Document {
    pub(crate) fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// The handle that the document claims: the first `at://` name, if it is a handle.
    pub(crate) fn handle(&self) -> Option<Handle> {
        let name = self.also_known_as.iter().filter_map(Value::as_str).find_map(|name| name.strip_prefix("at://"))?;
        Handle::parse(&name.to_ascii_lowercase()).ok()
    }

    /// The server that holds the repository, if `check` lets it be talked to.
    pub(crate) fn pds(&self, did: &Did, check: impl Fn(&Url) -> Result<()>) -> Result<Url> {
        let pds = self.server(did, "#atproto_pds", "AtprotoPersonalDataServer", check)?;
        pds.ok_or_else(|| Error::NoPds { did: did.clone() })
    }

    /// The server that says a labeler's labels, if `check` lets it be talked to, and the key that signs them.
    pub(crate) fn labeler(&self, did: &Did, check: impl Fn(&Url) -> Result<()>) -> Result<(Url, String)> {
        let none = |what| Error::NoLabeler { did: did.clone(), what };
        let url = self.server(did, "#atproto_labeler", "AtprotoLabeler", check)?.ok_or_else(|| none("labeler"))?;
        let key = self.key(did, "#atproto_label").ok_or_else(|| none("key that signs labels"))?;
        Ok((url, key))
    }

    fn server(&self, did: &Did, fragment: &str, kind: &str, check: impl Fn(&Url) -> Result<()>) -> Result<Option<Url>> {
        let Some(service) = entry(&self.service, did, fragment).filter(|service| text(service, "type") == Some(kind))
        else {
            return Ok(None);
        };
        let bad = |why: &str| Error::BadDocument { did: did.clone(), why: why.into() };
        let endpoint = text(service, "serviceEndpoint").ok_or_else(|| bad("its server has no URL"))?;
        if endpoint.len() > MAX_ENDPOINT {
            return Err(bad("its server's URL is too long"));
        }
        let mut url = Url::parse(endpoint).map_err(|_| bad("its server's URL is none"))?;
        check(&url)?;
        // Methods are at the root of the host, whatever else the URL says.
        url.set_path("/");
        url.set_query(None);
        url.set_fragment(None);
        Ok(Some(url))
    }

    /// The key that signs commits, as a `did:key`.
    pub(crate) fn signing_key(&self, did: &Did) -> Option<String> {
        self.key(did, "#atproto")
    }

    fn key(&self, did: &Did, fragment: &str) -> Option<String> {
        let method = entry(&self.verification_method, did, fragment)?;
        if text(method, "type")? != "Multikey" {
            return None;
        }
        let key = text(method, "publicKeyMultibase").filter(|key| key.len() <= MAX_KEY)?;
        let base58 = key.strip_prefix('z').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric()));
        base58.then(|| format!("did:key:{key}"))
    }
}

/// The entry whose id is the fragment, alone or after the document's own DID.
fn entry<'a>(entries: &'a [Value], did: &Did, fragment: &str) -> Option<&'a Value> {
    entries
        .iter()
        .find(|entry| text(entry, "id").is_some_and(|id| id.strip_prefix(did.as_str()).unwrap_or(id) == fragment))
}

fn text<'a>(entry: &'a Value, field: &str) -> Option<&'a str> {
    entry.get(field)?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

    fn document(change: impl FnOnce(&mut Value)) -> Document {
        let mut json = json!({
            "id": DID,
            "alsoKnownAs": ["https://example.com", "at://Dana.Example.com", "at://other.example.com"],
            "verificationMethod": [
                { "id": format!("{DID}#atproto_label"), "type": "Multikey", "publicKeyMultibase": "zLabel" },
                { "id": format!("{DID}#atproto"), "type": "Multikey", "publicKeyMultibase": "zQ3shKey" },
            ],
            "service": [
                { "id": "#other", "type": "Other", "serviceEndpoint": { "url": "https://other.example" } },
                { "id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": "https://pds.example/x?y#z" },
            ],
        });
        change(&mut json);
        Document::parse(json.to_string().as_bytes()).unwrap()
    }

    fn pds(document: &Document) -> Result<Url> {
        document.pds(&Did::parse(DID).unwrap(), |_| Ok(()))
    }

    #[test]
    fn the_parts_that_the_protocol_uses() {
        let document = document(|_| {});
        assert_eq!(document.handle().unwrap().as_str(), "dana.example.com");
        assert_eq!(pds(&document).unwrap().as_str(), "https://pds.example/");
        assert_eq!(document.signing_key(&Did::parse(DID).unwrap()).as_deref(), Some("did:key:zQ3shKey"));
    }

    #[test]
    fn ids_may_be_absolute() {
        let document = document(|json| json["service"][1]["id"] = format!("{DID}#atproto_pds").into());
        assert!(pds(&document).is_ok());
    }

    #[test]
    fn no_service_of_the_right_id_and_type_is_no_pds() {
        for (field, value) in [("id", "#pds"), ("id", "did:plc:other#atproto_pds"), ("type", "Other")] {
            let document = document(|json| json["service"][1][field] = value.into());
            assert!(matches!(pds(&document), Err(Error::NoPds { .. })), "{field} {value}");
        }
        assert!(matches!(pds(&document(|json| json["service"] = json!([]))), Err(Error::NoPds { .. })));
    }

    #[test]
    fn an_endpoint_that_is_no_url_or_not_allowed_is_an_error() {
        let nonsense = document(|json| json["service"][1]["serviceEndpoint"] = "pds".into());
        assert!(matches!(pds(&nonsense), Err(Error::BadDocument { .. })));
        let object = document(|json| json["service"][1]["serviceEndpoint"] = json!({ "a": "b" }));
        assert!(matches!(pds(&object), Err(Error::BadDocument { .. })));
        let refused = document(|_| {}).pds(&Did::parse(DID).unwrap(), |_| {
            Err(Error::AddressRefused { host: "pds.example".into(), why: "a test" })
        });
        assert!(matches!(refused, Err(Error::AddressRefused { .. })));
    }

    #[test]
    fn missing_parts_are_none() {
        let bare = Document::parse(format!(r#"{{"id":"{DID}"}}"#).as_bytes()).unwrap();
        assert_eq!(bare.handle(), None);
        assert_eq!(bare.signing_key(&Did::parse(DID).unwrap()), None);
        let old = document(|json| {
            json["verificationMethod"][1]["type"] = "EcdsaSecp256k1VerificationKey2019".into();
        });
        assert_eq!(old.signing_key(&Did::parse(DID).unwrap()), None);
    }
}
