//! `onrecord publish`: the plan, the question, the writing, the links.

use std::path::Path;

use jiff::Timestamp;
use onrecord_lexicon::{AtUri, Rkey};
use onrecord_record::{Action, Family, Loss};
use onrecord_redact::Finding;
use onrecord_web::path_of;
use onrecord_workspace::{
    Error as WorkspaceError, Workspace,
    publish::{self, Outcome, Plan, Pointer, Pointers, Target},
};
use serde::Serialize;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::{
    cli::Publish,
    commands::{about, scan},
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, columns, one_line},
    source::{Opened, review_again},
    terminal::{self, Progress},
};

#[derive(Serialize)]
struct DryRun<'a> {
    repo: &'a str,
    family: Family,
    writes: &'a [onrecord_record::Write],
    findings: &'a [Finding],
    lost: &'a [Loss],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pointers: &'a [Pointer],
}

pub async fn run(args: &Publish, out: &mut Out) -> Result<u8> {
    let family = Family::from(args.family);
    let mut opened = match Opened::with_grain(&args.session, &args.rules, args.to.grain.into(), out) {
        Err(Error::TranscriptGone { name, path, uris }) => return again(args, &name, &path, &uris, out).await,
        opened => opened?,
    };
    let found = opened.scan()?;
    let target = target(args, &opened.workspace, out)?;
    let repo = target.repo()?;

    if found.undecided() > 0 {
        // What would be written still holds what was found: it is not printed.
        if out.json {
            let lost = &opened.lost;
            out.json(&DryRun {
                repo: repo.as_str(),
                family,
                writes: &[],
                findings: &found.findings,
                lost,
                pointers: &[],
            })?;
        } else {
            scan::print(&found.findings, out)?;
        }
        out.finish()?;
        out.note(format_args!(
            "\n{} to decide before this can be published: see `onrecord decide {} --help`.",
            found.undecided(),
            args.session.session
        ));
        return Ok(PROBLEMS);
    }

    let _turn = if args.dry_run { None } else { Some(opened.workspace.begin_publishing()?) };
    let reviewed = opened.seal()?;
    // Of a private one nothing is said in clear, not even here.
    let title = reviewed.title().filter(|_| family != Family::TilesPrivate).map(str::to_owned);
    let source = opened.conversation.source.id.clone();
    // The Tiles families have no field for what a turn is about.
    let pointers = match family {
        Family::ClickAligned => about::look_up(&opened, &reviewed, &repo, args.repin).await?,
        Family::Tiles | Family::TilesPrivate => Pointers::default(),
    };
    let now = Timestamp::now();
    let plan =
        publish::prepare_as(family, &opened.workspace, &target, (opened.id, &source), reviewed, &pointers, now).await?;
    plan.gate()?;
    let lost: Vec<Loss> = opened.lost.iter().chain(&plan.lost).cloned().collect();

    about::note_left_out(&pointers, out);
    if args.dry_run {
        if out.json {
            out.json(&DryRun {
                repo: repo.as_str(),
                family,
                writes: &plan.writes,
                findings: &found.findings,
                lost: &lost,
                pointers: &pointers.all,
            })?;
        } else {
            print_plan(&plan, title.as_deref(), &opened, &lost, &pointers, out)?;
            for line in columns(&plan.writes.iter().map(row).collect::<Vec<_>>()) {
                out.line(line)?;
            }
        }
        return Ok(0);
    }

    target.check_scopes(&plan.writes)?;
    if !out.json {
        print_plan(&plan, title.as_deref(), &opened, &lost, &pointers, out)?;
        out.finish()?;
    }
    agree(args, &plan, &target, &pointers, out)?;
    carry_out(args, &mut opened.workspace, &target, &plan, out).await
}

