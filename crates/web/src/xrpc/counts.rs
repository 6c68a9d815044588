//! `dev.onrecord.listModels`, `listTools`, `listRejections` and `getStatus`

use onrecord_index::{NameOf, Rejected};
use serde::{Deserialize, Serialize};

use super::{
    Xrpc, XrpcError,
    view::{Count, Model},
};

#[derive(Deserialize)]
pub(super) struct Params {
    limit: u32,
}

#[derive(Serialize)]
pub(super) struct Models {
    models: Vec<ModelUsage>,
}

#[derive(Serialize)]
struct ModelUsage {
    model: Model,
    turns: u64,
    conversations: u64,
}

#[derive(Serialize)]
pub(super) struct Tools {
    tools: Vec<ToolUsage>,
}

#[derive(Serialize)]
struct ToolUsage {
    tool: String,
    calls: u64,
    conversations: u64,
}

#[derive(Serialize)]
pub(super) struct Rejections {
    rejections: Vec<Rejected>,
}

#[derive(Serialize)]
pub(super) struct State {
    conversations: u64,
    waiting: u64,
    gone: u64,
    records: Vec<Count>,
    accounts: Vec<Count>,
}

impl Xrpc {
    pub(super) async fn list_models(&self, params: Params) -> Result<Models, XrpcError> {
        let names = self.index.names(NameOf::Model, params.limit).await?;
        let usage = |name: onrecord_index::Name| ModelUsage {
            model: Model::of(name.name),
            turns: name.count,
            conversations: name.conversations,
        };
        Ok(Models { models: names.into_iter().map(usage).collect() })
    }

    pub(super) async fn list_tools(&self, params: Params) -> Result<Tools, XrpcError> {
        let names = self.index.names(NameOf::Tool, params.limit).await?;
        let usage = |name: onrecord_index::Name| ToolUsage {
            tool: name.name,
            calls: name.count,
            conversations: name.conversations,
        };
        Ok(Tools { tools: names.into_iter().map(usage).collect() })
    }

    pub(super) async fn list_rejections(&self) -> Result<Rejections, XrpcError> {
        Ok(Rejections { rejections: self.index.rejections().await? })
    }

    /// Without the sources that are followed: their addresses are the host's own matter.
    pub(super) async fn get_status(&self) -> Result<State, XrpcError> {
        let status = self.index.status().await?;
        let mut accounts = Vec::new();
        for (state, count) in status.accounts {
            let name = serde_json::to_value(state).map_err(XrpcError::failed)?;
            accounts.push(Count { name: name.as_str().unwrap_or_default().to_owned(), count });
        }
        Ok(State {
            conversations: status.conversations,
            waiting: status.waiting,
            gone: status.gone,
            records: status.records.into_iter().map(|(name, count)| Count { name, count }).collect(),
            accounts,
        })
    }
}
