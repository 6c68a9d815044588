//! Which account a domain names, by the TXT records of a name under it: for handles and for lexicons alike.

use std::{net::SocketAddr, time::Duration};

use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolverConfig},
    net::runtime::TokioRuntimeProvider,
    proto::rr::RData,
};
use onrecord_lexicon::Did;

use crate::{Client, error::quote};

const DNS_TIMEOUT: Duration = Duration::from_secs(3);
const DNS_ATTEMPTS: usize = 2;

/// What one way of resolving came to, if not to a DID.
pub(crate) enum Miss {
    /// It knows that there is none.
    NotFound(String),
    /// It could not tell.
    Failed(String),
    /// It names several.
    Conflict,
}

impl Client {
    /// The DID that the TXT records of `label` under `domain` name. No other name is asked, above it or below.
    pub(crate) async fn did_by_dns(&self, label: &str, domain: &str) -> Result<Did, Miss> {
        let failed = |why: String| Miss::Failed(format!("DNS: {}", quote(&why)));
        let resolver = self.dns().map_err(failed)?;
        let lookup = match resolver.txt_lookup(format!("{label}.{domain}.")).await {
            Ok(lookup) => lookup,
            Err(error) if error.is_no_records_found() => {
                return Err(Miss::NotFound(format!("DNS has no {label} record")));
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        let texts = lookup.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(txt) => Some(txt.txt_data.concat()),
            _ => None,
        });
        did_of_records(label, texts)
    }

    fn dns(&self) -> Result<&TokioResolver, String> {
        let resolver = &self.inner.resolver;
        if let Some(dns) = resolver.dns.get() {
            return Ok(dns);
        }
        let dns = dns_resolver(resolver.config.nameserver)?;
        Ok(resolver.dns.get_or_init(|| dns))
    }
}

/// The DID that TXT records name. Records of other uses are passed over; several DIDs are none.
fn did_of_records(label: &str, texts: impl Iterator<Item = Vec<u8>>) -> Result<Did, Miss> {
    let mut found: Option<Did> = None;
    for text in texts {
        let Some(did) =
            String::from_utf8(text).ok().and_then(|text| Did::parse(text.strip_prefix("did=")?.trim()).ok())
        else {
            continue;
        };
        match &found {
            Some(other) if *other != did => return Err(Miss::Conflict),
            _ => found = Some(did),
        }
    }
    found.ok_or_else(|| Miss::NotFound(format!("DNS has no {label} record that names a DID")))
}

fn dns_resolver(nameserver: Option<SocketAddr>) -> Result<TokioResolver, String> {
    let mut builder = match nameserver {
        None => TokioResolver::builder_tokio().map_err(|error| error.to_string())?,
        Some(address) => {
            let mut connection = ConnectionConfig::udp();
            connection.port = address.port();
            let server = NameServerConfig::new(address.ip(), true, vec![connection]);
            TokioResolver::builder_with_config(
                ResolverConfig::from_name_servers(vec![server]),
                TokioRuntimeProvider::default(),
            )
        }
    };
    let options = builder.options_mut();
    options.timeout = DNS_TIMEOUT;
    options.attempts = DNS_ATTEMPTS;
    builder.build().map_err(|error| error.to_string())
}
