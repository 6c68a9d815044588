//! `onrecord serve`: the reading pages of what is on record from this machine, and of what the index has.

mod follow;
mod own;

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use onrecord_index::Index;
use onrecord_web::{Host, Site, router};
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    cli::Serve,
    config,
    error::{Error, Result},
    output::Out,
    terminal,
};

use follow::Following;

pub async fn run(args: &Serve, out: &mut Out) -> Result<u8> {
    let workspace = Arc::new(Mutex::new(config::open_workspace()?));
    let index = open_index(args).await?;
    let mut following = match &index {
        Some(index) => Some(Following::start(args, index, out.quiet)?),
        None => None,
    };
    let listener = TcpListener::bind(args.listen)
        .await
        .map_err(|source| Error::Listen { address: args.listen.to_string(), source })?;
    let address = listener.local_addr()?;
    let url = format!("http://{address}");
    if out.json {
        out.json_now(&json!({"url": url}))?;
    } else {
        out.line(&url)?;
        out.finish()?;
        let more = if index.is_some() { ", and what the index has" } else { "" };
        out.note(format!("Serving what is on record from this machine{more}. Ctrl-C ends it."));
    }
    let app = router(Site {
        own: Some(own::own(&workspace)),
        index,
        host: Host::new(),
        loopback_only: address.ip().is_loopback(),
    });
    let failed = async {
        match &mut following {
            Some(following) => following.failed().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = axum::serve(listener, app).with_graceful_shutdown(terminal::ended()) => ended?,
        error = failed => return Err(error),
    }
    Ok(0)
}

/// The index that is asked for, or the one in the data folder if there is one.
async fn open_index(args: &Serve) -> Result<Option<Arc<dyn Index>>> {
    let asked = config::index_address(args.db.db.as_deref())?;
    // Nobody who only serves what is theirs needs an index made.
    let fills = !args.follow.is_empty() || !args.past.is_empty();
    if !fills && args.db.db.is_none() && !asked.contains("://") && !Path::new(&asked).exists() {
        return Ok(None);
    }
    Ok(Some(onrecord_index::open(&asked, args.read_db.as_deref()).await?))
}
