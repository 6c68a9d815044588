//! What a call of an endpoint is held to.

use super::{Catalog, Check};

/// Of one query, procedure or subscription.
#[derive(Debug)]
pub(crate) struct CallChecks {
    /// Its parameters, if it takes any: an object.
    pub(crate) params: Option<Check>,
    /// What it is sent, if that is JSON.
    pub(crate) input: Option<Check>,
    /// What it answers, if that is JSON.
    pub(crate) output: Option<Check>,
    /// What its messages are.
    pub(crate) message: Option<Check>,
}

impl Catalog {
    /// The checks of the endpoint `nsid`.
    pub(crate) fn call(&self, nsid: &str) -> Option<&CallChecks> {
        self.calls.get(nsid)
    }
}
