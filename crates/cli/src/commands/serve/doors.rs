//! What the index knows, for other programs: queries over XRPC, tools for agents, feeds, cards and what others embed.

use std::sync::Arc;

use axum::Router;
use onrecord_index::Index;
use onrecord_web::{
    Host, Known, Own, card, embed, feed,
    xrpc::{self, Xrpc},
};

use crate::commands::mcp;

/// The doors that stand beside the pages.
pub fn router(own: Option<&Own>, index: &Arc<dyn Index>, host: &Host) -> Router {
    let queries = queries(own, index);
    xrpc::router(queries.clone())
        .merge(mcp::router(queries.clone()))
        .merge(card::router(queries.clone(), host.name()))
        .merge(embed::router(queries.clone(), host.clone()))
        .merge(feed::router(queries, host.base_url.clone(), host.name()))
}

/// Queries of the index, without what the author of this machine has taken back.
fn queries(own: Option<&Own>, index: &Arc<dyn Index>) -> Xrpc {
    let queries = Xrpc::new(Arc::clone(index));
    let Some(know) = own.map(|own| Arc::clone(&own.know)) else { return queries };
    queries.without(Arc::new(move |did, rkey| {
        let known = know(&[(did.clone(), rkey.clone())])?;
        Ok(known.contains(&Known::Gone))
    }))
}
