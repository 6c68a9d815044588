//! The members of a collective, and their conversations.

use std::sync::Arc;

use axum::{
    extract::{Path, Query, State, rejection::PathRejection},
    http::{StatusCode, Uri},
    response::Response,
};
use onrecord_index::{AccountStatus, Hidden, Index, Recent};
use onrecord_lexicon::{Did, Handle};

use super::{
    Repo, Site, SourceError,
    answer::{Asked, Format, hidden, no_such_page_of, notice, refused, unknown_author},
    author::{KnownAccount, Seen, inactive, look},
    finds::no_index,
    home::after,
    listing::{After, Slice, list},
    path_of_account,
    reader::{did_of, repo_of, value},
};
use crate::{
    render::{CollectiveView, MemberView},
    view::author_of,
};

/// How many members a page names.
const NAMED: usize = 200;

type Named = Result<Path<String>, PathRejection>;

/// `/@{handle}/members`
pub(super) async fn short(State(site): State<Arc<Site>>, path: Named, uri: Uri, asked: Asked) -> Response {
    let handle = path.ok().and_then(|Path(owner)| Handle::parse(owner.strip_prefix('@')?).ok());
    show(&site, handle.map(Repo::Handle), Format::of(uri.path()).1, asked).await
}

/// `/at/{did or handle}/members`
pub(super) async fn at(State(site): State<Arc<Site>>, path: Named, uri: Uri, asked: Asked) -> Response {
    let repo = path.ok().and_then(|Path(repo)| repo_of(&repo));
    show(&site, repo, Format::of(uri.path()).1, asked).await
}

async fn show(site: &Site, repo: Option<Repo>, format: Format, asked: Asked) -> Response {
    let host = &site.host;
    let Some(index) = site.index.as_deref() else { return no_index(host, format) };
    let Some(repo) = repo else { return unknown_author(host, format) };
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    let Some(after) = after(&asked) else { return no_such_page_of(host, format) };
    let found = match found(site, index, &repo, &after).await {
        Ok(Found::Here(found)) => found,
        Ok(Found::Inactive(status)) => return inactive(host, format, status),
        Ok(Found::Hidden(why)) => return hidden(host, format, "account", &why),
        Ok(Found::Unknown) => return unknown_author(host, format),
        Ok(Found::NoMembers) => {
            return notice(
                host,
                format,
                StatusCode::NOT_FOUND,
                "noMembers",
                "This account lists no members",
                "An account that vouches for the conversations of others lists them as its members. This one lists nobody here.",
            );
        }
        Err(error) => return refused(host, format, &error),
    };
    let Collective { known, members, member_count, slice } = *found;
    let path = path_of_account(&known.did, known.handle.as_deref());
    let view = CollectiveView {
        author: author_of(&known.did, known.handle.as_deref(), &known.profile),
        members: members
            .iter()
            .map(|(member, added_at)| MemberView {
                author: author_of(&member.did, member.handle.as_deref(), &member.profile),
                added_at: added_at.as_deref(),
            })
            .collect(),
        member_count,
        conversations: &slice.entries,
        next: slice.next,
        path: &path,
    };
    format.page(host, &view)
}

enum Found {
    Here(Box<Collective>),
    Inactive(AccountStatus),
    Hidden(Hidden),
    NoMembers,
    Unknown,
}

struct Collective {
    known: KnownAccount,
    /// Each with when it was taken in.
    members: Vec<(KnownAccount, Option<String>)>,
    member_count: usize,
    slice: Slice,
}

async fn found(site: &Site, index: &dyn Index, repo: &Repo, after: &After) -> Result<Found, SourceError> {
    let Some(did) = did_of(site, repo).await? else { return Ok(Found::Unknown) };
    let account = match look(index, &did).await? {
        Seen::Here(account) => account,
        Seen::Inactive(status) => return Ok(Found::Inactive(status)),
        Seen::Hidden(why) => return Ok(Found::Hidden(why)),
        Seen::Unknown => return Ok(Found::Unknown),
    };
    let records = index.members(&did).await?;
    if records.is_empty() {
        return Ok(Found::NoMembers);
    }
    let mut members = Vec::new();
    for record in records.iter().take(NAMED) {
        // The key is the member's identifier; the handle in the record is what it once was.
        let Ok(member) = Did::parse(record.address.rkey.as_str()) else { continue };
        let known = if let Seen::Here(account) = look(index, &member).await? { Some(account) } else { None };
        let added_at = value(record)?.get("addedAt").and_then(serde_json::Value::as_str).map(str::to_owned);
        members.push((KnownAccount::of(&member, known), added_at));
    }
    let slice = list(site, &Recent::MembersOf(did.clone()), after).await?;
    let known = KnownAccount::of(&did, Some(account));
    Ok(Found::Here(Box::new(Collective { known, members, member_count: records.len(), slice })))
}
