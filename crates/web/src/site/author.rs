//! The conversations of one account.

use std::sync::Arc;

use axum::{
    extract::{Path, Query, State, rejection::PathRejection},
    http::StatusCode,
    response::Response,
};
use onrecord_index::{Account, AccountStatus, Address, Hidden, Index, Kept, PROFILE, Profile, Recent, Subject};
use onrecord_lexicon::{Did, Handle, Nsid, Rkey};

use super::{
    Host, Repo, Site, SourceError,
    answer::{Asked, Format, hidden, no_such_page, no_such_page_of, notice, refused, unknown_author},
    home::after,
    listing::{After, Slice, list},
    path_of_account,
    reader::{did_of, repo_of, value},
};
use crate::{render::AuthorView, view::author_of};

type Named = Result<Path<String>, PathRejection>;

/// `/@{handle}`.
pub(super) async fn short(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    by_handle(Format::Html, &site, path, asked).await
}

/// `/@{handle}/index.json`, and the like.
pub(super) async fn json(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    by_handle(Format::Json, &site, path, asked).await
}

pub(super) async fn markdown(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    by_handle(Format::Markdown, &site, path, asked).await
}

pub(super) async fn text(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    by_handle(Format::Text, &site, path, asked).await
}

/// `/at/{did or handle}`.
pub(super) async fn at(State(site): State<Arc<Site>>, path: Named, asked: Asked) -> Response {
    match path.ok().and_then(|Path(repo)| repo_of(&repo)) {
        Some(repo) => show(Format::Html, &site, &repo, asked).await,
        None => no_such_page(State(site)).await,
    }
}

async fn by_handle(format: Format, site: &Arc<Site>, path: Named, asked: Asked) -> Response {
    let handle = path.ok().and_then(|Path(owner)| Handle::parse(owner.strip_prefix('@')?).ok());
    match handle {
        Some(handle) => show(format, site, &Repo::Handle(handle), asked).await,
        None => no_such_page(State(Arc::clone(site))).await,
    }
}

async fn show(format: Format, site: &Site, repo: &Repo, asked: Asked) -> Response {
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    let Some(after) = after(&asked) else { return no_such_page_of(&site.host, format) };
    let found = match found(site, repo, &after).await {
        Ok(found) => found,
        Err(error) => return refused(&site.host, format, &error),
    };
    let (known, slice, members) = match found {
        Found::Here(known, slice, members) => (known, slice, members),
        Found::Inactive(status) => return inactive(&site.host, format, status),
        Found::Hidden(why) => return hidden(&site.host, format, "account", &why),
        Found::Unknown => return unknown_author(&site.host, format),
    };
    let path = path_of_account(&known.did, known.handle.as_deref());
    let view = AuthorView {
        author: author_of(&known.did, known.handle.as_deref(), &known.profile),
        description: known.description.as_deref(),
        members,
        conversations: &slice.entries,
        next: slice.next,
        is_first: after == After::START,
        path: &path,
        has_index: site.index.is_some(),
    };
    format.page(&site.host, &view)
}

enum Found {
    Here(Box<KnownAccount>, Slice, usize),
    Inactive(AccountStatus),
    Hidden(Hidden),
    Unknown,
}

/// What an index has to say of an account.
pub(super) enum Seen {
    Here(Account),
    Inactive(AccountStatus),
    Hidden(Hidden),
    Unknown,
}

/// Looks an account up, and whether it may be shown.
pub(super) async fn look(index: &dyn Index, did: &Did) -> Result<Seen, SourceError> {
    if let Some(why) = index.hides(&Subject::Account(did.clone())).await? {
        return Ok(Seen::Hidden(why));
    }
    Ok(match index.account(did).await? {
        Some(account) if account.status == AccountStatus::Active => Seen::Here(account),
        Some(account) => Seen::Inactive(account.status),
        None => Seen::Unknown,
    })
}

async fn found(site: &Site, repo: &Repo, after: &After) -> Result<Found, SourceError> {
    let Some(did) = did_of(site, repo).await? else { return Ok(Found::Unknown) };
    let seen = match site.index.as_deref() {
        Some(index) => look(index, &did).await?,
        None => Seen::Unknown,
    };
    let slice = list(site, &Recent::By(did.clone()), after).await?;
    // What is on record from this machine is shown to whoever sees this machine's pages.
    let account = match seen {
        Seen::Here(account) => Some(account),
        Seen::Inactive(status) if slice.entries.is_empty() => return Ok(Found::Inactive(status)),
        Seen::Hidden(why) if slice.entries.is_empty() => return Ok(Found::Hidden(why)),
        Seen::Unknown if slice.entries.is_empty() => return Ok(Found::Unknown),
        _ => None,
    };
    let members = match &site.index {
        Some(index) if account.is_some() => index.members(&did).await?.len(),
        _ => 0,
    };
    let is_here = account.is_some();
    let mut known = Box::new(KnownAccount::of(&did, account));
    if let Some(index) = site.index.as_deref().filter(|_| is_here) {
        known.description = description(index, &did).await?;
    }
    if known.handle.is_none() {
        known.handle = match repo {
            Repo::Handle(handle) => Some(handle.to_string()),
            Repo::Did(_) => slice.entries.iter().find_map(|entry| entry.handle.clone()),
        };
    }
    Ok(Found::Here(known, slice, members))
}

/// What is known of an account that may be shown.
pub(super) struct KnownAccount {
    pub(super) did: String,
    pub(super) handle: Option<String>,
    pub(super) profile: Profile,
    pub(super) description: Option<String>,
}

impl KnownAccount {
    /// What the index knows.
    pub(super) fn of(did: &Did, account: Option<Account>) -> Self {
        let (handle, profile) = match account {
            Some(account) => (account.author.handle, account.author.profile),
            None => (None, Profile::default()),
        };
        Self { did: did.to_string(), handle: handle.map(|handle| handle.to_string()), profile, description: None }
    }
}

/// What an account says of itself, from its profile record.
async fn description(index: &dyn Index, did: &Did) -> Result<Option<String>, SourceError> {
    let place = Address { did: did.clone(), collection: Nsid::parse(PROFILE)?, rkey: Rkey::parse("self")? };
    let Kept::Here(record) = index.record(&place).await? else { return Ok(None) };
    let text =
        value(&record)?.get("description").and_then(serde_json::Value::as_str).map(|text| text.trim().to_owned());
    Ok(text.filter(|text| !text.is_empty()))
}

/// Says that an account is not shown now.
pub(super) fn inactive(host: &Host, format: Format, status: AccountStatus) -> Response {
    let (title, text) = match status {
        AccountStatus::Deactivated => (
            "This account is paused",
            "Its owner has deactivated it. What is on record of it is shown again if they come back.",
        ),
        AccountStatus::Deleted => {
            ("This account is gone", "It was deleted, and with it everything of it that was on record here.")
        }
        AccountStatus::Active | AccountStatus::Suspended | AccountStatus::Takendown => (
            "This account is not shown",
            "The server that has it has suspended it or taken it down. Nothing of it is shown here while that is so.",
        ),
    };
    notice(host, format, StatusCode::GONE, "gone", title, text)
}
