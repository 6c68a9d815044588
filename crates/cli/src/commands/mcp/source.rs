//! Where answers are from: an index on this machine, or another host.

use onrecord_atproto::Client;
use onrecord_web::xrpc::Xrpc;
use serde_json::Value;
use url::Url;

/// What answers queries.
pub enum Source {
    /// An index.
    Index(Xrpc),
    /// Another host of onrecord.
    Site(Site),
}

/// Another host.
pub struct Site {
    pub client: Client,
    pub url: Url,
}

impl Source {
    /// The answer to the query `nsid`; a refusal in words.
    pub async fn ask(&self, nsid: &'static str, params: &[(&'static str, String)]) -> Result<Value, String> {
        let pairs: Vec<(&'static str, &str)> = params.iter().map(|(name, value)| (*name, value.as_str())).collect();
        match self {
            Self::Index(xrpc) => {
                let answer = xrpc.answer(nsid, pairs).await.map_err(|refusal| refusal.to_string())?;
                serde_json::from_str(&answer).map_err(|error| error.to_string())
            }
            Self::Site(site) => site.client.ask(&site.url, nsid, &pairs).await.map_err(|error| match error {
                onrecord_atproto::Error::Rejected { error, message, .. } => format!("{error}: {message}"),
                other => other.to_string(),
            }),
        }
    }

    /// Where people read what was found, if that is known.
    pub fn pages(&self) -> Option<&Url> {
        match self {
            Self::Index(_) => None,
            Self::Site(site) => Some(&site.url),
        }
    }
}
