//! How the index stands, and what was refused.

use std::sync::Arc;

use axum::{extract::State, http::Uri, response::Response};
use jiff::Timestamp;

use super::{
    Site, SourceError,
    answer::{Format, refused},
    finds::no_index,
};
use crate::view::StatusView;

/// Says when the last event happened that was read of a source, named as in the index.
pub type ReachedSource = dyn Fn(&str) -> Option<Timestamp> + Send + Sync;

/// How far what is followed was read: only the process that follows it knows.
#[derive(Clone)]
pub struct Reached(pub Arc<ReachedSource>);

impl std::fmt::Debug for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reached")
    }
}

/// `/status`, and in the other formats. It says how long ago things were, so it must not be kept for long.
pub(super) async fn page(State(site): State<Arc<Site>>, uri: Uri) -> Response {
    let format = Format::of(uri.path()).1;
    match view(&site).await {
        Ok(Some(view)) => format.page(&site.host, &view),
        Ok(None) => no_index(&site.host, format),
        Err(error) => refused(&site.host, format, &error),
    }
}

async fn view(site: &Site) -> Result<Option<StatusView>, SourceError> {
    let Some(index) = &site.index else { return Ok(None) };
    let (status, rejections) = (index.status().await?, index.rejections().await?);
    let reached = |source: &str| site.reached.as_ref().and_then(|reached| (reached.0)(source));
    Ok(Some(StatusView::new(status, rejections, Timestamp::now(), reached)))
}