/// Publishes what is on record already once more, where the transcript is gone: what is missing from the repository, or
/// was changed there, is written again as the ledger has it.
async fn again(args: &Publish, name: &str, path: &Path, uris: &[AtUri], out: &mut Out) -> Result<u8> {
    let mut workspace = config::open_workspace()?;
    let target = target(args, &workspace, out)?;
    let repo = target.repo()?;
    let there = uris.iter().find(|uri| uri.authority() == repo.as_str()).and_then(AtUri::rkey);
    let publication = match there {
        Some(rkey) => workspace.publication_at(&repo, &Rkey::parse(rkey)?)?,
        None => None,
    }
    .filter(|p| p.family == Family::from(args.family) && p.family == Family::ClickAligned);
    let Some(publication) = publication else {
        return Err(Error::TranscriptGone { name: name.to_owned(), path: path.to_owned(), uris: uris.to_owned() });
    };
    let not_there = || WorkspaceError::NotOnRecord { what: publication.uri() };
    let _turn = if args.dry_run { None } else { Some(workspace.begin_publishing()?) };
    let published = workspace.published(&publication)?.ok_or_else(not_there)?;
    let reviewed = review_again(&published, publication.conversation, &workspace, &args.rules, out)?;
    let plan = publish::prepare_again(&workspace, &target, &publication, reviewed).await?;
    plan.gate()?;
    out.note(format_args!(
        "The transcript is gone from {}: what was published of it is published again.",
        path.display()
    ));
    if args.dry_run && out.json {
        let (findings, lost, pointers) = (&[], &[], &[]);
        out.json(&DryRun { repo: repo.as_str(), family: plan.family, writes: &plan.writes, findings, lost, pointers })?;
        return Ok(0);
    }
    if !out.json {
        let (created, updated, deleted) = plan.counts();
        out.line(&plan.uri)?;
        out.line(format_args!("{created} records to create, {updated} to update, {deleted} to delete"))?;
        out.finish()?;
    }
    if args.dry_run {
        return Ok(0);
    }
    target.check_scopes(&plan.writes)?;
    agree(args, &plan, &target, &Pointers::default(), out)?;
    carry_out(args, &mut workspace, &target, &plan, out).await
}

/// Asks for the author's yes.
fn agree(args: &Publish, plan: &Plan, target: &Target, pointers: &Pointers, out: &Out) -> Result<()> {
    if !args.yes && !plan.writes.is_empty() {
        if matches!(target, Target::Account(_)) {
            out.note("Once published, others copy it within seconds; taking it back cannot reach every copy.");
        }
        let mut question = format!("Publish as {}?", name(target));
        if out.json {
            // The plan was not printed: what is agreed to must be seen all the same.
            let (created, updated, deleted) = plan.counts();
            let about = about::counts(pointers).map(|words| format!(", with {words}")).unwrap_or_default();
            question = format!(
                "{}: {created} records to create, {updated} to update, {deleted} to delete{about}. {question}",
                plan.uri
            );
        }
        terminal::confirm(&question, "--yes")?;
    }
    Ok(())
}

async fn carry_out(
    args: &Publish,
    workspace: &mut Workspace,
    target: &Target,
    plan: &Plan,
    out: &mut Out,
) -> Result<u8> {
    let family = plan.family;
    let mut progress = Progress::new(out);
    let outcome = publish::execute(workspace, target, plan, &mut |event| progress.show(&event, out)).await?;
    drop(progress);

    let page = page_of(&args.site, target, plan);
    let link = link(&outcome);
    // A Tiles link leads to the repository: there is none behind the shelf.
    let url = match (&link, target) {
        (Some(link), Target::Account(_)) => link.as_str(),
        _ => page.as_str(),
    };
    if out.json {
        let mut done = json!({
            "done": true,
            "uri": outcome.uri,
            "url": url,
            "created": outcome.created,
            "updated": outcome.updated,
            "deleted": outcome.deleted,
        });
        if let (Some(link), Value::Object(fields)) = (&link, &mut done) {
            fields.insert("link".to_owned(), link.as_str().into());
        }
        out.json(&done)?;
    } else {
        if plan.writes.is_empty() {
            out.line("It is on record as it stands; there was nothing to write.")?;
        } else {
            let (created, updated, deleted) = (outcome.created, outcome.updated, outcome.deleted);
            out.line(format_args!("Done: {created} created, {updated} updated, {deleted} deleted."))?;
        }
        out.line(&outcome.uri)?;
        if let Some(link) = link.as_ref().filter(|_| family == Family::TilesPrivate || !args.local) {
            out.line(link.as_str())?;
        }
        if family != Family::TilesPrivate {
            out.line(&page)?;
        }
        if family != Family::TilesPrivate && args.site.contains("127.0.0.1") {
            out.note("`onrecord serve` shows it at that address.");
        }
        if family == Family::TilesPrivate {
            out.note(if outcome.link_is_new {
                "Whoever has this link can read it: what follows the # is its key, which is kept where your tokens are. \
                 Published anew with other content it gets a new link, and this one opens nothing any more."
            } else {
                "Its link is the one it had; `onrecord published --links` shows it with its key."
            });
        }
    }
    Ok(0)
}

