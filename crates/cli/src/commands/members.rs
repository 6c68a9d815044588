//! `onrecord members`: whose conversations a group vouches for.

use jiff::Timestamp;
use onrecord_atproto::{Client, Repo};
use onrecord_lexicon::Did;
use onrecord_record::{Action, Write};
use onrecord_workspace::{
    Workspace,
    publish::{Members, Target, write_members},
};
use serde_json::json;

use crate::{
    cli::{ChangeMembers, Members as Command},
    config,
    error::{Error, Result},
    output::{Out, columns, counted},
    terminal,
};

pub async fn run(command: &Command, out: &mut Out) -> Result<u8> {
    match command {
        Command::List { account } => list(account.as_deref(), out).await,
        Command::Add(args) => change(args, true, out).await,
        Command::Remove(args) => change(args, false, out).await,
    }
}

async fn list(account: Option<&str>, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    let (repo, _) = repository(&workspace, &config::client()?, account).await?;
    let members = Members::of(&repo).await?;
    for unreadable in &members.unreadable {
        out.note(format_args!("{unreadable}; it is left out"));
    }
    let records = members.list.iter().map(|m| &m.record);
    if out.json {
        let list: Vec<_> =
            records.map(|m| json!({"did": m.subject, "handle": m.handle, "addedAt": m.added_at})).collect();
        out.json(&json!({"account": members.repo, "members": list}))?;
        return Ok(0);
    }
    if members.list.is_empty() {
        out.note(format_args!("{} lists no members.", members.repo));
    }
    let row = |m: &onrecord_record::MemberRecord| {
        let handle = m.handle.as_ref().map_or_else(String::new, |h| format!("@{h}"));
        let day = m.added_at.to_string().chars().take(10).collect::<String>();
        vec![handle, m.subject.to_string(), format!("since {day}")]
    };
    for line in columns(&records.map(row).collect::<Vec<_>>()) {
        out.line(line)?;
    }
    Ok(0)
}

/// Anyone's list can be read; without a name it is that of the account signed in.
async fn repository(workspace: &Workspace, client: &Client, who: Option<&str>) -> Result<(Repo, String)> {
    if let Some(who) = who.filter(|who| workspace.account(Some(who)).is_err()) {
        let identity = client.resolve(who).await?;
        let name = identity.handle.as_ref().map_or_else(|| identity.did.to_string(), |h| format!("@{h}"));
        return Ok((client.repo(&identity), name));
    }
    let account = workspace.account(who)?;
    Ok((client.repo_at(&account.did, &account.pds), account.name().to_owned()))
}

async fn change(args: &ChangeMembers, add: bool, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    let client = config::client()?;
    let account = workspace.account(args.account.as_deref())?;
    let _turn = if args.dry_run { None } else { Some(workspace.begin_publishing()?) };
    let members = Members::of(&client.repo_at(&account.did, &account.pds)).await?;
    let writes = if add {
        let mut people = Vec::with_capacity(args.who.len());
        for who in &args.who {
            people.push(client.resolve(who).await?);
        }
        members.add(&people, Timestamp::now())?
    } else {
        let mut people = Vec::with_capacity(args.who.len());
        for who in &args.who {
            people.push(listed(&members, &client, who).await?);
        }
        members.remove(&people)
    };

    let target = Target::Account(workspace.session(&client, &account)?);
    if !args.dry_run {
        target.check_scopes(&writes)?;
    }
    let count = |action| writes.iter().filter(|w| w.action == action).count();
    let (created, updated, deleted) = (count(Action::Create), count(Action::Update), count(Action::Delete));
    if args.dry_run && out.json {
        out.json(&json!({"repo": account.did, "writes": writes}))?;
        return Ok(0);
    }
    if !out.json {
        for line in columns(&writes.iter().map(row).collect::<Vec<_>>()) {
            out.line(line)?;
        }
        out.finish()?;
    }
    if args.dry_run {
        return Ok(0);
    }
    if !writes.is_empty() {
        if !args.yes {
            let plan = format!(
                "{} to add, {updated} to bring up to date, {deleted} to remove in the list of {}, which is public.",
                counted(created, "member"),
                account.name()
            );
            terminal::confirm(&format!("{plan} Write it?"), "--yes")?;
        }
        write_members(&target, &writes).await?;
    }
    if out.json {
        out.json(&json!({"done": true, "created": created, "updated": updated, "deleted": deleted}))?;
    } else if writes.is_empty() {
        out.line("The list is so already; there was nothing to write.")?;
    } else {
        out.line(format_args!("Done: {created} added, {updated} updated, {deleted} removed."))?;
    }
    Ok(0)
}

/// Who is to be removed, as the list has them: a member whose handle leads nowhere any more can still go.
async fn listed(members: &Members, client: &Client, who: &str) -> Result<Did> {
    if let Ok(did) = Did::parse(who) {
        return Ok(did);
    }
    match (client.resolve(who).await, members.by_handle(who.trim_start_matches('@'))) {
        (Ok(identity), _) => Ok(identity.did),
        (Err(_), Some(did)) => Ok(did.clone()),
        (Err(error), None) => Err(Error::from(error)),
    }
}

fn row(write: &Write) -> Vec<String> {
    let action = match write.action {
        Action::Create => "add",
        Action::Update => "update",
        Action::Delete => "remove",
    };
    vec![action.to_owned(), write.rkey.to_string()]
}
