//! What the client needs to be told. Nothing here is read from the environment.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use url::Url;

/// Where to look things up, and how strict to be about addresses.
#[derive(Debug, Clone)]
pub struct Config {
    /// The did:plc directory.
    pub plc_url: Url,
    /// An XRPC host that is asked `com.atproto.identity.resolveHandle` before DNS and the handle's own site.
    /// Its answers are checked against the DID document like all others.
    pub resolver_url: Option<Url>,
    /// Lets identities and servers be on loopback, over plain http. Other private addresses stay refused.
    /// Also allows handles under the reserved top-level domain `.test`.
    pub allow_local: bool,
    /// The `User-Agent` of every request.
    pub user_agent: String,
    /// Limit on one whole request, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// Names answered from here and not by DNS, as a hosts file does, with the port a URL without one connects to.
    pub hosts: BTreeMap<String, SocketAddr>,
    /// The name server asked for `TXT` records; the system's own when there is none.
    pub nameserver: Option<SocketAddr>,
}

/// The public directory of did:plc identities.
const PLC_DIRECTORY: &str = "https://plc.directory";

impl Default for Config {
    fn default() -> Self {
        #[expect(clippy::expect_used, reason = "a constant, parsed by every test")]
        let plc_url = Url::parse(PLC_DIRECTORY).expect("a valid URL");
        Self {
            plc_url,
            resolver_url: None,
            allow_local: false,
            user_agent: concat!("onrecord/", env!("CARGO_PKG_VERSION")).into(),
            timeout: Duration::from_secs(30),
            hosts: BTreeMap::new(),
            nameserver: None,
        }
    }
}
