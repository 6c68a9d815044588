//! `onrecord serve`: the reading pages of what is on record from this machine, and of what the index has.

mod follow;
mod public;

use std::{
    cmp::Reverse,
    collections::HashSet,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use onrecord_index::ConversationHead;
use onrecord_lexicon::Tid;
use onrecord_record::Family;
use onrecord_web::{Address, Found, ListEntry, ListSlice, Repo, Site, SourceError, Standing, router};
use onrecord_workspace::{Publication, Workspace};
use serde_json::json;
use tokio::{net::TcpListener, runtime::Handle};

use crate::{
    cli::Serve,
    config,
    error::{Error, Result},
    output::Out,
    terminal,
};

use follow::Following;
use public::Public;

pub async fn run(args: &Serve, out: &mut Out) -> Result<u8> {
    let workspace = Arc::new(Mutex::new(config::open_workspace()?));
    let public = open_index(args).await?;
    let mut following = match &public {
        Some(public) => Some(Following::start(args, &public.index, out.quiet)?),
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
        let more = if public.is_some() { ", and what the index has" } else { "" };
        out.note(format!("Serving what is on record from this machine{more}. Ctrl-C ends it."));
    }
    let app = router(site(&workspace, public, address.ip().is_loopback()));
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
async fn open_index(args: &Serve) -> Result<Option<Public>> {
    let asked = config::index_address(args.db.db.as_deref())?;
    // Nobody who only serves what is theirs needs an index made.
    let fills = !args.follow.is_empty() || !args.repo.is_empty();
    if !fills && args.db.db.is_none() && !asked.contains("://") && !Path::new(&asked).exists() {
        return Ok(None);
    }
    let index = onrecord_index::open(&asked, args.read_db.as_deref()).await?;
    Ok(Some(Public { index, runtime: Handle::current() }))
}

fn site(workspace: &Arc<Mutex<Workspace>>, public: Option<Public>, loopback_only: bool) -> Site {
    let (for_list, for_find) = (Arc::clone(workspace), Arc::clone(workspace));
    let public = Arc::new(public);
    let public_list = Arc::clone(&public);
    Site {
        list: Box::new(move |offset, limit| {
            let heads = public_list.as_ref().as_ref().map_or_else(|| Ok(Vec::new()), Public::heads)?;
            // A reader that panicked left nothing half done: the store is only read here.
            list(&for_list.lock().unwrap_or_else(PoisonError::into_inner), &heads, offset, limit)
        }),
        find: Box::new(move |address| {
            let own = find(&for_find.lock().unwrap_or_else(PoisonError::into_inner), address)?;
            match (own, public.as_ref()) {
                (Found::Unknown, Some(public)) => public.find(address),
                (own, _) => Ok(own),
            }
        }),
        loopback_only,
    }
}

/// A line of the list before it is made.
enum Listed<'a> {
    Own(&'a Publication),
    Public(&'a ConversationHead),
}

fn list(
    workspace: &Workspace,
    heads: &[ConversationHead],
    offset: usize,
    limit: usize,
) -> Result<ListSlice, SourceError> {
    let publications = workspace.publications()?;
    // What is known here is listed as it is here, and what is being taken back not at all.
    let own: HashSet<(&str, &str)> = publications.iter().map(|p| (p.repo.as_str(), p.rkey.as_str())).collect();
    let mut listed: Vec<(u64, Listed<'_>)> = Vec::new();
    for publication in publications.iter().filter(|p| !p.taking_back && p.records > 0) {
        let written = Tid::parse(publication.rkey.as_str()).map_or(0, |tid| tid.micros());
        listed.push((written, Listed::Own(publication)));
    }
    for head in heads {
        if !own.contains(&(head.address.did.as_str(), head.address.rkey.as_str()))
            && !workspace.is_gone(&head.address.did, &head.address.rkey)?
        {
            listed.push((head.published_us.unsigned_abs(), Listed::Public(head)));
        }
    }
    listed.sort_by_key(|(written, _)| Reverse(*written));
    let mut entries = Vec::new();
    for (_, one) in listed.iter().skip(offset).take(limit) {
        match one {
            Listed::Own(publication) => {
                if let Some(published) = workspace.published(publication)? {
                    entries.push(ListEntry::new(&published, Standing::of(&published)));
                }
            }
            Listed::Public(head) => entries.extend(public::entry(head)),
        }
    }
    Ok(ListSlice { entries, total: listed.len() })
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
