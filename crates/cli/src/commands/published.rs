//! `onrecord published`: what is on record, and whether the ledger and the repositories agree.

use onrecord_lexicon::AtUri;
use onrecord_record::{Family, tiles::TilesLink};
use onrecord_transcript::model::format_rfc3339_ms;
use onrecord_workspace::{
    Error as WorkspaceError, Publication, Workspace,
    publish::{Drift, Target},
};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::{
    cli::Published,
    config,
    error::{PROBLEMS, Result},
    output::{Out, columns, one_line, short_id},
};

pub async fn run(args: &Published, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    let publications = workspace.publications()?;
    let mut problems = false;
    let mut documents = Vec::new();
    let mut rows = Vec::new();
    let mut links = Vec::new();
    for publication in &publications {
        let checked = match args.check {
            true => Some(check(&workspace, publication).await?),
            false => None,
        };
        let link = if args.links { link(&workspace, publication)? } else { None };
        problems |= checked.as_ref().is_some_and(|c| !matches!(c, Checked::Same)) || publication.taking_back;
        if out.json {
            let (state, drift) = match &checked {
                None => (None, None),
                Some(Checked::Same) => (Some("same"), None),
                Some(Checked::Drifted(drift)) => (Some("drifted"), Some(drift)),
                Some(Checked::NotSignedIn) => (Some("not-signed-in"), None),
                Some(Checked::Failed(why)) => {
                    out.note(format_args!("{}: {why}", publication.uri()));
                    (Some("not-checked"), None)
                }
            };
            let mut document = json!({
                "uri": publication.uri(),
                "family": publication.family,
                "session": publication.source_id,
                "handle": publication.handle,
                "title": publication.title,
                "publishedAt": format_rfc3339_ms(publication.published_at),
                "records": publication.records,
                "takingBack": publication.taking_back,
                "state": state,
                "drift": drift,
            });
            if let (Some(link), Value::Object(fields)) = (link, &mut document) {
                fields.insert("link".to_owned(), link.as_str().into());
            }
            documents.push(document);
        } else {
            rows.push(row(publication, checked.as_ref()));
            links.extend(link.map(|link| (publication.uri(), link)));
        }
    }
    if out.json {
        out.json(&json!({"published": documents}))?;
    } else if publications.is_empty() {
        out.note("Nothing is on record.");
    }
    for line in columns(&rows) {
        out.line(line)?;
    }
    for (uri, link) in links {
        out.line(format_args!("\n{uri}\n{}", link.as_str()))?;
    }
    Ok(if args.check && problems { PROBLEMS } else { 0 })
}

/// The link of a Tiles record; of a private one with its key, where this machine has it.
fn link(workspace: &Workspace, publication: &Publication) -> Result<Option<Zeroizing<String>>> {
    if !publication.family.is_tiles() {
        return Ok(None);
    }
    let uri = publication.uri();
    let secret = workspace.known_link(&uri)?.filter(|_| publication.family == Family::TilesPrivate);
    Ok(Some(TilesLink { uri: AtUri::parse(&uri)?, secret }.to_text()))
}

enum Checked {
    Same,
    Drifted(Drift),
    NotSignedIn,
    /// Its server could not be read; the others are looked at all the same.
    Failed(WorkspaceError),
}

async fn check(workspace: &Workspace, publication: &Publication) -> Result<Checked> {
    let target = match target_of(workspace, publication.repo.as_str()) {
        Ok(target) => target,
        Err(crate::error::Error::Workspace(WorkspaceError::NotSignedIn { .. })) => return Ok(Checked::NotSignedIn),
        Err(error) => return Err(error),
    };
    match Drift::of(workspace, &target, publication).await {
        Ok(drift) if drift.is_empty() => Ok(Checked::Same),
        Ok(drift) => Ok(Checked::Drifted(drift)),
        Err(why @ (WorkspaceError::Atproto(_) | WorkspaceError::LyingServer { .. })) => Ok(Checked::Failed(why)),
        Err(error) => Err(error.into()),
    }
}

/// The repository as a place to read and write.
pub fn target_of(workspace: &Workspace, repo: &str) -> Result<Target> {
    if repo == onrecord_workspace::SHELF {
        return Ok(Target::Shelf);
    }
    let account = workspace.account(Some(repo))?;
    Ok(Target::Account(workspace.session(&config::client()?, &account)?))
}

fn row(publication: &Publication, checked: Option<&Checked>) -> Vec<String> {
    let place = match &publication.handle {
        Some(handle) => format!("@{handle}"),
        None if publication.repo.as_str() == onrecord_workspace::SHELF => "shelf".to_owned(),
        None => publication.repo.to_string(),
    };
    let state = match checked {
        _ if publication.taking_back => "being taken back: run unpublish again".to_owned(),
        None => String::new(),
        Some(Checked::Same) => "as in the repository".to_owned(),
        Some(Checked::NotSignedIn) => "not checked: sign in first".to_owned(),
        Some(Checked::Failed(why)) => format!("not checked: {why}"),
        Some(Checked::Drifted(drift)) => format!(
            "drifted: {} missing, {} changed, {} unknown",
            drift.missing.len(),
            drift.changed.len(),
            drift.unknown.len()
        ),
    };
    let nameless = if publication.family == Family::TilesPrivate { "(encrypted)" } else { "(no title)" };
    vec![
        short_id(&publication.source_id),
        place,
        format!("{} records", publication.records),
        one_line(publication.title.as_deref().unwrap_or(nameless), 50),
        publication.uri(),
        state,
    ]
}
