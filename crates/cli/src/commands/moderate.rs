//! `onrecord moderate`: what the host decides that its site does not show.

use std::{path::Path, sync::Arc};

use jiff::Timestamp;
use onrecord_index::{Address, Decision, Hidden, HiddenSubject, Index, Kept, Moderation, Subject, open};
use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use onrecord_record::{
    aligned::{MESSAGE, SESSION},
    tiles::{LEGACY, SNAPSHOT},
};
use serde_json::json;

use crate::{
    cli::{DbArg, ModerateCommand, On},
    config,
    error::{Error, Result},
    output::{Out, counted, one_line, printable},
};

/// Most characters of a reason.
const MAX_REASON: usize = 2_000;
/// How much is asked for at once.
const PAGE: u32 = 1_000;

pub async fn run(command: &ModerateCommand, out: &mut Out) -> Result<u8> {
    match command {
        ModerateCommand::Hide { on, reason } => decide(on, true, reason, out).await,
        ModerateCommand::Unhide { on, reason } => decide(on, false, reason.as_deref().unwrap_or_default(), out).await,
        ModerateCommand::List { db } => list(&*opened(db).await?, out).await,
        ModerateCommand::Log { db } => log(&*opened(db).await?, out).await,
        ModerateCommand::ForgetLabeler { labeler, db } => forget(labeler, &*opened(db).await?, out).await,
    }
}

/// An index that is there: in one that is made for it a decision would hide nothing.
async fn opened(db: &DbArg) -> Result<Arc<dyn Index>> {
    let address = config::index_address(db.db.as_deref())?;
    let path = address.strip_prefix("sqlite:").unwrap_or(&address);
    if !path.contains("://") && !Path::new(path).exists() {
        return Err(Error::Usage(format!(
            "there is no index at {path}: name the site's with --db; `onrecord serve --follow SOURCE` makes one"
        )));
    }
    Ok(open(&address, None).await?)
}

async fn decide(on: &On, hide: bool, reason: &str, out: &mut Out) -> Result<u8> {
    if reason.chars().count() > MAX_REASON {
        return Err(Error::Usage(format!("a reason has at most {MAX_REASON} characters")));
    }
    let index = opened(&on.db).await?;
    let subject = subject_of(&on.what, &*index).await?;
    let before = own_decision(&*index, &subject).await?;
    if !hide && before.is_none() {
        return Err(Error::NotHidden { subject: subject.to_string() });
    }
    let by = on.by.clone().or_else(config::user).unwrap_or_else(|| "unknown".to_owned());
    let decision = Decision {
        at_us: Timestamp::now().as_microsecond(),
        subject: subject.clone(),
        hide,
        reason: reason.trim().to_owned(),
        by,
    };
    index.moderate(Moderation { decisions: vec![decision.clone()], ..Moderation::default() }).await?;
    let still = index.hides(&subject).await?;
    let is_here = match &subject {
        Subject::Account(did) => {
            let known = index.recent(&onrecord_index::Recent::By(did.clone()), None, 1).await?;
            hide || !known.items.is_empty()
        }
        Subject::Record(at) => index.record(at).await? != Kept::Unknown,
    };
    if out.json {
        out.json(&json!({"decision": decision, "isHere": is_here, "hidden": still}))?;
        return Ok(0);
    }
    out.line(format!("{} {subject}", if hide { "hidden" } else { "shown again" }))?;
    if !is_here {
        out.note("Nothing is known of it here; the decision holds should it come.");
    }
    match (hide, &still) {
        (false, Some(why)) => out.note(format!("It is still not shown: {}.", words(why))),
        (true, _) if before.is_some() => out.note("It was hidden already; the new reason is in the log."),
        _ => {}
    }
    Ok(0)
}

/// The host's decision by which a subject itself is hidden, if it is.
async fn own_decision(index: &dyn Index, subject: &Subject) -> Result<Option<Decision>> {
    let of_account = hidden_of(index, Some(subject.did())).await?;
    Ok(of_account.into_iter().filter(|hidden| hidden.subject == *subject).find_map(|hidden| hidden.decision))
}

/// All that is hidden, or all of one account.
async fn hidden_of(index: &dyn Index, did: Option<&Did>) -> Result<Vec<HiddenSubject>> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = index.hidden(did, cursor.as_ref(), PAGE).await?;
        all.extend(page.items);
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(all),
        }
    }
}