/// Where a reading site shows what `plan` puts on record.
pub fn page_of(site: &str, target: &Target, plan: &Plan) -> String {
    let handle = match target {
        Target::Account(session) => session.tokens().handle.clone(),
        Target::Shelf => None,
    };
    let rkey = plan.uri.rsplit('/').next().unwrap_or_default();
    let path = path_of(plan.repo.as_str(), handle.as_ref().map(onrecord_lexicon::Handle::as_str), plan.family, rkey);
    format!("{}{path}", site.trim_end_matches('/'))
}

/// The link of a Tiles record. With its key it is shown when it is new, and not every time.
fn link(outcome: &Outcome) -> Option<Zeroizing<String>> {
    let mut link = outcome.link.clone()?;
    if !outcome.link_is_new {
        link.secret = None;
    }
    Some(link.to_text())
}

fn target(args: &Publish, workspace: &Workspace, out: &Out) -> Result<Target> {
    if args.local {
        return Ok(Target::Shelf);
    }
    match workspace.account(args.to.account.as_deref()) {
        Ok(account) => Ok(Target::Account(workspace.session(&config::client()?, &account)?)),
        Err(WorkspaceError::NotSignedIn { handle: None }) if args.dry_run => {
            out.note("No account is signed in: this is the plan for the shelf of this machine.");
            Ok(Target::Shelf)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whom or what a target is, for people.
pub fn name(target: &Target) -> String {
    match target {
        Target::Shelf => "a conversation on this machine's shelf".to_owned(),
        Target::Account(session) => {
            let tokens = session.tokens();
            tokens.handle.as_ref().map_or_else(|| tokens.did.to_string(), |h| format!("@{h}"))
        }
    }
}

fn print_plan(
    plan: &Plan,
    title: Option<&str>,
    opened: &Opened,
    lost: &[Loss],
    pointers: &Pointers,
    out: &mut Out,
) -> Result<()> {
    let (created, updated, deleted) = plan.counts();
    let turns = &opened.conversation.turns;
    let held = turns.iter().filter(|t| opened.decisions.is_withheld(&t.id)).count();
    if let Some(title) = title {
        out.line(out.bold(one_line(title, 80)))?;
    }
    out.line(format_args!("{}", plan.uri))?;
    out.line(format_args!("{} turns on record, {held} held back", turns.len() - held))?;
    out.line(format_args!("{created} records to create, {updated} to update, {deleted} to delete"))?;
    if !lost.is_empty() {
        let list: Vec<_> = lost.iter().map(|l| format!("{} {}", l.count, l.what)).collect();
        out.line(format_args!("not published: {}", list.join(", ")))?;
    }
    about::print(pointers, out)?;
    if !plan.foreign.is_empty() {
        out.note(format_args!(
            "{} more records of this conversation are in the repository that onrecord did not write; they are left alone.",
            plan.foreign.len()
        ));
    }
    Ok(())
}

fn row(write: &onrecord_record::Write) -> Vec<String> {
    let action = match write.action {
        Action::Create => "create",
        Action::Update => "update",
        Action::Delete => "delete",
    };
    let cid = write.cid.as_ref().map(ToString::to_string).unwrap_or_default();
    vec![action.to_owned(), write.collection.clone(), write.rkey.to_string(), cid]
}
