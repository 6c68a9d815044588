//! `onrecord serve`: the reading pages of what is on record from this machine.

use std::sync::{Arc, Mutex, PoisonError};

use onrecord_record::Family;
use onrecord_web::{Address, Found, ListEntry, ListSlice, Repo, Site, SourceError, Standing, router};
use onrecord_workspace::Workspace;
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    cli::Serve,
    config,
    error::{Error, Result},
    output::Out,
    terminal,
};

pub async fn run(args: &Serve, out: &mut Out) -> Result<u8> {
    let workspace = Arc::new(Mutex::new(config::open_workspace()?));
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
        out.note("Serving what is on record from this machine. Ctrl-C ends it.");
    }
    let app = router(site(&workspace, address.ip().is_loopback()));
    axum::serve(listener, app).with_graceful_shutdown(terminal::ended()).await?;
    Ok(0)
}

fn site(workspace: &Arc<Mutex<Workspace>>, loopback_only: bool) -> Site {
    let (for_list, for_find) = (Arc::clone(workspace), Arc::clone(workspace));
    Site {
        list: Box::new(move |offset, limit| {
            // A reader that panicked left nothing half done: the store is only read here.
            list(&for_list.lock().unwrap_or_else(PoisonError::into_inner), offset, limit)
        }),
        find: Box::new(move |address| find(&for_find.lock().unwrap_or_else(PoisonError::into_inner), address)),
        loopback_only,
    }
}

fn list(workspace: &Workspace, offset: usize, limit: usize) -> Result<ListSlice, SourceError> {
    let publications: Vec<_> =
        workspace.publications()?.into_iter().filter(|p| !p.taking_back && p.records > 0).collect();
    let mut entries = Vec::new();
    for publication in publications.iter().skip(offset).take(limit) {
        if let Some(published) = workspace.published(publication)? {
            entries.push(ListEntry::new(&published, Standing::of(&published)));
        }
    }
    Ok(ListSlice { entries, total: publications.len() })
}

fn find(workspace: &Workspace, address: &Address) -> Result<Found, SourceError> {
    let families = Family::ALL.map(Family::collection);
    if address.collection.as_ref().is_some_and(|c| !families.contains(&c.as_str())) {
        return Ok(Found::Unknown);
    }
    let repo = match &address.repo {
        Repo::Did(did) => did.clone(),
        Repo::Handle(handle) => {
            let ours = workspace.publications()?;
            let known = ours.into_iter().find(|p| p.handle.as_ref().is_some_and(|h| h == handle));
            match known {
                Some(publication) => publication.repo,
                None => match workspace.account(Some(handle.as_str())) {
                    Ok(account) => account.did,
                    Err(_) => return Ok(Found::Unknown),
                },
            }
        }
    };
    if workspace.is_gone(&repo, &address.rkey)? {
        return Ok(Found::Gone);
    }
    let Some(publication) = workspace.publication_at(&repo, &address.rkey)? else { return Ok(Found::Unknown) };
    if address.collection.as_ref().is_some_and(|c| c.as_str() != publication.family.collection()) {
        return Ok(Found::Unknown);
    }
    if publication.family == Family::TilesPrivate {
        return Ok(Found::Encrypted);
    }
    Ok(workspace.published(&publication)?.map_or(Found::Unknown, |p| Found::Conversation(Box::new(p))))
}