/// What is meant.
async fn subject_of(what: &str, index: &dyn Index) -> Result<Subject> {
    let unknown = || {
        Error::Usage(format!(
            "{what:?} is none of these: an at-uri of an account or a record, a DID, a handle, the address of a page of the site"
        ))
    };
    if let Some(subject) = Subject::parse(what) {
        return Ok(subject);
    }
    let path = match what.split_once("://") {
        Some(("at", rest)) => format!("at/{rest}"),
        Some(("http" | "https", rest)) => {
            let path = rest.split(['?', '#']).next().unwrap_or_default();
            path.split_once('/').map(|(_, path)| path.to_owned()).unwrap_or_default()
        }
        Some(_) => return Err(unknown()),
        None if what.contains('/') => return Err(unknown()),
        None => format!("@{}", what.trim_start_matches('@')),
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let bare = |key: &str| {
        let key = [".json", ".md", ".txt"].iter().find_map(|suffix| key.strip_suffix(suffix)).unwrap_or(key);
        Rkey::parse(key).map_err(|_| unknown())
    };
    let nsid = |name: &str| Nsid::parse(name).map_err(|_| unknown());
    Ok(match parts.as_slice() {
        ["at", who] => Subject::Account(account(who, index).await?),
        [who] if who.starts_with('@') => Subject::Account(account(who.trim_start_matches('@'), index).await?),
        ["at", who, collection, rkey] => Subject::Record(Address {
            did: account(who, index).await?,
            collection: nsid(collection)?,
            rkey: bare(rkey)?,
        }),
        ["at", who, _, _, turn] => {
            Subject::Record(Address { did: account(who, index).await?, collection: nsid(MESSAGE)?, rkey: bare(turn)? })
        }
        [who, rkey] if who.starts_with('@') => {
            let did = account(who.trim_start_matches('@'), index).await?;
            Subject::Record(conversation(did, bare(rkey)?, index).await?)
        }
        [who, _, turn] if who.starts_with('@') => {
            let did = account(who.trim_start_matches('@'), index).await?;
            Subject::Record(Address { did, collection: nsid(MESSAGE)?, rkey: bare(turn)? })
        }
        _ => return Err(unknown()),
    })
}

/// The conversation that a short address is of: it does not say of which family.
async fn conversation(did: Did, rkey: Rkey, index: &dyn Index) -> Result<Address> {
    let mut first = None;
    for collection in [SESSION, SNAPSHOT, LEGACY] {
        let at = Address { did: did.clone(), collection: Nsid::parse(collection)?, rkey: rkey.clone() };
        if index.record(&at).await? != Kept::Unknown {
            return Ok(at);
        }
        first.get_or_insert(at);
    }
    first.ok_or_else(|| Error::Usage("no conversation".to_owned()))
}

/// Whose a name is: as the index has it, for that is what its pages show; else as the network has it.
async fn account(who: &str, index: &dyn Index) -> Result<Did> {
    if let Ok(did) = Did::parse(who) {
        return Ok(did);
    }
    let handle = Handle::parse(who).map_err(|error| Error::Usage(format!("{who:?} is no account: {error}")))?;
    match index.resolve(&handle).await? {
        Some(did) => Ok(did),
        None => Ok(config::client()?.resolve(who).await?.did),
    }
}

fn words(hidden: &Hidden) -> String {
    match hidden {
        Hidden::Host => "this site hides it".to_owned(),
        Hidden::Labeler { did } => format!("the labeler {did} says so"),
        Hidden::SignedInOnly => "it is for people who are signed in".to_owned(),
    }
}

fn time(at_us: i64) -> String {
    Timestamp::from_microsecond(at_us).unwrap_or_default().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

async fn list(index: &dyn Index, out: &mut Out) -> Result<u8> {
    let hidden = hidden_of(index, None).await?;
    if out.json {
        out.json(&json!({"hidden": hidden}))?;
        return Ok(0);
    }
    for one in &hidden {
        let why = match &one.decision {
            Some(decision) => {
                format!("{}, since {}, by {}", one_line(&decision.reason, 200), time(decision.at_us), decision.by)
            }
            None => words(&one.hidden),
        };
        out.line(printable(&format!("{}  {why}", one.subject)))?;
    }
    out.note(format!("{}.", counted(hidden.len(), "reason")));
    Ok(0)
}

async fn log(index: &dyn Index, out: &mut Out) -> Result<u8> {
    let mut cursor = None;
    loop {
        let page = index.decisions(cursor.as_ref(), PAGE).await?;
        for decision in page.items {
            if out.json {
                out.json(&decision)?;
                continue;
            }
            let act = if decision.hide { "hidden" } else { "shown again" };
            let why = match decision.reason.as_str() {
                "" => String::new(),
                reason => format!(": {}", one_line(reason, 200)),
            };
            out.line(printable(&format!(
                "{}  {act} by {}  {}{why}",
                time(decision.at_us),
                decision.by,
                decision.subject
            )))?;
        }
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(0),
        }
    }
}

async fn forget(labeler: &str, index: &dyn Index, out: &mut Out) -> Result<u8> {
    let did = account(labeler, index).await?;
    let forgotten = index.forget_labeler(&did).await?;
    if out.json {
        out.json(&json!({"labeler": did, "labels": forgotten}))?;
    } else {
        out.line(format!("{} of {did} forgotten", counted(usize::try_from(forgotten).unwrap_or(usize::MAX), "label")))?;
    }
    Ok(0)
}
