//! `onrecord lexicon publish`: lexicons into the repository of the account that speaks for them, if nobody is hurt by it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use onrecord_atproto::{Client, Error as AtprotoError, LEXICON_COLLECTION, Session, Write};
use onrecord_lexicon::{
    Cid, Lexicon, Nsid, Problem, Rkey,
    compare::{Change, breaking, changes},
    data::record_cid,
    lint::{Level, lint_json},
};
use serde_json::{Value, json, value::to_raw_value};

use crate::{
    cli::PublishLexicons,
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, counted, printable},
    terminal,
};

/// A file that is to be published.
struct Draft {
    path: PathBuf,
    lexicon: Lexicon,
    record: Value,
    cid: Cid,
    problems: Vec<Problem>,
}

/// What is on record under its name.
struct Published {
    cid: Cid,
    /// What changes; none if what is there is no lexicon.
    changes: Vec<Change>,
    breaks: Vec<Change>,
}

/// A draft, and what its publication would do.
struct Planned {
    draft: Draft,
    before: Option<Published>,
    /// Why the account does not speak for it.
    doubt: Option<String>,
}

impl Planned {
    fn action(&self) -> &'static str {
        match &self.before {
            None => "create",
            Some(before) if before.cid == self.draft.cid => "same",
            Some(_) => "update",
        }
    }

    /// Why it is not to be published as it is.
    fn refusals(&self, args: &PublishLexicons) -> Vec<String> {
        let mut why = Vec::new();
        let errors = self.draft.problems.iter().filter(|problem| problem.rule.level() == Level::Error);
        why.extend(errors.map(|problem| format!("{}: {problem}", problem.rule)));
        if !args.breaking {
            let breaks = self.before.iter().flat_map(|before| &before.breaks);
            let errors = breaks.filter(|change| change.level() == Some(Level::Error));
            why.extend(errors.map(|change| format!("breaks those who use it: {} {}", change.path, change.message)));
        }
        if !args.without_dns {
            why.extend(self.doubt.iter().map(|doubt| format!("nobody would take it for the definition: {doubt}")));
        }
        why
    }
}

pub async fn run(args: &PublishLexicons, out: &mut Out) -> Result<u8> {
    let drafts = args.files.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let workspace = config::open_workspace()?;
    let client = config::client()?;
    let account = workspace.account(args.account.as_deref())?;
    let session = workspace.session(&client, &account)?;
    let repo = client.repo_at(&account.did, &account.pds);
    // Whatever is written elsewhere from here on makes the plan one of the past, and it is not carried out.
    let state = repo.latest_commit().await?;
    let mut plan = Vec::new();
    for draft in drafts {
        let doubt = doubt(&client, &draft.lexicon.id, &session).await?;
        let before = published(&client, &session, &draft).await?;
        plan.push(Planned { draft, before, doubt });
    }

    tell(&plan, args, out)?;
    let refused = plan.iter().filter(|one| !one.refusals(args).is_empty()).count();
    if refused > 0 {
        out.note(format_args!("{} not to be published as they are; nothing was written.", counted(refused, "lexicon")));
        return Ok(PROBLEMS);
    }
    let writes = plan.iter().filter_map(write).collect::<Result<Vec<_>>>()?;
    if args.dry_run || writes.is_empty() {
        return Ok(0);
    }
    out.finish()?;
    if !args.yes {
        let count = counted(writes.len(), "lexicon");
        terminal::confirm(
            &format!("Publish {count} as {}? Others copy them within seconds.", account.name()),
            "--yes",
        )?;
    }
    let _turn = workspace.begin_publishing()?;
    session.apply_writes(&writes, None, Some(&state.cid)).await?;
    out.note(format_args!("Done: {} on record.", counted(writes.len(), "lexicon")));
    Ok(0)
}

fn read(path: &Path) -> Result<Draft> {
    let bytes = fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let name = path.display().to_string();
    let wrong = |why: &dyn std::fmt::Display| Error::Lexicon(format!("{name}: {why}"));
    let problems = lint_json(&bytes).map_err(|error| wrong(&error))?;
    let lexicon = Lexicon::parse(&name, &bytes).map_err(|error| wrong(&error))?;
    let mut record: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
    if let Some(fields) = record.as_object_mut() {
        fields.insert("$type".to_owned(), LEXICON_COLLECTION.into());
    }
    let (_, cid) = record_cid(&record).map_err(|error| wrong(&error))?;
    Ok(Draft { path: path.to_owned(), lexicon, record, cid, problems })
}

/// Why the account does not speak for a lexicon; none if it does.
async fn doubt(client: &Client, nsid: &Nsid, session: &Session) -> Result<Option<String>> {
    Ok(match client.lexicon_authority(nsid).await {
        Ok(did) if did == session.did() => None,
        Ok(did) => Some(format!("_lexicon.{} names {did}", nsid.domain())),
        Err(error @ (AtprotoError::NoLexiconAuthority { .. } | AtprotoError::ConflictingLexiconAuthority { .. })) => {
            Some(error.to_string())
        }
        Err(error) => return Err(error.into()),
    })
}

async fn published(client: &Client, session: &Session, draft: &Draft) -> Result<Option<Published>> {
    let identity = client.resolve(session.did().as_str()).await?;
    let Some(before) = client.lexicon_of(&draft.lexicon.id, &identity).await? else { return Ok(None) };
    // What is no lexicon has no users to hurt.
    let old = Lexicon::parse("", before.record.to_string().as_bytes()).ok();
    let compare = |with: fn(&Lexicon, &Lexicon) -> Vec<Change>| {
        old.as_ref().map(|old| with(old, &draft.lexicon)).unwrap_or_default()
    };
    Ok(Some(Published { cid: before.cid, changes: compare(changes), breaks: compare(breaking) }))
}

fn write(one: &Planned) -> Option<Result<Write>> {
    let made = || {
        let collection = Nsid::parse(LEXICON_COLLECTION)?;
        let rkey = Rkey::parse(one.draft.lexicon.id.as_str())?;
        let value = to_raw_value(&one.draft.record)?;
        Ok(match &one.before {
            None => Write::Create { collection, rkey, value },
            Some(_) => Write::Update { collection, rkey, value },
        })
    };
    (one.action() != "same").then(made)
}

fn tell(plan: &[Planned], args: &PublishLexicons, out: &mut Out) -> Result<()> {
    for one in plan {
        let Planned { draft, before, doubt } = one;
        let refusals = one.refusals(args);
        if out.json {
            out.json(&json!({
                "nsid": draft.lexicon.id,
                "path": draft.path,
                "action": one.action(),
                "cid": draft.cid,
                "before": before.as_ref().map(|before| &before.cid),
                "authoritative": doubt.is_none(),
                "problems": draft.problems,
                "changes": before.as_ref().map(|before| &before.changes),
                "refused": refusals,
            }))?;
            continue;
        }
        out.line(format_args!("{}  {}", one.action(), draft.lexicon.id))?;
        for change in before.iter().flat_map(|before| &before.changes) {
            out.line(format_args!("    {} {}", printable(&change.path), printable(&change.message)))?;
        }
        for problem in draft.problems.iter().filter(|problem| problem.rule.level() != Level::Error) {
            out.note(format_args!("    {}: {problem}", problem.rule.level()));
        }
        for why in &refusals {
            out.note(format_args!("    {why}"));
        }
    }
    Ok(())
}
