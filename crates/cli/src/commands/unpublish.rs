//! `onrecord unpublish`: takes a conversation back, whole.

use std::{fs, io, path::Path};

use onrecord_lexicon::Rkey;
use onrecord_record::{Family, aligned::SESSION, tiles};
use onrecord_transcript::Grain;
use onrecord_workspace::{
    Error as WorkspaceError, Publication, Workspace,
    publish::{Survey, TakeBack, Target},
};
use serde_json::json;

use crate::{
    cli::{SessionArg, Unpublish},
    commands::{preview, published::target_of},
    config,
    error::{Error, Result},
    output::Out,
    source::{self, Found},
    terminal::{self, Progress},
};

pub async fn run(args: &Unpublish, out: &mut Out) -> Result<u8> {
    let mut workspace = config::open_workspace()?;
    let mut wanted = wanted(args, &workspace)?;
    if args.all {
        add_unknown(args, &workspace, &mut wanted).await?;
    }
    if wanted.is_empty() {
        if out.json {
            out.json(&json!({"done": true, "uri": null, "created": 0, "updated": 0, "deleted": 0}))?;
        }
        out.note("Nothing is on record.");
        return Ok(0);
    }
    let _turn = workspace.begin_publishing()?;
    let mut jobs: Vec<(Target, TakeBack)> = Vec::new();
    for (repo, family, rkey) in wanted {
        let target = target_of(&workspace, &repo)?;
        let take_back = TakeBack::prepare_in(&workspace, &target, family, &rkey).await?;
        target.check_scopes(&take_back.writes)?;
        if !out.json {
            out.line(format_args!("{}: {} records to delete", take_back.uri(), take_back.writes.len()))?;
        }
        jobs.push((target, take_back));
    }
    out.finish()?;
    if !args.yes {
        let mut question = "Take it back, whole?".to_owned();
        if out.json {
            let list: Vec<_> = jobs.iter().map(|(_, t)| format!("{}: {} records", t.uri(), t.writes.len())).collect();
            question = format!("{}. {question}", list.join(", "));
        }
        terminal::confirm(&question, "--yes")?;
    }
    let mut deleted = 0;
    let mut uri = String::new();
    for (target, take_back) in &jobs {
        let mut progress = Progress::new(out);
        deleted += take_back.execute(&mut workspace, target, &mut |event| progress.show(&event, out)).await?;
        uri = take_back.uri();
        forget_preview(&take_back.rkey)?;
    }
    if out.json {
        out.json(&json!({"done": true, "uri": uri, "created": 0, "updated": 0, "deleted": deleted}))?;
    } else {
        out.line(format_args!("Taken back: {deleted} records deleted."))?;
        out.note("Whoever copied them before may still have them.");
    }
    Ok(0)
}

/// Removes what a preview left in the data folder: the words are to be in no file of it.
pub fn forget_preview(rkey: &Rkey) -> Result<()> {
    let folder = preview::folder(rkey)?;
    match fs::remove_dir_all(&folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::File { path: folder, source }),
        _ => Ok(()),
    }
}

/// Adds what the repositories hold that the ledger does not know: everything means everything.
async fn add_unknown(args: &Unpublish, workspace: &Workspace, wanted: &mut Vec<(String, Family, Rkey)>) -> Result<()> {
    let accounts = match args.account.as_deref() {
        Some(account) => vec![workspace.account(Some(account))?],
        None => workspace.accounts()?,
    };
    for account in accounts {
        let repo = config::client()?.repo_at(&account.did, &account.pds);
        let survey = Survey::of(workspace, &repo, account.handle).await?;
        for unknown in survey.unknown(workspace)? {
            wanted.push((account.did.to_string(), Family::ClickAligned, unknown.rkey));
        }
        for session in survey.orphans(workspace)?.into_keys() {
            let rkey = Rkey::parse(session.rsplit('/').next().unwrap_or_default())?;
            wanted.push((account.did.to_string(), Family::ClickAligned, rkey));
        }
    }
    Ok(())
}

/// Repositories, families and keys of what is to be taken back.
fn wanted(args: &Unpublish, workspace: &Workspace) -> Result<Vec<(String, Family, Rkey)>> {
    let publications = workspace.publications()?;
    let place = |p: &Publication| (p.repo.to_string(), p.family, p.rkey.clone());
    let repo = match args.account.as_deref() {
        Some(account) => Some(workspace.account(Some(account))?.did),
        None => None,
    };
    let publications: Vec<_> =
        publications.into_iter().filter(|p| repo.as_ref().is_none_or(|repo| p.repo == *repo)).collect();
    let Some(name) = args.session.as_deref() else {
        return Ok(publications.iter().map(place).collect());
    };
    if let Some(uri) = source::record_uri(name, workspace)? {
        let not_ours = || {
            let why = format!("only records of {SESSION} and {} are conversations", tiles::SNAPSHOT);
            Error::UnknownLink { name: name.to_owned(), why }
        };
        let family = Family::ALL.into_iter().find(|f| Some(f.collection()) == uri.collection()).ok_or_else(not_ours)?;
        let rkey = Rkey::parse(uri.rkey().ok_or_else(not_ours)?)?;
        let repo = match uri.authority() {
            did if did.starts_with("did:") => did.to_owned(),
            handle => workspace.account(Some(handle))?.did.to_string(),
        };
        return Ok(vec![(repo, family, rkey)]);
    }
    // The ledger outlives the transcript: an id is enough.
    let by_id: Vec<_> = publications.iter().filter(|p| p.source_id.starts_with(name)).collect();
    let exact: Vec<_> = by_id.iter().filter(|p| p.source_id == name).copied().collect();
    let found = if exact.is_empty() { by_id } else { exact };
    if let Some(first) = found.first() {
        if found.iter().any(|p| p.conversation != first.conversation) {
            let candidates = found.iter().map(|p| p.source_id.clone()).collect();
            return Err(Error::AmbiguousSession { name: name.to_owned(), candidates });
        }
        return Ok(found.into_iter().map(place).collect());
    }
    let nothing = || WorkspaceError::NotOnRecord { what: name.to_owned() }.into();
    let of = |id| publications.iter().filter(|p| p.conversation == id).map(place).collect::<Vec<_>>();
    if !Path::new(name).exists() {
        // The ledger outlives the transcript: where it was is enough, too.
        let found = workspace.seen_at(Path::new(name))?.map(|seen| of(seen.id)).unwrap_or_default();
        return if found.is_empty() { Err(nothing()) } else { Ok(found) };
    }
    let arg = SessionArg { session: name.to_owned(), harness: args.harness };
    let Found::Transcript(input) = source::find(&arg, workspace)? else { return Err(nothing()) };
    let source = source::read(input, Grain::Turn, None)?.source;
    let id = workspace.seen(source.harness.as_str(), &source.id)?.ok_or_else(nothing)?;
    let found = of(id);
    if found.is_empty() { Err(nothing()) } else { Ok(found) }
}
