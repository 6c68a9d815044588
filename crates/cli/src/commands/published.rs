//! `onrecord published`: what is on record, and whether the ledger and the repositories agree.

use std::collections::{BTreeMap, btree_map::Entry};

use onrecord_atproto::Repo;
use onrecord_lexicon::{AtUri, Did, Handle};
use onrecord_record::{Family, tiles::TilesLink};
use onrecord_transcript::model::format_rfc3339_ms;
use onrecord_workspace::{
    Error as WorkspaceError, Publication, Workspace,
    publish::{Drift, Survey, Target},
};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::{
    cli::Published,
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, columns, counted, one_line, short_id},
};

pub async fn run(args: &Published, out: &mut Out) -> Result<u8> {
    let mut workspace = config::open_workspace()?;
    let mut surveys = BTreeMap::new();
    let only = match &args.account {
        Some(account) => {
            let (repo, handle) = repository(&workspace, account).await?;
            let survey = Survey::of(&workspace, &repo, handle).await?;
            adopt(&survey, &mut workspace, out)?;
            let did = survey.repo.clone();
            surveys.insert(did.clone(), Ok(survey));
            Some(did)
        }
        None => None,
    };
    let mut publications = workspace.publications()?;
    publications.retain(|p| only.as_ref().is_none_or(|only| p.repo == *only));
    if args.check && only.is_none() {
        let known = publications.iter().map(|p| p.repo.clone());
        let mine = workspace.accounts()?.into_iter().map(|account| account.did);
        for did in known.chain(mine).filter(|did| did.as_str() != onrecord_workspace::SHELF) {
            if let Entry::Vacant(place) = surveys.entry(did.clone()) {
                place.insert(survey(&workspace, &did).await?);
            }
        }
    }
    let mut report = Report::default();
    for publication in &publications {
        let checked = if args.check { Some(check(&workspace, publication, &surveys)?) } else { None };
        let link = if args.links { link(&workspace, publication)? } else { None };
        report.publication(publication, checked.as_ref(), link, out);
    }
    for survey in surveys.values().flatten().filter(|_| args.check) {
        report.survey(survey, &workspace)?;
    }
    for (did, why) in surveys.iter().filter_map(|(did, survey)| Some((did, survey.as_ref().err()?))) {
        if publications.iter().all(|p| p.repo != *did) {
            report.problems = true;
            out.note(format_args!("{did} could not be looked at: {why}"));
        }
    }
    let problems = report.problems;
    report.print(out)?;
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

/// Lists every repository that something is on record in.
pub async fn surveys(workspace: &Workspace) -> Result<Surveys> {
    let mut surveys = BTreeMap::new();
    let known = workspace.publications()?.into_iter().map(|p| p.repo);
    for did in known.filter(|did| did.as_str() != onrecord_workspace::SHELF) {
        if let Entry::Vacant(place) = surveys.entry(did.clone()) {
            place.insert(survey(workspace, &did).await?);
        }
    }
    Ok(surveys)
}

/// The repository of an account, by handle or DID; one that is signed in need not be resolved.
async fn repository(workspace: &Workspace, who: &str) -> Result<(Repo, Option<Handle>)> {
    let client = config::client()?;
    match workspace.account(Some(who)) {
        Ok(account) => Ok((client.repo_at(&account.did, &account.pds), account.handle)),
        Err(WorkspaceError::NotSignedIn { .. }) => {
            let identity = client.resolve(who).await?;
            Ok((client.repo(&identity), identity.handle.clone()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Lists a repository. One that cannot be read is no reason not to look at the others.
async fn survey(workspace: &Workspace, did: &Did) -> Result<Result<Survey, WorkspaceError>> {
    let listed = match repository(workspace, did.as_str()).await {
        Ok((repo, handle)) => Survey::of(workspace, &repo, handle).await,
        Err(Error::Workspace(why)) => Err(why),
        Err(error) => return Err(error),
    };
    match listed {
        Err(why) if !matches!(why, WorkspaceError::Atproto(_) | WorkspaceError::LyingServer { .. }) => Err(why.into()),
        listed => Ok(listed),
    }
}

/// Takes into the ledger what it does not know.
fn adopt(survey: &Survey, workspace: &mut Workspace, out: &Out) -> Result<()> {
    let (unknown, snapshots) = (survey.unknown(workspace)?, survey.unknown_snapshots(workspace)?);
    // Nobody may publish or take back meanwhile.
    let nothing = unknown.is_empty() && snapshots.is_empty();
    let _turn = if nothing { None } else { Some(workspace.begin_publishing()?) };
    let conversations = unknown.into_iter().map(|c| (c.rkey, Family::ClickAligned));
    let mut adopted = 0;
    for (rkey, family) in conversations.chain(snapshots.into_iter().map(|rkey| (rkey, Family::Tiles))) {
        let taken_in = match family {
            Family::ClickAligned => survey.adopt(workspace, &rkey),
            Family::Tiles | Family::TilesPrivate => survey.adopt_snapshot(workspace, &rkey),
        };
        match taken_in {
            Ok(()) => adopted += 1,
            Err(why @ (WorkspaceError::Unreadable(_) | WorkspaceError::Record(_))) => {
                out.note(format_args!("{rkey}: {why}; the conversation is left alone"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if adopted > 0 {
        let conversations = counted(adopted, "conversation");
        out.note(format_args!("{conversations} of {} were not known here and are now.", survey.repo));
    }
    Ok(())
}

enum Checked<'a> {
    Same,
    Drifted(Drift),
    /// Its server could not be read; the others are looked at all the same.
    Failed(&'a WorkspaceError),
}

/// What the listings found, by repository.
pub type Surveys = BTreeMap<Did, Result<Survey, WorkspaceError>>;

fn check<'a>(workspace: &Workspace, publication: &Publication, surveys: &'a Surveys) -> Result<Checked<'a>> {
    match surveys.get(&publication.repo) {
        // The shelf is in the ledger itself.
        None => Ok(Checked::Same),
        Some(Err(why)) => Ok(Checked::Failed(why)),
        Some(Ok(survey)) => {
            let drift = survey.drift(workspace, publication)?;
            Ok(if drift.is_empty() { Checked::Same } else { Checked::Drifted(drift) })
        }
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

#[derive(Default)]
struct Report {
    problems: bool,
    published: Vec<Value>,
    unknown: Vec<Value>,
    orphans: Vec<Value>,
    rows: Vec<Vec<String>>,
    links: Vec<(String, Zeroizing<String>)>,
    remarks: Vec<String>,
}

impl Report {
    fn publication(
        &mut self,
        publication: &Publication,
        checked: Option<&Checked<'_>>,
        link: Option<Zeroizing<String>>,
        out: &Out,
    ) {
        self.problems |= checked.is_some_and(|c| !matches!(c, Checked::Same)) || publication.taking_back;
        let (state, drift) = match checked {
            None => (None, None),
            Some(Checked::Same) => (Some("same"), None),
            Some(Checked::Drifted(drift)) => (Some("drifted"), Some(drift)),
            Some(Checked::Failed(why)) => {
                if out.json {
                    out.note(format_args!("{}: {why}", publication.uri()));
                }
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
        match link {
            Some(link) if out.json => {
                if let Value::Object(fields) = &mut document {
                    fields.insert("link".to_owned(), link.as_str().into());
                }
            }
            Some(link) => self.links.push((publication.uri(), link)),
            None => {}
        }
        self.published.push(document);
        self.rows.push(row(publication, checked));
    }

    /// What a repository holds and the ledger does not know.
    fn survey(&mut self, survey: &Survey, workspace: &Workspace) -> Result<()> {
        let place = survey.handle.as_ref().map_or_else(|| survey.repo.to_string(), |h| format!("@{h}"));
        for unknown in survey.unknown(workspace)? {
            self.problems = true;
            let uri = format!("at://{}/{}/{}", survey.repo, onrecord_record::aligned::SESSION, unknown.rkey);
            self.rows.push(vec![
                short_id(unknown.rkey.as_str()),
                place.clone(),
                format!("{} records", unknown.records),
                one_line(unknown.title.as_deref().unwrap_or("(no title)"), 50),
                uri.clone(),
                "not known here".to_owned(),
            ]);
            self.unknown.push(json!({"uri": uri, "title": unknown.title, "records": unknown.records}));
            let remark = format!("`onrecord published --account {}` takes what is not known here into the ledger.", {
                survey.handle.as_ref().map_or(survey.repo.as_str(), Handle::as_str)
            });
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        for (session, messages) in survey.orphans(workspace)? {
            self.problems = true;
            let records = counted(messages, "record");
            self.remarks
                .push(format!("{records} of {session}, which has no session; `onrecord unpublish` takes them back."));
            self.orphans.push(json!({"session": session, "records": messages}));
        }
        Ok(())
    }

    fn print(self, out: &mut Out) -> Result<()> {
        if out.json {
            let mut document = serde_json::Map::from_iter([("published".to_owned(), Value::from(self.published))]);
            for (name, list) in [("unknown", self.unknown), ("orphans", self.orphans)] {
                if !list.is_empty() {
                    document.insert(name.to_owned(), list.into());
                }
            }
            out.json(&document)?;
        } else if self.rows.is_empty() {
            out.note("Nothing is on record.");
        } else {
            for line in columns(&self.rows) {
                out.line(line)?;
            }
            for (uri, link) in &self.links {
                out.line(format_args!("\n{uri}\n{}", link.as_str()))?;
            }
        }
        self.remarks.iter().for_each(|remark| out.note(remark));
        Ok(())
    }
}

fn row(publication: &Publication, checked: Option<&Checked<'_>>) -> Vec<String> {
    let place = match &publication.handle {
        Some(handle) => format!("@{handle}"),
        None if publication.repo.as_str() == onrecord_workspace::SHELF => "shelf".to_owned(),
        None => publication.repo.to_string(),
    };
    let state = match checked {
        _ if publication.taking_back => "being taken back: run unpublish again".to_owned(),
        None => String::new(),
        Some(Checked::Same) => "as in the repository".to_owned(),
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
