//! What is on record from this machine, on the pages: from the ledger.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use onrecord_lexicon::{Did, Handle, Tid};
use onrecord_record::Family;
use onrecord_web::{Address, Found, Known, ListEntry, Own, OwnEntry, OwnList, Repo, SourceError, Standing};
use onrecord_workspace::Workspace;

/// The sources of the site.
pub fn own(workspace: &Arc<Mutex<Workspace>>) -> Own {
    let (for_list, for_find) = (Arc::clone(workspace), Arc::clone(workspace));
    let (for_know, for_resolve, for_version) = (Arc::clone(workspace), Arc::clone(workspace), Arc::clone(workspace));
    Own {
        list: Arc::new(move |wanted| list(&open(&for_list), wanted)),
        find: Arc::new(move |address| find(&open(&for_find), address)),
        know: Arc::new(move |places| {
            let workspace = open(&for_know);
            places
                .iter()
                .map(|(did, rkey)| {
                    Ok(if workspace.is_gone(did, rkey)? {
                        Known::Gone
                    } else if workspace.publication_at(did, rkey)?.is_some() {
                        Known::Own
                    } else {
                        Known::No
                    })
                })
                .collect()
        }),
        resolve: Arc::new(move |handle| resolve(&open(&for_resolve), handle)),
        version: Arc::new(move || Ok(open(&for_version).version()?)),
    }
}

/// A reader that panicked left nothing half done: the store is only read here.
fn open(workspace: &Mutex<Workspace>) -> MutexGuard<'_, Workspace> {
    workspace.lock().unwrap_or_else(PoisonError::into_inner)
}

fn list(workspace: &Workspace, wanted: &OwnList) -> Result<Vec<OwnEntry>, SourceError> {
    let mut all: Vec<_> = workspace
        .publications()?
        .into_iter()
        .filter(|p| !p.taking_back && p.records > 0 && wanted.repo.as_ref().is_none_or(|repo| *repo == p.repo))
        .map(|p| (Tid::parse(p.rkey.as_str()).map_or(0, |tid| tid.micros()), p))
        .filter(|(published_us, _)| *published_us < wanted.before_us)
        .collect();
    all.sort_by_key(|(published_us, _)| std::cmp::Reverse(*published_us));
    let mut entries = Vec::new();
    for (published_us, publication) in all.into_iter().take(wanted.limit) {
        if let Some(published) = workspace.published(&publication)? {
            entries.push(OwnEntry { published_us, entry: ListEntry::new(&published, Standing::of(&published)) });
        }
    }
    Ok(entries)
}

fn resolve(workspace: &Workspace, handle: &Handle) -> Result<Option<Did>, SourceError> {
    let ours = workspace.publications()?;
    let known = ours.into_iter().find(|p| p.handle.as_ref().is_some_and(|h| h == handle));
    Ok(match known {
        Some(publication) => Some(publication.repo),
        None => workspace.account(Some(handle.as_str())).ok().map(|account| account.did),
    })
}

fn find(workspace: &Workspace, address: &Address) -> Result<Found, SourceError> {
    let families = Family::ALL.map(Family::collection);
    if address.collection.as_ref().is_some_and(|c| !families.contains(&c.as_str())) {
        return Ok(Found::Unknown);
    }
    let repo = match &address.repo {
        Repo::Did(did) => did.clone(),
        Repo::Handle(handle) => match resolve(workspace, handle)? {
            Some(did) => did,
            None => return Ok(Found::Unknown),
        },
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
