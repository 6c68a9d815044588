//! The address at which a host's own machines ask how the serving goes: apart from the site, so that it is public only where
//! the host makes it so.

use std::{net::SocketAddr, sync::Arc, time::Instant};

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::header,
    middleware::Next,
    response::{IntoResponse, Response},
    routing::get,
};
use onrecord_index::Index;
use tokio::net::TcpListener;

use crate::{
    error::{Error, Result},
    metrics::Metrics,
};

/// Counts the answers of a site.
pub fn counted(site: Router, metrics: &Arc<Metrics>) -> Router {
    site.layer(axum::middleware::from_fn_with_state(Arc::clone(metrics), count))
}

async fn count(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let began = Instant::now();
    let response = next.run(request).await;
    // Whatever else is asked for is one route: its name is a stranger's.
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    metrics.answered(route, response.status().as_u16(), began.elapsed());
    response
}

type Watched = (Arc<Metrics>, Option<Arc<dyn Index>>);

/// Answers `/metrics` at `address` until it is dropped; gives where that is.
pub async fn listen(address: SocketAddr, metrics: Arc<Metrics>, index: Option<Arc<dyn Index>>) -> Result<SocketAddr> {
    let listener =
        TcpListener::bind(address).await.map_err(|source| Error::Listen { address: address.to_string(), source })?;
    let bound = listener.local_addr()?;
    let app = Router::new().route("/metrics", get(text)).with_state((metrics, index));
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, app).await {
            tracing::error!(%error, "the metrics are no longer served");
        }
    });
    Ok(bound)
}

async fn text(State((metrics, index)): State<Watched>) -> impl IntoResponse {
    let text = metrics.text(index.as_deref()).await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}
