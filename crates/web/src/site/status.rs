//! How the index stands, and what was refused.

use std::sync::Arc;

use axum::{extract::State, http::Uri, response::Response};
use jiff::Timestamp;

use super::{
    Site, SourceError,
    answer::Format,
    finds::{no_index, refused},
};
use crate::view::StatusView;

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
    Ok(Some(StatusView::new(status, rejections, Timestamp::now())))
}
