//! Queries of any XRPC host, by name.

use serde_json::Value;
use url::Url;

use crate::{Client, Result, xrpc::Call};

/// Most bytes of an answer: a hundred turns of the longest text there is, with their steps.
const LARGE_ANSWER: usize = 16_000_000;

impl Client {
    /// Asks `server` the query `method`, and gives its answer as it is; tried again a few times where that may help.
    ///
    /// # Errors
    /// [`crate::Error::Rejected`] with the name and the message of its refusal; [`crate::Error::AddressRefused`] if it may not be
    /// talked to; the network; an answer that is no JSON.
    pub async fn ask(&self, server: &Url, method: &'static str, params: &[(&'static str, &str)]) -> Result<Value> {
        let call = Call { params, limit: LARGE_ANSWER, ..Call::new(server, method) };
        self.query(&call).await
    }
}
