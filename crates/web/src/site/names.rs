//! Models and tools.

use std::sync::Arc;

use axum::{
    extract::{Path, Query, State, rejection::PathRejection},
    http::{StatusCode, Uri},
    response::Response,
};
use onrecord_index::NameOf;

use super::{
    Site, SourceError,
    answer::{Asked, Format, notice, refused},
    finds::{find, no_index},
};
use crate::{
    MAX_QUESTION,
    render::{NAMES, NamedView, NamesView, search_for},
    view::finds,
};

type Named = Result<Path<String>, PathRejection>;

/// `/models`
pub(super) async fn models(State(site): State<Arc<Site>>, uri: Uri) -> Response {
    list(&site, NameOf::Model, &uri).await
}

/// `/tools`
pub(super) async fn tools(State(site): State<Arc<Site>>, uri: Uri) -> Response {
    list(&site, NameOf::Tool, &uri).await
}

/// `/model/{provider/model}`, and `/index.json` and the like below it: a name may end in any suffix.
pub(super) async fn model(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    show(&site, NameOf::Model, path, asked).await
}

/// `/tool/{name}`
pub(super) async fn tool(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    show(&site, NameOf::Tool, path, asked).await
}

async fn list(site: &Site, of: NameOf, uri: &Uri) -> Response {
    let format = Format::of(uri.path()).1;
    let Some(index) = &site.index else { return no_index(&site.host, format) };
    match index.names(of, NAMES).await {
        Ok(names) => format.page(&site.host, &NamesView { of, names: &names }),
        Err(error) => refused(&site.host, format, &SourceError::from(error)),
    }
}

async fn show(site: &Site, of: NameOf, path: Named, asked: Asked) -> Response {
    let path = path.map(|Path(path)| path).unwrap_or_default();
    let (name, format) = match path.rsplit_once('/') {
        Some((name, last)) => match Format::of(last) {
            ("index", format) if format != Format::Html => (name, format),
            _ => (path.as_str(), Format::Html),
        },
        None => (path.as_str(), Format::Html),
    };
    let Some(index) = &site.index else { return no_index(&site.host, format) };
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    let after = asked.get("after").map(String::as_str);
    let found = if name.is_empty() || name.len() > MAX_QUESTION {
        Ok(None)
    } else {
        find(site, &search_for(of, name), after).await
    };
    let found = match found {
        Ok(found) => found.filter(|found| !found.items.is_empty() || after.is_some()),
        Err(error) => return refused(&site.host, format, &error),
    };
    let Some(found) = found else {
        let title = match of {
            NameOf::Model => "No such model speaks here",
            NameOf::Tool => "No such tool was called here",
        };
        let text = "No turn on record here names it. It may have been taken back, or have another name in the records.";
        return notice(&site.host, format, StatusCode::NOT_FOUND, "unknown", title, text);
    };
    let names = match index.names(of, NAMES).await {
        Ok(names) => names,
        Err(error) => return refused(&site.host, format, &SourceError::from(error)),
    };
    let view = NamedView {
        of,
        name,
        counted: names.iter().find(|known| known.name == name),
        found: finds(&found.items),
        next: found.cursor.as_ref().map(|cursor| cursor.as_str().to_owned()),
    };
    format.page(&site.host, &view)
}
