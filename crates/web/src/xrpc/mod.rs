//! What the index knows, for other programs: the queries of `lexicons/dev/onrecord`, over HTTP and within the process.
//!
//! A query's parameters are read and its answer is made as its lexicon says; the tests hold every answer against it.

mod counts;
mod error;
mod get_author;
mod get_conversation;
mod get_turn;
mod list_conversations;
mod search_turns;
mod service;
mod view;

use std::sync::Arc;

use onrecord_index::{Address, Index};
use onrecord_lexicon::{AtIdentifier, AtUri, BadParams, Catalog, Did, Handle, Nsid, Rkey};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::SourceError;

pub use error::XrpcError;
pub use service::router;

/// Whether its author has taken back the conversation under this key, which the index may not have been told yet. May block.
pub type TakenBack = dyn Fn(&Did, &Rkey) -> Result<bool, SourceError> + Send + Sync;

/// The NSIDs of the queries that are answered.
pub const METHODS: [&str; 10] = [
    "dev.onrecord.getAuthor",
    "dev.onrecord.getConversation",
    "dev.onrecord.getStatus",
    "dev.onrecord.getTurn",
    "dev.onrecord.listConversations",
    "dev.onrecord.listModels",
    "dev.onrecord.listRejections",
    "dev.onrecord.listTools",
    "dev.onrecord.listTurnsAbout",
    "dev.onrecord.searchTurns",
];

/// Answers queries from an index.
#[derive(Clone)]
pub struct Xrpc {
    index: Arc<dyn Index>,
    taken_back: Option<Arc<TakenBack>>,
}

impl Xrpc {
    /// From `index`.
    #[must_use]
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index, taken_back: None }
    }

    /// Without what `taken_back` says.
    #[must_use]
    pub fn without(self, taken_back: Arc<TakenBack>) -> Self {
        Self { taken_back: Some(taken_back), ..self }
    }

    /// The answer to the query `nsid`, as JSON. `params` are the pairs of a query string, decoded.
    ///
    /// # Errors
    /// There is no such query; the parameters are not what it takes; what it asks for is not there; the index fails.
    pub async fn answer<'q>(
        &self,
        nsid: &str,
        params: impl IntoIterator<Item = (&'q str, &'q str)>,
    ) -> Result<String, XrpcError> {
        let params: Vec<(&str, &str)> = params.into_iter().collect();
        // Nothing that is kept has a zero in it, and not every store can be asked for one.
        if params.iter().any(|(_, value)| value.contains('\0')) {
            return Err(XrpcError::invalid("a parameter holds U+0000".into()));
        }
        let params = match Catalog::bundled().read_params(nsid, params) {
            Ok(params) if METHODS.contains(&nsid) => Value::Object(params),
            Ok(_) => return Err(XrpcError::unknown_method(nsid)),
            Err(BadParams::UnknownEndpoint(_)) => return Err(XrpcError::unknown_method(nsid)),
            Err(invalid) => return Err(XrpcError::invalid(invalid.to_string())),
        };
        match nsid.strip_prefix("dev.onrecord.").unwrap_or_default() {
            "getAuthor" => written(&self.get_author(read(params)?).await?),
            "getConversation" => written(&self.get_conversation(read(params)?).await?),
            "getStatus" => written(&self.get_status().await?),
            "getTurn" => written(&self.get_turn(read(params)?).await?),
            "listConversations" => written(&self.list_conversations(read(params)?).await?),
            "listModels" => written(&self.list_models(read(params)?).await?),
            "listRejections" => written(&self.list_rejections().await?),
            "listTools" => written(&self.list_tools(read(params)?).await?),
            "listTurnsAbout" => written(&self.list_turns_about(read(params)?).await?),
            "searchTurns" => written(&self.search_turns(read(params)?).await?),
            _ => Err(XrpcError::unknown_method(nsid)),
        }
    }

    /// Whose DID or handle this is; none of a handle that nobody here has.
    pub(crate) async fn did_of(&self, who: &AtIdentifier) -> Result<Option<Did>, XrpcError> {
        match who.as_handle() {
            Some(handle) => Ok(self.index.resolve(&lower(&handle)).await?),
            None => Ok(who.as_did()),
        }
    }

    /// The same, where nobody is an error.
    async fn author(&self, who: &AtIdentifier) -> Result<Did, XrpcError> {
        self.did_of(who).await?.ok_or_else(|| XrpcError::no_author(who.as_str()))
    }

    /// The record that `uri` is of; none if its authority is a handle that nobody here has.
    async fn address(&self, uri: &AtUri) -> Result<Option<Address>, XrpcError> {
        let parts = uri.collection().zip(uri.rkey());
        let (collection, rkey) = parts.ok_or_else(|| XrpcError::invalid("uri: it is of no record".into()))?;
        let who = AtIdentifier::parse(uri.authority())?;
        let (collection, rkey) = (Nsid::parse(collection)?, Rkey::parse(rkey)?);
        Ok(self.did_of(&who).await?.map(|did| Address { did, collection, rkey }))
    }

    /// Of each of `items`, whose conversation `of` names, whether it may be shown; keeps those.
    async fn keep<T: Send + 'static>(
        &self,
        items: Vec<T>,
        of: fn(&T) -> Option<&Address>,
    ) -> Result<Vec<T>, XrpcError> {
        let Some(taken_back) = self.taken_back.clone() else { return Ok(items) };
        let job = move || {
            let mut kept = Vec::with_capacity(items.len());
            for item in items {
                let is_gone = of(&item).map_or(Ok(false), |at| taken_back(&at.did, &at.rkey))?;
                if !is_gone {
                    kept.push(item);
                }
            }
            Ok::<_, SourceError>(kept)
        };
        tokio::task::spawn_blocking(job).await.map_err(XrpcError::failed)?.map_err(XrpcError::failed)
    }

    /// Whether the conversation at `address` was taken back, as far as the index need not know it.
    async fn is_taken_back(&self, address: &Address) -> Result<bool, XrpcError> {
        Ok(self.keep(vec![address.clone()], |address| Some(address)).await?.is_empty())
    }
}

/// Handles are kept in lower case, and mean the same in any.
fn lower(handle: &Handle) -> Handle {
    Handle::parse(&handle.as_str().to_ascii_lowercase()).unwrap_or_else(|_| handle.clone())
}

/// Parameters that were held against their lexicon, as the query has them.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, XrpcError> {
    serde_json::from_value(params).map_err(|error| XrpcError::invalid(error.to_string()))
}

fn written(answer: &impl Serialize) -> Result<String, XrpcError> {
    serde_json::to_string(answer).map_err(XrpcError::failed)
}

#[cfg(test)]
pub(crate) mod tests;
