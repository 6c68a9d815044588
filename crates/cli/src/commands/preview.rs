//! `onrecord preview`: the exact pages and records that would go out, as files.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use onrecord_lexicon::{Did, Rkey, Tid};
use onrecord_record::{EncodedRecord, Family, Loss, Published, aligned, tiles};
use onrecord_redact::Reviewed;
use onrecord_web::{Standing, export};
use onrecord_workspace::{
    Error as WorkspaceError, Workspace,
    publish::{Pointers, encode_unlisted},
};
use serde_json::{Value, json};

use crate::{
    cli::{Preview, Where},
    commands::about,
    config,
    error::{Error, Result},
    output::{Out, counted},
    source::Opened,
};

pub async fn run(args: &Preview, out: &mut Out) -> Result<u8> {
    let opened = Opened::with_grain(&args.session, &args.rules, args.to.grain.into(), out)?;
    let repo = repo(&opened.workspace, &args.to)?;
    let made = make(&opened, &repo, Family::from(args.family)).await?;
    about::note_left_out(&made.pointers, out);
    let Made { published, records, reviewed, .. } = made;
    let own_file = match records.as_slice() {
        [record] if record.collection == tiles::SNAPSHOT => {
            let value: Value = serde_json::from_str(record.json.get())?;
            let path = PathBuf::from("records").join(tiles::SNAPSHOT).join(format!("{}.json", record.rkey));
            Some((path, format!("{value:#}\n").into_bytes()))
        }
        _ => None,
    };
    let records = records.len();

    let folder = match &args.out {
        Some(out) => out.clone(),
        None => folder(&published.rkey)?,
    };
    let mut files = export(&[published], Standing::Preview)?;
    if let Some(file) = own_file {
        files.retain(|(path, _)| !path.starts_with("records"));
        files.push(file);
    }
    // The records in them have passed the gate; what was made of them passes it too.
    for (_, bytes) in &files {
        reviewed.gate_page(bytes).map_err(WorkspaceError::Gate)?;
    }
    let count = files.len();
    clear(&folder).map_err(|source| Error::File { path: folder.clone(), source })?;
    for (path, bytes) in files {
        let path = folder.join(path);
        let at = |source| Error::File { path: path.clone(), source };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(at)?;
        }
        fs::write(&path, bytes).map_err(at)?;
    }
    let page = folder.join("index.html");
    if out.json {
        out.json(&json!({"folder": folder, "page": page, "files": count, "records": records}))?;
    } else {
        out.line(page.display())?;
        out.note(format_args!(
            "{} as they would go out, in {count} files. Nothing was published.",
            counted(records, "record")
        ));
    }
    Ok(0)
}

/// What would go out.
pub struct Made {
    /// As a reader finds it.
    pub published: Published,
    pub records: Vec<EncodedRecord>,
    pub lost: Vec<Loss>,
    pub pointers: Pointers,
    pub reviewed: Reviewed,
}

/// Makes the records that would go out to `repo`, and a reader's view of them. A private one is shown as it is before it is
/// encrypted.
pub async fn make(opened: &Opened, repo: &Did, family: Family) -> Result<Made> {
    let reviewed = opened.seal()?;
    let source = &opened.conversation.source.id;
    let known = opened.workspace.keys_in(opened.id, repo, family)?;
    match family {
        Family::ClickAligned => {
            let pointers = about::look_up(opened, &reviewed, repo, false).await?;
            let encoded = encode_unlisted(repo, source, &reviewed, &known, &pointers.about(), Timestamp::now())?;
            let published = published(repo, &encoded.records)?;
            Ok(Made { published, records: encoded.records, lost: encoded.lost, pointers, reviewed })
        }
        Family::Tiles | Family::TilesPrivate => {
            let (start, now) = (reviewed.created_at(), Timestamp::now());
            let uri = tiles::record_uri(repo, family, source, start, known.session, now, |_| false)?;
            let encoded = tiles::encode(&reviewed, uri.clone())?;
            let record = encoded.record;
            reviewed.gate(record.json.get().as_bytes()).map_err(WorkspaceError::Gate)?;
            let value: Value = serde_json::from_str(record.json.get())?;
            let reading = tiles::read(&tiles::Snapshot::open(tiles::SNAPSHOT, value, None)?, uri.as_str());
            let rkey = record.rkey.clone();
            let published = tiles::published(repo, None, Family::Tiles, rkey, &record.cid, &reading)?;
            let (records, pointers) = (vec![record], Pointers::default());
            Ok(Made { published, records, lost: encoded.lost, pointers, reviewed })
        }
    }
}

/// Where the preview of the conversation with that key is written if nothing else is said.
pub fn folder(rkey: &Rkey) -> Result<PathBuf> {
    Ok(config::data_folder()?.join("preview").join(rkey.as_str()))
}

/// Removes what an earlier preview left in `folder`: a turn that was cut into more records then, or was shown, would stay
/// beside the new ones. Only names that are ours are touched.
fn clear(folder: &Path) -> io::Result<()> {
    let absent = |result: io::Result<()>| match result {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
        result => result,
    };
    for collection in [aligned::SESSION, aligned::MESSAGE, tiles::SNAPSHOT] {
        absent(fs::remove_dir_all(folder.join("records").join(collection)))?;
    }
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let page = name.to_str().and_then(|name| name.split_once('.'));
        let ours = page.is_some_and(|(rkey, rest)| {
            let format = rest.rsplit('.').next().unwrap_or_default();
            Tid::parse(rkey).is_ok() && matches!(format, "html" | "json" | "md" | "txt")
        });
        if ours {
            absent(fs::remove_file(entry.path()))?;
        }
    }
    Ok(())
}

/// The repository that keys and addresses are made for: the account's, else the shelf's.
pub fn repo(workspace: &Workspace, to: &Where) -> Result<Did> {
    match workspace.account(to.account.as_deref()) {
        Ok(account) => Ok(account.did),
        Err(WorkspaceError::NotSignedIn { handle: None }) => Ok(onrecord_workspace::shelf_did()?),
        Err(error) => Err(error.into()),
    }
}

/// The repository that a conversation is likely to go to, where no account was named.
pub fn any_repo(workspace: &Workspace) -> Result<Did> {
    let only = workspace.accounts()?.into_iter().next();
    only.map_or_else(|| Ok(onrecord_workspace::shelf_did()?), |account| Ok(account.did))
}

/// The records as a reader would find them.
fn published(repo: &Did, records: &[EncodedRecord]) -> Result<Published> {
    let mut session = None;
    let mut messages = Vec::with_capacity(records.len());
    for record in records {
        let value: Value = serde_json::from_str(record.json.get())?;
        match record.turn {
            None => session = Some((record.rkey.clone(), record.cid.clone(), value)),
            Some(_) => messages.push((record.rkey.clone(), record.cid.clone(), value)),
        }
    }
    let (rkey, cid, value) = session.ok_or(WorkspaceError::NothingToPublish)?;
    let (published, _) =
        aligned::published(repo, None, (rkey, cid, &value), messages).map_err(WorkspaceError::Unreadable)?;
    Ok(published)
}
