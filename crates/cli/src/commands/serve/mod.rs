//! `onrecord serve`: the reading pages of what is on record from this machine, and of what the index has.

mod doors;
mod follow;
mod metrics;
mod own;

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use onrecord_index::Index;
use onrecord_web::{Live, Reached, Site, limited, router};
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    cli::{PublicUrl, Serve},
    config,
    error::{Error, Result},
    metrics::Metrics,
    output::Out,
    terminal,
};

use follow::Following;

pub async fn run(args: &Serve, out: &mut Out) -> Result<u8> {
    let public = args.public.public_url.as_ref().map(PublicUrl::text);
    // What a host shows to everybody is what the network has: the shelf is for this machine alone.
    let own = match public {
        Some(_) => None,
        None => Some(own::own(&Arc::new(Mutex::new(config::open_workspace()?)))),
    };
    let index = open_index(args).await?;
    let metrics = Arc::new(Metrics::new());
    let mut following = match &index {
        Some(index) => Some(Following::start(args, index, &metrics, out.quiet)?),
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
        out.note(match (&own, &index) {
            (None, _) => "Serving what the index has. Ctrl-C ends it.",
            (Some(_), None) => "Serving what is on record from this machine. Ctrl-C ends it.",
            (Some(_), Some(_)) => {
                "Serving what is on record from this machine, and what the index has. Ctrl-C ends it."
            }
        });
    }
    if let Some(address) = args.metrics_listen {
        let bound = metrics::listen(address, Arc::clone(&metrics), index.clone()).await?;
        out.note(format!("Metrics are at http://{bound}/metrics"));
    }
    let limits = args.public.limits();
    let host = args.public.host(public);
    let doors = index.as_ref().map(|index| doors::router(own.as_ref(), index, &host));
    let doors = limited(doors.unwrap_or_default(), &limits);
    let pages = router(Site {
        loopback_only: own.is_some() && address.ip().is_loopback(),
        own,
        index,
        host,
        live: Some(Live::new(config::client()?)),
        reached: following.is_some().then(|| reached(&metrics)),
        limits: limits.clone(),
    });
    let site = pages.merge(doors);
    // Counted only where somebody looks.
    let app = if args.metrics_listen.is_some() { metrics::counted(site, &metrics) } else { site };
    let failed = async {
        match &mut following {
            Some(following) => following.failed().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = onrecord_web::serve(listener, app, &limits, terminal::ended()) => ended?,
        error = failed => return Err(error),
    }
    Ok(0)
}

/// When the last event of a source was, as far as this process followed it.
fn reached(metrics: &Arc<Metrics>) -> Reached {
    let metrics = Arc::clone(metrics);
    Reached(Arc::new(move |source| metrics.reached(source)))
}

/// The index that is asked for, or the one in the data folder if there is one.
async fn open_index(args: &Serve) -> Result<Option<Arc<dyn Index>>> {
    let asked = config::index_address(args.db.db.as_deref())?;
    // Nobody who only serves what is theirs needs an index made.
    let fills = args.public.public_url.is_some()
        || !args.follow.is_empty()
        || !args.past.is_empty()
        || !args.labeler.is_empty();
    if !fills && args.db.db.is_none() && !asked.contains("://") && !Path::new(&asked).exists() {
        return Ok(None);
    }
    Ok(Some(onrecord_index::open(&asked, args.read_db.as_deref()).await?))
}
